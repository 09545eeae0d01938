"""The tables of rows with their fates and reasons."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench import schema
from workbench.arrays import RowNumbers
from workbench.literals import SIDES, Side
from workbench.model import Simulation
from workbench.reasons import tables
from workbench.reasons.own import sentences
from workbench.reasons.slots import SentenceSlots

__all__ = ["rows", "some"]


def rows(simulation: Simulation, reasons: SentenceSlots) -> pd.DataFrame:
    """The table of `Run.rows`."""
    plain = {side: tables.plain_rows(simulation, side) for side in SIDES}
    return tables.stack([pd.concat([plain[side], reasons.table[side]], axis=1) for side in SIDES], schema.ROWS)


def some(simulation: Simulation, asked: dict[Side, RowNumbers]) -> pd.DataFrame:
    """The table of `Run.explain`, its index that of `Run.rows`."""
    reasons = sentences(simulation, asked)
    parts = []
    for side in SIDES:
        plain = tables.plain_rows(simulation, side, asked[side])
        parts.append(pd.concat([plain, reasons.table[side].reset_index(drop=True)], axis=1))
    table = tables.stack(parts, schema.ROWS)
    return table.set_axis(np.concatenate([asked["left"], len(simulation.left) + asked["right"]]), axis=0)
