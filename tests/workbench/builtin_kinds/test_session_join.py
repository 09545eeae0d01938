"""Sessions: which silence of a key, and between which rows, parts a row from the nearest one of the other stream."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
import strategies
from hypothesis import strategies as st
from page import Page
from verdict_examples import START, stream

import workbench as wb
from workbench import times

JOIN = wb.WindowJoin(wb.Session("10 seconds"), how="left")


def preview(orders, payments, join=JOIN, **settings):
    """A preview of rows of one key, each its second and its micro-batch."""
    sides = [
        stream([("o-1", *row) for row in rows], name) for rows, name in ((orders, "orders"), (payments, "payments"))
    ]
    return wb.preview(join, *sides, **settings)


def reason(run, row):
    return run.rows["reason"][row]


@pytest.mark.parametrize("join", [JOIN, wb.CoGroup(wb.Session("10 seconds"))], ids=["join", "coGroup"])
def test_the_silence_that_ended_its_session_is_told_with_its_rows(join):
    run = preview([(0, 0), (8, 0)], [(29, 0)], join)
    for row in (0, 1):  # both in one session, which the later one ends
        assert (
            "in a later session; its own ended at 10:00:18, because no row of key o-1 came between 10:00:08 (orders) "
            "and 10:00:29 (payments): 21 s, which is longer than the gap of 10 s; a gap of 21 s would put both in one "
            "session" in reason(run, row)
        )
    assert run.verdicts[0] == "other_session"
    assert ("verdict", reason(run, 0)) in run.why(0).facts


def test_of_a_later_row_the_silence_before_its_session_is_told_and_that_there_are_others():
    run = preview([(0, 0), (8, 0)], [(29, 0), (41, 0)])
    assert (
        "in an earlier session; its own began at 10:00:41, because no row of key o-1 came between 10:00:29 (payments) "
        "and 10:00:41 (payments): 12 s, which is longer than the gap of 10 s, as is 1 other silence between the two"
    ) in reason(run, 3)


def test_a_late_row_in_the_silence_does_not_end_it():
    rows = [(0, 0), (60, 0), (61, 1), (10, 2)]
    run = preview(rows, [(60, 0), (61, 1)])
    assert run.rows["fate"][3] == "late"
    assert "no row of key o-1 came in time between 10:00:00 (orders) and 10:01:00 " in reason(run, 0)


def test_the_silence_is_told_where_no_setting_would_have_matched_the_row():
    orders = [(23, 0), (42, 0), (13, 1), (10, 1), (51, 2), (28, 3)]
    run = preview(orders, [(20, 1)], wb.WindowJoin(wb.Session("5 s"), how="left"), finish=False)
    row = int(run.rows.index[run.rows["fix_setting"].isna() & (run.rows["fate"] == "unmatched")][0])
    assert run.verdicts[row] == "other_session"
    assert reason(run, row).startswith("the nearest row of its key on payments is ")
    assert "which is longer than the gap of 5 s" in reason(run, row)


def test_the_story_on_the_page_tells_it():
    frames = {
        name: pd.DataFrame({"order": ["o-1"] * len(seconds), "at": START + pd.to_timedelta(seconds, unit="s")})
        for name, seconds in {"orders": [10, 20], "payments": [41]}.items()
    }
    page = Page(*frames.values(), namespace={})
    page.wait()
    page.set({"Kind": "Session window join", "Gap": "10 seconds"})
    page.pick(row_id="left-0")
    assert "its own ended at 10:00:30, because no row of key o-1 came between 10:00:20" in page.text("story")
    page.close()


TOLD = re.compile(r"came( in time)? between (\S+) \(\S+\) and (\S+) \(\S+\)")
SESSIONS = st.builds(wb.Session, strategies.span)
JOINS = st.one_of(st.builds(wb.WindowJoin, SESSIONS, strategies.hows), st.builds(wb.CoGroup, SESSIONS))


@strategies.in_parts(6, 20, case=strategies.cases(of=JOINS))
def test_between_the_two_rows_that_are_told_none_of_the_key_was_on_time(case):
    sides = case.streams()
    run = wb.preview(case.join, *sides, finish=case.finish, policy=case.policy)
    rows = run.rows.assign(time=np.concatenate([side.event_times for side in sides]), name=run.keys)
    rows["clock"] = [run.reasons.labels.moment(time) for time in rows["time"]]
    for index in rows.index[rows["verdict"] == "other_session"]:
        told = TOLD.search(rows["reason"][index])
        if told is None:
            continue
        in_time, *clocks = told.groups()
        mine = rows[rows["name"] == rows["name"][index]]
        begin, end = (mine["time"][mine["clock"] == clock].iloc[0] for clock in clocks)
        assert end - begin > times.micros(case.join.window.gap)
        between = mine[(mine["time"] > begin) & (mine["time"] < end)]
        assert set(between["fate"]) <= {"late"}
        assert bool(in_time) == bool(len(between))
