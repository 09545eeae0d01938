"""What a saved notebook shows of a page when its kernel is gone: settings and figures, and a picture of the chart."""

from __future__ import annotations

import base64
import hashlib
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

import ipywidgets as widgets
from IPython.display import display
from markupsafe import Markup
from sidecar import Sidecar

from workbench.app._kept_settings import Kept
from workbench.app._notebook_writer import NotebookWriter
from workbench.app._results import ResultsPanel
from workbench.app.html import html, stylesheet, together
from workbench.app.worker import CoalescingWorker
from workbench.charts import Drawing
from workbench.charts.renderer import png
from workbench.untyped import Record

_REST = 1.0  # seconds between two savings, and after a change before its saving
_TAB = 8.0  # seconds after which a tab has not come
_VIEW = "application/vnd.jupyter.widget-view+json"
_PLAIN = "The stream-join workbench: run this cell to open it."
_STYLE = """
body:has(.sjw-page-{name}) .sjw-saved-{name},
body:has(.sjw-page-{name}) .jp-OutputArea-child:has(.sjw-saved-{name}),
body:has(.sjw-page-{name}) .jp-OutputArea-child:has(.sjw-saved-{name}) + .jp-OutputArea-child,
body:not(:has(.sjw-page-{name})) .jp-OutputArea-child:has(+ .jp-OutputArea-child .sjw-saved-{name})
{{ display: none }}
"""


