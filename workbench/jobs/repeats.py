"""Rows that ``dropDuplicates`` takes out: which of those with equal columns goes on, and of which one each is another.

Spark keeps the columns of each row that went on, and takes out the rows that have the same ones. Where an event time is
among them, or with ``dropDuplicatesWithinWatermark``, the watermark evicts what is kept, and the next such row goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from workbench.arrays import RowNumbers
from workbench.untyped import Value

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["OF", "PASSES", "marked", "told", "words_of"]

OF = "__of"
"""The column with the row that a row is another one of: its time in microseconds, or nothing, and its micro-batch."""
PASSES = "__passes"
_FIRST, _DIES, _LIVE, _ENTERED = "__first", "__dies", "__live", "__entered"
_NEVER = 2**62
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_OTHER = "{other}"


def marked(
    rows: DataFrame,
    equal: Sequence[str],
    *,
    names: Mapping[str, str],
    time: str | None,
    expires: Column | None,
    evictions: Column | None,
    first: int,
) -> DataFrame:
    """Rows with two columns more: `PASSES`, whether a row goes on, and `OF`, of one that does not.

    In a micro-batch the row with the least place goes on. A row that has left before is kept by nothing.

    Parameters
    ----------
    rows
        The rows, with the number of the micro-batch of each and its place.
    equal
        The columns that are compared.
    names
        What the columns of the micro-batch, the place, and the step at which a row left are called: ``batch``,
        ``place`` and ``left_at``.
    time
        SQL of the time of a row in microseconds, for `OF`; None: it has none.
    expires
        When what is kept of a row is evicted: as soon as the watermark is not before this, in microseconds; null, or
        None: never.
    evictions
        The watermark of each micro-batch that evicts, an array.
    first
        The number of the first micro-batch.
    """
    from pyspark.sql import Window  # when needed: PySpark is slow to import
    from pyspark.sql import functions as F

    batch, alive = F.col(names["batch"]), F.col(names["left_at"]).isNull()
    if expires is None or evictions is None:
        dies = F.lit(_NEVER)
    else:
        ends = F.size(F.filter(evictions, lambda mark: mark < expires)) + first
        dies = F.when(expires.isNull(), F.lit(_NEVER)).otherwise(ends.cast("long"))
    order = Window.partitionBy(alive, *equal, batch).orderBy(names["place"])
    moment = F.lit(None).cast("long") if time is None else F.expr(time)
    found = rows.withColumn(_DIES, dies).withColumn(_FIRST, F.row_number().over(order) == 1)
    entry = F.struct(batch.alias("batch"), F.col(_DIES).alias("dies"), moment.alias("time"))
    mates = Window.partitionBy(alive, *equal)
    entries = F.sort_array(F.collect_list(F.when(F.col(_FIRST), entry)).over(mates))
    found = found.withColumn(_ENTERED, entries)
    start = F.struct(F.lit(-1).cast("long").alias("batch"), F.lit(-1).cast("long").alias("dies"), moment.alias("time"))
    live = F.aggregate(
        F.filter(F.col(_ENTERED), lambda each: each["batch"] <= batch),
        start,
        lambda kept, each: F.when(each["batch"] > kept["dies"], each).otherwise(kept),
    )
    found = found.withColumn(_LIVE, live)
    passes = F.col(_FIRST) & (F.col(f"{_LIVE}.batch") == batch)
    of = F.concat_ws(" ", F.coalesce(F.col(f"{_LIVE}.time").cast("string"), F.lit("-")), F.col(f"{_LIVE}.batch"))
    return (
        found.withColumn(PASSES, passes)
        .withColumn(OF, F.when(alive & ~F.col(PASSES), of))
        .drop(_FIRST, _DIES, _LIVE, _ENTERED)
    )


def words_of(operator: str, columns: Sequence[str]) -> str:
    """The step that takes out duplicates, in words, with a gap for the row that each is another one of."""
    return f"{operator}, as it has the same {' and '.join(columns)} as {_OTHER}, which came before it,"


def told(
    left_at: RowNumbers, words: Sequence[str], others: Sequence[str | None], own: Sequence[tuple[Value, int]]
) -> tuple[RowNumbers, tuple[str, ...]]:
    """The steps of rows with the gaps of `words_of` filled, and the number of its step for each row.

    Parameters
    ----------
    left_at, words
        The number of the step that took each row out, or -1, and the steps.
    others
        `OF` of each row.
    own
        Each row's time, in microseconds, and its micro-batch.
    """
    numbers = {text: place for place, text in enumerate(words)}
    found = np.array(left_at, dtype=np.int64)
    for row, of in enumerate(others):
        if of is None or found[row] < 0 or _OTHER not in words[found[row]]:
            continue
        text = words[found[row]].replace(_OTHER, _row(of, *own[row]))
        found[row] = numbers.setdefault(text, len(numbers))
    return found, tuple(numbers)


def _row(of: str, time: Value, batch: int) -> str:
    """What a row is called in the reason of another one, which has this time and micro-batch.

    Examples
    --------
    >>> _row("3723000000 0", 3723500000, 0)
    'the row at 01:02:03'
    >>> _row("3723000000 0", 86400000000, 4)
    'the row at 1970-01-01 01:02:03 of micro-batch 0'
    >>> _row("- 2", None, 4)
    'a row of micro-batch 2'
    """
    moment, _, number = of.partition(" ")
    where = "" if int(number) == batch else f" of micro-batch {number}"
    if moment == "-":
        return f"a row{where}"
    then = _EPOCH + timedelta(microseconds=int(moment))
    day = "" if time is not None and (_EPOCH + timedelta(microseconds=int(time))).date() == then.date() else "%Y-%m-%d "
    clock = f"{then:{day}%H:%M:%S}" + (f".{then.microsecond:06d}".rstrip("0") if then.microsecond else "")
    return f"the row at {clock}{where}"
