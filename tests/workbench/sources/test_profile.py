"""What the columns of a table hold, and which are likely to be key, event time and time of arrival."""

from __future__ import annotations

import datetime
import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import generators
import workbench as wb
from workbench import times
from workbench.sources.profile import key_overlap, likely_trigger, profile
from workbench.sources.time_formats import RARE, likely_unit, written

START = pd.Timestamp("2026-01-05 10:00:00.25")


def frame(**columns):
    return pd.DataFrame(columns)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", None], "text"),
        (pd.array(["a"], dtype="string"), "text"),
        (pd.Categorical(["a", "b"]), "text"),
        ([1, 2], "whole number"),
        (pd.array([1, None], dtype="Int64"), "whole number"),
        (pd.Series([1, None], dtype=object), "whole number"),
        ([1.5], "number"),
        ([True], "true or false"),
        ([START], "time"),
        ([datetime.date(2026, 1, 1)], "date"),
        ([1, "a"], "mixed"),
        ([None], "nothing"),
        ([[1], [2]], "other"),
        ([b"x"], "binary"),
        (pd.to_timedelta([1], unit="s"), "other"),
    ],
)
def test_what_a_column_holds(values, kind):
    assert profile(frame(x=values)).columns[0].kind == kind


def test_labels_have_types_and_zones():
    zoned = pd.Series([START.tz_localize("Europe/Berlin")])
    found = profile(frame(a=zoned, b=[START], c=["x"]))
    assert [each.label for each in found.columns] == ["a · time in Europe/Berlin", "b · time", "c · text"]


@pytest.mark.parametrize(
    ("form", "wants"),
    [
        ("%Y-%m-%d %H:%M:%S", "ISO8601"),
        ("%Y-%m-%dT%H:%M:%S.%f", "ISO8601"),
        ("%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M"),
        ("%m/%d/%Y %I:%M:%S %p", "%m/%d/%Y %I:%M:%S %p"),
        ("%d %b %Y %H:%M:%S", "%d %b %Y %H:%M:%S"),
        ("%Y/%m/%d", "%Y/%m/%d"),
        ("%a, %d %b %Y %H:%M:%S +0200", "%a, %d %b %Y %H:%M:%S %z"),
        ("%Y%m%d%H%M%S", "%Y%m%d%H%M%S"),
    ],
)
def test_how_texts_say_times(form, wants):
    moments = pd.Series(pd.date_range(START, periods=40, freq="13h"))
    found = written(moments.dt.strftime(form))
    assert [each.format for each in found] == [wants]
    assert found[0].share == 1


def test_days_and_months_that_may_be_either_are_offered_both():
    found = written(pd.Series(["03/04/2026 10:00", "05/06/2026 11:00"]))
    assert [each.format for each in found] == ["%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M"]


@given(st.lists(st.datetimes(datetime.datetime(1990, 1, 1), datetime.datetime(2099, 1, 1)), min_size=1, max_size=40))
def test_what_is_written_in_a_form_is_read_in_it(moments):
    for form in ("%d.%m.%Y %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f"):
        texts = pd.Series([each.strftime(form) for each in moments])
        best = written(texts)[0]
        read = pd.to_datetime(texts, format=best.format)
        assert list(read) == list(pd.to_datetime(texts, format=form))


@pytest.mark.parametrize("texts", [["o-1", "o-2"], ["2001", "1999"], ["10042", "10043"], ["", "x"], ["1.5", "2.5"]])
def test_texts_that_say_no_time(texts):
    assert written(pd.Series(texts)) == ()


def test_zones_in_texts_are_seen():
    (found,) = written(pd.Series(["2026-01-01T10:00:00Z", "2026-01-01T11:00:00+02:00", "n/a"]))
    assert (found.format, found.zoned, round(found.share, 2)) == ("ISO8601", True, 0.67)
    assert not written(pd.Series(["2026-01-01"]))[0].zoned


@given(st.datetimes(datetime.datetime(1990, 1, 2), datetime.datetime(2098, 12, 31)))
def test_numbers_that_count_time(moment):
    seconds = int(moment.replace(tzinfo=datetime.UTC).timestamp())
    for unit, per in {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}.items():
        assert likely_unit(pd.Series([seconds * per])) == unit


@pytest.mark.parametrize("values", [[0, 5], [-1], [10**12, 10**9], [None], [float("nan")]])
def test_numbers_that_do_not(values):
    assert likely_unit(pd.Series(values, dtype="float64")) is None


@pytest.mark.parametrize("scenario", generators.scenarios())
def test_key_and_time_of_every_scenario_come_first(scenario):
    left, right = generators.generate(scenario, events=200)
    frames = [each.to_pandas() for each in (left, right)]
    for stream, mine, other in ((left, *frames), (right, *frames[::-1])):
        found = profile(mine, other)
        assert (found.keys[0], found.time) == (stream.key[0], stream.time)
        assert set(found.keys) == set(found.times) == set(found.arrivals) == set(mine.columns)


def test_the_key_is_found_by_its_values_where_names_differ():
    ids = [f"o-{n}" for n in range(50)]
    mine = frame(status=["ok", "no"] * 25, order=ids, note=[f"n{n}" for n in range(50)])
    theirs = frame(state=["ok"] * 40, ref=ids[10:], text=["z"] * 40)
    assert profile(mine, theirs).keys[0] == "order"
    assert profile(theirs, mine).keys[0] == "ref"


