"""Times of arrival, cut into micro-batches by a trigger interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import pyarrow as pa

from workbench import times
from workbench.arrays import Batches, RowNumbers, Times
from workbench.counts import counted, have
from workbench.errors import DataError, excerpt, wrong
from workbench.sources.recorded_rows import MOST_BATCHES
from workbench.times import Span
from workbench.untyped import Argument

__all__ = ["Arrivals", "checked", "cut", "in_order"]


@dataclass(frozen=True, eq=False)
class Arrivals:
    """When each row of a stream arrived, and the trigger interval that cuts this into micro-batches.

    Attributes
    ----------
    at
        Times of arrival in microseconds since 1970-01-01 UTC, one a row; never falling.
    trigger
        The trigger interval.
    """

    at: Times
    trigger: timedelta

    @property
    def ticks(self) -> Batches:
        """For each row how many triggers had fired, since 1970, when it arrived; the next one takes it in."""
        ticks: Batches = self.at // times.micros(self.trigger)
        return ticks


def cut(sides: Sequence[Arrivals]) -> tuple[list[RowNumbers], int]:
    """The micro-batches that the rows of a query's inputs arrive in.

    Spark's processing-time trigger fires at the multiples of its interval since 1970 (``ProcessingTimeExecutor``), and
    takes in what has arrived by then on any input. Where nothing has, it runs no micro-batch, but one without data if
    the watermark has moved: so of each pause one empty micro-batch is left.

    Parameters
    ----------
    sides
        The arrivals of one side, or of both; all with one trigger interval.

    Returns
    -------
    list of numpy.ndarray, int
        Per side the micro-batch of each row, and how many micro-batches there are.

    Raises
    ------
    ArgumentError
        If there would be too many.
    """
    ticks = [each.ticks for each in sides]
    every = np.unique(np.concatenate(ticks))
    if not len(every):
        return list(ticks), 1
    numbers = np.concatenate([[0], np.cumsum(np.minimum(np.diff(every), 2))])
    count = int(numbers[-1]) + 1
    if count > MOST_BATCHES:
        raise wrong(
            "trigger",
            times.text(sides[0].trigger),
            f"it cuts these rows into {count:,} micro-batches, at most {MOST_BATCHES:,} are taken; use a longer one",
        )
    return [numbers[np.searchsorted(every, each)] for each in ticks], count


def in_order(table: pa.Table, column: str, name: str) -> tuple[RowNumbers, Times]:
    """The order of a table's rows by a column that tells their arrival, and these times in that order.

    Raises
    ------
    ArgumentError, DataError
        If the column holds no times, or misses some.
    """
    kind = table.schema.field(column).type
    if not pa.types.is_timestamp(kind):
        raise wrong("arrival", column, f"it holds {kind} in {name}; use a column of timestamps")
    missing = table.column(column).null_count
    if missing:
        rows = f"{counted(missing, 'row')} of {name} {have(missing)}"
        raise DataError(f"arrival: {rows} no time in {excerpt(column)}; leave them out, or fill it")
    at = table.column(column).cast(pa.int64()).to_numpy()
    order = np.argsort(at, kind="stable")
    return order, at[order]


def checked(at: Argument, trigger: Span, rows: int) -> Arrivals:
    """Times of arrival and a trigger interval that were given.

    Raises
    ------
    ArgumentError
        If they are not one time a row, never falling.
    """
    remedy = "give a NumPy array of times (datetime64, or whole microseconds since 1970), one a row, never falling"
    if not isinstance(at, np.ndarray) or at.dtype.kind not in "iuM":
        raise wrong("at", at, remedy)
    if at.shape != (rows,):
        raise wrong("at", f"{at.size:,} times", f"there are {counted(rows, 'row')}; {remedy}")
    if at.dtype.kind == "M" and np.isnat(at).any():
        raise wrong("at", f"{int(np.isnat(at).sum()):,} missing times", remedy)
    if at.dtype.kind == "u" and len(at) and at.max() > np.iinfo(np.int64).max:
        raise wrong("at", int(at.max()), remedy)
    whole = (at.astype("datetime64[us]") if at.dtype.kind == "M" else at).astype(np.int64)
    if (np.diff(whole) < 0).any():
        raise wrong("at", "times that fall", remedy)
    return Arrivals(whole, times.trigger(trigger))
