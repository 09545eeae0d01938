"""Jobs that are set up in an odd way are told as Spark ran them, or a sentence says that they cannot be."""

from __future__ import annotations

import json

import jobs
import pytest
from pyspark.sql import functions as F
from test_reports import SCHEMA, WITHIN, Desk, fates, met, reason

import workbench as wb

TIMES = ["10:00:00", "10:10:00", "10:20:00"]
WITHOUT_ROWS = "spark.sql.streaming.noDataMicroBatches.enabled"


@pytest.fixture
def desk(spark, tmp_path):
    return Desk(jobs.session(spark, session_timeZone="UTC"), tmp_path)


def arrive_in_three(desk):
    """Three micro-batches of pairs 5 s apart."""
    desk.each(
        *([[(key, at, f"{side}{key}")] for key, at in zip("abc", TIMES, strict=True)] for side in ("o", "p"))
    )  # fmt: skip


def joined(desk, how="left", bound="15 SECONDS"):
    return desk.read("orders").join(desk.read("payments"), F.expr(WITHIN.format(bound)), how)


# --- how files are read -----------------------------------------------------------------------------------------------


def test_newest_files_first_are_read_in_that_order_and_told(desk):
    arrive_in_three(desk)

    def read(name):
        files = desk.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).option("LatestFirst", True)
        return files.json(str(desk.home / name)).withWatermark("at", "10 seconds").alias(name)

    job = desk.opened(read("orders").join(read("payments"), F.expr(WITHIN.format("15 SECONDS"))))
    assert job.rows.row[job.rows.side == "left"].tolist() == ["oc", "ob", "oa"]
    assert fates(job) == {
        "oc": "matched",
        "pc": "matched",
        "ob": "matched",
        "pb": "matched",
        "oa": "late",
        "pa": "late",
    }
    assert [note.split(":")[0] for note in job.description.notes] == [
        f"the files of {name} are read with latestFirst" for name in ("orders", "payments")
    ]


@pytest.mark.parametrize("one_side", [False, True], ids=["of both sides", "of one side"])
@pytest.mark.parametrize("name", ["_metadata.file_name", "input_file_name()"])
def test_the_file_of_a_row_is_a_column_as_any_other(desk, name, one_side):
    arrive_in_three(desk)
    file = F.substring_index(F.expr(name), "/", -1).alias("file")
    orders, payments = desk.read("orders"), desk.read("payments")
    sides = orders.select("*", file), payments if one_side else payments.select("*", file)
    same = WITHIN.format("15 SECONDS") + ("" if one_side else " AND orders.file = payments.file")
    job = desk.opened(sides[0].alias("orders").join(sides[1].alias("payments"), F.expr(same)))
    assert job.mismatches.empty
    assert fates(job) == {f"{side}{key}": "matched" for side in "op" for key in "abc"}
    files = job.rows.loc[job.rows.side == "left"].filter(like="file").iloc[:, 0]
    assert files.nunique() == len(TIMES)
    assert files.str.endswith(".json").all()


def test_rows_of_files_that_are_too_old_are_none_of_the_job(desk):
    arrive_in_three(desk)

    def read(name):
        files = desk.spark.readStream.schema(SCHEMA).option("maxFileAge", "3s")
        return files.json(str(desk.home / name)).withWatermark("at", "10 seconds").alias(name)

    frame = read("orders").join(read("payments"), F.expr(WITHIN.format("15 SECONDS")))
    desk.arrive(20, orders=[("d", "10:30:00", "od")], payments=[("d", "10:30:05", "pd")])
    desk.run(frame)
    desk.arrive(9, orders=[("e", "10:30:00", "too old")])
    desk.run(frame, again=True)
    job = wb.open_job(frame, desk.home / "checkpoint")
    assert job.mismatches.empty
    assert "too old" not in fates(job)
    assert len(job.output) == len(desk.out)


