"""What is around a page: its style, and what the browser does for it as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anywidget
import ipywidgets as widgets
import traitlets

from workbench.app.html import HTML, stylesheet

_STYLE = Path(__file__).with_name("app.css")


class Browser(anywidget.AnyWidget):  # type: ignore[misc]
    """An invisible part of a page.

    It gives ipywidgets' tabs and sliders the roles and names that they lack, keeps JupyterLab's shortcuts from acting
    on keys that are pressed in the page, takes files that are dropped on it, and says so when the kernel that the page
    belongs to is gone.

    Attributes
    ----------
    wide
        Whether there is room for the settings beside the views.
    dropped
        Files that were dropped last: ``files`` with name, type, size, last_modified (milliseconds since 1970) and
        content, None where that was too large or could not be read; and ``place``, 0 or 1 where they were dropped
        beside the inputs of a side, else -1.
    pressed
        The key of the page's own that was pressed last, ``key``, and how many were before, ``count``.
    """

    _esm = Path(__file__).with_name("browser.js")
    wide = traitlets.Bool(True).tag(sync=True)
    dropped = traitlets.Dict().tag(sync=True)
    pressed = traitlets.Dict().tag(sync=True)


def framed(
    *columns: widgets.Widget, top: Sequence[widgets.Widget] = (), style: str = "", browser: Browser | None = None
) -> widgets.VBox:
    """Columns beside each other as a page, with what is above them, its style and what more there is to it."""
    body = widgets.HBox(columns)
    body.add_class("sjw-body")
    looks = HTML(stylesheet(f"{_STYLE.read_text(encoding='utf-8')}\n{style}"))
    looks.layout.display = "none"
    whole = widgets.VBox([looks, browser or Browser(), *top, body])
    whole.add_class("sjw")
    return whole
