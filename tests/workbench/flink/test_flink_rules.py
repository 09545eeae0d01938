"""Flink's rules as the model has them, held to Flink: recordings go through its operators on a mini cluster."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import parts
import pytest
import strategies
from helpers import stream
from hypothesis import assume
from hypothesis import strategies as st

import generators
import workbench as wb
from workbench import charts, fixes
from workbench.flink import FlinkRun
from workbench.flink.cluster import Cluster, case_lines
from workbench.flink.emissions import outputs
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
    run = FlinkRun(preview.simulation, outputs(preview.simulation, output), dropped)
    assert run.mismatch == "", run.comparison.to_string()


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
    assert first[:2] == [(1, 0, 0), (2, 0, 0)]
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


@strategies.in_parts(
    3, 40, case=strategies.cases(of=strategies.joins_of_all_in_reach), lateness=LATENESS, idleness=IDLENESS
)
def test_every_row_has_a_reason_and_a_fix_matches_it(case, lateness, idleness):
    preview = previewed(case, lateness, "micro-batch", idleness)
    rows = preview.rows
    assert rows["reason"].str.len().gt(0).all()
    assert not rows["reason"].str.contains("Spark").any()
    lateness = lateness if preview.windowed else "0 s"
    for index, row in rows[rows["fix_setting"].notna()].iterrows():
        setting, value = row["fix_setting"], row["fix_value"]
        if setting == "allowed_lateness":
            fixed = wb.flink.preview(case.join, *case.streams(), allowed_lateness=value, idleness=idleness)
        else:
            join, left, right, _ = fixes.apply(setting, value, case.join, *case.streams(), finish=True)
            fixed = wb.flink.preview(join, left, right, allowed_lateness=lateness, idleness=idleness)
        assert fixed.rows["fate"][index] == "matched", (index, setting, value)


@pytest.mark.parametrize(
    "join", [wb.WindowJoin(wb.Session("5 s")), wb.IntervalJoin("0 s", "10 s", how="full")], ids=str
)
def test_fixes_that_are_tried_are_the_same_of_one_row_as_of_all(join):
    """Of sessions, and of what Flink does in SQL: they rest on what becomes of the other rows."""
    preview = wb.flink.preview(
        join, *generators.generate("orders_payments", events=80, batches=20, late=0.3, watermark="1 s", seed=3)
    )
    rows = preview.rows
    fixed = rows[rows["fix_setting"].notna()]
    assert len(fixed) > 3
    assert not rows["reason"].str.contains("Spark").any()
    for index in (*fixed.index[:3], fixed.index[-1]):
        (alone,) = preview.explain([index]).to_dict("records")
        told = ["fate", "reason", "fix_setting", "fix_value"]
        assert [alone[name] for name in told] == rows.loc[index, told].tolist()


def test_where_a_side_is_idle_a_longer_delay_is_tried_before_it_is_advised():
    """The right side alone drives the watermark, so that no delay of the left one keeps its late row."""
    left = [("a", 24, 1), ("a", 3, 4)]
    right = [("b", 2, 0), ("b", 20, 1), ("b", 40, 2), ("b", 60, 3), ("a", 4, 5)]
    preview = wb.flink.preview(wb.IntervalJoin("-5 s", "5 s"), *sides(left, right), idleness=1)
    row = preview.rows.iloc[1]
    assert row["fate"] == "late"
    assert "of 20.999 s" not in row["reason"]
    assert row["fix_setting"] is None
    assert row["reason"].endswith("none of the settings tried would have matched it")


def test_several_firings_in_one_micro_batch_are_counted():
    left, right = [("a", 1, 0), ("a", 12, 0), ("a", 2, 1), ("a", 3, 1)], [("a", 2, 0), ("a", 12, 0), ("a", 40, 2)]
    join = wb.WindowJoin(wb.Tumbling("10 s"))
    preview = wb.flink.preview(join, *sides(left, right), allowed_lateness="8 s")
    assert preview.fired_again.to_numpy().tolist()[0] == [0, 2, [1, 1]]
    assert "its window fired again 2 times, in micro-batch 1" in preview.rows["reason"][0]
    agree(CLUSTER[0], preview)


def test_the_script_of_a_preview_under_flinks_rules_is_not_exported_as_one_of_spark(tmp_path):
    preview = wb.flink.preview(wb.WindowJoin(wb.Tumbling("10 s")), *sides([("a", 1, 0)], [("a", 2, 0)]))
    with pytest.raises(wb.ArgumentError, match=r"run: got .*; its rules are Flink's: its script, in Java"):
        wb.export(preview, tmp_path / "job.py")


def test_rows_that_came_out_again_are_listed():
    left, right = [("a", 1, 0), ("a", 12, 1)], [("a", 2, 0), ("a", 12.5, 1), ("a", 4, 2), ("a", 5, 3)]
    streams = sides(left, right)
    preview = wb.flink.preview(wb.WindowJoin(wb.Tumbling("10 s")), *streams, allowed_lateness="5 s")
    assert preview.fired_again.to_numpy().tolist() == [[0, 2, [2, 3]], [2, 2, [2, 3]], [4, 1, [3]]]
    assert preview.rows["reason"][0] == (
        "joined with 3 rows of right, first in micro-batch 1; its window fired again, in micro-batches 2, 3"
    )
    assert preview.rows["fired_again"].tolist() == [2, 0, 2, 0, 1, 0]
    grouped = wb.flink.preview(wb.CoGroup(wb.Tumbling("10 s")), *streams, allowed_lateness="5 s")
    assert "in a group with 3 rows of right, first in micro-batch 1" in grouped.rows["reason"][0]
    assert len(preview.output) == 1 + 2 + 3 + 1


def test_whose_fate_differs_from_that_on_spark():
    """A row that is late for Spark's window by its end, and in Flink within the allowed lateness."""
    left, right = [("a", 1, 0), ("a", 14, 1)], [("a", 12, 0), ("a", 14, 1), ("a", 2, 3)]
    streams = sides(left, right)
    join = wb.WindowJoin(wb.Tumbling("10 s"), how="left")
    there = wb.flink.preview(join, *streams, allowed_lateness="1 minute")
    differs = wb.preview(join, *streams).against(there)
    assert differs[["fate", "other_fate"]].to_numpy().tolist() == [["unmatched", "matched"], ["late", "matched"]]
    assert there.late.empty
    strict = wb.flink.preview(join, *streams)
    assert strict.late["behind"].dt.total_seconds().tolist() == [4.0]
    assert strict.rows["reason"].iloc[-1] == (
        "late by 4 s: its window ended at 1970-01-01 00:00:10, and it arrived in micro-batch 3, when the watermark stood at "
        "1970-01-01 00:00:13.999; it goes to the side output; a watermark delay of 4.001 s on left would have kept it; "
        "with an allowed lateness of 4.001 s it would have matched n 0"
    )


