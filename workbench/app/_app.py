"""The page: settings on the left, what they do on the right."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench import query
from workbench.app._code import cell, highlight_style
from workbench.app._figures import changed, figures, head
from workbench.app._form import show
from workbench.app._history import History
from workbench.app._live import LivePanel
from workbench.app._results import ResultsPanel
from workbench.app._runs import Past, RunsPanel
from workbench.app._settings import Asked, SettingsPanel, describe
from workbench.app._worker import Latest
from workbench.errors import WorkbenchError
from workbench.results import Run
from workbench.streams import Stream

_REPAINT = 0.25  # seconds between two paintings of the progress bar
_MANY = 50_000  # rows of which a preview takes long enough to be announced
_GONE = 2.0  # seconds without the page after which what it runs is stopped
_STYLE = Path(__file__).with_name("app.css")

_open: list[App] = []


class App:
    """The workbench as a page in a notebook.

    Parameters
    ----------
    *streams
        Two Streams or DataFrames, or the names they have in `namespace`; none: a scenario is chosen in the page.
    namespace
        The notebook's variables, of which the page offers the Streams and DataFrames.

    Attributes
    ----------
    widget
        The page.
    run
        The last run, None before the first.
    """

    def __init__(self, *streams: Any, namespace: dict[str, Any] | None = None) -> None:
        self.run: Run | None = None
        space, names = _named(streams, namespace or {})
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._occupied = False
        self._asked: Asked | None = None
        self._worker = Latest(self._failed)
        self._history = History()
        self._buttons()
        self._space = space
        self._live = LivePanel(self._worker, self._show_live, self._live_ended)
        self._runs = RunsPanel(self._back_to, self._worker.submit)
        self._results = ResultsPanel(
            self._worker.submit, self._cell, self._runs.widget, self._live.drawing, self._apply
        )
        self._head.children = [self._go, *self._live.buttons, self._halt, self._bar, self._words, self._recorded]
        self._live.go.on_click(lambda _: self.go_live())
        self._settings = SettingsPanel(space, names, self._changed)
        left = widgets.VBox([widgets.HBox([self._undo, self._redo]), self._settings.widget])
        left.add_class("sjw-left")
        right = widgets.VBox([self._head, self._figures, self._since, self._trouble, self._results.widget])
        right.add_class("sjw-right")
        body = widgets.HBox([left, right])
        body.add_class("sjw-body")
        style = widgets.HTML(f"<style>{_STYLE.read_text()}\n{highlight_style()}</style>")
        style.layout.display = "none"
        self.widget = widgets.VBox([style, body])
        self.widget.add_class("sjw")
        self._results.chart.observe(self._looked_at, "views")
        self._changed()
        _open.append(self)

    def _buttons(self) -> None:
        narrow = widgets.Layout(width="auto")
        self._go = widgets.Button(description="Run on Spark", button_style="primary", icon="play", layout=narrow)
        self._halt = widgets.Button(description="Stop", icon="stop", disabled=True, layout=narrow)
        self._undo = widgets.Button(icon="undo", tooltip="Undo the last change of a setting", layout=narrow)
        self._redo = widgets.Button(icon="repeat", tooltip="Redo it", layout=narrow)
        self._bar = widgets.IntProgress(0, layout=widgets.Layout(width="120px", visibility="hidden"))
        self._words = widgets.HTML("ready")
        self._words.add_class("sjw-words")
        self._figures, self._since, self._trouble = widgets.HTML(), widgets.HTML(), widgets.HTML()
        for each, name in ((self._figures, "figures"), (self._since, "since"), (self._trouble, "trouble")):
            each.add_class(f"sjw-{name}")
        keep = "Its rows become variables of this notebook, to be run again under other settings."
        self._recorded = widgets.Button(description="Keep as recording", icon="save", tooltip=keep, layout=narrow)
        self._recorded.layout = widgets.Layout(width="auto", display="none")
        self._recorded.on_click(lambda _: self.keep_recording())
        self._head = widgets.HBox()
        self._head.add_class("sjw-head")
        self._go.on_click(lambda _: self.start())
        self._halt.on_click(lambda _: self.stop())
        self._undo.on_click(lambda _: self._travel(-1))
        self._redo.on_click(lambda _: self._travel(1))

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return self.widget._repr_mimebundle_(**kwargs)

    @property
    def busy(self) -> bool:
        """Whether a run or a live query is under way."""
        return self._occupied or self._live.active

    def _changed(self) -> None:
        """A setting changed: show what it would do."""
        if self._live.active:
            self._change_live()
        if self.busy:
            return
        state = self._settings.state
        self._worker.submit(lambda: self._preview(state))

    def _preview(self, state: dict[str, Any]) -> None:
        """Check all settings, and show what a run must give; in the thread that draws."""
        try:
            asked = self._settings.asked()
            if len(asked.left) + len(asked.right) > _MANY:
                self._say("busy", "working out the preview …")
            run = query.preview(asked.join, asked.left, asked.right, asked.finish, asked.policy)
        except WorkbenchError as error:
            self._trouble.value = escape(str(error))
            self._go.disabled = True
            return
        self._history.note(state)
        self._asked = asked
        self._show(run, asked, self._last)
        self._trouble.value = ""
        self._say("preview", "a preview, worked out without Spark")
        self._go.disabled = self.busy
        generated = self._settings.form.value("source") == "scenario"
        self._live.go.disabled = self._live.speed.disabled = not generated
        self._undo.disabled, self._redo.disabled = not self._history.can_undo, not self._history.can_redo

    @property
    def _last(self) -> Past | None:
        return self._runs.past[-1] if self._runs.past else None

    def _show(self, run: Run, asked: Asked, last: Past | None) -> None:
        """Show a run or preview, and what changed since another run."""
        self._figures.value = head(figures(run), last.figures if last else None)
        words = changed(describe(asked), describe(last.asked)) if last else ""
        self._since.value = f"since run {last.number}: {words}" if last else ""
        self._results.show(run)

    def _say(self, kind: str, words: str) -> None:
        self._words.value = f'<span class="sjw-badge sjw-{kind}">{words}</span>'

    def _failed(self, error: Exception) -> None:
        self._trouble.value = _folded(_told(error))

    def _travel(self, by: int) -> None:
        if (self._history.can_undo if by < 0 else self._history.can_redo) and not self.busy:
            self._settings.state = self._history.step(by)
            self._changed()

    def _apply(self, settings: dict[str, Any]) -> None:
        if not self.busy:
            self._settings.form.set(settings)

    def _cell(self) -> str:
        return cell(self._asked, self._settings.code()) if self._asked is not None else ""

    def _back_to(self, past: Past) -> None:
        """Set the page to a past run, and show it."""
        if self.busy:
            return
        self._settings.state = past.state

        def draw() -> None:
            self._history.note(past.state)
            self._asked, self.run = past.asked, past.run
            self._show(past.run, past.asked, self._last)
            self._trouble.value = ""
            self._say("ran", f"run {past.number}, on Spark in {past.seconds:.1f} s")

        self._worker.insist(draw)

    def start(self) -> None:
        """Run the join as it is set, in a thread of its own; the notebook stays free."""
        if self.busy or self._go.disabled:
            return
        self._begin(self._work)

    def _begin(self, work: Callable[[Asked, dict[str, Any]], None]) -> None:
        """Do long work on what the page is set to, in a thread of its own."""
        self._stop.clear()
        self._busy(True)
        self._say("busy", "starting Spark …")
        self._thread = threading.Thread(target=self._guarded, args=(work,), name="stream-join-workbench", daemon=True)
        self._thread.start()

    def _guarded(self, work: Callable[[Asked, dict[str, Any]], None]) -> None:
        """Do it, and leave the page usable whatever comes."""
        try:
            self._worker.settle()
            work(self._settings.asked(), self._settings.state)
        except Exception as error:  # noqa: BLE001 - nothing may leave the page without a way back
            stopped = self._stop.is_set()
            self._say("stopped" if stopped else "failed", "stopped" if stopped else "failed")
            if not stopped:
                self._failed(error)
        finally:
            if not self._live.active:
                self._busy(False)

    def _work(self, asked: Asked, state: dict[str, Any]) -> None:
        begun = time.monotonic()
        run = query.run(
            asked.join, asked.left, asked.right, asked.finish, policy=asked.policy,
            progress=self._progress, stop=self._stop,
        )  # fmt: skip
        seconds = time.monotonic() - begun
        self._say("busy", "drawing …")
        self._keep(run, asked, state, seconds)

    def _keep(self, run: Run, asked: Asked, state: dict[str, Any], seconds: float) -> None:
        def draw() -> None:
            before = self._last
            past = self._runs.add(run, asked, state, seconds)
            self.run, self._asked = run, asked
            self._show(run, asked, before)
            self._trouble.value = escape(run.fault)
            self._say("ran", f"run {past.number}, on Spark in {seconds:.1f} s")

        self._worker.insist(draw)
        self._worker.settle()

    def stop(self) -> None:
        """Stop the run or the live query that is under way."""
        self._stop.set()
        self._live.stop()

    def _looked_at(self, change: Any) -> None:
        """Stop what runs when the page is taken away: its cell was deleted, or its output cleared."""
        if change["new"] > 0 or not self.busy:
            return

        def stop() -> None:
            if self._results.chart.views <= 0:
                self.stop()

        timer = threading.Timer(_GONE, stop)
        timer.daemon = True
        timer.start()

    def go_live(self) -> None:
        """Let the generators write while the query runs."""
        if self.busy or self._live.go.disabled or self._go.disabled:
            return
        show(self._recorded, False)
        self._begin(self._begin_live)

    def _begin_live(self, asked: Asked, _: dict[str, Any]) -> None:
        self._live.start(asked, self._settings.form.value("scenario"), self._settings.generated())
        self._settings.enable_live()
        self._bar.layout.visibility = "hidden"
        self._words.value = self._live.words()
        if self._stop.is_set():
            self._live.stop()

    def _change_live(self) -> None:
        try:
            self._live.change(self._settings.generated())
            self._trouble.value = ""
        except WorkbenchError as error:
            self._trouble.value = escape(str(error))

    def _show_live(self, run: Run) -> None:
        if self._asked is not None:
            self._figures.value = head(figures(run), None)
            self._since.value = ""
            self._results.show(run)
        self._words.value = self._live.words()

    def _live_ended(self, error: Exception | None) -> None:
        """A live query has ended: what it did stays on the page."""

        def finish() -> None:
            self._busy(False)
            live = self._live.live
            if live is not None and live.done:
                self._show_live(live.run())
                show(self._recorded, True)
            self._say("stopped" if error is None else "failed", "live, stopped" if error is None else "failed")
            if error is not None:
                self._failed(error)

        self._worker.insist(finish)

    def keep_recording(self) -> None:
        """Make the live query's rows variables of the notebook, and set the page to them."""
        live = self._live.live
        if live is None or self.busy:
            return
        names = []
        for stream in live.recording():
            name = f"live_{stream.name}"
            self._space[name] = stream
            names.append(name)
        show(self._recorded, False)
        self._settings.take(*names)

    def _progress(self, done: int, expected: int) -> None:
        now = time.monotonic()
        if done < expected and now - getattr(self, "_painted", 0.0) < _REPAINT:
            return
        self._painted = now
        self._bar.max, self._bar.value = expected, done
        self._say("busy", f"micro-batch {done} of {expected}")

    def _busy(self, busy: bool) -> None:
        self._occupied = busy
        self._go.disabled = self._live.go.disabled = self._live.speed.disabled = busy
        self._halt.disabled = not busy
        self._undo.disabled = busy or not self._history.can_undo
        self._redo.disabled = busy or not self._history.can_redo
        self._settings.enable(not busy)
        self._bar.layout.visibility = "visible" if busy else "hidden"
        if busy:
            self._trouble.value = ""
            self._bar.value = 0

    def wait(self, timeout: float | None = None) -> None:
        """Wait until the run under way has ended, and all is drawn."""
        if self._thread is not None:
            self._thread.join(timeout)
        self._worker.settle()

    def close(self) -> None:
        """Stop what runs and take the page away."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(15)
        self._live.close()
        self._worker.close()
        self.widget.close()


def _named(given: tuple[Any, ...], namespace: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The notebook's variables with the streams that were given, and the names of these."""
    names = []
    for place, each in enumerate(given):
        name = each if isinstance(each, str) else (each.name if isinstance(each, Stream) else ("left", "right")[place])
        if not isinstance(each, str):
            namespace = {**namespace, name: each}
        names.append(name)
    return namespace, tuple(names)


def _told(error: Exception) -> WorkbenchError:
    """What to tell of an error: its own words, or that the workbench is at fault."""
    if isinstance(error, WorkbenchError):
        return error
    return WorkbenchError(f"the workbench failed: {error!r}", "".join(traceback.format_exception(error)))


def _folded(error: WorkbenchError) -> str:
    if not error.details:
        return escape(str(error))
    trace = f"<details><summary>details</summary><pre>{escape(error.details)}</pre></details>"
    return f"{escape(str(error))}{trace}"


def current() -> App | None:
    """The page that was opened last and is still open."""
    return _open[-1] if _open else None


def close_all() -> None:
    """Close every open page, and stop what it runs."""
    while _open:
        _open.pop().close()
