"""What a checkpoint is made for, and what may change from one start of a script to the next, in words."""

from __future__ import annotations

__all__ = ["FIXED", "changeable", "listed"]

FIXED = (
    "the join",
    "the columns, keys and event times",
    "the watermark policy",
    "the state store",
    "the number of shuffle partitions",
)
"""What a script refuses to change, as the state in its checkpoint would be wrong: ``check_checkpoint`` in it does so."""


def changeable(fixed_output: bool) -> list[str]:
    """What may change with the same checkpoint; the output, too, where it is no folder that belongs to the checkpoint."""
    output = [] if fixed_output else ["the output"]
    return ["watermark delays", "the trigger", "the size of micro-batches", *output, "the restart strategy"]


def listed(words: list[str], last: str = " and ") -> str:
    """Words as a list in a sentence."""
    return last.join([", ".join(words[:-1]), words[-1]])