@pytest.mark.parametrize("watermarks", ["micro-batch", "row"])
def test_without_late_rows_spark_and_flink_give_the_same(watermarks):
    orders, payments = generators.generate("orders_payments", events=80, late=0.0, watermark="1 minute", seed=3)
    for join in (wb.IntervalJoin("0 s", "15 s", how="left"), wb.WindowJoin(wb.Sliding("10 s", "5 s"), how="full")):
        there = wb.flink.preview(join, orders, payments, watermarks=watermarks)
        here = wb.preview(join, orders, payments)
        both = [each.output.drop(columns="batch").astype(str).value_counts().to_dict() for each in (here, there)]
        assert both[0] == both[1]
        assert (there.rows["fate"] == here.rows["fate"]).all()


def test_what_flink_has_not_is_said():
    streams = generators.generate("orders_payments", events=20, seed=1)
    with pytest.raises(wb.ArgumentError, match=r"join: got AsOfJoin.*; Flink's DataStream API has no as-of join"):
        wb.flink.preview(wb.AsOfJoin(tolerance="5 s"), *streams)
    with pytest.raises(wb.ArgumentError, match=r"allowed_lateness: got '1 s'; an interval join has none"):
        wb.flink.preview(wb.IntervalJoin("0 s", "5 s"), *streams, allowed_lateness="1 s")
    with pytest.raises(wb.ArgumentError, match=r"idleness: got '1 s'; when rows arrived is not known: give a number"):
        wb.flink.preview(wb.IntervalJoin("0 s", "5 s"), *streams, idleness="1 s")
    with pytest.raises(wb.ArgumentError, match=r"allowed_lateness: got '1 us'; Flink's event times have milliseconds"):
        wb.flink.preview(wb.WindowJoin(wb.Tumbling("5 s")), *streams, allowed_lateness="1 us")


