"""How Spark's stream-stream join does each ``how``."""

from __future__ import annotations

from workbench.joins import How

__all__ = ["spark_how"]

_SPARK = {"semi": "left_semi", "anti": "left"}


def spark_how(how: How) -> str:
    """The join type as Python source. Spark has no streaming anti join: a plan keeps a left join's unmatched rows."""
    return f'"{_SPARK.get(how, how)}"'
