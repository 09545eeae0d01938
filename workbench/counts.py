"""Numbers of things in words, and numbers that a text gives."""

from __future__ import annotations

__all__ = ["counted", "have", "number_or_text"]


def counted(count: int, noun: str) -> str:
    """A number of things: ``1 row``, ``2,000 rows``, ``3 micro-batches``."""
    ending = "es" if noun.endswith("ch") else "s"
    return f"{count:,} {noun}{'' if count == 1 else ending}"


def have(count: int) -> str:
    """The verb of so many things: ``1 row has``, ``2 rows have``."""
    return "has" if count == 1 else "have"


def number_or_text(given: str) -> int | float | str:
    """The number that a text gives; else the text itself, which whoever checks the argument refuses by name.

    Examples
    --------
    >>> number_or_text("2"), number_or_text("2.5"), number_or_text("two")
    (2, 2.5, 'two')
    """
    for kind in (int, float):
        try:
            return kind(given)
        except ValueError:
            continue
    return given
