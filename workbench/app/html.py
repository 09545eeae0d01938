"""The widget that shows HTML, and what makes it: `workbench.markup`."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets
import traitlets
from markupsafe import Markup, escape

from workbench.markup import coloured, html, plain, stylesheet, together

__all__ = ["HTML", "coloured", "html", "plain", "stylesheet", "together"]


class HTML(widgets.HTML):  # type: ignore[misc]
    """Shows what `html` made; anything else is text, and is shown as it stands."""

    @traitlets.validate("value")  # type: ignore[untyped-decorator]
    def _as_markup(self, proposal: Any) -> Markup:
        return escape(proposal["value"])
