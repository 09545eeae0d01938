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
from workbench import charts

JOINS = [
    wb.IntervalJoin("0 seconds", "15 seconds", how="left"),
    wb.WindowJoin(wb.Tumbling("10 seconds"), how="full"),
    wb.WindowJoin(wb.Sliding("10 seconds", "4 seconds")),
    wb.WindowJoin(wb.Session("5 seconds")),
    wb.CoGroup(wb.Tumbling("10 seconds")),
    wb.WindowJoin(wb.Sliding("4 seconds", "10 seconds"), how="semi"),
]


def marks(chart):
    """The values of each mark of a chart, by kind of mark."""
    spec = chart.to_dict()
    found = {}
    for layer in spec["layer"]:
        mark = layer["mark"]["type"]
        found.setdefault(mark, []).append(spec["datasets"].get(layer.get("data", {}).get("name"), []))
    return found


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_charts_show_what_the_tables_hold(spark, join):
    run = wb.run(join, *generators.generate("orders_payments", events=20, rate=2, late=0.2, seed=3))
    timeline = run.charts.timeline()
    (points,) = marks(timeline)["point"]
    assert sorted(row["fate"] for row in points) == sorted(run.rows["fate"])
    assert {row["reason"] for row in points} == set(run.rows["reason"])
    arrival = marks(run.charts.arrival())
    (points,) = arrival["point"]
    assert len(points) == len(run.rows)
    (stairs,) = arrival["line"]
    assert len(stairs) == 11
    for chart in (timeline, run.charts.arrival()):
        assert vl_convert.vegalite_to_svg(chart.to_dict()).startswith("<svg")
        text = json.dumps(chart.to_dict())
        assert "event time (UTC)" in text
        assert "tooltip" in text


def test_pairs_are_lines(spark):
    run = wb.run(JOINS[0], *generators.generate("orders_payments", events=20, rate=2, late=0, seed=3))
    lines = [values for values in marks(run.charts.timeline())["rule"] if values and "other_time" in values[0]]
    assert len(lines[0]) == run.output["right_order_id"].notna().sum()


def test_two_thousand_rows_are_drawn_and_more_are_sampled_by_key():
    def rows(count):
        return pd.DataFrame(
            {
                "row_id": [f"{side}-{n}" for side in ("left", "right") for n in range(count)],
                "side": ["left"] * count + ["right"] * count,
                "key": [f"k{n % 700}" for n in range(count)] * 2,
                "time": pd.Timestamp("2026-01-01") + pd.to_timedelta(list(range(count)) * 2, unit="s"),
                "batch": 0,
                "fate": "unmatched",
                "reason": "",
            }
        )

    pairs = pd.DataFrame({"left": [], "right": []})
    spans = pd.DataFrame({"start": [], "end": [], "row_id": [], "key": []})
    few = charts.timeline(rows(2000), pairs, spans, ("a", "b"), "t")
    assert len(marks(few)["point"][0]) == 4000
    many = charts.timeline(rows(50_000), pairs, spans, ("a", "b"), "t")
    assert 3000 < len(marks(many)["point"][0]) <= 4000
    assert "showing" in json.dumps(many.to_dict()["title"])
    assert "100,000 rows" in json.dumps(many.to_dict()["title"])


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
