"""Plans that Spark refuses: a note says so before Spark is asked, of those that it refuses only."""

from __future__ import annotations

import os

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

import workbench as wb

WITHIN = "l_id = r_id AND r_t BETWEEN l_t AND l_t + INTERVAL 5 SECONDS"
KEY = "l_id = r_id"
NEXT = "l_id = x_id AND x_t BETWEEN r_t AND r_t + INTERVAL 5 SECONDS"


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Three micro-batches, two minutes apart, so that the watermark moves."""
    folder = tmp_path_factory.mktemp("rows")
    for number in range(3):
        file = folder / f"{number}.json"
        file.write_text(f'{{"t": "2026-01-01T00:0{2 * number}:00Z", "id": 1}}')
        os.utime(file, (10**9 + number,) * 2)
    return folder


class Streams:
    """Streams of the rows, by the letter with which their columns begin."""

    def __init__(self, session, folder):
        self.session, self.folder = session, folder

    def __call__(self, name, *delays):
        source = self.session.readStream.schema("t timestamp, id bigint").option("maxFilesPerTrigger", 1)
        frame = source.json(str(self.folder)).withColumnsRenamed({"t": f"{name}_t", "id": f"{name}_id"})
        for delay in delays or ("1 second",):
            frame = frame.withWatermark(f"{name}_t", delay) if delay else frame
        return frame

    def joined(self, how="inner", on=WITHIN, left=("1 second",), right=("1 second",)):
        return self("l", *left).join(self("r", *right), F.expr(on), how)

    def with_windows(self, *dropped):
        sides = [self(name).withColumn(f"{name}_w", F.window(f"{name}_t", "5 seconds")).drop(*dropped) for name in "lr"]
        return sides[0].join(sides[1], F.expr("l_id = r_id AND l_w = r_w"))


REFUSED = {
    "an outer join without watermarks": lambda s: s.joined("left", left=("",), right=("",)),
    "a left join with a watermark on the left only": lambda s: s.joined("left", right=("",)),
    "a right join with a watermark on the right only": lambda s: s.joined("right", left=("",)),
    "a full outer join without bounds": lambda s: s.joined("full", KEY),
    "a semi join without bounds": lambda s: s.joined("left_semi", KEY),
    "an anti join": lambda s: s.joined("left_anti"),
    "a join without a key": lambda s: s.joined(on="r_t BETWEEN l_t AND l_t + INTERVAL 5 SECONDS"),
    "alternative keys": lambda s: s.joined(on="l_id = r_id OR l_id = r_id + 1"),
    "a third stream with two event times": lambda s: s.joined().join(s("x"), F.expr(NEXT)),
    "dropDuplicates after the join": lambda s: s.joined().dropDuplicates(["l_id"]),
    "groups of two event times": lambda s: s.joined().groupBy("l_t", "r_t").count(),
    "windows beside the event time": lambda s: s.with_windows(),
    "an aggregation without a watermark": lambda s: s.joined().groupBy("l_id").count(),
    "an order": lambda s: s.joined().orderBy("l_t"),
}
ACCEPTED = {
    "a left join": lambda s: s.joined("left"),
    "a left join with a watermark on the right only": lambda s: s.joined("left", left=("",)),
    "a full outer join with a watermark on one side": lambda s: s.joined("full", right=("",)),
    "a semi join": lambda s: s.joined("left_semi"),
    "an inner join without watermarks": lambda s: s.joined(left=("",), right=("",)),
    "a third stream with one event time": lambda s: s.joined().drop("l_t").join(s("x"), F.expr(NEXT)),
    "a third stream, and the other event time not selected": lambda s: (
        s.joined().join(s("x"), F.expr(NEXT)).select("l_id")
    ),
    "a third stream, and a column of its own": lambda s: (
        s.joined().withColumn("l_t", F.expr("timestamp_micros(unix_micros(l_t))")).join(s("x"), F.expr(NEXT))
    ),
    "windows without the event time": lambda s: s.with_windows("l_t", "r_t"),
    "an aggregation": lambda s: s.joined().groupBy(F.window("l_t", "5 seconds")).agg(F.max("r_t")),
    "a limit": lambda s: s.joined().limit(3),
}
REFUSES = ("Spark refuses to start this query in", "Spark ends this query in its first micro-batch")


@pytest.fixture(scope="module")
def streams(session, rows):
    return Streams(session, rows)


def run(joined, mode="append"):
    joined.writeStream.format("noop").outputMode(mode).trigger(availableNow=True).start().awaitTermination()


def refusals(joined, mode="append"):
    return [each for each in wb.describe(joined, mode).notes if each.startswith(REFUSES)]


@pytest.mark.parametrize("name", REFUSED)
def test_what_spark_refuses_has_a_note_of_the_rule(streams, name):
    joined = REFUSED[name](streams)
    [note] = refusals(joined)
    with pytest.raises(PySparkException) as raised:
        run(joined)
    found = wb.explain(raised.value)
    assert found.known
    assert found.rule[1:-1] in note
    assert found.remedy[1:-1] in note


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_spark_accepts_has_none(streams, name):
    joined = ACCEPTED[name](streams)
    assert refusals(joined) == []
    run(joined)


def test_the_note_says_where(streams):
    [note] = refusals(streams.joined("left", KEY))
    assert " (Join LeftOuter, (l_id = r_id)); call withWatermark on both sides" in note
    [note] = refusals(streams.joined().join(streams("x"), F.expr(NEXT)))
    assert " (l_t, r_t); drop all but one of them" in note


@pytest.mark.parametrize("how", ["left", "right", "left_semi"])
@pytest.mark.parametrize(
    "span", ["make_interval(0, 0, 0, 0, 0, 0, 5)", "make_dt_interval(0, 0, 0, 5)", "INTERVAL 1 SECOND * 5"]
)
def test_an_outer_join_whose_bounds_spark_does_not_read_is_told_how_to_write_them(streams, span, how):
    on = f"l_id = r_id AND r_t >= l_t - {span} AND r_t < l_t + {span}"
    written = "r_t >= l_t - INTERVAL 5 SECONDS AND r_t < l_t + INTERVAL 5 SECONDS"
    (note,) = refusals(streams.joined(how, on))
    assert note.endswith(f"INTERVAL that is written out: write {written}")
    assert refusals(streams.joined(how, f"l_id = r_id AND {written}")) == []
    run(streams.joined(how, f"l_id = r_id AND {written}"))


@pytest.mark.parametrize(
    ("mode", "how", "refused"),
    [("update", "left", True), ("update", "inner", False), ("complete", "inner", True), ("append", "left", False)],
)
def test_the_output_mode(streams, mode, how, refused):
    joined = streams.joined(how)
    found = refusals(joined, mode)
    assert [each.startswith(f"Spark refuses to start this query in {mode} mode: ") for each in found] == [
        True
    ] * refused
    if refused:
        with pytest.raises(PySparkException):
            run(joined, mode)
    else:
        run(joined, mode)


def test_an_output_mode_that_there_is_not(streams):
    with pytest.raises(wb.ArgumentError, match=r"^mode: got 'upsert'; use one of 'append', 'update', 'complete'"):
        wb.describe(streams.joined(), "upsert")


@pytest.mark.parametrize(
    "made",
    [
        lambda s: s.joined(left=("1 second", "5 seconds")),
        lambda s: s.joined().withWatermark("l_t", "9 seconds"),
    ],
    ids=["before the join", "after the join"],
)
def test_a_watermark_that_is_set_again(streams, made):
    joined = made(streams)
    found = wb.describe(joined)
    assert (
        len([each for each in (*found.unknown, *found.notes) if each.startswith("withWatermark is called on l_t")]) == 1
    )
    with pytest.raises(PySparkException) as raised:
        run(joined)
    assert "one watermark" in wb.explain(raised.value).rule


def test_what_the_session_does_not_check_is_not_refused(session, streams):
    joined = streams.joined("left_semi", KEY)
    session.conf.set("spark.sql.streaming.unsupportedOperationCheck", "false")
    try:
        assert refusals(joined) == []
    finally:
        session.conf.unset("spark.sql.streaming.unsupportedOperationCheck")


def test_a_condition_that_spark_cannot_plan_says_why(streams):
    alike = F.udf(lambda one, other: one == other, "boolean")
    joined = streams("l").join(streams("r"), F.expr(WITHIN) & alike("l_id", "r_id"), "left")
    with pytest.raises(wb.ArgumentError, match="has no UDF in Python; write the condition with Spark's functions"):
        wb.describe(joined)
