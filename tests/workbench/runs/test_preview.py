"""A preview is what the run gives."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers import same_output

import workbench as wb

JOINS = [
    wb.IntervalJoin("0 seconds", "15 seconds", how="left"),
    wb.WindowJoin(wb.Tumbling("10 seconds"), how="full"),
    wb.WindowJoin(wb.Sliding("10 seconds", "5 seconds")),
    wb.WindowJoin(wb.Session("5 seconds"), how="left"),
    wb.CoGroup(wb.Tumbling("10 seconds")),
    wb.CoGroup(wb.Session("5 seconds")),
]


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_a_preview_is_what_the_run_gives(ran, join):
    run = ran(join)
    preview = wb.preview(join, run.left, run.right)
    assert preview.rows.equals(run.rows)
    assert preview.late.equals(run.late)
    only_spark = ["state_bytes", "duration_ms", "dropped"]
    assert (
        preview.batches.drop(columns=only_spark)
        .astype(object)
        .equals(run.batches.drop(columns=only_spark).astype(object))
    )
    assert preview.script == run.script
    assert repr(preview).startswith("<Preview of")
    same_output(preview, run)


def test_a_preview_of_groups_has_the_keys_of_both_sides_whatever_their_width():
    at = pd.Timestamp("2026-01-01 10:00")
    frames = [
        pd.DataFrame({"k": pd.array(keys, dtype=width), "t": at})
        for keys, width in (([1, 2], "int64"), ([2, 3], "int32"))
    ]
    left, right = (wb.Stream.from_pandas(frame, name, "k", "t") for frame, name in zip(frames, "lr", strict=True))
    assert sorted(wb.preview(wb.CoGroup(wb.Tumbling("5 s")), left, right).output["k"]) == [1, 2, 3]


def test_a_preview_of_groups_whose_keys_have_other_names():
    at = pd.Timestamp("2026-01-01 10:00")
    left, right = (
        wb.Stream.from_pandas(pd.DataFrame({key: keys, "t": at}), name, key, "t")
        for name, key, keys in (("l", "a", [1, 2]), ("r", "b", [2, 3]))
    )
    output = wb.preview(wb.CoGroup(wb.Tumbling("5 s")), left, right).output
    assert sorted(output["a"]) == [1, 2, 3]
    assert sorted(each["b"] for rows in output["right"] for each in rows) == [2, 3]
