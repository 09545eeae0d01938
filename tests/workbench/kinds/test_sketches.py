"""The picture that introduces a kind of join shows what the join does: the same rows are given to its model."""

from __future__ import annotations

import pandas as pd
import pytest

import workbench as wb
from workbench.kinds import kind_of, kinds

WITHIN = {"within": "2.6 seconds"}
STEPS = (wb.step("a", side="left"), wb.followed_by("b", side="right"))
SHOWN = [
    wb.IntervalJoin("0 seconds", "2.2 seconds"),
    wb.WindowJoin(wb.Tumbling("3 seconds")),
    wb.WindowJoin(wb.Sliding("4 seconds", "2 seconds")),
    wb.WindowJoin(wb.Session("1.2 seconds")),
    wb.AsOfJoin("backward", "2 seconds"),
    wb.AsOfJoin("backward"),
    wb.CoGroup(wb.Tumbling("3 seconds")),
    wb.CoGroup(wb.Sliding("4 seconds", "2 seconds")),
    wb.CoGroup(wb.Session("1.2 seconds")),
    wb.Pattern(*STEPS, **WITHIN),
    wb.Pattern(*STEPS),
    wb.RulesJoin(as_of="event time"),
    wb.RulesJoin(as_of="arrival"),
]
"""A join of each kind, as its picture has it: of one key, with a unit of a second."""
START = pd.Timestamp("2026-01-01")


def stream(name, moments, batches, **columns):
    rows = pd.DataFrame(
        {"key": "k", "at": START + pd.to_timedelta(moments, unit="s"), "n": range(len(moments)), **columns}
    )
    return wb.Stream.from_pandas(
        rows.assign(batch=batches), name, key="key", time="at", batch="batch", watermark="1 minute"
    )


def previewed(join):
    sketch = kind_of(join).sketch
    order = {at: place for place, at in enumerate(sorted({*sketch.left, *sketch.right}))}
    batches = [[order[at] for at in moments] for moments in (sketch.left, sketch.right)]
    rules = isinstance(join, wb.RulesJoin)
    right = {"rule_id": "r", "field": "n", "op": ">=", "value": -1, "withdrawn": False} if rules else {}
    sides = stream("left", sketch.left, batches[0]), stream("right", sketch.right, batches[1], **right)
    return sketch, wb.preview(join, *sides, finish=True)


def test_each_kind_has_a_picture_that_is_tried_here():
    assert {kind_of(each).name for each in SHOWN} == {name for name, kind in kinds().items() if kind.sketch is not None}
    assert len(SHOWN) == len(kinds())


@pytest.mark.parametrize("join", SHOWN, ids=str)
def test_the_picture_shows_what_the_join_gives(join):
    sketch, run = previewed(join)
    if isinstance(join, wb.Pattern):
        found = {(a["n"], b["n"]) for [a], [b] in run.output[["a", "b"]].to_numpy()}
    elif isinstance(join, wb.CoGroup):
        found = set()
    else:
        found = {(left, right) for left, right in run.output[["left_n", "right_n"]].to_numpy()}
    assert found == set(sketch.pairs)


@pytest.mark.parametrize("join", [each for each in SHOWN if isinstance(each, wb.CoGroup)], ids=str)
def test_the_lists_in_the_picture_are_those_of_the_group(join):
    sketch, run = previewed(join)
    lists = run.output.sort_values("window_start")[["left", "right"]].map(len)
    seen = {f"{left} | {right}" for left, right in lists.to_numpy()[-len(sketch.spans) :]}
    assert {each.text for each in sketch.spans if each.text} <= seen


@pytest.mark.parametrize("join", [each for each in SHOWN if hasattr(each, "window")], ids=str)
def test_the_windows_of_the_picture_are_those_of_the_join(join):
    sketch, run = previewed(join)
    output = run.output.drop_duplicates(["window_start"])
    ends = ((output[name] - START).dt.total_seconds() for name in ("window_start", "window_end"))
    spans = {(each.start, each.end) for each in sketch.spans}
    assert {(start, end) for start, end in zip(*ends, strict=True) if 0 <= start <= 8} <= spans
