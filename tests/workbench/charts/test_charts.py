"""The charts: what they hold, at 20 events and at 2,000, for every kind of join."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from xml.etree import ElementTree

import altair as alt
import pandas as pd
import pytest
import vl_convert

import generators
import workbench as wb
from workbench import charts
from workbench.counts import counted, have

JOINS = [
    wb.IntervalJoin("0 seconds", "15 seconds", how="left"),
    wb.WindowJoin(wb.Tumbling("10 seconds"), how="full"),
    wb.WindowJoin(wb.Sliding("10 seconds", "4 seconds")),
    wb.WindowJoin(wb.Session("5 seconds")),
    wb.CoGroup(wb.Tumbling("10 seconds")),
    wb.WindowJoin(wb.Sliding("4 seconds", "10 seconds"), how="semi"),
]


def data(chart):
    return chart.to_dict()["datasets"]


def drawn_from(part):
    """The names of the tables that the parts of a layout are drawn from; those it brings itself are ``data-…``."""
    if isinstance(part, list):
        return {name for each in part for name in drawn_from(each)}
    if not isinstance(part, dict):
        return set()
    own = {part["data"]["name"]} if "name" in part.get("data", {}) else set()
    return own.union(*(drawn_from(each) for name, each in part.items() if name != "datasets"))


def shows_its_tables(drawing):
    """Whether each table that has rows is drawn, and no part is drawn from a table that there is not."""
    spec = drawing.chart().to_dict()
    filled = {name for name, table in drawing.tables.items() if len(table)}
    known = set(drawing.tables) | {name for name in spec["datasets"] if name.startswith("data-")}
    return filled <= drawn_from(spec) <= known


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_charts_show_what_the_tables_hold(join):
    run = wb.preview(join, *generators.generate("orders_payments", events=20, rate=2, late=0.2, seed=3))
    timeline = run.charts.timeline()
    points = data(timeline)["rows"]
    assert sorted(row["fate"] for row in points) == sorted(run.rows["fate"])
    assert {row["reason"] for row in points} == set(run.rows["reason"])
    arrival = data(run.charts.arrival())
    assert len(arrival["rows"]) == len(run.rows)
    assert len(arrival["judged"]) == 11
    for chart in (timeline, run.charts.arrival()):
        assert vl_convert.vegalite_to_svg(chart.to_dict()).startswith("<svg")
        text = json.dumps(chart.to_dict())
        assert "event time (UTC)" in text
        assert "tooltip" in text


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_a_partner_that_the_watermark_passed_was_in_reach(join):
    """Of the rows without partner, those that a run with nothing late gives one are counted by themselves."""
    streams = generators.generate("orders_payments", events=400, rate=5, late=0.3, batches=30, seed=3)
    run = wb.preview(join, *streams)
    nothing_late = wb.preview(join, *(each.with_watermark("1 day") for each in streams))
    assert not len(nothing_late.late)
    kept_apart, apart = 0, 0
    for side in ("left", "right"):
        partnered = nothing_late.fates[side]["fate"].eq("matched") & run.fates[side]["fate"].eq("unmatched")
        kept_apart += int(partnered.sum())
        here, there = (set(run.side(each).table["order_id"].to_pylist()) for each in ("left", "right"))
        keys = pd.Series(run.side(side).table["order_id"].to_pylist())
        apart += int((run.fates[side]["fate"].eq("unmatched") & ~partnered & keys.isin(here & there)).sum())
    assert kept_apart > 0 or join == JOINS[-1]
    drawing = run.charts.drawing("misses")
    assert drawing.subtitle.startswith(
        f"{counted(apart, 'row')} {have(apart)} no partner, though the key is on the other side"
    )
    assert drawing.subtitle.endswith(
        f"; {kept_apart:,} more have one within the bounds, for which the watermark had passed"
    ) == (kept_apart > 0)
    assert sum(row["rows"] for row in drawing.tables["rows"].to_dict("records")) == apart


def test_pairs_are_lines(ran):
    run = ran(JOINS[0])
    assert len(data(run.charts.timeline())["lines"]) == run.output["right_order_id"].notna().sum() > 0


def test_two_thousand_rows_are_drawn_and_of_more_counts_that_add_up():
    few = wb.preview(JOINS[0], *generators.generate("orders_payments", events=2_000, late=0.1))
    assert len(data(few.charts.timeline())["rows"]) == len(few.left) + len(few.right)
    many = wb.preview(JOINS[0], *generators.generate("orders_payments", events=20_000, rate=100, late=0.1))
    drawing = many.charts.drawing("timeline")
    assert drawing.aggregated
    counts = drawing.tables["counts"]
    assert len(counts) < 3_000
    for side in ("left", "right"):
        counted = counts[counts["side"] == side].groupby("fate")["rows"].sum().to_dict()
        assert counted == many.fates[side]["fate"].value_counts().to_dict()
    assert f"{len(many.rows):,} rows, counted in steps of" in drawing.subtitle
    low, high = pd.Timestamp("2026-01-01 09:01:00"), pd.Timestamp("2026-01-01 09:01:10")
    near = many.charts.drawing("timeline", between=(low, high))
    assert not near.aggregated
    inside = many.rows["ordered_at"].fillna(many.rows["paid_at"]).between(low, high)
    assert len(near.tables["rows"]) == inside.sum() > 500
    assert many.charts.drawing("arrival").aggregated
    assert many.charts.drawing("arrival").tables["rows"]["rows"].sum() == len(many.rows)


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_a_moment_of_the_run_is_what_spark_held_then(ran, join):
    run = ran(join)
    for batch in run.batches["batch"]:
        moment = run.at(int(batch))
        reported = run.batches.loc[run.batches["batch"] == batch].iloc[0]
        assert moment.arrived == (reported["left_rows"], reported["right_rows"])
        assert (moment.late, moment.out) == (reported["late_rows"], reported["output_rows"])
        if not isinstance(join, wb.CoGroup) and not isinstance(getattr(join, "window", None), wb.Session):
            assert moment.in_state == reported["state_rows"]  # else Spark counts groups
        if batch in (1, 3):
            assert moment.in_state == len(run.state(int(batch))) > 0
        before = run.at(int(batch) - 1).in_state if batch else 0
        assert moment.kept == before - moment.evicted
    rows = run.charts.drawing("timeline", batch=3).tables["rows"]
    assert run.charts.timeline(batch=3).to_dict()["params"] != run.charts.timeline().to_dict()["params"]
    settled = rows[rows["fate"] == "matched"].set_index("row_id")["decided_in"]
    lines = run.charts.drawing("timeline").tables["lines"]
    assert (len(lines) > 0) == (not isinstance(join, wb.WindowJoin) or join.how != "semi")
    if len(lines):
        assert lines.groupby("left")["batch"].min().to_dict().items() <= settled.to_dict().items()
    with pytest.raises(wb.ArgumentError, match="batch: got 99; this run has micro-batches 0 to"):
        run.at(99)


def test_a_wrong_stretch_of_time_is_refused():
    run = wb.preview(JOINS[0], *generators.generate("orders_payments", events=5))
    with pytest.raises(wb.ArgumentError, match="between: got 'soon'; give two event times"):
        run.charts.timeline(between="soon")


def test_charts_that_look_alike_share_a_layout():
    sides = generators.generate("orders_payments", events=50)
    one, other = (wb.preview(wb.IntervalJoin("0 s", upper), *sides).charts for upper in ("5 s", "9 s"))
    for view in VIEWS:
        if view != "windows":
            assert one.drawing(view).layout is other.drawing(view).layout


VIEWS = ("tracks", "timeline", "arrival", "late", "watermarks", "windows", "misses", "state", "keys")


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_every_view_of_every_join_can_be_drawn(join, capfd):
    left, right = generators.generate("orders_payments", events=150, rate=5, late=0.1, idle=("right", 0.4, 0.6), seed=3)
    run = wb.preview(join, left, right)
    for view in VIEWS:
        if view == "windows" and isinstance(join, wb.IntervalJoin):
            with pytest.raises(wb.ArgumentError, match="this join has no windows"):
                run.charts.windows()
            continue
        spec = getattr(run.charts, view)().to_dict()
        assert shows_its_tables(run.charts.drawing(view))
        assert spec["title"]["text"]
        assert compiled_without_warning(spec, capfd)


def compiled_without_warning(spec, capfd):
    """Whether Vega-Lite compiles it and has nothing to say, and Vega draws it."""
    vl_convert.vegalite_to_vega(spec, show_warnings=True)
    assert capfd.readouterr().err == ""
    return vl_convert.vegalite_to_svg(spec).startswith("<svg")


def lines_of(marks):
    """The lines of a Vega chart, those in groups too."""
    for mark in marks:
        if mark["type"] == "line":
            yield mark
        yield from lines_of(mark.get("marks", []))


def test_a_watermark_that_stands_still_is_drawn_in_the_order_of_micro_batches():
    sides = generators.generate(
        "orders_payments", events=200, rate=4, late=0, idle=("right", 0.35, 0.7), trigger="5 seconds", seed=7
    )
    run = wb.preview(wb.IntervalJoin("0 s", "15 s"), *sides)
    own = run.charts.drawing("watermarks").tables["own"]
    assert own["watermark"].duplicated().any()
    lines = list(lines_of(vl_convert.vegalite_to_vega(run.charts.watermarks().to_dict())["marks"]))
    assert len(lines) == 2
    assert all("batch" in json.dumps(each["sort"]) for each in lines)


def test_every_window_is_drawn_or_reached_by_a_stretch():
    sides = generators.generate("orders_payments", events=200, rate=4, late=0, seed=7)
    run = wb.preview(wb.WindowJoin(wb.Session("5 s"), how="left"), *sides)
    spans = run.charts.drawing("windows").tables["spans"]
    assert len(spans) == len(set(run.outcome.groups.index)) > 200
    for _, line in spans.sort_values("start").groupby("line"):  # on a line, one ends before the next begins
        assert (line["start"].to_numpy()[1:] >= line["end"].to_numpy()[:-1]).all()
    many = wb.preview(
        wb.WindowJoin(wb.Session("5 s")), *generators.generate("orders_payments", events=3_000, rate=50, seed=7)
    )
    counted = many.charts.drawing("windows")
    assert counted.aggregated
    low, high = counted.tables["counts"]["start"].iloc[[10, 10]]
    stretch = many.charts.drawing("windows", between=(low, high + pd.Timedelta("1 ms")))
    assert len(stretch.tables["spans"]) > 0 or stretch.aggregated
    moment = many.charts.drawing("windows", between=(low, low))
    assert len(moment.tables["spans"]) == min(
        60, int(moment.subtitle.split(" windows")[0].split()[-1].replace(",", ""))
    )


def test_views_of_an_empty_run_can_be_drawn(capfd):
    run = wb.preview(JOINS[1], *(generators.generate("orders_payments", events=1, unmatched=1, late=0)))
    for view in VIEWS:
        assert compiled_without_warning(getattr(run.charts, view)().to_dict(), capfd)


@pytest.mark.parametrize("join", [JOINS[0], JOINS[3]], ids=repr)
def test_views_of_many_rows_stay_small(join):
    run = wb.preview(join, *generators.generate("orders_payments", events=20_000, rate=500, late=0.3, seed=3))
    for view in VIEWS:
        if view != "windows" or isinstance(join, wb.WindowJoin):
            drawing = run.charts.drawing(view)
            assert len(json.dumps(drawing.chart().to_dict())) < 2_000_000
            assert shows_its_tables(drawing)


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_two_thousand_rows_a_side_are_drawn_in_less_than_two_megabytes(join):
    run = wb.preview(join, *generators.generate("orders_payments", events=2_000, rate=10, late=0.1, seed=3))
    for view in VIEWS:
        if view != "windows" or not isinstance(join, wb.IntervalJoin):
            drawing = run.charts.drawing(view)
            assert len(json.dumps(drawing.chart().to_dict(validate=False))) < 2_000_000
            assert not drawing.aggregated or view == "windows"


@pytest.mark.slow
def test_a_million_rows_a_side_are_counted():
    sides = generators.generate("orders_payments", events=1_000_000, rate=200, late=0.01, batches=20, seed=3)
    run = wb.preview(JOINS[0], *sides)
    for view in VIEWS:
        if view != "windows":
            drawing = run.charts.drawing(view)
            assert len(json.dumps(drawing.columns)) < 300_000
            if view in ("timeline", "arrival"):
                assert "rows, counted in steps of" in drawing.subtitle
    near = run.charts.drawing("timeline", between=("2026-01-01 09:20:00", "2026-01-01 09:20:05"))
    assert 500 < len(near.tables["rows"]) < 4_000
    assert run.why(1_500_000).text


def test_the_delay_that_keeps_all_rows_keeps_all():
    left, right = generators.generate("orders_payments", events=150, rate=5, late=0.1, seed=3)
    run = wb.preview(JOINS[0], left, right)
    title = run.charts.late().to_dict()["title"]
    assert title["text"] == f"{len(run.late)} late rows"
    seconds = float(re.search(r"100% of all rows in time with ([\d.]+) s on both", title["subtitle"]).group(1))
    for delay, late in ((seconds, 0), (seconds - 0.001, 1)):
        again = [each.with_watermark(f"{round(delay * 1000)} ms") for each in (left, right)]
        assert len(wb.preview(JOINS[0], *again).late) == late


def test_names_are_data_not_code():
    nasty = "a' + alert(1) + '\" </script>"
    rows = pd.DataFrame({"id": ["x"], "at": [pd.Timestamp("2026-01-01")]})
    sides = [wb.Stream.from_pandas(rows, nasty + side, key="id", time="at") for side in "lr"]
    chart = wb.preview(JOINS[0], *sides).charts.timeline().to_dict()
    plain = [wb.Stream.from_pandas(rows, f"plain{side}", key="id", time="at") for side in "lr"]
    other = wb.preview(JOINS[0], *plain).charts.timeline().to_dict()
    seen = []

    def check(mine, theirs, place):
        if isinstance(mine, dict):
            assert list(mine) == list(theirs)
            for name in mine:
                if name not in ("name", "views"):  # a layout's own, made of all that is in it
                    check(mine[name], theirs[name], name)
        elif isinstance(mine, list):
            for one, two in zip(mine, theirs, strict=True):
                check(one, two, place)
        elif isinstance(mine, str):
            # in an expression a name is a quoted literal, elsewhere it is data
            name = json.dumps(nasty)[1:-1] if '"plain' in theirs else nasty
            assert mine == theirs.replace("plain", name), place
            seen.append(name in mine)
        else:
            assert mine == theirs

    check(chart, other, "")
    assert any(seen)
    assert vl_convert.vegalite_to_svg(chart).startswith("<svg")


def test_a_chosen_renderer_is_left_alone():
    run = wb.preview(JOINS[0], *generators.generate("orders_payments", events=5))
    with alt.renderers.enable("json"):
        _ = run.charts
        assert alt.renderers.active == "json"


def test_a_moment_is_told_in_the_zone_of_the_streams_and_by_numpys_numbers():
    frame = pd.DataFrame({"k": ["a", "a"], "t": pd.to_datetime(["2026-01-01 10:00", "2026-01-01 10:05"])})
    frame["t"] = frame["t"].dt.tz_localize("Europe/Berlin")
    one, other = wb.frames.sliced(*(wb.Stream.from_pandas(frame, name, "k", "t") for name in ("l", "r")), 2)
    run = wb.preview(wb.IntervalJoin("0 s", "1 s"), one, other)
    number = run.batches["batch"].iloc[1]
    assert run.at(number).watermark == run.batches["watermark"].iloc[1]
    assert run.at(number).watermark.tz is not None
    assert "watermark 2026-01-01 10:00:00" in str(run.at(number))
    assert run.charts.timeline(batch=number).to_dict()


def test_the_chart_of_why_is_shown_without_a_network():
    code = "import altair, workbench as wb, generators\n"
    code += "run = wb.preview(wb.IntervalJoin('0 s', '9 s'), *generators.generate('orders_payments', events=5))\n"
    code += "run.why(0).chart\nprint(altair.renderers.active)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["workbench"], done.stderr[-2000:]


def test_names_in_legends_and_beside_axes_are_not_cut_off():
    left, right = generators.generate("orders_payments", events=30)
    run = wb.preview(wb.IntervalJoin("0 s", "5 s"), left, right)
    for view in charts.views():
        try:
            config = run.charts.drawing(view.name).layout.to_dict(validate=False)["config"]
        except wb.ArgumentError:  # of joins with windows only
            continue
        assert min(config[each]["labelLimit"] for each in ("axis", "legend")) >= 400


def test_the_sessions_of_a_key_have_a_line_that_is_labelled_by_it():
    left, right = generators.generate("page_views_searches", events=60)
    drawing = wb.preview(wb.WindowJoin(wb.Session("2 seconds")), left, right).charts.drawing("windows")
    spans = drawing.tables["spans"]
    assert (spans.groupby("line")["key"].nunique() == 1).all()
    assert (spans.groupby("key")["line"].nunique() == 1).all()
    assert spans["line"].duplicated().any()
    first = ~spans["line"].duplicated()
    assert (spans.loc[first, "label"] == spans.loc[first, "key"]).all()
    assert (spans.loc[~first, "label"] == "").all()
    assert "label" in json.dumps(drawing.layout.to_dict(validate=False))


def test_sessions_of_too_many_keys_share_lines_without_labels():
    many = wb.preview(wb.WindowJoin(wb.Session("1 second")), *generators.generate("orders_payments", events=300))
    spans = many.charts.drawing("windows").tables["spans"]
    shared = spans["line"].duplicated(keep=False)
    assert shared.any()
    assert (spans.loc[shared, "label"] == "").all()


def test_near_misses_that_are_all_as_far_have_a_bar_that_is_seen():
    orders, payments = (
        wb.Stream.from_pandas(
            pd.DataFrame({"k": range(5), "t": pd.Timestamp("2026-01-01") + pd.Timedelta(at, "s")}), name, "k", "t"
        )
        for name, at in (("orders", 0), ("payments", 200))
    )
    run = wb.preview(wb.IntervalJoin("0 seconds", "15 seconds", how="left"), orders, payments)
    drawing = run.charts.drawing("misses")
    bars, bounds = drawing.tables["rows"], drawing.tables["bounds"]["seconds"]
    assert bars["rows"].sum() == 10
    shown = max(bars["to"].max(), bounds.max()) - min(bars["from"].min(), bounds.min())
    assert ((bars["to"] - bars["from"]) >= shown / 100).all()


def heights(drawn, transform=r"translate\([-\d.]+,([-\d.]+)\)", above=0.0):
    """The texts of a picture with their places from its top, each of its groups being moved by its own."""
    for each in drawn:
        moved = re.match(transform, each.get("transform", ""))
        here = above + (float(moved.group(1)) if moved else 0.0)
        if each.tag.endswith("text"):
            yield "".join(each.itertext()), here
        yield from heights(each, transform, here)


def test_the_legend_of_near_misses_covers_no_label_of_a_bound():
    """The names of the streams were printed over "lower bound"."""
    run = wb.preview(wb.IntervalJoin("0 seconds", "4 seconds"), *generators.generate("orders_payments", events=100))
    drawn = vl_convert.vegalite_to_svg(run.charts.misses().to_dict())
    picture = ElementTree.fromstring(drawn)  # noqa: S314 - a picture of ours
    at = dict(heights(picture))
    assert abs(at["orders"] - at["lower bound"]) > 12
