"""What public reports of stream joins are told: each is a small job, run on Spark, opened, and held to what Spark did.

Each was once told something that was not so, or was refused, and stands for a kind of job: what its test says of one
holds for all of the kind.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import jobs
import pytest
from pyspark.sql import functions as F

import workbench as wb
from workbench.jobs.health import figures

WITHIN = "orders.id = payments.id AND payments.at BETWEEN orders.at AND orders.at + INTERVAL {}"
SCHEMA = "id string, at timestamp, row string"
REPORTS = {}


def report(test):
    """A test of one report, called with a `Desk`."""
    REPORTS[test.__name__] = test
    return test


@dataclass
class Desk:
    """Where a report's rows are written, and its job is run and opened."""

    spark: object
    home: Path
    out: list = field(default_factory=list)
    dropped: int = 0
    state: list = field(default_factory=list)
    reports: list = field(default_factory=list)

    def arrive(self, number, **streams):
        """What each stream takes in with a micro-batch: rows of id, time of day or a whole time, and name; or dicts."""
        for name, rows in streams.items():
            (self.home / name).mkdir(parents=True, exist_ok=True)
            file = self.home / name / f"{number}.json"
            file.write_text(
                "\n".join(json.dumps(each if isinstance(each, dict) else self._row(*each)) for each in rows)
            )
            os.utime(file, (number + 1, number + 1))

    @staticmethod
    def _row(key, at, row):
        moment = at if at is None or "T" in at else f"2026-01-01T{at}Z"
        return {"id": key, "at": moment, "row": row}

    def each(self, orders, payments):
        """One micro-batch for each pair of lists."""
        for number, (left, right) in enumerate(zip(orders, payments, strict=True)):
            self.arrive(number, orders=left, payments=right)

    def read(self, name, delay="10 seconds", schema=SCHEMA):
        found = self.spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(str(self.home / name))
        return (found if delay is None else found.withWatermark("at", delay)).alias(name)

    def run(self, joined, again=False):
        """Run a job to the end of what is there."""
        if not again:
            shutil.rmtree(self.home / "checkpoint", ignore_errors=True)

        def keep(frame, number):
            self.out.extend((number, *each) for each in frame.collect())

        writer = joined.writeStream.foreachBatch(keep).option("checkpointLocation", str(self.home / "checkpoint"))
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        self.reports = query.recentProgress
        counted = [each["stateOperators"] for each in map(dict_of, self.reports)]
        self.dropped = sum(one["numRowsDroppedByWatermark"] for each in counted for one in each)
        self.state = [each[0]["numRowsTotal"] for each in counted if each]

    def opened(self, joined, **more):
        self.run(joined)
        job = wb.open_job(joined, self.home / "checkpoint", **more)
        assert job.mismatches.empty, job.mismatches.to_string()
        return job


def dict_of(progress):
    return json.loads(progress.json)


def said(job):
    return " ".join([*job.rows.reason, *map(str, job.advise()), *job.description.notes, *job.missing])


def fates(job):
    return dict(zip(job.rows.row, job.rows.fate, strict=True))


def reason(job, row):
    return job.rows.reason[job.rows.row == row].iloc[0]


# --- the plan that Spark runs is not the plan that was written --------------------------------------------------------


@report
def a_window_join_that_does_not_select_its_time(desk):
    """Spark prunes the event time, and the window says what it can."""
    times = ["10:00:00", "10:10:00", "10:20:00"]
    desk.each(
        [[(key, at, f"o{key}")] for key, at in zip("abc", times, strict=True)],
        [[(key, at, f"p{key}")] for key, at in zip("abd", times, strict=True)],
    )
    sides = [
        desk.read(name, "30 minutes").withColumn("w", F.window("at", "10 seconds")).alias(name)
        for name in ("orders", "payments")
    ]
    on = F.expr("orders.id = payments.id AND orders.w = payments.w")
    joined = sides[0].join(sides[1], on, "left")
    joined = joined.select("orders.id", F.col("orders.row").alias("o"), F.col("payments.row").alias("p"))
    desk.spark.conf.set("spark.sql.streaming.minBatchesToRetain", "2")
    job = desk.opened(joined)
    assert desk.state[-1] == 6
    assert job.simulation.first > 0
    assert sorted(job.rows.row) == ["oa", "ob", "oc", "pa", "pb", "pd"]
    assert fates(job)["pa"] == "matched" == fates(job)["ob"]


@report
def a_field_of_a_struct_is_selected(desk):
    desk.each(
        *(
            [[{"id": key, "at": f"2026-01-01T10:{n}0:00Z", "payload": {"amount": n, "note": "x"}, "row": f"{side}{n}"}]
             for n, key in enumerate("abc")]
            for side in "op"
        )
    )  # fmt: skip
    schema = f"{SCHEMA}, payload struct<amount int, note string>"
    joined = (
        desk.read("orders", schema=schema)
        .join(desk.read("payments", schema=schema), F.expr(WITHIN.format("15 SECONDS")), "left")
        .select("orders.id", "orders.payload.amount")
    )
    job = desk.opened(joined)
    assert set(fates(job).values()) == {"matched"}


@report
def times_that_are_not_selected_are_never_late(desk):
    desk.each(
        [[("a", "10:00:00", "o1")], [("b", "10:10:00", "o2")], [("c", "10:20:00", "o3")], []],
        [[("x", "10:00:00", "p0")], [("b", "10:10:00", "p2")], [("c", "10:20:00", "p3")], [("a", "10:00:05", "p9")]],
    )
    on = F.expr("orders.id = payments.id")
    joined = desk.read("orders").join(desk.read("payments"), on).select("orders.id", F.col("payments.row").alias("p"))
    job = desk.opened(joined, progress=None)
    assert desk.dropped == 0
    assert job.late.empty
    assert (3, "a", "p9") in desk.out
    assert fates(job)["p9"] == "matched"


@report
def what_is_not_understood_tells_nothing_that_rests_on_it(desk):
    desk.each([[("a", "10:00:00", "o1")]], [[("a", "10:00:05", "p1")]])
    sides = [desk.read(name).withColumn("w", F.window("at", "1 hour")).alias(name) for name in ("orders", "payments")]
    joined = sides[0].join(sides[1], F.expr("orders.id = payments.id AND orders.w.start = payments.w.start"))
    joined = joined.select("orders.row", F.col("payments.row").alias("p"))
    desk.run(joined)
    job = wb.open_job(joined, desk.home / "checkpoint", progress=desk.reports)
    assert set(job.comparison.what) == {
        "watermark of each micro-batch", "late rows, once for each window (numRowsDroppedByWatermark)",
    }  # fmt: skip
    for ask in (
        lambda: job.causes, lambda: job.why(0), lambda: job.explain([0]), lambda: job.fates, lambda: job.at(0),
        lambda: job.reasons, lambda: job.state_changes("a"), lambda: job.time_to_live("1 hour"), lambda: job.code,
        lambda: job.output, lambda: job.advise(), lambda: job.report(desk.home / "report.html"), lambda: job.charts,
    ):  # fmt: skip
        with pytest.raises(wb.WorkbenchError, match="could not be analyzed"):
            ask()


@report
def a_repartition_changes_no_row(desk):
    desk.each([[(f"k{n}", f"10:00:{n:02}", f"o{n}") for n in range(9)]], [[("k3", "10:00:05", "p3")]])
    payments = desk.read("payments").repartition("row").alias("payments")
    job = desk.opened(
        desk.read("orders").coalesce(1).alias("orders").join(payments, F.expr(WITHIN.format("15 SECONDS")))
    )
    assert fates(job)["o3"] == "matched"


@report
def times_at_either_end_of_the_calendar(desk):
    for kind, until in (
        ("timestamp", "9999-12-31T23:59:59.999999Z"), ("timestamp_ntz", "9999-12-31T00:00:00"),
        ("timestamp_ntz", "0001-01-01T00:00:00"), ("timestamp", "0001-01-01T00:00:00Z"),
    ):  # fmt: skip
        desk.spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
        first = [("a", "10:00:00", "oa"), ("b", "10:10:00", "ob")]
        for number, row in enumerate(first):
            desk.arrive(number, orders=[{**desk._row(*row), "until": until}], payments=[("a", row[1], f"p{number}")])
        orders = desk.read("orders", schema=f"{SCHEMA}, until {kind}")
        joined = orders.join(desk.read("payments"), F.expr(WITHIN.format("15 SECONDS")), "left")
        writer = joined.writeStream.format("noop").option("checkpointLocation", str(desk.home / f"{kind}{until[0]}"))
        writer.trigger(availableNow=True).start().awaitTermination()
        job = wb.open_job(joined, desk.home / f"{kind}{until[0]}")
        assert job.mismatches.empty, job.mismatches.to_string()
        assert str(job.output.left_until[0].year) == until[:4].lstrip("0")
        assert len(job.output) == 1


@report
def a_time_of_the_first_year(desk):
    desk.each(
        [
            [("a", "10:00:00", "o1"), ("s", "0001-01-01T00:00:00Z", "os")],
            [("b", "10:10:00", "o2")],
            [("c", "10:20:00", "o3")],
        ],
        [[("a", "10:00:05", "p1")], [("b", "10:10:05", "p2")], [("c", "10:20:00", "p3")]],
    )
    job = desk.opened(desk.read("orders").join(desk.read("payments"), F.expr(WITHIN.format("15 SECONDS")), "left"))
    assert job.late.row.tolist() == ["os"]
    assert job.late.behind[0].days == 719162
    found = figures(job)
    assert (found.left.late_rows, found.left.needed_delay) == (1, None)


