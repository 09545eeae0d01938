"""From event times to arrival: disorder, lateness, duplicates, idleness, micro-batches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from generators._draw import SECOND, Numbers, Side
from generators._settings import BATCHES, Settings
from workbench.streams import Stream, on_one_clock
from workbench.times import micros

_NETWORK = 0.05  # seconds: the mean way of a row that is neither late nor out of order


def arrive(sides: Sequence[Side], settings: Settings, rng: np.random.Generator) -> list[Stream]:
    """Both sides as streams, in order of arrival on one clock."""
    begin = min((int(side.moments.min()) for side in sides if len(side.moments)), default=0)
    end = max((int(side.moments.max()) for side in sides if len(side.moments)), default=1)
    rows, clocks = [], []
    for place, side in zip(("left", "right"), sides, strict=True):
        chosen = _chosen(place, side.moments, begin, end, settings, rng)
        clock = side.moments[chosen] + delays_on_the_way(len(chosen), settings, rng)
        order = np.argsort(clock, kind="stable")
        rows.append(chosen[order])
        clocks.append(clock[order])
    if settings.trigger is not None:
        left, right = (
            _stream(side, chosen, settings).with_arrivals(clock, settings.trigger)
            for side, chosen, clock in zip(sides, rows, clocks, strict=True)
        )
        return list(on_one_clock(left, right))
    count = settings.batches or BATCHES
    first = min((int(clock[0]) for clock in clocks if len(clock)), default=0)
    last = max((int(clock[-1]) for clock in clocks if len(clock)), default=1)
    length = max(1, last - first + 1)
    return [
        _stream(side, chosen, settings, (clock - first) * count // length, count)
        for side, chosen, clock in zip(sides, rows, clocks, strict=True)
    ]


def _chosen(
    place: str, moments: Numbers, begin: int, end: int, settings: Settings, rng: np.random.Generator
) -> Numbers:
    """Which rows come: all but those of an idle time, and some twice."""
    chosen = np.arange(len(moments))
    if settings.idle is not None and settings.idle[0] == place:
        share = (moments - begin) / max(1, end - begin)
        chosen = chosen[(share < settings.idle[1]) | (share >= settings.idle[2])]
    twice = chosen[rng.random(len(chosen)) < settings.duplicates]
    return np.concatenate([chosen, twice])


def table(side: Side, chosen: Numbers) -> pa.Table:
    """Some of a side's rows, the key first, then the event time."""
    columns = {name: values.take(pa.array(chosen)) for name, values in side.columns.items()}
    moments = pa.array(side.moments[chosen]).cast(pa.timestamp("us"))
    return pa.table({**{name: columns.pop(name) for name in side.key}, side.time: moments, **columns})


def delays_on_the_way(count: int, settings: Settings, rng: np.random.Generator) -> Numbers:
    """How long each row is on its way, in microseconds."""
    way = rng.exponential(_NETWORK * SECOND, count)
    kind = rng.random(count)
    late = kind < settings.late
    disordered = (kind >= settings.late) & (kind < settings.late + settings.disorder)
    way[disordered] += rng.random(int(disordered.sum())) * micros(settings.disorder_spread)
    way[late] += (0.5 + rng.random(int(late.sum()))) * micros(settings.late_by)
    return way.astype(np.int64)


def _stream(
    side: Side, chosen: Numbers, settings: Settings, batch: Numbers | None = None, count: int | None = None
) -> Stream:
    return Stream.from_arrow(
        table(side, chosen),
        side.name,
        key=list(side.key),
        time=side.time,
        watermark=settings.watermark,
        arrival=batch,
        batch_count=count,
    )
