"""Numbers of things, in words."""

from __future__ import annotations

__all__ = ["counted", "have"]


def counted(count: int, noun: str) -> str:
    """A number of things: ``1 row``, ``2,000 rows``, ``3 micro-batches``."""
    ending = "es" if noun.endswith("ch") else "s"
    return f"{count:,} {noun}{'' if count == 1 else ending}"


def have(count: int) -> str:
    """The verb of so many things: ``1 row has``, ``2 rows have``."""
    return "has" if count == 1 else "have"