def test_a_text_that_holds_the_other_sides_numbers_is_likely_the_key():
    mine = frame(order_id=range(40), amount=np.arange(40) * 1.5)
    theirs = frame(note=["x"] * 40, number=[str(n) for n in range(40)])
    assert profile(theirs, mine).keys[0] == "number"


def test_the_time_of_arrival_is_known_by_its_name():
    found = profile(frame(received_at=[START + pd.Timedelta("3 s")], at=[START], k=["a"]))
    assert (found.time, found.arrival) == ("at", "received_at")
    assert profile(frame(at=[START], paid_at=[START])).arrival is None
    assert profile(frame(at=[START], arrived=["x"])).arrival is None


def test_nothing_is_likely_of_an_empty_table():
    assert profile(pd.DataFrame()).time == ""
    assert profile(frame(x=["a"])).time == ""


@given(st.lists(st.integers(0, 30) | st.none(), max_size=40), st.lists(st.integers(0, 30) | st.none(), max_size=40))
def test_key_overlap_is_the_share_of_distinct_keys(mine, theirs):
    tables = [
        pa.table({name: pa.array(values, kind)})
        for name, values, kind in (("a", mine, pa.int64()), ("b", theirs, pa.int32()))
    ]
    keys, others = set(mine) - {None}, set(theirs) - {None}
    found = key_overlap(tables[0], ["a"], tables[1], ["b"])
    assert found == (len(keys & others) / len(keys) if keys else None)


def test_key_overlap_of_several_columns_and_many_rows():
    one = pa.table({"a": np.arange(50_000), "b": ["x"] * 50_000})
    other = pa.table({"c": np.arange(0, 50_000, 2), "d": ["x"] * 25_000})
    assert key_overlap(one, ["a", "b"], other, ["c", "d"]) == pytest.approx(0.5, abs=0.03)
    assert key_overlap(other, ["c", "d"], one, ["a", "b"]) == 1


@given(st.floats(0, 10**8))
def test_a_likely_trigger_is_one(seconds):
    interval = times.trigger(likely_trigger(seconds)).total_seconds()
    assert interval >= 1
    assert seconds / interval <= 20 or interval == 86_400


KEYS = {
    "numbers": lambda rows: range(rows),
    "texts": lambda rows: [f"a{row}" for row in range(rows)],
    "few": lambda rows: [f"a{row % 2}" for row in range(rows)],
    "fractions": lambda rows: [row + 0.5 for row in range(rows)],
    "numbers like times": lambda rows: [1_700_000_000 + row for row in range(rows)],
    "texts like dates": lambda rows: [f"2026-01-{row % 28 + 1:02}" for row in range(rows)],
    "with a null": lambda rows: [None, *(f"a{row}" for row in range(rows - 1))],
}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    ("name", "same"), [("c", "x"), ("code", "x"), ("id", 7), ("n", 1), ("b", True), ("f", 1.5), ("z", None)]
)
def test_what_all_rows_hold_is_no_key_wherever_it_stands(key, name, same):
    for rows in (2, 3, 40):
        times = pd.date_range("2026-01-01", periods=rows, freq="s")
        frame = pd.DataFrame({"k": list(KEYS[key](rows)), "t": times, name: [same] * rows})
        for order in itertools.permutations(frame.columns):
            mine = frame[list(order)]
            assert wb.frames.guess(mine, mine.copy()) == ("k", "t"), (rows, order)
            assert wb.frames.guess(mine) == ("k", "t"), (rows, order)


def test_where_nothing_else_is_there_what_all_rows_hold_is_the_key():
    frame = pd.DataFrame({"t": pd.date_range("2026-01-01", periods=3, freq="s"), "c": "x"})
    assert wb.frames.guess(frame, frame.copy()) == ("c", "t")
    assert profile(frame, frame).keys == ("c", "t")


@pytest.mark.parametrize("form", RARE)
def test_rare_ways_of_writing_times_are_read(form):
    moments = pd.Series(pd.date_range(START.floor("s"), periods=40, freq="13h7min"))
    texts = moments.dt.strftime(form).str.replace(" $", " +0000", regex=True)
    texts = moments.dt.tz_localize("UTC").dt.strftime(form) if "%z" in form else texts
    found = written(texts)
    assert found[0].share == 1
    read = pd.to_datetime(texts, format=found[0].format, utc=found[0].zoned)
    lost = {"%S": "1min", "%M": "1D"}
    exact = next((step for part, step in lost.items() if part not in form), "1s")
    same = list(pd.to_datetime(texts, format=form, utc=found[0].zoned)) == list(read)
    assert same or exact != "1s"


@pytest.mark.parametrize("clock", ["%H:%M:%S", "%H:%M", "%I:%M %p"])
@pytest.mark.parametrize("date", ["%d/%m/%Y", "%b %d %Y", "%B %d, %Y", "%d.%m.%Y", "%Y-%m-%d"])
@pytest.mark.parametrize("offset", [" +0100", "+01:00", "Z"])
def test_offsets_are_read_in_every_way_of_writing(date, clock, offset):
    moments = pd.Series(pd.date_range(START.floor("min"), periods=40, freq="13h7min"))
    texts = moments.dt.strftime(f"{date} {clock}") + offset
    found = written(texts)
    assert found[0].zoned
    read = pd.to_datetime(texts, format=found[0].format, utc=True)
    assert list(read) == list((moments - pd.Timedelta("0 h" if offset == "Z" else "1 h")).dt.tz_localize("UTC"))
