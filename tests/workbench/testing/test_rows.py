"""The forms in which a test writes its rows, and what is said of those that do not fit."""

import datetime as dt
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import Row

import workbench as wb
from workbench.testing import DAY, micro_batches, play

ORDER = {"id": "o-1", "at": "10:00:00"}


def passed(streams):
    """The rows that come to the user's function and out of it again."""
    (schema, *batches), settings = streams if isinstance(streams[0], tuple) else (streams, None)
    return play(lambda rows: rows, rows=micro_batches(schema, *batches), settings=settings).output


TIME = pd.Timestamp("2026-01-01 10:00:00", tz="UTC")
FORMS = {
    "tuples": [("o-1", "10:00:00")],
    "lists": [["o-1", "10:00:00"]],
    "dicts": [ORDER],
    "pandas": pd.DataFrame({"at": [TIME], "id": ["o-1"]}),
    "pandas, without a zone": pd.DataFrame({"at": [TIME.tz_localize(None)], "id": ["o-1"]}),
    "Arrow": pa.table({"id": ["o-1"], "at": pa.array([TIME.to_pydatetime()], pa.timestamp("us", "UTC"))}),
    "CSV": "o-1, 10:00:00",
    "CSV with names in another order": "at,id\n10:00:00,o-1\n",
    "JSON, an object a line": '{"id": "o-1", "at": "10:00:00"}\n',
    "JSON, a list": '[{"at": "2026-01-01T10:00:00Z", "id": "o-1"}]',
    "objects": [("o-1", dt.datetime(2026, 1, 1, 10))],
    "a time of day": [("o-1", dt.time(10))],
    "another zone": [("o-1", "2026-01-01 12:00:00+02:00")],
}


def test_each_form_gives_the_same_rows(spark):
    found = passed(("id string, at timestamp", *FORMS.values()))
    assert len(found) == len(FORMS) == found["batch"].nunique()
    assert set(found["id"]) == {"o-1"}
    assert set(found["at"]) == {TIME}


def test_a_time_without_a_zone_is_in_that_of_the_query(spark):
    zone = {"spark.sql.session.timeZone": "America/New_York"}
    found = passed((("at timestamp, plain timestamp_ntz", [("10:00", "10:00")]), zone))
    assert found["at"][0] == pd.Timestamp(f"{DAY} 15:00", tz="UTC")
    assert found["plain"][0] == pd.Timestamp(f"{DAY} 10:00")


def test_each_type_of_spark_arrives_as_it_was_given(spark):
    schema = (
        "s string, b boolean, i tinyint, j smallint, k int, l bigint, f float, d double, c decimal(9, 2), t date, n binary, "
        "a array<timestamp>, m map<string, int>, r struct<x: int, y: array<string>>"
    )
    row = ("x", True, 1, 2, 3, 4, 0.5, 0.25, "1.10", "2026-03-04", b"\0", ["10:00"], {"k": 1}, {"x": 5, "y": ["z"]})
    text = "x,true,1,2,3,4,0.5,0.25,1.10,2026-03-04,,,,\n"
    one, other = passed((schema, [row, (None,) * 14], text)).iloc[[0, 2]].to_dict("records")
    assert (one["s"], one["b"], one["l"], one["c"], one["t"]) == ("x", True, 4, Decimal("1.10"), dt.date(2026, 3, 4))
    assert (list(map(pd.Timestamp, one["a"])), dict(one["m"]), one["n"]) == ([TIME.tz_localize(None)], {"k": 1}, b"\0")
    assert one["r"]["x"] == 5
    assert list(one["r"]["y"]) == ["z"]
    assert {name: other[name] for name in "sbijklfdct"} == {name: one[name] for name in "sbijklfdct"}
    assert other["a"] is None


def test_a_time_of_day_is_on_one_day_whatever_its_zone(spark):
    texts = ["10:00Z", "10:00:00 Z", "12:00:00+02:00", "05:00:00.000000-05", "10:00:00.0000000"]
    assert set(passed(("at timestamp", [(each,) for each in texts]))["at"]) == {TIME}


CLOCKS = [
    "2026-03-29 02:30:00",
    "2026-10-25 02:30:00",
    "2026-10-04 02:10:00",
    "2026-04-05 01:45:00",
    "1880-01-01 00:00:00",
]


