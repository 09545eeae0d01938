"""Every verdict that kinds of join share, with its sentences: why a row fared as it did, and what to do.

A sentence is a template. Each slot, such as ``{partner}``, is filled by the method of that name in
`workbench.reasons.slots.SentenceSlots`; slots that are whole clauses are empty where they do not apply. A kind of join
with verdicts of its own has them in the module ``verdicts`` of its package.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

import numpy as np

from workbench.arrays import Objects
from workbench.literals import Fate, Obstacle

__all__ = ["Removal", "SharedVerdict", "Verdict", "WindowVerdict", "Wording", "verdict_where"]


@dataclass(frozen=True)
class Wording:
    """What is told of the rows of a verdict.

    Attributes
    ----------
    fate
        Their fate.
    cause
        In a few words that many rows share: what `Run.causes` and the groups of a report count.
    sentence
        The reason of one row, with the figures in it.
    remedy
        What to do about it, for the documentation.
    obstacle
        Of unmatched rows what kept them from a partner; ``distance``: the nearest row of their key is too far, and lies
        earlier or later.
    """

    fate: Fate
    cause: str
    sentence: str
    remedy: str
    obstacle: Obstacle | Literal["distance"] = "other"


class Verdict(Enum):
    """Why a row fared as it did; each member is a `Wording`. Kinds of join have enumerations of their own."""

    def __init__(self, told: Wording) -> None:
        self.fate, self.cause, self.sentence, self.remedy = told.fate, told.cause, told.sentence, told.remedy
        self.obstacle = told.obstacle

    def __str__(self) -> str:
        return self.name.lower()


# SentenceSlots and remedies that verdicts of several kinds share.

LATE_SENTENCE = "late {behind}: {judged}; {kept}"
MISSED_SENTENCE = "{near}{partly}{padded}"  # `near` is a template of the kind of join's own, such as `NEAR_A_BOUND`
IN_OUTPUT = "Nothing: the row is in the output."

_LONGER_DELAY = "Set the watermark delay that the reason names, or a longer one; Tune shows what it costs in state."
_KEY = "Compare the keys of both sides: their case, their blanks, their leading zeros, and what a filter takes out."


def verdict_where(condition: Any, one: Verdict | Objects, other: Verdict | Objects) -> Objects:
    """For each row one verdict where a condition holds, else the other."""
    return np.where(condition, np.asarray(one, dtype=object), np.asarray(other, dtype=object))


class SharedVerdict(Verdict):
    """The verdicts of every kind of join."""

    JOINED = Wording(
        "matched",
        "matched rows of {other}",
        "joined with {rows} of {other}, first in micro-batch {batch}{partly}{fired}{lost_above}",
        IN_OUTPUT,
    )
    GROUPED = Wording(
        "matched",
        "matched rows of {other}",
        "in a group with {rows} of {other}, first in micro-batch {batch}{partly}{fired}",
        IN_OUTPUT,
    )
    JOINED_BEFORE = Wording(
        "matched",
        "matched rows of {other}",
        "joined before micro-batch {first_known}, with rows of {other} that are no longer known",
        IN_OUTPUT,
    )
    NULL_KEY = Wording(
        "null_key",
        "its key is null",
        "its key is null, and a null key matches no key{padded}",
        "Fill in the key before the join, or compare keys with `<=>`, which treats two nulls as equal.",
    )
    LATE_FOR_PARTNER = Wording("late", "late, and would have matched a row of {other}", LATE_SENTENCE, _LONGER_DELAY)
    LATE_OUT_OF_REACH = Wording(
        "late",
        "late, and no row of {other} {within_reach}",
        LATE_SENTENCE,
        "A longer delay keeps the row, but it still finds no partner: widen the bounds or the windows first.",
    )
    LATE_KEY_NEVER_CAME = Wording("late", "late, and its key never arrived on {other}", LATE_SENTENCE, _KEY)
    LATE_KEY_LEFT_OUT = Wording(
        "late",
        "late, and its key arrived on {other} only in rows that the job removes",
        LATE_SENTENCE,
        "Look at the operator that removes the rows of the other side.",
    )
    LATE_KEY_WITHOUT_TIME = Wording(
        "late",
        "late, and its key arrived on {other} without an event time, or with one in the far future",
        LATE_SENTENCE,
        "Fill in the event time before withWatermark.",
    )
    LATE_BEHIND_ROWS_AHEAD = Wording(
        "late",
        "late, because a row far ahead of all others moved the watermark",
        "late {behind}: {judged}; {rows_ahead}",
        "Filter out rows whose event time is in the future, before withWatermark.",
    )
    LATE_BY_POLICY = Wording(
        "late",
        "late, because the watermark follows the faster side",
        "late {behind}: {judged}; "
        "the watermark follows the faster side (policy max); with policy min, this row would be on time",
        "Set spark.sql.streaming.multipleWatermarkPolicy to min, with a new checkpoint.",
    )
    LATE_PARTNERS_UNKNOWN = Wording(
        "late",
        "late",
        "late {behind}: {judged}; {kept_alone}",
        "The workbench cannot analyze this join: to keep such rows, set the watermark delay that the reason names.",
    )
    LATE_AT_EPOCH = Wording(
        "late",
        "late, at or before 1970-01-01",
        "late: Spark starts every watermark at 1970-01-01 and drops rows at or before it",
        "Check the unit of the event time: seconds read as milliseconds fall in January 1970.",
    )
    WAITING = Wording(
        "pending",
        "still waiting after the last micro-batch",
        "waiting: {until}{stands}{moved_by}",
        "Send a row of any key on the side that holds the watermark back, or end the input.",
    )
    WAITING_FOR_NEXT_MICRO_BATCH = Wording(
        "pending",
        "leaves the state with the next micro-batch",
        "waiting: {until}; the watermark has since passed that, at {last_watermark}, so in the next micro-batch it "
        "{leaves}; {next_micro_batch}",
        "Send a row of any key on either side, or let the query run on.",
    )
    WAITING_FOR_EVER = Wording(
        "pending",
        "never evicted from state",
        "never evicted from state: Spark derives no state watermark for {name} from the join condition; "
        "{until}, and the watermark has passed that, at {last_watermark}{as_interval}",
        "Give the other side's event time both a lower and an upper bound in the join condition.",
    )
    STAYS_FOREVER = Wording(
        "pending",
        "stays in state forever",
        "stays in state forever: as {why_forever}, {until}{as_interval}",
        "Give the join condition a lower and an upper bound, and both streams a watermark.",
    )
    LEFT_OUT = Wording(
        "unmatched",
        "removed before the join",
        "{left_at} before it reaches the join",
        "Look at the operator that the reason names.",
        "condition",
    )
    CONDITION_FAILS = Wording(
        "unmatched",
        "no row of {other} {within_reach} satisfies {condition}",
        "{refused} of {other} {within_reach}, but none satisfies {condition}{padded}",
        "Look at the values that the condition compares.",
        "condition",
    )
    BETWEEN_WINDOWS = Wording(
        "unmatched",
        "in the gap between two windows",
        "it falls in the gap between two windows{then_near}",
        "Set the slide to at most the size of the window.",
    )
    KEY_NEVER_CAME = Wording(
        "unmatched", "its key never arrived on {other}", "no partner: {key_across}{padded}", _KEY, "key"
    )
    KEY_LEFT_OUT = Wording(
        "unmatched",
        "its key arrived on {other} only in rows that the job removes",
        "no partner: {key_across}{padded}",
        "Look at the operator that removes the rows of the other side.",
        "key",
    )
    KEY_WITHOUT_TIME = Wording(
        "unmatched",
        "its key arrived on {other} without an event time, or with one in the far future",
        "no partner: {key_across}{padded}",
        "Fill in the event time before withWatermark.",
        "key",
    )
    PARTNER_LATE = Wording(
        "unmatched",
        "the watermark had passed it or its partner",
        MISSED_SENTENCE,
        _LONGER_DELAY,
        "late",
    )
    PARTNER_EVICTED = Wording(
        "unmatched",
        "it or its partner had left the state when the other one arrived",
        MISSED_SENTENCE,
        "Compare event times rather than numbers made of them: Spark then keeps each row for as long as the condition "
        "may hold. Or set the watermark delay that the reason names; where clocks change, an hour more is enough.",
    )
    NO_PARTNER_ON_TIME = Wording(
        "unmatched",
        "no row of {other} {within_reach} was on time",
        MISSED_SENTENCE,
        "Look at the rows of its key that came late: no single setting would have matched it.",
        "distance",
    )


class WindowVerdict(Verdict):
    """The verdicts of joins with windows."""

    OTHER_WINDOW = Wording(
        "unmatched",
        "another {window} has the nearest row of its key",
        MISSED_SENTENCE,
        "Set the size, the offset or the gap that the reason names; an interval join has no window boundaries.",
        "distance",
    )


# Clauses: what slots of the sentences above are filled with.

PARTLY = "; it was late for {late_windows} of its {windows} windows"
FIRED_AGAIN = "; its {window} fired again{times}, in {micro_batches}"
LOST_ABOVE = (
    "; the aggregation after the join drops {lost_pairs} as late: the window ended at {lost_end}, and its watermark "
    "stood at {lost_mark} in micro-batch {lost_in}; bounds on the event times would hold that watermark back"
)
PADDED_BEFORE = "; before that, it was written {nulls}in micro-batch {padded_in}"
PADDED = "; it is written {nulls}in micro-batch {padded_in}{fired_again}"

BEHIND = "by {behind_by}"
EXACTLY_AT = "exactly at the watermark"
ARRIVED = "it arrived in micro-batch {arrived_in}, when the watermark for late rows stood at {judged_by}"
WINDOW_ENDED = f"its {{last_window}} ended at {{end}}, and {ARRIVED}"
BEHIND_BY_LESS = "by less than a millisecond"
FLINK_ARRIVED = "it arrived in micro-batch {arrived_in}, when the watermark stood at {judged_by}"
FLINK_WINDOW_ENDED = f"its {{last_window}} ended at {{end}}{{allowed}}, and {FLINK_ARRIVED}; it goes to the side output"
FLINK_ALLOWED = ", with an allowed lateness of {lateness}"
FLINK_BEHIND = f"{FLINK_ARRIVED}, and an interval join drops rows behind it; this row goes to the side output"
ROWS_AHEAD = "{ahead}, {gap} ahead of every other row, moved the watermark; without {it}, this row would be on time"

KEPT = "{kept_by} would have kept it{by_policy}"
DELAY_OF_NOW = "the watermark delay of {delay} that {name} has now"
"""In place of a changed delay, of a row that was late while the job ran with a shorter one."""
KEPT_AND_MATCHED = f"{KEPT}, and {{matches}}"
KEPT_BUT_FIX = f"{KEPT}; {{fix}}"
KEPT_IN_VAIN = f"{KEPT}, {{in_vain}}"
OF_BOTH = " (policy {policy}: the query's watermark is the {which} of those of {left_name} and {right_name})"
NO_PARTNER_WITHIN = "but it has no partner {within_reach}"
AGGREGATES_CHANGE = "but which aggregates it would meet is not known, as they change with the watermark, too"
PARTNER_WAS_LATE_TOO = "but its partner was late, too"
NOT_KEPT = "no single watermark delay would have kept it: both sides' watermarks had passed it"
NOT_KEPT_BUT_FIX = f"{NOT_KEPT}; {{fix}}"
NOTHING_TRIED = "none of the settings tried would have matched it"
FIX = "with {change} {meets}"
THEN_FIX = f"; {FIX}"

KEY_NEVER_CAME = "key {key} never arrived on {other}"
KEY_UNTIMED = "key {key} arrived on {other} {untimed}, and the workbench leaves such rows out"


@dataclass(frozen=True)
class Removal:
    """How it is told what removes a row before it reaches the join.

    Attributes
    ----------
    of_row
        Of the row itself.
    of_key
        Of a row of the other side, whose key arrives only in rows that are removed.
    by
        What removes it.
    """

    of_row: str
    of_key: str
    by: str


BY_STEP = Removal("{step} removes it", "key {key} arrived on {other} only in rows that {taken_out} removes", "{step}")
BY_FILTER = Removal(
    "the filter {filter} removes it",
    "key {key} arrived on {other} only in rows that the filter {other_filter} removes",
    "the filter {filter}",
)
BY_NULL = Removal(
    "the condition is never true where {null} is null, so Spark removes it",
    "key {key} arrived on {other} only with {other_null} null, where the condition is never true",
    "Spark, as its {null} is null",
)
BY_FILTERS = Removal(
    "a filter of the job, or one that Spark makes of the join condition, removes it",
    "key {key} arrived on {other} only in rows that a filter of the job, or one that Spark makes of the join "
    "condition, removes",
    "a filter of the job or of the join condition",
)

COMES_OUT = "comes out"
COMES_OUT_UNLESS = "comes out unless it meets a partner"
LEAVES_UNLESS = "leaves the state unless it meets a partner"
NEXT_ROW = "the next row of any key, on either side, starts that micro-batch"
NEXT_ROW_ONLY = (
    f"{NEXT_ROW}; Spark runs none without rows, because spark.sql.streaming.noDataMicroBatches.enabled is false"
)
NEXT_ROW_OR_NONE = f"{NEXT_ROW}, or Spark runs it without rows if the query runs on, which trigger(once=True) does not"
STANDS = "; the watermark stands at {last_watermark}{held_back}"
NO_WATERMARK = "; there is no watermark yet{held_back}"
FORGOTTEN = "; {holder} holds it back, with no row since the query was restarted"
HELD_BACK = "; {holder}{idle} holds it back"
HELD_BACK_BY_OTHERS = "; another stream of the query holds it back"
IDLE = ", idle since micro-batch {idle_since},"
FILTERED_SINCE = ", no row of which passes {holders_filter} since micro-batch {idle_since},"
PASSING = " that passes {movers_filter}"
FOLLOWS = "; it follows {holder}"
MOVED_BY = "; a row of any key at {moved_at} or later on {movers} brings the watermark there"

WAITS_WITH_IT = "it and its partner {partner} are both still in state"
PARTNER_DROPPED = "its partner {partner} came too late and was dropped; {kept_both}"
LATE_FOR_SHARED_WINDOW = "it came too late for the window it shares with {partner}; {kept_both}"
KEPT_BOTH = "{change} would have kept both{both_by_policy}"
KEPT_BOTH_BY_POLICY = "the watermark follows the faster side (policy max); with policy min, both would be on time"
KEPT_BOTH_WITHOUT_AHEAD = (
    "{ahead}, {gap} ahead of every other row, moved the watermark; without {it}, both would be on time"
)
LEFT_STATE = "it had left the state when its partner {partner} arrived, as {evicted_by}; {change} would have kept both"
PARTNER_LEFT_STATE = (
    "its partner {partner} had left the state when it arrived, as {evicted_by}; {change} would have kept both"
)
ONE_LEFT_STATE = (
    "it satisfies the condition with a row of {other}, and the earlier of the two had left the state when the later "
    "one arrived, as {evicted_by}"
)
EVICTED_BY_TIMES = "the condition compares whole numbers of {unit}, and Spark evicts by the times themselves"
EVICTED_BY_HOURS = "the condition counts by the clock of the time zone, and Spark evicts by elapsed hours"
FLINK_LEFT_STATE = (
    "the earlier of it and its partner {partner} had left state when the later one arrived; "
    "{change} would have kept both"
)
SEMI_JOIN_LOSES = (
    "its partner {partner} came in the same micro-batch, in which the watermark passed this row: "
    "Spark's left semi join loses such a row; {change} would have kept both{both_by_policy}"
)
SESSION_CLOSED = (
    "its partner {partner} arrived after the session had closed; {change} would have kept both{both_by_policy}"
)

NEAR_MISS = "near miss: the nearest partner is {partner}, {distance} away"
IN_ANOTHER_WINDOW = f"{NEAR_MISS}, in another window; {{change}} would hold both"
NO_PARTNER = "no partner {within_reach} was on time"
NONE_IN_REACH = "no row of its key on {other} is {within_reach}"
NO_PARTNER_BUT_FIX = f"{NO_PARTNER}; {FIX}"
NO_UPPER = "the join has no upper bound"
NO_LOWER = "the join has no lower bound"
NONE_DERIVED = "Spark derives no {bound} bound from the join condition"
FAILS = ", but fails {failed}: {values}"
FAILS_WHATEVER = ", but fails {failed}"
AND_SATISFIES = " and with which it satisfies {condition}"
AS_INTERVAL = (
    "; the condition compares event times as whole numbers of {unit}: written as {interval}, it would let Spark evict "
    "the row"
)
NO_WATERMARKS = "neither stream has a watermark"
NO_WATERMARK_ON = "{unmarked} has no watermark"
WINDOW_ENDS = "its {window} ends at {end}"
UNTIL_PASSED = "until the watermark has passed {end}"
