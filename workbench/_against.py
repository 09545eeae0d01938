"""Two runs of the same rows, held against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from workbench.errors import wrong
from workbench.streams import SIDES

if TYPE_CHECKING:
    from workbench.results import Run


def against(run: Run, other: Run) -> pd.DataFrame:
    """The table of `Run.against`."""
    for side in SIDES:
        one, two = run.side(side), other.side(side)
        if one.table is not two.table and not one.table.equals(two.table):
            raise wrong("other", other, f"its {side} rows are not those of this run; compare runs of the same streams")
    mine, theirs = run.rows, other.rows
    moved = (mine["fate"] != theirs["fate"]).to_numpy()
    told = mine.loc[moved, [name for name in mine if name not in ("fix_setting", "fix_value")]].copy()
    told["other_fate"] = theirs.loc[moved, "fate"]
    told["other_reason"] = theirs.loc[moved, "reason"]
    return told
