"""Taking widgets away with all that they hold."""

from __future__ import annotations

import time

import ipywidgets as widgets

__all__ = ["close"]

_AT_ONCE, _PAUSE = 50, 0.005  # widgets, seconds


def close(widget: widgets.Widget) -> None:
    """Close a widget and all that it holds; closing the outermost alone would leave the others to the kernel's end.

    Each sends a message: with pauses, as Jupyter drops what is more at once than its queue holds.
    """
    held = _held(widget, {})
    for number, each in enumerate(held.values()):
        each.close()
        if number % _AT_ONCE == _AT_ONCE - 1:
            time.sleep(_PAUSE)


def _held(widget: widgets.Widget, found: dict[int, widgets.Widget]) -> dict[int, widgets.Widget]:
    """A widget and those that it holds, from the outermost inwards, by their identity."""
    if id(widget) in found:
        return found
    found[id(widget)] = widget
    names = set(widget.trait_names())
    parts = [*(widget.children if "children" in names else ())]
    parts += [getattr(widget, name) for name in ("layout", "style") if name in names]
    for each in parts:
        if isinstance(each, widgets.Widget):
            _held(each, found)
    return found
