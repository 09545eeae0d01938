"""The widget that shows a `Drawing`, and redraws it while settings move."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anywidget
import traitlets
import vl_convert

from workbench._kept import kept
from workbench.charts import Drawing

_SOURCE = Path(__file__).with_name("chart.js")


def _bundled(source: str) -> str:
    """The script and Vega in one. Making it takes over a second, so it is kept."""
    name = hashlib.sha256(f"{version('vl-convert-python')}\n{source}".encode()).hexdigest()[:16]
    file = kept(f"chart-{name}.js")
    with suppress(OSError):
        return file.read_text()
    bundle: str = vl_convert.javascript_bundle(source)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}")
        part.write_text(bundle)
        part.replace(file)
    return bundle


class ChartBox(anywidget.AnyWidget):  # type: ignore[misc]
    """One chart of a page. Altair's own widget sends and compiles all of a chart anew for every change.

    Attributes
    ----------
    clicked
        What was clicked last: ``row_id``, ``window`` and ``place`` of the mark, None where it has none.
    brushed
        The stretch of event time that was marked last, in milliseconds since 1970-01-01 UTC.
    views
        In how many places of the page it is shown.
    painted
        The number of the drawing that the browser has painted last; `sent` is the last it was sent.
    """

    _esm = _bundled(_SOURCE.read_text())
    spec = traitlets.Dict().tag(sync=True)
    drawing = traitlets.Unicode("").tag(sync=True)  # JSON: ipywidgets would look into every value for buffers
    params = traitlets.Dict().tag(sync=True)
    clicked = traitlets.Dict().tag(sync=True)
    brushed = traitlets.List().tag(sync=True)
    views = traitlets.Int(0).tag(sync=True)
    painted = traitlets.Int(0).tag(sync=True)

    def __init__(self) -> None:
        super().__init__()
        self.sent = 0
        self.shown: Drawing | None = None
        self._layouts: dict[int, tuple[Any, dict[str, Any]]] = {}

    def show(self, drawing: Drawing, **params: Any) -> None:
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
            self.spec = self._layouts[name][1]
            self.drawing = json.dumps(
                {
                    "number": self.sent,
                    "layout": name,
                    "title": drawing.title,
                    "subtitle": drawing.subtitle,
                    "tables": drawing.columns,
                    "params": drawing.params | params,
                },
                separators=(",", ":"),
            )
