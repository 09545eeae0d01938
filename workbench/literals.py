"""The fixed words of the API as types: sides, watermark policies, fates, settings; and which row is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeVar, assert_never, get_args

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
    "Sides",
    "other_side",
    "row_ids",
]

Side = Literal["left", "right"]
SIDES: tuple[Side, Side] = ("left", "right")
T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True, eq=False)
class Sides(Mapping[Side, T], Generic[T]):
    """Something of each side: two attributes, and a mapping by side, the left one first; equal to a dict of the same.

    Examples
    --------
    >>> delays = Sides("10 s", "1 min")
    >>> delays.right, delays["left"]
    ('1 min', '10 s')
    >>> delays.map(len)
    Sides(left=4, right=5)
    >>> [f"{side}: {delay}" for side, delay in delays.items()]
    ['left: 10 s', 'right: 1 min']
    """

    left: T
    right: T

    @classmethod
    def of(cls, make: Callable[[Side], T]) -> Sides[T]:
        """What a function makes of each side."""
        return cls(make("left"), make("right"))

    def map(self, make: Callable[[T], S]) -> Sides[S]:
        """What a function makes of that of each side."""
        return Sides(make(self.left), make(self.right))

    def __getitem__(self, side: Side) -> T:
        match side:
            case "left":
                return self.left
            case "right":
                return self.right
            case _:
                raise KeyError(side)

    def __iter__(self) -> Iterator[Side]:
        return iter(SIDES)

    def __len__(self) -> int:
        return len(SIDES)


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