@report
def a_row_that_nothing_can_match_any_more_does_not_wait(desk):
    desk.each(
        [[("a", "10:00:00", "o1")], [("b", "10:10:00", "o2")], [("c", "10:20:00", "o3")]],
        [[("z", "10:00:05", "p1")], [("y", "10:10:00", "p2")], [("x", "10:20:00", "p3")]],
    )
    on = "orders.id = payments.id AND payments.at - orders.at BETWEEN INTERVAL 0 SECONDS AND INTERVAL 15 SECONDS"
    job = desk.opened(desk.read("orders").join(desk.read("payments"), F.expr(on)))
    assert desk.state[-1] == 6  # none has left
    assert reason(job, "o1").startswith("never evicted from state: Spark derives no state watermark for orders")
    assert reason(job, "o3").startswith("waiting: ")


@report
def a_file_that_was_written_anew_is_told(desk):
    desk.each(
        [[("x", "10:00:00", "o1")], [("b", "10:10:00", "o2")]], [[("x", "10:00:05", "p1")], [("z", "10:10:00", "p2")]]
    )
    joined = desk.read("orders").join(desk.read("payments"), F.expr(WITHIN.format("15 SECONDS")))
    desk.run(joined)
    desk.arrive(0, orders=[("y", "10:00:00", "new")])
    os.utime(desk.home / "orders" / "0.json", (99, 99))
    job = wb.open_job(joined, desk.home / "checkpoint")
    assert any("/orders] was rewritten after the job had read it" in each for each in job.missing)


@report
def the_event_time_under_another_name(desk):
    desk.each(
        [[("a", "10:00:00", "o1")], [("b", "10:10:00", "o2")], [("c", "10:20:00", "o3")]],
        [[("x", "10:00:05", "p1")], [("y", "10:10:05", "p2")], [("c", "10:20:05", "p3")]],
    )
    payments = desk.read("payments").withColumn("paid_at", F.col("at")).alias("payments")
    on = F.expr("orders.id = payments.id AND paid_at BETWEEN orders.at AND orders.at + INTERVAL 15 SECONDS")
    joined = desk.read("orders").join(payments, on).select("orders.id", "paid_at")
    desk.spark.conf.set("spark.sql.streaming.minBatchesToRetain", "2")
    desk.opened(joined)
    desk.arrive(3, orders=[("d", "10:20:01", "o4")], payments=[("d", "10:20:05", "p4")])
    desk.arrive(4, orders=[("e", "10:20:02", "o5")], payments=[("e", "10:20:05", "p5")])
    desk.run(joined, again=True)
    job = wb.open_job(joined, desk.home / "checkpoint")
    assert job.mismatches.empty, job.mismatches.to_string()
    assert not any("without an event time" in each for each in job.missing)


@report
def what_is_another_each_time_is_told(desk):
    desk.each(
        [[("a", "10:00:00", "o1")], [("b", "10:10:00", "o2")]], [[("a", "10:00:05", "p1")], [("b", "10:10:00", "p2")]]
    )
    orders = desk.read("orders").withColumn("event_id", F.expr("uuid()")).where("rand() < 2").alias("orders")
    joined = orders.join(desk.read("payments"), F.expr(WITHIN.format("15 SECONDS")))
    desk.run(joined.select("orders.event_id", F.col("payments.row").alias("p")))
    job = wb.open_job(joined.select("orders.event_id", F.col("payments.row").alias("p")), desk.home / "checkpoint")
    [words] = [each for each in job.missing if "differs each time" in each]
    assert "uuid()" in words
    assert "rand()" in words
    assert any("may differ from what the job had" in each for each in job.caveats)


@report
def a_join_that_spark_cannot_plan_is_refused_in_a_sentence(desk):
    desk.each([[("a", "10:00:00", "o1")]], [[("a", "10:00:05", "p1")]])
    alike = F.udf(lambda one, other: one == other, "boolean")
    on = F.expr(WITHIN.format("15 SECONDS")) & alike("orders.row", "payments.row")
    with pytest.raises(wb.ArgumentError, match=r"^joined: got 'a DataFrame that Spark cannot plan'; give"):
        wb.describe(desk.read("orders").join(desk.read("payments"), on, "left"))


@report
def a_bound_that_was_changed_at_a_restart_shows_in_the_state(desk):
    def joined(bound):
        return desk.read("orders").join(desk.read("payments"), F.expr(WITHIN.format(bound)))

    desk.each(
        [[("a", "10:00:00", "o1")], [("b", "10:01:00", "o2")]], [[("x", "10:00:00", "p1")], [("y", "10:01:00", "p2")]]
    )
    desk.run(joined("15 SECONDS"))
    before = desk.reports
    desk.arrive(2, orders=[("c", "10:10:00", "o3")], payments=[("c", "10:10:05", "p3")])
    desk.run(joined("5 MINUTES"), again=True)
    job = wb.open_job(joined("5 MINUTES"), desk.home / "checkpoint", progress=[*before, *desk.reports])
    assert "rows in state after each micro-batch (numRowsTotal)" in job.mismatches.what.tolist()
    assert "rows in state after each micro-batch" in job.mismatch


@report
def two_actions_of_a_micro_batch_count_twice(desk):
    desk.each(
        [[("a", "10:00:00", "o1"), ("b", "10:00:00", "o2")], [("c", "10:10:00", "o3")], [("d", "10:00:00", "late")]],
        [[("x", "10:00:00", "p1"), ("y", "10:00:00", "p2")], [("c", "10:10:05", "p3")], [("d", "10:10:00", "p4")]],
    )
    joined = desk.read("orders").join(desk.read("payments"), F.expr(WITHIN.format("15 SECONDS")))

    def twice(frame, number):
        frame.count()
        frame.collect()

    place = str(desk.home / "checkpoint")
    query = (
        joined.writeStream.foreachBatch(twice).option("checkpointLocation", place).trigger(availableNow=True).start()
    )
    query.awaitTermination()
    job = wb.open_job(joined, place, progress=query.recentProgress)
    assert "each of Spark's counters is 2 times the model's: foreachBatch runs the micro-batch again" in job.mismatch


@report
def a_delay_that_was_changed_at_a_restart_is_named(desk):
    def joined(delay):
        return desk.read("orders", delay).join(desk.read("payments"), F.expr(WITHIN.format("15 SECONDS")))

    def both(number, at):
        desk.arrive(number, orders=[("a", at, f"o{number}")], payments=[("a", at, f"p{number}")])

    for number, at in enumerate(("10:00:00", "10:01:00", "10:02:00")):
        both(number, at)
    desk.run(joined("10 seconds"))
    for number, at in enumerate(("10:10:00", "10:20:00", "10:30:00"), 3):
        both(number, at)
    desk.run(joined("2 minutes 30 seconds"), again=True)
    mismatch = wb.open_job(joined("10 seconds"), desk.home / "checkpoint").mismatch
    assert "on the watermarks are those of a delay of 2 min 30 s on orders" in mismatch
    assert "here it is 10 s" in mismatch
    mismatch = wb.open_job(joined("2 minutes 30 seconds"), desk.home / "checkpoint").mismatch
    assert "; before micro-batch " in mismatch
    assert "the watermarks are those of a delay of 10 s on orders, with which the query ran then" in mismatch


@report
def a_row_that_was_late_before_the_delay_was_made_longer(desk):
    def joined(delay):
        return desk.read("orders", delay).join(desk.read("payments"), F.expr(WITHIN.format("15 SECONDS")), "left")

    desk.each(
        [[("a", "10:00:00", "o1")], [("b", "10:10:00", "o2")]], [[("a", "10:00:05", "p1")], [("b", "10:10:05", "p2")]]
    )
    desk.run(joined("10 seconds"))
    desk.arrive(2, orders=[("c", "10:20:00", "o3"), ("x", "10:06:00", "ox")], payments=[("c", "10:20:05", "p3")])
    desk.run(joined("5 minutes"), again=True)
    job = wb.open_job(joined("5 minutes"), desk.home / "checkpoint")
    assert fates(job)["ox"] == "late"
    assert "the watermark delay of 5 min that orders has now would have kept it" in reason(job, "ox")
    before = wb.open_job(joined("10 seconds"), desk.home / "checkpoint")
    assert "a watermark delay of 4 min 0.001 s on orders would have kept it" in reason(before, "ox")


# --- keys that are no plain columns -----------------------------------------------------------------------------------


def met(job):
    """The rows that met another, as the job's own fates say."""
    return set(job.rows.row[job.rows.fate == "matched"])


@report
def keys_of_several_columns(desk):
    desk.arrive(0, orders=[("a", "10:00:00", "oa"), ("b", "10:00:01", "ob"), ("1", "10:00:02", "o1")])
    desk.arrive(0, payments=[("aoa", "10:00:05", "pa"), ("bob", "10:00:06", "pb"), ("1", "10:00:06", "p1")])
    within = "payments.at BETWEEN orders.at AND orders.at + INTERVAL 15 SECONDS"
    for condition in ("concat(orders.id, orders.row) = payments.id", "payments.id = concat(orders.id, orders.row)"):
        desk.out.clear()
        job = desk.opened(desk.read("orders").join(desk.read("payments"), F.expr(f"{condition} AND {within}"), "left"))
        assert (
            met(job) == {row for each in desk.out if each[4] for row in (each[3], each[6])} == {"oa", "pa", "ob", "pb"}
        )


