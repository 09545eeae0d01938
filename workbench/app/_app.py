"""The page: settings on the left, what they do on the right."""

from __future__ import annotations

import threading
import time
from html import escape
from typing import Any

import ipywidgets as widgets

from workbench import query
from workbench.app._results import ResultsPanel
from workbench.app._settings import SettingsPanel
from workbench.errors import WorkbenchError
from workbench.joins import Join
from workbench.results import Run
from workbench.streams import Stream

_STYLE = """<style>
.sjw { border: 1px solid var(--jp-border-color2, #ddd); border-radius: 6px; padding: 12px 16px; }
.sjw-heading { font-weight: 600; color: var(--jp-ui-font-color1, #222); margin-top: 6px;
  border-bottom: 1px solid var(--jp-border-color2, #ddd); }
.sjw-mark { color: var(--jp-error-color1, #b3261e); font-size: 12px; line-height: 1.35; padding-left: 96px; }
.sjw-mark .widget-html-content { white-space: normal; }
.sjw-figures b { font-size: 20px; margin-right: 4px; font-variant-numeric: tabular-nums; }
.sjw-figures span { margin-right: 22px; color: var(--jp-ui-font-color2, #666); }
.sjw-figures b { color: var(--jp-ui-font-color1, #222); }
.sjw-trouble { color: var(--jp-error-color1, #b3261e); }
.sjw-views { min-width: 0; }
.sjw-views .widget-toggle-buttons { width: auto; }
.sjw-views pre { line-height: 1.35; margin: 0; white-space: pre; overflow-x: auto; }
.sjw-settings .widget-text input, .sjw-settings select { min-width: 0; }
.sjw-views .vega-embed, .sjw-views .vega-embed svg { max-width: 100%; height: auto; }
</style>"""
_REPAINT = 0.25  # seconds between two paintings of the progress bar

_open: list[App] = []


class App:
    """The workbench as a page in a notebook.

    Parameters
    ----------
    streams
        Two streams to join; none: a scenario is chosen in the page.

    Attributes
    ----------
    widget
        The page.
    run
        The last run, None before the first.
    """

    def __init__(self, *streams: Stream) -> None:
        self.run: Run | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._go = widgets.Button(description="Run on Spark", button_style="primary", icon="play")
        self._halt = widgets.Button(description="Stop", icon="stop", disabled=True)
        self._bar = widgets.IntProgress(0, layout=widgets.Layout(width="220px"))
        self._words = widgets.HTML("ready")
        self._figures = widgets.HTML()
        self._figures.add_class("sjw-figures")
        self._trouble = widgets.HTML()
        self._trouble.add_class("sjw-trouble")
        self._results = ResultsPanel()
        self._settings: SettingsPanel | None = None
        self._settings = SettingsPanel(streams, self._changed)
        head = widgets.HBox([self._go, self._halt, self._bar, self._words])
        right = widgets.VBox(
            [head, self._figures, self._trouble, self._results.widget],
            layout=widgets.Layout(flex="1 1 auto", min_width="0"),
        )
        body = widgets.HBox([self._settings.widget, right], layout=widgets.Layout(grid_gap="20px"))
        self.widget = widgets.VBox([widgets.HTML(_STYLE), body])
        self.widget.add_class("sjw")
        self._go.on_click(lambda _: self.start())
        self._halt.on_click(lambda _: self._stop.set())
        self._changed()
        _open.append(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return self.widget._repr_mimebundle_(**kwargs)

    def _changed(self) -> None:
        """A setting changed: check all of them, and show the script they make."""
        if self._settings is None:
            return
        running = self._thread is not None and self._thread.is_alive()
        try:
            join = self._settings.join()
            left, right = self._settings.streams()
            self._show(query.preview(join, left, right, self._settings.finish))
        except WorkbenchError as error:
            self._trouble.value = escape(str(error))
            self._go.disabled = True
            return
        self._trouble.value = ""
        self._words.value = "a preview, worked out without Spark"
        self._bar.value = 0
        self._go.disabled = running

    def _show(self, run: Run) -> None:
        self._results.show(run)
        self._figures.value = _figures(run)

    def start(self) -> None:
        """Run the join as it is set, in a thread of its own; the notebook stays free."""
        if self._settings is None or (self._thread is not None and self._thread.is_alive()):
            return
        try:
            asked = self._settings.join(), *self._settings.streams(), self._settings.finish
        except WorkbenchError as error:
            self._trouble.value = escape(str(error))
            return
        self._stop.clear()
        self._busy(True)
        self._thread = threading.Thread(target=self._work, args=asked, name="stream-join-workbench", daemon=True)
        self._thread.start()

    def _work(self, join: Join, left: Stream, right: Stream, finish: bool) -> None:
        try:
            self._words.value = "starting Spark …"
            run = query.run(join, left, right, finish, progress=self._progress, stop=self._stop)
            self._words.value = "drawing …"
            self._show(run)
            self.run = run
            self._trouble.value = escape(run.fault)
            self._words.value = f"run on Spark in {sum(run.batches['duration_ms']) / 1000:.1f} s"
        except WorkbenchError as error:
            self._words.value = "stopped" if self._stop.is_set() else "failed"
            if not self._stop.is_set():
                self._trouble.value = _folded(error)
        except Exception as error:  # noqa: BLE001 - nothing may leave the page without a way back
            self._words.value = "failed"
            self._trouble.value = _folded(WorkbenchError(f"the workbench failed: {error!r}"))
        finally:
            self._busy(False)

    def _progress(self, done: int, expected: int) -> None:
        now = time.monotonic()
        if done < expected and now - getattr(self, "_painted", 0.0) < _REPAINT:
            return
        self._painted = now
        self._bar.max, self._bar.value = expected, done
        self._words.value = f"micro-batch {done} of {expected}"

    def _busy(self, busy: bool) -> None:
        self._go.disabled = busy
        self._halt.disabled = not busy
        if self._settings is not None:
            self._settings.enable(not busy)
        if busy:
            self._trouble.value = ""
            self._bar.value = 0

    def wait(self, timeout: float | None = None) -> None:
        """Wait until the run under way has ended."""
        if self._thread is not None:
            self._thread.join(timeout)

    def close(self) -> None:
        """Stop what runs and take the page away."""
        self._stop.set()
        self.wait(15)
        self.widget.close()


def _figures(run: Run) -> str:
    counts = run.rows["fate"].value_counts()
    words = [(counts.get(fate, 0), fate.replace("_", " ")) for fate in ("matched", "unmatched", "late", "pending")]
    if counts.get("null_key"):
        words.append((counts["null_key"], "null key"))
    words += [(int(run.batches["output_rows"].sum()), "rows out"), (int(run.batches["state_rows"].max()), "peak state")]
    return "".join(f"<b>{count:,}</b><span>{word}</span>" for count, word in words)


def _folded(error: WorkbenchError) -> str:
    if not error.details:
        return escape(str(error))
    trace = f"<details><summary>Spark's own words</summary><pre>{escape(error.details)}</pre></details>"
    return f"{escape(str(error))}{trace}"


def current() -> App | None:
    """The page that was opened last and is still open."""
    return _open[-1] if _open else None


def close_all() -> None:
    """Close every open page, and stop what it runs."""
    while _open:
        _open.pop().close()
