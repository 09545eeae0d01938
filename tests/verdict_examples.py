"""A small recording for each verdict; docs/verdicts.md shows them, and a test runs them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

import workbench as wb
from workbench.builtin_kinds.as_of.verdicts import AsOfVerdict
from workbench.builtin_kinds.interval.verdicts import IntervalVerdict
from workbench.builtin_kinds.pattern.verdicts import PatternVerdict
from workbench.builtin_kinds.rules.verdicts import RuleVerdict
from workbench.builtin_kinds.session.verdicts import SessionVerdict
from workbench.model import Gone, Logged, Numbers, RowFacts, Simulation
from workbench.reasons.own import sentences
from workbench.verdicts import SharedVerdict, Verdict, WindowVerdict

START = pd.Timestamp("2026-01-01 10:00")
COLUMNS = {
    "plain": ["key", "time", "batch"],
    "values": ["key", "time", "value", "batch"],
    "rules": ["key", "time", "rule", "field", "op", "value", "withdrawn", "batch"],
}


@dataclass(frozen=True)
class Example:
    """A recording of which one row has a verdict.

    Attributes
    ----------
    verdict
        The verdict.
    join, orders, payments
        The join, and the rows of both sides: a key, seconds after 10:00, values, the micro-batch.
    row
        The row that has the verdict: its side and number.
    settings
        Other arguments of `workbench.preview`.
    facts
        What a job's plan says of its rows beside their keys and times.
    following
        The watermark of the micro-batch that would follow, in seconds after 10:00.
    """

    verdict: Verdict
    join: wb.Join
    orders: tuple
    payments: tuple
    row: tuple = ("left", 0)
    settings: dict = field(default_factory=dict)
    facts: RowFacts | None = None
    following: int | None = None

    def streams(self):
        """Both streams."""
        return stream(self.orders, "orders"), stream(self.payments, "payments")

    def simulation(self):
        """What the model says of the recording."""
        if self.facts is None:
            return wb.preview(self.join, *self.streams(), **self.settings).simulation
        at = None if self.following is None else int((START + pd.Timedelta(seconds=self.following)).value // 1000)
        return Simulation(self.join, *self.streams(), finish=False, logged=Logged(0, self.facts, following=at))

    def told(self):
        """The verdict of the row, its cause and its reason."""
        told = sentences(self.simulation())
        side, row = self.row
        return told.verdicts[side][row], told.causes(side)[row], told.table[side]["reason"][row]


def stream(rows, name):
    """A stream of tuples."""
    width = len(rows[0]) if rows else 3
    names = next(names for names in COLUMNS.values() if len(names) == width)
    frame = pd.DataFrame(list(rows), columns=names).sort_values("batch", kind="stable")
    frame["time"] = START + pd.to_timedelta(frame["time"].astype(float), unit="s")
    frame["key"] = frame["key"].astype("string")
    return wb.Stream.from_pandas(frame, name, "key", "time", batch="batch")


INTERVAL = wb.IntervalJoin("0 seconds", "10 seconds", how="left")
TUMBLING = wb.WindowJoin(wb.Tumbling("10 seconds"))
AS_OF = wb.AsOfJoin("backward", "10 seconds", how="left")
RULES = wb.RulesJoin(rule="rule", field="field", op="op", value="value", withdrawn="withdrawn")
POSITIVE = wb.col("value") > 0
FIRST = wb.step("first", side="left", where=POSITIVE)
SECOND = wb.followed_by("second", side="right", where=POSITIVE)
CANCELLED = wb.not_followed_by("cancelled", side="right", where=wb.col("value") < 0)
LARGER = wb.followed_by("second", side="right", where=wb.col("value") > wb.row("first").value)
PATTERN = wb.Pattern(FIRST, SECOND, within="20 seconds")
NEXT = wb.Pattern(FIRST, wb.next("second", side="right", where=POSITIVE), within="20 seconds")
UNLESS = wb.Pattern(FIRST, CANCELLED, SECOND, within="20 seconds")
EARLIER = wb.Pattern(FIRST, LARGER, within="20 seconds")
ONE_SIDED = wb.Pattern(FIRST, wb.followed_by("second", side="left", where=POSITIVE), within="20 seconds")
SKIPPING = wb.Pattern(FIRST, SECOND, within="20 seconds", skip="past last event")
LATER = (("z", 60, 0), ("z", 61, 1))  # rows that move the watermark
LATER_VALUES = (("z", 60, 0, 0), ("z", 61, 0, 1))
HOT = ("hot", "value", ">", 80.0, False)


def gone(left=(), right=(), steps=("the filter (amount > 20)",)):
    """Facts of a job that takes rows out, given as numbers of steps, -1 for none."""
    at = {"left": np.array(left), "right": np.array(right)}
    return RowFacts(
        filtered={side: rows >= 0 for side, rows in at.items()},
        gone={side: Gone(rows, steps) for side, rows in at.items()},
    )


S = SharedVerdict
EXAMPLES = [
    Example(S.JOINED, INTERVAL, (("a", 0, 0),), (("a", 4, 0),)),
    Example(S.GROUPED, wb.CoGroup(wb.Tumbling("10 seconds")), (("a", 0, 0),), (("a", 4, 0),)),
    Example(
        S.JOINED_BEFORE,
        INTERVAL,
        (("a", 0, 0), *LATER),
        LATER,
        facts=RowFacts(met={"left": np.array([True, False, False]), "right": np.zeros(2, dtype=bool)}),
    ),
    Example(S.NULL_KEY, INTERVAL, ((None, 0, 0),), (("a", 4, 0),)),
    Example(S.LATE_FOR_PARTNER, INTERVAL, (*LATER, ("a", 10, 2)), (*LATER, ("a", 12, 2)), ("left", 2)),
    Example(S.LATE_OUT_OF_REACH, INTERVAL, (*LATER, ("a", 10, 2)), (("a", 59, 0), *LATER), ("left", 2)),
    Example(S.LATE_KEY_NEVER_CAME, INTERVAL, (*LATER, ("a", 10, 2)), LATER, ("left", 2)),
    Example(
        S.LATE_KEY_LEFT_OUT,
        INTERVAL,
        (*LATER, ("a", 10, 2)),
        (*LATER, ("a", 12, 1)),
        ("left", 2),
        facts=gone([-1, -1, -1], [-1, -1, 0]),
    ),
    Example(
        S.LATE_KEY_WITHOUT_TIME,
        INTERVAL,
        (*LATER, ("a", 10, 2)),
        LATER,
        ("left", 2),
        facts=RowFacts(untimed={"right": {"a": "without an event time"}}),
    ),
    Example(
        S.LATE_BEHIND_ROWS_AHEAD,
        INTERVAL,
        (("z", 1, 0), ("future", 86_400, 0), ("y", 2, 1), ("a", 3, 2)),
        (("z", 1, 0), ("future", 86_400, 0), ("y", 2, 1), ("a", 4, 2)),
        ("left", 3),
    ),
    Example(
        S.LATE_BY_POLICY,
        INTERVAL,
        (("z", 60, 0), ("z", 61, 1), ("a", 10, 2)),
        (("z", 5, 0), ("z", 6, 1)),
        ("left", 2),
        settings={"policy": "max"},
    ),
    Example(
        S.LATE_PARTNERS_UNKNOWN,
        INTERVAL,
        (*LATER, ("a", 10, 2)),
        (*LATER, ("a", 12, 2)),
        ("left", 2),
        facts=RowFacts(is_stand_in=True),
    ),
    Example(S.LATE_AT_EPOCH, INTERVAL, (("a", -1_767_261_700, 0),), (("a", 4, 0),)),
    Example(S.WAITING, INTERVAL, (("a", 0, 0),), (("z", 4, 0),), settings={"finish": False}),
    Example(
        S.WAITING_FOR_NEXT_MICRO_BATCH,
        INTERVAL,
        (("a", 0, 0), ("z", 60, 1)),
        (("z", 60, 1),),
        facts=RowFacts(),
        following=60,
    ),
    Example(
        S.WAITING_FOR_EVER,
        INTERVAL,
        (("a", 0, 0), *LATER, ("z", 62, 2)),
        (*LATER, ("z", 62, 2)),
        facts=RowFacts(retention={"right": 0}),
    ),
    Example(
        S.STAYS_FOREVER, wb.IntervalJoin("0 seconds", None), (("a", 0, 0), *LATER), LATER, settings={"finish": False}
    ),
    Example(S.LEFT_OUT, INTERVAL, (("a", 0, 0), *LATER), LATER, facts=gone([0, -1, -1], [-1, -1])),
    Example(
        S.CONDITION_FAILS,
        wb.IntervalJoin("0 s", "10 s", how="left", where=wb.col("left_value") < wb.col("right_value")),
        (("a", 0, 5, 0),),
        (("a", 4, 3, 0),),
    ),
    Example(S.BETWEEN_WINDOWS, wb.WindowJoin(wb.Sliding("5 seconds", "10 seconds")), (("a", 7, 0),), (("a", 8, 0),)),
    Example(S.KEY_NEVER_CAME, INTERVAL, (("a", 0, 0),), (("b", 4, 0),)),
    Example(
        S.KEY_LEFT_OUT,
        INTERVAL,
        (("a", 0, 0), *LATER, ("z", 62, 2)),
        (("a", 1, 0), *LATER, ("z", 62, 2)),
        facts=gone([-1] * 4, [0, -1, -1, -1]),
    ),
    Example(
        S.KEY_WITHOUT_TIME,
        INTERVAL,
        (("a", 0, 0), *LATER, ("z", 62, 2)),
        (*LATER, ("z", 62, 2)),
        facts=RowFacts(untimed={"right": {"a": "without an event time"}}),
    ),
    Example(S.PARTNER_LATE, INTERVAL, (("a", 10, 0), *LATER), (*LATER, ("a", 12, 2))),
    Example(
        S.PARTNER_EVICTED,
        wb.IntervalJoin("-1 second", "16 seconds", "left", lower_exclusive=True, upper_exclusive=True),
        (("a", 0, 0), ("z", 15.5, 1), ("z", 15.6, 2), ("z", 15.7, 3)),
        (("z", 15.5, 1), ("z", 15.6, 2), ("a", 15.9, 3)),
        facts=RowFacts(
            retention={"left": 15_001_000, "right": 1_000},
            numbers=Numbers(
                0, 15_000_000, 1_000_000, "payments.at BETWEEN orders.at AND orders.at + INTERVAL 15 SECONDS"
            ),
        ),
    ),
    Example(
        S.NO_PARTNER_ON_TIME,
        INTERVAL,
        (("a", 34, 0), ("z", 90, 0)),
        (("z", 90, 0), ("z", 91, 1), ("a", 50, 2)),
    ),
    Example(WindowVerdict.OTHER_WINDOW, TUMBLING, (("a", 9, 0),), (("a", 11, 0),)),
    Example(
        SessionVerdict.OTHER_SESSION,
        wb.WindowJoin(wb.Session("10 seconds"), how="left"),
        (("a", 0, 0), ("a", 8, 0)),
        (("a", 29, 0), ("a", 41, 0)),
    ),
    Example(IntervalVerdict.BEYOND_UPPER, INTERVAL, (("a", 0, 0),), (("a", 11, 0),)),
    Example(IntervalVerdict.BEFORE_LOWER, INTERVAL, (("a", 2, 0),), (("a", 0, 0),)),
    Example(AsOfVerdict.HAS_PARTNER, AS_OF, (("a", 5, 0),), (("a", 1, 0),)),
    Example(AsOfVerdict.IS_PARTNER, AS_OF, (("a", 5, 0),), (("a", 1, 0),), ("right", 0)),
    Example(
        AsOfVerdict.LATE_PARTNER_OF_NONE, AS_OF, (("a", 9, 0), *LATER), (("a", 8, 0), *LATER, ("a", 7, 2)), ("right", 3)
    ),
    Example(AsOfVerdict.NONE_IN_DIRECTION, AS_OF, (("a", 5, 0),), (("a", 6, 0),)),
    Example(AsOfVerdict.BEYOND_TOLERANCE, AS_OF, (("a", 15, 0),), (("a", 1, 0),)),
    Example(AsOfVerdict.PARTNER_OF_NONE, AS_OF, (("a", 5, 0),), (("a", 1, 0), ("a", 3, 0)), ("right", 0)),
    Example(RuleVerdict.MEETS_RULES, RULES, (("a", 5, 90.0, 0),), (("a", 1, *HOT, 0),)),
    Example(RuleVerdict.MET_BY_ROWS, RULES, (("a", 5, 90.0, 0),), (("a", 1, *HOT, 0),), ("right", 0)),
    Example(RuleVerdict.MEETS_NONE, RULES, (("a", 5, 70.0, 0),), (("a", 1, *HOT, 0),)),
    Example(RuleVerdict.NO_RULE_IN_FORCE, RULES, (("a", 5, 90.0, 0),), (("a", 6, *HOT, 0),)),
    Example(RuleVerdict.NO_ROW_CAME, RULES, (("a", 5, 90.0, 0),), (("a", 6, *HOT, 0),), ("right", 0)),
    Example(RuleVerdict.NO_ROW_MET_IT, RULES, (("a", 5, 70.0, 0),), (("a", 1, *HOT, 0),), ("right", 0)),
    Example(
        RuleVerdict.WITHOUT_NAME,
        RULES,
        (("a", 5, 90.0, 0),),
        (("a", 1, None, "value", ">", 80.0, False, 0), ("a", 1, *HOT, 0)),
        ("right", 0),
    ),
    Example(
        RuleVerdict.REPLACED_AT_ONCE, RULES, (("a", 5, 90.0, 0),), (("a", 1, *HOT, 0), ("a", 1, *HOT, 0)), ("right", 0)
    ),
    Example(
        RuleVerdict.WITHDRAWS,
        RULES,
        (("a", 5, 90.0, 0),),
        (("a", 1, *HOT, 0), ("a", 3, *HOT[:-1], True, 0)),
        ("right", 1),
    ),
    Example(RuleVerdict.WITHDRAWS_NOTHING, RULES, (("a", 5, 90.0, 0),), (("a", 3, *HOT[:-1], True, 0),), ("right", 0)),
    Example(
        RuleVerdict.NO_ROW_CAN_MEET_IT,
        RULES,
        (("a", 5, 90.0, 0),),
        (("a", 1, "hot", "value", "about", 80.0, False, 0),),
        ("right", 0),
    ),
    Example(PatternVerdict.IN_MATCH, PATTERN, (("a", 0, 1, 0),), (("a", 5, 1, 0),)),
    Example(PatternVerdict.LATE, PATTERN, (*LATER_VALUES, ("a", 10, 1, 2)), LATER_VALUES, ("left", 2)),
    Example(
        PatternVerdict.LATE_FOR_MATCH,
        PATTERN,
        (*LATER_VALUES, ("a", 10, 1, 2)),
        (*LATER_VALUES, ("a", 12, 1, 2)),
        ("left", 2),
    ),
    Example(PatternVerdict.TIMED_OUT, PATTERN, (("a", 0, 1, 0),), (("a", 25, 1, 0),)),
    Example(PatternVerdict.STOPPED, UNLESS, (("a", 0, 1, 0),), (("a", 2, -1, 0), ("a", 4, 1, 0))),
    Example(PatternVerdict.BROKEN, NEXT, (("a", 0, 1, 0),), (("a", 2, -1, 0), ("a", 4, 1, 0))),
    Example(PatternVerdict.SKIPPED, SKIPPING, (("a", 0, 1, 0), ("a", 1, 1, 0)), (("a", 5, 1, 0),), ("left", 1)),
    Example(PatternVerdict.STOPS, UNLESS, (("a", 0, 1, 0),), (("a", 2, -1, 0), ("a", 4, 1, 0)), ("right", 0)),
    Example(PatternVerdict.BREAKS, NEXT, (("a", 0, 1, 0),), (("a", 2, -1, 0), ("a", 4, 1, 0)), ("right", 0)),
    Example(PatternVerdict.FITS_NO_STEP, PATTERN, (("a", 0, -1, 0),), (("a", 5, 1, 0),)),
    Example(PatternVerdict.NOT_WAITED_FOR, PATTERN, (("b", 0, 1, 0),), (("a", 5, 1, 0),), ("right", 0)),
    Example(PatternVerdict.GIVEN_UP, PATTERN, (("a", 0, 1, 0),), (("a", 25, 1, 0),), ("right", 0)),
    Example(PatternVerdict.MAY_FIT, EARLIER, (("b", 0, 1, 0),), (("a", 5, 1, 0),), ("right", 0)),
    Example(PatternVerdict.SIDE_WITHOUT_STEP, ONE_SIDED, (("a", 0, 1, 0),), (("a", 5, 1, 0),), ("right", 0)),
]

TABLES = {
    "Of every kind of join": SharedVerdict,
    "Of joins with windows": WindowVerdict,
    "Of joins with sessions": SessionVerdict,
    "Of interval joins": IntervalVerdict,
    "Of as-of joins": AsOfVerdict,
    "Of rules joins": RuleVerdict,
    "Of patterns": PatternVerdict,
}
"""The enumerations of verdicts, by what they are of."""
