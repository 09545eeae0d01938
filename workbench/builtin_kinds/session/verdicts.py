"""The verdicts of session joins and of coGroups over sessions, and their sentences."""

from __future__ import annotations

from workbench.verdicts import MISSED_SENTENCE, NEAR_MISS, Verdict, Wording

__all__ = ["ANOTHER_SESSION", "BEGAN", "ENDED", "IN_ANOTHER_SESSION", "OTHERS", "SessionVerdict"]


class SessionVerdict(Verdict):
    """The verdicts of joins with sessions."""

    OTHER_SESSION = Wording(
        "unmatched",
        "another session has the nearest row of its key",
        MISSED_SENTENCE,
        "Set the gap that the reason names, or a longer one; Tune shows what it costs in state.",
        "distance",
    )


# What `near` is filled with.
IN_ANOTHER_SESSION = f"{NEAR_MISS}{{apart}}; {{change}} would put both in one session"
ANOTHER_SESSION = "the nearest row of its key on {other} is {nearest}, {nearest_distance} away{apart}"

# What `apart` is filled with.
_SILENCE = (
    "because no row of key {key} came{in_time} between {silent_from} and {silent_until}: {silence}, which is longer "
    "than the gap of {session_gap}{and_others}"
)
ENDED = f", in a later session; its own ended at {{session_end}}, {_SILENCE}"
OTHERS = ", as {be} {others} between the two"
BEGAN = f", in an earlier session; its own began at {{session_begin}}, {_SILENCE}"
