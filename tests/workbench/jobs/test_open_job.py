"""Jobs that somebody else wrote, run in plain PySpark and opened: rows, late rows, pairs and state are what Spark had."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import jobs
import pandas as pd
import pytest
import strategies
import written
from hypothesis import strategies as st
from pyspark.sql import functions as F

import workbench as wb
from workbench.jobs import checkpoint, entering, held


@pytest.fixture(scope="module")
def rows():
    return jobs.recorded(seed=3)


@pytest.fixture(scope="module")
def folder(session, rows, tmp_path_factory):
    return jobs.put(rows, tmp_path_factory.mktemp("opened"))


def came_out(job, names=("order_no", "payment_no")):
    """What came out of a job by its own account, by micro-batch."""
    found = {}
    for each in job.output.to_dict("records"):
        plain = {name: each.get(f"left_{name}", each.get(f"right_{name}")) for name in names}
        if "right_payment_no" in each and "payment_no" in names:
            plain["payment_no"] = each["right_payment_no"]
        if "right_order_no" in each and "left_payment_no" in each and job.left.name == "p":
            plain = {"order_no": each["right_order_no"], "payment_no": each["left_payment_no"]}
        found.setdefault(each["batch"], []).append(plain)
    return {batch: jobs.pairs(each, names) for batch, each in found.items()}


def by_batch(ran, names=("order_no", "payment_no")):
    return {batch: jobs.pairs(each, names) for batch, each in ran.output.items() if each}


@pytest.mark.drawn(8)
@pytest.mark.parametrize("write", written.JOINS, ids=lambda each: each.__name__)
def test_a_job_that_somebody_else_wrote(session, folder, tmp_path, write):
    joined = write(*jobs.streams(session, folder))
    ran = jobs.run(joined, tmp_path / "checkpoint")
    job = wb.open_job(joined, checkpoint=ran.checkpoint)
    assert job.missing == ()
    names = [name for name in ("order_no", "payment_no") if name in joined.columns]
    assert came_out(job, names) == by_batch(ran, names)
    check_late(job, ran)
    assert job.mismatches.empty, job.mismatches.to_string()
    if len(ran.progress[0]["stateOperators"]) == 1 and write is not written.session_join:  # which has a null group, too
        assert job.batches.state_rows.tolist() == [each["stateOperators"][0]["numRowsTotal"] for each in ran.progress]
        dropped = [each["stateOperators"][0]["numRowsDroppedByWatermark"] for each in ran.progress]
        assert len(job.late) == sum(dropped)


def check_late(job, ran):
    """Each late row was at or behind the watermark of the micro-batch before, and no other was, by the plain rule."""
    marks = [pd.Timestamp(each["eventTime"]["watermark"]) for each in ran.progress]
    before = [pd.Timestamp(0, tz="UTC"), *marks[:-1]]
    if job.windowed:
        assert all(job.late.window_end <= job.late.watermark)
        return
    late = Counter()
    for side in ("left", "right"):
        mine = job.rows[job.rows.side == side]
        time = mine[job.side(side).time]
        expected = [at <= before[batch] for at, batch in zip(time, mine.batch, strict=True)]
        late[side] = sum(expected)
        assert [
            fate in ("late", "null_key") if is_late else fate != "late"
            for fate, is_late in zip(mine.fate, expected, strict=True)
        ]
    assert (job.late.side == "left").sum() <= late["left"]


@pytest.mark.parametrize("write", written.GROUPS, ids=lambda each: each.__name__)
def test_a_cogroup_that_somebody_else_wrote(session, folder, tmp_path, write):
    joined = write(*jobs.streams(session, folder))
    ran = jobs.run(joined, tmp_path / "checkpoint")
    job = wb.open_job(joined, checkpoint=ran.checkpoint)
    expected = Counter(
        (batch, each["k"], tuple(sorted(each["order_nos"])), tuple(sorted(each["payment_nos"])))
        for batch, rows in ran.output.items()
        for each in rows
        if each["k"] is not None
    )
    found = Counter(
        (
            each.batch,
            each.k,
            *(
                tuple(sorted(row[name] for row in rows))
                for name, rows in (("order_no", each.left), ("payment_no", each.right))
            ),
        )
        for each in job.output.itertuples()
    )
    assert found == expected


PAIRS = written.guide_outer


@pytest.fixture(scope="module")
def outer(session, folder, tmp_path_factory):
    """A left outer join that ran, and its checkpoint."""
    joined = PAIRS(*jobs.streams(session, folder))
    return joined, jobs.run(joined, tmp_path_factory.mktemp("outer"))


def test_a_query_goes_on_while_it_is_opened(spark, folder, tmp_path, monkeypatch):
    """Spark deletes the first micro-batch that is kept with each one that it begins: the others are opened."""
    own = jobs.session(spark, streaming_minBatchesToRetain="3")
    joined = written.guide_inner(*jobs.streams(own, folder))
    ran = jobs.run(joined, tmp_path / "checkpoint")
    read, rows_held = checkpoint.read, held.joined_rows
    first = min(int(each.name) for each in (tmp_path / "checkpoint" / "offsets").iterdir() if each.name.isdigit())
    reads = []

    def read_counted(*arguments, **more):
        reads.append(read(*arguments, **more))
        return reads[-1]

    def deleted_meanwhile(spark, address, batch, side, **more):
        if batch == first:
            for log in ("offsets", "commits"):
                (tmp_path / "checkpoint" / log / str(first)).unlink(missing_ok=True)
            raise wb.QueryError(f"the state after micro-batch {batch} cannot be read", "")
        return rows_held(spark, address, batch, side, **more)

    monkeypatch.setattr(checkpoint, "read", read_counted)
    monkeypatch.setattr(held, "joined_rows", deleted_meanwhile)
    job = wb.open_job(joined, ran.checkpoint)
    assert len(reads) == 2
    assert job.batches.batch.iloc[0] == first + 2
    assert job.mismatches.empty


def fates(job):
    return (
        job.rows[["side", "order_no", "payment_no", "fate"]]
        .astype(str)
        .sort_values(["side", "order_no", "payment_no"], ignore_index=True)
    )


def test_a_row_has_its_reason_and_spark_s_micro_batches(outer):
    job = wb.open_job(outer[0], outer[1].checkpoint)
    assert job.join == wb.IntervalJoin("0 s", "6 s", how="left")
    assert (job.left.name, job.left.key, job.left.time) == ("orders", ("order_id",), "ordered_at")
    late = job.rows.index[job.rows.fate == "late"][0]
    assert "would have kept it" in job.rows.reason[late]
    assert "late" in job.why(late).text
    marks = [pd.Timestamp(each["eventTime"]["watermark"]) for each in outer[1].progress]
    assert job.batches.watermark.tolist() == marks
    assert job.batches.batch.tolist() == [each["batchId"] for each in outer[1].progress]
    assert "tracks" in dir(job.charts)
    assert job.charts.timeline() is not None
    assert set(job.state(3).columns) == {"side", *jobs.ORDERS, *jobs.PAYMENTS}


def test_the_same_rows_again_under_other_settings(outer):
    job = wb.open_job(outer[0], outer[1].checkpoint)
    again = wb.run(job.join, *job.recording(), finish=False)
    assert again.mismatches.empty
    assert again.rows.fate.tolist() == job.rows.fate.tolist()
    assert wb.preview(job.join, job.left.with_watermark("1 hour"), job.right).late.empty


def test_a_sample_has_the_fates_of_the_whole(outer):
    whole = wb.open_job(outer[0], outer[1].checkpoint)
    for chosen in ({"keys": ["a"]}, {"keys": ["a", "c"]}, {"sample": 0.5}):
        some = wb.open_job(outer[0], outer[1].checkpoint, **chosen)
        taken = set(some.rows.order_id.dropna()) | set(some.rows.oid.dropna())
        if "keys" in chosen:
            assert taken == set(chosen["keys"])
        of_all = whole.rows[whole.rows.order_id.isin(taken) | whole.rows.oid.isin(taken)]
        of_some = some.rows[~(some.rows.order_id.isna() & some.rows.oid.isna())]
        assert (
            of_some[["side", "batch", "fate", "reason"]].values.tolist()
            == of_all[["side", "batch", "fate", "reason"]].values.tolist()
        )
        assert some.mismatches.empty
        assert some.batches.watermark.tolist() == whole.batches.watermark.tolist()


@pytest.mark.drawn(2)
@pytest.mark.parametrize(
    "write",
    [written.guide_outer, written.full, written.residual, written.sliding, written.semi],
    ids=lambda each: each.__name__,
)
def test_only_the_last_micro_batches_are_kept(spark, folder, tmp_path, write):
    """The rows before are those in state after the first that is kept."""
    session = spark.newSession()
    for name, value in (
        ("spark.sql.shuffle.partitions", "2"),
        ("spark.sql.streaming.minBatchesToRetain", "2"),
        ("spark.sql.streaming.fileSource.log.compactInterval", "2"),
        ("spark.sql.streaming.fileSource.log.cleanupDelay", "1ms"),
    ):
        session.conf.set(name, value)
    joined = write(*jobs.streams(session, folder))
    ran = jobs.run(joined, tmp_path / "checkpoint")
    job = wb.open_job(joined, ran.checkpoint)
    first = job.batches.batch[0]
    assert first > 0
    assert job.mismatches.empty, job.mismatches.to_string()
    names = [name for name in ("order_no", "payment_no") if name in joined.columns]
    expected = {batch: rows for batch, rows in by_batch(ran, names).items() if batch > first}
    assert came_out(job, names) == expected
    late = sum(each["stateOperators"][0]["numRowsDroppedByWatermark"] for each in ran.progress[first + 1 :])
    assert len(job.late) == late
    assert job.batches.batch.tolist() == [each["batchId"] for each in ran.progress[first:]]
    assert job.rows.batch.min() == first


def test_a_query_of_this_session(session, folder, tmp_path):
    joined = PAIRS(*jobs.streams(session, folder))
    query = (
        joined.writeStream.format("noop")
        .option("checkpointLocation", str(tmp_path / "c"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    job = wb.open_job(query)
    assert job.join == wb.IntervalJoin("0 s", "6 s", how="left")
    assert job.mismatches.empty
    with pytest.raises(wb.ArgumentError, match=r"checkpoint: got .*; a query knows its own: leave it out"):
        wb.open_job(query, tmp_path / "c")


def test_what_spark_reported_is_verified_too(outer, tmp_path):
    joined, ran = outer
    dropped = [each["stateOperators"][0]["numRowsDroppedByWatermark"] for each in ran.progress]
    log = tmp_path / "events"
    event = "org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent"
    reports = [json.loads(each.json) for each in ran.progress]
    lines = [{"Event": "SparkListenerLogStart"}, *({"Event": event, "progress": each} for each in reports)]
    log.write_text("\n".join(map(json.dumps, lines)))
    for progress in (ran.progress, log, str(log), reports):
        job = wb.open_job(joined, ran.checkpoint, progress=progress)
        assert job.batches.dropped.tolist() == dropped
        assert job.batches.duration_ms.notna().all()
        facts = job.comparison.set_index("what")
        assert facts.differences.sum() == 0
        assert facts.spark["late rows, once for each window (numRowsDroppedByWatermark)"] == len(dropped)
    reports[-1]["stateOperators"][0]["numRowsDroppedByWatermark"] += 1
    [mismatch] = wb.open_job(joined, ran.checkpoint, progress=reports).mismatches.examples
    last = len(dropped) - 1
    assert mismatch == f"model only: ({last}, {dropped[-1]}); Spark only: ({last}, {dropped[-1] + 1})"
    assert wb.open_job(joined, ran.checkpoint).batches.dropped.isna().all()


@pytest.mark.parametrize("progress", [7, ["{"], [{}], [{"batchId": "0"}], b"[]", range(3), [None]])
def test_wrong_progress(outer, progress):
    with pytest.raises(wb.ArgumentError, match=r"progress: got .*; give what query.recentProgress or a listener gave"):
        wb.open_job(outer[0], outer[1].checkpoint, progress=progress)


def test_an_event_log_in_parts_and_compressed(spark, outer, tmp_path):
    """As Spark writes it by default: a folder of parts; with reports of another query of the application in it."""
    joined, ran = outer
    event = "org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent"
    mine = [json.loads(each.json) for each in ran.progress]
    others = [each | {"id": "00000000-0000-0000-0000-000000000000", "stateOperators": []} for each in mine]
    lines = [{"Event": "SparkListenerLogStart"}, *({"Event": event, "progress": each} for each in mine + others)]
    folder = tmp_path / "eventlog_v2_app-1"
    folder.mkdir()
    (folder / "appstatus_app-1").touch()
    java = spark._jvm
    codec = java.org.apache.spark.io.ZStdCompressionCodec(spark.sparkContext._jsc.sc().conf())
    for number, part in enumerate((lines[:4], lines[4:]), 1):
        out = java.java.io.FileOutputStream(str(folder / f"events_{number}_app-1.zstd"))
        out = codec.compressedContinuousOutputStream(out)
        out.write("\n".join(map(json.dumps, part)).encode())
        out.close()
    dropped = [each["stateOperators"][0]["numRowsDroppedByWatermark"] for each in mine]
    for progress in (folder, folder.as_uri()):
        job = wb.open_job(joined, ran.checkpoint, progress=progress)
        assert job.batches.dropped.tolist() == dropped
        assert job.mismatches.empty
    log = tmp_path / "app-1.zstd.inprogress"  # of an application that goes on: its last line is cut
    out = codec.compressedContinuousOutputStream(java.java.io.FileOutputStream(str(log)))
    out.write("\n".join(map(json.dumps, lines)).encode()[:-30])
    out.close()
    assert wb.open_job(joined, ran.checkpoint, progress=log).batches.dropped.tolist() == dropped
    (folder / "appstatus_app-1").unlink()
    (folder / "events_2_app-1.zstd").rename(tmp_path / "one.zstd")
    assert wb.open_job(joined, ran.checkpoint, progress=tmp_path / "one.zstd").batches.dropped.notna().sum() > 0


def test_progress_that_is_none(outer, tmp_path):
    (tmp_path / "log.zstd").write_bytes(b"\x28\xb5\x2f\xfd\xff")
    (tmp_path / "binary").write_bytes(b"\x28\xb5\x2f\xfd\xff")
    (tmp_path / "folder").mkdir()
    for name, words in (
        ("log.zstd", "it (cannot be read|has no report)"),
        ("binary", "it is no text"),
        ("none", "it cannot be read"),
        ("none.zstd", "there is no such file or folder"),
        ("folder", "that folder is no event log"),
    ):
        with pytest.raises(wb.ArgumentError, match=f"progress: got .*; {words}"):
            wb.open_job(outer[0], outer[1].checkpoint, progress=tmp_path / name)


def test_nothing_is_written(outer):
    def state():
        root = outer[1].checkpoint
        return sorted((path, path.stat().st_mtime_ns) for path in Path(root).rglob("*"))

    before = state()
    job = wb.open_job(outer[0], outer[1].checkpoint)
    assert job.mismatches.empty
    assert len(job.state(2))
    assert state() == before


def test_what_is_gone_is_counted_and_named(session, tmp_path, rows):
    for name, side, schema in (("orders", rows[0], jobs.ORDERS), ("payments", rows[1], jobs.PAYMENTS)):
        jobs.write(side, f"{tmp_path}/{name}", schema)
    joined = PAIRS(*jobs.streams(session, tmp_path))
    ran = jobs.run(joined, tmp_path / "checkpoint")
    (tmp_path / "orders" / "part-001.parquet").unlink()
    job = wb.open_job(joined, ran.checkpoint)
    [words] = job.missing
    assert words.startswith("1 of 6 files of ")
    assert "are gone, such as file:" in words
    assert repr(job).endswith("; not all of it can be read any more, see .missing>")
    with pytest.raises(wb.WorkbenchError, match="a job is not saved, as its fates depend on its logs; save a run"):
        job.save(tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            lambda joined, folder: (joined, None),
            "checkpoint: got None; give the folder that is the query's checkpointLocation",
        ),
        (lambda joined, folder: (joined, 7), "checkpoint: got 7; give a folder as text or a path"),
        (lambda joined, folder: (joined, folder / "none"), "there is no such folder"),
        (lambda joined, folder: (joined, folder), "it has no offsets"),
        (lambda joined, folder: (joined.sparkSession.range(3), folder), "a DataFrame that is not streaming"),
        (lambda joined, folder: (3, folder), "give a query of this session, or the streaming DataFrame of a job"),
    ],
)
def test_bad_input_is_one_sentence(outer, tmp_path, given, words):
    with pytest.raises(wb.WorkbenchError, match=re.escape(words)) as raised:
        wb.open_job(*given(outer[0], tmp_path))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("write", [written.tumbling_cogroup, written.tumbling], ids=lambda each: each.__name__)
def test_the_checkpoint_of_another_query(session, folder, outer, write):
    joined = write(*jobs.streams(session, folder))
    with pytest.raises(wb.ArgumentError, match=r"checkpoint: .*another query"):
        wb.open_job(joined, outer[1].checkpoint)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"sample": 0}, "sample: got 0; give the share of the keys as a number above 0, at most 1"),
        ({"sample": True}, "sample: got True"),
        ({"sample": float("nan")}, "sample: got nan"),
        ({"keys": "a"}, "keys: got 'a'; give a list of key values"),
        ({"keys": []}, "keys: got []; give at least one key and 10,000 at most"),
        ({"keys": [("a", 1)]}, "keys: got ('a', 1); the key has 1 column: give a value for each key"),
    ],
)
def test_wrong_arguments(outer, arguments, words):
    with pytest.raises(wb.ArgumentError, match=re.escape(words)):
        wb.open_job(outer[0], outer[1].checkpoint, **arguments)


def test_a_part_of_a_chain_of_joins_is_not_the_query(session, folder, tmp_path):
    orders, payments = written.marked(*jobs.streams(session, folder))
    pairs = orders.join(payments, F.expr(f"{written.SAME} AND {written.WITHIN}"))
    _, refunds = written.marked(*jobs.streams(session, folder))
    refunds = refunds.select(F.col("oid").alias("rid"), F.col("paid_at").alias("refunded_at"))
    within = F.expr("rid = order_id AND refunded_at BETWEEN ordered_at AND ordered_at + INTERVAL 5 SECONDS")
    chain = pairs.select("order_id", "ordered_at").join(refunds, within)
    ran = jobs.run(chain, tmp_path / "checkpoint")
    with pytest.raises(
        wb.ArgumentError, match="it has offsets of 3 sources, and joined reads 2: it is the checkpoint of"
    ):
        wb.open_job(pairs, ran.checkpoint)


def test_a_join_that_is_not_understood_shows_what_does_not_depend_on_it(session, folder, tmp_path):
    orders, payments = written.marked(*jobs.streams(session, folder))
    joined = orders.join(payments, F.expr(f"{written.SAME} AND {written.NEVER}"))
    ran = jobs.run(joined, tmp_path / "checkpoint")
    job = wb.open_job(joined, ran.checkpoint)
    assert job.unknown == ("the lower bound is above the upper: no pair meets the condition",)
    dropped = sum(each["stateOperators"][0]["numRowsDroppedByWatermark"] for each in ran.progress)
    assert len(job.late) == dropped
    assert set(job.rows.fate.dropna()) == {"late"}
    assert job.rows.reason[job.rows.fate.isna()].str.contains("no pair meets").all()
    assert len(job.state(2)) == ran.progress[2]["stateOperators"][0]["numRowsTotal"]
    assert job.batches.state_rows.isna().all()
    assert job.comparison.what.tolist() == ["watermark of each micro-batch"]
    assert job.mismatches.empty
    for ask in (lambda: job.join, lambda: job.charts, lambda: job.output, lambda: job.causes, lambda: job.why(0)):
        with pytest.raises(
            wb.WorkbenchError, match=r"the join of this job could not be analyzed \(the lower bound is above"
        ):
            ask()


ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@pytest.mark.parametrize(
    "settings",
    [
        {"spark.sql.streaming.stateStore.providerClass": ROCKSDB},
        {
            "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
            "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        },
        {
            "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
            "spark.sql.streaming.join.stateFormatVersion": "3",
            "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        },
        {
            "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
            "spark.sql.streaming.join.stateFormatVersion": "4",
        },
        {"spark.sql.streaming.offsetLog.formatVersion": "2"},
    ],
    ids=["RocksDB", "RocksDB changelog", "RocksDB format 3", "RocksDB format 4", "log of offsets 2"],
)
def test_state_in_every_form(spark, folder, tmp_path, settings):
    session = spark.newSession()
    for name, value in {"spark.sql.shuffle.partitions": "2", "spark.sql.streaming.minBatchesToRetain": "2"}.items():
        session.conf.set(name, value)
    for name, value in settings.items():
        session.conf.set(name, value)
    joined = PAIRS(*jobs.streams(session, folder))
    ran = jobs.run(joined, tmp_path / "checkpoint")
    job = wb.open_job(joined, ran.checkpoint)
    assert job.batches.batch[0] > 0
    assert job.mismatches.empty, job.mismatches.to_string()
    assert came_out(job) == {batch: rows for batch, rows in by_batch(ran).items() if batch > job.batches.batch[0]}


def test_where_spark_has_deleted_state_that_its_logs_still_name_the_job_begins_later(spark, folder, tmp_path):
    """RocksDB's maintenance keeps the last versions only, and one micro-batch less than the logs have."""
    session = jobs.session(spark, streaming_minBatchesToRetain="2")
    session.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    joined = PAIRS(*jobs.streams(session, folder))
    ran = jobs.run(joined, tmp_path / "checkpoint")
    first = int(wb.open_job(joined, ran.checkpoint).batches.batch[0])
    for each in (tmp_path / "checkpoint" / "state").rglob("*.zip"):
        if int(each.name.split(".")[0]) <= first + 1:  # the state after it is the version after
            each.unlink()
            each.with_name(f".{each.name}.crc").unlink(missing_ok=True)
    job = wb.open_job(joined, ran.checkpoint)
    assert job.batches.batch[0] == first + 1
    assert job.mismatches.empty, job.mismatches.to_string()
    assert came_out(job) == {batch: rows for batch, rows in by_batch(ran).items() if batch > first + 1}