# --- micro-batches without rows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["left", "inner"])
def test_a_row_that_leaves_with_the_next_micro_batch(desk, how):
    desk.spark.conf.set(WITHOUT_ROWS, "false")
    desk.each(
        [[("a", "10:00:00", "oa")], [("b", "10:10:00", "ob"), ("c", "10:10:00", "oc")]],
        [[], [("b", "10:10:00", "pb")]],
    )
    frame = joined(desk, how)
    job = desk.opened(frame)
    assert fates(job) == {"oa": "pending", "ob": "matched", "oc": "pending", "pb": "matched"}
    words = reason(job, "oa")
    becomes = "comes out" if how == "left" else "leaves the state"
    assert words.startswith("waiting: ")
    assert "; the watermark has since passed that, at 10:09:50, so in the next micro-batch it " in words
    assert f"it {becomes} unless it meets a partner; " in words
    assert words.endswith(
        "the next row of any key, on either side, starts that micro-batch; "
        f"Spark runs none without rows, because {WITHOUT_ROWS} is false"
    )
    assert reason(job, "oc").startswith("waiting: rows of payments up to 10:10:15 could still match it")
    assert "the watermark stands at 10:09:50" in reason(job, "oc")
    before = [row for row in desk.out if "oa" in row]
    desk.arrive(2, orders=[("z", "10:10:00", "oz")], payments=[("z", "10:10:00", "pz")])
    desk.run(frame, again=True)
    assert not before
    assert [row[0] for row in desk.out if "oa" in row] == ([2] if how == "left" else [])
    assert fates(wb.open_job(frame, desk.home / "checkpoint"))["oa"] == "unmatched"


def test_a_job_that_ended_before_a_micro_batch_without_rows(desk):
    desk.spark.conf.set(WITHOUT_ROWS, "false")
    desk.each([[("a", "10:00:00", "oa")], [("b", "10:10:00", "ob")]], [[], [("b", "10:10:00", "pb")]])
    frame = joined(desk)
    desk.run(frame)
    desk.spark.conf.set(WITHOUT_ROWS, "true")
    words = reason(wb.open_job(frame, desk.home / "checkpoint"), "oa")
    assert words.endswith(", or Spark runs it without rows if the query runs on, which trigger(once=True) does not")


# --- other settings at opening ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("zones", [("America/New_York", "UTC"), ("UTC", "America/New_York")])
def test_the_time_zone_is_that_in_which_the_plan_was_written(desk, zones):
    """Texts without a zone are read, and a day is counted, as the job did, whatever the session's zone is by now."""
    desk.spark.conf.set("spark.sql.session.timeZone", zones[0])

    def rows(*sides):
        return [[{"id": key, "at": at, "row": row}] for key, at, row in sides]

    desk.each(
        rows(("a", "2026-03-07 12:00:00", "oa"), ("b", "2026-03-12 12:00:00", "ob")),
        rows(("a", "2026-03-08 12:30:00", "pa"), ("b", "2026-03-12 12:00:00", "pb")),
    )
    schema = "id string, at timestamp, row string"
    frame = desk.read("orders", schema=schema).join(
        desk.read("payments", schema=schema), F.expr(WITHIN.format("24 HOURS")), "left"
    )
    desk.run(frame)
    desk.spark.conf.set("spark.sql.session.timeZone", zones[1])
    job = wb.open_job(frame, desk.home / "checkpoint", progress=desk.reports)
    assert job.mismatches.empty, job.mismatches.to_string()
    assert met(job) == {row for each in desk.out if each[6] for row in (each[3], each[6])}
    assert any("where clocks change" in note for note in job.description.notes) == (zones[0] != "UTC")


def test_another_time_zone_than_the_job_s_is_named(desk, spark):
    def made(session):
        schema = "id string, at string, row string"
        sides = (
            session.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(str(desk.home / name))
            .withColumn("at", F.to_timestamp("at")).withWatermark("at", "10 seconds").alias(name)
            for name in ("orders", "payments")
        )  # fmt: skip
        return next(sides).join(next(sides), F.expr(WITHIN.format("15 SECONDS")), "left")

    for number, at in enumerate(TIMES):
        files = {name: [{"id": "a", "at": f"2026-01-01 {at}", "row": name}] for name in ("orders", "payments")}
        desk.arrive(number, **files)
    desk.run(made(jobs.session(spark, session_timeZone="America/New_York")))
    mismatch = wb.open_job(made(desk.spark), desk.home / "checkpoint").mismatch
    assert "the watermarks of the logs are 5 h after those of the rows as they are read here" in mismatch
    assert "the job ran with another spark.sql.session.timeZone than UTC" in mismatch