@report
def keys_with_a_collation(desk):
    if desk.spark.version < "4":
        return
    desk.each(
        [[("A", "10:00:00", "oa"), ("b ", "10:00:01", "ob")], [("z", "10:10:00", "oz")]],
        [[("a", "10:00:05", "pa"), ("b", "10:00:06", "pb")], [("Z", "10:10:00", "pz")]],
    )
    for collation, together in (("UTF8_LCASE", {"oa", "pa", "oz", "pz"}), ("UTF8_BINARY_RTRIM", {"ob", "pb"})):
        desk.out.clear()
        sides = [
            desk.read(name).withColumn("id", F.expr(f"id COLLATE {collation}")).alias(name)
            for name in ("orders", "payments")
        ]
        job = desk.opened(sides[0].join(sides[1], F.expr(WITHIN.format("15 SECONDS"))))
        assert met(job) == {row for each in desk.out for row in (each[3], each[6])} == together, collation


@report
def null_keys_that_spark_pairs(desk):
    desk.each(
        [[("", "10:00:00", "o1"), ("a", "10:00:01", "oa")], [("z", "10:10:00", "oz")], [("y", "10:20:00", "oy")]],
        [[("", "10:00:05", "p1"), ("a", "10:00:06", "pa")], [("z", "10:10:00", "pz")], [("y", "10:20:00", "py")]],
    )
    within = "payments.at BETWEEN orders.at AND orders.at + INTERVAL 15 SECONDS"
    asked = {
        "nullif(orders.id, '') = nullif(payments.id, '')": "inner",
        "concat(nullif(orders.id, ''), 'x') = concat(nullif(payments.id, ''), 'x')": "left",
        "nullif(orders.id, '') = payments.id": "inner",
    }
    for condition, how in asked.items():
        desk.out.clear()
        job = desk.opened(desk.read("orders").join(desk.read("payments"), F.expr(f"{condition} AND {within}"), how))
        assert met(job) == {row for each in desk.out if each[6] for row in (each[3], each[6])}, condition


@report
def windows_without_a_key(desk):
    desk.each(
        [[("a", "10:00:00", "oa"), ("b", "10:00:11", "ob")], [("z", "10:10:00", "oz")], [("y", "10:20:00", "oy")]],
        [[("c", "10:00:05", "pc"), ("d", "10:00:16", "pd")], [("w", "10:11:00", "pz")], [("v", "10:20:00", "py")]],
    )
    sides = [
        desk.read(name).withColumn("w", F.window("at", "10 seconds")).alias(name) for name in ("orders", "payments")
    ]
    pairs = sides[0].join(sides[1], F.expr("orders.w = payments.w"), "left")
    job = desk.opened(pairs.select("orders.row", "orders.w", F.col("payments.row").alias("p")))
    assert met(job) == {"oa", "pc", "ob", "pd", "oy", "py"}
    assert fates(job)["oz"] == "unmatched"


@report
def parts_of_windows_are_not_understood_and_do_no_harm(desk):
    desk.each(
        [[("a", "10:00:00", "oa")], [("z", "10:10:00", "oz")]], [[("a", "10:00:05", "pa")], [("z", "10:10:00", "p")]]
    )
    sides = [
        desk.read(name).withColumn("w", F.window("at", "10 seconds")).alias(name) for name in ("orders", "payments")
    ]
    on = F.expr("orders.id = payments.id AND orders.w.start = payments.w.start")
    job = desk.opened(sides[0].join(sides[1], on).select("orders.row", "orders.id", "orders.w"))
    assert not job.is_understood
    assert any("compares parts of windows: join on the windows themselves" in each for each in job.unknown)
    assert len(job.rows) == 4
    assert len(job.batches) > 1
    assert job.late.empty


# --- rows that leave on the way ---------------------------------------------------------------------------------------


@report
def rows_that_a_filter_takes_out_are_told(desk):
    amounts = {"a": 10, "b": 60}
    desk.arrive(
        0, orders=[{"id": k, "at": "2026-01-01T10:00:00Z", "row": f"o{k}", "amount": n} for k, n in amounts.items()]
    )
    desk.arrive(0, payments=[(k, "10:00:05", f"p{k}") for k in "abc"])
    orders = desk.read("orders", None, f"{SCHEMA}, amount int").where("amount > 20").withWatermark("at", "10 seconds")
    joined = orders.alias("orders").join(desk.read("payments"), F.expr(WITHIN.format("15 SECONDS")), "full")
    job = desk.opened(joined)
    assert reason(job, "oa") == "the filter (orders.amount > 20) removes it before it reaches the join"
    assert (
        reason(job, "pa").startswith(
            "no partner: key a arrived on orders only in rows that the filter (orders.amount > 20) removes"
        )
        or fates(job)["pa"] == "pending"
    )
    assert fates(job)["ob"] == "matched"
    [candidate] = job.why(list(job.rows.row).index("pa")).candidates.itertuples()
    assert candidate.removed == "the filter (orders.amount > 20)"
    words = "before it, removed before the join by the filter (orders.amount > 20)"
    assert words in job.why(list(job.rows.row).index("pa")).text
    again = wb.run(job.join, *job.recording(), finish=False)
    assert "oa" not in list(again.rows.row)
    assert again.mismatches.empty


@report
def duplicates_are_followed(desk):
    desk.each(
        [
            [("a", "10:00:00", "o1"), ("a", "10:00:00", "o1 again")],
            [("z", "10:10:00", "oz")],
            [("a", "10:11:40", "o3")],
        ],
        [[("a", "10:00:05", "p1")], [("z", "10:10:00", "pz")], [("a", "10:11:45", "p3")]],
    )
    orders = desk.read("orders").dropDuplicates(["id"]).alias("orders")
    joined = orders.join(desk.read("payments"), F.expr(WITHIN.format("15 SECONDS")), "left")
    job = desk.opened(joined.select("orders.id", "orders.at", F.col("orders.row").alias("o")))
    assert fates(job)["oz"] == "matched"
    assert "dropDuplicates" in reason(job, "o3")


@report
def rows_that_a_table_beside_the_stream_takes_out_are_told(desk):
    desk.each(
        [[("a", "10:00:00", "oa"), ("b", "10:00:01", "ob")], [("z", "10:10:00", "oz")]],
        [[("a", "10:00:05", "pa"), ("b", "10:00:06", "pb")], [("z", "10:10:00", "pz")]],
    )
    shops = desk.spark.createDataFrame([("a", "north"), ("z", "south"), ("z", "again")], "shop string, region string")
    closed = desk.spark.createDataFrame([("a",)], "id string")
    within = F.expr(WITHIN.format("15 SECONDS"))
    kinds = {
        "inner": lambda orders: orders.join(shops, orders.id == shops.shop),
        "the other way round": lambda orders: shops.join(orders, orders.id == shops.shop),
        "right": lambda orders: shops.join(orders, orders.id == shops.shop, "right"),
        "left": lambda orders: orders.join(shops, orders.id == shops.shop, "left"),
        "using": lambda orders: orders.join(shops.withColumnRenamed("shop", "id"), "id"),
        "semi": lambda orders: orders.join(shops, orders.id == shops.shop, "left_semi"),
        "anti": lambda orders: orders.join(closed, ["id"], "left_anti"),
        "after a filter": lambda orders: orders.where("id <> 'b'").join(shops, orders.id == shops.shop),
        "an empty table": lambda orders: orders.crossJoin(shops.where("region = 'east'")),
    }
    for name, below in kinds.items():
        orders = below(desk.read("orders")).alias("orders")
        job = desk.opened(orders.join(desk.read("payments"), within, "full"))
        gone = {"anti": {"oa"}, "an empty table": {"oa", "ob", "oz"}}.get(name, {"ob"})
        gone = set() if name in ("left", "right") else gone
        told = {row for row, why in zip(job.rows.row, job.rows.reason, strict=True) if "removes it" in why}
        assert told == gone, name
        words = "the filter" if name == "after a filter" else "the " if gone else ""
        assert all(reason(job, row).startswith(words) for row in gone), name
        times = {"inner": 2, "the other way round": 2, "right": 2, "left": 2, "using": 2}.get(name, 1)
        assert sum(row == "oz" for row in job.rows.row) == (2 if name == "after a filter" else times), name
        assert len(job.rows[job.rows.row == "ob"]) == 1, name


@report
def rows_without_elements_to_explode_are_told(desk):
    lists = {"oa": ["x", "y"], "ob": [], "oc": None, "od": ["x"]}
    rows = [
        {"id": row[1], "at": "2026-01-01T10:00:00Z", "row": row, "items": items, "amount": 1 + (row != "od")}
        for row, items in lists.items()
    ]
    desk.arrive(0, orders=rows)
    desk.arrive(0, payments=[(key, "10:00:05", f"p{key}") for key in "abcd"])
    for function, kept in ((F.explode, False), (F.posexplode, False), (F.explode_outer, True)):
        orders = desk.read("orders", None, f"{SCHEMA}, items array<string>, amount int").where("amount > 1")
        orders = orders.select("id", "at", "row", function("items")).withWatermark("at", "10 seconds").alias("orders")
        job = desk.opened(orders.join(desk.read("payments"), F.expr(WITHIN.format("15 SECONDS")), "full"))
        told = {row: why for row, why in zip(job.rows.row, job.rows.reason, strict=True) if "removes it" in why}
        assert set(told) == ({"od"} if kept else {"ob", "oc", "od"})
        assert told["od"].startswith("the filter")
        assert list(job.rows.row).count("oa") == 2
        assert list(job.rows.row).count("od") == 1
        assert fates(job)["oa"] == "matched"


