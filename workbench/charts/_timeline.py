"""Both sides of a join as lanes on event time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

import altair as alt
import numpy as np
import pandas as pd

from workbench.arrays import Flags, RowNumbers
from workbench.charts import _tooltips as tooltips
from workbench.charts._drawing import LATEST, PICKED, Drawing
from workbench.charts._rows import Cut, counts, many, pairs, rows
from workbench.charts._style import (
    COLOURS,
    INK,
    OBSTACLE_VALUES,
    PAPER,
    QUIET,
    SHADE,
    TIMES,
    WIDTH,
    ends,
    fate_colour,
    in_steps,
    layout,
    looks,
    moment_text,
    obstacle_shade,
    obstacle_symbols,
    obstacles_in,
    picked_points,
    row_points,
    span_params,
    stream_name,
    thin,
    time_axis,
    time_scale,
    zoom,
)
from workbench.charts._view import Scene, View
from workbench.charts.glyphs import GLYPHS
from workbench.charts.renderer import show_without_network
from workbench.errors import one_of, wrong
from workbench.kinds import kind_of
from workbench.literals import FATES, OBSTACLES, RowId, Sides
from workbench.model import Simulation, is_index
from workbench.reasons.spans import spans
from workbench.streams import SIDES
from workbench.untyped import AltairChart, Record, Value

MOST_LINES = 4_000
MOST_SPANS = 1_000
_LANES = (1.5, 0.5)
_HEIGHT = 0.78  # of a lane, for the spread of keys
_FOOT = -0.6  # how far the strip of overlapping windows reaches below the lanes
_FEW, _SOME = 30, 1_000
_MOST_WORDS = 200
_LETTER, _LINE, _NARROW = 5, 12, 560  # pixels: of a letter and a line of words in bars, and of a narrow chart's width
_LANE = 150  # pixels of a lane


def timeline(
    rows: pd.DataFrame,
    pairs: pd.DataFrame,
    spans: pd.DataFrame,
    *,
    names: Sequence[str],
    title: str,
    reach: tuple[timedelta, timedelta] | None = None,
    marks: pd.DataFrame | None = None,
) -> Drawing:
    """Both sides as lanes on event time, with lines between matched pairs, and fates by colour and shape.

    Parameters
    ----------
    rows
        Columns ``row_id``, ``side`` (left, right), ``key`` (text), ``time``, ``batch``, ``fate``, ``decided_in`` (the
        micro-batch in which the fate is known), ``evicted_in`` (the one at whose end it is no longer in state), where
        known ``obstacle`` (what kept an unmatched row from a partner, an `Obstacle`) and, if wanted in tooltips,
        ``reason``.
    pairs
        Columns ``left``, ``right`` (row_ids), ``batch`` (in which they met).
    spans
        The windows behind: columns ``start``, ``end``, ``opened``, ``closed`` (micro-batches; the last is `LATEST`
        where it is still open) and ``key`` (of the session it is; missing for windows that hold for all keys).
    names
        The names of the two streams.
    title
        The chart's title.
    reach
        An interval join's bounds: the interval of a left row is shown when it is pointed at or picked.
    marks
        The query's watermark, shown while a moment is chosen: columns ``batch``, ``watermark``.
    """
    filled = fill(rows, pairs, spans, reach, marks)
    layout = _layout(tuple(names), filled.look)
    return Drawing(layout, filled.tables, title, filled.subtitle, filled.params, along="x")


@dataclass(frozen=True)
class Look:
    """What the layout of the lanes depends on.

    Attributes
    ----------
    behind
        The windows that lie behind: ``bands``, ``strip``, ``sessions`` or ``none``.
    few, interval, watermark
        Whether keys are written beside the rows, a left row's interval is shown, the query's watermark is shown.
    gaps, words
        Whether the windows have gaps at their ends, and words.
    """

    behind: str = "none"
    few: bool = False
    interval: bool = False
    watermark: bool = False
    gaps: bool = False
    words: bool = False


@dataclass(frozen=True, eq=False)
class Lanes:
    """Both lanes as tables and parameters."""

    look: Look
    tables: dict[str, pd.DataFrame]
    subtitle: str
    params: Record


def fill(
    rows: pd.DataFrame,
    pairs: pd.DataFrame,
    spans: pd.DataFrame,
    reach: tuple[timedelta, timedelta] | None,
    marks: pd.DataFrame | None,
) -> Lanes:
    """The tables and parameters of both lanes; the arguments are those of `timeline`.

    Rows may have a column ``beyond``: those that lie beyond what is shown, to which lines lead.
    """
    placed = _placed(rows)
    lines = _lines(placed, pairs)
    if "beyond" in placed:
        rows, shown = rows[~rows["beyond"]], placed[~placed["beyond"]].drop(columns="beyond")
    else:
        shown = placed
    few = len(shown) <= _FEW
    windows = spans[spans["key"].isna()].sort_values("start")
    note = ""
    if len(windows) > MOST_SPANS:
        note = f" · {len(windows):,} windows, too narrow to be drawn"
        windows = windows.iloc[:0]
    crossing = bool((windows["start"].iloc[1:].to_numpy() < windows["end"].iloc[:-1].to_numpy()).any())
    sessions = thin(spans[spans["key"].isin(shown["key"])], MOST_SPANS)
    tables = {"rows": shown.drop(columns="row", errors="ignore"), "lines": lines}
    if marks is not None:
        tables["marks"] = marks
    if few:
        tables["names"] = _key_names(shown)
    behind = "none"
    if len(sessions):
        behind, tables["spans"] = "sessions", _session_bars(sessions, shown)
    elif len(windows):
        behind, tables["spans"] = ("strip", _strip(windows)) if crossing else ("bands", _bands(windows))
    values = (
        span_params(*ends(shown["time"]))
        | obstacles_in(shown)
        | {
            "size": 110 if few else 28 if len(shown) <= _SOME else 16,
            "line_opacity": 0.55 if few else max(0.05, min(0.25, 40 / max(1, len(lines)))),
        }
    )
    if reach is not None:
        values |= {
            name: bound / timedelta(milliseconds=1) for name, bound in zip(("lower", "upper"), reach, strict=True)
        }
    told = behind == "sessions" and len(sessions) <= _MOST_WORDS and bool(sessions["words"].notna().any())
    gaps = behind == "sessions" and bool(sessions["last"].notna().any())
    look = Look(behind, few, reach is not None, marks is not None, gaps, told)
    return Lanes(look, tables, _counts(rows) + note, values)


def timeline_counts(table: pd.DataFrame, names: Sequence[str], title: str, step: pd.Timedelta) -> Drawing:
    """Rows too many to be drawn, counted by fate in steps of event time.

    Parameters
    ----------
    table
        Columns ``side``, ``start``, ``end``, ``fate``, ``rows`` and, where known, ``obstacle`` (of unmatched rows).
    names, title
        As in `timeline`.
    step
        How long a step is.
    """
    bars = table if "obstacle" in table else table.assign(obstacle="")
    bars = bars.assign(order=bars["obstacle"].map(("", *OBSTACLES).index)).sort_values(
        ["side", "start", "fate", "order"]
    )
    bars = bars.drop(columns="order")
    together = bars.groupby(["side", "start"])["rows"]
    most = bars["side"].map(together.sum().groupby("side").max())
    floor = np.where(bars["side"] == "left", *_LANES) - _HEIGHT / 2
    top = together.cumsum()
    bars["y"] = floor + (top - bars["rows"]) / most * _HEIGHT
    bars["y2"] = floor + top / most * _HEIGHT
    total = int(table["rows"].sum())
    summed = table.groupby("fate")["rows"].sum()
    words = " · ".join(f"{summed[fate]:,} {fate}" for fate in FATES if fate in summed.index)
    subtitle = f"{words} · {in_steps(total, step)}"
    return Drawing(
        _counts_layout(tuple(names)),
        {"counts": bars},
        title,
        subtitle,
        span_params(*ends(bars["start"], bars["end"])) | obstacles_in(bars),
        True,
        along="x",
    )


@layout
def _counts_layout(names: tuple[str, str]) -> AltairChart:
    x = alt.X("start:T", title="event time (UTC)", axis=time_axis(), scale=time_scale())
    chart = alt.layer(*count_lanes(names, x)).add_params(zoom(encodings=["x"]))
    return looks(chart, TIMES | OBSTACLE_VALUES | {"moment": LATEST, "picked": []}, width=WIDTH, height=300)


def count_lanes(names: tuple[str, str], x: alt.X, to: str = "end") -> list[Value]:
    """Both lanes with bars of counted rows, which begin at `x` and end at `to`; the unmatched ones by obstacle."""
    heights = dict(zip(_LANES, names, strict=True))
    why = " : ".join(f"datum.obstacle == '{each}' ? '{GLYPHS[each].words}'" for each in OBSTACLES)
    tooltip = [
        tooltips.STREAM,
        alt.Tooltip("from:N"),
        tooltips.FATE,
        alt.Tooltip("why:N"),
        tooltips.ROWS,
    ]
    y = alt.Y("y:Q", scale=alt.Scale(domain=[0, 2], nice=False), axis=_lane_axis(heights))
    bars = (
        alt.Chart(alt.NamedData("counts"))
        .transform_calculate(**{"stream": stream_name(names), "from": moment_text("start"), "why": f"{why} : ''"})
        .encode(x=x, x2=to, y=y, y2=alt.Y2("y2:Q"), tooltip=tooltip)
    )
    told = bars.transform_filter("datum.obstacle != ''")
    others = bars.transform_filter("datum.obstacle == ''").mark_rect(clip=True)
    shades = told.mark_rect(clip=True, strokeWidth=0.6)
    edge = alt.condition("datum.obstacle == 'key'", alt.value(COLOURS[1]), alt.value(None))
    symbols = told.mark_point(filled=True, size=0, clip=True)
    parts = (
        others.encode(color=fate_colour("fate")),
        shades.encode(color=obstacle_shade(), stroke=edge),
        symbols.encode(**obstacle_symbols()),
    )
    return [alt.layer(*parts).resolve_scale(color="independent", shape="independent")]


@layout
def _layout(names: tuple[str, str], look: Look) -> AltairChart:
    x = alt.X("time:T", title="event time (UTC)", axis=time_axis(), scale=time_scale())
    chart = alt.layer(*lanes(names, look, x)).add_params(zoom(encodings=["x"]))
    return looks(chart, first_values(look), width=WIDTH, height=340 if look.behind == "strip" else 300)


def first_values(look: Look) -> Record:
    """The first values of the parameters of `lanes`."""
    values = TIMES | {"size": 28, "line_opacity": 0.4, "moment": LATEST, "picked": [], "nearest": "", "gap": ""}
    values |= OBSTACLE_VALUES
    return values | ({"lower": 0, "upper": 0} if look.interval else {})


def lanes(names: tuple[str, str], look: Look, x: alt.X, to: str = "other_time", alone: bool = True) -> list[Value]:
    """The layers of both lanes: what lies behind the rows, lines between pairs, the rows.

    Parameters
    ----------
    names
        The names of the two streams.
    look
        What they depend on.
    x, to
        The place of a row, and of the other end of a line.
    alone
        Whether they are all of the chart; else the parameter ``hovered`` holds the row that is pointed at, since a
        part of a chart cannot filter by a selection.
    """
    behind, crossing = look.behind, look.behind == "strip"
    heights = dict(zip(_LANES, names, strict=True)) | ({_FOOT / 2: "windows"} if crossing else {})
    y = alt.Y("y:Q", scale=alt.Scale(domain=[_FOOT if crossing else 0, 2], nice=False), axis=_lane_axis(heights))
    place: Record = {"x": x, "y": y}
    layers: list[Value] = []
    if behind == "bands":
        layers += _band_layers(x)
    elif behind != "none":
        layers.append(_rectangles("spans", "#b9cbe0" if crossing else SHADE, behind == "sessions"))
    pointed = alt.selection_point(name="pointed", fields=["row_id"], on="pointerover", clear="pointerout", empty=False)
    if look.gaps:
        layers.append(_gaps())
    if look.interval:
        layers.append(_interval({"param": "pointed", "empty": False} if alone else "datum.row_id == hovered"))
    borders = pd.DataFrame({"y": [1.0, 0.0] if crossing else [1.0]})
    layers.append(
        alt.Chart(alt.InlineData(borders.to_dict("records"))).mark_rule(color="#c3c9d0", strokeDash=[2, 3]).encode(y=y)
    )
    line = alt.Chart(alt.NamedData("lines")).transform_filter("datum.batch <= moment")
    ends_at: Record = {"x": x, "x2": alt.X2(to), "y": y, "y2": alt.Y2("other_y:Q")}
    layers.append(line.mark_rule(color=COLOURS[0], clip=True, opacity=alt.ExprRef("line_opacity")).encode(**ends_at))
    is_picked = "indexof(picked, datum.left) >= 0 || indexof(picked, datum.right) >= 0"
    is_pointed = "" if alone else " || datum.left == hovered || datum.right == hovered"
    chosen = line.transform_filter(is_picked + is_pointed)
    layers.append(chosen.mark_rule(color="#111111", strokeWidth=2, clip=True).encode(**ends_at))
    if look.watermark:
        layers += _watermark()
    points = row_points(names, place)
    layers.append(points.add_params(pointed) if alone else points)
    layers.append(picked_points().encode(**place))
    layers += _gap(place)
    if look.words:
        layers.append(_words())
    if look.few:
        names_of = alt.Chart(alt.NamedData("names")).transform_filter("datum.batch <= moment")
        layers.append(
            names_of.mark_text(align="left", dx=9, fontSize=11, color=QUIET).encode(**place, text=alt.Text("key:N"))
        )
    return layers


def _counts(rows: pd.DataFrame) -> str:
    counts = rows["fate"].value_counts()
    return " · ".join(f"{counts[fate]:,} {fate}" for fate in FATES if counts.get(fate)) or "no rows"


def _lane_axis(lanes: dict[float, str]) -> alt.Axis:
    label = " : ".join(f"abs(datum.value - {place}) < 0.01 ? {json.dumps(name)}" for place, name in lanes.items())
    return alt.Axis(
        values=list(lanes),
        labelExpr=f"{label} : ''",
        title=None,
        grid=False,
        ticks=False,
        domain=False,
        labelPadding=8,
    )


def _placed(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with a height ``y``: their lane, and in it a place for each key, the same on both sides."""
    codes, keys = pd.factorize(rows["key"], sort=True)
    spread = (codes % 24) / 23 - 0.5 if len(keys) > 24 else (codes + 0.5) / max(1, len(keys)) - 0.5
    lane = np.where(rows["side"] == "left", *_LANES)
    return rows.assign(y=lane - spread * _HEIGHT)


