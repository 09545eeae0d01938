"""The as-of join: against plain loops, pandas' `merge_asof` and Spark; its state, reasons, fixes, script."""

from __future__ import annotations

import datetime as dt
import decimal
import random
import re
from dataclasses import replace

import helpers
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import strategies
from hypothesis import strategies as st
from scripts import written_here

import generators
import workbench as wb
from workbench import fixes, model, spark_versions
from workbench.kinds import kind_of
from workbench.reasons.spans import spans

WITHIN, ANY_AGE = wb.AsOfJoin("backward", "20 s", "left"), wb.AsOfJoin("backward", None, "left")
ENOUGH = 10**8  # a delay in milliseconds with which nothing is late
START = 1_767_225_600  # seconds: 2026-01-01


def on_time(case, join, **more):
    return replace(case, join=join, delays=(ENOUGH, ENOUGH), finish=True, start=strategies.START, **more)


@strategies.in_parts(4, 60, case=strategies.cases(), join=strategies.as_of_joins)
def test_it_is_what_its_definition_says(case, join):
    preview = wb.preview(join, *on_time(case, join).streams())
    assert helpers.actual(preview) == helpers.expected(join, preview.left, preview.right)


@strategies.in_parts(2, 40, case=strategies.cases(), join=strategies.as_of_joins, seed=st.integers(0, 10**6))
def test_the_order_of_arrival_does_not_matter(case, join, seed):
    """But for right rows of one key at the same time, of which the last one counts."""
    right = {(key, t): (key, t, batch) for key, t, batch in case.right}
    case = on_time(case, join, right=tuple(right.values()))

    def outcome(case):
        out = wb.preview(join, *case.streams()).output
        return sorted(map(repr, out[["left_key", "left_t", "right_key", "right_t"]].itertuples(index=False)))

    chance = random.Random(seed)
    shuffled = [
        tuple((key, t, chance.randrange(case.batches)) for key, t, _ in side) for side in (case.left, case.right)
    ]
    assert outcome(case) == outcome(replace(case, left=shuffled[0], right=shuffled[1]))


@strategies.in_parts(2, 60, case=strategies.cases(), join=strategies.as_of_joins)
def test_without_late_rows_it_is_what_pandas_gives(case, join):
    left, right = on_time(case, join).streams()
    preview = wb.preview(join, left, right)
    frames = [each.table.to_pandas().dropna(subset="key")[["key", "t", "n"]] for each in (left, right)]
    frames[1] = frames[1].drop_duplicates(["key", "t"], keep="last")  # pandas takes the first one looking forward
    frames = [each.astype({"t": "datetime64[us, UTC]"}).sort_values("t", kind="stable") for each in frames]
    tolerance = None if join.tolerance is None else pd.Timedelta(join.tolerance)
    if join.direction == "nearest" and not join.allow_exact:
        return  # pandas leaves out the nearer of two at one time
    wanted = pd.merge_asof(
        frames[0], frames[1], on="t", by="key", suffixes=("", "_right"), direction=join.direction,
        tolerance=tolerance, allow_exact_matches=join.allow_exact,
    )  # fmt: skip
    out = preview.output.dropna(subset="left_key")
    found = dict(zip(out["left_n"], out["right_n"], strict=True))
    for n, partner in zip(wanted["n"], wanted["n_right"], strict=True):
        if pd.isna(partner):
            assert pd.isna(found.get(n, pd.NA))
        else:
            assert found[n] == partner


@strategies.in_parts(15, 2, case=strategies.cases(), join=strategies.as_of_joins)
@pytest.mark.usefixtures("spark")
def test_spark_does_as_the_model_says(case, join):
    comparison = replace(case, join=join).run().compare(every_state=True)
    assert not comparison["differences"].any(), comparison.to_string()


ORDERS = [("a", 100, 0), ("a", 100, 0), ("b", 100, 0), ("a", 130, 1), ("a", 150, 2), ("z", 150, 2), ("a", 200, 3),
          (None, 205, 3), ("a", 100, 4), ("a", 210, 5)]  # fmt: skip
PRICES = [("a", 95, 0), ("a", 95, 0), ("b", 10, 0), ("a", 120, 1), ("a", 150, 2), ("a", 200, 3), (None, 200, 3),
          ("a", 125, 4), ("a", 210, 5)]  # fmt: skip


def streams(**more):
    sides = (("orders", ORDERS), ("prices", PRICES))
    return [helpers.stream([(key, START + t, batch) for key, t, batch in rows], name, **more) for name, rows in sides]