@report
def a_row_without_a_time_is_told(desk):
    rows = [[("a", "10:00:00"), ("b", "10:00:00.211")], [("z", "10:10:00")], [("y", "10:20:00")]]
    for number, each in enumerate(rows):
        for name in ("orders", "payments"):
            cut = None if name == "orders" else 8
            desk.arrive(
                number, **{name: [{"id": k, "s": f"2026-01-01 {t[:cut]}", "row": name[0] + k} for k, t in each]}
            )

    def parsed(name):
        found = desk.read(name, None, "id string, s string, row string")
        return found.withColumn("at", F.expr("try_to_timestamp(s, 'yyyy-MM-dd HH:mm:ss')")).withWatermark(
            "at", "10 seconds"
        )

    joined = (
        parsed("orders")
        .alias("orders")
        .join(parsed("payments").alias("payments"), F.expr(WITHIN.format("15 SECONDS")), "left")
    )
    job = desk.opened(joined)
    assert any("1 row of orders has no event time" in each for each in job.missing)
    assert "arrived on orders without an event time" in reason(job, "pb")


@report
def a_time_in_the_far_future_is_told(desk):
    for number in range(2):
        ms = 1_767_261_600_000 + number * 60_000
        desk.arrive(
            number,
            orders=[{"id": "ab"[number], "ms": ms, "row": f"o{number}"}],
            payments=[{"id": "ab"[number], "ms": ms + 5_000, "row": f"p{number}"}],
        )

    def timed(name, time):
        found = desk.read(name, None, "id string, ms bigint, row string").withColumn("at", F.expr(time))
        return found.withWatermark("at", "10 seconds").alias(name)

    joined = timed("orders", "CAST(ms AS TIMESTAMP)").join(
        timed("payments", "timestamp_millis(ms)"), F.expr(WITHIN.format("15 SECONDS")), "full"
    )
    job = desk.opened(joined)
    assert any("were milliseconds read as seconds?" in each for each in job.missing)
    assert "far future" in reason(job, "p0")


# --- conditions -------------------------------------------------------------------------------------------------------


@report
def a_row_that_fails_on_its_side_alone_is_padded_at_once(desk):
    for number, (at, amount) in enumerate([("10:00:00", 10), ("10:10:00", 60), ("10:20:00", 60)]):
        key = "azy"[number]
        desk.arrive(number, orders=[{"id": key, "at": f"2026-01-01T{at}Z", "row": f"o{key}", "amount": amount}])
        desk.arrive(number, payments=[(key, at, f"p{key}")])
    on = F.expr(WITHIN.format("15 SECONDS") + " AND orders.amount > 50")
    orders = desk.read("orders", schema=f"{SCHEMA}, amount int")
    job = desk.opened(
        orders.join(desk.read("payments"), on, "left").select("orders.id", F.col("orders.row").alias("o"))
    )
    assert fates(job)["oa"] == "unmatched"
    assert (0, "a", "oa") in desk.out


@report
def keys_of_two_types(desk):
    desk.arrive(0, orders=[{"id": k, "at": "2026-01-01T10:00:00Z", "row": f"o{k}"} for k in (603, 42, 9)])
    desk.arrive(0, payments=[("603", "10:00:05", "p603"), ("0042", "10:00:08", "p42")])
    orders = desk.read("orders", schema="id int, at timestamp, row string")
    job = desk.opened(orders.join(desk.read("payments"), F.expr(WITHIN.format("15 SECONDS")), "left"))
    assert [fates(job)[row] for row in ("o603", "o42", "p42")] == ["matched"] * 3
    assert any("CAST(" in each for each in job.description.notes)
    chosen = wb.open_job(orders.join(desk.read("payments"), F.expr(WITHIN.format("15 SECONDS")), "left"),
                         desk.home / "checkpoint", keys=["42"])  # fmt: skip
    assert "o42" in list(chosen.rows.row)


@report
def null_keys_that_are_equal(desk):
    desk.each(
        [[(None, "10:00:00", "o1"), ("a", "10:00:02", "o2")]], [[(None, "10:00:03", "p1"), ("a", "10:00:04", "p2")]]
    )
    on = F.expr(WITHIN.format("15 SECONDS").replace("orders.id =", "orders.id <=>"))
    job = desk.opened(desk.read("orders").join(desk.read("payments"), on))
    assert set(fates(job).values()) == {"matched"}


@report
def a_day_in_which_clocks_change(desk):
    desk.spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    desk.each(
        [[("a", "2026-03-07T17:00:00Z", "o1")], [("z", "2026-03-12T12:00:00Z", "o2")]],
        [[("a", "2026-03-08T16:30:00Z", "p1")], [("z", "2026-03-12T12:00:00Z", "p2")]],
    )
    on = F.expr(WITHIN.format("24 HOURS"))
    joined = desk.read("orders", "1 hour").join(desk.read("payments", "1 hour"), on, "left")
    job = desk.opened(joined.select("orders.id", F.col("orders.row").alias("o"), F.col("payments.row").alias("p")))
    assert fates(job)["o1"] == "unmatched"
    assert fates(job)["o2"] == "matched"
    assert (1, "z", "o2", "p2") in desk.out


@report
def the_condition_names_the_frame_before_its_watermark(desk):
    times = ["10:00:00", "10:10:00", "10:20:00", "10:30:00"]
    desk.each(
        [[(key, at, f"o{key}")] for key, at in zip("abcd", times, strict=True)],
        [[(key, at, f"p{key}")] for key, at in zip("abcd", times, strict=True)],
    )
    orders, payments = desk.read("orders", None), desk.read("payments", None)
    on = (orders.id == payments.id) & (payments.at >= orders.at)
    on &= payments.at <= orders.at + F.expr("INTERVAL 15 SECONDS")
    joined = orders.withWatermark("at", "10 seconds").join(payments.withWatermark("at", "10 seconds"), on)
    joined = joined.select(orders.id, payments.row)
    assert wb.describe(joined).notes == ()
    desk.opened(joined)
    assert desk.state[-1] == 4


@report
def another_column_than_the_one_with_the_watermark(desk):
    desk.each([[]], [[]])
    sides = [
        desk.read(name).withColumn("at2", F.date_trunc("second", "at")).alias(name) for name in ("orders", "payments")
    ]
    on = F.expr(WITHIN.format("15 SECONDS").replace(".at", ".at2"))
    found = wb.describe(sides[0].join(sides[1], on))
    assert any("at2 of the left side, and its watermark is on at" in each for each in found.unknown)


@report
def one_watermark_only(desk):
    desk.each([[]], [[]])
    on = F.expr(WITHIN.format("15 SECONDS"))
    found = wb.describe(desk.read("orders", None).join(desk.read("payments"), on, "left"))
    (note,) = found.notes
    assert "as the left side has no watermark" in note
    assert "that the left join pads never come out" in note
    same = F.expr("orders.id = payments.id AND orders.at = payments.at")
    equal = wb.describe(desk.read("orders", None).join(desk.read("payments"), same))
    assert not any("never leave" in each for each in (*equal.unknown, *equal.notes))


# --- clocks, restarts and idleness ------------------------------------------------------------------------------------


@report
def the_clock_as_event_time(desk):
    def clocked(name):
        found = desk.read(name, None).withColumn("seen", F.current_timestamp())
        return found.withWatermark("seen", "10 seconds").alias(name)

    def joined():
        on = F.expr(WITHIN.format("2 SECONDS").replace(".at", ".seen"))
        return (
            clocked("orders").join(clocked("payments"), on, "left").select("orders.id", F.col("orders.row").alias("o"))
        )

    desk.arrive(0, orders=[("a", "10:00:00", "o1")], payments=[("x", "10:00:00", "px")])
    desk.run(joined())
    time.sleep(3)
    desk.arrive(1, orders=[("c", "10:00:00", "o3")], payments=[("a", "10:00:00", "p1")])
    desk.run(joined(), again=True)
    job = wb.open_job(joined(), desk.home / "checkpoint")
    assert job.mismatches.empty, job.mismatches.to_string()
    assert fates(job)["o1"] != "matched"


@report
def three_runs_of_one_side_each(desk):
    def joined():
        return desk.read("orders").join(desk.read("payments"), F.expr(WITHIN.format("15 SECONDS")), "left")

    desk.arrive(0, orders=[("a", "10:00:00", "o1"), ("b", "10:05:00", "o2")])
    desk.arrive(0, payments=[("a", "10:00:05", "p1"), ("k", "10:01:00", "p2")])
    desk.run(joined())
    desk.arrive(1, orders=[], payments=[("c", "10:05:00", "p3")])
    desk.run(joined(), again=True)
    desk.arrive(2, orders=[("d", "10:10:00", "o3")], payments=[])
    desk.run(joined(), again=True)
    job = wb.open_job(joined(), desk.home / "checkpoint")
    assert job.mismatches.empty, job.mismatches.to_string()
    assert "payments holds it back, with no row since the query was restarted" in reason(job, "o2")
    assert any("it forgot each side's watermark" in each.problem for each in job.advise())