class SavedPage:
    """The outputs of the cell that shows a page: the page, and what is read in its place when there is no kernel.

    While the page is there, the others are hidden; when it is gone, the place where it was is.

    Parameters
    ----------
    page
        The page.
    results
        Its views.
    summary
        Gives a summary of what it shows.
    kept
        Gives what it is set to.
    """

    def __init__(
        self, page: widgets.Widget, results: ResultsPanel, summary: Callable[[], Markup], kept: Callable[[], Kept]
    ) -> None:
        self._page, self._results, self._summary, self._set_to = page, results, summary, kept
        self._name = uuid4().hex[:12]
        page.add_class(f"sjw-page-{self._name}")
        self._writer = NotebookWriter()
        page.children = (*page.children, self._writer)
        self._writer.observe(lambda _: self.changed(), "writes")
        self._kept: tuple[Any, Any] | None = None  # the handles of the outputs that are read without a kernel
        self._last: dict[str, str] = {}
        self._tab: Sidecar | None = None
        self._closed = threading.Event()
        self._worker = CoalescingWorker(lambda *_: None)  # a page that cannot be saved is no trouble to its user
        results.chart.observe(lambda _: self.changed(), "picture")
        results.choice.call_when_changed(self.changed)
        results.tune.call_when_changed(self.changed)

    def display(self) -> None:
        """Show the page in the output of a cell."""
        display(self._view(), raw=True)
        self._keep()

    def take_tab(self, other: SavedPage) -> None:
        """Show the page in the tab of another one, if that is open; it closes with this page then."""
        if other._results.chart.views > 0:
            self._tab, other._tab = other._tab, None

    def display_in_tab(self, title: str) -> None:
        """Show the page in a tab of JupyterLab's main area; in the cell where there are none."""
        where = html(
            '<p class="sjw-note">The stream-join workbench is in the tab “{}”, beside this notebook.</p>', title
        )
        place = display({"text/html": str(where), "text/plain": _PLAIN}, raw=True, display_id=True)
        if self._tab is None:
            self._tab = Sidecar(title=title, anchor="tab-after")
        self._tab.outputs = ({"output_type": "display_data", "data": self._view(), "metadata": {}},)
        self._keep()
        threading.Thread(target=self._come_back, args=(place,), name="workbench tab", daemon=True).start()

    def _come_back(self, place: Any) -> None:
        """Show the page in the cell, unless the tab has it by now: a front end that knows no tabs says nothing."""
        deadline = time.monotonic() + _TAB
        while self._results.chart.views <= 0 and time.monotonic() < deadline:
            if self._closed.wait(0.2):
                return
        if self._results.chart.views <= 0 and place is not None:
            place.update(self._view(), raw=True)

    def _view(self) -> Record:
        view = self._page.get_view_spec()  # `_repr_mimebundle_` gives the same, and the repr of all parts besides
        return {_VIEW: view, "text/plain": _PLAIN}

    def _keep(self) -> None:
        """Show what is read in the page's place when there is no kernel."""
        summary = display(self._of_summary()[1], raw=True, display_id=True)
        self._kept = summary, display({"text/plain": ""}, raw=True, display_id=True)
        self.changed()

    def changed(self) -> None:
        """Save what the page shows, soon."""
        if self._kept is not None:
            self._worker.submit("saving", self._save)

    def _save(self) -> None:
        if self._closed.wait(_REST) or self._kept is None:
            return
        summary, picture = self._kept
        version, of_summary = self._of_summary()
        of_picture = self._of_picture()
        self._update("summary", summary, of_summary)
        if of_picture is not None:
            self._update("picture", picture, of_picture)
        now: Record = {"name": self._name, "version": version}
        if self._writer.writes:
            now |= {"summary": of_summary, "picture": of_picture}
        self._writer.saved = now

    def _update(self, name: str, handle: Any, bundle: Record) -> None:
        """Write an output anew, if it is another one."""
        if handle is not None and self._last.get(name) != (now := repr(bundle)):
            handle.update(bundle, raw=True)
            self._last[name] = now

    def _of_picture(self) -> Record | None:
        """The output with the picture; None where the browser has yet to send it."""
        drawn = self._picture()
        if drawn is None:
            return None
        return {"image/png": drawn, "text/plain": ""} if drawn else {"text/plain": ""}

    def _of_summary(self) -> tuple[str, Record]:
        """The version of what the page shows, and the output with it."""
        style = stylesheet(_STYLE.format(name=self._name))
        drawing = self._drawing()
        chart = html("<p><b>{}</b> {}</p>", drawing.title, drawing.subtitle) if drawing is not None else ""
        summary = self._summary()
        inside, kept = html("{}<p>{}</p>{}{}", style, _PLAIN, summary, chart), self._set_to().bundle()
        version = hashlib.sha256(f"{inside}{kept}".encode()).hexdigest()[:12]
        text = html('<div class="sjw-saved-{}" data-saved="{}">{}</div>', self._name, version, inside)
        return version, {"text/html": str(text), "text/plain": "", **kept}

    def _drawing(self) -> Drawing | None:
        return self._results.chart.shown if self._results.chart_is_open else None

    def _picture(self) -> str | None:
        """The chart as a picture; empty where none is on show, None where the browser has yet to send it."""
        chart, drawing = self._results.chart, self._drawing()
        if drawing is None:
            return ""
        if chart.views > 0:
            return chart.picture["png"] if chart.picture.get("number") == chart.sent else None
        known = {name: value for name, value in chart.params.items() if name in drawing.params}
        whole = replace(drawing, params=drawing.params | known)
        return base64.b64encode(png(whole.chart().to_dict(validate=False))).decode()

    def close(self) -> None:
        """Save no more."""
        self._closed.set()
        if self._tab is not None:
            self._tab.close()
        self._worker.close()


def summary(heading: str, settings: Mapping[str, object], figures: Mapping[str, int]) -> Markup:
    """What a page shows, in tables.

    Parameters
    ----------
    heading
        Whether it is a preview or a run, and what is wrong.
    settings, figures
        What it is set to, and what that gives.
    """
    names = together(html("<th>{}</th>", name) for name in figures)
    counts = together(html("<td>{:,}</td>", count) for count in figures.values())
    rows = together(html("<tr><th>{}</th><td>{}</td></tr>", name, value) for name, value in settings.items())
    return html("<p>{}</p><table><tr>{}</tr><tr>{}</tr></table><table>{}</table>", heading, names, counts, rows)