@pytest.fixture(scope="module", params=[WITHIN, ANY_AGE], ids=["within", "any age"])
def run(request, spark):
    return wb.run(request.param, *streams())


def test_each_row_has_its_latest_version(run):
    out = run.output.set_index("left_n")["right_n"]
    met = {n: None if pd.isna(partner) else int(partner) for n, partner in out.items()}
    assert met == {0: 1, 1: 1, 2: 2 if run.join == ANY_AGE else None, 3: 3, 4: 4, 5: None, 6: 5, 7: None, 9: 8}
    assert run.mismatch == ""
    assert len(run.late) == 2


def test_a_tolerance_waits_as_long_as_it_is(run):
    """Spark's aggregation holds a row back for as long as the join may still pass on older ones."""
    came = run.output.set_index("left_n")["batch"]
    assert came[3] == (3 if run.join == ANY_AGE else 4)


def test_versions_that_no_row_can_need_are_gone(run):
    if run.join != ANY_AGE:
        return
    held = [run.state(batch) for batch in run.batches["batch"]]
    versions = [each.loc[each["side"] == "right", "n"].tolist() for each in held]
    assert versions[0] == [1, 2]  # the first at 95 s was replaced at once
    assert versions[2] == [2, 3, 4]  # the watermark is at 120 s: that of 95 s is no row's any more
    assert versions[4] == [2, 5]
    assert versions[-1] == []


def test_state_by_key_and_row_is_what_spark_holds(run):
    assert run.compare(every_state=True)["differences"].sum() == 0


@pytest.mark.family("the script of each kind gives the rows of the run")
def test_the_script_gives_the_rows_of_the_run(run, spark, tmp_path):
    written, expected = written_here(spark, run, tmp_path)
    assert written == expected


def test_without_a_tolerance_the_script_asks_for_rocksdb():
    texts = [wb.preview(join, *streams()).script for join in (WITHIN, ANY_AGE)]
    assert ["RocksDBStateStoreProvider" in text for text in texts] == [False, True]
    assert ["StatefulProcessor" in text for text in texts] == [False, True]


def test_both_ways_give_the_same_rows(spark):
    orders, prices = generators.generate("orders_prices", events=300, seed=4, batches=5)
    far, none = (wb.run(wb.AsOfJoin("backward", tolerance, "left"), orders, prices) for tolerance in ("1 day", None))
    assert far.mismatch == none.mismatch == ""
    columns = [name for name in far.output if name != "batch"]
    rows = [sorted(map(repr, each.output[columns].itertuples(index=False))) for each in (far, none)]
    assert rows[0] == rows[1]


def test_values_of_every_type_pass_a_processor_in_python(spark):
    times = pd.to_datetime(
        ["2026-03-29 00:59:59.123456", "2026-03-29 01:30:00", "2026-10-25 00:30:00"], format="ISO8601"
    )
    table = pa.table(
        {
            "key": pa.array(["a", "b", None]),
            "t": pa.array(times.tz_localize("UTC"), pa.timestamp("us", "UTC")),
            "long": pa.array([2**62 + 1, None, -(2**63) + 1], pa.int64()),
            "byte": pa.array([1, None, 3], pa.int8()),
            "double": pa.array([float("nan"), None, 1e308]),
            "float": pa.array([1.1, None, -0.0], pa.float32()),
            "decimal": pa.array([decimal.Decimal("1.10"), None, decimal.Decimal("-0.01")], pa.decimal128(20, 2)),
            "bytes": pa.array([b"\x00\xff", None, b""]),
            "flag": pa.array([True, False, None]),
            "day": pa.array([dt.date(1, 1, 2), None, dt.date(2026, 1, 1)]),
            "other time": pa.array(times.tz_localize("UTC"), pa.timestamp("us", "UTC")),
            "list": pa.array([[1, None], [], None], pa.list_(pa.int64())),
            "struct": pa.array([{"a": 1, "b": "q"}, None, {"a": None, "b": None}]),
            "the `text`": pa.array(["ü\x00", None, ""]),
        }
    )
    left, right = (wb.Stream.from_arrow(table, name, key="key", time="t") for name in ("orders", "prices"))
    run = wb.run(ANY_AGE, left, right)
    helpers.same_output(wb.preview(ANY_AGE, left, right), run)


