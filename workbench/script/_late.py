"""The text that finds a side's late rows again, by the rules of the model."""

from __future__ import annotations

from workbench.joins import Join
from workbench.kinds import kind_of
from workbench.plan import Names
from workbench.quoting import column


def bodies(join: Join, names: Names) -> list[str]:
    """For each side the body of a function of ``rows`` and ``watermark``, as Python source."""
    kind = kind_of(join)
    made = []
    for side, drops_null_keys in zip((names.left, names.right), kind.drops_null_keys(join), strict=True):
        filters = [f".where(F.col({column(key)}).isNotNull())" for key in side.keys] if drops_null_keys else []
        made.append(kind.late_rows(join, side, "".join(["rows", *filters])))
    return made