@report
def nobody_is_idle_in_a_micro_batch_without_rows(desk):
    desk.each([[("1", "10:00:00", "l1"), ("2", "10:00:01", "l2")]], [[("1", "10:00:02", "r1")]])
    on = F.expr(WITHIN.format("3 SECONDS"))
    job = desk.opened(desk.read("orders", "0 seconds").join(desk.read("payments", "0 seconds"), on, "left"))
    assert fates(job)["l2"] == "pending"
    assert "idle" not in reason(job, "l2")


# --- the cause is not the delay ---------------------------------------------------------------------------------------


@report
def one_row_from_the_future(desk):
    desk.arrive(0, orders=[("a", "10:00:00", "o1")], payments=[("a", "10:00:02", "p1")])
    desk.arrive(1, orders=[("z", "2026-01-02T10:00:00Z", "oX")], payments=[("z", "2026-01-02T10:00:00Z", "pX")])
    for number, minute in ((2, "02"), (3, "03"), (4, "04")):
        key = "abcde"[number]
        desk.arrive(number, orders=[(key, f"10:{minute}:00", f"o{number}")])
        desk.arrive(number, payments=[(key, f"10:{minute}:02", f"p{number}")])
    on = F.expr(WITHIN.format("10 SECONDS"))
    job = desk.opened(desk.read("orders", "30 seconds").join(desk.read("payments", "30 seconds"), on, "left"))
    assert "oX and pX" in reason(job, "o3")
    assert "watermark delay" not in reason(job, "o3")
    assert [each.problem.split(" are ")[0] for each in job.advise()] == ["oX, pX"]


@report
def the_policy_max_is_named(desk):
    desk.spark.conf.set("spark.sql.streaming.multipleWatermarkPolicy", "max")
    rows = [
        ("x", "09:30:00"),
        ("x", "09:40:00"),
        ("x", "09:50:00"),
        ("a", "10:00:05"),
        ("b", "10:10:05"),
        ("c", "10:20:05"),
    ]
    for number, (key, at) in enumerate(rows):
        desk.arrive(number, orders=[("abcdef"[number], f"10:{number}0:00", f"o{number}")])
        desk.arrive(number, payments=[(key, at, f"p{number}")])
    on = F.expr(WITHIN.format("10 SECONDS"))
    job = desk.opened(desk.read("orders", "60 seconds").join(desk.read("payments", "60 seconds"), on, "left"))
    assert "with policy min, this row would be on time" in reason(job, "p4")
    assert "its partner p3 came too late and was dropped; the watermark follows the faster side" in reason(job, "o0")
    assert "with policy min, both would be on time" in reason(job, "o0")
    (advice,) = [each for each in job.advise() if each.setting == "policy"]
    assert advice.value == "min"
    assert fates_of(job.under(policy="min"))["p4"] == "matched"


def fates_of(preview):
    return dict(zip(preview.rows.row, preview.rows.fate, strict=True))


@report
def a_bound_is_not_to_be_narrowed_where_rows_miss_by_it(desk):
    desk.arrive(0, orders=[], payments=[("a", "08:00:00", "v1")])
    desk.arrive(1, orders=[("a", "10:00:00", "o1"), ("a", "10:10:00", "o2")], payments=[])
    desk.arrive(2, orders=[("h", "11:00:00", "oh")], payments=[("h", "11:00:00", "vh")])
    desk.arrive(3, orders=[("h", "12:30:00", "oi")], payments=[("h", "12:30:00", "vi")])
    on = F.expr("orders.id = payments.id AND payments.at BETWEEN orders.at - INTERVAL 1 HOUR AND orders.at")
    job = desk.opened(desk.read("orders").join(desk.read("payments"), on))
    assert not [each for each in job.advise() if each.setting == "lower"]


@report
def days_begin_at_two_o_clock(desk):
    desk.spark.conf.set("spark.sql.session.timeZone", "Europe/Copenhagen")
    desk.each([[("a", "2026-06-30T22:30:00Z", "o1")]], [[("a", "2026-07-01T08:00:00Z", "p1")]])
    sides = [
        desk.read(name, "1 hour").withColumn("w", F.window("at", "1 day")).alias(name)
        for name in ("orders", "payments")
    ]
    joined = sides[0].join(sides[1], F.expr("orders.id = payments.id AND orders.w = payments.w"))
    job = desk.opened(joined.select("orders.id", F.col("orders.row").alias("o")))
    assert "01:00 or 02:00 in Europe/Copenhagen" in " ".join(job.description.notes)


@report
def a_pair_is_late_for_the_window_above(desk):
    desk.each([[("a", "10:00:00", "o1")]], [[("a", "10:00:00", "p1")]])
    pairs = desk.read("orders").join(desk.read("payments"), F.expr("orders.id = payments.id"))
    found = wb.describe(pairs.groupBy(F.window("orders.at", "10 minutes")).count())
    assert any("an aggregation after the join drops pairs" in each for each in found.notes)


# --- the cause is named, and what to do --------------------------------------------------------------------------------


@report
def milliseconds_that_were_divided_once_too_often(desk):
    for number in range(3):
        ms = 1_767_261_600_000 + number * 60_000
        for name, more in (("orders", 0), ("payments", 5_000)):
            desk.arrive(number, **{name: [{"id": "abc"[number], "ms": ms + more, "row": f"{name[0]}{number}"}]})

    def timed(name, time):
        found = desk.read(name, None, "id string, ms bigint, row string").withColumn("at", F.expr(time))
        return found.withWatermark("at", "10 seconds").alias(name)

    once = "CAST(ms / 1000000 AS TIMESTAMP)"
    for right, words in ((once, "of orders and payments are in January 1970"), ("timestamp_millis(ms)", "are in 1970")):
        job = desk.opened(timed("orders", once).join(timed("payments", right), F.expr(WITHIN.format("15 SECONDS"))))
        (advice,) = [each for each in job.advise() if words in each.problem]
        assert "make at with timestamp_millis" in advice.remedy
        assert job.rows.fix_setting.isna().all()


@report
def a_static_side_is_named(desk):
    desk.each([[("a", "10:00:00", "o1")]], [[("a", "10:00:05", "p1")]])
    desk.arrive(0, payments=[("a", "10:00:05", "p1")])
    static = [desk.spark.read.schema(SCHEMA).json(str(desk.home / name)).alias(name) for name in ("orders", "payments")]
    on = F.expr(WITHIN.format("15 SECONDS"))
    for joined, stream, table in (
        (desk.read("orders").join(static[1], on, "left"), "orders", "payments"),
        (static[0].join(desk.read("payments"), on), "payments", "orders"),
    ):
        with pytest.raises(wb.ArgumentError) as refused:
            wb.describe(joined)
        assert f"a join of the stream {stream} with {table}, which is static" in str(refused.value)
        assert f"where rows of {table} arrive later, read it with spark.readStream" in str(refused.value)


@report
def what_duplicates_are_is_told(desk):
    desk.each(
        [[("a", "10:00:00", "o1"), ("a", "10:00:00", "o1")], [("z", "10:10:00", "oz")], [("a", "10:11:40", "o3")]],
        [[("a", "10:00:05", "p1")], [("z", "10:10:00", "pz")], [("a", "10:11:45", "p3")]],
    )
    orders, on = desk.read("orders"), F.expr(WITHIN.format("15 SECONDS"))
    meanings = {
        "keeps each id forever: a later row with the same id is always dropped": orders.dropDuplicates(["id"]),
        "compares id and at: a row that is sent again with another at is no duplicate": (
            orders.dropDuplicates(["id", "at"])
        ),
        "keeps each id until the watermark has passed": orders.dropDuplicatesWithinWatermark(["id"]),
    }
    for meaning, frame in meanings.items():
        (note,) = wb.describe(frame.alias("orders").join(desk.read("payments"), on, "left")).notes
        assert f" of orders {meaning}" in note
    pairs = orders.join(desk.read("payments"), on).select("orders.id", "orders.at", "orders.row")
    job = desk.opened(pairs.dropDuplicates(["id"]))
    assert any("dropDuplicates after the join removes pairs" in each for each in job.description.notes)
    assert any("dropDuplicates after the join keeps each id forever" in each for each in job.description.notes)


@report
def what_brings_the_watermark_there_is_told(desk):
    desk.each(
        [[("1", "10:00:00", "l1"), ("2", "10:00:01", "l2")], [("9", "10:09:00", "l9")]], [[("1", "10:00:02", "r1")], []]
    )
    on = F.expr(WITHIN.format("3 SECONDS"))
    job = desk.opened(desk.read("orders", "0 seconds").join(desk.read("payments", "5 seconds"), on, "left"))
    words = "a row of any key at 10:00:09.001 or later on payments brings the watermark there"
    assert words in reason(job, "l2")
    assert "at 10:09:03.001 or later on orders, and one at 10:09:08.001 or later on payments, brings" in reason(
        job, "l9"
    )
    desk.arrive(2, payments=[("x", "10:00:09.001", "rx")])
    job = desk.opened(desk.read("orders", "0 seconds").join(desk.read("payments", "5 seconds"), on, "left"))
    assert fates(job)["l2"] == "unmatched"  # as was said


@report
def one_row_moves_the_watermarks_of_a_stream_joined_with_itself(desk):
    desk.each([[("a", "10:00:00", "l1")], [("b", "10:20:00", "l2")]], [[], []])
    later = "payments.at > orders.at AND payments.at <= orders.at + INTERVAL 30 SECONDS"
    on = F.expr(f"orders.id = payments.id AND {later}")
    stream = desk.read("orders", "10 seconds")
    job = desk.opened(stream.alias("orders").join(stream.alias("payments"), on, "left"))
    assert "; a row of any key at 10:20:40.001 or later on orders brings the watermark there" in reason(job, "l2")
    desk.arrive(2, orders=[("x", "10:20:40.001", "l3")])
    job = desk.opened(stream.alias("orders").join(stream.alias("payments"), on, "left"))
    assert "l2" not in job.state(int(job.batches.batch.max()))["row"].tolist()  # as was said
    assert "brings the watermark there" not in reason(job, "l2")


