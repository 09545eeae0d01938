"""Live queries: what they did is what a recorded run of the same micro-batches does."""

from __future__ import annotations

import threading
import time

import numpy as np
import pandas as pd
import pytest
from helpers import active
from pyspark.sql.streaming.query import StreamingQuery

import generators
import workbench as wb
from workbench.process import end_live_queries

JOINS = [
    wb.IntervalJoin("0 seconds", "15 seconds", how="left"),
    wb.WindowJoin(wb.Session("6 seconds"), how="full"),
    wb.CoGroup(wb.Tumbling("10 seconds")),
]


@pytest.fixture(autouse=True)
def stopped():
    """Whatever a test starts is stopped after it."""
    yield
    end_live_queries()


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def started(join, late=0.1, **settings):
    feed = generators.Feed("orders_payments", rate=10, late=late, late_by="20 seconds", seed=3)
    return wb.live(join, feed, "5 seconds", "5 seconds", speed=8, trigger="500 ms", **settings)


def in_order(output):
    """An output in an order of its own: groups of one micro-batch come as Spark's partitions have them."""
    names = [name for name in ("batch", "window_start", "order_id") if name in output]
    return output.sort_values(names, kind="stable").reset_index(drop=True)


def test_the_state_of_a_key_is_read_while_the_query_runs(spark):
    live = started(wb.IntervalJoin("0 s", "15 s", how="left"))
    wait_for(lambda: live.done >= 3 and len(live.state()))
    held = live.state()
    key = held["order_id"].iloc[0]
    of_key = live.state(key)
    assert live.active
    assert set(of_key["order_id"]) <= {key}
    assert live.state("nobody").empty
    run = live.stop()
    assert set(held["order_id"]) <= set(run.keys)
    last = int(run.batches["batch"].max())
    everything = run.state(last)
    key = everything["order_id"].iloc[-1]
    found = run.state(last, key)
    expected = everything[everything["order_id"] == key].reset_index(drop=True)
    assert found.drop(columns="state_bytes").equals(expected.drop(columns="state_bytes"))
    assert found["state_bytes"].sum() == pytest.approx(expected["state_bytes"].sum())


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_a_recording_of_a_live_query_gives_its_rows_again(spark, join):
    counts = []
    live = started(join, on_progress=lambda each: counts.append(len(each.rates)))
    wait_for(lambda: len(live.rates) >= 8)
    wait_for(lambda: len(live.run().late) and len(live.run().output))  # a slow machine has fewer micro-batches by then
    while_it_runs = live.run()
    assert while_it_runs.charts.drawing("timeline").tables["rows"].shape[0] > 0
    run = live.stop()
    assert run.mismatch == ""
    assert len(run.output) and len(run.late)
    assert counts == sorted(counts)
    assert counts[-1] >= 8
    again = wb.run(join, *live.recording(), finish=False)
    last = run.batches["batch"].max()
    assert in_order(again.output[again.output["batch"] <= last]).equals(in_order(run.output))
    early = while_it_runs.output
    then = run.output[run.output["batch"] <= while_it_runs.batches["batch"].max()]
    assert in_order(then).equals(in_order(early))
    later = ["evicted_in", "state_bytes"]  # what comes after is known of one only; Spark estimates the bytes
    held, held_again = (each.state(int(last)).drop(columns=later) for each in (run, again))
    assert len(held) > 0
    order = list(held.columns)
    assert held.sort_values(order).reset_index(drop=True).equals(held_again.sort_values(order).reset_index(drop=True))


def test_pause_resume_and_stop(spark):
    live = started(JOINS[0])
    wait_for(lambda: len(live.rates) >= 3)
    live.pause()
    assert "paused" in repr(live)
    time.sleep(0.6)  # more than a tick: what was being written is written
    written = sum(live.written)
    wait_for(lambda: live.rates["input_rows"].sum() == written)
    assert live.rates["backlog"].iloc[-1] == 0
    time.sleep(1.5)
    assert live.rates["input_rows"].sum() == sum(live.written) == written
    live.resume()
    wait_for(lambda: live.rates["input_rows"].sum() > written)
    batches = live.stop().batches
    rows = batches["left_rows"] + batches["right_rows"]
    assert (rows == 0).any()
    assert (batches["kind"] == np.where(rows == 0, "no data", "data")).all()
    assert not live.active
    assert not active(spark)
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


