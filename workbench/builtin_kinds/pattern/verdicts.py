"""The verdicts of patterns, and their sentences."""

from __future__ import annotations

from workbench.verdicts import FIX, Told, Verdict

__all__ = ["PatternVerdict"]

_NOTHING = "Nothing: the row is in the output."
_STEPS = "Compare the row with what the steps ask for."
_PARTIAL = "it is {step_taken} in a partial match of {length}"
_LATE = "late {behind}: {judged}; {kept}"


class PatternVerdict(Verdict):
    """The verdicts of patterns."""

    IN_MATCH = Told(
        "matched",
        "in a match",
        "{steps_taken} in {which_match} of {match_rows}, from {match_start} to {match_end}, "
        "which comes out in micro-batch {batch}",
        _NOTHING,
    )
    LATE = Told("late", "late", _LATE, "Nothing: had it come in time, it would have been in no match.")
    LATE_FOR_MATCH = Told(
        "late", "late, and would be in a match", _LATE, "Set the watermark delay that the reason names."
    )
    TIMED_OUT = Told(
        "unmatched",
        "in a partial match that waited too long for {waited_for}",
        f"{_PARTIAL} that waited for {{waited_for}} until {{gave_up}}{{came_after}}{{longer}}",
        "Set a longer within, if the step that was waited for came after its end.",
    )
    STOPPED = Told(
        "unmatched",
        "in a partial match, and then came a row that must not come",
        f"{_PARTIAL}, and then came {{ended_by}}, which must not come{{longer}}",
        "Nothing, if the step that must not come means that row; else ask for more in it.",
    )
    BROKEN = Told(
        "unmatched",
        "in a partial match, and then came a row other than {waited_for}",
        f"{_PARTIAL} that waited for {{waited_for}}, and then came {{ended_by}}, with which it cannot go on{{longer}}",
        "Write followed_by in place of next, if rows may come in between.",
    )
    SKIPPED = Told(
        "unmatched",
        "in a partial match that another match excludes",
        f"{_PARTIAL}, which another match excludes: skip={{skip}}{{longer}}",
        "Set another skip strategy, such as no skip.",
    )
    STOPS = Told(
        "unmatched",
        "it ended a partial match after which it must not come",
        "it must not come after a partial match of {length}, which ended with it{longer}",
        "Nothing, if the step that must not come means this row.",
    )
    BREAKS = Told(
        "unmatched",
        "it ended a partial match that waited for another row",
        "a partial match of {length} that waited for {waited_for} could not go on with it{longer}",
        "Write followed_by in place of next, if rows may come in between.",
    )
    MAY_FIT = Told(
        "unmatched",
        "in no partial match",
        "it may fit {steps_perhaps}, by earlier rows, and no partial match of its key took it{longer}",
        _STEPS,
    )
    SIDE_WITHOUT_STEP = Told(
        "unmatched",
        "in no partial match",
        "no step takes rows of {name}{longer}",
        "Write a step for rows of this side.",
    )
    FITS_NO_STEP = Told("unmatched", "in no partial match", "it fits no step: {asks} for other rows{longer}", _STEPS)
    NOT_WAITED_FOR = Told(
        "unmatched",
        "in no partial match",
        "it fits {steps_fitting}, and no partial match of its key waited for that{longer}",
        "Look at the rows of its key before it: the first step of the pattern had not come.",
    )
    GIVEN_UP = Told(
        "unmatched",
        "in no partial match",
        "it fits {steps_fitting}, and the last partial match that waited for that was given up at {given_up}, "
        "{given_up_before}{longer}",
        "Set a longer within.",
    )


# Clauses of the sentences above.
LONGER = f"; {FIX}"
LONGER_BY = "; with {change}, {beyond} more, {meets}"
CAME_LATE = "; {late_row}, which fits, came late and was dropped"
NONE_CAME = ", and none came"
CAME_LATER = "; {later_row} came {later_by} later"
CAME_AT_END = "; {later_row} came at that very moment"
BEFORE = "{before} before"
AT_THAT_MOMENT = "at that very moment"

# What a fix brings; why a late row has no match even if it is kept.
WOULD_BE = "it would be in a match"
BROUGHT = "brought it into a match"
IN_NO_MATCH = "though it would be in no match"

# What `near` and `until` are filled with.
ALONE = "it is in no match"
WAITS = "until the watermark has passed {end}"
WAITS_FOR = f"{_PARTIAL} that waits for {{waited_for}}, however long"
WAITS_UNTIL = f"{_PARTIAL} that waits for {{waited_for}} until {{gave_up}}"
