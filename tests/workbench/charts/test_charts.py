"""The charts: what they hold, at 20 events and at 2,000, for every kind of join."""

from __future__ import annotations

import json
import re

import altair as alt
import pandas as pd
import pytest
import vl_convert

import generators
import workbench as wb

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


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_charts_show_what_the_tables_hold(spark, join):
    run = wb.run(join, *generators.generate("orders_payments", events=20, rate=2, late=0.2, seed=3))
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


def test_pairs_are_lines(spark):
    run = wb.run(JOINS[0], *generators.generate("orders_payments", events=20, rate=2, late=0, seed=3))
    assert len(data(run.charts.timeline())["lines"]) == run.output["right_order_id"].notna().sum()


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
def test_a_moment_of_the_run_is_what_spark_held_then(spark, join):
    run = wb.run(join, *generators.generate("orders_payments", events=60, rate=2, late=0.1, seed=5))
    for batch in run.batches["batch"]:
        moment = run.at(int(batch))
        told = run.batches.loc[run.batches["batch"] == batch].iloc[0]
        assert moment.arrived == (told["left_rows"], told["right_rows"])
        assert (moment.late, moment.out) == (told["late_rows"], told["output_rows"])
        if isinstance(join, wb.WindowJoin) and isinstance(join.window, wb.Tumbling):
            assert moment.in_state == told["state_rows"] == len(run.state(int(batch)))
        before = run.at(int(batch) - 1).in_state if batch else 0
        assert moment.kept == before - moment.evicted
    rows = run.charts.drawing("timeline", batch=3).tables["rows"]
    assert run.charts.timeline(batch=3).to_dict()["params"] != run.charts.timeline().to_dict()["params"]
    settled = rows[rows["fate"] == "matched"].set_index("row_id")["settled"]
    lines = run.charts.drawing("timeline").tables["lines"]
    if len(lines):
        assert lines.groupby("left")["batch"].min().to_dict().items() <= settled.to_dict().items()
    with pytest.raises(wb.ArgumentError, match="batch: got 99; this run has micro-batches 0 to"):
        run.at(99)


def test_a_wrong_stretch_of_time_is_told():
    run = wb.preview(JOINS[0], *generators.generate("orders_payments", events=5))
    with pytest.raises(wb.ArgumentError, match="between: got 'soon'; give two event times"):
        run.charts.timeline(between="soon")


def test_charts_that_look_alike_share_a_layout():
    sides = generators.generate("orders_payments", events=50)
    one, other = (wb.preview(wb.IntervalJoin("0 s", upper), *sides).charts for upper in ("5 s", "9 s"))
    for view in VIEWS:
        if view != "windows":
            assert one.drawing(view).layout is other.drawing(view).layout


VIEWS = ("timeline", "arrival", "late", "watermarks", "windows", "misses", "state")


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_every_view_of_every_join_can_be_drawn(spark, join):
    left, right = generators.generate("orders_payments", events=150, rate=5, late=0.1, idle=("right", 0.4, 0.6), seed=3)
    run = wb.run(join, left, right)
    for view in VIEWS:
        if view == "windows" and isinstance(join, wb.IntervalJoin):
            with pytest.raises(wb.ArgumentError, match="an interval join has no windows"):
                run.charts.windows()
            continue
        spec = getattr(run.charts, view)().to_dict()
        assert spec["title"]["text"]
        assert vl_convert.vegalite_to_svg(spec).startswith("<svg")


def test_views_of_an_empty_run_can_be_drawn(spark):
    run = wb.run(JOINS[1], *(generators.generate("orders_payments", events=1, unmatched=1, late=0)))
    for view in VIEWS:
        assert vl_convert.vegalite_to_svg(getattr(run.charts, view)().to_dict()).startswith("<svg")


@pytest.mark.parametrize("join", [JOINS[0], JOINS[3]], ids=repr)
def test_views_of_many_rows_stay_small(spark, join):
    left, right = generators.generate("orders_payments", events=20_000, rate=500, late=0.3, seed=3)
    run = wb.run(join, left, right)
    for view in VIEWS:
        if view != "windows" or isinstance(join, wb.WindowJoin):
            assert len(json.dumps(getattr(run.charts, view)().to_dict())) < 2_000_000


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_two_thousand_rows_a_side_are_drawn_in_less_than_two_megabytes(join):
    run = wb.preview(join, *generators.generate("orders_payments", events=2_000, rate=10, late=0.1, seed=3))
    for view in VIEWS:
        if view != "windows" or not isinstance(join, wb.IntervalJoin):
            drawing = run.charts.drawing(view)
            assert len(json.dumps(drawing.chart().to_dict(validate=False))) < 2_000_000
            assert not drawing.aggregated or view == "windows"


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


def test_the_delay_that_keeps_all_rows_keeps_all(spark):
    left, right = generators.generate("orders_payments", events=150, rate=5, late=0.1, seed=3)
    run = wb.run(JOINS[0], left, right)
    title = run.charts.late().to_dict()["title"]
    assert title["text"] == f"{len(run.late)} late rows"
    seconds = float(re.search(r"100% kept with ([\d.]+) s", title["subtitle"]).group(1))
    for delay, late in ((seconds, 0), (seconds - 0.001, 1)):
        again = [each.with_watermark(f"{round(delay * 1000)} ms") for each in (left, right)]
        assert len(wb.run(JOINS[0], *again).late) == late


def test_names_are_data_not_code(spark):
    nasty = "a' + alert(1) + '\" </script>"
    rows = pd.DataFrame({"id": ["x"], "at": [pd.Timestamp("2026-01-01")]})
    sides = [wb.Stream.from_pandas(rows, nasty + side, key="id", time="at") for side in "lr"]
    chart = wb.run(JOINS[0], *sides).charts.timeline()
    assert vl_convert.vegalite_to_svg(chart.to_dict()).startswith("<svg")


def test_a_chosen_renderer_is_left_alone(spark):
    run = wb.run(JOINS[0], *generators.generate("orders_payments", events=5))
    with alt.renderers.enable("json"):
        _ = run.charts
        assert alt.renderers.active == "json"
