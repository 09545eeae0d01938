"""`advise`: what a recording and a join say of each other before anything is run, each with what would help."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from workbench import fixes, model, times
from workbench.joins import CoGroup, IntervalJoin, Join
from workbench.model import NOTHING, PADDED, Micros, Outcome, Shared
from workbench.query import check
from workbench.streams import SIDES, Stream
from workbench.windows import Session, Sliding

_SECOND = 1_000_000
_STEP = 100_000  # delays and gaps are rounded up to tenths of a second
_MUCH_LATE = 0.001  # the share of late rows above which a delay is called short
_FAR = 4  # how many times wider than nearly all differences a bound is when it is called wide
_MOST_COPIES = 8  # copies of a row in sliding windows from which on they are called many
_SILENT = 3  # micro-batches in a row in which a side that sends nothing is called idle
_HOURS = 3_600 * _SECOND  # the wait from which on nulls are called late
_HEAVY = 0.5  # the share of the rows that a hundredth of the keys has when keys are called skewed


@dataclass(frozen=True)
class Advice:
    """One thing to know before a run.

    Attributes
    ----------
    problem
        What was found, with the figures in it.
    remedy
        What would help.
    setting, value
        The setting that would, as `Run.rows` names one in ``fix_setting`` (or ``policy``, ``slide``), and its value as
        text; None where no setting of the join would.
    """

    problem: str
    remedy: str
    setting: str | None = None
    value: str | None = None

    def __str__(self) -> str:
        return f"{self.problem}: {self.remedy}"

    def apply(self, join: Join, left: Stream, right: Stream, policy: str = "min") -> tuple[Join, Stream, Stream, str]:
        """The join, streams and policy with the setting changed; as they were where no setting would help."""
        if self.setting is None or self.value is None:
            return join, left, right, policy
        return fixes.apply_all({self.setting: self.value}, join, left, right, policy)


def advise(join: Join, left: Stream, right: Stream, policy: str = "min") -> list[Advice]:
    """What to know of a join of two recorded streams before it is run.

    Parameters
    ----------
    join, left, right, policy
        As in `workbench.run`.

    Returns
    -------
    list of Advice
        Empty if nothing was found: events at or before 1970; a delay that is shorter than the disorder; a side that is
        idle and stalls everything; bounds far wider than the differences of the rows; a session gap below the usual
        distance of events; sliding windows that hold many copies of each row; few keys that have most rows; outer rows
        that wait for hours.

    Raises
    ------
    ArgumentError
        If an argument is wrong.

    Examples
    --------
    >>> import generators
    >>> import workbench as wb
    >>> orders, payments = generators.generate("orders_payments", events=200, seed=7)
    >>> for each in wb.advise(wb.IntervalJoin("0 s", "15 s"), orders.with_watermark("0 s"), payments):
    ...     print(str(each).split(":")[0])
    5 of 200 rows of orders are late (2.5%)
    3 of 180 rows of payments are late (1.7%)
    payments sends nothing for 3 micro-batches from micro-batch 7 on, while orders goes on
    """
    check(join, left, right, True, policy)
    shared = Shared(left, right)
    outcome = model.work_out(join, left, right, True, policy, shared=shared)
    streams = dict(zip(SIDES, (left, right), strict=True))
    return [
        *_before_1970(streams),
        *_short_delays(streams, outcome),
        *_idle(streams, outcome, policy),
        *_wide_bounds(join, shared),
        *_short_gap(join, streams, shared),
        *_many_copies(join),
        *_skew(streams, shared),
        *_long_waits(join, streams),
    ]


def _before_1970(streams: dict[str, Stream]) -> Iterator[Advice]:
    for stream in streams.values():
        count = int((stream.event_times <= 0).sum())
        if count:
            yield Advice(
                f"{count:,} rows of {stream.name} have event times at or before 1970-01-01, where Spark starts every "
                "watermark, and are dropped as late whatever the delay",
                f"mend the event times of {stream.name}, or shift them",
            )


def _short_delays(streams: dict[str, Stream], outcome: Outcome) -> Iterator[Advice]:
    for side, stream in streams.items():
        copies = outcome.copies[side].drop_duplicates("row", keep="last")
        late = int((copies["late"] & (copies["end"] > 0)).sum())
        if not len(stream) or late / len(stream) <= _MUCH_LATE:
            continue
        least, word = _enough_for_most(streams, outcome)
        value = times.text(timedelta(microseconds=least))
        delay = times.text(stream.watermark)
        short = "it has no watermark delay" if not stream.watermark else f"its delay of {delay} is short"
        yield Advice(
            f"{late:,} of {len(stream):,} rows of {stream.name} are late ({late / len(stream):.1%}): {short} for the "
            "disorder of this recording",
            f"a watermark delay of {value} on {stream.name} {word}",
            f"{side}.watermark",
            value,
        )


def _enough_for_most(streams: dict[str, Stream], outcome: Outcome) -> tuple[int, str]:
    """The delay with which at most one row in a thousand of either side would be late, and what it does."""
    needs = []
    for side in streams:
        copies = outcome.copies[side].drop_duplicates("row", keep="last")
        index, end = copies["batch"].to_numpy() - 1, copies["end"].to_numpy()
        mark = np.minimum(*(outcome.marks.newest[each][np.maximum(index, 0)] for each in SIDES))
        needs.append(
            np.where((index >= 0) & (mark > NOTHING) & (end > 0), np.maximum(mark, 0) - (end - 1) // 1000 * 1000, 0)
        )
    every = np.maximum(np.concatenate(needs), 0)
    least = int(np.quantile(every, 1 - _MUCH_LATE, method="inverted_cdf"))
    return -(-least // _STEP) * _STEP, "keeps all but one row in a thousand"


def _idle(streams: dict[str, Stream], outcome: Outcome, policy: str) -> Iterator[Advice]:
    if policy != "min":
        return
    count = max(each.batch_count for each in streams.values())
    came = {side: np.bincount(each.arrival, minlength=count) > 0 for side, each in streams.items()}
    for side, other in (SIDES, SIDES[::-1]):
        begin, length = _longest(~came[side] & came[other])
        if length >= _SILENT:
            names = streams[side].name, streams[other].name
            yield Advice(
                f"{names[0]} sends nothing for {length} micro-batches from micro-batch {begin} on, while {names[1]} "
                "goes on: the watermark stands still, state grows and rows without partner wait",
                "follow the faster stream (policy max), which then drops what comes late from the idle one, or let its "
                "source send a heartbeat row",
                "policy",
                "max",
            )


def _longest(silent: Micros) -> tuple[int, int]:
    """Where the longest stretch of silence begins, and how long it is."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], silent.astype(int), [0]])))
    lengths = edges[1::2] - edges[::2]
    if not len(lengths):
        return 0, 0
    place = int(lengths.argmax())
    return int(edges[::2][place]), int(lengths[place])


