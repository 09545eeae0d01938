"""The verdicts of interval joins, and their sentences."""

from __future__ import annotations

from workbench.verdicts import MISSED_SENTENCE, Verdict, Wording

__all__ = ["NEAR_A_BOUND", "OUT_OF_REACH", "WAITS", "WAITS_FOR_ANY", "IntervalVerdict"]

_WIDER = "Widen the bound that the reason names; Tune shows what it costs in state."


class IntervalVerdict(Verdict):
    """The verdicts of interval joins."""

    BEYOND_UPPER = Wording(
        "unmatched", "the upper bound excludes the nearest row of its key", MISSED_SENTENCE, _WIDER, "distance"
    )
    BEFORE_LOWER = Wording(
        "unmatched", "the lower bound excludes the nearest row of its key", MISSED_SENTENCE, _WIDER, "distance"
    )


# What `near` is filled with for BEYOND_UPPER and BEFORE_LOWER: `near_miss` of this package chooses.
NEAR_A_BOUND = "near miss: the nearest partner is {partner}, {beyond} beyond the {setting} bound"
OUT_OF_REACH = "no partner within the bounds: the nearest partner is {partner}, {beyond} beyond the {setting} bound"

# What `until` is filled with.
WAITS = "rows of {other} up to {wait_end} could still match it"
WAITS_FOR_ANY = "any row of its key that arrives on {other}{and_satisfies} could still match it"
