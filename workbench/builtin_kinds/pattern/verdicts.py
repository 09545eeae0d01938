"""The verdicts of patterns, and their sentences."""

from __future__ import annotations

from workbench.verdicts import IN_OUTPUT, LATE_SENTENCE, Verdict, Wording

__all__ = ["PatternVerdict"]

_STEPS = "Compare the row with the conditions of the steps."
_PARTIAL = "it is {step_taken} in a partial match of {length}"


class PatternVerdict(Verdict):
    """The verdicts of patterns."""

    IN_MATCH = Wording(
        "matched",
        "in a match",
        "{steps_taken} in {which_match} of {match_rows}, from {match_start} to {match_end}, "
        "which comes out in micro-batch {batch}",
        IN_OUTPUT,
    )
    LATE = Wording("late", "late", LATE_SENTENCE, "Nothing: even on time, it would have been in no match.")
    LATE_FOR_MATCH = Wording(
        "late", "late, and would have been in a match", LATE_SENTENCE, "Set the watermark delay that the reason names."
    )
    TIMED_OUT = Wording(
        "unmatched",
        "in a partial match that timed out waiting for {waited_for}",
        f"{_PARTIAL} that waited for {{waited_for}} until {{gave_up}}{{came_after}}{{longer}}",
        "Set a longer within, if the row that it waited for came later.",
    )
    STOPPED = Wording(
        "unmatched",
        "in a partial match ended by a row that must not come",
        f"{_PARTIAL}, ended by {{ended_by}}, which must not come{{longer}}",
        "Nothing, if that row is one that must not come; else narrow the condition of that step.",
    )
    BROKEN = Wording(
        "unmatched",
        "in a partial match ended by a row other than {waited_for}",
        f"{_PARTIAL} that waited for {{waited_for}}; {{ended_by}} came instead and ended it{{longer}}",
        "Write followed_by in place of next, if rows may come in between.",
    )
    SKIPPED = Wording(
        "unmatched",
        "in a partial match that another match excludes",
        f"{_PARTIAL}, which another match excludes: skip={{skip}}{{longer}}",
        "Set another skip strategy, such as no skip.",
    )
    STOPS = Wording(
        "unmatched",
        "it ended a partial match that it must not follow",
        "it ended a partial match of {length}, which it must not follow{longer}",
        "Nothing, if this row is one that must not come; else narrow the condition of that step.",
    )
    BREAKS = Wording(
        "unmatched",
        "it ended a partial match that waited for another row",
        "it ended a partial match of {length} that waited for {waited_for}{longer}",
        "Write followed_by in place of next, if rows may come in between.",
    )
    MAY_FIT = Wording(
        "unmatched",
        "in no partial match",
        "it may fit {steps_perhaps}, depending on earlier rows, but no partial match of its key took it{longer}",
        _STEPS,
    )
    SIDE_WITHOUT_STEP = Wording(
        "unmatched",
        "in no partial match",
        "no step takes rows of {name}{longer}",
        "Write a step for rows of this side.",
    )
    FITS_NO_STEP = Wording(
        "unmatched", "in no partial match", "it fits no step: it fails {asks}{longer}", _STEPS, "condition"
    )
    NOT_WAITED_FOR = Wording(
        "unmatched",
        "in no partial match",
        "it fits {steps_fitting}, but no partial match of its key waited for that{longer}",
        "Look at the rows of its key before it: the first step of the pattern had not come.",
    )
    GIVEN_UP = Wording(
        "unmatched",
        "in no partial match",
        "it fits {steps_fitting}, but the last partial match that waited for that timed out at {given_up}, "
        "{given_up_before}{longer}",
        "Set a longer within.",
    )


# Clauses of the sentences above.
LONGER_BY = "; with {change}, {beyond} more, {meets}"
CAME_LATE = "; {late_row}, which fits, came late and was dropped"
NONE_CAME = ", and none came"
CAME_LATER = "; {later_row} came {later_by} later"
CAME_AT_END = "; {later_row} came exactly then, which is too late"
BEFORE = "{before} earlier"
AT_THAT_MOMENT = "exactly at the time of this row"

# What a fix brings; why a late row has no match even if it is kept.
WOULD_BE = "it would be in a match"
BROUGHT = "brought it into a match"
IN_NO_MATCH = "but it would be in no match"

# What `near` and `until` are filled with.
ALONE = "it is in no match"
WAITS_FOR = f"{_PARTIAL} that waits for {{waited_for}}, without a time limit"
WAITS_UNTIL = f"{_PARTIAL} that waits for {{waited_for}} until {{gave_up}}"
