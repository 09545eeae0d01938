"""What a recommendation rests on, and what its recording cannot tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from workbench import model, times
from workbench.arrays import Batches, Codes, RowNumbers
from workbench.counts import counted
from workbench.joins import Join
from workbench.kinds import kind_of
from workbench.literals import DELAYS, SIDES, Policy, Side, Sides, other_side
from workbench.streams import NOTHING, Stream
from workbench.times import Span

_SURE = 3
"""What is seen in none of n rows befalls at most 3 in n of all, at 95 % confidence (the rule of three)."""


def basis(streams: Sides[Stream]) -> str:
    """What a recommendation rests on: rows, and how they are cut into micro-batches."""
    rows = " and ".join(f"{counted(len(each), 'row')} of {each.name}" for each in streams.values())
    count, one = max(each.batch_count for each in streams.values()), streams["left"]
    batches = f"{count:,} micro-batch{'es' if count != 1 else ''}"
    if one.arrivals is None:
        return f"{rows}, numbered as {batches}"
    return f"{rows}, cut by a trigger of {times.short(one.arrivals.trigger)} into {batches}"


def too_short(streams: Sides[Stream], keep: float) -> str:
    """Says that a recording has too few rows to tell a share from all; empty where it has enough."""
    rows = min(len(each) for each in streams.values())
    share = min(1.0, _SURE / max(rows, 1))
    if 1 - keep >= share:
        return ""
    return (
        f"the rows are too few to tell {keep:.3%} from {1 - share:.3%}: with {counted(rows, 'row')} a side, "
        f"lateness that befalls fewer than one row in {max(1, int(1 / share)):,} may not have been seen "
        "(at 95 % confidence)"
    )


def hidden(join: Join, streams: Sides[Stream], policy: Policy, keep: float) -> str:
    """Says how many rows would be late if each had a micro-batch of its own; empty where that makes little difference.

    Rows are late by the watermark of the micro-batch before, so none is late for rows of its own micro-batch, however
    long that is: a recording of few, long ones hides lateness that the query shows under a short trigger.

    Parameters
    ----------
    join, streams, policy
        What is recommended.
    keep
        The share of the rows that are to be kept.
    """
    left, right = pair = tuple(streams[side] for side in SIDES)
    keys = model.key_codes(left, right)
    now = _late_counts(join, (left, right), keys, policy)
    alone = _late_counts(join, _each_row_alone(left, right), keys, policy)
    if not any(alone[n] > max(now[n], (1 - keep) * len(each)) for n, each in enumerate(pair)):
        return ""
    then, here = (" and ".join(f"{found[n]:,} of {each.name}" for n, each in enumerate(pair)) for found in (alone, now))
    return (
        "a row is never late for rows of its own micro-batch, and micro-batches are long here: under a very short "
        f"trigger, {then} would be late, here {here}"
    )


def _late_counts(join: Join, pair: tuple[Stream, Stream], keys: tuple[Codes, Codes], policy: Policy) -> list[int]:
    """How many rows of each side are late for their last window."""
    marks = model.watermarks(join, *pair, keys, True, policy)
    found = []
    for stream, key, filtered in zip(pair, keys, kind_of(join).drops_null_keys(join), strict=True):
        last = kind_of(join).assign(join, stream.event_times).drop_duplicates("row", keep="last")
        row, end = last["row"].to_numpy(), last["end"].to_numpy()
        taken = (key[row] >= 0) if filtered else np.ones(len(row), dtype=bool)
        found.append(int(((end <= marks.late[stream.arrival[row]]) & taken).sum()))
    return found


def _each_row_alone(left: Stream, right: Stream) -> tuple[Stream, Stream]:
    """Both streams with a micro-batch for each row, in order of arrival.

    Where only the micro-batch is known, rows of one arrive by the newest event time of their side so far.
    """
    pair = (left, right)
    if left.arrivals is not None and right.arrivals is not None:
        clocks = [each.arrivals.at for each in pair if each.arrivals is not None]
    else:
        clocks = [np.maximum.accumulate(each.event_times) for each in pair]
    clock, batch = np.concatenate(clocks), np.concatenate([each.arrival for each in pair])
    order = np.lexsort([clock, batch])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    one, other = np.split(place, [len(left)])
    return _alone(left, one, batch[order]), _alone(right, other, batch[order])


def _alone(stream: Stream, places: RowNumbers, batches: Batches) -> Stream:
    """A stream whose rows arrive at such places, of which the micro-batch is given.

    The newest of all rows of a sample's micro-batch arrives with the last of those that were taken.
    """
    found = replace(stream, arrival=places, batch_count=len(batches), arrivals=None)
    for name in ("newest", "newest_keyed"):
        newest = getattr(stream, name)
        if newest is not None and len(batches):
            moved = np.full(len(batches), NOTHING, dtype=np.int64)
            last = np.searchsorted(batches, np.arange(len(newest)), side="right") - 1
            np.maximum.at(moved, np.maximum(last, 0), newest)
            np.maximum.at(moved, places, stream.event_times)
            found = replace(found, newest=moved) if name == "newest" else replace(found, newest_keyed=moved)
    return found


def without_effect(join: Join, streams: Sides[Stream], delays: Mapping[Side, Sequence[Span]]) -> str:
    """Says which side's watermark delay makes no difference under the policy ``min``, as the other side is behind.

    Parameters
    ----------
    join, streams
        What is recommended.
    delays
        The delays that were tried of each side.
    """
    left, right = (streams[side] for side in SIDES)
    keys = model.key_codes(left, right)
    for side in SIDES:
        if len(set(delays.get(side, ()))) < 2:
            continue
        longest = max(times.delay(each, DELAYS[side]) for each in delays[side])
        pair = [replace(streams[each], watermark=longest) if each == side else streams[each] for each in SIDES]
        marks = model.watermarks(join, pair[0], pair[1], keys, True, "min")
        count = marks.kinds.count(model.DATA) - 1  # that of the last judges no row
        behind = marks.own[other_side(side)][:count] <= marks.own[side][:count]
        if count > 0 and behind.all():
            return (
                f"the delay of {streams[side].name} makes no difference up to {times.short(longest)}: the query's "
                f"watermark is that of {streams[other_side(side)].name}, which is further behind (policy min)"
            )
    return ""