@report
def one_watermark_is_that_of_both_sides(desk):
    """Spark keeps it by the name of its operator: the newest row of either side moves it."""

    def joined(delay):
        events = desk.read("events", delay)
        starts, ends = (events.where(F.col("row").startswith(each)).alias(each) for each in ("start", "end"))
        within = "end.at BETWEEN start.at AND start.at + INTERVAL 30 SECONDS"
        return starts.join(ends, F.expr(f"start.id = end.id AND {within}"), "left")

    desk.arrive(0, events=[("a", "10:00:00", "start-1"), ("a", "10:00:05", "end-1")])
    desk.arrive(1, events=[("b", "10:01:00", "start-2")])
    desk.arrive(2, events=[("c", "10:00:10", "end-2")])
    desk.arrive(3, events=[("c", "10:00:20", "start-3"), ("b", "10:02:00", "end-3")])
    job = desk.opened(joined("10 seconds"))
    assert desk.dropped == 1
    assert job.rows.row[job.rows.fate == "late"].tolist() == ["start-3"]
    [fix] = re.findall("a watermark delay of (.+?) on ", reason(job, "start-3"))
    desk.run(joined(fix.replace(" s", " seconds")))
    assert desk.dropped == 0, fix


@report
def keys_are_told_as_the_condition_compares_them(desk):
    schema = "id int, at timestamp, row string"
    desk.each(
        [
            [{"id": 3, "at": "2026-01-01T10:00:00Z", "row": "l1"}],
            [{"id": 9, "at": "2026-01-01T10:10:00Z", "row": "l2"}],
        ],
        [
            [{"id": 3, "at": "2026-01-01T10:00:01Z", "row": "r1"}],
            [{"id": 10, "at": "2026-01-01T10:10:00Z", "row": "r2"}],
        ],
    )
    orders, payments = (desk.read(name, "10 seconds", schema) for name in ("orders", "payments"))
    within = "payments.at BETWEEN orders.at AND orders.at + INTERVAL 30 SECONDS"
    job = desk.opened(orders.join(payments, F.expr(f"orders.id + 1 = payments.id AND {within}"), "left"))
    assert fates(job) == {"l1": "unmatched", "l2": "matched", "r1": "unmatched", "r2": "matched"}
    assert reason(job, "l1").startswith("no partner: key 4 never arrived on payments")
    assert job.rows.set_index("row")["(orders.id + 1)"].dropna().to_dict() == {"l1": 4, "l2": 10}


def written(number, minute, second=0):
    """One order and its payment a second later, of one key."""
    at = f"10:{minute:02}:{second:02}"
    return [(f"k{number}", at, f"o{number}")], [(f"k{number}", at, f"p{number}")]


@report
def columns_of_one_name_are_told_apart_in_state(desk):
    desk.each(*zip(*(written(number, number) for number in range(4)), strict=True))
    orders, payments, more = desk.read("orders"), desk.read("payments"), desk.read("payments").alias("more")
    within = "{1}.at BETWEEN {0}.at AND {0}.at + INTERVAL 1 MINUTE AND {0}.id = {1}.id"
    pairs = orders.join(payments, F.expr(within.format("orders", "payments")))
    pairs = pairs.select("orders.id", "orders.at", "orders.row", "payments.row").alias("pairs")
    joined = pairs.join(more, F.expr(within.format("pairs", "more"))).select(
        "pairs.*", F.col("more.row").alias("again")
    )
    chain = desk.opened(joined)
    assert chain.joins[1].state(int(chain.batches.batch.max())).shape[0] > 0
    assert chain.unknown == chain.missing == ()


@report
def a_join_with_a_key_more_is_another_query(desk):
    desk.each(*zip(*(written(number, number) for number in range(2)), strict=True))

    def joined(more=""):
        on = "orders.id = payments.id AND payments.at BETWEEN orders.at AND orders.at + INTERVAL 1 MINUTE"
        pairs = desk.read("orders").join(desk.read("payments"), F.expr(on + more))
        return pairs.select("orders.id", "orders.row", F.col("payments.row").alias("paid"))

    desk.opened(joined())
    with pytest.raises(
        wb.ArgumentError, match="by 1 key column, and joined compares 2: it is the checkpoint of another"
    ):
        wb.open_job(joined(" AND orders.row = payments.row"), desk.home / "checkpoint")


@report
def a_limit_above_the_join_is_told(desk):
    desk.each(*zip(*(written(number, number) for number in range(3)), strict=True))
    on = "orders.id = payments.id AND payments.at BETWEEN orders.at AND orders.at + INTERVAL 1 MINUTE"
    job = desk.opened(desk.read("orders").join(desk.read("payments"), F.expr(on)).select("orders.id").limit(2))
    assert len(desk.out) == 2
    assert any(each.startswith("limit(2) after the join ends the output") for each in job.description.notes)


@report
def a_late_row_of_which_only_aggregates_are_known_has_no_late_partner(desk):
    clicks = [("u", "10:00:00"), ("u", "10:03:30"), ("v", "10:06:00"), ("v", "10:12:00"), ("z", "10:20:00")]
    logins = [("u", "10:00:05"), ("x", "10:03:30"), ("w", "10:06:00"), ("v", "10:12:00"), ("u", "10:03:40")]
    desk.each(
        *(
            [[(*row, f"{name}{number}")] for number, row in enumerate(rows)]
            for name, rows in (("c", clicks), ("l", logins))
        )
    )
    counts = desk.read("payments").groupBy(F.window("at", "1 minute").alias("s"), "id").count()
    counts = counts.select("id", F.window_time("s").alias("ended"), "count").alias("counts")
    on = "orders.id = counts.id AND counts.ended BETWEEN orders.at AND orders.at + INTERVAL 5 MINUTES"
    shutil.move(desk.home / "orders", desk.home / "swapped")
    shutil.move(desk.home / "payments", desk.home / "orders")
    shutil.move(desk.home / "swapped", desk.home / "payments")
    counted = desk.read("orders").join(counts, F.expr(on), "left")
    job = desk.opened(counted.select("orders.id", "orders.row", "orders.at", "counts.count", "counts.ended"))
    late = job.rows[job.rows.fate == "late"]
    assert late.row.tolist() == ["l4"]
    assert late.reason.iloc[0].endswith(
        "but which aggregates it would meet is not known, as they change with the watermark, too"
    )


@report
def a_row_that_a_semi_join_loses_has_its_cause(desk):
    orders = [[("a", "10:00:00", "oa")], [("c", "10:00:30", "oc")], [("d", "10:02:00", "od")]]
    payments = [[("a", "10:00:05", "pa")], [("b", "10:00:08", "pb")], [("d", "10:02:30", "pd")]]
    orders.append([("e", "10:05:00", "oe"), ("c", "10:00:31", "lost")])
    payments.append([("c", "10:00:33", "pc"), ("z", "10:05:00", "pz")])
    desk.each(orders, payments)
    on = "orders.id = payments.id AND payments.at BETWEEN orders.at AND orders.at + INTERVAL 1 MINUTE"
    desk.run(desk.read("orders").join(desk.read("payments"), F.expr(on), "left_semi"))
    joined = desk.read("orders").join(desk.read("payments"), F.expr(on), "left_semi")
    job = wb.open_job(joined, desk.home / "checkpoint")
    [lost] = job.rows.index[job.rows.row == "lost"]
    assert "Spark's left semi join loses such a row" in job.rows.reason[lost]
    assert job.causes[lost] == "the watermark had passed it or its partner"


@report
def times_of_day_today_are_no_event_times(desk):
    """A side without an event time is shown at the times of its micro-batches."""
    desk.each(*zip(*(written(number, number) for number in range(2)), strict=True))
    payments = desk.read("payments", None).select("id", "row").alias("payments")
    job = desk.opened(
        desk.read("orders").join(payments, F.expr("orders.id = payments.id")).select("orders.row", "orders.at")
    )
    health = figures(job)
    assert health.wait is None or health.wait < timedelta(hours=1)
    assert health.watermark_lag < timedelta(hours=1)


@report
def one_watermark_and_no_bound_want_both(desk):
    desk.each(*zip(*(written(number, number) for number in range(2)), strict=True))
    payments = desk.read("payments", None)
    job = desk.opened(
        desk.read("orders").join(payments, F.expr("orders.id = payments.id")).select("orders.row", "orders.at")
    )
    [note] = [each for each in job.description.notes if "never leave the state" in each]
    assert note.endswith(
        "call withWatermark on both sides before the join, and compare one event time with the other plus or minus an "
        "INTERVAL: without a bound rows stay in state forever, whatever the watermarks"
    )