def test_a_state_store_that_the_session_does_not_have(desk, spark):
    arrive_in_three(desk)
    store = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    other = Desk(
        jobs.session(spark, session_timeZone="UTC", streaming_stateStore_providerClass=store, shuffle_partitions="3"),
        desk.home,
    )
    other.run(joined(other))
    job = wb.open_job(joined(desk), desk.home / "checkpoint", progress=other.reports)
    assert job.mismatches.empty, job.mismatches.to_string()
    assert not job.state(job.batches.batch.iloc[-1]).empty


# --- watermarks -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delays", [("10 seconds", "1 minute"), ("1 minute", "10 seconds")])
def test_a_watermark_that_is_set_twice_is_refused(desk, delays):
    arrive_in_three(desk)
    orders = desk.read("orders", delays[0]).withWatermark("at", delays[1]).alias("orders")
    frame = orders.join(desk.read("payments"), F.expr(WITHIN.format("15 SECONDS")))
    with pytest.raises(Exception, match="Redefining watermark is disallowed"):
        desk.run(frame)
    words = r"withWatermark is called on at \(by .*\) and again on at \(by .*\), which Spark refuses"
    with pytest.raises(wb.ArgumentError, match=f"^joined: {words}"):
        wb.open_job(frame, desk.home / "checkpoint")
    found = wb.describe(frame)
    assert found.join is None
    assert "call it once per stream" in " ".join(found.unknown)


@pytest.mark.parametrize("several", ["true", "false"])
def test_the_watermark_by_which_rows_are_late(desk, several):
    """With one stateful operator only, as Spark had it before 3.4, that of the micro-batch itself."""
    desk.spark.conf.set("spark.sql.streaming.statefulOperator.allowMultiple", several)
    desk.each(
        [[("a", "10:00:00", "oa")], [("b", "10:10:00", "ob")], [("c", "10:05:00", "oc")], [("d", "10:05:00", "od")]],
        [[("a", "10:00:00", "pa")], [("b", "10:10:00", "pb")], [("c", "10:10:00", "pc")], [("d", "10:10:00", "pd")]],
    )
    job = desk.opened(joined(desk))
    assert len(job.late) == desk.dropped == (1 if several == "true" else 2)


# --- restarts on one checkpoint ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("opened_swapped", [False, True])
def test_sides_that_were_swapped_at_a_restart(desk, opened_swapped):
    def made(swapped):
        sides = [desk.read(name) for name in (("payments", "orders") if swapped else ("orders", "payments"))]
        near = "payments.at BETWEEN orders.at - INTERVAL 15 SECONDS AND orders.at + INTERVAL 15 SECONDS"
        return sides[0].join(sides[1], F.expr(f"orders.id = payments.id AND {near}"))

    for number, at in enumerate(["10:00:00", "10:01:00", "10:01:05", "10:20:00"]):
        if number == 2:
            desk.run(made(False))
        desk.arrive(number, orders=[("a", at, f"o{number}")], payments=[("a", at, f"p{number}")])
    desk.run(made(True), again=True)
    job = wb.open_job(made(opened_swapped), desk.home / "checkpoint")
    swapped = [each for each in job.missing if "lie in another folder" in each]
    assert len(swapped) == 2
    assert all("the query was restarted on this checkpoint with its sides swapped" in each for each in swapped)
    assert job.mismatches.empty, job.mismatches.to_string()
    assert len(job.output) == len(desk.out)


