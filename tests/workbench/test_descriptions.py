"""Time spans, windows, joins: checked when made, printed as the call that makes them."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from workbench import times
from workbench.joins import HOWS

spans = st.timedeltas(min_value=-timedelta(days=400), max_value=timedelta(days=400))
sizes = st.timedeltas(min_value=timedelta(microseconds=1), max_value=timedelta(days=400))
windows = st.one_of(
    st.builds(wb.Tumbling, sizes, spans), st.builds(wb.Sliding, sizes, sizes, spans), st.builds(wb.Session, sizes)
)
joins = st.one_of(
    st.builds(wb.WindowJoin, windows, st.sampled_from(HOWS)),
    st.builds(wb.CoGroup, windows),
    st.builds(
        lambda bounds, how, *flags: wb.IntervalJoin(*sorted(bounds), how, *flags),
        st.tuples(spans, spans),
        st.sampled_from(HOWS),
        st.booleans(),
        st.booleans(),
    ),
)


@given(spans)
def test_a_span_is_read_back_from_its_text(span):
    assert times.parse(times.text(span), "size") == span


@given(joins)
def test_a_join_is_the_call_that_makes_it(join):
    again = eval(repr(join), vars(wb))
    assert again == join
    assert hash(again) == hash(join)


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("10 seconds", timedelta(seconds=10)),
        ("1 minute 30 seconds", timedelta(seconds=90)),
        ("-2 s", timedelta(seconds=-2)),
        ("500 ms", timedelta(milliseconds=500)),
        ("1 hour 30 minutes", timedelta(minutes=90)),
        (timedelta(days=1), timedelta(days=1)),
    ],
)
def test_spans(text, span):
    assert times.parse(text, "size") == span


@pytest.mark.parametrize(
    ("make", "argument", "got"),
    [
        (lambda: wb.Tumbling("ten seconds"), "size", "ten seconds"),
        (lambda: wb.Tumbling("10"), "size", "'10'"),
        (lambda: wb.Tumbling(10), "size", "10"),
        (lambda: wb.Tumbling(None), "size", "None"),
        (lambda: wb.Tumbling("0 seconds"), "size", "0 seconds"),
        (lambda: wb.Tumbling("NaT"), "size", "NaT"),
        (lambda: wb.Tumbling("5 ns"), "size", "5 ns"),
        (lambda: wb.Tumbling("1000000 days"), "size", "1000000 days"),
        (lambda: wb.Tumbling("10 seconds", offset="x"), "offset", "x"),
        (lambda: wb.Sliding("10 seconds", "-1 s"), "slide", "-1 s"),
        (lambda: wb.Session("-5 seconds"), "gap", "-5 seconds"),
        (lambda: wb.IntervalJoin("5 s", "-5 s"), "lower", "5 seconds"),
        (lambda: wb.IntervalJoin("a", "5 s"), "lower", "'a'"),
        (lambda: wb.IntervalJoin("0 s", "5 s", how="cross"), "how", "cross"),
        (lambda: wb.IntervalJoin("0 s", "5 s", lower_exclusive=1), "lower_exclusive", "1"),
        (lambda: wb.WindowJoin(wb.Tumbling("1 s"), how="outer"), "how", "outer"),
        (lambda: wb.WindowJoin("10 seconds"), "window", "10 seconds"),
        (lambda: wb.CoGroup(None), "window", "None"),
    ],
)
def test_wrong_arguments_are_named(make, argument, got):
    with pytest.raises(wb.ArgumentError) as raised:
        make()
    message = str(raised.value)
    assert message.startswith(f"{argument}: got ")
    assert got in message
    assert "\n" not in message
    assert raised.value.argument == argument
    assert isinstance(raised.value, ValueError)


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (timedelta(seconds=4.2), "4.2 s"),
        (timedelta(milliseconds=350), "350 ms"),
        (timedelta(microseconds=7), "7 µs"),
        (timedelta(seconds=125), "2 min 5 s"),
        (timedelta(hours=3, minutes=5), "3 h 5 min"),
        (timedelta(days=20000, hours=3), "20000 d 3 h"),
        (timedelta(0), "0 s"),
    ],
)
def test_spans_as_people_read_them(span, words):
    assert times.short(span) == words


@given(st.integers(-(3 * 10**15), 3 * 10**15))
def test_precise_words_say_a_span_exactly(size):
    span = timedelta(microseconds=size)
    assert times.parse(times.precise(span), "span") == span


@pytest.mark.parametrize("unit", ["days", "ms", "s"])
def test_a_span_of_twenty_digits_is_refused_in_a_sentence(unit):
    with pytest.raises(wb.ArgumentError, match="use at most a hundred years"):
        wb.Tumbling(f"99999999999999999999 {unit}")


def test_spans_of_numpy():
    assert wb.Tumbling(np.timedelta64(90, "s")) == wb.Tumbling("90 seconds")
    for wrong in (np.timedelta64("NaT"), np.timedelta64(1, "Y"), np.timedelta64(1, "M")):
        with pytest.raises(wb.ArgumentError, match="size: got"):
            wb.Tumbling(wrong)


@pytest.mark.parametrize(("how", "meant"), [("outer", "full"), ("left_outer", "left"), ("leftsemi", "semi")])
def test_a_how_of_sparks_is_told_in_the_workbenchs_words(how, meant):
    with pytest.raises(wb.ArgumentError, match=f"did you mean '{meant}'"):
        wb.IntervalJoin("0 s", "1 s", how=how)