def _wide_bounds(join: Join, shared: Shared) -> Iterator[Advice]:
    if not isinstance(join, IntervalJoin):
        return
    one, other = shared.matches(join)
    if not len(one):
        return
    moments = [shared.copies(join, side)["start"].to_numpy() for side in SIDES]
    apart = moments[1][other] - moments[0][one]
    for name, far, bound in (
        ("upper", np.maximum(apart, 0), times.micros(join.upper)),
        ("lower", np.maximum(-apart, 0), -times.micros(join.lower)),
    ):
        reach = -(-int(np.quantile(far, 0.999, method="inverted_cdf")) // _STEP) * _STEP
        if bound > _FAR * max(reach, _SECOND):
            value = times.text(timedelta(microseconds=reach if name == "upper" else -reach))
            waits = "left" if name == "upper" else "right"
            yield Advice(
                f"the {name} bound keeps every {waits} row in state for {times.short(timedelta(microseconds=bound))}, "
                f"but 99.9 % of the pairs lie within {times.short(timedelta(microseconds=reach))}",
                f"{'an' if name == 'upper' else 'a'} {name} bound of {value} keeps them with less state",
                name,
                value,
            )


def _short_gap(join: Join, streams: dict[str, Stream], shared: Shared) -> Iterator[Advice]:
    if isinstance(join, IntervalJoin) or not isinstance(join.window, Session):
        return
    key = np.concatenate(shared.keys)
    moments = np.concatenate([each.event_times for each in streams.values()])[key >= 0]
    key = key[key >= 0]
    order = np.lexsort((moments, key))
    steps = np.diff(moments[order])[np.diff(key[order]) == 0]
    if not len(steps) or np.median(steps) <= times.micros(join.window.gap):
        return
    usual = int(np.median(steps))
    value = times.text(timedelta(microseconds=-(-2 * usual // _STEP) * _STEP))
    yield Advice(
        f"the session gap of {times.text(join.window.gap)} is below the usual distance of two events of one key, "
        f"{times.short(timedelta(microseconds=usual))}: most sessions will hold one event",
        f"a gap of {value}, twice the usual distance, keeps a visit together",
        "gap",
        value,
    )


def _many_copies(join: Join) -> Iterator[Advice]:
    if isinstance(join, IntervalJoin) or not isinstance(join.window, Sliding):
        return
    size, slide = times.micros(join.window.size), times.micros(join.window.slide)
    copies = -(-size // slide)
    if copies >= _MOST_COPIES:
        value = times.text(timedelta(microseconds=-(-size // 4)))
        yield Advice(
            f"each row is in {copies} windows, and Spark holds a copy of it in state for each",
            f"a slide of {value} makes four",
            "slide",
            value,
        )


def _skew(streams: dict[str, Stream], shared: Shared) -> Iterator[Advice]:
    for stream, keys in zip(streams.values(), shared.keys, strict=True):
        sizes = np.sort(np.bincount(keys[keys >= 0]))[::-1]
        sizes = sizes[sizes > 0]
        top = max(1, len(sizes) // 100)
        if len(sizes) >= 20 and sizes[:top].sum() / sizes.sum() >= _HEAVY:
            share = sizes[:top].sum() / sizes.sum()
            words = f"one key of {len(sizes):,} has" if top == 1 else f"{top:,} keys of {len(sizes):,} have"
            yield Advice(
                f"{words} {share:.0%} of the rows of {stream.name}, and as much of its state, which one task must hold",
                "filter such keys, or salt them: add a small random number to the key on one side, and each of these "
                "numbers on the other",
            )


def _long_waits(join: Join, streams: dict[str, Stream]) -> Iterator[Advice]:
    if isinstance(join, CoGroup) or join.how not in PADDED:
        return
    delay = max(times.micros(each.watermark) for each in streams.values())
    if isinstance(join, IntervalJoin):
        reach = max(times.micros(join.upper), -times.micros(join.lower), 0)
    else:
        reach = times.micros(join.window.gap if isinstance(join.window, Session) else join.window.size)
    if delay + reach >= _HOURS:
        wait = times.short(timedelta(microseconds=delay + reach))
        yield Advice(
            f"rows without partner come out {wait} after they happened, or later: the watermark delay and the "
            f"{'bounds' if isinstance(join, IntervalJoin) else 'window'} add up",
            "shorten the larger of the two, or take what matched at once from an inner join beside this one",
        )
