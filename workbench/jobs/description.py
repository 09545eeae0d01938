"""What `workbench.describe` gives."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from workbench.joins import Join

__all__ = ["Description", "SideDescription"]


@dataclass(frozen=True)
class SideDescription:
    """One side of a join.

    Attributes
    ----------
    name
        Its alias, or what its source is called; ``left`` or ``right`` where it has neither.
    key
        The column, or columns, that are equal to those of the other side. Empty where none was understood.
    time
        The column with the event time. Empty where there is no watermark.
    watermark
        The watermark delay, or None.
    columns
        The columns that enter the join.
    """

    name: str
    key: str | tuple[str, ...]
    time: str
    watermark: timedelta | None
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Description:
    """A join as a plan of Spark's says it. Made by `workbench.describe`.

    Attributes
    ----------
    join
        The join; None where it is none of the workbench's kinds, which `unknown` says.
    left, right
        Its sides.
    where
        What else the condition of the join says, as SQL; empty where it says nothing else.
    unknown
        What was not understood, a sentence each.
    notes
        What is understood, and may surprise.
    """

    join: Join | None
    left: SideDescription
    right: SideDescription
    where: str
    unknown: tuple[str, ...]
    notes: tuple[str, ...] = ()
