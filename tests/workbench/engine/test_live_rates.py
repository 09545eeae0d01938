"""What is measured of a live query: warm-up, lag, latency and phases, of made-up reports and of a real query."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
from helpers import active

import generators
import workbench as wb
from workbench.engine.live_rates import (
    NO_LATENCY,
    PHASES,
    WARM_UP,
    Measured,
    Silence,
    latencies,
    pressure,
    rates,
    silence,
)
from workbench.model import Outputs, members
from workbench.process import end_live_queries

SECOND = 1_000_000


def reports(*durations, watermark=None):
    """Spark's reports of micro-batches that took so many milliseconds, a second apart."""
    return [
        {
            "timestamp": f"2026-01-01T10:00:{number:02d}.000Z",
            "numInputRows": 3,
            "durationMs": {"triggerExecution": ms, "addBatch": ms - 30, "queryPlanning": 10, "walCommit": 5},
            "eventTime": {} if watermark is None else {"watermark": watermark},
            "stateOperators": [{"numRowsTotal": 4, "memoryUsedBytes": 100}] * 2,
        }
        for number, ms in enumerate(durations)
    ]


def measured(count, newest=(None, None)):
    return [Measured(0, (2, 1), newest, 5, NO_LATENCY)] * count


def of(*durations, trigger=1.0, **more):
    return rates(reports(*durations, **more), measured(len(durations)), (0, 0), trigger)


@pytest.mark.parametrize(
    ("durations", "warm"),
    [((4000, 2000, 900, 3000), 2), ((900, 4000), 0), ((4000,), 1), ((2000,) * 8, 5), ((), 0)],
)
def test_warm_up_ends_with_the_first_micro_batch_that_keeps_to_the_trigger(durations, warm):
    table = of(*durations)
    assert (table["pressure"] == WARM_UP).tolist() == [number < warm for number in range(len(durations))]
    assert table["behind"].isna().tolist() == [number < warm for number in range(len(durations))]


def test_what_came_before_is_not_counted_as_backpressure():
    assert of(9000, 900, 900)["pressure"].tolist() == [WARM_UP, "OK", "OK"]
    assert of(900, 9000)["pressure"].tolist() == ["OK", "HIGH"]
    assert of(900, 3000)["behind"].iloc[-1] == 2 / 4


def test_backpressure_is_the_share_of_time_behind():
    assert [pressure(share) for share in (0, 0.1, 0.11, 0.5, 0.51, 1)] == ["OK", "OK", "LOW", "LOW", "HIGH", "HIGH"]


def test_the_phases_add_up_to_the_duration():
    table = of(900, 2000)
    parts = [f"{phase}_ms" for phase in (*PHASES, "other")]
    assert table[parts].sum(axis=1).tolist() == table["duration_ms"].tolist() == [900, 2000]
    assert table["joining_ms"].tolist() == [870, 1970]


def test_lag_is_behind_the_newest_row_of_either_side_and_none_before_it_begins():
    progress = reports(900, 900, watermark="2026-01-01T09:59:50.000Z")
    progress[0]["eventTime"] = {"watermark": "1970-01-01T00:00:00.000Z"}
    ten = pd.Timestamp("2026-01-01 10:00").value // 1000
    found = [
        Measured(0, (1, 0), (ten, None), 0, NO_LATENCY),
        Measured(0, (0, 1), (ten, ten + 7 * SECOND), 0, NO_LATENCY),
    ]
    table = rates(progress, found, (2 * SECOND, 3 * SECOND), 1)
    assert table["left_lag"].iloc[1] == 9
    assert table.loc[0, ["left_lag", "right_lag", "lag"]].isna().all()
    assert np.isnan(table["right_lag"].iloc[1])
    assert table["lag"].iloc[1] == 17


def brought(*rows, newest=(0, 0)):
    """The table of micro-batches that took in so many rows of either side, whose newest rows are of so many seconds."""
    times = tuple(None if each is None else each * SECOND for each in newest)
    found = [Measured(0, each, times, 0, NO_LATENCY) for each in rows]
    return rates(reports(*[900] * len(rows)), found, (0, 0), 1.0)


