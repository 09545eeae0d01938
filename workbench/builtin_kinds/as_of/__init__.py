"""As-of joins: each left row with the right row of its key that is nearest in event time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from types import MappingProxyType

import numpy as np
import pandas as pd

from workbench import times
from workbench.arrays import Times
from workbench.builtin_kinds.as_of import advice as as_of_advice
from workbench.builtin_kinds.as_of import fixes as as_of_fixes
from workbench.builtin_kinds.as_of import operator_model, partner_choice, plan, reasons
from workbench.builtin_kinds.as_of.verdicts import (
    LEFT_ALONE,
    MAY_BE_PARTNER,
    RIGHT_ALONE,
    TOO_FAR,
    TOO_FAR_OR_SAME_TIME,
    WAITS,
    WAITS_FOR,
    WOULD_BE_PARTNER,
    AsOfVerdict,
)
from workbench.builtin_kinds.interval import Interval, WithoutWindows
from workbench.builtin_kinds.suggested_spans import FEWEST, is_much, reach, rounded
from workbench.errors import ArgumentError, excerpt
from workbench.fixes.search import Search
from workbench.flink import syntax as flink
from workbench.joins import DIRECTIONS, AsOfJoin, How, IntervalJoin
from workbench.kinds import (
    CLOSEST_PAIR,
    LATE_ROWS,
    NEVER,
    Advised,
    AnyKind,
    Field,
    Flag,
    Menu,
    Operator,
    RowsInLists,
    SharedRows,
    Sketch,
    Stretch,
)
from workbench.literals import Setting, Side, Sides
from workbench.plan.names import Names
from workbench.runs.expiry import Expiring
from workbench.streams import Stream
from workbench.untyped import Record, Value

__all__ = ["KINDS", "NEVER", "AnyAge", "WithinTolerance", "as_interval"]

_INTERVAL = Interval()
_DIRECTION = Menu(
    "direction",
    "Direction",
    DIRECTIONS,
    "Backward: the last right row at or before the left row's time; forward: the first at or after it; nearest: the "
    "nearer of the two.",
)
_SAME = "Whether a right row at the very time of the left row is a partner."
_EXACT = Flag("allow_exact", "a row at the same time counts", _SAME, True)
_APART = "How far apart the two rows may be at most."


HOLDING = Operator(
    "keys with rows",
    LATE_ROWS,
    1,
    is_processor=True,
    has_timers=True,
    state=RowsInLists("kept"),
    counts_keys=True,
)
"""A processor in Python that holds the latest right rows of each key, and left rows until their partner is known."""


class _AsOf(WithoutWindows[AsOfJoin]):
    """What both have in common."""

    menus = (_DIRECTION,)
    flags = (_EXACT,)
    hows: tuple[How, ...] = ("inner", "left")
    missed = MappingProxyType({"tolerance": AsOfVerdict.BEYOND_TOLERANCE})
    one_partner = True
    not_compared = (
        "Flink's DataStream API has no as-of join of its own (wb.flink.java makes one of state and timers), "
        "and SQL's drops no row as late"
    )

    def waiting(self, join: AsOfJoin, side: Side) -> str:
        return MAY_BE_PARTNER if side == "right" else self.decided(join)

    def decided(self, join: AsOfJoin) -> str:
        """What a left row waits for, as a template."""
        raise NotImplementedError

    def near_miss(self, join: AsOfJoin, side: Side, change: int) -> str:
        if side == "right":
            return WOULD_BE_PARTNER
        return TOO_FAR if join.allow_exact else TOO_FAR_OR_SAME_TIME

    def alone(self, join: AsOfJoin, side: Side) -> str:
        return RIGHT_ALONE if side == "right" else LEFT_ALONE[join.direction, join.allow_exact]

    def flink_query(self, join: AsOfJoin, given: Mapping[str, Value], render: Callable[..., str]) -> str:
        if join.direction != "backward" or not join.allow_exact:
            raise ArgumentError(
                f"join: got {excerpt(join)}; Flink SQL's temporal join is backward and takes a row at the same time: "
                "others are jobs of the DataStream API (wb.flink.java)"
            )
        tolerance = ""
        if join.tolerance is not None:
            flink.duration(join.tolerance, "tolerance")  # checks it as it was given
            tolerance = flink.bound(-times.exact(join.tolerance), "tolerance")
        return render("as_of/flink.sql.jinja", tolerance=tolerance)

    def flink_java(self, join: AsOfJoin) -> Record:
        tolerance = flink.duration(join.tolerance, "tolerance") if join.tolerance is not None else ""
        more = {"tolerance": tolerance, "kept": partner_choice.rows_kept(join)}
        return {"template": "as_of/flink.java.jinja", "more": more}

    def certain_at(self, join: AsOfJoin, left: Times, right: Times) -> Times:
        """The watermark from which on these pairs, given as their event times, are certain."""
        raise NotImplementedError

    def fixes(self, search: Search) -> list[pd.DataFrame]:
        return [as_of_fixes.delays(search, search.join, self.certain_at), as_of_fixes.tolerance(search, search.join)]


class WithinTolerance(_AsOf):
    """With a tolerance: an interval join, and an aggregation that keeps the best of each left row's pairs."""

    name = "as_of"
    label = "As-of join, within a tolerance"
    sketch = Sketch(
        "Gives each left row one partner: the right row of its key that is nearest in the chosen direction of time, "
        "within the tolerance.",
        left=(3, 6, 9),
        right=(1.2, 2.4, 8),
        pairs=((0, 1), (2, 2)),
        spans=(Stretch(1, 3), Stretch(4, 6), Stretch(7, 9)),
    )
    fields = (Field("tolerance", "Tolerance", "20 seconds", _APART, "a tolerance", times.not_negative),)
    operator = CLOSEST_PAIR
    parts = (operator_model.BY_PAIRS, reasons.REASONS)

    def describes(self, join: object) -> bool:
        return isinstance(join, AsOfJoin) and join.tolerance is not None

    def make(self, texts: Mapping[str, str], flags: Mapping[str, bool], how: How) -> AsOfJoin:
        return AsOfJoin(texts["direction"], texts["tolerance"], how, **flags)  # type: ignore[arg-type]

    def plan(self, join: AsOfJoin, names: Names, finish: bool) -> str:
        return plan.within(join, as_interval(join), names, finish)

    def bounds(self, join: AsOfJoin) -> tuple[int, int]:
        return _INTERVAL.bounds(as_interval(join))

    def evicted_up_to(self, join: AsOfJoin, watermark: Times) -> tuple[Times, Times]:
        return _INTERVAL.evicted_up_to(as_interval(join), watermark)

    def leaves_at(self, join: AsOfJoin, side: Side, end: Times) -> Times:
        sides: tuple[Side, ...] = ("left", "right") if side == "left" else ("right",)
        return np.max([_INTERVAL.leaves_at(as_interval(join), each, end) for each in sides], axis=0)

    def certain_at(self, join: AsOfJoin, left: Times, right: Times) -> Times:
        return self.leaves_at(join, "left", left)

    def waits(self, join: AsOfJoin, side: Side) -> int:
        return self.reach(join)

    def advice(self, join: AsOfJoin, streams: Sides[Stream], shared: SharedRows) -> Iterator[Advised]:
        yield from as_of_advice.wide_tolerance(join, shared)

    def reaching(self, join: AsOfJoin) -> Mapping[Setting, int]:
        return {"tolerance": 1}

    def tries(self, join: AsOfJoin, shared: SharedRows) -> dict[Setting, list[int]]:
        return {"tolerance": as_of_advice.tolerances(join, shared)}

    def reach(self, join: AsOfJoin) -> int:
        return _tolerance(join)

    def suggested_spans(self, join: AsOfJoin, apart: Times) -> tuple[str, dict[Setting, timedelta]] | None:
        within = {"backward": apart <= 0, "forward": apart >= 0}.get(join.direction, np.full(len(apart), True))
        apart = apart[within]
        if join.tolerance is None or len(apart) < FEWEST:
            return None
        outside = float((np.abs(apart) > times.micros(join.tolerance)).mean())
        if not is_much(outside):
            return None
        words = f"{outside:.0%} of the left rows with a row of their key in that direction are beyond the tolerance"
        return words, {"tolerance": rounded(reach(apart))}

    def interval(self, join: AsOfJoin) -> tuple[int, int]:
        return _INTERVAL.interval(as_interval(join))

    def decided(self, join: AsOfJoin) -> str:
        return WAITS

    def limits(self, join: AsOfJoin) -> list[tuple[str, int]]:
        return [("tolerance", each) for each in self.interval(join) if each]


