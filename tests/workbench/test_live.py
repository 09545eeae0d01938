"""Live queries: what they did is what a recorded run of the same micro-batches does."""

from __future__ import annotations

import threading
import time

import pandas as pd
import pytest

import generators
import workbench as wb
from workbench import _live

JOINS = [
    wb.IntervalJoin("0 seconds", "15 seconds", how="left"),
    wb.WindowJoin(wb.Session("6 seconds"), how="full"),
    wb.CoGroup(wb.Tumbling("10 seconds")),
]


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def started(join, late=0.1, **settings):
    feed = generators.Feed("orders_payments", rate=10, late=late, late_by="20 seconds", seed=3)
    return wb.live(join, feed, "5 seconds", "5 seconds", speed=8, trigger="500 ms", **settings)


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_a_recording_of_a_live_query_gives_its_rows_again(spark, join):
    told = []
    live = started(join, told=lambda each: told.append(len(each.rates)))
    wait_for(lambda: len(live.rates) >= 8)
    while_it_runs = live.run()
    assert while_it_runs.charts.drawing("timeline").tables["rows"].shape[0] > 0
    run = live.stop()
    assert run.fault == ""
    assert len(run.output) and len(run.late)
    assert told == sorted(told)
    again = wb.run(join, *live.recording(), finish=False)
    last = run.batches["batch"].max()
    assert again.output[again.output["batch"] <= last].reset_index(drop=True).equals(run.output)
    early = while_it_runs.output
    assert run.output[run.output["batch"] <= while_it_runs.batches["batch"].max()].reset_index(drop=True).equals(early)
    assert len(run.state(int(last))) == again.at(int(last)).in_state or isinstance(join, wb.CoGroup)


def test_pause_resume_and_stop_work_within_two_seconds(spark):
    live = started(JOINS[0])
    wait_for(lambda: len(live.rates) >= 3)
    live.pause()
    assert "paused" in repr(live)
    time.sleep(0.6)  # more than a tick: what was being written is written
    wait_for(lambda: live.rates["input_rows"].sum() == sum(live._written), 20)
    assert live.rates["backlog"].iloc[-1] == 0
    rows = live.rates["input_rows"].sum()
    time.sleep(1.5)
    assert live.rates["input_rows"].sum() == rows
    written = sum(live._written)
    live.resume()
    wait_for(lambda: sum(live._written) > written, 2)
    wait_for(lambda: live.rates["input_rows"].sum() > rows, 10)
    begun = time.monotonic()
    live.stop()
    assert time.monotonic() - begun < 2
    assert not live.active
    assert not spark.streams.active
    assert "stream-join-workbench-live" not in {each.name for each in threading.enumerate()}


def test_settings_act_on_the_running_feed(spark):
    live = started(JOINS[0], late=0.0)
    wait_for(lambda: len(live.rates) >= 3)
    live.feed.change(idle="right")
    before = live.run().batches["batch"].max()
    wait_for(lambda: len(live.rates) >= before + 8)
    right = live.stop().batches["right_rows"]
    assert right.iloc[: before + 1].sum() > 0
    assert right.iloc[-3:].sum() == 0


def test_backpressure_is_the_share_of_time_behind():
    assert [_live.pressure(share) for share in (0, 0.1, 0.11, 0.5, 0.51, 1)] == [
        "OK",
        "OK",
        "LOW",
        "LOW",
        "HIGH",
        "HIGH",
    ]


def test_a_slow_query_is_under_pressure(spark):
    feed = generators.Feed("orders_payments", rate=10)
    live = wb.live(JOINS[0], feed, trigger="1 ms")
    wait_for(lambda: len(live.rates) >= 2)
    live.stop()
    assert live.rates["pressure"].iloc[-1] == "HIGH"
    assert live.rates["behind"].between(0.9, 1).all()


def test_a_failure_ends_it_and_is_one_sentence(spark):
    live = started(JOINS[0])
    wait_for(lambda: len(live.rates) >= 1)

    def broken(seconds):
        raise RuntimeError("the well is dry")

    live.feed.step = broken
    wait_for(lambda: not live.active)
    wait_for(lambda: not spark.streams.active)
    assert "the well is dry" in str(live.error)
    assert len(live.run().batches) >= 1


@pytest.mark.parametrize(
    ("argument", "given"),
    [
        ("feed", {"feed": 7}),
        ("speed", {"speed": 0}),
        ("speed", {"speed": True}),
        ("trigger", {"trigger": "soon"}),
        ("policy", {"policy": "avg"}),
        ("watermark", {"left": "-1 s"}),
    ],
)
def test_a_wrong_argument_is_told_before_spark_starts(argument, given, monkeypatch):
    monkeypatch.setattr("workbench.session.spark", None)
    arguments = {"feed": generators.Feed("orders_payments")} | given
    with pytest.raises(wb.ArgumentError, match=f"{argument}: got"):
        wb.live(JOINS[0], **arguments)


def test_stop_all_leaves_nothing(spark):
    live = started(JOINS[0])
    folder = live._folder
    _live.stop_all()
    assert not live.active
    assert not spark.streams.active
    del live
    import gc

    gc.collect()
    wait_for(lambda: not folder.exists(), 5)


@pytest.mark.parametrize("scenario", generators.scenarios())
def test_a_feed_goes_on_like_a_recording(scenario):
    feed = generators.Feed(scenario, rate=20, seed=5, disorder=0, late=0)
    left, right = zip(*(feed.step(0.7) for _ in range(100)), strict=True)
    times = [pd.concat(each.to_pandas() for each in side) for side in (left, right)]
    key, other = (list(stream.key) for stream in feed.streams)
    assert 0.5 < len(times[0]) / (20 * 70) < 1.5
    pairs = times[0].drop_duplicates(key).merge(times[1].drop_duplicates(other), left_on=key, right_on=other)
    assert len(pairs) > 0.15 * times[0][key].drop_duplicates().shape[0]
    again = generators.Feed(scenario, rate=20, seed=5, disorder=0, late=0)
    assert all(again.step(0.7)[0].equals(each) for each in left)


def test_a_feed_refuses_what_cannot_change():
    feed = generators.Feed("orders_payments")
    assert feed.settings["idle"] is None
    with pytest.raises(wb.ArgumentError, match="seed: got 3; it cannot be changed while the feed runs"):
        feed.change(seed=3)
    with pytest.raises(wb.ArgumentError, match="late: got 7; use a share"):
        feed.change(late=7)
    with pytest.raises(wb.ArgumentError, match="idle: got 'both'"):
        feed.change(idle="both")
