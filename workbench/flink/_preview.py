"""A recording under Flink's rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from workbench import times
from workbench.errors import ArgumentError, one_of, wrong
from workbench.flink._result import FlinkPreview
from workbench.joins import Join
from workbench.kinds import kind_of
from workbench.literals import SIDES, Side, Sides
from workbench.model import FlinkRules, Simulation
from workbench.runs.arguments import check
from workbench.streams import Stream
from workbench.times import Span
from workbench.untyped import Argument

__all__ = ["preview"]

_STEPS = ("micro-batch", "row")


def preview(
    join: Join,
    left: Stream,
    right: Stream,
    *,
    allowed_lateness: Span = "0 seconds",
    watermarks: str = "micro-batch",
    idleness: Span | int | None = None,
) -> FlinkPreview:
    """Preview what Flink makes of a join of two recorded streams: the DataStream job that `java` writes.

    Parameters
    ----------
    join, left, right
        As in `workbench.run`. The watermark of a stream is its newest event time less its delay, less a millisecond, as
        of ``WatermarkStrategy.forBoundedOutOfOrderness``.
    allowed_lateness
        How long after a window's end rows are taken in, each of which makes it fire again; windows only.
    watermarks
        When the watermark moves: after each ``micro-batch`` of the recording, or after each ``row``, the left rows of a
        micro-batch first. Then each row is a micro-batch of what is returned.
    idleness
        After how long without rows a stream is idle, so that it holds the watermark back no more: a time span, by the
        streams' times of arrival, or a number of micro-batches. None: never.

    Returns
    -------
    FlinkPreview
        As `workbench.preview` gives, under Flink's rules.

    Raises
    ------
    ArgumentError
        If an argument is wrong, a time span is finer than a millisecond, or Flink has no such join.

    Examples
    --------
    >>> import generators
    >>> import workbench as wb
    >>> orders, payments = generators.generate("orders_payments", events=200, late=0.3, watermark="1 s", seed=5)
    >>> join = wb.WindowJoin(wb.Tumbling("10 seconds"))
    >>> strict = wb.flink.preview(join, orders, payments)
    >>> patient = wb.flink.preview(join, orders, payments, allowed_lateness="10 seconds")
    >>> len(strict.late) > len(patient.late)
    True
    """
    left, right = check(join, left, right)
    kind = kind_of(join)
    if kind.not_compared:
        raise wrong("join", join, kind.not_compared)
    kind.flink_java(join)  # refuses what is finer than a millisecond
    for side, stream in Sides(left, right).items():
        if times.micros(stream.watermark) % 1000:
            raise wrong(f"{side}.watermark", times.text(stream.watermark), "Flink's event times have milliseconds")
    lateness = times.micros(times.not_negative(allowed_lateness, "allowed_lateness"))
    if lateness % 1000:
        raise wrong("allowed_lateness", allowed_lateness, "Flink's event times have milliseconds")
    if lateness and not kind.windowed:
        raise wrong("allowed_lateness", allowed_lateness, "an interval join has none, because it has no windows: use 0")
    one_of("watermarks", watermarks, _STEPS)
    asleep = None if idleness is None else _idle(left, right, idleness)
    if watermarks == "row":
        left, right, asleep = _row_by_row(left, right, asleep)
    rules = FlinkRules(lateness, asleep)
    return FlinkPreview(Simulation(join, left, right, flink=rules))


def _idle(left: Stream, right: Stream, idleness: Argument) -> dict[Side, Any]:
    """Per side whether it is idle after each micro-batch."""
    count = max(left.batch_count, right.batch_count)
    if isinstance(idleness, int) and not isinstance(idleness, bool):
        if idleness < 1:
            raise wrong("idleness", idleness, "use a number of micro-batches from 1 on, a time span, or None")
        span, clock = idleness, np.arange(count)
        began, longer = -1, False
    else:
        span = times.micros(times.positive(idleness, "idleness"))
        if left.arrivals is None or right.arrivals is None:
            remedy = (
                "when rows arrived is not known: give a number of micro-batches, or streams with arrival and trigger"
            )
            raise wrong("idleness", idleness, remedy)
        interval = times.micros(left.arrivals.trigger)
        clock = np.zeros(count, dtype=np.int64)
        for stream in (left, right):
            clock[stream.arrival] = (cast(Any, stream.arrivals).ticks + 1) * interval
        clock = np.maximum.accumulate(clock)
        began, longer = int(clock[0]) if count else 0, True
    found = {}
    for side, stream in Sides(left, right).items():
        came = np.full(count, began)
        came[stream.arrival] = clock[stream.arrival]
        silent = clock - np.maximum.accumulate(came)
        found[side] = silent > span if longer else silent >= span
    return cast("dict[Side, Any]", found)


def _row_by_row(
    left: Stream, right: Stream, idle: dict[Side, Any] | None
) -> tuple[Stream, Stream, dict[Side, Any] | None]:
    """Both streams with one row a micro-batch, and per side whether it is idle after each."""
    if left.newest is not None or right.newest is not None:
        raise ArgumentError(
            "watermarks: got 'row'; of these streams only some rows were taken, and the others move the watermark, "
            "too: use 'micro-batch'"
        )
    cut = len(left)
    batch = np.concatenate([left.arrival, right.arrival])
    order = np.lexsort((np.arange(len(batch)) >= cut, batch))  # stable: rows of a side stay in order
    step = np.empty(len(batch), dtype=np.int64)
    step[order] = np.arange(len(batch))
    parts = [
        replace(stream, arrival=mine, batch_count=len(batch), arrivals=None)
        for stream, mine in ((left, step[:cut]), (right, step[cut:]))
    ]
    if idle is None:
        return parts[0], parts[1], None
    ends = np.append(np.diff(batch[order]) > 0, True)[: len(batch)]  # a side is found idle as its micro-batch ends
    return parts[0], parts[1], {side: idle[side][batch[order]] & ends for side in SIDES}
