"""A join's condition on its pairs: in the model, on Spark, in scripts, in Flink's rules, on the page."""

from __future__ import annotations

import json
from dataclasses import replace

import helpers
import pandas as pd
import pytest
import strategies
from hypothesis import strategies as st
from page import Page
from scripts import run_here

import generators
import workbench as wb
from workbench import conditions, fixes
from workbench.engine import pruning
from workbench.joins import HOWS

LEFT, RIGHT = wb.col("left_n"), wb.col("right_n")
ASKED = [
    (LEFT > RIGHT, lambda left, right: left > right),
    ((LEFT + RIGHT).isin(1, 3, 5, 7, 9), lambda left, right: (left + right) in (1, 3, 5, 7, 9)),
    (RIGHT.is_null(), lambda left, right: False),
    (~(wb.col("left_key") != wb.col("right_key")) & (RIGHT >= 1), lambda left, right: right >= 1),
]
ENOUGH = 10**8  # a delay in milliseconds with which nothing is late
windows = st.one_of(
    st.builds(wb.Tumbling, st.sampled_from(["2 s", "5 s", "10 s"]), strategies.offset),
    st.builds(wb.Sliding, st.sampled_from(["2 s", "10 s"]), st.sampled_from(["3 s", "5 s"]), strategies.offset),
)
joins = st.one_of(strategies.intervals(), st.builds(wb.WindowJoin, windows, strategies.hows))
DEAR = (wb.col("right_paid") >= wb.col("left_amount")) & ~wb.col("right_method").like("%it's\\n%".replace("\\n", "\n"))
DEAR &= wb.col("left_city") != 'Genève """ */'
REAL = [
    *(wb.IntervalJoin("-2 seconds", "10 seconds", how, where=DEAR) for how in HOWS),
    *(wb.WindowJoin(wb.Tumbling("10 seconds"), how, where=DEAR) for how in HOWS),
    wb.WindowJoin(wb.Sliding("10 seconds", "5 seconds"), "full", where=DEAR),
]


def sides(**more):
    left, right = generators.generate(
        "orders_payments", **{"events": 120, "late": 0.15, "watermark": "2 s", "seed": 3} | more
    )
    paid = right.to_pandas()
    paid.loc[::3, "paid"] *= 2  # else all have paid what they owe
    paid.loc[1::3, "paid"] /= 2
    again = wb.Stream.from_pandas(
        paid.assign(batch=right.arrival), "payments", "order_id", "paid_at", "2 s", batch="batch"
    )
    return left, again


@strategies.in_parts(3, 40, case=strategies.cases(of=joins), asked=st.sampled_from(ASKED))
def test_it_is_what_its_definition_says(case, asked):
    where, satisfies = asked
    case = replace(
        case, join=replace(case.join, where=where), delays=(ENOUGH, ENOUGH), finish=True, start=strategies.START
    )
    preview = wb.preview(case.join, *case.streams())
    assert helpers.actual(preview) == helpers.expected(case.join, preview.left, preview.right, satisfies)
    if isinstance(case.join, wb.WindowJoin) and any(key is None for key, *_ in (*case.left, *case.right)):
        return  # the DataStream job leaves them out at the beginning
    try:
        there = wb.flink.preview(case.join, *case.streams())
    except wb.ArgumentError:  # finer than a millisecond
        return
    assert helpers.actual(there) == helpers.expected(case.join, preview.left, preview.right, satisfies)


@strategies.in_parts(
    2, 30, case=strategies.cases(of=joins), asked=st.sampled_from(ASKED), lateness=st.sampled_from(["0 s", "5 s"])
)
def test_a_condition_that_every_pair_satisfies_changes_nothing(case, asked, lateness):
    streams, always = case.streams(), (LEFT >= 0) | LEFT.is_null()
    for preview, more in ((wb.preview, {}), (wb.flink.preview, {"allowed_lateness": lateness})):
        if more and isinstance(case.join, wb.IntervalJoin):
            more = {}
        try:
            plain = preview(case.join, *streams, **more)
        except wb.ArgumentError:
            continue
        same = preview(replace(case.join, where=always), *streams, **more)
        pd.testing.assert_frame_equal(same.output, plain.output)
        pd.testing.assert_frame_equal(same.rows, plain.rows)


@pytest.mark.parametrize("join", REAL, ids=lambda join: f"{type(join).__name__} {join.how}")
def test_spark_does_as_the_model_says(spark, join):
    run = wb.run(join, *sides())
    assert run.mismatch == ""
    without = wb.preview(replace(join, where=None), *sides())
    assert len(run.output) != len(without.output) or join.how in ("left", "right", "full")
    told = run.rows["reason"].str.contains(", but none satisfies", regex=False)
    assert told.any()
    assert set(run.rows.loc[told, "fate"]) == {"unmatched"}


@pytest.mark.parametrize("join", [REAL[1], REAL[9], REAL[5]], ids=repr)
def test_a_large_run_keeps_the_columns_that_are_asked_of(spark, join, monkeypatch):
    whole = wb.run(join, *sides())
    monkeypatch.setattr(pruning, "MOST_WHOLE", 0)
    run = wb.run(join, *sides())
    assert run.execution.pruned
    assert run.mismatch == ""
    pd.testing.assert_frame_equal(run.output, whole.output)


