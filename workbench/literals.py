"""The fixed words of the API as types: sides, watermark policies, fates, settings; and which row is meant."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, assert_never, get_args

__all__ = [
    "DELAYS",
    "FATES",
    "OBSTACLES",
    "POLICIES",
    "SIDES",
    "Fate",
    "Obstacle",
    "Policy",
    "RowId",
    "Setting",
    "Side",
    "other_side",
    "row_ids",
]

Side = Literal["left", "right"]
SIDES: tuple[Side, Side] = ("left", "right")

Policy = Literal["min", "max"]
"""How Spark makes one watermark of those of several inputs: the slowest one's, or the fastest one's."""
POLICIES: tuple[Policy, Policy] = ("min", "max")

Fate = Literal["matched", "unmatched", "late", "pending", "null_key"]
"""What became of a row."""
FATES: tuple[Fate, ...] = get_args(Fate)

Obstacle = Literal["key", "earlier", "later", "late", "condition", "other"]
"""What kept an unmatched row from a partner: its key is on one stream only, the nearest row of its key lies too far
before or after it, the watermark had passed one of the two, a condition or filter, anything else."""
OBSTACLES: tuple[Obstacle, ...] = get_args(Obstacle)

Setting = Literal[
    "left.watermark",
    "right.watermark",
    "trigger",
    "policy",
    "finish",
    "lower",
    "upper",
    "size",
    "slide",
    "offset",
    "gap",
    "tolerance",
    "within",
    "allowed_lateness",
]
"""What a fix or advice changes: of a stream, of the run, or a time span of the join or its window.

A kind of join that is registered from elsewhere may have time spans of other names: where they are looked up by name,
any name is taken.
"""


DELAYS: dict[Side, Setting] = {"left": "left.watermark", "right": "right.watermark"}
"""The setting that is the watermark delay of a side."""


def other_side(side: Side) -> Side:
    """The side opposite to one."""
    match side:
        case "left":
            return "right"
        case "right":
            return "left"
        case _:
            assert_never(side)


class RowId(NamedTuple):
    """One row of a stream: its side, and its place in the stream in order of arrival, from 0."""

    side: Side
    row: int

    def __str__(self) -> str:
        return f"{self.side}-{self.row}"

    @classmethod
    def at(cls, index: int, left_rows: int) -> RowId:
        """The row at an index of `Run.rows`, in which the rows of the left side come first."""
        return cls("left", index) if index < left_rows else cls("right", index - left_rows)

    @classmethod
    def parse(cls, text: str) -> RowId:
        """The row that ``str`` has given."""
        side, row = text.split("-")
        return cls("left" if side == "left" else "right", int(row))


def row_ids(side: Side, rows: Iterable[int]) -> list[str]:
    """Rows of one side as text, as charts know them."""
    return [f"{side}-{row}" for row in rows]