def told_by_spark(texts, zone):
    """The times that Spark casts texts to."""

    def cast(rows):
        return rows.selectExpr("cast(text as timestamp) AS at")

    settings = {"spark.sql.session.timeZone": zone}
    return play(cast, rows=micro_batches("text string", [(each,) for each in texts]), settings=settings).output["at"]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Australia/Lord_Howe", "+01:00", "GMT-3", "UTC+05:30", "Z"])
def test_a_time_is_read_as_spark_reads_it(spark, zone):
    """Those that clocks skip or show twice, and those before there were zones, too."""
    found = passed((("at timestamp", [(each,) for each in CLOCKS]), {"spark.sql.session.timeZone": zone}))
    assert found["at"].tolist() == told_by_spark(CLOCKS, zone).tolist()


def test_a_region_behind_a_time_is_read_as_spark_reads_it(spark):
    texts = [f"{each} {zone}" for each in CLOCKS for zone in ("Europe/Berlin", "Australia/Lord_Howe")]
    texts += ["2026-01-01 10:00:00.123 America/Argentina/Buenos_Aires", "2026-01-01 10:00:00 Etc/GMT+3"]
    found = passed(("at timestamp", [(each,) for each in texts]))
    assert found["at"].tolist() == told_by_spark(texts, "UTC").tolist()
    assert set(passed(("at timestamp", [("12:00 Europe/Berlin",), ("11:00 Europe/Berlin",)]))["at"]) == {
        TIME, TIME + pd.Timedelta("1h"),
    }  # fmt: skip


@pytest.mark.parametrize("text", ["10:00 Europe/Berlinn", "10:00Z Europe/Berlin", "10:00 ../etc/passwd"])
def test_a_region_that_is_none_is_said(spark, text):
    with pytest.raises(wb.ArgumentError, match="a time, such as"):
        passed(("at timestamp", [(text,)]))


def test_a_zone_that_python_does_not_know_is_said(spark):
    with pytest.raises(wb.ArgumentError, match=r"timeZone: got 'PST'; .* give a region, such as \"Europe/Berlin\""):
        passed((("at timestamp", [("10:00",)]), {"spark.sql.session.timeZone": "PST"}))


def test_texts_of_several_lines(spark):
    schema = "a string, n decimal(20, 10)"
    csv = '\n"two\nlines",1\n\n  x,2\n'
    objects = '{\n "a": "two\\nlines",\n "n": 1\n}\n{"a": "x", "n": 1234567890.1234567891}'
    found = passed((schema, csv, objects))
    assert found["a"].tolist() == ["two\nlines", "x"] * 2
    assert found["n"].tolist() == [1, 2, 1, Decimal("1234567890.1234567891")]


def test_rows_that_name_their_values_are_read_by_name(spark):
    class Order(NamedTuple):
        at: str
        id: str

    found = passed(("id string, at string", [Order("10:00", "o-1"), Row(at="10:00", id="o-1"), ("o-1", "10:00")]))
    assert found[["id", "at"]].drop_duplicates().values.tolist() == [["o-1", "10:00"]]


def test_what_is_missing_in_pandas_is_null(spark):
    found = passed(("id string, at timestamp", [(pd.NA, pd.NaT), (None, np.datetime64("NaT")), (float("nan"), None)]))
    assert found[["id", "at"]].isna().all(axis=None)


@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.text(st.characters(codec="utf-8"))),
            st.one_of(st.none(), st.integers(-(2**31), 2**31 - 1)),
        ),
        max_size=9,
    )
)
def test_any_rows_are_read_as_they_are(spark, rows):
    from pyspark.sql.types import IntegerType, StringType, StructField, StructType

    from workbench.testing import rows as reading

    schema = StructType([StructField("a", StringType()), StructField("b", IntegerType())])
    target = pa.schema({"a": pa.string(), "b": pa.int32()})
    (table,) = reading.tables(micro_batches(schema, rows), schema, target, "rows", "UTC")
    assert [tuple(row.values()) for row in table.to_pylist()] == rows


