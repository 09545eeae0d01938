"""Stepping and playing through the micro-batches of a run."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets

from workbench.app.html import HTML
from workbench.charts import LATEST
from workbench.counts import counted
from workbench.errors import TooLargeError
from workbench.runs.result import Result

__all__ = ["Scrubber"]


_PACE = 600  # milliseconds a micro-batch


class Scrubber:
    """A slider over micro-batches, whose last place is the whole run.

    Parameters
    ----------
    moved
        Called when another moment is chosen.

    Attributes
    ----------
    widget
        The panel.
    """

    def __init__(self, moved: Callable[[], None]) -> None:
        self.slider = widgets.IntSlider(1, min=0, max=1, readout=False, layout=widgets.Layout(flex="1 1 auto"))
        self.slider.tooltip = "The micro-batch at whose end the charts show the run; at the right end, the whole run."
        self.play = widgets.Play(value=1, min=0, max=1, interval=_PACE, show_repeat=False)
        links = [
            widgets.jslink((self.play, "value"), (self.slider, "value")),
            widgets.jslink((self.slider, "max"), (self.play, "max")),
        ]
        self.play.observe(lambda _: [each.close() for each in links], "comm")  # gone with what they link
        back = widgets.Button(icon="step-backward", tooltip="One micro-batch back", layout=widgets.Layout(width="36px"))
        on = widgets.Button(icon="step-forward", tooltip="One micro-batch on", layout=widgets.Layout(width="36px"))
        self._end = widgets.Button(description="Whole run", layout=widgets.Layout(width="auto", flex="0 0 auto"))
        self.text = HTML()
        self.text.add_class("sjw-moment")
        back.on_click(lambda _: self.step(-1))
        on.on_click(lambda _: self.step(1))
        self._end.on_click(lambda _: self.step(self.slider.max))
        self.slider.observe(lambda _: moved(), "value")
        row = widgets.HBox([self.play, back, on, self.slider, self._end], layout=widgets.Layout(width="100%"))
        self.widget = widgets.VBox([row, self.text])
        self.widget.add_class("sjw-scrubber")

    def step(self, by: int) -> None:
        """Go so many micro-batches on, or back."""
        self.slider.value = max(0, min(self.slider.max, self.slider.value + by))

    def fit(self, run: Result) -> None:
        """Take over a run's micro-batches; who was at its end stays there."""
        count = len(run.batches)
        at_end = self.slider.value == self.slider.max
        if count > self.slider.max:
            self.slider.max = count
        self.slider.value = count if at_end else min(self.slider.value, count)
        self.slider.max = count
        # a page that is opened later takes the player's place for the slider's
        self.play.max, self.play.value = count, self.slider.value

    @property
    def batch(self) -> int | None:
        """The chosen micro-batch; None for the whole run."""
        return None if self.slider.value >= self.slider.max else int(self.slider.value)

    @property
    def moment(self) -> int:
        """The chosen micro-batch as charts take it."""
        return LATEST if self.batch is None else self.batch

    def describe(self, run: Result) -> None:
        """Say what the run looked like then."""
        batch, count = self.batch, len(run.batches)
        if batch is None or batch >= count:
            data = int((run.batches["kind"] == "data").sum())
            more = f", {data:,} of them with rows" if data < count else ""
            first = run.simulation.first
            of = f", {first:,} to {first + count - 1:,} of the job" if first else ""
            self.text.value = f"the whole run: {counted(count, 'micro-batch')}{of}{more}; step back, or play it"
            return
        try:
            self.text.value = str(run.at(run.simulation.first + batch))
        except TooLargeError as error:  # only Spark can do it
            self.text.value = f"micro-batch {batch} of {count:,}: {error}"