def _key_names(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.drop_duplicates(["key", "side"])[["key", "time", "y", "batch"]]


def _lines(rows: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    index = pd.Index(rows["row_id"])
    left, right = index.get_indexer(pairs["left"]), index.get_indexer(pairs["right"])
    seen = pairs.assign(one=left, other=right)[(left >= 0) & (right >= 0)]
    seen = seen.drop_duplicates(["left", "right"]).head(MOST_LINES)
    one, other = seen.pop("one").to_numpy(), seen.pop("other").to_numpy()
    for name in ("time", "x", "y"):
        if name in rows:
            values = rows[name].to_numpy()
            seen = seen.assign(**{name: values[one], f"other_{name}": values[other]})
    return seen


def _bands(windows: pd.DataFrame) -> pd.DataFrame:
    """Windows that follow one another, every other one shaded."""
    return windows.drop(columns="key").assign(shaded=np.arange(len(windows)) % 2 == 0)


def _strip(windows: pd.DataFrame) -> pd.DataFrame:
    """Windows that overlap as bars in a strip below the lanes."""
    rows = _stacked(windows)
    step = -_FOOT / (rows.max() + 1)
    return windows.drop(columns="key").assign(y=-rows * step - step * 0.12, y2=-(rows + 1) * step + step * 0.12)


def _session_bars(sessions: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Sessions as bars at the height of their key, in both lanes."""
    heights = rows.drop_duplicates(["key", "side"])[["key", "y"]]
    bars = sessions.merge(heights, on="key")
    half = _HEIGHT / 2 / max(1, min(24, rows["key"].nunique()))
    label = bars["words"].where(_has_room(bars, rows["time"].min(), rows["time"].max()))
    return bars.assign(y2=bars["y"] - half, y=bars["y"] + half, label=label)


def _has_room(bars: pd.DataFrame, first: pd.Timestamp, last: pd.Timestamp) -> Flags:
    """Whether the words of a bar meet neither those of a bar before it, at its height or close to it, nor the end."""
    found = np.zeros(len(bars), dtype=bool)
    if len(bars) > _MOST_WORDS:  # no words are shown
        return found
    kept: list[tuple[float, pd.Timestamp]] = []
    order = np.argsort(bars["start"].to_numpy(), kind="stable")
    listed = bars[["start", "y", "words"]].iloc[order]
    for place, (start, y, words) in zip(order.tolist(), listed.itertuples(index=False), strict=True):
        letters = len(words) if isinstance(words, str) else 0
        end = max(start, first) + (last - first) * (letters * _LETTER / _NARROW)
        if letters and end <= last and all(abs(y - other) * _LANE >= _LINE or start >= until for other, until in kept):
            found[place] = True
            kept.append((y, end))
    return found


_OPENED = "datum.opened <= moment"
_SPAN_WORDS = {"from": moment_text("start"), "to": moment_text("end")}
_IS_OPEN = "datum.closed > moment && moment < 1e9"
"""Whether a window is open at the moment; shown only while a moment is chosen."""


def _span_tooltip(key: bool = False) -> list[alt.Tooltip]:
    edges = [alt.Tooltip("from:N"), alt.Tooltip("to:N"), alt.Tooltip("opened:Q", title="opened in micro-batch")]
    edges.append(alt.Tooltip("closes:N", title="closed in micro-batch"))
    return [tooltips.KEY, *edges, alt.Tooltip("words:N", title="rule")] if key else edges


def _spans(table: str) -> alt.Chart:
    closes = f"datum.closed < {LATEST} ? '' + datum.closed : 'still open'"
    return alt.Chart(alt.NamedData(table)).transform_filter(_OPENED).transform_calculate(**_SPAN_WORDS, closes=closes)


def _band_layers(x: alt.X) -> list[alt.Chart]:
    place: Record = {
        "x": alt.X("start:T", scale=time_scale()),
        "x2": alt.X2("end:T"),
        "tooltip": _span_tooltip(),
    }
    shade = alt.condition(f"{_IS_OPEN}", alt.value("#fbe3b0"), alt.value(SHADE))
    strength = alt.condition(f"datum.shaded || ({_IS_OPEN})", alt.value(0.55), alt.value(0))
    return [
        _spans("spans").mark_rect(clip=True).encode(**place, color=shade, opacity=strength),
        _spans("spans").mark_rule(color="#c3cfdb", strokeWidth=1, clip=True).encode(x=place["x"]),
    ]


def _gaps() -> alt.Chart:
    """The gap that ends a session, after its last row."""
    drawn = _spans("spans").mark_rect(clip=True, fillOpacity=0, stroke="#8c96a3", strokeDash=[3, 2], strokeWidth=1)
    return drawn.encode(x=alt.X("last:T", scale=time_scale()), x2=alt.X2("end:T"), y=alt.Y("y:Q"), y2=alt.Y2("y2:Q"))


def _words() -> alt.Chart:
    """What right rows say, in their own lane, from when they are in force."""
    told = (
        _spans("spans")
        .transform_filter("datum.y < 1 && isValid(datum.label)")
        .transform_filter(f"(high - time(datum.start)) / (high - low) * room >= {_LETTER} * length(datum.label)")
        .transform_calculate(middle="(datum.y + datum.y2) / 2")
    )
    text = told.mark_text(align="left", baseline="bottom", dx=5, dy=-3, fontSize=9, color=INK, clip=True)
    return text.encode(x=alt.X("start:T", scale=time_scale()), y=alt.Y("middle:Q"), text=alt.Text("label:N"))


def _rectangles(table: str, colour: str, key: bool) -> alt.Chart:
    return (
        _spans(table)
        .mark_rect(opacity=0.7, cornerRadius=3, stroke=PAPER, strokeWidth=1.5, clip=True)
        .encode(
            x=alt.X("start:T", scale=time_scale()),
            x2=alt.X2("end:T"),
            y=alt.Y("y:Q"),
            y2=alt.Y2("y2:Q"),
            color=alt.condition(_IS_OPEN, alt.value("#f7cf7e"), alt.value(colour)),
            tooltip=_span_tooltip(key),
        )
    )


def _watermark() -> list[Value]:
    """The query's watermark at the moment."""
    mark = alt.Chart(alt.NamedData("marks")).transform_filter("datum.batch == moment")
    at = {"x": alt.X("watermark:T", scale=time_scale())}
    labels = mark.mark_text(align="left", baseline="top", dx=4, dy=2, fontSize=11, clip=True)
    return [
        mark.mark_rule(color="#111111", strokeDash=[5, 3], clip=True).encode(**at),
        labels.encode(**at, y=alt.value(0), text=alt.value("watermark")),
    ]


def _gap(place: Record) -> list[Value]:
    """The nearest row of the other side to a row that is picked and not matched, and how far it is from it."""
    is_nearest = "nearest != '' && datum.row_id == nearest"
    both = alt.Chart(alt.NamedData("rows")).transform_filter(
        f"{is_nearest} || (nearest != '' && datum.row_id == picked[0])"
    )
    line = both.mark_line(color=COLOURS[2], strokeDash=[4, 3], strokeWidth=1.5, clip=True)
    end = alt.Chart(alt.NamedData("rows")).transform_filter(is_nearest)
    ring = end.mark_point(shape="circle", size=200, strokeWidth=1.5, color=COLOURS[2], filled=False, clip=True)
    words = {"fontSize": 12, "fontWeight": "bold", "dy": -18}
    told = [
        named.mark_text(align=align, color=colour, **words, **stroke)
        for align, named in _aligned(end.transform_calculate(words="gap"), place["x"])
        for colour, stroke in ((PAPER, {"stroke": PAPER, "strokeWidth": 4}), (COLOURS[2], {}))
    ]
    text = alt.Text("words:N")
    return [line.encode(**place), ring.encode(**place), *(each.encode(**place, text=text) for each in told)]


def _aligned(chart: AltairChart, x: alt.X) -> list[tuple[Literal["left", "center", "right"], AltairChart]]:
    """Words at some marks, aligned so that the ends of the axis cut none."""
    name = str(x.shorthand).partition(":")[0]
    if "[low, high]" not in str(x.to_dict()):  # not along an axis that zooms
        return [("center", chart)]
    at = f"(+datum['{name}'] - low) / (high - low)"
    return [
        ("left", chart.transform_filter(f"{at} < 0.25")),
        ("center", chart.transform_filter(f"{at} >= 0.25 && {at} <= 0.75")),
        ("right", chart.transform_filter(f"{at} > 0.75")),
    ]


def _interval(pointed: Any) -> alt.Chart:
    """The interval of the left row that is pointed at, or picked alone, in the right lane."""
    chosen: Any = {"or": [pointed, "length(picked) == 1 && datum.row_id == picked[0]"]}
    return (
        alt.Chart(alt.NamedData("rows"))
        .transform_filter("datum.side == 'left'")
        .transform_filter(chosen)
        .transform_calculate(start="+datum.time + lower", end="+datum.time + upper", foot="0.02", top="0.98")
        .mark_rect(color="#f3d9a4", opacity=0.5, cornerRadius=3, clip=True)
        .encode(x=alt.X("start:T", scale=time_scale()), x2=alt.X2("end:T"), y=alt.Y("foot:Q"), y2=alt.Y2("top:Q"))
    )


def _stacked(frame: pd.DataFrame) -> RowNumbers:
    """For each window, in order of start, the lowest row in which it overlaps none before it."""
    free: list[Value] = []
    rows = []
    for start, end in zip(frame["start"], frame["end"], strict=True):
        row = next((place for place, until in enumerate(free) if until <= start), len(free))
        free[row : row + 1] = [end]
        rows.append(row)
    return np.array(rows)


def _draw(scene: Scene) -> Drawing:
    simulation, cut = scene.simulation, scene.cut
    title = f"{kind_of(simulation.join).label} on event time"
    if many(simulation, cut):
        table, step = counts(simulation, cut, scene.moment)
        return timeline_counts(table, simulation.names, title, step)
    filled = of_rows(simulation, cut, rows(simulation, cut.rows(simulation), scene.reasons))
    layout = _layout(simulation.names, filled.look)
    return Drawing(layout, filled.tables, title, filled.subtitle, filled.params, along="x")


def of_rows(simulation: Simulation, cut: Cut, shown: pd.DataFrame) -> Lanes:
    """The lanes of rows that are few enough to be drawn one by one."""
    eviction = simulation.outcome.marks.eviction
    marks = pd.DataFrame({"batch": np.arange(len(eviction)), "watermark": eviction.astype("datetime64[us]")})
    behind, met = spans(simulation), pairs(simulation, shown)
    if cut.axis.name != "event time":  # along which there are no windows, and no interval
        return fill(shown, met, behind.iloc[:0], None, None)
    return fill(shown, met, _near(behind, cut), _reach(simulation), marks)


def of_key(simulation: Simulation, row: RowId) -> alt.LayerChart:
    """The timeline of all rows of one row's key.

    Raises
    ------
    ArgumentError
        If there is no such row.
    """
    one_of("side", row.side, SIDES)
    stream = simulation.side(row.side)
    if not is_index(row.row, len(stream)):
        raise wrong("row", row.row, f"{stream.name} has rows 0 to {len(stream) - 1}")
    keys = Sides(*simulation.outcome.keys)
    code = keys[row.side][row.row]
    shown = rows(simulation, {side: np.flatnonzero(keys[side] == code) for side in keys}, reasons=False)
    key = shown["key"].iloc[0]
    behind = spans(simulation)
    behind = behind[(behind["key"].isna() | (behind["key"] == key)) & (behind["start"] <= shown["time"].max())]
    behind = behind[behind["end"] >= shown["time"].min()]
    met = pairs(simulation, shown)
    drawing = timeline(shown, met, behind, names=simulation.names, title=f"Key {key}", reach=_reach(simulation))
    drawing.params[PICKED] = [str(row)]
    show_without_network()
    chart: alt.LayerChart = drawing.chart().properties(height=180)
    return chart


def _near(spans: pd.DataFrame, cut: Cut) -> pd.DataFrame:
    if cut.whole:
        return spans
    low, high = (pd.Timestamp(each, unit="us") for each in (cut.low, cut.high))
    return spans[(spans["end"] > low) & (spans["start"] <= high)]


def _reach(simulation: Simulation) -> tuple[timedelta, timedelta] | None:
    bounds = kind_of(simulation.join).interval(simulation.join)
    return None if bounds is None else (timedelta(microseconds=bounds[0]), timedelta(microseconds=bounds[1]))


VIEW = View(
    "timeline",
    "",
    "Both streams on event time: windows or intervals, matched pairs, fates.",
    """Both sides as lanes on event time: windows or intervals behind, matched pairs joined, fate by colour.""",
    _draw,
)
