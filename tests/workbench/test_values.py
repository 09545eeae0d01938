"""Values, names and sizes at their limits: what the definition and Spark say of them, or one sentence."""

from __future__ import annotations

import datetime
import subprocess
import sys
import textwrap
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from workbench import times
from workbench.builtin_kinds.window import fixed_windows
from workbench.kinds import kind_of
from workbench.model import keys_and_pairs

T = pd.Timestamp("2026-01-01 10:00")
JOIN = wb.IntervalJoin("-5 s", "5 s", how="full")
JOINS = [
    JOIN,
    wb.IntervalJoin("-5 s", "5 s"),
    wb.WindowJoin(wb.Tumbling("10 s"), how="left"),
    wb.WindowJoin(wb.Sliding("10 s", "5 s"), how="semi"),
    wb.WindowJoin(wb.Session("5 s"), how="full"),
    wb.CoGroup(wb.Tumbling("10 s")),
]


def keyed(keys, name="s", kind=None, **columns):
    table = pa.table({"k": pa.array(keys, kind), "t": pa.array([T] * len(keys), pa.timestamp("us")), **columns})
    return wb.Stream.from_arrow(table, name, "k", "t")


# ---- time spans

number = st.decimals(0, 10_000, places=3, allow_nan=False, allow_infinity=False)
UNITS = {"ms": 1_000, "s": 1_000_000, "seconds": 1_000_000, "min": 60_000_000, "hours": 3_600_000_000, "us": 1}


@settings(deadline=None)
@given(
    st.lists(st.tuples(number, st.sampled_from(sorted(UNITS))), min_size=1, max_size=3),
    st.sampled_from(["", "-", "+", " "]),
)
def test_a_span_is_the_sum_of_its_parts(parts, sign):
    text = sign + " ".join(f"{count} {unit}" for count, unit in parts)
    exact = sum(Decimal(count) * UNITS[unit] for count, unit in parts) * (-1 if sign == "-" else 1)
    if exact % 1 or abs(exact) > 36_500 * 86_400_000_000:
        with pytest.raises(wb.ArgumentError):
            times.parse(text, "size")
    else:
        assert times.parse(text, "size") == datetime.timedelta(microseconds=int(exact))


@settings(deadline=None)
@given(st.text(alphabet="0123456789.,;:-+eE smhdu'_", max_size=12))
def test_no_character_of_a_span_is_passed_over(text):
    try:
        read = times.parse(text, "size")
    except wb.ArgumentError:
        return
    assert not set(text) & set(",;:_'")
    assert times.parse(times.text(read), "size") == read
    assert abs(read) <= pd.Timedelta("1 s") or not any(part in times.text(read) for part in ("milli", "micro"))