def test_the_policy_is_read_as_spark_reads_it(spark, folder, tmp_path):
    own = jobs.session(spark, streaming_multipleWatermarkPolicy="MAX")
    joined = written.guide_inner(*jobs.streams(own, folder))
    job = wb.open_job(joined, jobs.run(joined, tmp_path / "checkpoint").checkpoint)
    assert job.policy == "max"
    assert job.mismatches.empty


def test_logs_of_another_form(outer, tmp_path):
    joined, ran = outer
    for number, (change, words) in enumerate(
        {
            ("v1\n", "v9\n"): "has the version 'v9', but only v1 and v2 are supported",
            ("v1\n", "v2\n"): "its sources have names, such as '{\"logOffset\"'",
        }.items()
    ):
        copied = tmp_path / str(number)
        shutil.copytree(ran.checkpoint, copied)
        for each in (copied / "offsets").glob("[0-9]*"):
            each.write_text(each.read_text().replace(*change, 1))
        for each in (copied / "offsets").glob(".*.crc"):
            each.unlink()
        with pytest.raises(wb.DataError, match=re.escape(words)):
            wb.open_job(joined, copied)


@st.composite
def jobs_in_any_spelling(draw):
    """A join of any kind in any spelling, over any rows, under any settings."""
    seconds = st.sampled_from([-7, -3, -1, 0, 1, 2, 4, 9])
    low, high = sorted((draw(seconds), draw(seconds)))
    how = draw(st.sampled_from(["inner", "left", "right", "full", "left_semi"]))
    window = draw(
        st.sampled_from(
            [None, None, None, ("5 seconds",), ("6 seconds", "2 seconds"), ("4 seconds", "4 seconds", "1 second")]
        )
    )
    strict = draw(st.sampled_from([("<=", ">="), ("<", ">")])) if low < high else ("<=", ">=")
    form = draw(
        st.sampled_from(
            [
                "paid_at {1} ordered_at + INTERVAL {low} SECONDS AND paid_at {0} ordered_at + INTERVAL {high} SECONDS",
                "ordered_at {0} paid_at - INTERVAL {low} SECONDS AND ordered_at {1} paid_at - INTERVAL {high} SECONDS",
                "paid_at - INTERVAL {low} SECONDS {1} ordered_at AND ordered_at + INTERVAL {high} SECONDS {1} paid_at",
            ]
        )
    )
    more = draw(
        st.sampled_from(
            ["", "", " AND paid >= amount", " AND paid > 10", " AND amount > 10", " AND (paid > 30 OR amount < 50)"]
        )
    )
    return {
        "how": how,
        "window": window,
        "within": form.format(*strict, low=low, high=high) + (more if window is None else ""),
        "filters": draw(st.tuples(*[st.sampled_from(["", "", "amount < 60", "order_id <> 'b'"])] * 2)),
        "above": draw(st.sampled_from(["", "", "", "amount <> 30"])),
        "delays": draw(st.tuples(*[st.sampled_from(["0 seconds", "2 seconds", "8 seconds"])] * 2)),
        "policy": draw(st.sampled_from(["min", "min", "max"])),
        "kept": draw(st.sampled_from(["100", "2"])),
        "seed": draw(st.integers(0, 10_000)),
        "rows": draw(st.sampled_from([12, 40])),
        "batches": draw(st.sampled_from([2, 5])),
    }  # fmt: skip


