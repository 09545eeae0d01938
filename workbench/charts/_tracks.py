"""The main view: lanes of both sides, watermarks, state and late rows as tracks over one shared axis."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from workbench.charts import _timeline
from workbench.charts import _tooltips as tooltips
from workbench.charts._axes import EVENT_TIME, Axis, ends_of_batches, places
from workbench.charts._drawing import Drawing
from workbench.charts._rows import Cut, counts, late_rows, many, rows, with_partners
from workbench.charts._style import (
    COLOURS,
    INK,
    SIDE_COLOURS,
    STEPS,
    WIDTH,
    fate_colour,
    layout,
    looks,
    panel_title,
    picked_points,
    side_scale,
    thin,
    time_format,
)
from workbench.charts._view import Scene, View
from workbench.kinds import kind_of
from workbench.literals import FATES, SIDES, row_ids
from workbench.model import DATA, Simulation
from workbench.reasons.labels import key_words
from workbench.untyped import AltairChart, Record, Series, Value

_MOST_BATCHES = 1_000
_MOST_LATE = 2_000
_STEPS = 200
_STRIP, _TRACK = 34, 64
_ROOM = 0.02  # of the axis, at both ends
_RULE = "datum.batch == moment"


def _draw_lanes(scene: Scene) -> Drawing:
    filled = _lanes(scene)
    ends = _ends(scene.simulation, scene.cut.axis)[["batch", "x"]]
    tables = {**filled.tables, "strip": _strip(scene.simulation, scene.cut.axis), "ends": ends}
    counted = "counts" in tables
    layout = _lanes_layout(scene.simulation.names, scene.cut.axis, filled.look, counted)
    title, values = _on_axis(scene)
    return Drawing(layout, tables, title, filled.subtitle, filled.params | values, counted, along="x")


def _draw(scene: Scene) -> Drawing:
    simulation, cut = scene.simulation, scene.cut
    filled = _lanes(scene)
    batches = _batches(simulation, cut.axis, scene)
    late, worst = _late(simulation, cut)
    tables = {
        **filled.tables,
        "strip": _strip(simulation, cut.axis),
        "lag": _lag(simulation, batches),
        "held": _held(simulation, batches),
        "bytes": batches[["batch", "x", "bytes"]].dropna(),
        "late": late,
        "ends": batches[["batch", "x"]],
    }
    title, values = _on_axis(scene)
    counted = "counts" in tables
    layout = _layout(simulation.names, cut.axis, filled.look, counted, len(tables["bytes"]) > 0)
    return Drawing(layout, tables, title, f"{filled.subtitle}{worst}", filled.params | values, counted, along="x")


def _on_axis(scene: Scene) -> tuple[str, Record]:
    """The title, and the parameters that say which stretch of the axis is shown."""
    simulation, cut = scene.simulation, scene.cut
    title = f"{kind_of(simulation.join).label} {'on' if cut.axis.of_times else 'by'} {cut.axis.name}"
    first, last = _extent(simulation, cut.axis)
    low, high = (first, last) if cut.whole else (cut.axis.shown(cut.low), cut.axis.shown(cut.high))
    span = pd.Series(pd.to_datetime([low, high], unit="ms")) if cut.axis.of_times else None
    values = {
        "low": float(low),
        "high": float(high),
        "first": float(first),
        "last": float(last),
        "time_format": "" if span is None else time_format(span),
    }
    return title, values


def _extent(simulation: Simulation, axis: Axis) -> tuple[float, float]:
    """The first and last place of the axis, with some room."""
    full = [places(simulation, side, axis) for side in SIDES if len(simulation.side(side))]
    if not full:
        return 0.0, 1.0
    begin, end = min(int(each.min()) for each in full), max(int(each.max()) for each in full)
    if not axis.of_times:
        begin, end = 0, max(end, int(ends_of_batches(simulation, axis)[-1]))
    low, high = float(axis.shown(begin)), float(axis.shown(end))
    room = (high - low) * _ROOM or 1.0
    return low - room, high + room


def _lanes(scene: Scene) -> _timeline.Lanes:
    """The lanes of the rows in the cut, one by one or counted, with their place ``x`` on the axis."""
    simulation, cut = scene.simulation, scene.cut
    if not many(simulation, cut):
        inside = cut.rows(simulation)
        shown = rows(simulation, inside if cut.whole else with_partners(simulation, inside), scene.reasons)
        x, beyond = np.zeros(len(shown)), np.ones(len(shown), dtype=bool)
        for side in SIDES:
            mine = (shown["side"] == side).to_numpy()
            row = shown["row"].to_numpy()[mine]
            x[mine] = cut.axis.shown(places(simulation, side, cut.axis)[row])
            beyond[mine] = ~np.isin(row, inside[side])
        return _timeline.of_rows(simulation, cut, shown.assign(x=x, beyond=beyond))
    table, step = counts(simulation, cut, scene.moment)
    drawing = _timeline.timeline_counts(table, simulation.names, "", step)
    subtitle = drawing.subtitle
    bars = drawing.tables["counts"]
    for name, edge in (("x", "start"), ("x2", "end")):
        bars[name] = _shown(cut.axis, bars[edge])
    if not cut.axis.of_times:
        bars["start"] = None
        subtitle = subtitle.replace(" s; single rows: choose a shorter time", " micro-batches")
    return _timeline.Lanes(_timeline.Look(), {"counts": bars}, subtitle, drawing.params)


def _shown(axis: Axis, edges: Series) -> AltairChart:
    """The edges of steps, which `counts` gives as times, as a chart has them."""
    return axis.shown(edges.to_numpy().astype("datetime64[us]").astype(np.int64))


def _strip(simulation: Simulation, axis: Axis) -> pd.DataFrame:
    """All rows of both sides, counted by fate along the axis: bars of a strip of height 1."""
    at = np.concatenate([places(simulation, side, axis) for side in SIDES])
    fate = np.concatenate([pd.Index(FATES).get_indexer(simulation.fates[side]["fate"]) for side in SIDES])
    low, length = (int(at.min()), int(np.ptp(at)) + 1) if len(at) else (0, 1)
    width = max(1, -(-length // STEPS))
    rows = np.bincount((at - low) // width * len(FATES) + fate, minlength=STEPS * len(FATES)).reshape(-1, len(FATES))
    top = np.cumsum(rows, axis=1)
    step, code = np.nonzero(rows)
    most = max(1, int(top[:, -1].max()))
    counted = rows[step, code]
    return pd.DataFrame(
        {
            "x": axis.shown(low + step * width),
            "x2": axis.shown(low + (step + 1) * width),
            "y": (top[step, code] - counted) / most,
            "y2": top[step, code] / most,
            "fate": np.array(FATES, dtype=object)[code],
            "rows": counted,
        }
    )


def _batches(simulation: Simulation, axis: Axis, scene: Scene) -> pd.DataFrame:
    """The micro-batches, thinned: ``batch``, ``x`` (how far it had come), ``newest`` (event time), ``bytes``."""
    reported = scene.micro_batches()[["batch", "state_bytes"]]
    frame = _ends(simulation, axis)
    return frame.assign(bytes=frame["batch"].map(reported.set_index("batch")["state_bytes"]).astype(float))


def _ends(simulation: Simulation, axis: Axis) -> pd.DataFrame:
    """The micro-batches, thinned: ``batch``, ``x``, ``newest``."""
    ends = ends_of_batches(simulation, axis)
    newest = ends_of_batches(simulation, EVENT_TIME)
    frame = pd.DataFrame({"batch": np.arange(len(ends)), "x": axis.shown(ends), "newest": newest})
    return thin(frame[newest > np.iinfo(np.int64).min], _MOST_BATCHES)


def _lag(simulation: Simulation, batches: pd.DataFrame) -> pd.DataFrame:
    """How far each watermark was behind the newest row, in seconds, after each micro-batch; none before it began."""
    marks = simulation.outcome.marks
    at = batches[np.array([marks.kinds[batch] == DATA for batch in batches["batch"]], dtype=bool)]
    batch, newest = at["batch"].to_numpy(), at["newest"].to_numpy()
    parts = []
    for name, mark in (
        *((simulation.side(side).name, marks.own[side][batch]) for side in SIDES),
        ("the query", marks.eviction[batch]),
    ):
        behind = np.where(mark > 0, (newest - mark) / 1e6, np.nan)
        parts.append(
            pd.DataFrame(
                {
                    "batch": batch,
                    "x": at["x"].to_numpy(),
                    "stream": name,
                    "behind": behind,
                    "watermark": mark.astype("datetime64[us]"),
                }
            )
        )
    return pd.concat(parts, ignore_index=True).dropna(subset=["behind"])


def _held(simulation: Simulation, batches: pd.DataFrame) -> pd.DataFrame:
    """Rows in state by side after each micro-batch, one side upon the other: from ``y`` to ``y2``."""
    held = simulation.outcome.state_rows()
    batch = batches["batch"].to_numpy()
    foot, parts = np.zeros(len(batch)), []
    for side in SIDES:
        mine = held[side][batch]
        columns = {"batch": batch, "x": batches["x"].to_numpy(), "stream": simulation.side(side).name}
        parts.append(pd.DataFrame({**columns, "y": foot, "y2": foot + mine, "rows": mine}))
        foot = foot + mine
    return pd.concat(parts, ignore_index=True)


def _late(simulation: Simulation, cut: Cut) -> tuple[pd.DataFrame, str]:
    """The late rows of the cut and by how much, the worst of each step where they are many; and the worst in words."""
    parts = []
    inside = cut.rows(simulation)
    for side in SIDES:
        stream = simulation.side(side)
        row, behind = late_rows(simulation, side, inside[side])
        parts.append(
            pd.DataFrame(
                {
                    "side": side,
                    "row": row,
                    "stream": stream.name,
                    "x": cut.axis.shown(places(simulation, side, cut.axis)[row]),
                    "time": stream.event_times[row].astype("datetime64[us]"),
                    "batch": stream.arrival[row],
                    "behind": behind,
                }
            )
        )
    every = pd.concat([part for part in parts if len(part)] or parts, ignore_index=True).assign(rows=1)
    worst = f" · the latest {every['behind'].max():,.6g} s behind the watermark" if len(every) else ""
    if len(every) > _MOST_LATE:
        step = np.floor((every["x"] - every["x"].min()) / max(1e-9, np.ptp(every["x"])) * _STEPS)
        every["rows"] = every.groupby([step, "side"])["behind"].transform("size")
        every = every.loc[every.groupby([step, "side"])["behind"].idxmax()].sort_values("side", kind="stable")
    ids: list[str] = []
    keys: list[str] = []
    for side in SIDES:
        row = every["row"].to_numpy()[every["side"] == side]
        ids += row_ids(side, row.tolist())
        keys += key_words(simulation.side(side), row).tolist()
    return every.drop(columns="row").assign(row_id=ids, key=keys), worst


@layout
def _lanes_layout(names: tuple[str, str], axis: Axis, look: _timeline.Look, counted: bool) -> AltairChart:
    return _together([_overview(axis), _lanes_track(names, axis, look, counted)], look)


def _lanes_track(names: tuple[str, str], axis: Axis, look: _timeline.Look, counted: bool) -> AltairChart:
    top = axis.x("x", orient="top", offset=2)
    if counted:
        layers = _timeline.count_lanes(names, top, "x2")
    else:
        layers = _timeline.lanes(names, look, top, "other_x", alone=False)
    words = "rows counted by fate" if counted else "rows, lines join matched pairs · height: key"
    height = 300 if look.behind == "strip" else 250
    return _track([*layers, _moment_rule(axis)], words, height)


@layout
def _layout(names: tuple[str, str], axis: Axis, look: _timeline.Look, counted: bool, measured: bool) -> AltairChart:
    grid = axis.x("x", labels=False, ticks=False, domain=False)
    rule = _moment_rule(axis)
    tracks = [
        _overview(axis),
        _lanes_track(names, axis, look, counted),
        _track([*_lag_layers(names, grid), rule], "watermark lag: behind the newest row, in seconds"),
        _track([*_held_layers(names, grid), rule], "rows in state"),
    ]
    if measured:
        size = alt.Chart(alt.NamedData("bytes")).mark_area(interpolate="step-after", color="#9aa5b1", clip=True)
        y = alt.Y("bytes:Q", title=None, axis=_few_ticks())
        size = size.encode(x=grid, y=y, tooltip=_batch_tooltip([alt.Tooltip("bytes:Q", format=",")]))
        tracks.append(_track([size, rule], "bytes in state", height=40))
    tracks.append(_track([*_late_layers(grid), rule], "late rows: behind the watermark, in seconds"))
    return _together(tracks, look)


def _together(tracks: Sequence[AltairChart], look: _timeline.Look) -> AltairChart:
    """Tracks below each other, each with scales of its own."""
    values = _timeline.first_values(look) | {"first": 0, "last": 1, "hovered": ""}
    apart = alt.ScaleResolveMap(x="independent", y="independent", color="independent", shape="independent")
    return looks(alt.vconcat(*tracks, spacing=8, resolve=alt.Resolve(scale=apart)), values)


def _track(layers: Sequence[Value], words: str, height: int = _TRACK) -> AltairChart:
    return alt.layer(*layers, width=WIDTH, height=height, title=panel_title(words))


def _few_ticks() -> alt.Axis:
    return alt.Axis(format="~s", tickCount=3, grid=True)


def _moment_rule(axis: Axis) -> alt.Chart:
    """Where the micro-batch that is the moment had come to."""
    rule = alt.Chart(alt.NamedData("ends")).transform_filter(_RULE)
    return rule.mark_rule(color="#111111", strokeDash=[3, 3], clip=True).encode(x=axis.x("x"))


def _overview(axis: Axis) -> AltairChart:
    """All rows in a strip, with the stretch that is shown."""
    x = axis.x("x", ends=("first", "last"), hidden=True)
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[0, 1]))
    bars = alt.Chart(alt.NamedData("strip")).mark_rect(clip=True)
    tooltip = [tooltips.FATE, tooltips.ROWS]
    drawn = bars.encode(
        x=x, x2=alt.X2("x2"), y=y, y2=alt.Y2("y2"), color=fate_colour("fate", legend=False), tooltip=tooltip
    )
    one = alt.Chart(alt.InlineData([{"one": 1}]))
    veil = []
    for ends in ({"x": "first", "x2": "low"}, {"x": "high", "x2": "last"}):
        shade = one.transform_calculate(**ends).mark_rect(color="#8c96a3", opacity=0.35, clip=True)
        veil.append(shade.encode(x=x, x2=alt.X2("x2")))
    return alt.layer(drawn, *veil, width=WIDTH, height=_STRIP)


def _batch_tooltip(more: Sequence[Value]) -> list[Value]:
    return [alt.Tooltip("batch:Q", title="after micro-batch"), *more]


def _lag_layers(names: tuple[str, str], x: alt.X) -> list[Value]:
    own = alt.Chart(alt.NamedData("lag"))
    y = alt.Y("behind:Q", title=None, axis=_few_ticks(), scale=alt.Scale(zero=True))
    scale = alt.Scale(domain=[*names, "the query"], range=[*SIDE_COLOURS, INK])
    colour = alt.Color("stream:N", scale=scale, legend=alt.Legend(title=None, orient="top", symbolSize=90, offset=2))
    width = alt.condition("datum.stream == 'the query'", alt.value(4), alt.value(1.6))
    faint = alt.condition("datum.stream == 'the query'", alt.value(0.35), alt.value(1))
    told = own.transform_calculate(at="utcFormat(datum.watermark, '%Y-%m-%d %H:%M:%S.%L')")
    tooltip = _batch_tooltip(
        [
            tooltips.STREAM,
            tooltips.WATERMARK,
            tooltips.BEHIND,
        ]
    )
    line = own.mark_line(interpolate="step-after", clip=True).encode(
        x=x, y=y, color=colour, detail=alt.Detail("stream:N")
    )
    line = line.encode(strokeWidth=width, opacity=faint)
    dots = told.mark_point(filled=True, size=16, clip=True).encode(x=x, y=y, color=colour, tooltip=tooltip)
    return [line, dots]


def _held_layers(names: tuple[str, str], x: alt.X) -> list[Value]:
    held = alt.Chart(alt.NamedData("held"))
    y = alt.Y("y:Q", title=None, axis=_few_ticks())
    tooltip = _batch_tooltip([tooltips.STREAM, tooltips.ROWS])
    area = held.mark_area(interpolate="step-after", opacity=0.75, clip=True)
    colour = side_scale(names, legend=False)
    dots = held.mark_point(filled=True, size=16, clip=True)
    return [
        area.encode(x=x, y=y, y2=alt.Y2("y2"), color=colour, detail=alt.Detail("stream:N")),
        dots.encode(x=x, y=alt.Y("y2:Q", title=None, axis=_few_ticks()), color=colour, tooltip=tooltip),
    ]


def _late_layers(x: alt.X) -> list[Value]:
    late = alt.Chart(alt.NamedData("late")).transform_filter("datum.batch <= moment")
    y = alt.Y("behind:Q", title=None, axis=_few_ticks(), scale=alt.Scale(zero=True))
    told = late.transform_calculate(at="utcFormat(datum.time, '%Y-%m-%d %H:%M:%S.%L')")
    tooltip: list[Value] = [
        tooltips.STREAM,
        tooltips.KEY,
        tooltips.EVENT_TIME,
        tooltips.BEHIND,
        tooltips.BATCH,
        alt.Tooltip("rows:Q", title="late rows here", format=","),
    ]
    stems = late.transform_calculate(foot="0").mark_rule(color=COLOURS[2], opacity=0.4, clip=True)
    points = told.mark_point(filled=True, shape="cross", size=45, color=COLOURS[2], clip=True)
    return [
        stems.encode(x=x, y=y, y2=alt.Y2("foot:Q")),
        points.encode(x=x, y=y, tooltip=tooltip),
        picked_points("late").encode(x=x, y=y),
    ]


LANES_VIEW = View(
    "lanes",
    "Tracks",
    "The rows of both streams, their pairs and windows: drag over a stretch to look at it, double-click for all.",
    """Lanes of both sides with pairs and windows, and all rows as a strip above them.""",
    _draw_lanes,
    of_axes=True,
    listed="fate == fate",
)
VIEW = View(
    "tracks",
    "Timeline",
    "Rows, watermarks, state and late rows over one axis: drag over a stretch to look at it, double-click for all.",
    """Lanes of both sides with pairs and windows, watermark lag, state and late rows, over one shared axis.""",
    _draw,
    group="Watermark and late",
    of_axes=True,
    listed="fate == fate",
)
