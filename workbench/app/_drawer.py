"""The settings as a column beside the views, which is folded away where a page is narrow."""

from __future__ import annotations

import ipywidgets as widgets

from workbench.app._browser import Browser
from workbench.app._form import show

__all__ = ["Drawer"]


class Drawer:
    """The settings of a page, and the button that shows them or folds them away.

    Until it is pressed the width of the page decides, which app.css asks for and the page's `Browser` reports.

    Parameters
    ----------
    settings
        The settings.
    browser
        What is around the page.

    Attributes
    ----------
    widget
        The column.
    button
        The button.
    """

    def __init__(self, settings: widgets.Widget, browser: Browser) -> None:
        self._browser = browser
        self._open: bool | None = None  # None: as the width of the page has it
        self.widget = widgets.VBox([settings])
        self.widget.add_class("sjw-left")
        self.widget.add_class("sjw-auto")
        self.button = widgets.Button(description="Settings", icon="sliders", layout=widgets.Layout(width="auto"))
        self.button.tooltip = "Show the settings of the streams, the join and the watermark, or fold them away."
        self.button.on_click(lambda _: self._turn())

    def open(self) -> None:
        """Show the settings, unless they were folded away by hand: one of them is wrong."""
        if self._open is None:
            self._open = True
            self.widget.remove_class("sjw-auto")

    def _turn(self) -> None:
        self._open = not (self._browser.wide if self._open is None else self._open)
        self.widget.remove_class("sjw-auto")
        show(self.widget, self._open)
