"""Flink's rules as the model has them, held to Flink: recordings go through its operators on a mini cluster."""

from __future__ import annotations

from collections import Counter

import parts
import pytest
import strategies
from helpers import stream
from hypothesis import assume
from hypothesis import strategies as st

import workbench as wb
from workbench.flink._cluster import Cluster, case_lines
from workbench.joins import how_of
from workbench.kinds import kind_of
from workbench.literals import SIDES
from workbench.model import in_sql

LATENESS = st.sampled_from(["0 s", "0 s", "1 ms", "1 s", "5 s", "1 minute"])
IDLENESS = st.sampled_from([None, None, 1, 2])


@pytest.fixture(scope="module")
def cluster(pyflink, javac):
    with Cluster(parts.flink_jars(pyflink)) as cluster:
        yield cluster


def previewed(case, lateness, watermarks, idleness):
    """The preview of a case; one that is not for Flink is left out."""
    lateness = lateness if kind_of(case.join).windowed else "0 s"
    try:
        return wb.flink.preview(
            case.join, *case.streams(), allowed_lateness=lateness, watermarks=watermarks, idleness=idleness
        )
    except wb.ArgumentError as error:
        assume("milliseconds" not in str(error))
        raise


def numbers(text):
    return () if text == "-" else tuple(sorted(map(int, text.split(","))))


def given_by_flink(join, output):
    """The rows that come out, by step: of a window all that its how makes of both sides."""
    found = Counter()
    for step, time, left, right in output.itertuples(index=False):
        lefts, rights = numbers(left), numbers(right)
        if kind_of(join).grouped:
            found[step, time + 1, lefts, rights] += 1
        elif kind_of(join).windowed:
            for pair in paired(how_of(join), lefts, rights):
                found[step, time + 1, *pair] += 1
        elif how_of(join) != "anti":
            found[step, None, *(each[0] if each else None for each in (lefts, rights))] += 1
        elif not rights:
            found[step, None, lefts[0], None] += 1
    return found


def paired(how, lefts, rights):
    """What SQL's join of two lists gives."""
    if how == "semi":
        return [(left, None) for left in lefts if rights]
    both = [] if how == "anti" else [(left, right) for left in lefts for right in rights]
    both += [(left, None) for left in lefts if not rights and how in ("left", "full", "anti")]
    return both + [(None, right) for right in rights if not lefts and how in ("right", "full")]