@report
def keys_that_are_arrays(desk):
    schema = "tags array<int>, at timestamp, row string"
    tags = [([1, 2], [1, 2]), ([1, None], [1, None]), (None, [3])]
    for number, both in enumerate(tags):
        at = f"2026-01-01T10:0{number}:00Z"
        rows = [[{"tags": each, "at": at, "row": f"{name}{number}"}] for name, each in zip("lr", both, strict=True)]
        desk.arrive(number, orders=rows[0], payments=rows[1])
    orders, payments = (desk.read(name, schema=schema) for name in ("orders", "payments"))
    within = "payments.at BETWEEN orders.at AND orders.at + INTERVAL 30 SECONDS"
    job = desk.opened(orders.join(payments, F.expr(f"orders.tags = payments.tags AND {within}"), "left"))
    assert [each for each, fate in fates(job).items() if fate == "matched"] == ["l0", "l1", "r0", "r1"]
    assert job.rows.set_index("row")["tags as text"].to_dict()["r2"] == "[3]"


@report
def a_part_of_an_aggregates_window_has_no_watermark(desk):
    desk.each(*zip(*(written(number, number) for number in range(2)), strict=True))
    counts = desk.read("orders").groupBy("id", F.window("at", "1 minute").alias("w")).count()
    payments = desk.read("payments").withColumn("minute", F.date_trunc("minute", "at"))
    found = wb.describe(counts.join(payments, F.expr("orders.id = payments.id AND w.start = minute")))
    [ours] = [each for each in found.unknown if "a part of w of the left side" in each]
    assert 'make it with withColumn("time", F.window_time("window")) before the join' in ours
    [theirs] = [each for each in found.unknown if "minute of the right side" in each]
    assert theirs.endswith("set the watermark on minute, after it is computed, in place of at, or compare at")


def opened_once(desk, joined):
    """A job whose trigger runs one micro-batch."""
    place = str(desk.home / "checkpoint")
    query = joined.writeStream.format("noop").option("checkpointLocation", place).trigger(once=True).start()
    query.awaitTermination()
    return wb.open_job(joined, place)


@report
def a_once_trigger_runs_no_micro_batch_without_rows(desk):
    desk.each([[("a", "10:00:00", "o1"), ("b", "10:05:00", "o2")]], [[("z", "10:05:00", "pz")]])
    joined = desk.read("orders").join(desk.read("payments"), F.expr(WITHIN.format("15 SECONDS")), "left")
    job = opened_once(desk, joined)
    assert "which trigger(once=True) does not" in reason(job, "o1")
    assert "at 10:05:25.001 or later on orders, and one on payments, brings the watermark there" in reason(job, "o2")


@report
def a_window_that_the_watermark_has_passed_leaves_with_the_next_micro_batch(desk):
    desk.each([[("a", "10:00:00", "o1"), ("b", "10:00:28", "o2")]], [[("z", "10:00:28", "pz")]])
    sides = [
        desk.read(name).withColumn("w", F.window("at", "10 seconds")).drop("at").alias(name)
        for name in ("orders", "payments")
    ]
    joined = sides[0].join(sides[1], F.expr("orders.id = payments.id AND orders.w = payments.w"), "left")
    job = opened_once(desk, joined)
    assert "the watermark has since passed that, at 10:00:18, so in the next micro-batch it comes" in reason(job, "o1")
    assert "at 10:00:40 or later on orders, and one on payments, brings the watermark there" in reason(job, "o2")


@report
def windows_that_begin_at_no_local_midnight(desk):
    desk.each([[("a", "2026-06-30T22:30:00Z", "o1")]], [[("a", "2026-07-01T08:00:00Z", "p1")]])

    def told(zone, *window):
        desk.spark.conf.set("spark.sql.session.timeZone", zone)
        sides = [
            desk.read(name).withColumn("w", F.window("at", *window)).alias(name) for name in ("orders", "payments")
        ]
        notes = wb.describe(sides[0].join(sides[1], F.expr("orders.id = payments.id AND orders.w = payments.w"))).notes
        return " ".join(each for each in notes if "begin at 00:00 UTC" in each)

    assert 'startTime="23 hours" (as in January) or startTime="22 hours" (as in July)' in told(
        "Europe/Copenhagen", "1 day"
    )
    assert 'which is 02:00 in +02:00, the session\'s time zone: give window() startTime="22 hours"' in told(
        "+02:00", "1 day"
    )
    assert 'startTime="10 hours"' in told("GMT+2", "12 hours")
    assert 'startTime="30 minutes"' in told("Asia/Kolkata", "1 hour")
    for zone, *window in (
        ("Europe/Copenhagen", "1 hour"), ("Europe/Copenhagen", "1 day", "1 hour"), ("UTC", "1 day"), ("CTT", "7 hours"),
        ("Europe/Copenhagen", "1 day", "1 day", "22 hours"), ("+02:00", "2 hours"),
    ):  # fmt: skip
        assert not told(zone, *window), (zone, window)


@report
def windows_of_another_time_than_the_marked_one(desk):
    schema = f"{SCHEMA}, seen timestamp"
    desk.each(*([[{**desk._row("a", "10:00:00", f"{side}1"), "seen": "2026-01-01T10:00:00Z"}]] for side in "op"))
    sides = [
        desk.read(name, None, schema).withWatermark("seen", "10 seconds").withColumn("w", F.window("at", "10 seconds"))
        for name in ("orders", "payments")
    ]
    on = F.expr("orders.id = payments.id AND orders.w = payments.w")
    notes = wb.describe(sides[0].alias("orders").join(sides[1].alias("payments"), on)).notes
    assert any("the windows are of at, and the watermark of orders is on seen" in each for each in notes)
    assert not any("before withWatermark is called" in each for each in notes)


@report
def a_partner_that_a_row_ahead_made_late(desk):
    desk.each(
        [[("a", "10:00:00", "o1"), ("b", "10:03:00", "o2")], [("z", "2026-01-02T10:00:00Z", "oX")], [], []],
        [[("a", "10:00:02", "p1")], [("z", "2026-01-02T10:00:00Z", "pX")], [], [("b", "10:03:02", "p2")]],
    )
    desk.arrive(2, orders=[("c", "10:03:30", "o3")], payments=[("c", "10:03:30", "p3")])
    on = F.expr(WITHIN.format("10 SECONDS"))
    job = desk.opened(desk.read("orders", "30 seconds").join(desk.read("payments", "30 seconds"), on, "left"))
    assert "its partner p2 came too late and was dropped; oX and pX, " in reason(job, "o2")
    assert "watermark delay" not in reason(job, "o2")


@report
def a_pair_that_the_aggregation_above_drops(desk):
    desk.each(
        [[("a", "10:00:00", "o1")], [("z", "11:00:00", "oz")], [("y", "12:00:00", "oy")], [("x", "13:00:00", "ox")]],
        [[("k", "10:00:00", "p0")], [("z", "11:00:00", "pz")], [("y", "12:00:00", "py")], [("a", "12:10:00", "p1")]],
    )
    on = F.expr("orders.id = payments.id")
    for how in ("orders.at", "payments.at"):
        joined = desk.read("orders").join(desk.read("payments"), on).select(F.col(how).alias("t"), "orders.id")
        job = desk.opened(joined.groupBy(F.window("t", "10 minutes")).count())
        lost = how == "orders.at"
        assert desk.dropped == lost  # all by the aggregation
        for row in ("o1", "p1"):
            words = "the aggregation after the join drops this pair as late: the window ended at 10:10:00"
            assert (words in reason(job, row)) is lost
        assert "the aggregation" not in reason(job, "oz")
    bounded = desk.read("orders").join(desk.read("payments"), F.expr(WITHIN.format("3 HOURS")))
    job = desk.opened(bounded.groupBy(F.window("orders.at", "10 minutes")).count())
    assert not desk.dropped
    assert "the aggregation" not in reason(job, "o1")


@report
def unmatched_rows_that_are_wanted_at_once(desk):
    desk.each([[("a", "10:00:00", "o1"), ("b", "10:00:01", "o2")]], [[("a", "10:00:02", "p1")]])
    job = desk.opened(desk.read("orders").join(desk.read("payments"), F.expr(WITHIN.format("4 HOURS")), "left"))
    (advice,) = [each for each in job.advise() if "rows without partner come out 4 h" in each.problem]
    assert "to have unmatched rows at once, write orders to the sink without the join, too" in advice.remedy


@report
def sessions_that_are_joined_have_a_remedy(desk):
    desk.each([[("a", "10:00:00", "o1")]], [[("a", "10:00:02", "p1")]])
    sides = [desk.read(name) for name in ("orders", "payments")]
    single = [
        each.withColumn("s", F.session_window("at", "10 seconds")).alias(name)
        for each, name in zip(sides, ("orders", "payments"), strict=True)
    ]
    merged = [
        each.groupBy(F.session_window("at", "10 seconds").alias("s"), "id").count().alias(name)
        for each, name in zip(sides, ("orders", "payments"), strict=True)
    ]
    on = F.expr("orders.id = payments.id AND orders.s = payments.s")
    for (left, right), words in ((single, "compared before they are merged"), (merged, "begin and end at the same")):
        found = wb.describe(left.join(right, on))
        said = " ".join(found.unknown if found.join is None else found.notes)
        assert words in said
        assert "unite both streams with union, and group them by the key and session_window" in said


# --- ten more, tried by somebody who had not seen the workbench -------------------------------------------------------


def counts_by_minute(desk, name, count, time=None):
    rows = desk.read(name).groupBy(F.window("at", "1 minute"), "id").agg(F.count("*").alias(count))
    timed = rows if time is None else rows.select("id", F.window_time("window").alias(time), count)
    return timed.alias(name)


