"""Two runs of the same rows, held against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
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
    differs = [run.fates[side]["fate"].to_numpy() != other.fates[side]["fate"].to_numpy() for side in SIDES]
    moved = np.flatnonzero(np.concatenate(differs))
    mine, theirs = run.tell(moved.tolist()), other.tell(moved.tolist())
    mine = mine.drop(columns=["fix_setting", "fix_value"])
    return mine.assign(other_fate=theirs["fate"], other_reason=theirs["reason"])
