"""`wb.flink.compare`: kinds of difference, counts, both stories, and the settings that come nearest."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from helpers import stream
from hypothesis import assume
from hypothesis import strategies as st

import generators
import workbench as wb
from workbench.kinds import kind_of

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
            {0: "a partner is late on one of them", 5: "Spark drops it, the allowed lateness keeps it"},
        ),
        (
            TUMBLING,
            TWO,
            {},
            {2: "Flink drops it, Spark keeps it", 3: "a partner is late on one of them"},
        ),
        (
            TUMBLING,
            TWO,
            {"allowed_lateness": "9 s"},
            {0: "Flink's window fires again", 3: "Flink's window fires again"},
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
    assert "Flink drops it, as the other side is idle" in told(comparison).values()
    assert "Flink drops it, as the other side is idle" not in told(compared(join, IDLE)).values()


def test_what_waits_on_spark():
    left, right = sides([("a", 1, 0)], [("b", 2, 0)])
    join = wb.WindowJoin(wb.Tumbling("10 s"), how="full")
    comparison = wb.flink.compare(wb.preview(join, left, right, finish=False), wb.flink.preview(join, left, right))
    assert set(told(comparison).values()) == {"still waits on Spark"}


def test_a_row_late_for_some_of_its_windows():
    streams = sides([("a", 1, 0), ("a", 16, 1), ("a", 12, 2)], [("a", 2, 0), ("a", 16, 1), ("a", 40, 2)])
    comparison = compared(wb.WindowJoin(wb.Sliding("10 s", "5 s")), streams)
    assert told(comparison)[2] == "late for other windows"


@strategies.in_parts(
    2,
    60,
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
    assert len(stricter.rows) == 10
    nearer = stricter.nearest("flink")
    lateness = nearer.settings["allowed_lateness"]
    longer = wb.flink.preview(left, orders, payments, allowed_lateness=lateness)
    assert wb.flink.compare(stricter.here, longer).counts.equals(nearer.remains)
    assert nearer.remains.empty
    sliding = wb.WindowJoin(wb.Sliding("10 s", "5 s"))
    assert "rows still fare differently (" in repr(compared(sliding, (orders, payments), idleness=1).nearest("flink"))


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


def test_the_chart_has_a_line_for_each_kind():
    comparison = compared(TUMBLING, LATE, allowed_lateness="5 s")
    drawing = comparison.drawing
    assert drawing.title == f"{len(comparison.rows)} rows fare differently on Spark and on Flink"
    assert set(drawing.tables["rows"]["row_id"]) >= {"left-0", "right-2"}
    assert drawing.tables["counts"]["rows"].sum() == len(comparison.rows)
    assert comparison.chart().to_dict()
    alike = compared(TUMBLING, LATE)
    assert alike.drawing.subtitle == "Spark and Flink treat all rows of this recording alike"
    assert alike.chart().to_dict()
    assert repr(alike).endswith("0 of 7 rows fare differently>")


def test_what_cannot_be_compared_is_said():
    here, there = wb.preview(TUMBLING, *LATE), wb.flink.preview(TUMBLING, *LATE)
    with pytest.raises(wb.ArgumentError, match=r"here: got .*; give what workbench.run or"):
        wb.flink.compare(there, there)
    with pytest.raises(wb.ArgumentError, match=r"there: got .*; give what workbench.flink.preview or"):
        wb.flink.compare(here, here)
    with pytest.raises(wb.ArgumentError, match=r"there: got .*; its left rows are not those of here"):
        wb.flink.compare(here, wb.flink.preview(TUMBLING, *TWO))
    with pytest.raises(wb.ArgumentError, match="on: got 'both'; use one of 'spark', 'flink'"):
        wb.flink.compare(here, there).nearest("both")
