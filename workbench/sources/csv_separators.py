"""What separates the columns of a CSV file, of a folder or a single one: found out, and a repair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["Separated", "separator", "separators"]

_SEPARATORS = (";", "\t", "|")


@dataclass(frozen=True)
class Separated:
    """The columns of CSV files are separated by something else than a comma.

    Attributes
    ----------
    by
        What separates them.
    """

    by: str

    @property
    def words(self) -> str:
        """What it does."""
        return f"columns are separated by {self.named}"

    @property
    def named(self) -> str:
        """What separates them, in words."""
        return {"\t": "tabs", ";": "semicolons", "|": "bars"}.get(self.by, self.by)


def separator(repairs: Iterable[object]) -> str:
    """What separates the columns after some repairs."""
    return next((each.by for each in repairs if isinstance(each, Separated)), ",")


def separators(columns: Sequence[str]) -> list[Separated]:
    """What may separate columns of CSV files instead, where they seem to have one column only; the likeliest first.

    Examples
    --------
    >>> separators(["order_id;ordered_at;city"])
    [Separated(by=';')]
    >>> separators(["order_id", "note;s"])
    []
    """
    if len(columns) != 1:
        return []
    counted = {each: columns[0].count(each) for each in _SEPARATORS}
    return [Separated(each) for each in sorted(counted, key=lambda each: -counted[each]) if counted[each]]
