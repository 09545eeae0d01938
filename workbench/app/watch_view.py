"""The view of a query that is watched: figures, a chart that moves, and a button that opens its last micro-batches."""

from __future__ import annotations

import threading

import ipywidgets as widgets
import pandas as pd
from IPython import get_ipython
from markupsafe import Markup

from workbench.app._app import App
from workbench.app._browser import framed
from workbench.app._form import show
from workbench.app.chart import ChartBox
from workbench.app.closing import close
from workbench.app.html import HTML, html, together
from workbench.charts import watched
from workbench.counts import counted
from workbench.errors import WorkbenchError
from workbench.jobs import Watch
from workbench.untyped import Record

__all__ = ["WatchView", "view"]

_MEANINGS = {
    "micro-batch": "The last completed micro-batch.",
    "rows/s came": "Input rows per second, in the last micro-batch with rows.",
    "rows/s processed": "Processed rows per second, in the last micro-batch with rows.",
    "s watermark lag": "How far the watermark is behind the newest event time.",
    "late": "Rows dropped as late in the micro-batches seen here, counted once per window.",
    "in state": "Rows in the state of the join.",
}


class WatchView:
    """What a `Watch` shows in a notebook.

    Parameters
    ----------
    watch
        What is watched.

    Attributes
    ----------
    widget
        The view.
    badge, figures, words, trouble
        How the query does: in two words, in figures, in sentences; and why that may not be up to date.
    open, stop
        The buttons.
    chart
        The chart.
    page
        The page on the micro-batches that were opened last; None before.
    """

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self.page: App | None = None
        self.figures, self.words, self.trouble = HTML(), HTML(), HTML()
        self.figures.add_class("sjw-figures")
        self.words.add_class("sjw-note")
        self.trouble.add_class("sjw-trouble")
        self.badge = HTML()
        self.badge.add_class("sjw-text")
        auto = widgets.Layout(width="auto")
        tip = "The fate of each row of the micro-batches that the checkpoint still has."
        self.open = widgets.Button(
            description="Open the last micro-batches", icon="search", button_style="primary", tooltip=tip, layout=auto
        )
        tip = "Stop watching; the query keeps running."
        self.stop = widgets.Button(description="Stop watching", icon="eye-slash", tooltip=tip, layout=auto)
        self.chart = ChartBox()
        self._below = widgets.VBox([])
        head = widgets.HBox([self.open, self.stop, self.badge])
        head.add_class("sjw-head")
        right = widgets.VBox([head, self.trouble, self.figures, self.words, self.chart, self._below])
        right.add_class("sjw-right")
        self.widget = framed(right)
        self.open.on_click(lambda _: self.open_soon())
        self.stop.on_click(lambda _: watch.stop())
        self._lock = threading.Lock()
        self._opening, self._failure = False, ""
        self.draw()
        watch.call_when_changed(self.draw)
        watch.call_when_replaced(self.close)

    def draw(self) -> None:
        """Show what is known now."""
        watch = self._watch
        with self._lock:
            batches, state = watch.batches, watch.state
            words = "opening the last micro-batches …" if self._opening else watch.status
            tone = "busy" if self._opening else _tone(watch)
            self.badge.value = html('<span class="sjw-badge sjw-{}">{}</span>', tone, words)
            self.trouble.value = self._failure or watch.trouble
            self.figures.value = _figures(batches, state, watch.dropped)
            self.words.value = _words(batches, state)
            self.stop.disabled = not watch.active
            show(self.chart, len(batches) > 0)
            if len(batches):
                self.chart.show(watched(batches, watch.names, _seen(watch.seen, batches)))

    def open_soon(self) -> None:
        """Open the last micro-batches, in a thread of its own; the notebook stays free."""
        if not self.open.disabled:
            self.open.disabled = self._opening = True
            self._failure = ""
            self.draw()
            threading.Thread(target=self._open, name="stream-join-workbench open", daemon=True).start()

    def _open(self) -> None:
        try:
            job = self._watch.open()
            job.join  # noqa: B018 - says in one sentence what was not understood
            name = _called(self._watch)
            before, self.page = self.page, App(name, namespace={name: job})
            self._below.children = [self.page.widget]
            if before is not None:
                before.close()
        except WorkbenchError as error:
            self._failure = str(error)
        except Exception as error:  # noqa: BLE001 - nothing may leave the view without a way on
            self._failure = f"the workbench failed: {error!r}"
        finally:
            self._opening = False
            try:
                self.draw()
            finally:
                self.open.disabled = False  # last: who sees that it can be pressed sees what it led to, too

    def close(self) -> None:
        """Take away the page that was opened, and the view."""
        if self.page is not None:
            self.page.close()
        close(self.widget)


