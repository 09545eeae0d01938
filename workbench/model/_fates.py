"""The fate of every row, and when it was decided; reasons are given elsewhere."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.arrays import Batches, RowNumbers
from workbench.literals import FATES, Side
from workbench.model._outcome import Outcome
from workbench.streams import SIDES

NO_MICRO_BATCH = 10**9
"""The micro-batch of what does not happen in a run."""
_CODES = {name: code for code, name in enumerate(FATES)}
_NAMES = np.array(FATES, dtype=object)


def fates(outcome: Outcome) -> dict[Side, pd.DataFrame]:
    """Each row's fate.

    Returns
    -------
    dict of pandas.DataFrame
        Per side, one row an input row: ``fate`` (matched, unmatched, late, pending or null_key); ``decided_in`` (the
        micro-batch in which it is known: the first match, the drop, the eviction; `NO_MICRO_BATCH` of a pending row);
        ``evicted_in`` (the micro-batch at whose end its last assignment is no longer in state; `NO_MICRO_BATCH` where
        it stays);
        how many assignments there are in ``all``, how many are ``late``, how many ``matched``.
    """
    return {side: _side(outcome, side) for side in SIDES}


def _side(outcome: Outcome, side: Side) -> pd.DataFrame:
    keys = outcome.keys[SIDES.index(side)]
    count, end = len(keys), len(outcome.marks)
    mine = {name: column.to_numpy() for name, column in outcome.assignments[side].items()}
    row = mine["row"]
    tally = {"all": np.bincount(row, minlength=count)}
    tally |= {name: np.bincount(row[mine[name]], minlength=count) for name in ("late", "matched")}
    stays = mine["held"] & (mine["evicted_in"] >= end)  # a row that is padded at once is never stored
    waits = (stays | mine.get("waits", False)) & ~mine["late"] & ~mine["filtered"]
    code = np.full(count, _CODES["unmatched"], dtype=np.int8)
    code[row[waits]] = _CODES["pending"]
    code[(tally["late"] > 0) & (tally["late"] == tally["all"])] = _CODES["late"]
    code[tally["matched"] > 0] = _CODES["matched"]
    code[(keys < 0) & (tally["matched"] == 0)] = _CODES["null_key"]
    arrived = np.zeros(count, dtype=np.int64)
    arrived[row] = mine["batch"]
    evicted_in = _last(row, np.where(mine["held"], mine["evicted_in"], mine["batch"]), arrived)
    evicted_in[evicted_in >= end] = NO_MICRO_BATCH
    members = outcome.outputs.of(side)
    output, rows = members["output"].to_numpy(), members["row"].to_numpy()
    matched, out = (outcome.outputs.table[name].to_numpy()[output] for name in ("matched", "batch"))
    decided_in = _last(rows[~matched], out[~matched], evicted_in)  # comes out padded, or else leaves the state
    first_match = np.full(count, NO_MICRO_BATCH)
    np.minimum.at(first_match, rows[matched], out[matched])
    known = first_match < NO_MICRO_BATCH  # a row of a job may have met others that are no longer known
    np.copyto(decided_in, np.where(known, first_match, arrived), where=code == _CODES["matched"])
    np.copyto(decided_in, arrived, where=code == _CODES["late"])
    decided_in[code == _CODES["pending"]] = NO_MICRO_BATCH
    fate = _NAMES[code]
    return pd.DataFrame({"fate": fate, "decided_in": decided_in, "evicted_in": evicted_in, **tally}, copy=False)


def _last(row: RowNumbers, values: Batches, least: Batches) -> Batches:
    last = least.copy()
    np.maximum.at(last, row, values)
    return last
