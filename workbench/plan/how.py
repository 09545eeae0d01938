"""How Spark's stream-stream join does each ``how``."""

from __future__ import annotations

from workbench.joins import How

__all__ = ["KEPT", "MATCHED", "SPARK", "UNMATCHED", "spark_how"]

_SPARK = {"semi": "left_semi", "anti": "left"}
MATCHED: How = "semi"
UNMATCHED: How = "anti"
"""Left rows that have a partner, and those that have none."""
SPARK: dict[str, How] = {
    "Cross": "inner", "Inner": "inner", "LeftOuter": "left", "RightOuter": "right", "FullOuter": "full",
    "LeftSemi": MATCHED, "LeftAnti": UNMATCHED,
}  # fmt: skip
"""By Spark's own name of the type of a join."""
KEPT: dict[tuple[bool, bool], How] = {
    (False, False): "inner", (False, True): "left", (True, False): "right", (True, True): "full",
}  # fmt: skip
"""By whether what has no left row, and what has no right row, is kept."""


def spark_how(how: How) -> str:
    """The join type as Python source. Spark has no streaming anti join: a plan keeps a left join's unmatched rows."""
    return f'"{_SPARK.get(how, how)}"'
