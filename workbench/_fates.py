"""What became of every row, and when that was settled: numbers only, no words."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.joins import CoGroup, Join
from workbench.model import Outcome
from workbench.streams import SIDES

NEVER = 10**9
"""The micro-batch of what does not happen in a run."""


def fates(join: Join, outcome: Outcome) -> dict[str, pd.DataFrame]:
    """Each row's fate.

    Returns
    -------
    dict of pandas.DataFrame
        Per side, one row an input row: ``fate`` (matched, unmatched, late, pending or null_key); ``settled`` (the
        micro-batch in which it is known: the first match, the drop, the eviction; `NEVER` for what is pending);
        ``leaves`` (the micro-batch at whose end its last copy is no longer in state; `NEVER` where it stays); how many
        copies there are in ``all``, how many are ``late``, how many ``matched``.
    """
    return {side: _side(join, outcome, side) for side in SIDES}


def _side(join: Join, outcome: Outcome, side: str) -> pd.DataFrame:
    keys = outcome.keys[SIDES.index(side)]
    count, end = len(keys), len(outcome.marks)
    copies = outcome.copies[side]
    row = copies["row"].to_numpy()
    tally = {
        name: np.bincount(row, copies.get(name), minlength=count).astype(int) for name in ("all", "late", "matched")
    }
    open_still = (copies["leaves"] >= end) & ~copies["late"] & ~copies["filtered"]
    waiting = np.bincount(row, open_still, minlength=count).astype(int)
    lost = (tally["late"] > 0) & (tally["late"] == tally["all"])
    fate = np.select(
        [keys < 0, tally["matched"] > 0, lost, waiting > 0],
        ["null_key", "matched", "late", "pending"],
        "unmatched",
    ).astype(object)
    arrived = np.zeros(count, dtype=np.int64)
    arrived[row] = copies["batch"]
    leaves = _last(row, np.where(copies["held"], copies["leaves"], copies["batch"]), arrived)
    leaves = np.where(leaves >= end, NEVER, leaves)
    settled = np.select(
        [fate == "matched", fate == "late", fate == "pending"],
        [_first_match(join, outcome, side, count), arrived, NEVER],
        _padding(outcome, side, leaves),
    )
    return pd.DataFrame({"fate": fate, "settled": settled, "leaves": leaves, **tally})


def _last(row: np.ndarray, values: np.ndarray, least: np.ndarray) -> np.ndarray:
    last = least.copy()
    np.maximum.at(last, row, values)
    return last


def _first_match(join: Join, outcome: Outcome, side: str, count: int) -> np.ndarray:
    """The micro-batch of each row's first pair, or first group with the other side."""
    first = np.full(count, NEVER)
    if isinstance(join, CoGroup):
        met = outcome.copies[side][outcome.copies[side]["matched"]]
        np.minimum.at(first, met["row"].to_numpy(), outcome.groups["batch"].to_numpy()[met["group"]])
    else:
        np.minimum.at(first, outcome.pairs[side].to_numpy(), outcome.pairs["batch"].to_numpy())
    return first


def _padding(outcome: Outcome, side: str, leaves: np.ndarray) -> np.ndarray:
    """The micro-batch in which each row comes out padded, or else leaves the state."""
    settled = leaves.copy()
    padded = outcome.padded[outcome.padded["side"] == side]
    settled[padded["row"].to_numpy(dtype=np.int64)] = padded["batch"].to_numpy()
    return settled
