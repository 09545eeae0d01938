"""What changed between two results: rows are recognised by their values, wherever they stand."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import pytest

import generators
import workbench as wb

JOIN = wb.IntervalJoin("0 seconds", "15 seconds", how="left")


def streams(**settings):
    return generators.generate(
        "orders_payments", **{"events": 80, "late": 0.2, "watermark": "1 s", "seed": 5, **settings}
    )


def shuffled(stream, keep):
    """The same rows in another order, with other columns' order, some left out."""
    frame = stream.to_pandas().sample(frac=1, random_state=1).sort_values("batch", kind="stable")
    frame = frame[keep(frame)][[*reversed([name for name in frame if name != "batch"]), "batch"]]
    return wb.Stream.from_pandas(frame, stream.name, stream.key, stream.time, stream.watermark, batch="batch")


def test_of_the_same_rows_it_is_what_against_says():
    orders, payments = streams()
    before = wb.preview(JOIN, orders, payments)
    after = wb.preview(JOIN, orders, payments.with_watermark("1 minute"))
    found = before.changes(after)
    expected = before.against(after)
    assert len(expected) > 3
    pd.testing.assert_frame_equal(
        found.rows[["side", "batch", "fate", "other_fate", "reason", "other_reason"]],
        expected[["side", "batch", "fate", "other_fate", "reason", "other_reason"]],
    )
    assert found.gone.empty
    assert found.new.empty
    assert found.settings.values.tolist() == [["delay of payments", "1 s", "60 s"]]
    assert found.counts.rows.sum() == len(before.rows)
    moved = found.counts[found.counts.fate != found.counts.other_fate]
    assert moved.rows.sum() == len(expected)
    assert found.notes == ()


def test_rows_are_recognised_wherever_they_stand():
    orders, payments = streams()
    before = wb.preview(JOIN, orders, payments)
    some = (
        shuffled(orders, lambda frame: frame.order_id != "o-000003"),
        shuffled(payments, lambda frame: frame.method != "transfer"),
    )
    after = wb.preview(JOIN, *some)
    with pytest.raises(wb.ArgumentError, match=r"other: got .* its left rows are not those of this run"):
        before.against(after)
    found = before.changes(after)
    assert list(found.gone[found.gone.side == "left"].order_id) == ["o-000003"]
    assert set(found.gone[found.gone.side == "right"].method) == {"transfer"}
    assert found.new.empty
    fates = [
        {(each.side, each.order_id): (each.fate, each.reason) for each in result.rows.itertuples()}
        for result in (before, after)
    ]
    expected = {
        key: (fate, fates[1][key][0]) for key, (fate, _) in fates[0].items() if fates[1].get(key, (fate,))[0] != fate
    }
    assert expected
    assert {(each.side, each.order_id): (each.fate, each.other_fate) for each in found.rows.itertuples()} == expected
    assert all(fates[0][each.side, each.order_id][1] == each.reason for each in found.rows.itertuples())
    assert all(fates[1][each.side, each.order_id][1] == each.other_reason for each in found.rows.itertuples())
    assert [(each.side, each.order_id) for each in found.rows.itertuples()] == [
        (each.side, each.order_id) for each in before.rows.loc[found.rows.index].itertuples()
    ]
    back = after.changes(before)
    assert len(back.new) == len(found.gone)
    assert Counter(zip(back.rows.fate, back.rows.other_fate, strict=True)) == Counter(
        zip(found.rows.other_fate, found.rows.fate, strict=True)
    )


def test_rows_that_are_alike_are_held_against_those_that_fared_alike():
    start = pd.Timestamp("2026-01-01 10:00")
    times = [start, start + pd.Timedelta("1 min"), start]  # the same row twice: in time, then late
    frame = pd.DataFrame({"k": "a", "t": times, "batch": [0, 0, 3]})
    more = pd.DataFrame({"k": "a", "t": [*times, start], "batch": [0, 0, 3, 3]})

    def result(rows):
        left = wb.Stream.from_pandas(rows, "left", "k", "t", "1 s", batch="batch")
        other = pd.DataFrame({"k": "a", "t": [start, start + pd.Timedelta("1 min")], "batch": [0, 1]})
        right = wb.Stream.from_pandas(other, "right", "k", "t", "1 s", batch="batch")
        return wb.preview(wb.IntervalJoin("0 s", "5 s", how="left"), left, right)

    one, other = result(frame), result(more)
    assert list(one.rows.fate[one.rows.side == "left"]) == ["matched", "matched", "late"]
    found = one.changes(other)
    assert found.rows.empty
    assert list(found.new.fate) == ["late"]


def test_by_some_columns_and_by_exchanged_sides():
    orders, payments = streams()
    before = wb.preview(JOIN, orders, payments)
    frame = payments.to_pandas().assign(method="cheque")
    changed = wb.Stream.from_pandas(frame, "payments", "order_id", "paid_at", "1 s", batch="batch")
    after = wb.preview(JOIN, orders, changed)
    assert len(before.changes(after).gone) == len(before.changes(after).new) == len(payments)
    for by in ("order_id", ["order_id"], {"left": None, "right": "order_id"}):
        found = before.changes(after, by=by)
        assert len(found.gone) == len(found.new) == len(found.rows) == 0
        assert found.by["right"] == ("order_id",)
    exchanged = wb.preview(wb.IntervalJoin("-15 seconds", "0 seconds", how="right"), changed, orders)
    found = before.changes(exchanged, by={"left": None, "right": ["order_id"]})
    assert len(found.rows) == 0
    assert len(found.gone) == len(found.new) == 0


@pytest.mark.parametrize("by", ["nope", ["order_id", 7], [], 7, {"left": "order_id"}, b"order_id", {"a": 1, "b": 2}])
def test_wrong_columns(by):
    preview = wb.preview(JOIN, *streams())
    with pytest.raises(wb.ArgumentError, match=r"by: got .*give the columns that tell rows apart"):
        preview.changes(preview, by=by)


def test_no_common_columns():
    preview = wb.preview(JOIN, *streams())
    other = wb.preview(
        wb.WindowJoin(wb.Session("15 seconds")),
        *generators.generate("page_views_searches", events=5),
    )
    shared = set(preview.left.table.column_names) & set(other.left.table.column_names)
    assert not shared
    with pytest.raises(wb.ArgumentError, match="other: its orders have no column"):
        preview.changes(other)
    with pytest.raises(wb.ArgumentError, match="other: got 'int'"):
        preview.changes(7)
