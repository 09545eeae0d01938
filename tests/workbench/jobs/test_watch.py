"""A query that runs is watched: what is shown is what Spark reports, and the query commits the same bytes."""

from __future__ import annotations

import json
import re
import shutil
import threading

import jobs
import pandas as pd
import pytest
import written
from page import Page, wait_for

import workbench as wb
from workbench import process
from workbench.app import close_all
from workbench.app.watch_view import WatchView


@pytest.fixture(autouse=True)
def closed():
    yield
    close_all()
    assert "stream-join-workbench watch" not in {each.name for each in threading.enumerate()}


def outer(session, folder):
    return written.guide_outer(*jobs.streams(session, folder))


def start(joined, checkpoint, name, every="1 second"):
    writer = joined.writeStream.format("memory").queryName(name)
    return writer.option("checkpointLocation", str(checkpoint)).trigger(processingTime=every).start()


def committed(checkpoint):
    """What a query committed, but for its own id, its place and the time: names of files, and their text."""
    found = {}
    for each in sorted(checkpoint.rglob("*")):
        if not each.is_file() or each.suffix == ".crc" or each.name == "metadata":
            continue
        name, raw = str(each.relative_to(checkpoint)), each.read_bytes()
        if name.startswith("state/"):
            found[name] = len(raw) if "_metadata" in name else raw
            continue
        text = re.sub(r'"(batchTimestampMs|timestamp)":\d+', "", raw.decode())
        found[name] = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "", text)
    return found


@pytest.mark.family("a query is watched")
def test_a_query_of_this_session(session, folder, tmp_path):
    query = start(outer(session, folder), tmp_path / "checkpoint", "watched")
    try:
        watch = wb.watch(query, every="0.3 seconds")
        assert watch.active
        query.processAllAvailable()
        wait_for(lambda: len(watch.batches) >= 6 and len(watch.state))
        assert "runs" in watch.status
        reports = {each["batchId"]: each for each in query.recentProgress if "addBatch" in each["durationMs"]}
        seen = watch.batches
        assert watch.trouble == ""
        for each in seen.itertuples():
            report = json.loads(reports[each.batch].json)
            assert each.left_rows + each.right_rows == report["numInputRows"]
            assert [each.left_rows, each.right_rows] == [one["numInputRows"] for one in report["sources"]]
            assert each.watermark == pd.Timestamp(report["eventTime"]["watermark"])
            assert each.state_rows == report["stateOperators"][0]["numRowsTotal"]
            assert each.dropped == report["stateOperators"][0]["numRowsDroppedByWatermark"]
        assert seen.dropped.sum() > 0
        state, job = watch.state, watch.open()
        assert job.mismatches.empty
        number = int(state.batch.iloc[0])
        (row,) = watch.batches[watch.batches.batch == number].itertuples()
        held = job.state(number)
        assert state.rows.sum() == row.state_rows == len(held)
        for each in state.itertuples():
            mine = held[held.side == each.side]
            assert each.rows == len(mine)
            time_column = ("ordered_at", "paid_at")[each.side == "right"]
            assert each.oldest.tz_localize(None) == mine[time_column].min().tz_localize(None)
            retention = pd.Timedelta("6 seconds") if each.side == "left" else pd.Timedelta(0)
            assert pd.Timedelta(0) <= each.evicted_at - each.oldest - retention <= pd.Timedelta("2 ms")
        known = seen[seen.lag.notna()]
        assert len(known)
        for each in known.itertuples():
            own = each.left_watermark, each.right_watermark
            assert each.held_by == (None if own[0] == own[1] else "orders" if own[0] < own[1] else "payments")
            assert each.watermark <= min(own)
            assert each.lag == max(each.left_lag, each.right_lag)  # the query's line lies on that of who holds it back
    finally:
        query.stop()
    wait_for(lambda: not watch.active)
    assert watch.status == "has ended"
    watch.close()
    assert watch not in process.pages


@pytest.mark.family("a query is watched")
def test_a_watched_query_commits_the_same_bytes(session, folder, tmp_path):
    for name in ("plain", "watched"):
        copied = tmp_path / "rows"
        shutil.copytree(folder, copied)
        query = start(outer(session, copied), tmp_path / name, f"bytes_{name}", "0 seconds")
        try:
            watch = wb.watch(query, every="0.2 seconds") if name == "watched" else None
            query.processAllAvailable()
            if watch is not None:
                wait_for(lambda seen=watch: len(seen.state))
                watch.open()
        finally:
            query.stop()
        shutil.rmtree(copied)
    one, other = committed(tmp_path / "plain"), committed(tmp_path / "watched")
    assert one.keys() == other.keys()
    assert any(name.startswith("state/") for name in one)
    for name in one:
        assert one[name] == other[name], name


