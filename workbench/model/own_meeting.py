"""A kind's own rule of which rows meet, over arrays, where neither windows nor bounds say it (as-of, rules)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import pandas as pd

from workbench.arrays import RowNumbers
from workbench.joins import Join
from workbench.literals import Side
from workbench.streams import Stream

__all__ = ["Condition", "Failed", "Meeting", "value_in_words"]

J = TypeVar("J", bound=Join)
_LONGEST = 60


@dataclass(frozen=True)
class Failed:
    """A part of a condition that a pair does not satisfy.

    Attributes
    ----------
    part
        As it is written.
    values
        The columns in it, and what the pair has in each, in words.
    """

    part: str
    values: tuple[tuple[str, str], ...]


def value_in_words(value: object) -> str:
    """A value of a column as SQL writes it; a long one is cut.

    Examples
    --------
    >>> [value_in_words(each) for each in (None, True, 2.5, "DE")]
    ['null', 'true', '2.5', "'DE'"]
    """
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    words = repr(value) if isinstance(value, str | bytes) else str(value)
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"


class Condition(Protocol):
    """What a join asks of pairs beside equal keys and times."""

    @property
    def text(self) -> str:
        """The condition as SQL."""

    def __call__(self, left: RowNumbers, right: RowNumbers) -> Any:
        """Which of some pairs, given as their left and right rows, satisfy it: an array of booleans."""

    def failed(self, left: RowNumbers, right: RowNumbers) -> Sequence[Sequence[Failed]]:
        """For each of some pairs the parts of it that the pair does not satisfy."""


@dataclass(frozen=True)
class Meeting(Generic[J]):
    """Which pairs may meet, and which do.

    Frames are assignments (``row``, ``key``, ``start``, ``end``, ``batch``), on the right with what `columns` adds.

    Attributes
    ----------
    columns
        More columns of the right rows, of the join and the right stream; called when rows are assigned to windows.
    pairs
        The pairs by definition, as places in the left and the right frame, with nothing late; where the definition is
        one of arrival, it looks at ``batch``.
    in_reach
        The pairs of the run, whether they satisfy the condition or not. It gets the assignments of the outcome by side,
        and leaves out itself those that are ``late`` or ``filtered``.
    condition
        What pairs must satisfy, of the join and both streams; it gives None where they must satisfy nothing.
    """

    columns: Callable[[J, Stream], Mapping[str, RowNumbers]]
    pairs: Callable[[J, pd.DataFrame, pd.DataFrame], tuple[RowNumbers, RowNumbers]]
    in_reach: Callable[[J, Mapping[Side, pd.DataFrame]], tuple[RowNumbers, RowNumbers]]
    condition: Callable[[J, Stream, Stream], Condition | None]
