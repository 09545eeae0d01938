"""Tuning: every figure of the table against plain loops, and what is recommended."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import helpers
import numpy as np
import pandas as pd
import pytest
import strategies
import vl_convert
from helpers import expected, met, unmatched

import generators
import workbench as wb
from workbench import charts, model, times
from workbench.streams import SIDES
from workbench.tuning import BYTES_ERROR

INTERVAL = wb.IntervalJoin("0 seconds", "15 seconds", how="left")


def sessions(join):
    return not isinstance(join, wb.IntervalJoin) and isinstance(join.window, wb.Session)


def out(join, outcome):
    """The rows that come out, as the reference gives them; in sessions without their windows."""
    if isinstance(join, wb.CoGroup):
        found = []
        for number, group in enumerate(outcome.groups.itertuples()):
            members = [sorted(mine.loc[mine["group"] == number, "row"]) for mine in outcome.assignments.values()]
            found.append((group.start, group.end, *map(tuple, members)))
        return found
    found = []
    spans = ["start", "end"] if not isinstance(join, wb.IntervalJoin) and not sessions(join) else []
    if join.how == "semi":
        mine = outcome.assignments["left"]
        return [(row, None, *span) for row, *span in mine.loc[mine["matched"], ["row", *spans]].itertuples(index=False)]
    if join.how != "anti":
        found += [tuple(each) for each in met(outcome)[["left", "right", *spans]].itertuples(index=False)]
    for each in unmatched(outcome).itertuples():
        pair = (each.row, None) if each.side == "left" else (None, each.row)
        found.append(pair + tuple(getattr(each, name) for name in spans))
    return found


def whole(join, left, right):
    rows = expected(join, left, right)
    if isinstance(join, wb.CoGroup):
        return [(start, end, tuple(mine), tuple(other)) for _, start, end, mine, other in rows]
    return [row[:2] for row in rows] if sessions(join) else rows


def meeting(join, left, right):
    """How many pairs there are by definition, whatever comes out of them."""
    if isinstance(join, wb.CoGroup):
        return sum(len(mine) * len(other) for *_, mine, other in whole(join, left, right))
    return len(whole(replace(join, how="inner"), left, right))


def quantile(values, share):
    return sorted(values)[max(0, int(np.ceil(share * len(values))) - 1)] if values else 0


def waits(join, outcome, left, right):
    """What is waited for pairs and, from the end of a window, for rows without partner and groups."""
    data = outcome.marks.kinds.count(model.DATA)
    newest, clock = None, []
    for batch in range(data):
        for stream in (left, right):
            moments = stream.event_times[(stream.arrival == batch) & counts_for_the_watermark(join, stream)]
            newest = max([*([] if newest is None else [newest]), *(moments // 1000 * 1000)], default=None)
        clock.append(newest or 0)
    pairs, ends, at_the_end = [], [], 0
    if not isinstance(join, wb.CoGroup):
        for pair in met(outcome).itertuples():
            arrived = max(left.arrival[pair.left], right.arrival[pair.right])
            if pair.batch >= data:
                at_the_end += 1
            else:
                pairs.append((clock[pair.batch] - clock[arrived], pair.batch - arrived))
        emitted = []
        for each in unmatched(outcome).itertuples():
            end = each.end
            if isinstance(join, wb.IntervalJoin):
                stream, bound = (left, join.upper) if each.side == "left" else (right, join.lower)
                end = stream.event_times[each.row] + times.micros(bound) * (1 if each.side == "left" else -1)
            emitted.append((end, each.batch))
    else:
        emitted = [(each.end, each.batch) for each in outcome.groups.itertuples()]
    for end, batch in emitted:
        if batch >= data:
            at_the_end += 1
            continue
        due = next((place for place in range(batch) if clock[place] >= end), batch)
        ends.append((max(0, clock[batch] - end), batch - due))
    return pairs, ends, at_the_end


def counts_for_the_watermark(join, stream):
    side = 0 if stream.name == "orders" else 1
    from workbench.kinds import kind_of

    keyless = np.array([None in row.values() for row in stream.table.select(list(stream.key)).to_pylist()], dtype=bool)
    return ~keyless if kind_of(join).drops_null_keys(join)[side] else np.ones(len(stream), dtype=bool)


def held(join, outcome, left, right):
    if sessions(join):
        return rows_of_open_sessions(join, outcome, left, right)
    batches = range(outcome.marks.kinds.count(model.DATA))
    return [sum(len(outcome.held_after(batch, side)) for side in SIDES) for batch in batches]


def rows_of_open_sessions(join, outcome, left, right):
    """How many rows open sessions have after each micro-batch: rows that are not late come, sessions meet, and close."""
    gap = times.micros(join.window.gap)
    opened, counts = [], []
    for batch in range(outcome.marks.kinds.count(model.DATA)):
        for side, stream in zip(SIDES, (left, right), strict=True):
            assignments = outcome.assignments[side].set_index("row")
            for row in np.flatnonzero(stream.arrival == batch):
                if assignments.loc[row, "late"] or not counts_for_the_watermark(join, stream)[row]:
                    continue
                key, t = (
                    tuple(stream.table.select(list(stream.key)).slice(row, 1).to_pylist()[0].values()),
                    stream.event_times[row],
                )
                who = (side, key, t) if None in key else key
                mine = [each for each in opened if each[0] == who and each[1] <= t + gap and t <= each[2]]
                opened = [each for each in opened if each not in mine]
                span = min([t, *(each[1] for each in mine)]), max([t + gap, *(each[2] for each in mine)])
                opened.append((who, *span, 1 + sum(each[3] for each in mine)))
        opened = [each for each in opened if each[2] > outcome.marks.eviction[batch]]
        counts.append(sum(each[3] for each in opened))
    return counts


@strategies.in_parts(15, 10, case=strategies.cases(of=strategies.joins_of_all_in_reach))
def test_every_figure_is_that_of_plain_loops(case):
    left, right = case.streams()
    over = {"left.watermark": ["0 s", "4 s"], "policy": ["min", "max"]}
    tuning = wb.tune(case.join, left, right, over=over, policy=case.policy)
    complete = Counter(whole(case.join, left, right))
    assert len(tuning.table) == len({(row["left.watermark"], row["policy"]) for _, row in tuning.table.iterrows()})
    assert tuning.table["now"].sum() == 1
    for _, row in tuning.table.iterrows():
        mine = left.with_watermark(row["left.watermark"])
        outcome = model.simulate(case.join, mine, right, policy=row["policy"])
        found = Counter(out(case.join, outcome))
        assert row["kept"] == (found & complete).total() / max(1, complete.total()) if complete else row["kept"] == 1
        for side in SIDES:
            assignments = outcome.assignments[side]
            assert row[f"late_{side}"] == len(set(assignments.loc[assignments["late"], "row"]))
        pairs, ends, at_the_end = waits(case.join, outcome, mine, right)
        assert row["at_the_end"] == at_the_end
        for name, waited in (("wait", pairs), ("end_wait", ends)):
            for word, share in (("median", 0.5), ("99", 0.99)):
                assert row[f"{name}_{word}"] == pd.Timedelta(quantile([each[0] for each in waited], share), unit="us")
                assert row[f"{name}_batches_{word}"] == quantile([each[1] for each in waited], share)
        state = held(case.join, outcome, mine, right)
        assert row["state_peak"] == max(state)
        assert row["state_mean"] == pytest.approx(sum(state) / len(state))
        grouped = isinstance(case.join, wb.CoGroup)
        kept = sum(len(each[2]) * len(each[3]) for each in found.elements()) if grouped else len(met(outcome))
        assert row["pairs_lost"] == meeting(case.join, left, right) - kept


@strategies.in_parts(10, 10, case=strategies.cases(of=strategies.joins_of_all_in_reach))
def test_with_nothing_late_all_comes_out(case):
    left, right = case.streams()
    outcome = model.complete(case.join, left, right)
    assert Counter(out(case.join, outcome)) == Counter(whole(case.join, left, right))
    assert not any(mine["late"].any() for mine in outcome.assignments.values())


def recorded(**settings):
    return generators.generate("orders_payments", events=400, rate=5, late=0.1, seed=3, **settings)


def test_no_other_setting_dominates_one_on_the_pareto_front():
    table = wb.tune(INTERVAL, *recorded()).table
    cost = [(-row["kept"], row["state_peak"], row["wait_99"] + row["end_wait_99"]) for _, row in table.iterrows()]
    for mine, pareto in zip(cost, table["pareto"], strict=True):
        dominated = any(all(a <= b for a, b in zip(each, mine, strict=True)) and each != mine for each in cost)
        assert pareto == (not dominated)


def test_auto_tries_delays_that_keep_none_to_all_late_rows():
    tuning = wb.tune(INTERVAL, *recorded())
    assert tuning.settings == ["left.watermark", "right.watermark"]
    longest = tuning.table.iloc[-1]
    assert longest["kept"] == 1
    assert longest["late_left"] == longest["late_right"] == longest["pairs_lost"] == 0
    assert tuning.table["kept"].min() < 0.95


def test_the_best_is_the_cheapest_that_keeps_enough():
    tuning = wb.tune(INTERVAL, *recorded())
    for keep in (0, 0.9, 0.97, 1):
        best = tuning.best(keep)
        good = tuning.table[tuning.table["kept"] >= keep]
        assert best.row["state_peak"] <= good["state_peak"].min()  # test_steps.py tries every delay there is
        assert best.row["kept"] >= keep
        cheaper = tuning.table[(tuning.table["kept"] < keep) & (tuning.table["state_peak"] < best.row["state_peak"])]
        assert (best.cheaper is None) == cheaper.empty == (keep == 0)
        if best.cheaper is not None:
            assert best.cheaper["kept"] == cheaper["kept"].max()
            as_much = cheaper[cheaper["kept"] == best.cheaper["kept"]]
            assert best.cheaper["state_peak"] == as_much["state_peak"].min()
        assert f"keeps {best.row['kept']:.3%} and holds at most" in repr(best)
        run = wb.preview(
            INTERVAL,
            *(s.with_watermark(best.settings[f"{side}.watermark"]) for side, s in zip(SIDES, recorded(), strict=True)),
        )
        held = np.add(*run.outcome.state_rows().values())
        assert held[: run.micro_batches].max() == best.row["state_peak"]
    assert tuning.best(0.9).warning == ""
    assert "the rows are too few to tell 99.900%" in tuning.best(0.999).warning
    with pytest.raises(wb.ArgumentError, match="keep: got 99; use a share from 0 to 1"):
        tuning.best(99)
    with pytest.raises(wb.WorkbenchError, match=r"no setting keeps 100\.00%; the best of these keeps 9"):
        wb.tune(INTERVAL, *recorded(), over={"left.watermark": ["0 s"]}).best(1.0)


def test_differences_and_bounds_are_those_of_plain_loops():
    left, right = generators.generate("orders_payments", events=60, keys=12, rate=5, seed=3)
    tuning = wb.tune(INTERVAL, left, right, over={"policy": ["min"]})
    one, other = left.to_pandas(), right.to_pandas()
    found = Counter(
        (place, r, round((b - a).total_seconds(), 6))
        for place, (key, a) in enumerate(zip(one["order_id"], one["ordered_at"], strict=True))
        for r, (mine, b) in enumerate(zip(other["order_id"], other["paid_at"], strict=True))
        if key == mine
    )
    assert Counter(tuning.differences.round(6).itertuples(index=False, name=None)) == found
    for row in tuning.bounds.itertuples():
        low, high = (times.parse(each, "bound").total_seconds() for each in (row.lower, row.upper))
        within = [pair for pair in found if low <= pair[2] <= high]
        partners = Counter(pair[0] for pair in within)
        assert row.pairs == pytest.approx(len(within) / len(found))
        assert row.one_to_many == pytest.approx(sum(n > 1 for n in partners.values()) / len(partners))
    assert tuning.bounds["pairs"].iloc[-1] == 1


def test_of_very_many_pairs_whole_keys_are_drawn(monkeypatch):
    monkeypatch.setattr("workbench.tuning.limits.MOST_PAIRS", 300)
    left, right = generators.generate("orders_payments", events=200, keys=20, rate=5, seed=3)
    found = wb.tune(INTERVAL, left, right, over={"policy": ["min"]}).differences
    keys = left.to_pandas()["order_id"]
    taken = set(keys[found["left"]])
    assert 0 < len(taken) < 20
    assert set(found["left"]) == set(keys.index[keys.isin(taken)])


@pytest.mark.parametrize(
    "join", [INTERVAL, wb.WindowJoin(wb.Session("6 s")), wb.CoGroup(wb.Tumbling("10 s"))], ids=repr
)
def test_of_many_rows_whole_keys_are_sampled_and_the_error_is_given(join, monkeypatch):
    sides = generators.generate("orders_payments", events=20_000, rate=200, late=0.1, batches=40, seed=3)
    over = {"left.watermark": ["0 s", "10 s", "40 s"], "right.watermark": ["0 s", "20 s"]}
    every = wb.tune(join, *sides, over=over)
    assert every.sampled == 1
    assert not every.table["kept_error"].any()
    monkeypatch.setattr("workbench.tuning.limits.MOST_WORK", 60_000 if join is INTERVAL else 240_000)
    some = wb.tune(join, *sides, over=over)
    assert 0.04 < some.sampled < 0.5
    assert "from the keys of" in repr(some)
    for part, whole in zip(some.table.itertuples(), every.table.itertuples(), strict=True):
        assert abs(part.kept - whole.kept) <= 1.5 * part.kept_error + 1e-9
        assert part.state_peak == pytest.approx(whole.state_peak, rel=0.15)
        assert part.late_left + part.late_right == pytest.approx(whole.late_left + whole.late_right, rel=0.25, abs=40)
        assert part.end_wait_batches_median == whole.end_wait_batches_median


@pytest.mark.slow
@pytest.mark.parametrize(
    "join", [INTERVAL, wb.WindowJoin(wb.Session("6 s"), how="full"), wb.CoGroup(wb.Sliding("10 s", "6 s"))], ids=repr
)
def test_spark_confirms_what_was_predicted(spark, join):
    sides = generators.generate("orders_payments", events=400, rate=8, late=0.15, batches=8, seed=3)
    tuning = wb.tune(join, *sides)
    confirmed = tuning.confirm(3)
    assert 2 <= len(confirmed) <= 3
    assert confirmed["agrees"].all()
    for name in ("rows", "state_peak"):
        assert confirmed[name].tolist() == confirmed[f"spark_{name}"].tolist()
    off = (confirmed["bytes_peak"] / confirmed["spark_bytes_peak"] - 1).abs()
    assert (off <= BYTES_ERROR).all(), confirmed[["bytes_peak", "spark_bytes_peak", "state_peak"]]
    predicted = tuning.table.loc[tuning.table["now"], "state_peak"].iloc[0]
    rows_are_counted = isinstance(join, wb.IntervalJoin)  # of the others Spark counts groups
    assert (
        confirmed["state_peak"].iloc[0] == predicted
        if rows_are_counted
        else confirmed["state_peak"].iloc[0] < predicted
    )
    assert confirmed["left.watermark"].iloc[0] == "10 seconds"
    with pytest.raises(wb.ArgumentError, match="n: got 0"):
        tuning.confirm(0)


def test_every_chart_can_be_drawn():
    tuning = wb.tune(INTERVAL, *recorded())
    assert len(charts.tuning_views()) >= 5
    for view in charts.tuning_views():
        chart = getattr(tuning.charts, view.name)()
        assert vl_convert.vegalite_to_svg(chart.to_dict()).startswith("<svg")
    points = tuning.charts.drawing("pareto").tables["settings"]
    assert len(points) == len(tuning.table)
    assert points["now"].sum() == 1
    delays = tuning.charts.drawing("delays").tables["delays"]
    assert set(delays["stream"]) == {"orders", "payments"}
    assert delays["kept"].max() == 1
    cells = tuning.charts.drawing("heat").tables["cells"]
    assert len(cells) == len(tuning.table)
    with pytest.raises(wb.ArgumentError, match=r"y: got 'gap'; use one of 'left\.watermark', 'right\.watermark'"):
        tuning.charts.heat("left.watermark", "gap")
    with pytest.raises(wb.ArgumentError, match=r"vary left\.watermark or right\.watermark"):
        wb.tune(INTERVAL, *recorded(), over={"upper": ["3 s"]}).charts.delays()


def test_fields_of_the_join_are_varied_and_each_has_its_own_complete_result():
    tuning = wb.tune(INTERVAL, *recorded(), over={"upper": ["1 s", "5 s", "1 minute"], "right.watermark": ["1 minute"]})
    assert tuning.settings == ["upper", "right.watermark"]
    assert len(tuning.table) == 4
    assert tuning.table["now"].tolist() == [True, False, False, False]
    assert tuning.table["upper"].iloc[1:].tolist() == ["1 second", "5 seconds", "1 minute"]
    assert (tuning.table["state_peak"].iloc[1:].diff()[1:] > 0).all()
    for join, over in (
        (wb.WindowJoin(wb.Sliding("10 s", "5 s")), {"size": ["5 s"], "slide": ["2 s"], "offset": ["1 s"]}),
        (wb.CoGroup(wb.Session("5 s")), {"gap": ["1 s", "9 s"]}),
    ):
        assert wb.tune(join, *recorded(), over=over).table["kept"].between(0.5, 1).all()


@pytest.mark.parametrize(
    ("over", "words"),
    [
        ("all", "over: got 'all'; use \"auto\", or values by setting"),
        ({}, "over: got {}"),
        (
            {"gap": ["1 s"]},
            "over: got 'gap'; this join has no such setting; it has left.watermark, right.watermark, lower, upper, policy",
        ),
        ({"upper": "5 s"}, "over.'upper'.: got '5 s'; give a list of values"),
        ({"upper": []}, "give at least one value"),
        ({"upper": ["soon"]}, "over.'upper'.: got 'soon'"),
        ({"policy": ["avg"]}, "use 'min' or 'max'"),
        ({"left.watermark": ["-1 s"]}, "-1"),
        ({"upper": ["-1 s"]}, "upper"),
        (
            {"upper": [f"{n} s" for n in range(100)], "left.watermark": [f"{n} s" for n in range(100)]},
            "use at most 5,000",
        ),
    ],
)
def test_wrong_settings_are_refused(over, words):
    with pytest.raises(wb.ArgumentError, match=words):
        wb.tune(INTERVAL, *recorded(), over=over)


def test_nothing_is_recommended_where_nothing_meets():
    streams = generators.generate("orders_payments", events=200, unmatched=1.0, seed=3)
    for how in ("inner", "left"):
        with pytest.raises(wb.WorkbenchError, match="no row of orders meets one of payments in this join"):
            wb.tune(wb.IntervalJoin("0 s", "15 s", how=how), *streams).best()


def test_a_delay_that_changes_nothing_is_said_to():
    left = helpers.stream([("a", 100 + n, n // 10) for n in range(100)], "orders", "0 s")
    right = helpers.stream([("a", 50 + n, n // 10) for n in range(100)], "payments", "0 s")
    tuning = wb.tune(INTERVAL, left, right, over={"left.watermark": ["0 s", "1 s", "5 s"]})
    assert tuning.best(0.5).notes[-1] == (
        "the delay of orders makes no difference up to 5 s: the query's watermark is that of payments, which is "
        "further behind (policy min)"
    )
    tuning = wb.tune(INTERVAL, left, right, over={"right.watermark": ["0 s", "1 s", "60 s"]})
    assert not any("makes no difference" in each for each in tuning.best(0.5).notes)


def test_the_best_leaves_a_delay_as_it_is_where_another_one_is_no_better():
    left, right = generators.generate("impressions_clicks", events=200, rate=4, late=0.03, trigger="5 s", seed=1)
    join = wb.IntervalJoin("0 s", "30 s", how="left")
    figures = ["kept", "state_peak", "end_wait_99", "wait_99", "state_time"]
    for keep in (0.9, 0.97, 0.99, 0.999, 1):
        tuning = wb.tune(join, left, right)
        best, now = tuning.best(keep), tuning.table[tuning.table["now"]].iloc[0]
        same = tuning.table[(tuning.table[figures] == best.row[figures]).all(axis=1)]
        changed = (same[tuning.settings] != now[tuning.settings]).sum(axis=1)
        assert sum(best.settings[name] != now[name] for name in tuning.settings) <= changed.min()
    assert tuning.best(0.99).settings == {"left.watermark": "24.701 seconds", "right.watermark": "10 seconds"}