def test_another_folder_since_a_restart(desk):
    arrive_in_three(desk)
    desk.run(joined(desk))
    desk.arrive(3, orders=[("d", "10:20:00", "od")], archive=[("d", "10:20:00", "pd")])
    moved = desk.read("archive").alias("payments")
    frame = desk.read("orders").join(moved, F.expr(WITHIN.format("15 SECONDS")), "left")
    desk.run(frame, again=True)
    job = wb.open_job(frame, desk.home / "checkpoint")
    [words] = job.missing
    assert "restarted on this checkpoint with another folder" in words
    assert job.mismatches.empty, job.mismatches.to_string()
    assert fates(job)["pd"] == "matched"


# --- counters ---------------------------------------------------------------------------------------------------------


def test_some_micro_batches_with_two_actions(desk):
    arrive_in_three(desk)

    def act(frame, number):
        for _ in range(1 + number % 2):
            frame.collect()

    frame, place = joined(desk), str(desk.home / "checkpoint")
    query = frame.writeStream.foreachBatch(act).option("checkpointLocation", place).trigger(availableNow=True).start()
    query.awaitTermination()
    mismatch = wb.open_job(frame, place, progress=query.recentProgress).mismatch
    assert (
        "each of Spark's counters is 1 to 2 times, a whole number of times in each micro-batch, the model's" in mismatch
    )
    assert "foreachBatch runs the micro-batch again for each action" in mismatch


# --- conditions and filters -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["inner", "left"])
def test_an_interval_between_two_columns_is_asked_of_spark(desk, how):
    def row(key, start, until, name):
        return {"id": key, "at": f"2026-01-01T{start}Z", "until": f"2026-01-01T{until}Z", "row": name}

    desk.each(
        [[row("a", "10:00:00", "10:05:00", "oa")], [row("b", "10:10:00", "10:10:02", "ob")], [row("c", "10:20:00", "10:40:00", "oc")],
         [row("d", "10:01:00", "10:03:00", "od")]],
        [[("a", "10:00:05", "pa")], [("b", "10:10:05", "pb")], [("c", "10:20:05", "pc")], [("d", "10:02:35", "pd")]],
    )  # fmt: skip
    orders = desk.read("orders", schema=f"{SCHEMA}, until timestamp")
    on = F.expr("orders.id = payments.id AND payments.at >= orders.at AND payments.at < orders.until")
    job = desk.opened(orders.join(desk.read("payments"), on, how), progress=None)
    assert job.unknown == ("the condition has no upper bound on the difference of the event times that is understood",)
    assert job.late.row.tolist() == ["od", "pd"]
    assert len(job.late) == desk.dropped
    assert len(job.state(3)) == desk.state[-1]
    assert (job.join, "until" in job.where) == (wb.IntervalJoin("0 s", None, how), True)
    told = {row: fate for row, fate in fates(job).items() if fate != "late"}
    assert {row for row, fate in told.items() if fate == "matched"} == {"oa", "pa", "oc", "pc"}
    assert told["pb"] == "unmatched"
    assert "satisfies" in reason(job, "pb")


def test_a_filter_on_a_window_below_the_join(desk):
    arrive_in_three(desk)
    payments = desk.read("payments").where(
        F.window("at", "10 seconds").start != F.lit("2026-01-01 10:10:00").cast("timestamp")
    )
    frame = desk.read("orders").join(
        payments.drop("window").alias("payments"), F.expr(WITHIN.format("15 SECONDS")), "left"
    )
    job = desk.opened(frame)
    assert fates(job) == {
        "oa": "matched",
        "ob": "unmatched",
        "oc": "matched",
        "pa": "matched",
        "pb": "unmatched",
        "pc": "matched",
    }
    assert reason(job, "pb").startswith("the filter ")
    assert reason(job, "pb").endswith("removes it before it reaches the join")
    assert "arrived on payments only in rows that the filter " in reason(job, "ob")


@pytest.mark.parametrize("how", ["inner", "left"])
def test_a_filter_above_the_join_of_one_side_is_named(desk, how):
    arrive_in_three(desk)
    job = desk.opened(joined(desk, how).where("orders.row != 'ob'"))
    assert reason(job, "ob") == "the filter (NOT (orders.row = 'ob')) removes it before it reaches the join"
    [candidate] = job.why(list(job.rows.row).index("pb")).candidates.itertuples()
    assert candidate.removed == "the filter (NOT (orders.row = 'ob'))"
    assert reason(job, "pb").endswith(
        "key b arrived on orders only in rows that the filter (NOT (orders.row = 'ob')) removes"
    )


