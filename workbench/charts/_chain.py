"""A chain of joins: what came to each, what became of it there, and how many rows pass on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from workbench.charts import _tooltips as tooltips
from workbench.charts._drawing import LATEST, Drawing
from workbench.charts._style import INK, QUIET, WIDTH, fate_colour, layout, looks, panel_title
from workbench.charts.renderer import show_without_network
from workbench.counts import counted
from workbench.literals import FATES, SIDES, Side, Sides
from workbench.model import Simulation
from workbench.untyped import AltairChart

_LINE = 30


@dataclass(frozen=True)
class ChainLink:
    """A join of a chain.

    Attributes
    ----------
    simulation
        The join.
    feeds
        Its sides that come out of another join, and the number of that one.
    outputs
        How many rows come out of it.
    """

    simulation: Simulation
    feeds: Mapping[Side, int]
    outputs: int


class ChainCharts:
    """The charts of a chain of joins; each join has those of a run."""

    def __init__(self, links: Sequence[ChainLink]) -> None:
        self._links = links
        show_without_network()

    def chain(self) -> alt.VConcatChart:
        """The joins in the order in which rows pass them: rows of each side by their fate, and rows that come out."""
        return chain(self._links).chart()


def chain(links: Sequence[ChainLink]) -> Drawing:
    """The picture of a chain: a panel a join, a bar a side by the fates of its rows, and one of what comes out."""
    rows, out, panels = [], [], []
    for number, link in enumerate(links):
        taken_by = next((later for later, each in enumerate(links) if number in each.feeds.values()), None)
        lines = tuple(_name(link, side) for side in SIDES)
        passes = "comes out" if taken_by is None else f"passes on to join {taken_by}"
        panels.append((f"join {number}: {link.simulation.join!r}", (*lines, passes)))
        for side, line in Sides(*lines).items():
            fates = link.simulation.fates[side]["fate"].to_numpy()
            counts = [int(np.sum(fates == fate)) for fate in FATES]
            ends = np.cumsum(counts)
            for fate, count, end in zip(FATES, counts, ends.tolist(), strict=True):
                rows.append((number, line, fate, count, end - count, end))
        out.append((number, passes, link.outputs))
    tables = {
        "rows": pd.DataFrame(rows, columns=["join", "line", "fate", "rows", "begin", "end"]),
        "out": pd.DataFrame(out, columns=["join", "line", "rows"]).assign(begin=0),
    }
    title = f"{counted(len(links), 'join')}, in the order in which rows pass them"
    subtitle = (
        f"{counted(links[-1].outputs, 'row')} {'comes' if links[-1].outputs == 1 else 'come'} out of the last one"
    )
    most = max(1, int(tables["rows"]["end"].max()), int(tables["out"]["rows"].max()))
    return Drawing(_layout(tuple(panels)), tables, title, subtitle, {"most": most})


def _name(link: ChainLink, side: Side) -> str:
    """What a bar is called: the stream, and where its rows come from."""
    name = link.simulation.side(side).name
    return f"{side}: {name}" + (f", from join {link.feeds[side]}" if side in link.feeds else "")


@layout
def _layout(panels: tuple[tuple[str, tuple[str, ...]], ...]) -> AltairChart:
    parts = [
        _panel(number, title, lines, last=number == len(panels) - 1) for number, (title, lines) in enumerate(panels)
    ]
    chart: AltairChart = alt.vconcat(*parts, spacing=10)
    return looks(chart, {"most": 1, "moment": LATEST, "picked": []})


def _panel(number: int, title: str, lines: tuple[str, ...], last: bool) -> AltairChart:
    y = alt.Y(
        "line:N",
        sort=None,
        title=None,
        scale=alt.Scale(domain=list(lines), paddingInner=0.3),
        axis=alt.Axis(labelLimit=240, minExtent=240, ticks=False, domain=False),
    )
    x = alt.X(
        "begin:Q",
        title="rows" if last else None,
        scale=alt.Scale(domain=alt.ExprRef("[0, most]"), nice=False),
        axis=alt.Axis(labels=last, ticks=last, format="d", tickMinStep=1),
    )
    here = f"datum.join == {number}"
    bars = (
        alt.Chart(alt.NamedData("rows"))
        .transform_filter(f"{here} && datum.rows > 0")
        .mark_bar()
        .encode(
            x=x,
            x2="end:Q",
            y=y,
            color=fate_colour("fate", legend=number == 0),
            tooltip=[alt.Tooltip("line:N", title="side"), tooltips.FATE, tooltips.ROWS],
        )
    )
    out = alt.Chart(alt.NamedData("out")).transform_filter(here)
    passing = out.mark_bar(color=QUIET).encode(x=x, x2="rows:Q", y=y, tooltip=[alt.Tooltip("rows:Q", title="rows")])
    words = out.mark_text(align="left", dx=4, fontSize=12, color=INK).encode(x=alt.X("rows:Q"), y=y, text="rows:Q")
    chart: AltairChart = alt.layer(bars, passing, words)
    chart.title, chart.width, chart.height = panel_title(title), WIDTH - 260, _LINE * len(lines)
    return chart
