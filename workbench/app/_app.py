"""The page: settings on the left, views on the right."""

from __future__ import annotations


class App:
    """The page."""


def close_all() -> None:
    """Close every open page."""
