"""What is in the way of making streams of two tables, and the repairs that would do; their code is what is run."""

from __future__ import annotations

import datetime

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from workbench import frames
from workbench.sources import repairs
from workbench.sources.findings import Part, of_duplicates, of_keys, of_times, of_zones

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
START = pd.Timestamp("2026-01-05 10:00:00")


def times_of(values, place="time", column="at"):
    return of_times("left", "orders", pd.DataFrame({column: values}), place, column)


def after(finding, frame, offer=0):
    return repairs.repaired(frame, [finding.offers[offer].repair])


def run(found, frame):
    """A frame after the code of repairs, as a cell has it."""
    space = {"pd": pd, "rows": frame.copy()}
    exec("\n".join(repairs.code(found, "rows")), space)
    return space["rows"]


def test_times_that_are_all_there_need_nothing():
    assert times_of([START]) is None
    assert times_of([]) is None or times_of([]).offers == ()


def test_rows_without_a_time_are_left_out_on_demand():
    frame = pd.DataFrame({"at": [START, pd.NaT, START, pd.NaT], "k": range(4)})
    found = of_times("left", "orders", frame, "time", "at")
    assert found.words == "2 of 4 rows have no event time in at"
    assert found.offers[0].label == "Leave out 2 rows"
    assert list(after(found, frame)["k"]) == [0, 2]
    assert len(frame) == 4


def test_a_column_without_any_time_has_no_repair():
    assert times_of(pd.to_datetime([None, None])).offers == ()


def test_text_is_parsed_with_the_format_found_and_what_does_not_parse_is_said():
    frame = pd.DataFrame({"at": ["05.01.2026 10:00", "n/a", None, "06.01.2026 11:30"]})
    found = of_times("right", "payments", frame, "time", "at")
    assert found.words == "at holds text; read it as times"
    assert found.offers[0].label == "Parse as day.month.year hour:minute; not 1: 'n/a'"
    made = after(found, frame)
    assert list(made["at"].dropna()) == [START, pd.Timestamp("2026-01-06 11:30")]
    assert of_times("right", "payments", made, "time", "at").words == "2 of 4 rows have no event time in at"


@given(
    st.lists(
        st.datetimes(datetime.datetime(1990, 1, 1), datetime.datetime(2090, 1, 1)).map(
            lambda t: t.replace(microsecond=0)
        ),
        min_size=1,
        max_size=20,
    )
)
def test_what_is_written_is_read_again(moments):
    for form in ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S+00:00", "%d.%m.%Y %H:%M:%S"):
        frame = pd.DataFrame({"at": [each.strftime(form) for each in moments]})
        made = after(of_times("left", "o", frame, "time", "at"), frame)["at"]
        assert [each.tz_localize(None).to_pydatetime() for each in made] == moments
        assert (made.dt.tz is not None) == ("+" in form)