def test_python_sees_no_time_of_a_row(spark):
    """It would read it in the time zone of its machine, in which an hour may come twice."""
    text = wb.preview(ANY_AGE, *streams()).script
    run = wb.run(ANY_AGE, *streams(), finish=False)
    assert "F.unix_micros(each.name)" in text
    held = run.state(1)
    assert held["t"].dt.year.eq(2026).all()


def test_timers_are_read_from_the_checkpoint(spark):
    """Each key with a row that waits has a timer, at the first watermark that may decide one of them."""
    run = wb.run(ANY_AGE, *streams(), finish=False)
    for batch in run.batches["batch"]:
        held, timers = run.state(batch), run.timers(batch)
        waiting = held[held["side"] == "left"].groupby("key")["leaves_at"].min()
        assert set(waiting.index) <= set(timers["key"])
        assert timers["key"].is_unique
        for key, leaves in waiting.items():
            mine = timers.loc[timers["key"] == key, "fires_at"].dt.as_unit("us")
            assert mine.max() < pd.Timestamp("2100-01-01") or mine.isna().any()
            assert mine.isna().any() or mine.max() >= run.batches["watermark"][batch].tz_localize(None)
            if not pd.isna(leaves):
                assert mine.min() <= leaves + pd.Timedelta("1ms")
    with pytest.raises(wb.ArgumentError, match="has no timers"):
        wb.run(WITHIN, *streams(), finish=False).timers(0)


@pytest.mark.parametrize("zeros", [[0.0, -0.0], [float("nan"), float("nan")]], ids=["zero", "nan"])
def test_keys_that_spark_finds_equal_are_equal(spark, zeros):
    table = pa.table(
        {"key": zeros, "t": pa.array([START * 10**6, START * 10**6 + 1], pa.timestamp("us", "UTC")), "n": [0, 1]}
    )
    sides = [wb.Stream.from_arrow(table, name, key="key", time="t") for name in ("orders", "prices")]
    run = wb.run(wb.AsOfJoin(allow_exact=False), *sides)
    assert run.output[["left_n", "right_n"]].values.tolist() == [[1, 0]]
    assert run.mismatch == ""


@pytest.mark.parametrize("join", [WITHIN, ANY_AGE], ids=["within", "any age"])
def test_reasons_name_version_age_and_remedy(join):
    rows = wb.preview(join, *streams()).rows.set_index(["side", "n"])
    reason = rows["reason"]
    assert "n 1, 5 s earlier" in reason["left", 0]
    assert "n 7, 5 s earlier, would have been its partner, but came late: a watermark delay of " in reason["left", 3]
    policy = "(policy min: the query's watermark is the lower of those of orders and prices)"
    assert reason["left", 3].endswith(f" on orders would have kept it {policy}")
    if join == WITHIN:
        assert "the nearest, n 2, is 90 s away, 70 s too far" in reason["left", 2]
        assert rows.loc[("left", 2), "fix_value"] == "90 seconds"
    assert "never arrived" in reason["left", 5]
    assert "the partner of 2 rows of orders" in reason["right", 1]
    assert "n 1, at the same time, came after it and replaced it" in reason["right", 0]
    assert rows.loc[("right", 7), "fix_setting"] in ("left.watermark", "right.watermark")
    assert (rows.loc[[("left", 8), ("right", 7)], "fate"] == "late").all()


@strategies.in_parts(4, 30, case=strategies.cases(), join=strategies.as_of_joins)
def test_a_fix_does_what_it_says(case, join):
    preview = wb.preview(join, *replace(case, join=join).streams(), finish=case.finish, policy=case.policy)
    rows = preview.rows
    for row in rows[rows["fix_setting"].notna()].head(3).itertuples():
        changed = fixes.apply(row.fix_setting, row.fix_value, join, preview.left, preview.right, finish=case.finish)
        after = wb.preview(*changed[:3], finish=changed[3], policy=case.policy).rows
        assert after["fate"][row.Index] == "matched", (row, changed)


def test_a_row_waits_while_its_version_can_still_come():
    rows = wb.preview(ANY_AGE, *streams(watermark="5 s"), finish=False).rows.set_index(["side", "n"])
    assert rows.loc[("left", 9), "fate"] == "pending"
    assert "waiting: until the watermark has passed 00:03:30" in rows.loc[("left", 9), "reason"]
    forward = wb.preview(wb.AsOfJoin("forward", how="left"), *streams(), finish=False).rows.set_index(["side", "n"])
    assert forward.loc[("left", 5), "fate"] == "pending"  # a product that never had a price
    assert "waiting: for the first row of its key on prices at or after it" in forward.loc[("left", 5), "reason"]