def expected(preview):
    outputs = preview.outcome.outputs
    table = outputs.table[outputs.table["emitted"]]
    members = {side: outputs.of(side).groupby("output")["row"].agg(lambda rows: tuple(sorted(rows))) for side in SIDES}
    found = Counter()
    only_left = how_of(preview.join) in ("semi", "anti")
    for output, (end, batch) in zip(table.index, table[["end", "batch"]].to_numpy().tolist(), strict=True):
        rows = [members[side].get(output, ()) for side in SIDES]
        if not kind_of(preview.join).grouped:
            rows = [each[0] if each else None for each in rows]
            rows[1] = None if only_left else rows[1]
        found[batch, end // 1000 if preview.windowed else None, *rows] += 1
    return found


def late(preview):
    found = preview.outcome.assignments
    return {
        (side, row)
        for side in SIDES
        for row, mine in found[side].groupby("row")
        if mine["late"].all() and not mine["filtered"].all()
    }


def late_in_flink(preview, rows):
    """Those that Flink drops, but for rows in the gap between two windows, which it counts if they are late alone."""
    windows = {side: set(preview.outcome.assignments[side]["row"]) for side in SIDES}
    return {(side, row) for side, row in rows.itertuples(index=False) if row in windows[side]}


def agree(cluster, preview):
    output, dropped = cluster.run(case_lines(preview.simulation))
    assert given_by_flink(preview.join, output) == expected(preview)
    assert late_in_flink(preview, dropped) == late(preview)


def is_interval_of_sql(join):
    """Whether Flink's SQL does a join by the operator that is held to here: no regular join, no bounds that are empty."""
    low, high = kind_of(join).bounds(join)
    return how_of(join) != "semi" and -(-low // 1000) <= high // 1000


CLUSTER = []


@pytest.fixture(autouse=True)
def _kept(cluster):
    """Properties of several parts take no fixtures."""
    CLUSTER[:] = [cluster]


@strategies.in_parts(
    6,
    80,
    case=strategies.cases(of=strategies.joins_of_all_in_reach),
    lateness=LATENESS,
    watermarks=st.sampled_from(["micro-batch", "row"]),
    idleness=IDLENESS,
)
def test_flink_does_as_the_model_says(case, lateness, watermarks, idleness):
    preview = previewed(case, lateness, watermarks, idleness)
    assume(not in_sql(case.join) or is_interval_of_sql(case.join))
    agree(CLUSTER[0], preview)


def sides(left, right, delays=("0 s", "0 s")):
    """Streams of rows: key, seconds, micro-batch."""
    batches = 1 + max(batch for _, _, batch in [*left, *right])
    given = zip(("left", "right"), (left, right), delays, strict=True)
    return [stream(rows, name, delay, batches=batches) for name, rows, delay in given]


def pairs(preview):
    return sorted((batch, left, right) for batch, _, left, right in expected(preview).elements())


def test_a_row_at_the_watermark_is_kept_until_it_moves():
    """A timer that is set at the watermark fires when that moves, not before."""
    left = [("z", 10.001, 0), ("a", 10, 1)]
    right = [("z", 10.001, 0), ("a", 10, 2), ("z", 11, 3), ("a", 10, 4)]
    preview = wb.flink.preview(wb.IntervalJoin("-5 s", "0 s"), *sides(left, right))
    assert pairs(preview) == [(0, 0, 0), (2, 1, 1), (4, 1, 3)]
    agree(CLUSTER[0], preview)


@pytest.mark.parametrize("another", [False, True])
def test_an_expired_row_of_sql_may_be_met_until_it_is_found(another):
    """A cache is cleaned by a timer of the row that came first, and whenever a row of any key comes to it."""
    left = [("z", 15.001, 2), *[("b", 15, 3)] * another, ("a", 9.5, 4)]
    right = [("a", 20, 0), ("a", 10, 1), ("z", 30, 2)]
    preview = wb.flink.preview(wb.IntervalJoin("0 s", "1 s", how="left"), *sides(left, right))
    met = [each for each in pairs(preview) if each[2] == 1]
    assert met == ([] if another else [(4, 1, 1)])
    agree(CLUSTER[0], preview)


IDLE = {
    "left": [("a", 0, 0), ("a", 50, 4), ("a", 0.5, 4)],
    "right": [("a", 1, 0), ("a", 20, 1), ("a", 30, 2), ("a", 2, 3)],
}


@pytest.mark.parametrize("join", [wb.IntervalJoin("-5 s", "5 s"), wb.WindowJoin(wb.Tumbling("10 s"), how="full")])
def test_an_idle_side_holds_nothing_back(join):
    streams = sides(IDLE["left"], IDLE["right"])
    assert late(wb.flink.preview(join, *streams)) == set()
    awake = wb.flink.preview(join, *streams, idleness=1)
    assert ("right", 3) in late(awake)
    assert ("left", 2) in late(awake)
    agree(CLUSTER[0], awake)


def test_a_side_that_was_idle_holds_back_one_operator_and_not_the_other():
    """A gate leaves out a channel that lags behind after it was idle; an operator of two inputs does not."""
    left = [("a", 0, 0), ("a", 5, 3), ("a", 6, 4), ("a", 41, 5)]
    right = [("a", 1, 0), ("a", 20, 1), ("a", 30, 2), ("a", 40, 4), ("a", 33, 5)]
    found = {}
    for join in (wb.IntervalJoin("-5 s", "5 s"), wb.WindowJoin(wb.Tumbling("1 s"))):
        preview = wb.flink.preview(join, *sides(left, right), idleness=1)
        found[preview.windowed] = ("right", 4) in late(preview)
        agree(CLUSTER[0], preview)
    assert found == {True: True, False: False}


def test_a_window_fires_again_for_each_row_within_the_allowed_lateness():
    left = [("a", 1, 0), ("a", 12, 1), ("a", 3, 2)]
    right = [("a", 2, 0), ("a", 12.5, 1), ("a", 4, 2), ("a", 5, 3)]
    join = wb.WindowJoin(wb.Tumbling("10 s"))
    strict = wb.flink.preview(join, *sides(left, right))
    assert late(strict) == {("left", 2), ("right", 2), ("right", 3)}
    patient = wb.flink.preview(join, *sides(left, right), allowed_lateness="5 s")
    assert late(patient) == set()
    first = [each for each in pairs(patient) if each[1] in (0, 2)]
    assert first == [(1, 0, 0), (2, 0, 0), *[(2, 0, 0), (2, 0, 2), (2, 2, 0), (2, 2, 2)][:0], *first[2:]]
    assert Counter(batch for batch, *_ in first) == {1: 1, 2: 2 + 4, 3: 6}
    agree(CLUSTER[0], patient)


def test_a_late_row_may_bridge_a_session_that_is_held():
    """In Flink a row is late by the session that it merges with; in Spark by its own window."""
    left = [("a", 0, 0), ("a", 9, 1)]
    right = [("a", 4, 0), ("a", 7.5, 1), ("a", 2, 2)]
    join = wb.WindowJoin(wb.Session("5 s"))
    streams = sides(left, right)
    preview = wb.flink.preview(join, *streams)
    assert late(preview) == set()
    assert late(wb.preview(join, *streams)) == set()
    agree(CLUSTER[0], preview)


def test_rows_in_a_gap_between_windows_are_in_neither():
    left, right = [("a", 1, 0), ("a", 7, 0), ("a", 30, 1), ("a", 7, 2)], [("a", 2, 0), ("a", 30, 1), ("a", 3, 2)]
    preview = wb.flink.preview(wb.WindowJoin(wb.Sliding("5 s", "10 s")), *sides(left, right))
    assert late(preview) == {("right", 2)}
    _, dropped = CLUSTER[0].run(case_lines(preview.simulation))
    assert ("left", 3) in set(dropped.itertuples(index=False, name=None))  # Flink counts it all the same
    agree(CLUSTER[0], preview)