@pytest.mark.family("the script of each kind gives the rows of the run")
@pytest.mark.parametrize("join", [REAL[3], REAL[8]], ids=repr)
def test_the_script_gives_the_rows_of_the_run(spark, tmp_path, join):
    run = wb.run(join, *sides(late=0))
    own = run_here(spark, run, tmp_path)
    found = own.read.parquet(str(tmp_path / "output")).toPandas()
    names = ["left_order_id", "right_payment_id"]
    mine, theirs = (sorted(map(repr, each[names].itertuples(index=False, name=None))) for each in (run.output, found))
    assert [each.replace("nan", "None") for each in theirs] == [each.replace("nan", "None") for each in mine]


def test_fixes_match_rows_that_satisfy_it():
    run = wb.preview(wb.IntervalJoin("0 s", "2 s", "left", where=DEAR), *sides())
    fixed = run.rows[run.rows["fix_setting"].notna()]
    assert len(fixed) > 5
    for index, row in fixed.head(20).iterrows():
        *changed, end = fixes.apply(
            row["fix_setting"], row["fix_value"], run.join, run.left, run.right, finish=run.finish
        )
        assert wb.preview(*changed, finish=end).rows["fate"][index] == "matched", row["reason"]


def test_it_is_saved_and_loaded(tmp_path):
    preview = wb.preview(REAL[1], *sides())
    loaded = wb.load(preview.save(tmp_path / "run"))
    assert loaded.join == preview.join == REAL[1]
    pd.testing.assert_frame_equal(loaded.output, preview.output)


def test_a_run_that_was_saved_before_there_were_conditions_is_loaded(tmp_path):
    place = wb.preview(wb.IntervalJoin("0 s", "5 s"), *sides()).save(tmp_path / "run")
    about = json.loads((place / "run.json").read_text())
    assert about["join"]["arguments"].pop("where") == ""
    del about["digest"]  # there was none either
    (place / "run.json").write_text(json.dumps(about))
    assert wb.load(place).join == wb.IntervalJoin("0 s", "5 s")


def test_the_page_takes_one():
    page = Page()
    try:
        page.wait()
        page.set({"Scenario": "orders_payments", "Kind": "Interval join"})
        before = page.meant().join
        page.set({"Where": 'wb.col("right_paid") < wb.col("left_amount") * 0.5'})
        assert page.meant().join == replace(before, where=wb.col("right_paid") < wb.col("left_amount") * 0.5)
        page.set({"Kind": "Tumbling window join"})
        assert page.meant().join.where == (wb.col("right_paid") < wb.col("left_amount") * 0.5)
        page.set({"Where": "right_paid < left_amount"})  # the short form, as in pandas' query
        assert page.meant().join.where == (wb.col("right_paid") < wb.col("left_amount"))
        page.set({"Where": "right_paid <"})
        assert "compare columns, such as amount > 5" in " ".join(page.said())
        page.set({"Where": 'wb.col("paid") < 1'})
        assert "there is no column 'paid'" in " ".join(page.said())
        page.set({"Where": ""})
        assert page.meant().join.where is None
    finally:
        page.close()


def test_its_repr_is_the_call_that_makes_it():
    join = REAL[0]
    assert eval(repr(join).replace("IntervalJoin", "wb.IntervalJoin"), {"wb": wb}) == join
    assert hash(join) == hash(replace(join))
    assert join != replace(join, where=LEFT > 1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: wb.IntervalJoin("0 s", "1 s", where=True), "where: got True; use a condition, such as wb.col(\"right_paid\") < wb.col(\"left_amount\"), or None"),
        (lambda: wb.WindowJoin(wb.Tumbling("1 s"), where="a > 1"), "where: got 'a > 1'; use a condition, such as wb.col(\"right_paid\") < wb.col(\"left_amount\"), or None"),
        (lambda: wb.WindowJoin(wb.Session("1 s"), where=LEFT > 1), "where: got wb.col('left_n') > 1; pairs of a session take no condition: filter the output"),
        (lambda: wb.preview(wb.IntervalJoin("0 s", "1 s", where=LEFT > 1), *sides()), "where: got wb.col('left_n') > 1; there is no column 'left_n'; there are left_order_id, "),
        (lambda: wb.preview(wb.IntervalJoin("0 s", "1 s", where=wb.col("left_city") > 1), *sides()), "where: got wb.col('left_city') > 1; wb.col('left_city') is a text, and 1 a number: compare what is alike"),
        (lambda: wb.flink.run(wb.IntervalJoin("0 s", "1 s", where=DEAR), *sides()), "join: got IntervalJoin("),
        (lambda: wb.flink.sql(wb.IntervalJoin("0 s", "1 s", where=LEFT > 1), *sides()), "where: got wb.col('left_n') > 1; there is no column 'left_n'"),
    ],
)  # fmt: skip
def test_what_is_no_condition_of_pairs_is_said(make, message):
    with pytest.raises(wb.ArgumentError) as raised:
        make()
    assert str(raised.value).startswith(message)


def test_conditions_of_the_kinds_are_read_from_texts():
    assert conditions.read(repr(DEAR), "where") == DEAR
