"""`Outcome`: what a run must give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from workbench.arrays import Codes, Counts, RowNumbers, Times
from workbench.literals import SIDES, Side
from workbench.model._outputs import Outputs
from workbench.model._watermarks import Watermarks
from workbench.model.ordering import along_keys, order


def on_time(assignments: pd.DataFrame) -> Any:
    """Which assignments reach Spark's operator: those neither late nor filtered out before it, as booleans."""
    return ~(assignments["late"] | assignments["filtered"]).to_numpy()


def present(begin: RowNumbers, end: Times, count: int) -> Counts:
    """How many of what begins and ends in these micro-batches is there after each of the first so many.

    Examples
    --------
    >>> present(np.array([0, 1]), np.array([2, 9]), 3).tolist()  # one is there after 0 and 1, one from 1 on
    [1, 2, 1]
    """
    added, removed = (np.bincount(np.minimum(each, count), minlength=count + 1)[:count] for each in (begin, end))
    return np.cumsum(added - removed)


def rows_present(mine: pd.DataFrame, count: int) -> Counts:
    """How many rows of a side are in state after each micro-batch."""
    alive = mine[on_time(mine)]
    return present(alive["batch"].to_numpy(), alive["evicted_in"].to_numpy(), count)


def keys_present(rows: pd.DataFrame, count: int) -> Counts:
    """How many keys have rows in state after each micro-batch.

    Parameters
    ----------
    rows
        Columns ``key``, ``batch`` and ``evicted_in``: in which micro-batch each comes, and in which one it leaves.
    count
        How many micro-batches there are.

    Notes
    -----
    The stretches of micro-batches in which a key has rows are merged. Invariant: a stretch begins with a row until
    which no earlier one of its key stays, which a running maximum of the ends along all keys tells.

    Examples
    --------
    >>> rows = pd.DataFrame({"key": [0, 0, 1], "batch": [0, 1, 1], "evicted_in": [2, 3, 2]})
    >>> keys_present(rows, 4).tolist()
    [1, 2, 1, 0]
    """
    rows = rows[rows["evicted_in"] > rows["batch"]]
    if rows.empty:
        return np.zeros(count, dtype=np.int64)
    key, begin, end = (rows[name].to_numpy() for name in ("key", "batch", "evicted_in"))
    opens, closes = along_keys((key, begin), (key, end))
    places = order(opens)
    reach = np.maximum.accumulate(closes[places])
    heads = np.flatnonzero(np.append(True, opens[places][1:] > reach[:-1]))  # before each its key had no row
    return present(begin[places][heads], np.maximum.reduceat(end[places], heads), count)


@dataclass(frozen=True)
class Outcome:
    """What a run must give. All times in microseconds since 1970-01-01 UTC.

    Attributes
    ----------
    marks
        The watermarks.
    keys
        The keys of both sides, as `key_codes` gives them.
    assignments
        Per side one row for each row and window (once a row in an interval join), in order of row, then window:
        ``row``; ``start``, ``end`` (the window, in a session join the one the row opens alone; in an interval join both
        are the event time); ``batch`` (its arrival); ``filtered`` (its key is null, and Spark filters it out before
        anything else); ``late``; ``watermark`` (the one it was judged by); ``evicted_in`` (the micro-batch at whose end
        it is no longer in state; the number of micro-batches if it never leaves); ``held`` (whether it is in state
        after any micro-batch); ``matched`` (whether it is in a pair, or in a group with the other side); ``group`` (in
        sessions and coGroup the group it is in, -1 if in none). Where a left row has one partner, ``waits``
        (whether it is that of a left row that still waits); of a processor ``leaves_at`` (the watermark with which it
        leaves).
    outputs
        What comes out within the run, and the rows it is made of.
    groups
        What Spark's aggregation holds in sessions and coGroup: ``key`` (code; below 0 a null key), ``start``, ``end``,
        ``batch`` (in which it is closed; the number of micro-batches if it is still open), ``left``, ``right`` (how
        many rows of each side). Else empty.
    open_groups
        How many groups are open after each micro-batch.
    counted
        What Spark counts in state after each micro-batch, where that is neither its rows nor its groups.
    partial
        Of a pattern, for each row (``side``, ``row``: the index) the longest partial match that it was in and that came
        to nothing: ``step`` (that took the row), ``length`` (how many rows), ``cause``, ``waited_for``, ``at`` (as in
        `workbench.patterns.matching.Ended`), ``start`` (the time of its first row), ``by_side``, ``by_row`` (the row
        that ended it; empty and -1 without one).
    """

    marks: Watermarks
    keys: tuple[Codes, Codes]
    assignments: dict[Side, pd.DataFrame]
    outputs: Outputs
    groups: pd.DataFrame
    open_groups: Counts
    counted: Counts | None = None
    partial: pd.DataFrame | None = None

    def held_after(self, batch: int, side: Side) -> pd.DataFrame:
        """The assignments of a side that are in state after a micro-batch."""
        mine = self.assignments[side]
        return mine[mine["held"] & (mine["batch"] <= batch) & (mine["evicted_in"] > batch)]

    def moves(self, side: Side) -> tuple[Counts, Counts]:
        """How many assignments of a side's rows are added to state, and evicted from it, in each micro-batch."""
        count = len(self.marks)
        mine = self.assignments[side]
        held = mine["held"].to_numpy()
        added, evicted = (
            np.bincount(mine[name].to_numpy()[held], minlength=count + 1)[:count] for name in ("batch", "evicted_in")
        )
        return added, evicted

    def state_rows(self) -> dict[Side, Counts]:
        """Per side how many assignments are in state after each micro-batch."""
        return {side: np.cumsum(np.subtract(*self.moves(side))) for side in SIDES}

    def state_counts(self) -> Counts:
        """How many rows are in state after each micro-batch, as Spark counts them: groups in sessions and coGroup."""
        if self.counted is not None:
            return self.counted
        rows = self.state_rows()
        return self.open_groups if len(self.groups) else rows["left"] + rows["right"]

    def output_rows(self) -> Counts:
        """How many rows come out in each micro-batch."""
        table = self.outputs.table
        return np.bincount(table["batch"].to_numpy()[table["emitted"]], minlength=len(self.marks))