@pytest.mark.parametrize(
    "join",
    [
        wb.IntervalJoin("-16.994 s", "2.000001 s", how="left"),
        wb.WindowJoin(wb.Tumbling("3.5 s")),
        wb.WindowJoin(wb.Session("1.25 s")),
        wb.AsOfJoin(tolerance="4.001 s"),
    ],
    ids=repr,
)
def test_spark_reads_seconds_with_decimals_as_the_workbench_writes_them(spark, join):
    rows = pd.DataFrame({"k": list("abab" * 5), "t": [T + pd.Timedelta(f"{700 * each} ms") for each in range(20)]})
    left, right = (
        wb.Stream.from_pandas(frame.assign(batch=frame.index // 4), name, "k", "t", "1.234 s", batch="batch")
        for name, frame in (("one", rows), ("other", rows[::2].reset_index(drop=True)))
    )
    run = wb.run(join, left, right)
    assert run.mismatch == ""
    assert '"1.234 seconds"' in run.script


@pytest.mark.parametrize(
    "span", ["1,5 s", "5 M", "1 s 5", "PT5S", "10", "", "1e3 s", "nan s", datetime.timedelta.max, pd.NaT, None, 5, "9" * 400 + " s"]
)  # fmt: skip
def test_what_is_no_span(span):
    with pytest.raises(wb.ArgumentError, match="size: got"):
        wb.Tumbling(span)


# ---- keys

KEYS = {
    "NUL": (["a\0b", "a\0c", "a"], ["a\0b", "a"], None),
    "NaN": ([float("nan"), 1.0, None], [float("nan"), 1.0, None], pa.float64()),
    "zeros": ([0.0, -0.0], [-0.0], pa.float64()),
    "decimal": ([Decimal("1.50"), None], [Decimal("1.50")], pa.decimal128(10, 2)),
    "small decimal": ([Decimal("0.50")], [Decimal("0.50")], pa.decimal128(2, 2)),
    "bytes": ([b"\0\xff", b"a", None], [b"\0\xff"], None),
    "fixed bytes": ([b"ab"], [b"ab"], pa.binary(2)),
    "date": ([datetime.date(2026, 1, 1)], [datetime.date(2026, 1, 1)], None),
    "time": ([T], [T], pa.timestamp("ns")),
    "bool": ([True, None], [True], None),
    "narrow": ([1, 2], [2], pa.int8()),
    "unsigned": ([2**32 - 1], [2**32 - 1], pa.uint32()),
    "case": (["A", "ß", "ſ"], ["a", "ss", "s"], None),
}


@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("join", JOINS, ids=lambda join: f"{type(join).__name__} {getattr(join, 'how', '')}")
def test_the_model_finds_keys_equal_where_spark_does(spark, join, keys):
    left, right, kind = KEYS[keys]
    run = wb.run(join, keyed(left, "left one", kind), keyed(right, "right one", kind))
    assert run.mismatches.empty
    assert len(run.rows) == len(left) + len(right)


def test_scripts_have_an_end_of_input_for_every_key(spark):
    for left, right, kind in KEYS.values():
        compile(wb.preview(JOIN, keyed(left, "a", kind), keyed(right, "b", kind)).script, "join.py", "exec")


def test_a_collation_of_the_key_is_refused(spark):
    table = spark.sql("SELECT 'A' COLLATE UTF8_LCASE AS k, timestamp'2026-01-01 10:00:00' AS t")
    with pytest.raises(wb.ArgumentError, match="key: got column 'k' of s, whose collation is UTF8_LCASE"):
        wb.frames.stream(table, "s", "k", "t")


# ---- times


def test_times_beyond_what_is_held_are_refused():
    far = pd.DataFrame({"k": ["a"], "t": np.array(["300000-01-01"], dtype="datetime64[s]")})
    with pytest.raises(wb.DataError, match="beyond the years 1 to 9999"):
        wb.Stream.from_pandas(far, "s", "k", "t")
    other = pd.DataFrame({"k": ["a"], "t": [T], "u": np.array(["300000-01-01"], dtype="datetime64[s]")})
    with pytest.raises(wb.DataError, match="column 'u' of s"):
        wb.Stream.from_pandas(other, "s", "k", "t")


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York"])
def test_nanoseconds_in_the_repeated_hour_of_autumn(zone):
    at = pd.to_datetime(
        ["2025-10-26 00:30:00.123456789", "2025-10-26 01:30", "2025-11-02 05:30", "2025-11-02 06:30"],
        utc=True,
        format="ISO8601",
    )
    frame = pd.DataFrame({"k": list("abcd"), "t": at.tz_convert(zone)})
    found = wb.Stream.from_pandas(frame, "s", "k", "t")
    assert found.event_times.tolist() == (at.astype("int64") // 1000).tolist()


def test_what_reaches_beyond_the_end_of_the_input_is_refused():
    late = pd.DataFrame({"k": ["a"], "t": [pd.Timestamp("2260-12-31 23:59:58")]})
    stream = wb.Stream.from_pandas(late, "s", "k", "t")
    for join in (wb.WindowJoin(wb.Session("5 s")), wb.CoGroup(wb.Tumbling("1 day")), wb.IntervalJoin("0 s", "5 s")):
        with pytest.raises(wb.ArgumentError, match="finish: got True; the end of the input is at 2261"):
            wb.preview(join, stream, stream)
        wb.preview(join, stream, stream, finish=False)


@settings(deadline=None)
@given(
    st.integers(0, 100_000),
    st.sampled_from(["5 s", "1 day"]),
    st.sampled_from(["0 s", "1 hour"]),
    st.sampled_from(["session", "tumbling", "interval"]),
)
def test_a_finished_run_leaves_nothing_open(before, length, delay, kind):
    at = pd.Timestamp("2261-01-01") - pd.Timedelta(before, "s") - pd.Timedelta("1 us")
    stream = wb.Stream.from_pandas(pd.DataFrame({"k": ["a"], "t": [at]}), "s", "k", "t", delay)
    join = {
        "session": wb.WindowJoin(wb.Session(length), how="left"),
        "tumbling": wb.CoGroup(wb.Tumbling(length)),
        "interval": wb.IntervalJoin("0 s", length, how="left"),
    }[kind]
    try:
        seen = wb.preview(join, stream, stream)
    except wb.ArgumentError:
        return
    assert set(seen.rows["fate"]) == {"matched"}


# ---- names


@pytest.mark.parametrize("name", ["left", "right", "window_start", "Window_End", "batch"])
def test_key_columns_that_a_cogroup_has_itself(name):
    stream = wb.Stream.from_pandas(pd.DataFrame({name: ["a"], "t": [T]}), "s", name, "t")
    with pytest.raises(wb.ArgumentError, match=f"key: got '{name}'; the output of this join has a column"):
        wb.preview(wb.CoGroup(wb.Tumbling("10 s")), stream, stream)
    assert len(wb.preview(JOIN, stream, stream).rows) == 2


def test_columns_named_like_those_of_a_runs_tables(spark):
    frame = pd.DataFrame(
        {"k": ["a"], "t": [T], "fate": [1], "row_fate": [2], "side": [3], "reason": ["x"], "window_start": [4]}
    )
    stream = wb.Stream.from_pandas(frame, "s", "k", "t")
    run = wb.run(wb.WindowJoin(wb.Tumbling("10 s"), how="full"), stream, stream)
    assert run.rows[["row_row_fate", "row_fate", "row_side"]].iloc[0].tolist() == [1, 2, 3]
    assert list(run.rows["fate"]) == ["matched", "matched"]
    assert len(run.state(0)) == 2


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (["k", "t", "__row"], "which the workbench uses itself"),
        (["k", "t", "s", "ſ"], "which are one to Spark"),
        (["k", "t", "T"], "which are one to Spark"),
        (["k", "t", "a", "a"], "which are one to Spark"),
        (["k", "t", ""], "name every column with text"),
        (["k", "t", "\ud800"], "name every column with text"),
    ],
)
def test_columns_that_cannot_be(columns, words):
    frame = pd.DataFrame([["a", T, *range(len(columns) - 2)]], columns=columns)
    with pytest.raises(wb.DataError, match=words):
        wb.Stream.from_pandas(frame, "s", "k", "t")


def test_key_and_time_in_one_column():
    with pytest.raises(wb.ArgumentError, match="time: got 't'; it is also a key of s"):
        wb.Stream.from_pandas(pd.DataFrame({"t": [T]}), "s", "t", "t")


def test_fields_with_any_name_in_a_script(spark, tmp_path):
    kind = pa.struct([("a b", pa.int64()), ("x`y", pa.list_(pa.struct([("c:d", pa.string())])))])
    stream = keyed(["a"], kind=None, extra=pa.array([{"a b": 1, "x`y": [{"c:d": "z"}]}], kind))
    import scripts

    made = scripts.module(scripts.job(wb.preview(JOIN, stream, stream), tmp_path))
    found = spark.createDataFrame([], made.LEFT_S.schema).schema["extra"].dataType
    assert [each.name for each in found.fields] == ["a b", "x`y"]
    assert [each.name for each in found.fields[1].dataType.elementType.fields] == ["c:d"]


# ---- micro-batches


def test_micro_batches_are_whole_numbers():
    table = pa.table({"k": ["a", "b"], "t": pa.array([T, T], pa.timestamp("us"))})
    for arrival in ([0.7, 1.9], [True, False], [1, 0], [-1, 0], [0], "ab", [0, 10**9], None):
        if arrival is None:
            assert wb.Stream.from_arrow(table, "s", "k", "t").arrival.tolist() == [0, 0]
            continue
        with pytest.raises(wb.ArgumentError, match="arrival: got"):
            wb.Stream.from_arrow(table, "s", "k", "t", arrival=arrival)
    for count in (0, -1, True, 1.5, 10**9):
        with pytest.raises(wb.ArgumentError, match="batch_count: got"):
            wb.Stream.from_arrow(table, "s", "k", "t", batch_count=count)


@pytest.mark.parametrize("kind", ["object", "int64", "float64", "string"])
def test_an_empty_stream_is_no_mistake(spark, kind):
    frame = pd.DataFrame(
        {
            "k": pd.Series([], dtype="string"),
            "t": pd.Series([], dtype="datetime64[us]"),
            "batch": pd.Series([], dtype=kind),
        }
    )
    empty = wb.Stream.from_pandas(frame, "s", "k", "t", batch="batch")
    assert (len(empty), empty.batch_count) == (0, 1)
    assert len(wb.frames.stream(frame, "s", "k", "t")) == 0
    run = wb.run(JOIN, empty, keyed(["a"], "other"))
    assert list(run.rows["fate"]) == ["unmatched"]


# ---- sizes


def hot(rows, name):
    table = pa.table({"k": ["hot"] * rows + ["cold"], "t": pa.array([T] * (rows + 1), pa.timestamp("us"))})
    return wb.Stream.from_arrow(table, name, "k", "t")


@pytest.mark.parametrize(
    "join", [JOIN, wb.WindowJoin(wb.Tumbling("10 s")), wb.WindowJoin(wb.Sliding("10 s", "10 s")), wb.WindowJoin(wb.Session("10 s"))], ids=repr
)  # fmt: skip
def test_too_many_pairs_are_counted_not_made(join):
    left, right = hot(20_000, "left one"), hot(20_000, "right one")
    with pytest.raises(
        wb.TooLargeError, match=r"400,000,001 pairs, 400,000,000 of them of key 'hot'.*a run on Spark makes them all"
    ) as raised:
        wb.preview(join, left, right).rows  # noqa: B018
    assert raised.value.count == 400_000_001
    (found, *_) = wb.advise(join, left, right)
    assert "400,000,001 pairs" in found.problem
    assert "'hot'" in found.problem


def test_many_rows_of_a_key_in_a_cogroup_are_no_pairs():
    seen = wb.preview(wb.CoGroup(wb.Tumbling("10 s")), hot(20_000, "left one"), hot(20_000, "right one"))
    assert set(seen.rows["fate"]) == {"matched"}


def test_too_many_windows_are_counted_not_made():
    stream = keyed([str(n) for n in range(1000)])
    join = wb.WindowJoin(wb.Sliding("1 day", "1 ms"))
    with pytest.raises(wb.TooLargeError, match="puts 1,000 rows into windows 86,400,000,000 times"):
        wb.preview(join, stream, stream).rows  # noqa: B018
    assert "86,400,000,000" in wb.advise(join, stream, stream)[0].problem


@settings(deadline=None)
@given(st.lists(st.integers(-50, 50), max_size=5), st.integers(1, 20), st.integers(1, 20), st.integers(-7, 7))
def test_windows_are_counted_exactly(moments, size, slide, offset):
    found = {}

    def keep(count, *_):
        found["count"] = count

    before, fixed_windows.check_size = fixed_windows.check_size, keep
    try:
        window = wb.Sliding(f"{size} us", f"{slide} us", f"{offset} us")
        assignments = kind_of(wb.WindowJoin(window)).assign(wb.WindowJoin(window), np.array(moments, dtype=np.int64))
    finally:
        fixed_windows.check_size = before
    assert found["count"] == len(assignments)


def test_a_run_that_is_too_large_for_the_model_is_a_run(spark, monkeypatch):
    monkeypatch.setattr(keys_and_pairs, "MOST", 10)
    with pytest.warns(
        UserWarning, match="not compared with the workbench's model, and has no reasons: this join makes 17 pairs"
    ):
        run = wb.run(JOIN, hot(4, "left one"), hot(4, "right one"))
    assert len(run.output) == 17
    assert "17 rows out; not compared with the workbench's model" in repr(run)
    assert int(run.execution.output_counts[0]) == 17


# ---- processes


def script(text):
    code = "import os, signal, sys, time, warnings\nimport generators\nimport workbench as wb\n" + textwrap.dedent(text)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.slow
def test_a_spark_that_died_is_replaced():
    done = script(
        """
        from pyspark import SparkContext
        join, streams = wb.IntervalJoin("0 s", "15 s"), generators.generate("orders_payments", events=20, seed=7)
        first = wb.run(join, *streams)
        session = wb.spark()
        kill = lambda: os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)
        kill()
        SparkContext._gateway.proc.wait()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            again = wb.run(join, *streams)
        print(len(again.output) == len(first.output), [str(each.message) for each in caught if each.category is UserWarning])
        for attempt in (lambda: wb.run(join, *streams, spark=session), lambda: first.state(0)):
            try:
                attempt()
            except wb.QueryError as error:
                print(error)
        try:
            wb.run(join, *streams, progress=lambda done, expected: kill() if done == 2 else None)
        except wb.QueryError as error:
            print(error)
        """
    )
    lines = done.stdout.splitlines()
    assert lines[0] == 'True ["Spark\'s Java process had ended; a new session is started"]', done.stderr[-2000:]
    assert len(lines) == 4
    assert all("Spark's Java process has ended" in line for line in lines[1:])


def test_a_forked_child_leaves_the_parents_folders(tmp_path):
    done = script(
        """
        from workbench.spark_io import scratch
        scratch = scratch.Scratch()
        folder = scratch.path
        child = os.fork()
        if not child:
            sys.exit()
        os.waitpid(child, 0)
        print(folder.is_dir())
        del scratch
        print(folder.is_dir())
        """
    )
    assert done.stdout.split() == ["True", "False"], done.stderr[-2000:]


def test_a_forked_child_is_refused_a_run_and_leaves_the_parents_spark():
    done = script(
        """
        join, streams = wb.IntervalJoin("0 s", "15 s"), generators.generate("orders_payments", events=20, seed=7)
        first = wb.run(join, *streams)
        session = wb.spark()
        child = os.fork()
        if not child:
            for more in ({}, {"spark": session}):
                try:
                    wb.run(join, *streams, **more)
                except wb.WorkbenchError as error:
                    print(error, flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        print(len(wb.run(join, *streams).output) == len(first.output))
        """
    )
    *told, again = done.stdout.splitlines()
    assert len(told) == 2, done.stderr[-2000:]
    assert all("this process was forked from one that has a Spark session" in each for each in told)
    assert again == "True"


def test_what_a_user_set_for_their_own_queries_does_not_change_a_run(spark):
    spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")
    try:
        run = wb.run(JOIN, keyed(["a", "b"], "left one"), keyed(["a"], "right one"))
    finally:
        spark.conf.unset("spark.sql.streaming.noDataMicroBatches.enabled")
    assert run.mismatches.empty
    assert sorted(run.rows["fate"]) == ["matched", "matched", "unmatched"]


def test_a_full_disk_is_said_in_a_word():
    from workbench.engine.query import FAILED
    from workbench.spark_io.cause import told

    error = told(
        RuntimeError(
            "org.apache.spark.SparkException: Job aborted\nCaused by: java.io.IOException: No space left on device"
        ),
        FAILED,
    )
    assert (
        str(error)
        == "the query failed in Spark: no space is left on the disk; make room, or give a run a larger folder=, else set TMPDIR to one"
    )


def test_the_wrapping_of_py4j_reaches_nobody(spark):
    from py4j.protocol import Py4JJavaError

    from workbench.engine.query import FAILED
    from workbench.spark_io.cause import told

    with pytest.raises(Py4JJavaError, match="An error occurred while calling") as raised:
        spark._jvm.java.lang.Class.forName("no.such.Class")
    assert str(told(raised.value, FAILED)) == "the query failed in Spark: ClassNotFoundException: no.such.Class"


def test_a_query_that_cannot_start_says_the_cause(spark, monkeypatch):
    monkeypatch.setattr("workbench.engine.query.record", lambda *_: None)  # so that there is nothing to read
    stream = keyed(["a"])
    with pytest.raises(wb.QueryError, match=r"the query failed in Spark: .*PATH_NOT_FOUND") as raised:
        wb.run(JOIN, stream, stream)
    assert "calling o" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_an_error_of_size_can_be_passed_on():
    import pickle

    again = pickle.loads(pickle.dumps(wb.TooLargeError("too many", 5)))  # noqa: S301 - our own
    assert (str(again), again.count) == ("too many", 5)
