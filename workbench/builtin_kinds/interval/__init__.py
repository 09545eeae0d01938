"""Interval joins: every pair of rows with the same key whose times differ by no more than two bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from types import MappingProxyType

import numpy as np
import pandas as pd

from workbench import times
from workbench.arrays import Times
from workbench.builtin_kinds.interval import advice, plan
from workbench.builtin_kinds.interval.bounds import edges
from workbench.builtin_kinds.interval.fixes import bounds
from workbench.builtin_kinds.interval.suggested_spans import suggested_spans
from workbench.builtin_kinds.interval.verdicts import NEAR_A_BOUND, OUT_OF_REACH, WAITS, WAITS_FOR_ANY, IntervalVerdict
from workbench.errors import ArgumentError
from workbench.fixes import delays
from workbench.fixes.search import Search
from workbench.flink import syntax as flink
from workbench.joins import How, IntervalJoin, emission
from workbench.kinds import MS, UNBOUNDED, WHERE, Advised, AnyKind, Field, Flag, J, Kind, SharedRows, Sketch, Stretch
from workbench.literals import Setting, Side, Sides
from workbench.plan.names import Names, SideNames
from workbench.quoting import column
from workbench.streams import Stream
from workbench.times import Span
from workbench.untyped import Record, Value

__all__ = ["KINDS", "Interval", "WithoutWindows"]

_NEAR = 1_000_000  # microseconds beyond a bound that are a near miss however short the interval is
_RELATIVE = "relative to the left row's event time."
_APART = "Leaves pairs out that are exactly that far apart."


class WithoutWindows(Kind[J]):
    """A join whose rows stand for themselves: each is late by its own event time."""

    windowed = False

    def late_rows(self, join: J, side: SideNames, rows: str) -> str:
        if not self.drops_late:
            return f"    return {rows}.where(F.lit(False))  # nothing is late"
        return f"    return {rows}.where(F.col({column(side.time)}) <= watermark)"

    def assign(self, join: J, moments: Times) -> pd.DataFrame:
        return pd.DataFrame({"row": np.arange(len(moments)), "start": moments, "end": moments}, copy=False)

    def assignment(self, join: J) -> None:
        return None

    def window_word(self, join: J) -> str:
        return ""


class Interval(WithoutWindows[IntervalJoin]):
    """An interval join: a stream-stream join on the key and two bounds."""

    name = "interval"
    label = "Interval join"
    sketch = Sketch(
        "Pairs rows of a key whose event times are within two bounds: the right row is at least the lower bound, and "
        "at most the upper bound, after the left row.",
        left=(1, 4, 7.4),
        right=(2, 2.9, 5.5),
        pairs=((0, 0), (0, 1), (1, 2)),
        spans=(Stretch(1, 3.2), Stretch(4, 6.2), Stretch(7.4, 9.6)),
    )
    fields = (
        Field("lower", "Lower bound", "0 seconds", f"The earliest right row, {_RELATIVE}", "a lower bound"),
        Field("upper", "Upper bound", "15 seconds", f"The latest right row, {_RELATIVE}", "an upper bound"),
    )
    missed = MappingProxyType({"upper": IntervalVerdict.BEYOND_UPPER, "lower": IntervalVerdict.BEFORE_LOWER})
    texts = (WHERE,)
    flags = (
        Flag("lower_exclusive", "lower bound exclusive", _APART),
        Flag("upper_exclusive", "upper bound exclusive", _APART),
    )

    def describes(self, join: object) -> bool:
        return isinstance(join, IntervalJoin)

    def make(self, texts: Mapping[str, str], flags: Mapping[str, bool], how: How) -> IntervalJoin:
        where = WHERE.read(texts.get("where", ""), "where")
        return IntervalJoin(texts["lower"], texts["upper"], how, where=where, **flags)

    def plan(self, join: IntervalJoin, names: Names, finish: bool) -> str:
        return plan.render(join, names, finish)

    def reaching(self, join: IntervalJoin) -> Mapping[Setting, int]:
        return {"lower": -1, "upper": 1} if emission(join).matched else {}

    def bounds(self, join: IntervalJoin) -> tuple[int, int]:
        low, high = edges(join)
        return low + join.lower_exclusive, high - join.upper_exclusive

    def evicted_up_to(self, join: IntervalJoin, watermark: Times) -> tuple[Times, Times]:
        """Spark solves each bound for the watermark, in milliseconds.

        A left row waits until no right row can come that is within its upper bound; a right row, until no left row can
        come whose lower bound it is within.
        """
        low, high = edges(join)
        left = np.trunc((watermark - high) / 1000).astype(np.int64) - (not join.upper_exclusive)
        right = np.trunc((watermark + low) / 1000).astype(np.int64) - (not join.lower_exclusive)
        return left * 1000, right * 1000

    def leaves_at(self, join: IntervalJoin, side: Side, end: Times) -> Times:
        apart = join.upper_exclusive if side == "left" else join.lower_exclusive
        beyond = self.waits(join, side)
        return -(-((-(-end // MS) + (not apart)) * MS + beyond) // MS) * MS

    def held_by(self, join: IntervalJoin, side: Side) -> str:
        name, bound = ("upper", join.upper) if side == "left" else ("lower", join.lower)
        return f"no {name} bound" if bound is None else f"{name} = {times.text(bound)}"

    def right_retention(self, join: IntervalJoin) -> int:
        return (-(edges(join)[0] // 1000) + (not join.lower_exclusive)) * 1000

    def waits(self, join: IntervalJoin, side: Side) -> int:
        low, high = edges(join)
        return high if side == "left" else -low

    def reach(self, join: IntervalJoin) -> int:
        return max((abs(times.micros(each)) for each in (join.lower, join.upper) if each is not None), default=0)

    def waiting(self, join: IntervalJoin, side: Side) -> str:
        return WAITS_FOR_ANY if self.waits(join, side) == UNBOUNDED else WAITS

    def near_miss(self, join: IntervalJoin, side: Side, change: int) -> str:
        low, high = self.interval(join)
        return NEAR_A_BOUND if change <= max(high - low, _NEAR) else OUT_OF_REACH

    def suggested_spans(self, join: IntervalJoin, apart: Times) -> tuple[str, dict[Setting, timedelta]] | None:
        return suggested_spans(join, apart)

    def interval(self, join: IntervalJoin) -> tuple[int, int]:
        return edges(join)

    def limits(self, join: IntervalJoin) -> list[tuple[str, int]]:
        found = zip(("lower bound", "upper bound"), edges(join), strict=True)
        return [(name, bound) for name, bound in found if abs(bound) != UNBOUNDED]

    def fixes(self, search: Search) -> list[pd.DataFrame]:
        return [delays(search), bounds(search, search.join)]

    def advice(self, join: IntervalJoin, streams: Sides[Stream], shared: SharedRows) -> Iterator[Advised]:
        yield from advice.empty(join)
        yield from advice.wide_bounds(join, shared)

    def check(self, join: IntervalJoin, left: Stream, right: Stream) -> None:
        super().check(join, left, right)
        for side, name, bound in (("left", "upper", join.upper), ("right", "lower", join.lower)):
            if bound is None and (side in emission(join).padded or emission(join).first_only):
                raise ArgumentError(
                    f"{name}: got None; Spark refuses a {join.how} join without this bound, as rows of {side} without "
                    f"a partner could never come out; set {name}, or use how='inner'"
                )

    def flink_query(self, join: IntervalJoin, given: Mapping[str, Value], render: Callable[..., str]) -> str:
        lower, upper = _both(join)
        ends = [flink.bound(lower, "lower"), flink.bound(upper, "upper")]
        return render("interval/flink.sql.jinja", bounds=ends)

    def flink_java(self, join: IntervalJoin) -> Record:
        lower, upper = _both(join)
        ends = [flink.duration(lower, "lower"), flink.duration(upper, "upper")]
        return {"template": "interval/flink.java.jinja", "bounds": ends, "by_table": join.how != "inner"}


def _both(join: IntervalJoin) -> tuple[Span, Span]:
    """The bounds of a join that has both, as Flink's interval join must."""
    if join.lower is None or join.upper is None:
        name = "lower" if join.lower is None else "upper"
        raise ArgumentError(f"{name}: got None; Flink's interval join has both bounds: set {name}")
    return join.lower, join.upper


KINDS: tuple[AnyKind, ...] = (Interval(),)
