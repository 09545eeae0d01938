"""The forms in which a test writes its rows, and what is said of those that do not fit."""

import datetime as dt
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    "a number that is too large": (lambda: micro_batches("n int", [(2**40,)]), "do not fit struct<n:int>"),
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