def build(asked, orders, payments):
    below, over = asked["filters"]
    orders = orders.where(below) if below else orders
    orders, payments = written.marked(orders, payments, *asked["delays"])
    orders = orders.where(over) if over else orders
    if asked["window"]:
        left = orders.withColumn("w", F.window("ordered_at", *asked["window"])).drop("ordered_at")
        right = payments.withColumn("v", F.window("paid_at", *asked["window"])).drop("paid_at")
        joined = left.join(right, F.expr(f"{written.SAME} AND w = v"), asked["how"])
    else:
        joined = orders.join(payments, F.expr(f"{written.SAME} AND {asked['within']}"), asked["how"])
    if asked["above"] and asked["how"] == "inner":
        joined = joined.where(asked["above"])
    return joined


def check_any_job(spark, asked):
    session = spark.newSession()
    for name, value in (
        ("shuffle.partitions", "1"),
        ("streaming.minBatchesToRetain", asked["kept"]),
        ("streaming.multipleWatermarkPolicy", asked["policy"]),
    ):
        session.conf.set(f"spark.sql.{name}", value)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        sides = jobs.recorded(asked["seed"], asked["rows"], asked["batches"])
        jobs.write(sides[0], f"{folder}/orders", jobs.ORDERS)
        jobs.write(sides[1], f"{folder}/payments", jobs.PAYMENTS)
        joined = build(asked, *jobs.streams(session, folder))
        ran = jobs.run(joined, f"{folder}/checkpoint")
        job = wb.open_job(joined, ran.checkpoint)
        assert job.mismatches.empty, job.mismatches.to_string()
        names = [name for name in ("order_no", "payment_no") if name in joined.columns]
        first = int(job.batches.batch[0])
        assert came_out(job, names) == {
            batch: rows for batch, rows in by_batch(ran, names).items() if not first or batch > first
        }
        counted = [each for each in ran.progress if not first or each["batchId"] > first]
        assert len(job.late) == sum(each["stateOperators"][0]["numRowsDroppedByWatermark"] for each in counted)
        matched = {
            (side, number)
            for side, name in (("left", "order_no"), ("right", "payment_no"))
            for batch, rows in ran.output.items()
            for each in rows
            if not first and len(names) == 2 and not pd.isna(each["order_no"]) and not pd.isna(each["payment_no"])
            for number in [each[name]]
        }
        if not first and len(names) == 2:
            mine = job.rows[job.rows.fate == "matched"]
            assert matched == {
                (each.side, each.order_no if each.side == "left" else each.payment_no) for each in mine.itertuples()
            }


@strategies.in_parts(10, 5, asked=jobs_in_any_spelling())
@pytest.mark.usefixtures("spark")
def test_any_job_in_any_spelling(asked):
    check_any_job(wb.spark(), asked)


def test_sources_are_read_no_more_than_is_needed(session, outer, folder, tmp_path, monkeypatch):
    """What filters let through is asked of Spark only where they ask for more than values that are not null."""
    asked = []
    survivors = entering.survivors
    monkeypatch.setattr(entering, "survivors", lambda *given, **named: asked.append(1) or survivors(*given, **named))
    job = wb.open_job(outer[0], outer[1].checkpoint)
    assert asked == []
    assert (job.rows.fate == "null_key").any()
    filtered = written.filtered_above_watermark(*jobs.streams(session, folder))
    assert wb.open_job(filtered, jobs.run(filtered, tmp_path).checkpoint).mismatches.empty
    assert asked == [1, 1]
