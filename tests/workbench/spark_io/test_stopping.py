"""`wb.stop` ends what the workbench runs, and nothing of others."""

from __future__ import annotations

import threading
import time

import pytest
from helpers import active
from page import Page, wait_for

import generators
import workbench as wb
from workbench import process
from workbench.app import close_all

JOIN = wb.IntervalJoin("0 seconds", "15 seconds")


def test_it_stops_pages_live_queries_and_runs_but_no_query_of_others(spark, tmp_path):
    page = Page()
    page.wait()
    page.press("Go live")
    live = wb.live(JOIN, generators.Feed("orders_payments", rate=10), trigger="500 ms")
    theirs = (
        spark.readStream.format("rate")
        .load()
        .writeStream.format("noop")
        .option("checkpointLocation", str(tmp_path))
        .start()
    )
    said = []

    def work():
        try:
            wb.run(JOIN, *generators.generate("orders_payments", events=2_000, batches=400))
        except wb.QueryError as error:
            said.append(str(error))

    thread = threading.Thread(target=work)
    try:
        wait_for(lambda: page.app.busy and live.done)
        thread.start()
        wait_for(lambda: active(spark) == 4)  # the page's, the live one, the run, and theirs
        wb.stop()
        thread.join(60)
        assert said == ["the run was stopped"]
        assert theirs.isActive
        wait_for(lambda: active(spark) == 1, 10)
        assert not live.active
        wait_for(lambda: not page.app.busy, 30)
        wait_for(lambda: not page.button("Go live").disabled, 30)
    finally:
        theirs.stop()
        close_all()
    assert wb.stop() is None  # nothing runs


def test_a_run_is_not_known_after_its_end(spark):
    wb.run(JOIN, *generators.generate("orders_payments", events=20))
    assert not process.queries


def test_stop_ends_a_run_on_a_page_within_seconds(spark):
    page = Page()
    page.wait()
    page.set({"Events": 2_000, "Trigger interval": "100 milliseconds"})
    page.press("Run on Spark")
    wait_for(lambda: active(spark))
    begun = time.monotonic()
    page.press("Stop")
    wait_for(lambda: not page.app.busy)
    assert time.monotonic() - begun < 15
    assert page.badge == "stopped"
    close_all()


pytestmark = pytest.mark.timeout(300)
