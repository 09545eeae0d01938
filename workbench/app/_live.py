"""Going live: the generators write while the query runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

import generators
from workbench import charts
from workbench._live import Live, live
from workbench.app._form import show
from workbench.app._settings import Asked
from workbench.app._worker import Latest
from workbench.results import Run

_TONES = {"OK": "ran", "LOW": "preview", "HIGH": "failed"}


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

    Attributes
    ----------
    buttons
        Go live, pause.
    live
        The query, None before the first.
    """

    def __init__(
        self,
        worker: Latest,
        shown: Callable[[Run], None],
        ended: Callable[[Exception | None], None],
    ) -> None:
        self._worker, self._shown, self._ended = worker, shown, ended
        self.live: Live | None = None
        narrow = widgets.Layout(width="auto")
        tooltip = "The generators write while the query runs; the sliders act on them."
        self.go = widgets.Button(description="Go live", icon="bolt", tooltip=tooltip, layout=narrow)
        self.hold = widgets.Button(
            description="Pause", icon="pause", layout=widgets.Layout(width="auto", display="none")
        )
        self.speed = widgets.Dropdown(
            options=[("1×", 1), ("2×", 2), ("5×", 5), ("10×", 10), ("30×", 30)],
            value=5,
            tooltip="Seconds of event time that pass in a second.",
            layout=widgets.Layout(width="64px"),
        )
        self.buttons = [self.go, self.speed, self.hold]
        self.hold.on_click(lambda _: self.pause_or_resume())

    @property
    def active(self) -> bool:
        """Whether a live query runs, paused or not."""
        return self.live is not None and self.live.active

    def start(self, asked: Asked, scenario: str, settings: dict[str, Any]) -> None:
        """Start a live query."""
        idle = settings.pop("idle", None)
        for name in ("events", "batches"):
            settings.pop(name, None)
        feed = generators.Feed(scenario, **settings, idle=idle[0] if idle else None)
        delays = asked.left.watermark, asked.right.watermark
        self.live = live(asked.join, feed, *delays, policy=asked.policy, speed=float(self.speed.value), told=self._told)
        self._buttons(True)

    def _buttons(self, on: bool) -> None:
        show(self.go, not on)
        show(self.speed, not on)
        show(self.hold, on)
        self.hold.description, self.hold.icon = "Pause", "pause"

    def pause_or_resume(self) -> None:
        """Pause the generators, or let them go on."""
        if self.live is None:
            return
        if self.live.paused:
            self.live.resume()
        else:
            self.live.pause()
        paused = self.live.paused
        self.hold.description, self.hold.icon = ("Resume", "play") if paused else ("Pause", "pause")

    def change(self, settings: dict[str, Any]) -> None:
        """Let the sliders act on the running generators."""
        if self.live is None:
            return
        idle = settings.get("idle")
        chosen = {name: settings[name] for name in ("rate", "disorder", "late")}
        chosen |= {"duplicates": settings.get("duplicates", 0.0), "idle": idle[0] if idle else None}
        self.live.feed.change(**chosen)  # type: ignore[attr-defined]

    def stop(self) -> None:
        """Stop the query."""
        if self.live is not None:
            self.live.stop_soon()

    def _told(self, told: Live) -> None:
        """After a micro-batch, and at the end; in the thread that makes the rows."""
        if not told.active:
            self._buttons(False)
            self._ended(told.error)
        elif told.done:
            self._worker.submit(lambda: self._shown(told.run()))

    def drawing(self) -> charts.Drawing | None:
        """The chart of the rates; None before the first live query."""
        return None if self.live is None else charts.rates(self.live.rates, self.live.trigger)

    def words(self) -> str:
        """The state of the query and its backpressure, as HTML."""
        if self.live is None:
            return ""
        rates = self.live.rates
        state = "paused" if self.live.paused else "live"
        if rates.empty:
            return f'<span class="sjw-badge sjw-live">{state}</span>'
        last = rates.iloc[-1]
        told = (
            f"micro-batch {last['batch']:,} · {last['input_rate']:,.0f} rows/s in, {last['processed_rate']:,.0f} "
            f"worked through · {last['duration_ms']:,} ms · {last['backlog']:,} waiting"
        )
        mark = f'<span class="sjw-badge sjw-{_TONES[last["pressure"]]}">backpressure {last["pressure"]}</span>'
        return f'<span class="sjw-badge sjw-live">{state}</span> {told} {mark}'

    def close(self) -> None:
        """Stop the query and wait for its end."""
        if self.active and self.live is not None:
            self.live.end()