def test_a_filter_above_the_join_of_both_sides_is_noted(desk):
    arrive_in_three(desk)
    job = desk.opened(joined(desk, "inner").where("orders.row < payments.row AND orders.row || payments.row != 'obpb'"))
    assert {row[3] for row in desk.out} == {"oa", "oc"}
    assert len([note for note in job.description.notes if "after the join removes pairs" in note]) == 2


# --- columns of types that streams do not have ------------------------------------------------------------------------


def test_a_map_is_shown_as_its_entries(desk):
    def rows(side):
        return [
            [{"id": key, "at": f"2026-01-01T{at}Z", "row": f"{side}{key}", "tags": {"x": key, "y": None}, "all": [{"q": 1}]}]
            for key, at in zip("ab", TIMES, strict=False)
        ]  # fmt: skip

    desk.each(rows("o"), rows("p"))
    schema = f"{SCHEMA}, tags map<string,string>, `all` array<map<string,int>>, none map<string,string>"
    sides = [desk.read(name, schema=schema) for name in ("orders", "payments")]
    on = F.expr(f"{WITHIN.format('15 SECONDS')} AND orders.tags['x'] = payments.tags['x'] AND size(orders.tags) > 1")
    job = desk.opened(sides[0].join(sides[1], on, "left"))
    assert [json.loads(each) for each in job.rows.tags[:2]] == [{"x": "a", "y": None}, {"x": "b", "y": None}]
    assert json.loads(job.output.left_all[0]) == [{"q": 1}]
    assert job.rows["none"].isna().all()
    assert met(job) == {"oa", "pa", "ob", "pb"}


# --- the clock of the query -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["orders", "payments"])
def test_a_row_without_key_moves_the_watermark_only_below_a_column_of_the_clock(desk, side):
    """Spark filters it out below the watermark, unless the time of the micro-batch is asked for in between."""
    desk.each(
        [[("a", "10:00:00", "oa"), (None, "10:00:40", "none")]],
        [[("a", "10:00:05", "pa"), (None, "10:00:45", "none too")]],
    )
    sides = {name: desk.read(name) for name in ("orders", "payments")}
    sides[side] = sides[side].withColumn("seen", F.current_timestamp()).alias(side)
    job = desk.opened(sides["orders"].join(sides["payments"], F.expr(WITHIN.format("15 SECONDS"))))
    assert job.mismatches.empty
    assert fates(job)["oa"] == "matched"
    assert str(job.batches.watermark.iloc[-1])[11:19] == ("09:59:55" if side == "orders" else "09:59:50")


def test_a_row_with_a_null_that_the_condition_compares_is_told_so(desk):
    """Spark adds a filter of nulls to each side that an inner join has, of which the job's own code says nothing."""
    schema = f"{SCHEMA}, amount int"
    amounts = {"orders": {"a": 2, "b": None}, "payments": {"a": 1, "b": 1, "c": None}}
    for name, values in amounts.items():
        rows = [
            {"id": key, "at": "2026-01-01T10:00:00Z", "row": f"{name[0]}{key}", "amount": n}
            for key, n in values.items()
        ]
        desk.arrive(0, **{name: rows})
    within = F.expr(f"{WITHIN.format('15 SECONDS')} AND orders.amount >= payments.amount")
    job = desk.opened(
        desk.read("orders", "10 seconds", schema).join(desk.read("payments", "10 seconds", schema), within)
    )
    words = "the condition is never true where amount is null, so Spark removes it before it reaches the join"
    assert (reason(job, "ob"), reason(job, "pc")) == (words, words)
    [candidate] = job.why(list(job.rows.row).index("pb")).candidates.itertuples()
    assert candidate.removed == "Spark, as its amount is null"
    assert job.mismatches.empty
