"""`wb.flink.compare`: kinds of difference, counts, both stories, and the settings that come nearest."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import strategies
from helpers import stream
from hypothesis import assume
from hypothesis import strategies as st

import generators
import workbench as wb
from workbench.joins import emission
from workbench.kinds import kind_of

OTHERS = "another row is late, or gone from state, on one engine only"
AGAIN = "comes out again in Flink, as its window fires again"
TUMBLING = wb.WindowJoin(wb.Tumbling("10 s"))


def sides(left, right, delays=("0 s", "0 s")):
    batches = 1 + max(batch for _, _, batch in [*left, *right])
    given = zip(("left", "right"), (left, right), delays, strict=True)
    return [stream(rows, name, delay, batches=batches) for name, rows, delay in given]


def compared(join, streams, **rules):
    return wb.flink.compare(wb.preview(join, *streams), wb.flink.preview(join, *streams, **rules))


def told(comparison):
    rows = comparison.rows
    return dict(zip(rows.index.tolist(), rows["difference"], strict=True))


def results_of(preview, wanted):
    """What comes out of some rows: each with its partner, or none, and how often."""
    found, cut = Counter(), len(preview.left)
    if kind_of(preview.join).grouped:
        outputs = preview.outcome.outputs
        groups = [set() for _ in range(len(outputs))]
        for side, first in (("left", 0), ("right", cut)):
            for output, row in outputs.of(side)[["output", "row"]].to_numpy().tolist():
                groups[output].add(first + row)
        for group in map(frozenset, groups):
            found.update((row, group) for row in group if wanted[row])
        return found
    rows = preview.outcome.outputs.emitted(emission(preview.join).sides)
    for left, right in rows[["left", "right"]].to_numpy().tolist():
        if left >= 0 and wanted[left]:
            found["left", left, right] += 1
        if right >= 0 and wanted[cut + right]:
            found["right", right, left] += 1
    return found


LATE = sides([("a", 1, 0), ("a", 14, 1), ("a", 30, 4)], [("a", 12, 0), ("a", 14, 1), ("a", 2, 3), ("a", 30, 4)])
"""The last but one right row is late for its window on both engines: the watermark is 14 s, its window ends at 10."""
TWO = sides([("a", 1, 0), ("a", 14, 1), ("a", 3, 2)], [("a", 2, 0), ("a", 14, 1), ("a", 30, 2)])
"""In micro-batch 2 Spark still judges by the watermark of micro-batch 0, Flink by that of 1."""
IDLE = sides([("a", 0, 0), ("a", 50, 4), ("a", 0.5, 4)], [("a", 1, 0), ("a", 20, 1), ("a", 30, 2), ("a", 2, 3)])


@pytest.mark.parametrize(
    ("join", "streams", "rules", "expected"),
    [
        (TUMBLING, LATE, {}, {}),
        (
            TUMBLING,
            LATE,
            {"allowed_lateness": "5 s"},
            {0: OTHERS, 5: "Spark drops it, the allowed lateness keeps it"},
        ),
        (
            TUMBLING,
            TWO,
            {},
            {2: "Flink drops it, Spark keeps it", 3: OTHERS},
        ),
        (
            TUMBLING,
            TWO,
            {"allowed_lateness": "9 s"},
            {0: AGAIN, 3: AGAIN},
        ),
        (TUMBLING, IDLE, {"idleness": 2}, None),
        (wb.IntervalJoin("0 s", "3 s", how="left"), IDLE, {}, None),
    ],
)
def test_kinds_of_difference(join, streams, rules, expected):
    comparison = compared(join, streams, **rules)
    found = told(comparison)
    if expected is not None:
        assert {row: found.get(row) for row in expected} == expected
    assert set(comparison.counts["difference"]) == set(found.values())
    assert comparison.counts["rows"].sum() == len(found)


def test_an_idle_side_is_told():
    join = wb.WindowJoin(wb.Tumbling("10 s"), how="full")
    comparison = compared(join, IDLE, idleness=1)
    assert "Flink drops it, because a side was idle" in told(comparison).values()
    assert "Flink drops it, because a side was idle" not in told(compared(join, IDLE)).values()


def test_what_waits_on_spark():
    left, right = sides([("a", 1, 0)], [("b", 2, 0)])
    join = wb.WindowJoin(wb.Tumbling("10 s"), how="full")
    comparison = wb.flink.compare(wb.preview(join, left, right, finish=False), wb.flink.preview(join, left, right))
    assert set(told(comparison).values()) == {"still in state at the end, on one engine only"}


def test_a_row_late_for_some_of_its_windows():
    streams = sides([("a", 1, 0), ("a", 16, 1), ("a", 12, 2)], [("a", 2, 0), ("a", 16, 1), ("a", 40, 2)])
    comparison = compared(wb.WindowJoin(wb.Sliding("10 s", "5 s")), streams)
    assert told(comparison)[2] == "late for some windows, on one engine only"


@strategies.in_parts(
    2,
    40,
    case=strategies.cases(of=strategies.joins_of_all_in_reach),
    lateness=st.sampled_from(["0 s", "1 s", "5 s"]),
    watermarks=st.sampled_from(["micro-batch", "row"]),
    idleness=st.sampled_from([None, 1]),
)
def test_every_row_of_another_fate_has_a_kind_and_the_others_fare_alike(case, lateness, watermarks, idleness):
    here = wb.preview(case.join, *case.streams())
    lateness = lateness if kind_of(case.join).windowed else "0 s"
    try:
        rules = {"allowed_lateness": lateness, "watermarks": watermarks, "idleness": idleness}
        there = wb.flink.preview(case.join, *case.streams(), **rules)
    except wb.ArgumentError as error:
        assume("milliseconds" not in str(error))
        raise
    comparison = wb.flink.compare(here, there)
    fates = [np.concatenate([each.fates[side]["fate"] for side in ("left", "right")]) for each in (here, there)]
    assert (comparison.kinds[fates[0] != fates[1]] >= 0).all()
    rows = comparison.rows
    assert rows.index.tolist() == np.flatnonzero(comparison.kinds >= 0).tolist()
    assert set(here.against(there).index) <= set(rows.index)
    assert rows["reason"].str.len().gt(0).all()
    assert rows["flink_reason"].str.len().gt(0).all()
    assert comparison.counts["rows"].sum() == len(rows)
    spark_drops = rows[rows["difference"].str.startswith("Spark drops")]
    assert (spark_drops["fate"] == "late").all()
    assert (spark_drops["flink_fate"] != "late").all()
    flink_drops = rows[rows["difference"].str.startswith("Flink drops")]
    assert (flink_drops["flink_fate"] == "late").all()
    alike = [results_of(each, comparison.kinds < 0) for each in (here, there)]
    assert alike[0] == alike[1]
    for engine in ("spark", "flink"):
        nearest = comparison.nearest(engine)
        assert nearest.table["other_fate"].is_monotonic_increasing
        assert nearest.table["other_fate"].iloc[0] <= (fates[0] != fates[1]).sum()
        assert nearest.table["differ"].iloc[0] == nearest.remains["rows"].sum()


def test_the_nearest_settings_are_those_that_it_says():
    orders, payments = generators.generate("orders_payments", events=400, late=0.3, watermark="1 s", seed=5)
    there = wb.flink.preview(TUMBLING, orders, payments, allowed_lateness="1 minute")
    comparison = wb.flink.compare(wb.preview(TUMBLING, orders, payments), there)
    nearest = comparison.nearest()
    assert nearest.remains["rows"].sum() < comparison.counts["rows"].sum()
    again = wb.preview(
        TUMBLING,
        orders.with_watermark(nearest.settings["left.watermark"]),
        payments.with_watermark(nearest.settings["right.watermark"]),
        policy=nearest.settings["policy"],
    )
    assert wb.flink.compare(again, there).counts.equals(nearest.remains)
    assert repr(nearest).startswith("nearest on Spark: left.watermark = ")
    assert repr(nearest).endswith("; no row differs")
    left = wb.WindowJoin(wb.Tumbling("10 s"), how="left")
    stricter = compared(left, (orders, payments), allowed_lateness="5 s")
    assert len(stricter.rows) == 11
    nearer = stricter.nearest("flink")
    longer = wb.flink.preview(
        left,
        orders.with_watermark(nearer.settings["left.watermark"]),
        payments.with_watermark(nearer.settings["right.watermark"]),
        allowed_lateness=nearer.settings["allowed_lateness"],
    )
    assert wb.flink.compare(stricter.here, longer).counts.equals(nearer.remains)
    assert nearer.table["other_fate"].iloc[0] == 0 < nearer.now


def test_a_shorter_delay_may_come_nearer():
    """Flink has no delay; Spark drops what it drops with a shorter one only."""
    sides = generators.generate("orders_payments", events=200, batches=20, late=0.3, watermark="30 s", seed=5)
    join = wb.IntervalJoin("0 s", "20 s")
    there = wb.flink.preview(join, *(each.with_watermark("1 s") for each in sides))
    comparison = wb.flink.compare(wb.preview(join, *sides), there)
    nearest = comparison.nearest()
    assert nearest.settings["left.watermark"] == "0 seconds" or nearest.settings["right.watermark"] == "0 seconds"
    assert nearest.table["other_fate"].iloc[0] < nearest.now / 2


def test_what_comes_out_less_often_is_told():
    """A null key that Spark pads and the Flink job leaves out; a window in which only a partner is late."""
    outer = wb.WindowJoin(wb.Tumbling("10 s"), how="left")
    assert told(compared(outer, sides([(None, 1, 0), ("a", 2, 0)], [("a", 2, 0)]))) == {
        0: "a null key, which the Flink job leaves out"
    }
    sliding = wb.WindowJoin(wb.Sliding("10 s", "5 s"))
    streams = sides([("a", 8, 0), ("b", 11, 0)], [("b", 11, 0), ("a", 8, 1)])
    found = told(compared(sliding, streams))
    assert found == {0: OTHERS, 3: "late for some windows, on one engine only"}


def test_sessions_that_are_split_otherwise_are_told():
    streams = sides(
        [("a", 0, 0), ("a", 4, 0), ("a", 8, 0), ("b", 8, 1), ("a", 1, 2)], [("a", 2, 0), ("a", 8, 0), ("b", 8, 1)]
    )
    found = told(compared(wb.WindowJoin(wb.Session("5 s")), streams))
    assert found[4] == "Spark drops it, Flink keeps it"
    assert set(found.values()) == {"Spark drops it, Flink keeps it", OTHERS}


def test_what_waits_on_flink_and_what_spark_has_not_padded_yet():
    waiting = "still in state at the end, on one engine only"
    semi = wb.IntervalJoin("0 s", "5 s", how="semi")
    assert set(told(compared(semi, sides([("a", 1, 0)], [("b", 2, 0)]))).values()) == {waiting}
    left, right = sides([("a", 105.398, 2)], [("a", 100.949, 0)])
    sliding = wb.WindowJoin(wb.Sliding("10 s", "5 s"), how="left")
    comparison = wb.flink.compare(
        wb.preview(sliding, left, right, finish=False), wb.flink.preview(sliding, left, right)
    )
    assert set(told(comparison).values()) == {waiting}


def test_columns_of_the_users_with_our_names():
    left, right = sides([("a", 1, 0), ("a", 14, 1), ("a", 3, 2)], [("a", 2, 0), ("a", 14, 1), ("a", 30, 2)])
    frame = left.to_pandas().assign(difference=1, flink_fate=2, batch=[0, 1, 2])
    key, time = left.key, left.time
    named = wb.Stream.from_pandas(frame, "left", key, time, watermark="0 s", batch="batch")
    rows = compared(TUMBLING, (named, right)).rows
    assert rows["row_difference"].dropna().eq(1).all()
    assert rows["row_flink_fate"].dropna().eq(2).all()
    assert rows["flink_fate"].isin(["late", "unmatched", "matched"]).all()


def test_both_stories_stand_side_by_side():
    comparison = compared(TUMBLING, LATE, allowed_lateness="5 s")
    story = comparison.why(5)
    assert list(story) == ["about", "spark", "flink"]
    verdict = story.set_index("about").loc["verdict"]
    assert verdict["spark"].startswith("late by 4 s")
    assert "its window fired again" not in verdict["spark"]
    assert verdict["flink"].startswith("joined with 1 row")
    for engine in ("here", "there"):
        facts = getattr(comparison, engine).why(5).facts
        column = story["spark" if engine == "here" else "flink"]
        assert [words for _, words in facts] == [each for each in column if each]


def test_stories_of_steps_of_a_row_say_what_their_numbers_count():
    story = compared(TUMBLING, LATE, watermarks="row").why(5).set_index("about").loc["micro-batches"]
    assert story.tolist() == ["as recorded", "one row each, the left ones of a micro-batch first"]
    assert "micro-batches" not in set(compared(TUMBLING, LATE).why(5)["about"])


def test_the_chart_has_a_line_for_each_kind():
    comparison = compared(TUMBLING, LATE, allowed_lateness="5 s")
    drawing = comparison.drawing()
    assert drawing.title == f"{len(comparison.rows)} rows differ between Spark and Flink"
    assert set(drawing.tables["rows"]["row_id"]) >= {"left-0", "right-2"}
    assert drawing.tables["counts"]["rows"].sum() == len(comparison.rows)
    assert comparison.chart().to_dict()
    part = comparison.drawing(("1970-01-01 00:00:00", "1970-01-01 00:00:01.5"))
    assert part.tables["rows"]["row_id"].tolist() == ["left-0"]
    assert part.subtitle.startswith("1 of them are shown")
    assert part.params["high"] < drawing.params["high"]
    alike = compared(TUMBLING, LATE)
    assert alike.drawing().subtitle == "no row differs between Spark and Flink"
    assert alike.chart().to_dict()
    assert repr(alike).endswith("0 of 7 rows differ>")


def test_what_cannot_be_compared_is_said():
    here, there = wb.preview(TUMBLING, *LATE), wb.flink.preview(TUMBLING, *LATE)
    with pytest.raises(wb.ArgumentError, match=r"here: got .*; give what workbench.run or"):
        wb.flink.compare(there, there)
    with pytest.raises(wb.ArgumentError, match=r"there: got .*; give what workbench.flink.preview or"):
        wb.flink.compare(here, here)
    with pytest.raises(wb.ArgumentError, match=r"there: got .*; its left rows are not those of here"):
        wb.flink.compare(here, wb.flink.preview(TUMBLING, *TWO))
    with pytest.raises(wb.ArgumentError, match=r"there: got .*; here is of another join, WindowJoin\(window=Tumbling"):
        wb.flink.compare(here, wb.flink.preview(wb.WindowJoin(wb.Tumbling("5 s")), *LATE))
    with pytest.raises(wb.ArgumentError, match="on: got 'both'; use one of 'spark', 'flink'"):
        wb.flink.compare(here, there).nearest("both")


AGAIN_PADDED = sides([("a", 1, 0), ("a", 14, 0), ("a", 3, 1)], [("a", 14, 0), ("a", 40, 2)])
"""The first window fires without a partner, and again as a late order comes within the allowed lateness."""


@pytest.mark.parametrize("how", ["left", "anti"])
def test_a_padded_row_that_comes_out_again_is_told_in_both_stories(how):
    comparison = compared(wb.WindowJoin(wb.Tumbling("10 s"), how=how), AGAIN_PADDED, allowed_lateness="8 s")
    assert told(comparison)[0] == AGAIN
    there = comparison.there
    assert there.fired_again.to_numpy().tolist() == [[0, 1, [1]]]
    beside = "with nulls " * (how == "left")
    assert there.rows["reason"][0].endswith(
        f"; it is written {beside}in micro-batch 0; its window fired again, in micro-batch 1"
    )
    verdict = comparison.why(0).set_index("about").loc["verdict"]
    assert verdict["spark"] != verdict["flink"]


def test_groups_that_come_out_again_or_with_other_rows_are_told():
    comparison = compared(wb.CoGroup(wb.Tumbling("10 s")), AGAIN_PADDED, allowed_lateness="8 s")
    assert told(comparison)[0] == AGAIN
    assert comparison.there.fired_again.to_numpy().tolist() == [[0, 1, [1]]]
    strict = compared(wb.CoGroup(wb.Tumbling("10 s")), TWO)
    assert told(strict)[0] == OTHERS


def test_a_recording_that_is_not_finished_may_be_nearest_finished():
    join = wb.IntervalJoin("-5 s", "5 s", how="left")
    left, right = sides([("a", 1, 0)], [("b", 3, 0)])
    comparison = wb.flink.compare(wb.preview(join, left, right, finish=False), wb.flink.preview(join, left, right))
    nearest = comparison.nearest()
    assert nearest.settings["finish"] == "True"
    assert not len(nearest.remains)


def test_a_row_that_another_of_its_windows_pads_is_not_said_to_have_come_out_padded_before():
    left, right = sides([("a", 12, 0), ("z", 17, 1), ("z", 80, 2)], [("a", 6, 0), ("z", 17, 1), ("z", 80, 2)])
    there = wb.flink.preview(wb.WindowJoin(wb.Sliding("10 s", "5 s"), how="left"), left, right)
    assert there.rows["reason"][0] == "joined with 1 row of right, first in micro-batch 1"
    again = sides([("a", 1, 0), ("a", 14, 0)], [("a", 14, 0), ("a", 3, 1), ("a", 40, 2)])
    there = wb.flink.preview(wb.WindowJoin(wb.Tumbling("10 s"), how="left"), *again, allowed_lateness="8 s")
    assert there.rows["reason"][0] == (
        "joined with 1 row of right, first in micro-batch 1; before that, it was written with nulls in micro-batch 0; its window fired "
        "again, in micro-batch 1"
    )
