"""Which rows came out more than once under Flink's rules, because their window fired again."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.arrays import RowNumbers
from workbench.kinds import kind_of
from workbench.literals import Side, other_side
from workbench.model import Simulation

__all__ = ["again"]


def again(simulation: Simulation, side: Side, rows: RowNumbers) -> dict[int, list[int]]:
    """Of those of some rows that came out more than once for a window the micro-batch of each time after the first.

    A row comes out with its partners, with a group, or padded; several partners in one firing are one time, and one
    micro-batch may have several firings.

    Parameters
    ----------
    simulation
        Under Flink's rules.
    side, rows
        The rows.
    """
    outputs, kind = simulation.outcome.outputs, kind_of(simulation.join)
    if not kind.windowed:
        return {}
    members = outputs.of(side)
    output = members["output"].to_numpy()
    wanted = outputs.table["emitted"].to_numpy()[output] & np.isin(members["row"], rows)
    output = output[wanted]
    table = outputs.table.iloc[output]
    found = pd.DataFrame({"row": members["row"].to_numpy()[wanted], "batch": table["batch"].to_numpy()})
    found["start"] = -1 if kind.merging else table["start"].to_numpy()
    found["partner"] = -1 if kind.grouped else outputs.first(other_side(side))[output]
    found["padded"] = ~table["matched"].to_numpy()
    by = ["row", "start", "batch"]
    firings = found.groupby([*by, "padded", "partner"]).size().groupby([*by, "padded"]).max().groupby(by).sum()
    every = firings.reset_index(name="firings")
    every = every.loc[np.repeat(every.index, every["firings"])]
    later = every[every.duplicated(["row", "start"])].sort_values(["row", "batch"], kind="stable")
    return {int(row): mine.tolist() for row, mine in later.groupby("row")["batch"]}