def test_idleness_as_a_time_goes_by_the_times_of_arrival():
    made = []
    for name, seconds in (("left", [0, 100]), ("right", [1, 20, 40, 60])):
        t = pd.Timestamp("2026-01-01") + pd.to_timedelta(seconds, unit="s")
        frame = pd.DataFrame({"k": 1, "t": t, "came": t})
        made.append(wb.Stream.from_pandas(frame, name, "k", "t", watermark="0 s", arrival="came", trigger="10 s"))
    join = wb.IntervalJoin("0 s", "5 s")
    marks = {each: wb.flink.preview(join, *made, idleness=each).batches["watermark"] for each in (None, "30 s", 1)}
    before_last = {each: mark.iloc[-3] for each, mark in marks.items()}  # then the left side's last row, and the end
    assert before_last[None] < pd.Timestamp("2026-01-01") < before_last["30 s"] <= before_last[1]


@pytest.mark.parametrize(
    ("join", "watermarks"),
    [
        (wb.IntervalJoin("0 s", "15 s"), "micro-batch"),
        (wb.IntervalJoin("0 s", "15 s", how="full"), "micro-batch"),
        (wb.WindowJoin(wb.Sliding("10 s", "5 s"), how="left"), "row"),
        (wb.CoGroup(wb.Session("5 s")), "micro-batch"),
    ],
    ids=str,
)
def test_it_is_a_preview_like_any_other(join, watermarks):
    left, right = generators.generate("orders_payments", events=12, late=0.3, watermark="1 s", seed=4)
    lateness = "5 s" if isinstance(join, wb.WindowJoin) else "0 s"
    preview = wb.flink.preview(join, left, right, allowed_lateness=lateness, watermarks=watermarks)
    batches = preview.batches
    assert batches["output_rows"].sum() == len(preview.output)
    assert len(preview.rows) == len(left) + len(right)
    for view in charts.views():
        if view.name != "windows" or preview.windowed:
            assert getattr(preview.charts, view.name)() is not None
    for row in range(len(preview.rows)):
        assert preview.why(row).text
    for batch in batches["batch"]:
        assert len(preview.state(batch)) == preview.at(batch).in_state == batches["state_rows"][batch]
    for key in set(preview.keys):
        assert preview.state_changes(key) is not None


def test_what_spark_makes_of_a_preview_is_refused(tmp_path):
    streams = generators.generate("orders_payments", events=20, seed=1)
    preview = wb.flink.preview(wb.IntervalJoin("0 s", "5 s"), *streams)
    assert preview.script == preview.code == wb.flink.java(preview.join, *streams)
    for refused in (preview.save, preview.report):
        with pytest.raises(wb.WorkbenchError, match="under Flink's rules"):
            refused(tmp_path / "x.html")
    assert not list(tmp_path.iterdir())


def test_a_column_of_the_user_s_called_fired_again_stays():
    streams = [
        wb.Stream.from_pandas(
            pd.DataFrame({"id": ["a"], "at": pd.to_datetime(["2026-01-01"]), "fired_again": ["mine"]}), name, "id", "at"
        )
        for name in ("left", "right")
    ]
    rows = wb.flink.preview(wb.WindowJoin(wb.Tumbling("10 s")), *streams).rows
    assert rows["row_fired_again"].tolist() == ["mine", "mine"]
    assert rows["fired_again"].tolist() == [0, 0]
