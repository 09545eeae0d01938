"""A kind's own rule of which rows meet, over arrays, where neither windows nor bounds say it (as-of, rules)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import pandas as pd

from workbench.arrays import RowNumbers
from workbench.joins import Join
from workbench.literals import Side
from workbench.streams import Stream

__all__ = ["Condition", "Meeting"]

J = TypeVar("J", bound=Join)


class Condition(Protocol):
    """What a join asks of pairs beside equal keys and times."""

    @property
    def text(self) -> str:
        """The condition as SQL."""

    def __call__(self, left: RowNumbers, right: RowNumbers) -> Any:
        """Which of some pairs, given as their left and right rows, satisfy it: an array of booleans."""


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
