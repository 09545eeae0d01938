"""Going live: the generators write while the query runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import ipywidgets as widgets
import numpy as np
from markupsafe import Markup

from workbench import charts, times
from workbench.app._form import show
from workbench.app._snapshot import RunConfiguration
from workbench.app.html import HTML, html
from workbench.app.sources import LiveFeed, Values, sources
from workbench.app.worker import CoalescingWorker
from workbench.counts import counted
from workbench.engine.live_rates import WARM_UP, silence
from workbench.kinds import panels
from workbench.literals import SIDES
from workbench.runs.live import Live, live
from workbench.runs.result import Result
from workbench.runs.run import Run
from workbench.untyped import Series

_HELD_BACK = (
    "the watermark follows the slower stream and waits for {silent}, so rows stay in state, and what waits for the "
    "watermark, such as outer rows, does not come out"
)
_NOT_HELD_BACK = (
    "the watermark follows the faster stream and does not wait for {silent}, whose next rows are late where they are "
    "behind it"
)
_GO = "The generators write while the query runs; the sliders act on them."
_NEEDS_A_SCENARIO = (
    "A live query generates its rows while it runs; these rows are recorded. "
    "Choose a scenario as the streams to go live, and its generators write."
)
_SPEED = "108px"
_TONES = {WARM_UP: "other", "OK": "ran", "LOW": "preview", "HIGH": "failed"}


class LivePanel:
    """Buttons and figures of a live query.

    Parameters
    ----------
    worker
        The thread that draws.
    shown
        Called in that thread with the run so far, after each micro-batch.
    ended
        Called when the query has ended, with what ended it, if it did not end because it was stopped.
    overdue
        Called in that thread, once a second, while a micro-batch takes longer than the trigger interval.

    Attributes
    ----------
    buttons
        Go live, or why that cannot be; pause.
    note
        What is likely to be wrong with the streams of the query; it stands below the buttons.
    panels
        The panels that kinds of join bring along.
    live
        The query, None before the first.
    """

    def __init__(
        self,
        worker: CoalescingWorker,
        shown: Callable[[Run], None],
        ended: Callable[[Exception | None], None],
        overdue: Callable[[], None],
    ) -> None:
        self._worker, self._shown, self._ended, self._overdue = worker, shown, ended, overdue
        self.live: Live | None = None
        self._listed: tuple[int, Run] | None = None  # the number of the query's run, once it has ended
        controls = [each for source in sources().values() if source.live for each in source.controls]
        self._labels = {each.name: each.label for each in controls}  # as the sliders are called
        narrow = widgets.Layout(width="auto")
        self.go = widgets.Button(description="Go live", icon="bolt", tooltip=_GO, layout=narrow)
        self.pause_button = widgets.Button(
            description="Pause", icon="pause", layout=widgets.Layout(width="auto", display="none")
        )
        self.speed = widgets.Dropdown(
            options=[("1×", 1), ("2×", 2), ("5×", 5), ("10×", 10), ("30×", 30)],
            value=5,
            description="Speed",
            tooltip="Seconds of event time that pass in a second.",
            style={"description_width": "auto"},
            layout=widgets.Layout(width=_SPEED),
        )
        self.note = HTML()
        for name in ("sjw-note", "sjw-warning"):
            self.note.add_class(name)
        self._warn("")
        self.panels = [panel.make() for panel in panels()]
        in_its_place = widgets.Layout(width=_SPEED)  # behind the button's "Go live": nothing moves
        self._why_not = HTML("needs a scenario", tooltip=_NEEDS_A_SCENARIO, layout=in_its_place)
        self._why_not.add_class("sjw-why-not")
        show(self._why_not, False)
        self.buttons = [self.go, self.speed, self._why_not, self.pause_button]
        self.pause_button.on_click(lambda _: self.pause_or_resume())

    @property
    def active(self) -> bool:
        """Whether a live query runs, paused or not."""
        return self.live is not None and self.live.active

    def start(self, configuration: RunConfiguration, feed: Any, trigger: str) -> None:
        """Start a live query of what a feed writes, with a trigger interval; empty: of a second."""
        delays = configuration.left.watermark, configuration.right.watermark
        self._listed = None
        self.live = live(
            configuration.join,
            feed,
            *delays,
            policy=configuration.policy,
            trigger=trigger.strip() or "1 second",
            speed=float(self.speed.value),
            on_progress=self._progressed,
        )
        self.live.on_overdue = lambda live: self._late(live)
        self._buttons(True)
        self._offer(self.live)

    def enable(self, on: bool, is_generated: bool) -> None:
        """Make going live usable, or not; where the rows are not generated, say so in place of the speed."""
        self.go.disabled = self.speed.disabled = not (on and is_generated)
        self.go.tooltip = _GO if is_generated else _NEEDS_A_SCENARIO
        if not self.active:
            show(self.speed, is_generated)
            show(self._why_not, not is_generated)

    def _offer(self, live: Live | None) -> None:
        for panel in self.panels:
            panel.offer(live)

    def _buttons(self, on: bool) -> None:
        show(self.go, not on)
        show(self.speed, not on)
        show(self.pause_button, on)
        self.pause_button.description, self.pause_button.icon = "Pause", "pause"

    def pause_or_resume(self) -> None:
        """Pause the generators, or let them go on."""
        if self.live is None:
            return
        if self.live.paused:
            self.live.resume()
        else:
            self.live.pause()
        paused = self.live.paused
        self.pause_button.description, self.pause_button.icon = ("Resume", "play") if paused else ("Pause", "pause")

    def change(self, feed: LiveFeed, values: Values) -> None:
        """Let the sliders act on the running generators."""
        if self.live is not None:
            feed.change(self.live.feed, values)

    def stop(self) -> None:
        """Stop the query."""
        if self.live is not None:
            self.live.stop_soon()

    def _progressed(self, live: Live) -> None:
        """After a micro-batch, and at the end; in the thread that makes the rows."""
        if not live.active:
            self._buttons(False)
            self._offer(None)
            self._ended(live.error)
        elif live.done:
            self._worker.submit("live", lambda: self._shown(live.run()))

    def _late(self, live: Live) -> None:
        """While a micro-batch takes longer than the trigger interval; in the thread that makes the rows."""
        if live is self.live and live.active:
            self._worker.submit("overdue", lambda: self._overdue() if live.active else None)

    def listed(self, number: int, run: Run) -> None:
        """The query has ended, and is listed among the runs."""
        self._listed = number, run

    def drawing(self, shown: Result) -> charts.Drawing | str | None:
        """The chart of how the query does, beside what it did; beside something else which run it was.

        None before the first live query.
        """
        query = self.live
        if query is None:
            return None
        of, title = " and ".join(query.names), "Live"
        if not query.active and self._listed is not None:
            number, run = self._listed
            if not isinstance(shown, Run) or shown.execution is not run.execution:
                return f"Run {number} was live, of {of}: go back to it among the Runs to see how it kept up."
            title = f"Run {number}, live"
        changes = query.changes.replace({"setting": self._labels})
        return replace(charts.live(query.rates, changes, query.trigger, query.names), title=f"{title}: {of}")

    def summary(self) -> Markup:
        """The state of the query and its backpressure, as HTML."""
        if self.live is None:
            return html("")
        rates = self.live.rates
        state = "paused" if self.live.paused else "live"
        trigger = f"trigger {times.short(timedelta(seconds=self.live.trigger))}"
        running = self.live.running
        if running is not None and running > self.live.trigger:
            trigger += f", micro-batch {self.live.done:,} has been running for {running:.1f} s"
        if rates.empty:
            return html('<span class="sjw-badge sjw-live">{}</span> {}', f"{state}, starting", trigger)
        last = rates.iloc[-1]
        text = (
            f"micro-batch {last['batch']:,} · {_rates_in(last, self.live.names)}, {last['processed_rate']:,.0f} "
            f"processed · {last['duration_ms']:,} ms · {last['backlog']:,} waiting · {trigger}"
        )
        pressure = last["pressure"]
        said = WARM_UP if pressure == WARM_UP else f"backpressure {pressure}"
        mark = html('<span class="sjw-badge sjw-{}">{}</span>', _TONES[pressure], said)
        # on one line, of which a narrow page shows the beginning
        return html('<span class="sjw-badge sjw-live">{}</span> {} <span title="{}">{}</span>', state, mark, text, text)

    def warn(self) -> None:
        """Say which stream brings no rows while the other one does, and what that does to the results."""
        live = self.live
        found = silence(live.rates) if live is not None and live.active else None
        if live is None or found is None:
            self._warn("")
            return
        place = SIDES.index(found.side)
        silent, other = live.names[place], live.names[1 - place]
        effect = _HELD_BACK if live.policy == "min" else _NOT_HELD_BACK
        self._warn(
            f"{silent} has brought no row in the last {counted(found.batches, 'micro-batch')}, while {other} brought "
            f"{found.other_rows:,}: {effect.format(silent=silent)}"
        )

    def _warn(self, words: str) -> None:
        self.note.value = words
        show(self.note, bool(words))

    def close(self) -> None:
        """Stop the query and wait for its end, also where it was told to stop and has not ended yet."""
        if self.live is not None:
            self.live.end()


def _rates_in(last: Series, names: tuple[str, str]) -> str:
    """How many rows a second each stream brought; in the first micro-batch, of which that is unknown, both together."""
    mine = [last[f"{side}_rate"] for side in SIDES]
    if any(map(np.isnan, mine)):
        return f"{last['input_rate']:,.0f} rows/s in"
    return " and ".join(f"{name} {rate:,.0f}" for name, rate in zip(names, mine, strict=True)) + " rows/s in"