@strategies.in_parts(2, 60, case=strategies.cases(), join=strategies.as_of_joins)
def test_a_row_lies_on_the_bar_of_its_version(case, join):
    """Each bar of the timeline is where left rows have that version, and nowhere else."""
    preview = wb.preview(join, *on_time(case, join).streams())
    bars = spans(preview.simulation)
    met = preview.output.dropna(subset="right_n")
    for row in met.itertuples():
        mine = bars[(bars["key"] == row.left_key) & (bars["start"] <= row.left_t) & (row.left_t <= bars["end"])]
        assert 1 <= len(mine) <= 2  # two where one ends and the next begins
    times = preview.left.to_pandas().set_index("n")
    for n in set(times.index) - set(met["left_n"]):
        key, at = times.loc[n, "key"], times.loc[n, "t"]
        if isinstance(key, str) and join.allow_exact:
            assert not len(bars[(bars["key"] == key) & (bars["start"] < at) & (at < bars["end"])])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"direction": "back"}, "direction: got 'back'; use one of 'backward', 'forward', 'nearest'"),
        ({"direction": None}, "direction: got None"),
        ({"tolerance": "-1 s"}, "tolerance: got '-1 s'; use a span of zero or more"),
        ({"tolerance": 5}, "tolerance: got 5"),
        ({"tolerance": "0 s", "allow_exact": False}, "no row has a partner with allow_exact=False"),
        ({"how": "full"}, "how: got 'full'; use one of 'inner', 'left'"),
        ({"allow_exact": 1}, "allow_exact: got 1; use True or False"),
    ],
)
def test_wrong_arguments_are_named(arguments, words):
    with pytest.raises(wb.ArgumentError) as raised:
        wb.AsOfJoin(**arguments)
    assert words in str(raised.value)


def test_it_is_written_as_it_is_made():
    assert repr(wb.AsOfJoin()) == "AsOfJoin()"
    join = wb.AsOfJoin("nearest", "1 minute 30 seconds", "left", allow_exact=False)
    assert repr(join) == "AsOfJoin(direction='nearest', tolerance='90 seconds', how='left', allow_exact=False)"
    assert eval(repr(join), {"AsOfJoin": wb.AsOfJoin}) == join


def test_spark_4_0_has_it_with_a_tolerance_only(spark, monkeypatch):
    monkeypatch.setattr("workbench.session.version_of", lambda _: "4.0.1")
    with pytest.raises(
        wb.ArgumentError, match=r"without a tolerance it needs Spark 4\.1 or later, and this is 4\.0\.1"
    ):
        wb.run(ANY_AGE, *streams())
    assert not spark_versions.facts("4.0.1").has_processor


def test_many_versions_are_looked_up_and_not_paired():
    """A product with 20,000 prices and 20,000 orders makes 400 million pairs, of which none is made."""
    count = 20_000
    moments = pd.to_datetime(np.arange(count) + START, unit="s", utc=True)
    frame = pd.DataFrame({"key": "a", "t": moments, "n": np.arange(count)})
    sides = [wb.Stream.from_pandas(frame, name, key="key", time="t") for name in ("orders", "prices")]
    preview = wb.preview(ANY_AGE, *sides)
    assert len(preview.output) == count
    assert kind_of(ANY_AGE).one_partner
    assert (preview.output["left_n"] == preview.output["right_n"]).all()
    assert count * count > model.MOST


def test_tuning_counts_an_older_version_as_lost():
    """The order at 130 s comes out either way, but without the late price of 125 s with the wrong one."""
    table = wb.tune(WITHIN, *streams(), over={"right.watermark": ["0 s", "3 minutes"]}).table
    table = table.set_index("right.watermark")
    assert table["kept"].is_monotonic_increasing
    least, most = table.iloc[0], table.iloc[-1]
    assert most["pairs_lost"] < least["pairs_lost"]
    assert least["pairs_lost"] == 2  # with it, and of the late order


def seconds(rows, name):
    """Rows of one key: seconds, micro-batches."""
    return helpers.stream([("tea", START + at, batch) for at, batch in rows], name)


def reasons_of(join, orders, prices, **more):
    """By side and second what became of each row, and why."""
    rows = wb.preview(join, seconds(orders, "orders"), seconds(prices, "prices"), **more).rows
    at = rows["t"].dt.minute * 60 + rows["t"].dt.second
    return {
        (side, second): (fate, reason)
        for side, second, fate, reason in zip(rows["side"], at, rows["fate"], rows["reason"], strict=True)
    }