WRONG = {
    "no row": (
        lambda: micro_batches("id string", ("o-1",)),
        "micro-batch 0: got 'o-1'; that is no row: a micro-batch is a list",
    ),
    "no micro-batch": (
        lambda: micro_batches("id string", 5),
        "micro-batch 0: got 5; give a list of tuples or dicts, a pandas",
    ),
    "no schema": (lambda: micro_batches(["id"]), "schema: got ['id']; give columns as Spark writes them"),
    "a misspelled schema": (lambda: micro_batches("id strin", []), "rows: got 'id strin'; that is no schema"),
    "a type alone": (lambda: micro_batches("int", []), "rows: got 'int'; that names no column"),
    "a column is missing": (
        lambda: micro_batches("id string, at timestamp", [{"id": "x"}]),
        "has no column at; write None",
    ),
    "one more": (
        lambda: micro_batches("id string", [{"id": "x", "n": 1}]),
        "has a column n, which the schema lacks (id)",
    ),
    "too few values": (
        lambda: micro_batches("id string, at timestamp", [("x",)]),
        "row 0 of micro-batch 0 needs 2 values: id, at",
    ),
    "too few values in CSV": (lambda: micro_batches("id string, at timestamp", "x\ny,10:00"), "needs 2 values: id, at"),
    "a time that is none": (
        lambda: micro_batches("id string, at timestamp", [], [("x", "10:00:0x")]),
        "rows: got '10:00:0x'; column at of row 0 of micro-batch 1 is timestamp: give a time, such as",
    ),
    "a number as a time": (
        lambda: micro_batches("at timestamp", [(1_767_261_600,)]),
        "is timestamp: give a time, such as",
    ),
    "a zone where there is none": (
        lambda: micro_batches("at timestamp_ntz", [("2026-01-01T10:00Z",)]),
        "give a time without a zone",
    ),
    "half a number": (
        lambda: micro_batches("n int", [(1.5,)]),
        "column n of row 0 of micro-batch 0 is int: give a whole number",
    ),
    "a number that is too large": (
        lambda: micro_batches("m int, n int", [(1, 1)], [(1, 2), (1, 2**40)]),
        "rows: got 1099511627776; column n of row 1 of micro-batch 1 does not fit int (",
    ),
    "a decimal that is too large": (
        lambda: micro_batches("n decimal(4, 2)", [("123.4",)]),
        "does not fit decimal(4,2) (",
    ),
    "two columns of one name": (
        lambda: micro_batches("id string, id string", [("a", "b")]),
        "rows: got 'struct<id:string,id:string>'; two columns are named id; give each a name of its own",
    ),
    "a type that only tables have": (
        lambda: micro_batches("id varchar(3)", [("a",)]),
        "rows: got 'struct<id:varchar(3)>'; rows cannot be given so (",
    ),
    "the present time": (lambda: micro_batches("at timestamp", [("now",)]), "is timestamp: give a time, such as"),
    "a time of today": (lambda: micro_batches("at timestamp", [("10 pm",)]), "is timestamp: give a time, such as"),
    "two columns of one name in pandas": (
        lambda: micro_batches("a int", pd.DataFrame([[1, 2]], columns=["a", "a"])),
        "rows: the table of micro-batch 0 cannot be read (Duplicate column names",
    ),
    "texts and numbers in pandas": (
        lambda: micro_batches("a string", pd.DataFrame({"a": ["x", 1]})),
        "rows: the table of micro-batch 0 cannot be read (",
    ),
    "three of a pair": (lambda: micro_batches("m map<string, int>", [([("k", 1, 2)],)]), "give a dict"),
    "a number as a struct": (lambda: micro_batches("r struct<x: int>", [(5,)]), "is struct<x:int>: give a dict with x"),
    "a number as a text": (lambda: micro_batches("id string", [(5,)]), "is string: give a text"),
    "no JSON": (lambda: micro_batches("id string", '{"id": '), "micro-batch 0 is no JSON"),
    "JSON that is no row": (lambda: micro_batches("id string", "[5]"), "rows: got 5"),
    "a field that is not there": (
        lambda: micro_batches("r struct<x: int>", [({"z": 1},)]),
        "has a field z, which struct<x:int> lacks",
    ),
    "a text as a list": (lambda: micro_batches("a array<string>", [("abc",)]), "is array<string>: give a list"),
    "a number as a dict": (lambda: micro_batches("m map<string, int>", [(4,)]), "is map<string,int>: give a dict"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_is_one_sentence(spark, case):
    make, words = WRONG[case]
    with pytest.raises(wb.ArgumentError) as raised:
        play(lambda rows: rows, rows=make())
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)
