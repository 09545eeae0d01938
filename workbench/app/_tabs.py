"""The tabs of the page: one for each view of a run that is registered, then the page's own."""

from __future__ import annotations

from dataclasses import dataclass

from workbench import charts


@dataclass(frozen=True)
class Tab:
    """A tab of the page.

    Attributes
    ----------
    name, help
        What is written on it, and what it shows.
    parts
        The parts of the page that it shows.
    view
        The view of the run that it shows; None for the page's own tabs.
    nothing
        What is said where there is nothing to show yet.
    """

    name: str
    help: str
    parts: tuple[str, ...]
    view: charts.View | None = None
    nothing: str = ""

    @property
    def mute(self) -> bool:
        """Whether the explanation of what is picked is left out beside it."""
        return bool({"code", "runs", "tune", "flink"} & set(self.parts))

    @property
    def of_rows(self) -> bool:
        """Whether it shows a stretch of event time, which is chosen by dragging."""
        return self.view.of_rows if self.view is not None else "flink" in self.parts

    @property
    def of_time(self) -> bool:
        """Whether it shows a moment of the run, or a stretch of its event time."""
        return self.name not in ("Live", "Tune", "Flink")


_SCRIPT = "The PySpark script of this join, the same join for Flink, and a cell that does what this page does."
_NOT_LIVE = "No live query yet: Go live, and the generators write while the query runs."
_LIVE = "How a live query keeps up: rates, duration of micro-batches, waiting rows, backpressure."
_FLINK = "The same rows under Flink's rules: those that differ, the reasons, and the nearest settings."
_OWN = (
    Tab("Output", "What came out of the join.", ("table",)),
    Tab("Script", _SCRIPT, ("code",)),
    Tab("Live", _LIVE, ("panels", "chart"), nothing=_NOT_LIVE),
    Tab("Tune", "What each watermark delay keeps and costs; click a point to apply its setting.", ("tune", "chart")),
    Tab("Flink", _FLINK, ("flink", "chart", "stories")),
    Tab("Runs", "Past runs: go back to one, compare two side by side.", ("runs",)),
)


def tabs() -> tuple[Tab, ...]:
    """A tab for each view of a run that is registered, then the page's own."""
    return (*(Tab(view.tab, view.tip, _parts(view), view) for view in charts.views() if view.tab), *_OWN)


def _parts(view: charts.View) -> tuple[str, ...]:
    below = {"table": view.listed is not None or view.lists_state}
    below |= dict.fromkeys(("steps", "lifetimes"), view.has_steps)
    return ("chart", *(name for name, is_there in below.items() if is_there))