def test_a_stream_is_silent_when_only_the_other_brings_rows_for_several_micro_batches():
    assert silence(brought()) is None
    assert silence(brought((3, 2), *[(4, 0)] * 4)) is None  # not for long
    assert silence(brought((3, 2), *[(4, 0)] * 5)) == Silence("right", 5, 20)
    assert silence(brought(*[(0, 4)] * 6, newest=(None, 9))) == Silence("left", 6, 24)
    assert silence(brought(*[(0, 4)] * 6, (1, 4))) is None  # it has come again
    assert silence(brought((3, 2), *[(0, 0)] * 9)) is None  # both are silent


def test_a_silent_stream_that_is_ahead_holds_nothing_back():
    assert silence(brought((3, 2), *[(4, 0)] * 5, newest=(10, 60))) is None
    assert silence(brought((3, 2), *[(4, 0)] * 5, newest=(60, 10))) == Silence("right", 5, 20)


def test_latency_is_from_the_second_rows_arrival_and_of_pairs_only():
    table = pd.DataFrame({"matched": [True, True, False]})
    sides = [
        (np.array([0, 1, 2]), np.array([0, 1, 2]), np.full(3, -1)),
        (np.array([0, 1]), np.array([1, 0]), np.full(2, -1)),
    ]
    written = Outputs(table, members(*sides))
    arrived = [np.array([10.0, 20.0, 29.0]), np.array([12.0, 11.0])]
    median, p95, longest = latencies(written, arrived, 30.0)
    assert (median, longest) == (14.5, 19.0)  # 30 - max(10, 11), and 30 - max(20, 12)
    assert 14.5 < p95 < 19
    nothing = (np.zeros(0, dtype=int),) * 3
    alone = Outputs(
        pd.DataFrame({"matched": [False]}), members((np.array([0]), np.array([0]), np.array([-1])), nothing)
    )
    assert np.isnan(latencies(alone, arrived, 30.0)).all()


def test_a_live_query_is_measured_as_its_run_says(spark):
    feed = generators.Feed("orders_payments", rate=10, late=0.2, late_by="20 seconds", seed=3)
    live = wb.live(
        wb.IntervalJoin("0 seconds", "15 seconds", how="left"),
        feed,
        "5 seconds",
        "4 seconds",
        speed=8,
        trigger="500 ms",
    )
    try:
        wait(lambda: live.done >= 4)
        live.feed.change(late=0.5, idle="right")
        wait(lambda: len(live.changes) == 2)
        live.feed.change(idle="left")  # a moment later: one move
        wait(lambda: live.changes["after"].iloc[-1] == "left")
        live.pause()
        live.resume()
        wait(lambda: live.done >= 8)
        run = live.stop()
    finally:
        end_live_queries()
    assert not active(spark)
    table = live.rates
    batches = run.batches.set_index("batch").loc[table["batch"]]
    for name in ("left_rows", "right_rows", "output_rows", "state_rows"):
        assert table[name].tolist() == batches[name].tolist(), name
    assert (table["input_rows"] == table["left_rows"] + table["right_rows"]).all()
    for name, stream in (("left", run.left), ("right", run.right)):
        newest = pd.Series(
            [
                max(each.event_times[each.arrival <= n].max() for each in (run.left, run.right))
                for n in table["batch"][1:]
            ]
        )
        own = pd.Series([stream.event_times[stream.arrival < n].max() for n in table["batch"][1:]])
        delay = stream.watermark.total_seconds()
        assert table[f"{name}_lag"][1:].tolist() == pytest.approx(((newest - own) / 1e6 + delay).tolist())
    held = table["lag"].dropna()
    assert (held >= table[["left_lag", "right_lag"]].max(axis=1)[held.index] - 0.001).all()  # the slower side's
    pairs = run.output["batch"][run.output.filter(like="payment").notna().any(axis=1)].unique()
    assert set(table["batch"][table["latency_median"].notna()]) == set(pairs)
    seconds = table["latency_median"].dropna()
    assert (seconds > 0).all()
    assert (table["latency_max"].dropna() >= seconds).all()
    changes = live.changes
    assert changes["setting"].tolist() == ["late", "idle", "pause", "pause"]
    assert changes["after"].tolist() == [0.5, "left", True, False]
    assert changes["before"].iloc[1] is None
    assert changes["at"].between(table["at"].iloc[0], table["at"].iloc[-1] + pd.Timedelta("1min")).all()


def wait(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
