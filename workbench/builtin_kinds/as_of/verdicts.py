"""The verdicts of as-of joins, and their sentences."""

from __future__ import annotations

from workbench.verdicts import FIX, IN_OUTPUT, LATE_SENTENCE, MISSED_SENTENCE, UNTIL_PASSED, Verdict, Wording

__all__ = ["AsOfVerdict"]


class AsOfVerdict(Verdict):
    """The verdicts of as-of joins."""

    HAS_PARTNER = Wording(
        "matched",
        "matched a row of {other}",
        "joined with {joined_with}, in micro-batch {batch}{nearer_late}",
        IN_OUTPUT,
    )
    IS_PARTNER = Wording(
        "matched",
        "the partner of rows of {other}",
        "the partner of {rows} of {other}, first in micro-batch {batch}",
        IN_OUTPUT,
    )
    LATE_PARTNER_OF_NONE = Wording(
        "late",
        "late, and would have been the partner of no row of {other}",
        LATE_SENTENCE,
        "Nothing: even on time, it would have been the partner of no row.",
    )
    NONE_IN_DIRECTION = Wording(
        "unmatched",
        "no row of its key in the direction of the join ({direction})",
        MISSED_SENTENCE,
        "Set the direction to nearest if a row at the other side of its time may be the partner, too.",
        "distance",
    )
    BEYOND_TOLERANCE = Wording(
        "unmatched",
        "the tolerance excludes the nearest row of its key",
        MISSED_SENTENCE,
        "Widen the tolerance to the value that the reason names.",
        "distance",
    )
    PARTNER_OF_NONE = Wording(
        "unmatched",
        "the partner of no row of {other}",
        MISSED_SENTENCE,
        "Nothing: an as-of join outputs a right row only as the partner of a left row.",
    )


# Clauses of the sentences above.
PARTNER_OF_NO_ROW = "but it would be the partner of no row of {other}"
EARLIER = "{label}, {apart} earlier"
LATER = "{label}, {apart} later"
SAME_TIME = "{label}, at the same time"
NEARER_LATE = "; {by_definition}, would have been its partner, but came late"
NEARER_KEPT = f"{NEARER_LATE}: {{delay}} would have kept it{{delay_by_policy}}"

# What `near` is filled with: of left rows, then of right ones.
DROPPED = "its partner {by_definition}, came too late and was dropped: no single watermark delay would have kept it"
DROPPED_BUT_FIX = f"{DROPPED}; {FIX}"
TOO_FAR = "no partner within the tolerance: the nearest, {partner}, is {distance} away, {beyond} too far"
TOO_FAR_OR_SAME_TIME = f"{TOO_FAR}; a row at the same time does not count"
LEFT_ALONE = {
    ("backward", True): "no row of its key on {other} lies{within} at or before it",
    ("backward", False): "no row of its key on {other} lies{within} before it",
    ("forward", True): "no row of its key on {other} lies{within} at or after it",
    ("forward", False): "no row of its key on {other} lies{within} after it",
    ("nearest", True): "no row of its key on {other} lies{within} at, before or after it",
    ("nearest", False): "no row of its key on {other} lies{within} before or after it",
}
WOULD_BE_PARTNER = "it is the partner of no row; with {change}, it would be that of {partner}, {distance} away"
RIGHT_ALONE = "it is the partner of no row of {other}"
RIGHT_ALONE_BECAUSE = f"{RIGHT_ALONE}: {{because}}"

# Why a right row is no row's partner: what `because` is filled with.
REPLACED = "{replaced_by}, at the same time, came after it and replaced it"
NONE_UNTIL_NEXT = {
    ("backward", True): "no row on time lies{within} at or after it{next}",
    ("backward", False): "no row on time lies{within} after it{next}",
    ("forward", True): "no row on time lies{within} at or before it{next}",
    ("forward", False): "no row on time lies{within} before it{next}",
}
NEXT = {
    "backward": ", before the next row of its key at {facing}",
    "forward": ", after the previous row of its key at {facing}",
}
NONE_NEARER = "no row on time{within} is nearer to it than to {beside}{same_time}"
NONE_BESIDE = "no row on time lies{within} before or after it{same_time}"
SAME_TIME_DOES_NOT_COUNT = "; a row at its own time does not count"

# What `until` is filled with: of right rows, then of left ones.
MAY_BE_PARTNER = "it may still be the partner of rows of {other}"
WAITS = "until the watermark has passed {wait_end}"
WAITS_FOR = {
    "backward": UNTIL_PASSED,
    "forward": "for the first row of its key on {other} at or after it",
    "nearest": "until no nearer row of its key can come on {other}",
}
