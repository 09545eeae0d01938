"""The fate of every row, and when it was decided; reasons are given elsewhere."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.literals import Fate, Side
from workbench.model._outcome import Outcome
from workbench.streams import SIDES

NEVER = 10**9
"""The micro-batch of what does not happen in a run."""


def fates(outcome: Outcome) -> dict[Side, pd.DataFrame]:
    """Each row's fate.

    Returns
    -------
    dict of pandas.DataFrame
        Per side, one row an input row: ``fate`` (matched, unmatched, late, pending or null_key); ``decided_in`` (the
        micro-batch in which it is known: the first match, the drop, the eviction; `NEVER` for what is pending);
        ``evicted_in`` (the micro-batch at whose end its last assignment is no longer in state; `NEVER` where it stays);
        how many assignments there are in ``all``, how many are ``late``, how many ``matched``.
    """
    return {side: _side(outcome, side) for side in SIDES}


def _side(outcome: Outcome, side: Side) -> pd.DataFrame:
    keys = outcome.keys[SIDES.index(side)]
    count, end = len(keys), len(outcome.marks)
    assignments = outcome.assignments[side]
    row = assignments["row"].to_numpy()
    tally = {
        name: np.bincount(row, assignments.get(name), minlength=count).astype(int)
        for name in ("all", "late", "matched")
    }
    open_still = (assignments["evicted_in"] >= end) & ~assignments["late"] & ~assignments["filtered"]
    waiting = np.bincount(row, open_still, minlength=count).astype(int)
    lost = (tally["late"] > 0) & (tally["late"] == tally["all"])
    named: list[Fate] = ["null_key", "matched", "late", "pending"]
    fate = np.select(
        [(keys < 0) & (tally["matched"] == 0), tally["matched"] > 0, lost, waiting > 0], named, "unmatched"
    ).astype(object)
    arrived = np.zeros(count, dtype=np.int64)
    arrived[row] = assignments["batch"]
    evicted_in = _last(row, np.where(assignments["held"], assignments["evicted_in"], assignments["batch"]), arrived)
    evicted_in = np.where(evicted_in >= end, NEVER, evicted_in)
    members = outcome.outputs.of(side)
    output, rows = members["output"].to_numpy(), members["row"].to_numpy()
    matched, out = (outcome.outputs.table[name].to_numpy()[output] for name in ("matched", "batch"))
    first_match = np.full(count, NEVER)
    np.minimum.at(first_match, rows[matched], out[matched])
    first_match = np.where(first_match == NEVER, arrived, first_match)  # of a job: with rows that are no longer known
    decided_in = np.select(
        [fate == "matched", fate == "late", fate == "pending"],
        [first_match, arrived, NEVER],
        _last(rows[~matched], out[~matched], evicted_in),  # comes out padded, or else leaves the state
    )
    return pd.DataFrame({"fate": fate, "decided_in": decided_in, "evicted_in": evicted_in, **tally})


def _last(row: np.ndarray, values: np.ndarray, least: np.ndarray) -> np.ndarray:
    last = least.copy()
    np.maximum.at(last, row, values)
    return last