def test_a_partner_that_came_too_late_is_named_before_a_farther_one():
    orders, prices = [(10, 0), (40, 0), (50, 2)], [(0, 0), (41, 0), (9, 2)]
    found = reasons_of(wb.AsOfJoin("backward", "3 s"), orders, prices, policy="max")
    fate, reason = found["left", 10]
    assert fate == "unmatched"
    assert "1 s earlier, came too late and was dropped: no single watermark delay would have kept it" in reason
    assert "with a tolerance of 10 s it would have matched" in reason


def test_a_version_that_lost_to_a_nearer_one_says_which_rows_it_is_for():
    found = reasons_of(wb.AsOfJoin("nearest", "6 s", "left"), [(12, 0), (26, 0)], [(20, 0), (25, 0)])
    assert (
        "it is the partner of no row; with a tolerance of 8 s, it would be that of n 0, 8 s away"
        in found["right", 20][1]
    )
    found = reasons_of(
        wb.AsOfJoin("nearest", None, "left"), [(16, 0), (48, 0)], [(2, 0), (20, 0), (30, 0), (40, 0), (50, 0)]
    )
    assert (
        found["right", 2][1]
        == "it is the partner of no row of orders: no row on time is nearer to it than to the row at 00:00:20"
    )
    assert (
        found["right", 30][1]
        == "it is the partner of no row of orders: no row on time is nearer to it than to the rows at 00:00:20 and 00:00:40"
    )


@strategies.in_parts(2, 40, case=strategies.cases(), join=strategies.as_of_joins)
def test_what_is_said_of_a_version_without_row_is_true(case, join):
    """No row on time lies where the reason says that none does."""
    preview = wb.preview(join, *case.streams(), finish=True, policy=case.policy)
    rows = preview.rows
    alone = rows[(rows["side"] == "right") & rows["reason"].str.contains("no row on time", regex=False)]
    on_time = rows[~rows["fate"].isin(["late", "null_key"])]
    far = pd.Timedelta(days=10**5) if join.tolerance is None else pd.Timedelta(join.tolerance)
    for _, row in alone.iterrows():
        mine = on_time[(on_time["key"] == row["key"])]
        left, right = (mine.loc[mine["side"] == side, "t"] for side in ("left", "right"))
        before, after = right[right < row["t"]].max(), right[right > row["t"]].min()
        apart = left - row["t"]
        if not join.allow_exact:
            apart = apart[apart != pd.Timedelta(0)]
            left = left[apart.index]
        if join.direction == "nearest":
            others = [(left - each).abs() for each in (before, after) if not pd.isna(each)]
            near = apart.abs() <= far
            for each in others:
                near &= apart.abs() < each
        elif join.direction == "backward":
            near = (apart >= pd.Timedelta(0)) & (apart <= far) & (pd.isna(after) | (left < after))
        else:
            near = (apart <= pd.Timedelta(0)) & (-apart <= far) & (pd.isna(before) | (left > before))
        assert not near.any(), row["reason"]


def test_a_row_beyond_the_tolerance_is_not_denied():
    left = helpers.stream([("a", START + 36, 0)], "orders")
    right = helpers.stream([("a", START + 45, 0)], "prices")
    preview = wb.preview(wb.AsOfJoin("forward", "4 s", "left"), left, right, finish=False)
    reason = preview.rows["reason"][0]
    assert "lies at or after it" not in reason
    without = wb.preview(wb.AsOfJoin("backward", None, "left"), left, right).rows["reason"][0]
    assert without.startswith("no row of its key on prices lies at or before it")


def test_a_row_without_key_is_held_until_the_end_of_the_input():
    left = helpers.stream([(None, START, 0), ("a", START, 0)], "orders")
    right = helpers.stream([("a", START + 4, 0)], "prices")
    preview = wb.preview(wb.AsOfJoin("forward", None, "left"), left, right, finish=False)
    held = preview.state_by_key(0).set_index("key")["held_by"]
    assert held["None"] == "the end of the input: its key is null, and no row can meet it"
    assert any("1 of 2 rows of orders wait" in str(each) for each in wb.advise(preview.join, left, right))


