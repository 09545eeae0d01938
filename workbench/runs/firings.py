"""Which rows came out more than once under Flink's rules, because their window fired again."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.kinds import Micros, kind_of
from workbench.literals import Side, other_side
from workbench.model import Simulation

__all__ = ["again"]


def again(simulation: Simulation, side: Side, rows: Micros) -> dict[int, list[int]]:
    """Of those of some rows that came out again with the same partner the micro-batches in which they did.

    Parameters
    ----------
    simulation
        Under Flink's rules.
    side, rows
        The rows.
    """
    outputs, kind = simulation.outcome.outputs, kind_of(simulation.join)
    members = outputs.of(side)
    output = members["output"].to_numpy()
    wanted = outputs.table["matched"].to_numpy()[output] & np.isin(members["row"], rows)
    output = output[wanted]
    table = outputs.table.iloc[output]
    found = pd.DataFrame({"row": members["row"].to_numpy()[wanted], "batch": table["batch"].to_numpy()})
    found["partner"] = -1 if kind.grouped else outputs.first(other_side(side))[output]
    found["start"] = -1 if kind.merging else table["start"].to_numpy()
    found = found.sort_values("batch", kind="stable")
    repeated = found[found.duplicated(["row", "partner", "start"])]
    once = repeated.drop_duplicates(["row", "batch"])
    return {int(row): mine.tolist() for row, mine in once.groupby("row")["batch"]}