@report
def equal_times_of_windows_leave_the_state(desk):
    """https://community.databricks.com, signals of two windows: counts joined on the same `window_time`."""
    desk.each(
        [[("p", "10:00:10", "")], [("p", "10:01:20", "")], [("q", "10:03:30", "")], [("z", "10:08:00", "")]],
        [[("p", "10:00:20", "")], [("x", "10:01:20", "")], [("q", "10:03:40", "")], [("z", "10:08:10", "")]],
    )
    left, right = counts_by_minute(desk, "orders", "n1", "t1"), counts_by_minute(desk, "payments", "n2", "t2")
    joined = left.join(right, F.expr("orders.id = payments.id AND t1 = t2"), "left").select(
        "orders.id", "t1", "n1", "n2"
    )
    job = desk.opened(joined)
    assert job.description.notes == ()
    assert len(job.output) == len(desk.out) == 3
    assert (
        job.rows.reason[1]
        == "no row of its key on payments is within the bounds; it is written with nulls in micro-batch 3"
    )


@report
def ends_of_windows_are_no_times_to_spark(desk):
    """The same on `window.end`: one note, and what it says to write is run."""
    desk.each([[("p", "10:00:10", "")], []], [[("p", "10:00:20", "")], []])
    left, right = counts_by_minute(desk, "orders", "n1"), counts_by_minute(desk, "payments", "n2")
    on = "orders.id = payments.id AND orders.{0} = payments.{0}"
    (note,) = wb.describe(left.join(right, F.expr(on.format("window.end")), "full")).notes
    assert note.startswith("Spark refuses to start this query in append mode")
    assert note.endswith('make it with withColumn("time", F.window_time("window")) before the join')
    sides = [
        side.withColumn("time", F.window_time("window")).drop("window").alias(name)
        for side, name in ((left, "orders"), (right, "payments"))
    ]
    assert wb.describe(sides[0].join(sides[1], F.expr(on.format("time")), "full")).notes == ()


@report
def rows_that_fail_a_filter_in_on_move_no_watermark(desk):
    """https://github.com/apache/spark/pull/57813: `AND r.kind = 'paid'` in the condition of a left join."""
    schema = f"{SCHEMA}, kind string"

    def row(key, at, kind):
        return {"id": key, "at": f"2026-01-01T{at}Z", "row": key, "kind": kind}

    for n in range(5):
        kind = "paid" if n == 0 else "open"
        desk.arrive(n, orders=[row(f"o{n}", f"10:0{n}:00", "")], payments=[row(f"p{n}", f"10:0{n}:01", kind)])
    on = WITHIN.format("5 SECONDS") + " AND payments.kind = 'paid'"
    sides = [desk.read(name, schema=schema) for name in ("orders", "payments")]
    joined = sides[0].join(sides[1], F.expr(on), "left")
    job = desk.opened(joined)
    said = reason(job, "o4")
    assert "payments, no row of which passes (payments.kind = 'paid') since micro-batch 1, holds it back" in said
    assert "and one on payments that passes (payments.kind = 'paid')" in said
    (advice,) = [each for each in job.advise() if "the watermark stands still" in each.problem]
    assert advice.problem.startswith("no row of payments passes (payments.kind = 'paid') for 4 micro-batches")
    assert advice.remedy.endswith("let its source send a heartbeat row that passes the filter")
    before = len(desk.out)
    desk.arrive(5, orders=[row("o5", "10:06:00", "")], payments=[row("hb", "10:06:00", "open")])
    desk.run(joined, again=True)
    assert len(desk.out) == before  # a row that fails the filter does not help
    desk.arrive(6, orders=[row("o6", "10:06:01", "")], payments=[row("hb", "10:06:00", "paid")])
    desk.run(joined, again=True)
    assert len(desk.out) > before


@report
def a_bound_that_is_missing_is_named(desk):
    """https://github.com/apache/spark/pull/44323: `l.at > r.at + 10 s`, of which right rows stay forever."""
    desk.each([[("a", "10:00:00", "o1")]], [[("a", "09:59:40", "p1")]])
    on = F.expr("orders.id = payments.id AND orders.at > payments.at + INTERVAL 10 SECONDS")
    add = "add one, such as payments.at >= orders.at - INTERVAL 10 MINUTES"
    (note,) = wb.describe(desk.read("orders").join(desk.read("payments"), on)).notes
    assert note == f"the join has no lower bound, so Spark keeps the rows of the right side forever: {add}"
    notes = wb.describe(desk.read("orders", None).join(desk.read("payments"), on)).notes
    assert "call withWatermark on both sides" in notes[0] and notes[1] == note
    bounded = F.expr(
        f"orders.id = payments.id AND orders.at > payments.at + INTERVAL 10 SECONDS AND {add.removeprefix('add one, such as ')}"
    )
    assert wb.describe(desk.read("orders").join(desk.read("payments"), bounded)).notes == ()


@report
def a_time_that_is_a_field_is_not_the_one_with_the_watermark(desk):
    """https://github.com/apache/spark/pull/19271: the watermark is on a column made of a field that is compared."""
    schema = "id string, row string, ts struct<event: timestamp>"
    sides = [
        desk.spark.readStream.schema(schema).json(str(desk.home / name)).withColumn("time", F.col("ts.event"))
        .withWatermark("time", "10 seconds").alias(name)
        for name in ("orders", "payments")
        if desk.arrive(0, **{name: [{"id": "a", "row": "x", "ts": {"event": "2026-01-01T10:00:00Z"}}]}) is None
    ]  # fmt: skip
    on = "orders.id = payments.id AND payments.{0} BETWEEN orders.{0} AND orders.{0} + INTERVAL 5 SECONDS"
    found = wb.describe(sides[0].join(sides[1], F.expr(on.format("ts.event"))))
    for name, side in (("orders", "left"), ("payments", "right")):
        words = f"the condition compares {name}.ts.event of the {side} side, a field, and its watermark is on time"
        assert any(each.startswith(words) and each.endswith("; compare time") for each in found.unknown)
    assert wb.describe(sides[0].join(sides[1], F.expr(on.format("time")))).unknown == ()


@report
def bounds_that_were_swapped_are_written_out(desk):
    """https://lam-tran.dev, the eviction formula, with its bounds swapped."""
    desk.each(
        [[("a", "10:05:00", "o1")], [("z", "11:00:00", "oz")]], [[("a", "10:00:00", "p1")], [("y", "11:00:00", "pz")]]
    )
    bounds = "BETWEEN payments.at - INTERVAL 2 MINUTES AND payments.at - INTERVAL 10 MINUTES"
    joined = desk.read("orders").join(desk.read("payments"), F.expr(f"orders.id = payments.id AND orders.at {bounds}"))
    (note,) = wb.describe(joined).notes
    said = note.removeprefix("the bounds are swapped: write ")
    assert said == "payments.at BETWEEN orders.at + INTERVAL 120 SECONDS AND orders.at + INTERVAL 600 SECONDS"
    assert wb.describe(
        desk.read("orders").join(desk.read("payments"), F.expr(f"orders.id = payments.id AND {said}"))
    ).join


@report
def a_delay_that_both_sides_changed_at_a_restart(desk):
    """Started with no delay, and again with one of an hour on the same checkpoint."""
    desk.each(
        [[("a", "10:00:00", "o1")], [("c", "10:30:00", "o3")]], [[("a", "10:00:03", "p1")], [("c", "10:30:02", "p3")]]
    )

    def within(delay):
        sides = [desk.read(name, delay) for name in ("orders", "payments")]
        return sides[0].join(sides[1], F.expr(WITHIN.format("1 MINUTE")), "left")

    desk.run(within("0 seconds"))
    desk.arrive(2, orders=[("f", "10:20:00", "o6")], payments=[("f", "10:20:10", "p6")])
    desk.arrive(3, orders=[("g", "11:50:00", "o7")], payments=[("g", "11:50:00", "p7")])
    desk.run(within("1 hour"), again=True)
    job = wb.open_job(within("1 hour"), desk.home / "checkpoint")
    words = "the watermarks are those of a delay of 0 s on orders and payments, with which the query ran then; here it is 1 h"
    assert job.mismatch.endswith(words)  # from a micro-batch on that no row tells exactly


@report
def a_late_row_whose_partner_would_be_an_aggregate(desk):
    """https://www.subex.com: rows joined with their own count, which a longer delay changes, too."""
    desk.arrive(0, orders=[("a", "10:00:01", "e1"), ("b", "10:00:05", "e3")])
    for n, rows in enumerate(
        [[("c", "10:00:41", "e5")], [("b", "10:01:30", "e6")], [("d", "10:03:00", "e8"), ("b", "10:00:20", "late")]], 1
    ):
        desk.arrive(n, orders=rows)
    raw = desk.read("orders").withColumn("w", F.window("at", "10 seconds")).alias("x")
    counts = desk.read("orders").groupBy(F.window("at", "10 seconds").alias("w"), "id").agg(F.count("*").alias("n"))
    joined = raw.join(counts.alias("g"), F.expr("x.id = g.id AND x.w = g.w"), "left").select("x.id", "x.row", "g.n")
    job = desk.opened(joined)
    assert reason(job, "late").endswith(
        "would have kept it, but which aggregates it would meet is not known, as they change with the watermark, too"
    )
    with pytest.warns(UserWarning, match="those that it dropped as late are left out"):
        job.under(left_watermark="1 minute")


@pytest.mark.parametrize("name", REPORTS)
def test_a_public_report(name, spark, tmp_path):
    REPORTS[name](Desk(jobs.session(spark, session_timeZone="UTC"), tmp_path))
