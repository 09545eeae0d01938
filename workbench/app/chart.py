"""The widget that shows a `Drawing`, and redraws it while settings move."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import orjson
import traitlets

from workbench.cache import bundled
from workbench.charts import Drawing
from workbench.untyped import Record, Value

__all__ = ["ChartBox"]


_SOURCE = Path(__file__).with_name("chart.js")


class ChartBox(anywidget.AnyWidget):  # type: ignore[misc]
    """One chart of a page. Altair's own widget sends and compiles all of a chart anew for every change.

    Attributes
    ----------
    clicked
        What was clicked last: ``row_id``, ``window``, ``place`` and ``of_key`` of the mark, None where it has none.
    brushed
        The stretch of its axis that was chosen last, in milliseconds since 1970-01-01 UTC or micro-batches; empty: all.
    picture
        What the browser showed when it was last at rest: ``png``, in base64, of the drawing with a ``number``.
    views
        In how many places of the page it is shown.
    painted
        The number of the drawing that the browser has painted last; `sent` is the last it was sent.
    """

    _esm = bundled(_SOURCE.read_text(encoding="utf-8"))
    spec = traitlets.Dict().tag(sync=True)
    drawing = traitlets.Unicode("").tag(sync=True)  # JSON: ipywidgets would look into every value for buffers
    params = traitlets.Dict().tag(sync=True)
    clicked = traitlets.Dict().tag(sync=True)
    brushed = traitlets.List().tag(sync=True)
    picture = traitlets.Dict().tag(sync=True)
    views = traitlets.Int(0).tag(sync=True)
    painted = traitlets.Int(0).tag(sync=True)

    def __init__(self) -> None:
        super().__init__()
        self.sent = 0
        self.shown: Drawing | None = None
        self._layouts: dict[int, tuple[Any, Record]] = {}

    def show(self, drawing: Drawing, **params: Value) -> None:
        """Show a drawing.

        Parameters
        ----------
        drawing
            What to show.
        **params
            Parameters that differ from the drawing's own.
        """
        self.sent += 1
        self.shown = drawing
        name = id(drawing.layout)
        if name not in self._layouts:
            self._layouts[name] = drawing.layout, drawing.layout.to_dict(validate=False)
        with self.hold_sync():
            self.params = params
            self.spec = self._layouts[name][1]
            self.drawing = orjson.dumps(
                {
                    "number": self.sent,
                    "layout": name,
                    "title": drawing.title,
                    "subtitle": drawing.subtitle,
                    "tables": drawing.columns,
                    "params": drawing.params | params,
                    "along": drawing.along,
                }
            ).decode()