def test_a_slow_query_is_under_pressure(spark):
    feed = generators.Feed("orders_payments", rate=10)
    live = wb.live(JOINS[0], feed, trigger="1 ms")
    wait_for(lambda: len(live.rates) >= 7)
    live.stop()
    assert live.rates["pressure"].iloc[-1] == "HIGH"
    assert live.rates["behind"][5:].between(0.9, 1).all()  # after the longest warm-up


def test_a_failure_ends_it_and_is_one_sentence(spark):
    live = started(JOINS[0])
    wait_for(lambda: len(live.rates) >= 1)

    def broken(seconds):
        raise RuntimeError("the well is dry")

    live.feed.step = broken
    wait_for(lambda: not live.active)
    wait_for(lambda: not active(spark))
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


def test_a_function_that_raises_stops_the_query_and_is_named(spark):
    live = started(JOINS[0], on_progress=lambda _: 1 / 0)
    wait_for(lambda: not live.active)
    assert str(live.error).startswith("on_progress: your function raised ZeroDivisionError")
    live.end()
    assert not active(spark)


def test_the_end_is_told_once_with_all_that_came_before_it(spark):
    """A page listed a query as two runs where a micro-batch had ended between its being stopped and its end."""
    told = []

    def told_of(live):
        told.append((live.active, live.done))
        if live.done == 2:
            live.stop_soon()
            time.sleep(1)  # Spark goes on meanwhile

    live = started(JOINS[0], on_progress=told_of)
    wait_for(lambda: not live.active)
    live.end()
    *before, (active_at_end, done) = told
    assert all(active for active, _ in before)
    assert not active_at_end
    assert done == live.done > before[-1][1]


def folder_of(live):
    """The folder that a query writes to."""
    wait_for(lambda: live.done)
    return live.run().execution.scratch.path


def test_stop_all_leaves_nothing(spark):
    live = started(JOINS[0])
    folder = folder_of(live)
    end_live_queries()
    assert not live.active
    assert not active(spark)
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


def test_a_query_that_ends_later_than_spark_waits_for_it_is_waited_for(spark, monkeypatch):
    live = started(JOINS[0])
    wait_for(lambda: len(live.rates) >= 1)
    stop = StreamingQuery.stop
    monkeypatch.setattr(StreamingQuery, "stop", lambda query: threading.Timer(1.5, stop, [query]).start())
    begun = time.monotonic()
    live.end()
    assert time.monotonic() - begun > 1
    assert not active(spark)


def test_a_row_that_is_sent_is_in_the_next_micro_batch(spark):
    feed = generators.Feed("readings_thresholds", rate=20, seed=3)
    live = wb.live(wb.RulesJoin(as_of="arrival", copies=2), feed, "5 s", "5 s", speed=8, trigger="500 ms")
    wait_for(lambda: live.done >= 2)
    live.pause()
    rule = {"rule_id": "cold", "field": "temperature", "op": "<", "value": 1000}
    live.send("right", rule)
    wait_for(lambda: "cold" in set(live.run().right.to_pandas()["rule_id"]))
    live.resume()
    wait_for(lambda: "cold" in set(live.run().output["right_rule_id"]))
    live.send("right", rule | {"withdrawn": True})
    wait_for(lambda: (live.run().right.to_pandas()["rule_id"] == "cold").sum() == 2)
    run = live.stop()
    assert run.mismatch == ""
    sent = run.rows[(run.rows["side"] == "right") & (run.rows["rule_id"] == "cold")]
    assert sent["reason"].iloc[0].startswith("cold (temperature < 1000): met by")
    assert "withdraws rule cold" in sent["reason"].iloc[1]
    with pytest.raises(wb.QueryError, match="has ended"):
        live.send("right", rule)


@pytest.mark.parametrize(
    ("side", "row", "words"),
    [
        ("middle", {}, "side: got 'middle'"),
        ("right", 7, "row: got 7; give its values by column"),
        ("right", {"rule": "x"}, "row: got 'rule'; thresholds has no such column: sensor_id"),
        ("right", {"value": "hot"}, "row: got 'hot'; column 'value' holds double values"),
    ],
)
def test_a_row_that_cannot_be_sent_is_refused(spark, side, row, words):
    feed = generators.Feed("readings_thresholds", rate=20, seed=3)
    live = wb.live(wb.RulesJoin(), feed, "5 seconds", "5 seconds", speed=8, trigger="500 ms")
    with pytest.raises(wb.ArgumentError, match=words):
        live.send(side, row)
