"""The test that the page writes passes: its rows fare under its join as they do on the page."""

import ast

import pytest

import generators
import workbench as wb
from workbench.literals import RowId
from workbench.testing import writing

JOINS = {
    "interval": wb.IntervalJoin("-2 seconds", "5 seconds", how="full"),
    "exclusive": wb.IntervalJoin("-2 seconds", "5 seconds", lower_exclusive=True),
    "tumbling": wb.WindowJoin(wb.Tumbling("10 seconds"), how="left"),
    "sliding": wb.WindowJoin(wb.Sliding("10 seconds", "5 seconds")),
    "session": wb.WindowJoin(wb.Session("5 seconds")),
    "cogroup": wb.CoGroup(wb.Tumbling("10 seconds")),
    "as of": wb.AsOfJoin(tolerance="10 seconds", how="left"),
    "as of, unbounded": wb.AsOfJoin(),
    "a pattern": wb.Pattern(wb.step("a", side="left"), wb.followed_by("b", side="right"), within="1 minute"),
}


@pytest.fixture(scope="module")
def sides():
    return generators.generate(
        "orders_payments", events=40, rate=4, late=0.3, late_by="30 s", watermark="1 s", batches=4, seed=5
    )


def run_text(text):
    names = {}
    exec(compile(text, "test_join.py", "exec"), names)
    names["test_join"](None)
    return names


@pytest.mark.drawn(4)
@pytest.mark.parametrize("name", JOINS)
@pytest.mark.parametrize("finish", [True, False])
def test_all_rows(spark, sides, name, finish):
    text = writing.test_of(wb.preview(JOINS[name], *sides, finish=finish))
    run_text(text)
    assert ast.parse(text)
    assert max(map(len, text.splitlines())) <= 200


@pytest.mark.drawn(2)
@pytest.mark.parametrize("name", [each for each in JOINS if each not in ("as of", "as of, unbounded", "a pattern")])
def test_the_rows_of_one_key_fare_as_they_do_among_all(spark, sides, name):
    preview = wb.preview(JOINS[name], *sides)
    fates = preview.fates["left"]["fate"].to_numpy()
    for fate in ("late", "unmatched", "matched"):
        rows = [row for row in range(len(fates)) if fates[row] == fate]
        if rows:
            text = writing.test_of(preview, RowId("left", rows[0]))
            assert f"== '{fate}'" in text.replace('"', "'")
            run_text(text)


def test_a_changed_expectation_fails(spark, sides):
    text = writing.test_of(wb.preview(JOINS["interval"], *sides))
    with pytest.raises(AssertionError, match="orders: "):
        run_text(text.replace('"matched": ', '"matched": 9'))


def test_odd_names_and_values(spark):
    import pandas as pd

    frame = pd.DataFrame(
        {
            "a \"key'": ["x\\", 'y"', None],
            "the `time`": pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-03"], utc=True),
            "n": [b"\xff", b"a", None],
        }
    )
    left = wb.Stream.from_pandas(frame, name="left \\ 'one'\"", key="a \"key'", time="the `time`")
    right = wb.Stream.from_pandas(frame, name="other", key="a \"key'", time="the `time`")
    run_text(writing.test_of(wb.preview(wb.IntervalJoin("0 s", "1 s"), left, right, policy="max")))


def test_too_many_rows_are_not_written(sides):
    many = generators.generate("orders_payments", events=2_000, seed=5)
    preview = wb.preview(JOINS["interval"], *many)
    with pytest.raises(
        wb.TooLargeError, match="too many for a test that people read; pick a row, and the test has those"
    ):
        writing.test_of(preview)
    assert writing.test_of(preview, RowId("left", 3))