def test_dates_and_numbers_are_read_as_times():
    dates = pd.DataFrame({"at": [datetime.date(2026, 1, 5)]})
    assert list(after(times_of(dates["at"]), dates)["at"]) == [START.normalize()]
    numbers = pd.DataFrame({"at": [START.value // 10**6]})
    found = times_of(numbers["at"])
    assert found.offers[0].label == "Read as ms since 1970"
    assert list(after(found, numbers)["at"]) == [START.tz_localize("UTC")]


@pytest.mark.parametrize("values", [["a"], [1], [1.5], [True], [b"x"], [[1]], [None]])
def test_what_says_no_time_has_no_repair(values):
    found = times_of(values)
    assert found.offers == ()
    assert "choose a column with times" in found.words


def part(name, values, kind=None):
    return Part(name, pd.DataFrame({"k": pd.Series(values, dtype=kind)}), ("k",))


def labels(found):
    return [(each.side, offer.label) for each in found for offer in each.offers]


def test_keys_of_another_type_are_cast_with_what_that_finds():
    found = of_keys(part("orders", range(4)), part("payments", ["0", "1", "7", "8"]))
    assert labels(found) == [
        ("right", "Make k whole numbers: 50% are on orders"),
        ("right", "Make k of orders text: 50% are on payments"),
    ]
    assert found[0].words == "k of orders holds whole numbers, k of payments text"


def test_the_cast_that_finds_more_comes_first():
    found = of_keys(part("orders", range(4)), part("payments", ["000", "001", "002"]))
    assert labels(found) == [
        ("right", "Make k whole numbers: 100% are on orders"),
        ("right", "Make k of orders text: 0% are on payments"),
    ]


def with_offer(offer, side, left, right):
    """Two tables after an offer beside one of them."""
    first = offer.side or side
    done = {first: [offer.repair], "right" if first == "left" else "left": [offer.also] if offer.also else []}
    return repairs.repaired(left, done["left"]), repairs.repaired(right, done["right"])


@pytest.mark.parametrize(
    ("left", "right", "first"),
    [
        (["A-1", "B-2"], ["a-1", "b-2"], "Write k in lower case: 100% are on payments"),
        (["a-1 ", "b-2"], ["a-1", "b-2"], "Write k without blanks at the ends: 100% are on payments"),
        (["a 1", "b 2"], ["a1", "b2"], "Write k without blanks: 100% are on payments"),
        (["7", "12"], ["007", "012"], "Write k without leading zeros: 100% are on orders"),
        (["A00001", "A00002"], ["A1", "A2"], "Write k without zeros before numbers: 100% are on payments"),
        (
            ["A00001", "ORD-0020", "0A3"],
            ["a1 ", "ord-20", "c"],
            "Write k in lower case and without zeros before numbers, k of payments without blanks at the ends: "
            "67% are on payments",
        ),
        (["A1.05", "B2"], ["a1.05", "b2"], "Write k in lower case: 100% are on payments"),
        (
            ["A-1", "B-2"],
            [" a-1", "b-2", "c-3", "d-4"],
            "Write k in lower case, k of payments without blanks at the ends: 100% are on payments",
        ),
        (["A-1", "b-2"], ["a-1", "B-2"], "Write k in lower case on both sides: 100% are on payments"),
        ([7, 12, 99], ["007", "012", "x"], "Write k as text, k of payments without leading zeros: 67% are on payments"),
        (
            ["0A-1 ", "0B-2 "],
            ["a-1", "b-2"],
            "Write k without blanks at the ends, in lower case and without leading zeros: 100% are on payments",
        ),
    ],
)
def test_keys_that_are_written_otherwise_are_offered_the_repair_that_matches_most_first(left, right, first):
    (found,) = of_keys(part("orders", left), part("payments", right))
    assert found.offers[0].label == first
    frames_now = with_offer(found.offers[0], found.side, *(pd.DataFrame({"k": values}) for values in (left, right)))
    keys = [set(each["k"].astype(str)) for each in frames_now]
    assert len(keys[0] & keys[1]) == 2


def test_text_of_another_type_of_pandas_is_told_as_text():
    (found,) = of_keys(part("orders", ["A-1", "b-2"], "string"), part("payments", [" a-1", "b-2"], "category"))
    first = "Write k in lower case, k of payments without blanks at the ends: 100% are on payments"
    assert found.offers[0].label == first


def test_a_combination_comes_before_its_parts_and_says_what_falls_together():
    left = ["A-1 ", "b-2", "B-2", "c-3 ", "d-4"]
    (found,) = of_keys(part("orders", left), part("payments", ["a-1", "b-2", "c-3", "d-4"]))
    assert [each.label for each in found.offers] == [
        "Write k without blanks at the ends and in lower case: 100% are on payments; 5 keys of orders become 4",
        "Write k without blanks at the ends: 60% are on payments",
        "Write k in lower case: 60% are on payments; 5 keys of orders become 4",
    ]
    assert not found.wrong


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (["a", "b"], ["a", "b"]),
        (["a", "b"], ["c", "d"]),
        (["A", "b"], ["b", "c"]),
        ([1, 2], [1, 3]),
        ([None], ["a"]),
        ([1.5, 2.0], ["2", "x"]),
    ],
)
def test_nothing_is_offered_that_finds_no_more(left, right):
    assert not [offer for each in of_keys(part("orders", left), part("payments", right)) for offer in each.offers]


@given(
    st.lists(st.text("aAbB 0", max_size=4), min_size=1, max_size=12),
    st.lists(st.text("aAbB 0", max_size=4), min_size=1, max_size=12),
)
def test_a_repair_of_keys_finds_what_its_button_says(left, right):
    one, other = (pd.DataFrame({"k": pd.Series(values, dtype=object)}) for values in (left, right))
    for found in of_keys(Part("o", one, ("k",)), Part("p", other, ("k",))):
        before = one["k"].drop_duplicates().isin(set(other["k"])).sum()
        counts = []
        for offer in found.offers:
            mine, theirs = (each["k"] for each in with_offer(offer, found.side, one, other))
            distinct = [each.index for each in (one["k"].drop_duplicates(), other["k"].drop_duplicates())]
            meet = mine.loc[distinct[0]].isin(set(theirs)), theirs.loc[distinct[1]].isin(set(mine))
            counts.append(sum(int(each.sum()) for each in meet))
            share = meet[0 if (offer.side or found.side) == "left" else 1].mean()
            said = offer.label.split(": ")[1]
            assert said.startswith((f"{share:.0%}", "fewer", "99%"))
        assert counts == sorted(counts, reverse=True)
        assert not counts or counts[0] > before


def test_exact_duplicates_are_counted_and_left_out_on_demand():
    frame = pd.DataFrame({"k": ["a", "b", "a", "a"], "at": [START, START, START, START], "batch": [0, 0, 1, 2]})
    assert of_duplicates("left", "orders", frame) is None
    found = of_duplicates("left", "orders", frame, "batch")
    assert found.words == "2 of 4 rows of orders are exact duplicates of a row before them"
    assert not found.wrong
    assert found.offers[0].label == "Leave out 2 duplicates"
    assert list(after(found, frame).index) == [0, 1]
    plain = frame.drop(columns="batch").head(3)
    one = of_duplicates("left", "orders", plain)
    assert one.words == "1 of 3 rows of orders is an exact duplicate of a row before it"
    assert list(after(one, plain).index) == [0, 1]
    assert of_duplicates("left", "orders", pd.DataFrame({"k": [[1], [1]], "n": 1})) is None


@pytest.mark.parametrize(("unit", "per"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
@pytest.mark.parametrize("kind", [int, float, str])
def test_epochs_of_every_unit_are_read_also_as_text(unit, per, kind):
    seconds = int(START.timestamp())
    frame = pd.DataFrame({"at": [kind(seconds * per), kind((seconds + 60) * per)]})
    found = of_times("left", "o", frame, "time", "at")
    assert found.offers[0].label == f"Read as {unit} since 1970"
    zoned = START.tz_localize("UTC")
    assert list(after(found, frame)["at"]) == [zoned, zoned + pd.Timedelta("1 min")]


def test_text_that_is_no_number_is_said_of_epochs():
    frame = pd.DataFrame({"at": [str(int(START.timestamp())), "soon", None]})
    found = of_times("left", "o", frame, "time", "at")
    assert found.offers[0].label == "Read as s since 1970; not 1: 'soon'"


@pytest.mark.parametrize(
    ("left", "right", "sides"),
    [
        ([1, 2], ["1", "x"], ["left"]),
        ([1.0, 2.0], ["1", "x"], ["left"]),
        ([1.0, None], [1, 2], ["left"]),
        ([1.5, 2.0], [1, 2], []),
        ([1.5, 2.0], ["1", "2"], []),
        ([1, 2], [3, 4], []),
    ],
)
def test_which_side_can_be_cast(left, right, sides):
    found = of_keys(part("o", left), part("p", right))
    assert [offer.side or each.side for each in found for offer in each.offers if offer.label[:4] == "Make"] == sides
    assert bool(found) == (pd.Series(left).dtype != pd.Series(right).dtype)


@given(st.lists(st.integers(-(10**17), 10**17) | st.none(), min_size=1, max_size=20))
def test_casts_lose_no_digit(values):
    if all(each is None for each in values):
        return
    texts = [None if each is None else str(each) for each in values]
    frame = pd.DataFrame({"k": pd.Series(texts, dtype=object)})
    whole = repairs.repaired(frame, [repairs.Cast("k", "whole numbers", "text")])["k"]
    assert [None if pd.isna(each) else int(each) for each in whole] == values
    again = repairs.repaired(whole.to_frame(), [repairs.Cast("k", "text")])["k"]
    assert [None if pd.isna(each) else each for each in again] == texts


def test_a_key_of_several_types_is_made_text():
    mixed = pd.DataFrame({"k": [1, "a"], "t": [START, START]})
    (found,) = of_keys(Part("orders", mixed, ("k",)), part("p", ["a"]))
    made = after(found, mixed)
    assert list(made["k"]) == ["1", "a"]
    assert len(frames.stream(made, "orders", "k", "t")) == 2


def test_a_stream_is_not_cast():
    stream = wb.Stream.from_pandas(pd.DataFrame({"k": [1], "t": [START]}), "orders", "k", "t")
    found = of_keys(Part("orders", None, ("k",), stream.table), part("p", ["1"]))
    assert [each.side for each in found] == ["right"]


def test_a_zone_of_one_side_is_offered_to_the_other():
    found = of_zones(("orders", "payments"), ("at", "paid"), ("Europe/Berlin", None), (True, True))
    assert found.words == "orders has a time zone and payments none: it is taken as UTC"
    assert [each.label for each in found.offers] == ["Treat payments as Europe/Berlin", "Treat payments as UTC"]
    assert not found.wrong
    frame = pd.DataFrame({"paid": [START, pd.Timestamp("2026-03-29 02:30"), pd.Timestamp("2026-10-25 02:30")]})
    made = after(found, frame)["paid"]
    assert made[0] == START.tz_localize("Europe/Berlin")
    assert made.isna().sum() == 2


@pytest.mark.parametrize("zones", [(None, None), ("UTC", None), ("Asia/Tokyo", "Europe/Berlin")])
def test_other_zones_are_as_they_are_meant(zones):
    assert of_zones(("o", "p"), ("a", "b"), zones, (True, True)) is None


@given(NAMES, st.sampled_from(["%d.%m.%Y %H:%M", "ISO8601"]))
def test_any_name_of_a_column_is_quoted(name, form):
    frame = pd.DataFrame({name: ["05.01.2026 10:00", "2026-01-05 10:00", None]})
    wanted = [repairs.ParseTimes(name, form), repairs.LeaveOut(name)]
    made = repairs.repaired(frame, wanted)
    assert list(made[name]) == [START]
    pd.testing.assert_frame_equal(run(wanted, frame), made)


def test_a_repair_that_does_not_go_is_one_sentence():
    frame = pd.DataFrame({"k": ["a"], "at": [START]})
    for wrong in (repairs.Cast("k", "whole numbers"), repairs.LeaveOut("gone"), repairs.InZone("k", "UTC")):
        with pytest.raises(wb.DataError, match=r"repair: .*take it back"):
            repairs.repaired(frame, [wrong])


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ("ISO8601", "ISO 8601"),
        ("%d.%m.%Y", "day.month.year"),
        ("%m/%d/%y %I:%M %p", "month/day/yy hour:minute AM/PM"),
        ("%Y%m%d%H%M%S", "in 20260131090507"),
        ("%d %b %Y", "in 31 Jan 2026"),
    ],
)
def test_how_times_are_written_is_said_without_codes(form, written):
    repair = repairs.ParseTimes("at", form)
    assert repair.written == written
    assert repair.words == f"at is read as time, written as {written}; other values become null"
