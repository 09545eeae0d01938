"""How rows meet in a kind of join where neither its windows nor its bounds say it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import pandas as pd

from workbench.joins import Join
from workbench.kinds import Micros
from workbench.literals import Side
from workbench.streams import Stream

__all__ = ["Condition", "Meeting"]

J = TypeVar("J", bound=Join)


class Condition(Protocol):
    """What a join asks of pairs beside equal keys and times."""

    @property
    def text(self) -> str:
        """The condition as SQL."""

    def __call__(self, left: Micros, right: Micros) -> Any:
        """Which of some pairs, given as their left and right rows, satisfy it: an array of booleans."""


@dataclass(frozen=True)
class Meeting(Generic[J]):
    """Which pairs may meet, and which do; frames are assignments, with the columns that `columns` adds to the right.

    Attributes
    ----------
    columns
        More columns of the right rows, of the join and the right stream; called when rows are assigned to windows.
    pairs
        The pairs by definition, as places in the left and the right frame, whatever is late.
    in_reach
        The pairs of rows that are on time, whether they satisfy the condition or not.
    condition
        What pairs must satisfy, of the join and both streams; it gives None where they must satisfy nothing.
    """

    columns: Callable[[J, Stream], Mapping[str, Micros]]
    pairs: Callable[[J, pd.DataFrame, pd.DataFrame], tuple[Micros, Micros]]
    in_reach: Callable[[J, Mapping[Side, pd.DataFrame]], tuple[Micros, Micros]]
    condition: Callable[[J, Stream, Stream], Condition | None]