@pytest.mark.family("a query is watched")
def test_a_query_of_another_process_by_its_checkpoint(session, folder, tmp_path):
    joined = outer(session, folder)
    ran = jobs.run(joined, tmp_path / "checkpoint")
    watch = wb.watch(joined, ran.checkpoint, every="0.2 seconds")
    assert watch.batches.batch.tolist() == [each["batchId"] for each in ran.progress]
    marks = [pd.Timestamp(each["eventTime"]["watermark"]) for each in ran.progress]
    assert watch.batches.watermark.tolist() == marks
    assert (watch.batches.duration_ms >= 0).all()
    assert watch.batches.dropped.isna().all()
    wait_for(lambda: len(watch.state))
    assert watch.state.rows.sum() == ran.progress[-1]["stateOperators"][0]["numRowsTotal"]
    assert watch.status == "seen by its checkpoint"
    view = WatchView(watch)
    assert "next to leave" in view.words.value
    assert f"last micro-batch {watch.batches['at'].iloc[-1]:%Y-%m-%d %H:%M}" in view.words.value
    assert "sjw-live" not in view.badge.value  # whether it still runs is not known
    assert view.chart.shown.columns["rates"]["value"] == []
    spec = view.chart.shown.layout.to_json()
    assert "duration of micro-batches" in spec
    assert "rows a second" not in spec  # nothing is known of it, which is not the same as 0
    again = wb.watch(joined, ran.checkpoint)
    assert not watch.active  # the cell was run again
    assert [each for each in process.pages if isinstance(each, wb.Watch)] == [again]
    assert again.open().mismatches.empty


def test_a_query_that_fails(session, folder, tmp_path):
    broken = outer(session, folder).selectExpr("raise_error(order_id) AS x")
    query = start(broken, tmp_path / "checkpoint", "broken", "0 seconds")
    watch = wb.watch(query, every="0.2 seconds")
    wait_for(lambda: not watch.active)
    assert watch.status.startswith("has failed: ")
    assert "\n" not in watch.status
    assert "at org." not in watch.status


def test_what_is_in_state_is_read_once_more_when_a_query_has_failed(session, folder, tmp_path):
    """However soon after the reading before: what is shown stays."""
    bad = "payment_no IS NOT NULL AND payment_no < 25 OR raise_error(order_id) IS NULL"
    query = start(outer(session, folder).where(bad), tmp_path / "checkpoint", "broken_later", "0 seconds")
    watch = wb.watch(query, every="0.2 seconds")
    wait_for(lambda: not watch.active)
    assert watch.status.startswith("has failed: ")
    if len(watch.batches):
        assert watch.state.batch.iloc[0] == watch.batches.batch.max()


def test_the_view(shell, session, folder, tmp_path):
    query = start(outer(session, folder), tmp_path / "checkpoint", "viewed", "0 seconds")
    try:
        watch = wb.watch(query, every="0.2 seconds")
        shell.user_ns["mine"] = watch
        view = WatchView(watch)
        query.processAllAvailable()
        wait_for(lambda: len(watch.state) and "in state after" in view.words.value)
        assert "late" in view.figures.value
        assert view.chart.shown.title == "orders and payments"
        view.open.click()
        wait_for(lambda: view.page is not None, 120)
        page = Page(view.page)
        page.wait()
        assert page.badge == "mine.job, as it ran"
        page.open("Script")
        page.open("Notebook cell")
        shown = {"mine": watch}
        exec(page.code.text, shown)
        assert page.trouble == ""
        view.stop.click()
        wait_for(lambda: not watch.active and view.stop.disabled)
        assert query.isActive
        assert "no longer watched" in view.badge.value
    finally:
        query.stop()


def test_why_it_is_not_opened_stays_and_who_is_replaced_takes_its_page_away(session, folder, tmp_path):
    joined = outer(session, folder)
    ran = jobs.run(joined, tmp_path / "checkpoint")
    watch = wb.watch(joined, ran.checkpoint, every="0.2 seconds")
    view = WatchView(watch)
    offsets = tmp_path / "checkpoint" / "offsets"
    offsets.rename(tmp_path / "away")
    view.open.click()
    wait_for(lambda: not view.open.disabled)
    assert "checkpoint" in view.trouble.value
    (tmp_path / "away").rename(offsets)
    wait_for(lambda: not watch.trouble)
    view.draw()
    assert "checkpoint" in view.trouble.value
    view.open.click()
    wait_for(lambda: view.page is not None, 120)
    wait_for(lambda: not view.open.disabled)
    assert view.trouble.value == ""
    again = wb.watch(joined, ran.checkpoint)
    assert process.pages == [again]


def test_wrong_arguments(session, folder, tmp_path):
    joined = outer(session, folder)
    for arguments, words in (
        ((joined,), "checkpoint: got None"),
        ((joined, str(tmp_path / "none")), "there is no such folder"),
        ((3, "x"), "joined: got"),
    ):
        with pytest.raises(wb.ArgumentError, match=words):
            wb.watch(*arguments)
    for every in ("0 seconds", "2 hours", "soon"):
        with pytest.raises(wb.ArgumentError, match="every: got"):
            wb.watch(joined, str(tmp_path), every=every)
    assert not [each for each in process.pages if isinstance(each, wb.Watch)]
