"""The chart of a live query shows what was measured as it is."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import vl_convert

from workbench import charts
from workbench.engine.live_rates import NO_LATENCY, Measured, rates

NAMES = ("orders", "payments")
BEGIN = pd.Timestamp("2026-01-01 10:00", tz="UTC")


def table(count, trigger=1.0):
    progress = [
        {
            "timestamp": (BEGIN + pd.Timedelta(seconds=2 * number)).isoformat(),
            "numInputRows": 30,
            "inputRowsPerSecond": 15.0,
            "processedRowsPerSecond": 40.0,
            "durationMs": {
                "triggerExecution": 700 + 100 * number,
                "addBatch": 500,
                "queryPlanning": 100,
                "walCommit": 20,
            },
            "eventTime": {"watermark": "2026-01-01T09:00:00.000Z"},
            "stateOperators": [{"numRowsTotal": 40 + number, "memoryUsedBytes": 4_000}],
        }
        for number in range(count)
    ]
    second = 1_000_000
    newest = BEGIN.value // 1_000
    measured = [
        Measured(3, (20, 10), (newest + number * second, None), 7, (0.5, 0.7, 0.9) if number % 2 else NO_LATENCY)
        for number in range(count)
    ]
    return rates(progress, measured, (second, second), trigger)


CHANGES = pd.DataFrame(
    {
        "at": [BEGIN + pd.Timedelta("3s"), BEGIN + pd.Timedelta("4s"), BEGIN - pd.Timedelta("1h")],
        "setting": ["late_by", "pause", "idle"],
        "before": [0.25, False, None],
        "after": [0.5, True, "right"],
    }
)


def test_each_measured_value_is_drawn_where_and_as_it_was_measured():
    shown = table(6)
    drawing = charts.live(shown, CHANGES, 1.0, NAMES)
    lines = drawing.tables["rates"]
    assert lines[lines["stream"] == "orders"]["value"].tolist() == shown["left_rate"].dropna().tolist() == [10.0] * 5
    assert set(lines["stream"]) == {*NAMES, "written"}
    assert set(drawing.tables["lag"]["stream"]) == {"orders", "the query"}  # payments have no row yet
    assert drawing.tables["latency"]["median"].tolist() == [0.5] * 3
    assert drawing.tables["held"]["waiting"].tolist() == [3] * 6
    spec = json.dumps(drawing.layout.to_dict())
    assert "monotone" not in spec
    assert '"interpolate": "step-after"' in spec


def test_phases_stand_on_each_other_up_to_the_duration():
    shown = table(4)
    phases = charts.live(shown, CHANGES, 1.0, NAMES).tables["phases"]
    top = phases.groupby("batch")["y2"].max()
    assert top.tolist() == shown["duration_ms"].tolist()
    assert phases.groupby("batch")["y"].min().tolist() == [0] * 4
    ends = (phases["end"] - phases["x"]).dt.total_seconds() * 1_000
    assert np.allclose(ends, shown["duration_ms"].loc[phases["batch"]])


def test_changes_are_marked_with_words_and_older_ones_left_out():
    changes = charts.live(table(6), CHANGES, 1.0, NAMES).tables["changes"]
    assert changes["change"].tolist() == ["late by: 0.25 → 0.5", "paused"]


def test_labels_of_changes_do_not_lie_over_each_other():
    shown = table(60)
    moved = pd.DataFrame(
        {
            "at": [BEGIN + pd.Timedelta(each, "s") for each in (10, 10.5, 11, 11.5, 100)],
            "setting": ["late", "disorder", "rate", "Twice", "late"],
            "before": [0.03, 0.1, 4.0, 0.0, 0.06],
            "after": [0.06, 0.11, 7.0, 0.05, 0.22],
        }
    )
    changes = charts.live(shown, moved, 1.0, NAMES).tables["changes"]
    assert changes["change"].tolist()[:3] == ["late: 3 % → 6 %", "disorder: 10 % → 11 %", "rate: 4 → 7"]
    assert changes["level"].tolist()[:3] == [0, 1, 2]
    assert changes["label"].tolist() == [*changes["change"][:3], "", "late: 6 % → 22 %"]  # the fourth has no line left
    assert changes["turned"].tolist() == [False] * 4 + [True]  # the last one would be cut off


def test_the_subtitle_says_warm_up_or_backpressure():
    assert charts.live(table(0), CHANGES, 1.0, NAMES).subtitle == "no micro-batch yet"
    assert charts.live(table(2, 0.1), CHANGES, 0.1, NAMES).subtitle.startswith("warm-up")
    words = charts.live(table(2), CHANGES, 1.0, NAMES).subtitle
    assert "backpressure OK" in words
    assert "a pair is written 0.5 s after its second row came" in words


def test_only_the_last_micro_batches_are_shown_and_any_number_is_drawn():
    for count in (0, 1, 300):
        drawing = charts.live(table(count), CHANGES, 1.0, NAMES)
        assert len(drawing.tables["held"]) == min(count, 120)
        assert vl_convert.vegalite_to_svg(drawing.chart().to_dict()).startswith("<svg")
