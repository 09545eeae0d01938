"""The column beside the views: undo, the details of what is picked, and the settings, which fold away."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from workbench.app._form import show


def side_column(undo: widgets.HBox, details: widgets.Widget, settings: widgets.Widget) -> widgets.VBox:
    """The column.

    Parameters
    ----------
    undo
        The buttons for undo and redo, beside which the one that folds the settings is put.
    details
        What is picked, in detail; it may be hidden.
    settings
        The settings.
    """
    fold = widgets.ToggleButton(icon="angle-double-left", layout=widgets.Layout(width="auto"))
    fold.tooltip = "Fold the settings away, or show them."
    undo.children = (*undo.children, fold)
    show(details, False)
    column = widgets.VBox([undo, details, settings])
    column.add_class("sjw-left")

    def folded(change: Any) -> None:
        show(settings, not change["new"])
        fold.icon = "angle-double-right" if change["new"] else "angle-double-left"
        (column.add_class if change["new"] else column.remove_class)("sjw-folded")

    fold.observe(folded, "value")
    return column