def view(watch: Watch) -> widgets.Widget:
    """The widget that shows a query that is watched."""
    return WatchView(watch).widget


def _tone(watch: Watch) -> str:
    if watch.status.startswith(("has failed", "cannot")):
        return "failed"
    return "live" if watch.status == "runs" else "preview"


def _called(watch: Watch) -> str:
    """What the job that a watch opened is called in the notebook."""
    shell = get_ipython()
    space = {} if shell is None else shell.user_ns
    names = [name for name, value in space.items() if value is watch and name[:1] != "_"]
    outs = [f"Out[{number}]" for number, value in space.get("Out", {}).items() if value is watch]
    return f"{next(iter([*names, *outs]), 'watch')}.job"


def _seen(count: int, batches: pd.DataFrame) -> str:
    """How many micro-batches were seen, and from when on the sides' watermarks are known."""
    words = f"{counted(count, 'micro-batch')} seen"
    if batches["lag"].isna().iloc[0] and batches["lag"].notna().any():
        words += "; the watermark lag is known only since watching began"
    return words


def _figures(batches: pd.DataFrame, state: pd.DataFrame, dropped: int) -> Markup:
    """The figures that matter now."""
    if batches.empty:
        return html("<div><span>no micro-batch has ended yet</span></div>")
    last = batches.iloc[-1]
    found: Record = {"micro-batch": f"{last['batch']:,}"}
    for name, column in (("rows/s came", "input_rate"), ("rows/s processed", "processed_rate")):
        known = batches[column].dropna()
        known = known[known > 0]
        if len(known):
            found[name] = f"{known.iloc[-1]:,.0f}"
    lags = batches["lag"].dropna()
    if len(lags):
        found["s watermark lag"] = f"{lags.iloc[-1]:,.1f}"
    if batches["dropped"].notna().any():
        found["late"] = f"{dropped:,}"
    if pd.notna(last["state_rows"]):
        found["in state"] = f"{int(last['state_rows']):,}"
    elif len(state):
        found["in state"] = f"{int(state['rows'].sum()):,}"
    parts = [
        html('<div title="{}"><b>{}</b><span>{}</span></div>', _MEANINGS[name], found[name], name) for name in found
    ]
    return together(parts)


def _words(batches: pd.DataFrame, state: pd.DataFrame) -> Markup:
    """Who holds the watermark back, what is in state by side, what leaves next: a line each, which keeps its place."""
    marks = batches["watermark"].dropna()
    mark = marks.iloc[-1] if len(marks) else None
    now = "no watermark yet"
    if mark is not None and mark.value > 0:
        holders = batches[batches["lag"].notna()]["held_by"].tail(1).dropna()
        held = f", held back by {holders.iloc[0]}" if len(holders) else ""
        now = f"watermark {_clock(mark)}{held}"
    if len(batches):
        now += f" · last micro-batch {_clock(batches['at'].iloc[-1])} UTC"
    counts = [f"{counted(each.rows, 'row')} of {each.stream}" for each in state.itertuples()]
    in_state = f"in state after micro-batch {state['batch'].iloc[0]:,}: {' and '.join(counts)}" if counts else ""
    leaving = state[state["evicted_at"].notna()].sort_values("evicted_at")
    leaving = leaving if mark is None else leaving[leaving["evicted_at"] > mark]  # else they left since
    next_one = ""
    if len(leaving):
        first = leaving.iloc[0]
        next_one = (
            f"next to leave: {first['stream']} of {_clock(first['oldest'])}, at watermark {_clock(first['evicted_at'])}"
        )
    elif len(state):
        next_one = "next to leave: the rows read last have left by now"
    return together([html('<div class="sjw-line">{}</div>', words) for words in (now, in_state, next_one)])


def _clock(moment: pd.Timestamp) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03d}"
