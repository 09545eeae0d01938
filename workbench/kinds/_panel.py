"""What a kind may add to the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from workbench.joins import Join
from workbench.literals import Side
from workbench.streams import Stream
from workbench.untyped import Value


class LiveRun(Protocol):
    """What a panel may ask of a live query; `workbench.runs.live.Live` has it."""

    @property
    def join(self) -> Join: ...

    @property
    def sides(self) -> tuple[Stream, Stream]: ...

    def send(self, side: Side, row: Mapping[str, Value]) -> None: ...


class KindPanel(Protocol):
    """Inputs of a kind's own below the chart, for while a live query runs."""

    @property
    def widget(self) -> Any:
        """An ipywidget, hidden until `offer` shows it."""

    def offer(self, live: LiveRun | None) -> None:
        """The page calls this when a live query begins (of whatever kind: show nothing for others) and when it ends."""


@dataclass(frozen=True)
class PanelOf:
    """How a kind's panel is made; the page calls it once, when it is opened."""

    make: Callable[[], KindPanel]
