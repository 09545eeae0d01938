"""The widget that shows HTML, and what makes it: `workbench.markup`."""

from __future__ import annotations

from collections.abc import Iterable

import ipywidgets as widgets
import traitlets
from markupsafe import Markup, escape

from workbench.markup import coloured, html, plain, stylesheet, together
from workbench.untyped import Change

__all__ = ["HTML", "coloured", "html", "plain", "stylesheet", "table", "together"]


def table(names: Iterable[object], rows: Iterable[Iterable[object]]) -> Markup:
    """A table of texts: the names of its columns, and its rows below them."""
    heads = together(html("<th>{}</th>", name) for name in names)
    lines = (together(html("<td>{}</td>", cell) for cell in cells) for cells in rows)
    return html("<table><tr>{}</tr>{}</table>", heads, together(html("<tr>{}</tr>", each) for each in lines))


class HTML(widgets.HTML):  # type: ignore[misc]
    """Shows what `html` made; anything else is text, and is shown as it stands."""

    @traitlets.validate("value")  # type: ignore[untyped-decorator]
    def _as_markup(self, proposal: Change) -> Markup:
        return escape(proposal["value"])
