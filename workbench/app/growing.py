"""Text fields whose text wraps, and which are as high as it."""

from __future__ import annotations

import ipywidgets as widgets

__all__ = ["growing"]


def growing(value: str, **options: str | widgets.Layout) -> widgets.Textarea:
    """A field for one text that may be long, such as a condition; `options` are those of `Textarea`."""
    made = widgets.Textarea(value, rows=1, **options)
    made.add_class("sjw-growing")
    return made