class AnyAge(_AsOf):
    """Without a tolerance: a processor in Python, with the latest rows of each key in state."""

    name = "as_of_any_age"
    label = "As-of join, however far"
    sketch = Sketch(
        "Gives each left row one partner: the right row of its key that is nearest in the chosen direction of time, "
        "however far away it is.",
        left=(3, 6, 9),
        right=(1.2, 2.4, 8),
        pairs=((0, 1), (1, 1), (2, 2)),
    )
    operator = HOLDING
    parts = (operator_model.BY_PROCESSOR, reasons.REASONS, Expiring(partner_choice.partners, partner_choice.retained))
    without_processor = ("without a tolerance it needs", ": give it one")

    def describes(self, join: object) -> bool:
        return isinstance(join, AsOfJoin) and join.tolerance is None

    def make(self, texts: Mapping[str, str], flags: Mapping[str, bool], how: How) -> AsOfJoin:
        return AsOfJoin(texts["direction"], None, how, **flags)  # type: ignore[arg-type]

    def advice(self, join: AsOfJoin, streams: Sides[Stream], shared: SharedRows) -> Iterator[Advised]:
        yield from as_of_advice.endless_waits(join, streams, shared)

    def plan(self, join: AsOfJoin, names: Names, finish: bool) -> str:
        return plan.processor(join, names, finish)

    def certain_at(self, join: AsOfJoin, left: Times, right: Times) -> Times:
        if join.direction == "backward":
            return left
        return np.where(right >= left, right, 2 * left - right if join.direction == "nearest" else left)

    def held_by(self, join: AsOfJoin, side: Side) -> str:
        match side, join.direction:
            case "right", "backward" | "nearest":
                return "the key: its latest row stays until another takes its place"
            case "left", "forward":
                return "the first row of its key after it, which may still come"
            case "left", "nearest":
                return "a nearer row that may still come"
        return "the watermark"

    def decided(self, join: AsOfJoin) -> str:
        return WAITS_FOR[join.direction]


def as_interval(join: AsOfJoin) -> IntervalJoin:
    """The interval join that makes all pairs within the tolerance."""
    tolerance = times.exact(join.tolerance)  # type: ignore[arg-type]
    lower = times.ZERO if join.direction == "forward" else -tolerance
    upper = times.ZERO if join.direction == "backward" else tolerance
    apart = not join.allow_exact
    return IntervalJoin(lower, upper, "inner", apart and lower == times.ZERO, apart and upper == times.ZERO)


def _tolerance(join: AsOfJoin) -> int:
    return times.micros(join.tolerance)  # type: ignore[arg-type]


KINDS: tuple[AnyKind, ...] = (WithinTolerance(), AnyAge())