def test_the_cause_of_a_version_without_row_is_not_that_of_the_nearest_row():
    """An order after a price may lie in its reach, and have a later price as its partner."""
    orders, prices = [(10, 0), (60, 1), (61, 3)], [(0, 0), (9, 0), (11, 0), (8, 3)]
    sides = seconds(orders, "orders"), seconds(prices, "prices")
    preview = wb.preview(wb.AsOfJoin("backward", "30 s", "left"), *sides)
    causes = preview.causes[preview.rows["side"] == "right"].tolist()
    alone = "the partner of no row of orders"
    assert causes == [alone, "the partner of rows of orders", alone, f"late, and would have been {alone}"]
    late = preview.rows.iloc[-1]
    assert late["fate"] == "late"
    assert late["reason"].endswith("would have kept it, but it would be the partner of no row of orders")


def test_a_version_whose_row_still_waits_is_pending_too():
    found = reasons_of(wb.AsOfJoin("backward", "11 s", "left"), [(24, 0), (30, 0)], [(13, 0), (30, 0)], finish=False)
    assert found["right", 13][0] == "pending"
    assert "it may still be the partner of rows of orders" in found["right", 13][1]


def test_a_waiting_row_is_not_told_to_wait_longer():
    join, prices = wb.AsOfJoin("backward", "5 s"), [(2, 0), (20, 0), (30, 0)]
    rows = wb.preview(join, seconds([(16, 0), (48, 0)], "orders"), seconds(prices, "prices"), finish=False).rows
    assert rows.loc[1, "fate"] == "pending"
    assert rows.loc[1, "fix_setting"] is None


@pytest.mark.parametrize("join", [WITHIN, ANY_AGE, wb.AsOfJoin("nearest", "1 s", "inner", False)], ids=repr)
def test_a_saved_preview_is_what_it_was(join, tmp_path):
    preview = wb.preview(join, *streams())
    preview.save(tmp_path / "saved")
    loaded = wb.load(tmp_path / "saved")
    assert loaded.join == join
    pd.testing.assert_frame_equal(loaded.rows, preview.rows)


def test_a_tolerance_that_is_far_too_wide_is_advised_against():
    far = wb.advise(wb.AsOfJoin("backward", "1000 days"), *streams())
    words = [str(each) for each in far]
    assert any(" partners lie within 90 s" in each and "tolerance of 90 seconds" in each for each in words)
    assert not any("lie within" in str(each) for each in wb.advise(WITHIN, *streams()))


@pytest.mark.parametrize(("direction", "said"), [("forward", True), ("nearest", False), ("backward", False)])
def test_rows_that_wait_without_end_are_advised_against(direction, said):
    left = helpers.stream([("a", START, 0), ("a", START + 5, 0), ("b", START + 9, 1)], "orders")
    right = helpers.stream([("a", START + 4, 0), ("b", START + 1, 1)], "prices")
    advice = [each for each in wb.advise(wb.AsOfJoin(direction), left, right) if "never comes" in each.problem]
    assert len(advice) == said
    if said:
        assert advice[0].problem.startswith("2 of 3 rows of orders wait for a row of prices that never comes")
        assert advice[0].remedy == "a tolerance evicts them: the only partner lies within 4 s"
        assert not [each for each in wb.advise(wb.AsOfJoin(direction, "4 s"), left, right) if "never" in each.problem]


def test_flinks_milliseconds_are_said_of_the_value_that_was_given():
    with pytest.raises(wb.ArgumentError, match="tolerance: got '500 microseconds'"):
        wb.flink.sql(wb.AsOfJoin("backward", "500 us"), *streams())


def test_the_charts_of_a_tuning_know_the_tolerance():
    sides = generators.generate("orders_prices", events=1000, seed=4)

    def told(join):
        tuning, state = wb.tune(join, *sides), wb.preview(join, *sides).charts.state()
        charts = (tuning.charts.differences(), tuning.charts.waits(), state)
        return [each.to_dict()["title"]["subtitle"] for each in charts]

    near, waits, state = told(wb.AsOfJoin("backward", "20 seconds", how="left"))
    assert "lie within the tolerance" in near
    assert waits.startswith("99 % wait no longer, in event time")
    assert re.fullmatch(r"at most \d+ rows; Spark counts \d+ rows, and groups of a left row's pairs", state)
    assert "come out only when the input ends" in told(wb.AsOfJoin("backward", "1 hour", how="left"))[1]
    near, waits, state = told(wb.IntervalJoin("0 s", "3 s"))
    assert "lie within the bounds" in near
    assert waits == "nothing waits: every result comes out at once"
    assert re.fullmatch(r"at most \d+ rows", state)
    assert re.fullmatch(r"[\d,]+ pairs of rows of one key", told(wb.WindowJoin(wb.Tumbling("10 s")))[0])
