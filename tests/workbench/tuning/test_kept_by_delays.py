"""What each watermark delay keeps, exactly: against a simulation of every delay there is."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
import strategies
from helpers import stream
from hypothesis import strategies as st

import generators
import workbench as wb
from workbench import fixes, model, times
from workbench.kinds import NEVER
from workbench.literals import DELAYS, SIDES
from workbench.model import Simulation
from workbench.tuning import trials, tuned
from workbench.tuning.trials import Trials

FIXED = [
    wb.IntervalJoin("-2 s", "5 s"),
    wb.IntervalJoin("0 s", "4 s", how="left"),
    wb.IntervalJoin("-3 s", "3 s", how="full"),
    wb.IntervalJoin("0 s", "4 s", how="anti"),
    wb.WindowJoin(wb.Tumbling("5 s"), how="right"),
    wb.WindowJoin(wb.Sliding("6 s", "2 s"), how="full"),
    wb.CoGroup(wb.Tumbling("5 s")),
    wb.CoGroup(wb.Sliding("6 s", "3 s")),
]


def text(delay):
    return times.text(timedelta(microseconds=int(delay)))


def kept(tried, delays):
    """What a simulation says that two delays keep, and how many rows it holds at most."""
    row = tried.row({f"{side}.watermark": text(delays[side]) for side in SIDES})
    return row["kept"], row["state_peak"]


def around(needs):
    """Each delay at which something changes, one a millisecond below it, and none."""
    steps = {int(each) for each in needs if each < NEVER}
    return sorted({0, *steps, *(max(0, each - 1000) for each in steps)})


@strategies.in_parts(8, 4, case=strategies.cases(of=st.sampled_from(FIXED)))
def test_every_step_of_one_side_and_of_both_is_what_a_simulation_keeps(case):
    left, right = case.streams()
    simulation = Simulation(case.join, left, right, policy=case.policy)
    tried = Trials(simulation, {}, 1)
    steps = tried.kept()
    now = {"left": times.micros(left.watermark), "right": times.micros(right.watermark)}
    for side, other in (SIDES, SIDES[::-1]):
        for delay in around(steps.needed(side, now[other]))[:8]:
            delays = now | {side: delay}
            assert steps.share(delays) == kept(tried, delays)[0], delays
    for delay in around(steps.needed_by_both())[:8]:
        delays = {"left": delay, "right": delay}
        assert steps.share(delays) == kept(tried, delays)[0], delays


@strategies.in_parts(
    6, 6, case=strategies.cases(of=st.sampled_from(FIXED)), keep=st.sampled_from([0.5, 0.8, 0.95, 1.0])
)
def test_the_best_is_the_cheapest_of_every_pair_of_steps(case, keep):
    left, right = case.streams()
    simulation = Simulation(case.join, left, right, policy=case.policy)
    tuning, tried = tuned(simulation), Trials(simulation, {}, 1)
    if not tuning.pairs:
        return
    every = [around(tuning.kept.needs[side])[:12] for side in SIDES]
    enough = [
        kept(tried, {"left": one, "right": other})
        for one in every[0]
        for other in every[1]
        if tuning.kept.share({"left": one, "right": other}) >= keep
    ]
    if not tuning.kept.minimal(keep, 100):
        with pytest.raises(wb.WorkbenchError, match=r"no watermark delay keeps .* correct their event times"):
            tuning.best(keep)
        return
    best = tuning.best(keep)
    assert best.row["kept"] >= keep
    assert best.row["state_peak"] <= min((held for _, held in enough), default=best.row["state_peak"])
    delays = {side: times.micros(times.parse(best.settings[f"{side}.watermark"], "delay")) for side in SIDES}
    assert (best.row["kept"], best.row["state_peak"]) == kept(tried, delays)


@pytest.mark.parametrize("policy", ["min", "max"])
def test_shares_and_least_delays(policy):
    steps = model.KeptByDelays(
        policy, 3, np.array([0, 0, 1, 2]), {"left": np.array([1, 5, 2, NEVER]), "right": np.array([4, 0, 3, NEVER])}
    )
    if policy == "min":
        assert steps.needed("left", 0).tolist() == [1, 2, NEVER]
        assert steps.needed("left", 4).tolist() == [0, 0, NEVER]
        assert steps.needed_by_both().tolist() == [1, 2, NEVER]
        assert steps.minimal(2 / 3, 10) == [{"left": 0, "right": 4}, {"left": 1, "right": 3}, {"left": 2, "right": 0}]
    else:
        assert steps.needed("left", 3).tolist() == [2, NEVER, NEVER]
        assert steps.needed("left", 4).tolist() == [2, 5, NEVER]
        assert steps.needed_by_both().tolist() == [3, 5, NEVER]
        assert steps.minimal(2 / 3, 10) == [{"left": 5, "right": 4}]
        assert steps.minimal(1 / 3, 10) == [{"left": 2, "right": 3}]
    assert steps.least(steps.needed_by_both(), 1.0) == NEVER
    assert steps.least(steps.needed_by_both(), 0.0) == 0
    assert steps.minimal(1.0, 10) == []


@pytest.mark.parametrize(
    "join",
    [
        wb.IntervalJoin("0 s", "4 s", how="semi"), wb.WindowJoin(wb.Session("5 s")), wb.CoGroup(wb.Session("5 s")),
        wb.AsOfJoin(tolerance="5 s"),
    ],
    ids=repr,
)  # fmt: skip
def test_where_late_rows_change_what_others_come_to_nothing_is_said_between_the_delays_that_were_tried(join):
    tuning = wb.tune(join, *generators.generate("orders_payments", events=80, late=0.2, seed=5))
    assert tuning.kept is None
    drawn = tuning.charts.drawing("delays")
    assert "the delays that were tried" in drawn.subtitle
    assert len(drawn.tables["delays"]) == len(tuning.table[tuning.settings[:2]].drop_duplicates().query(
        " or ".join(f"`{name}` == '{tuning.table[name].iloc[0]}'" for name in tuning.settings[:2])
    )) + 1  # fmt: skip


def test_the_curve_is_a_simulation_s_at_every_point_and_just_before_it():
    sides = generators.generate("orders_payments", events=120, late=0.2, seed=5)
    join = wb.IntervalJoin("0 s", "15 s", how="left")
    tuning = wb.tune(join, *sides)
    curve = tuning.charts.drawing("delays").tables["delays"]
    tried = Trials(Simulation(join, *sides), {}, 1)
    now = {side: times.micros(each.watermark) for side, each in zip(SIDES, sides, strict=True)}
    for side, each in zip(SIDES, sides, strict=True):
        mine = curve[curve["stream"] == each.name].reset_index(drop=True)
        assert mine["delay"].iloc[0] == 0
        assert mine["delay"].is_monotonic_increasing
        for place, row in mine.iterrows():
            delay = round(row["delay"] * 1e6)
            assert kept(tried, now | {side: delay})[0] == pytest.approx(row["kept"])
            if place and delay >= 1000:
                before = kept(tried, now | {side: delay - 1000})[0]
                assert before == pytest.approx(mine["kept"].iloc[place - 1])


def test_where_there_are_very_many_pairs_some_are_tried(monkeypatch):
    monkeypatch.setattr(trials, "MOST_MINIMAL", 3)
    sides = generators.generate("orders_payments", events=200, late=0.2, seed=5)
    best = wb.tune(wb.IntervalJoin("0 s", "15 s"), *sides).best(0.97)
    assert best.row["kept"] >= 0.97


def test_places_that_answer_one_question_give_one_answer():
    """What delay of both sides keeps all rows, and what delay of one: in the tab Late, in an advice, in a tuning."""
    sides = generators.generate("orders_payments", events=200, late=0.2, seed=7)
    join = wb.IntervalJoin("0 s", "15 s", how="left")
    run = wb.preview(join, *sides)
    marks = run.charts.drawing("late").tables["marks"]
    rows = model.kept_rows(run.simulation.outcome, "min", SIDES)
    both = timedelta(microseconds=rows.least(rows.needed_by_both(), 1.0))
    assert marks["delay"].iloc[-1] == both.total_seconds()
    for each in wb.advise(join, *sides):
        if each.setting in ("left.watermark", "right.watermark"):
            side = each.setting.split(".")[0]
            changed = each.apply(join, *sides)
            again = wb.preview(changed[0], *changed[1:3])
            late = (again.rows[again.rows["side"] == side]["fate"] == "late").sum()
            assert late <= 0.001 * len(again.rows)
            shorter = times.parse(each.value, "delay") - timedelta(milliseconds=1)
            named = {"left": sides[0], "right": sides[1]}
            named[side] = named[side].with_watermark(shorter)
            fewer = wb.preview(join, *named.values())
            assert (fewer.rows[fewer.rows["side"] == side]["fate"] == "late").sum() > late


PAIRS = [each for each in FIXED if not isinstance(each, wb.CoGroup) and each.how != "anti"]


@strategies.in_parts(8, 4, case=strategies.cases(of=st.sampled_from(PAIRS)))
def test_the_delay_that_mends_a_row_is_a_step_of_the_curve(case):
    left, right = case.streams()
    simulation = Simulation(case.join, left, right, policy=case.policy)
    steps = Trials(simulation, {}, 1).kept()
    now = {"left": times.micros(left.watermark), "right": times.micros(right.watermark)}
    found = fixes.fixes(simulation)
    for side, other in (SIDES, SIDES[::-1]):
        for delay in found.loc[found["setting"] == DELAYS[side], "value"].unique().tolist():
            assert delay in steps.needed(side, now[other])
            assert steps.share(now | {side: delay}) > steps.share(now | {side: delay - 1000})


def test_no_delay_keeps_rows_at_or_before_1970():
    left = stream([("a", -5, 0), *(("a", 10 * n, n) for n in range(1, 10))], "orders", "0 s")
    right = stream([("a", -5, 0), *(("a", 10 * n + 1, n) for n in range(1, 10))], "payments", "0 s")
    tuning = wb.tune(wb.IntervalJoin("0 s", "2 s"), left, right)
    assert tuning.best(0.9).row["kept"] == 0.9
    with pytest.raises(
        wb.WorkbenchError, match=r"^no watermark delay keeps 100.00%; the longest keeps 90.00%: rows at or"
    ):
        tuning.best(1.0)


def test_what_waits_for_the_end_of_the_input_has_no_wait():
    left = stream([("a", 100 + n, n) for n in range(10)], "orders", "0 s")
    right = stream([("b", 100 + n, n) for n in range(10)], "payments", "0 s")
    tuning = wb.tune(
        wb.IntervalJoin("0 s", "2 s", how="left"), left, right, over={"left.watermark": ["0 s", "1 minute"]}
    )
    drawn = tuning.charts.drawing("waits")
    assert drawn.tables["delays"]["wait"].isna().tolist() == [False, True]
    assert "beyond 0 s these rows come out only when the input ends" in drawn.subtitle


@strategies.in_parts(
    6, 6, case=strategies.cases(of=st.sampled_from(FIXED)), rows=st.integers(1, 12), seconds=st.integers(0, 30)
)
def test_the_answer_within_limits_is_that_of_every_pair_of_steps(case, rows, seconds):
    left, right = case.streams()
    tuning = tuned(Simulation(case.join, left, right, policy=case.policy))
    tried = Trials(Simulation(case.join, left, right, policy=case.policy), {}, 1)
    if not tuning.pairs:
        return
    tried.kept()
    every = [around(tuning.kept.needs[side])[:10] for side in SIDES]
    table = pd.DataFrame(
        [
            tried.row({"left.watermark": text(one), "right.watermark": text(other)})
            for one in every[0]
            for other in every[1]
        ]
    )
    for limits in (
        {"most_rows": rows},
        {"most_time": f"{seconds} s"},
        {"most_rows": rows, "most_time": f"{seconds} s"},
    ):
        fine = table[table["state_peak"] <= limits.get("most_rows", 10**9)]
        fine = fine[fine["state_time"] <= pd.Timedelta(limits.get("most_time", "1000 days"))]
        if fine.empty:
            with pytest.raises(wb.WorkbenchError, match=r"^no setting stays within "):
                tuning.best(None, **limits)
            continue
        best = tuning.best(None, **limits)
        assert best.row["kept"] >= fine["kept"].max()
        assert best.row["state_peak"] <= limits.get("most_rows", 10**9)
        assert best.row["state_time"] <= pd.Timedelta(limits.get("most_time", "1000 days"))
        same = fine[fine["kept"] >= best.row["kept"]]
        assert best.row["state_peak"] <= same["state_peak"].min() or same.empty
        if best.row["kept"] < 1:
            with pytest.raises(wb.WorkbenchError, match=r"^no setting keeps 100.00% with .* keeps most, \d"):
                tuning.best(1.0, **limits)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"keep": None}, "give a share from 0 to 1, such as 0.999, or a limit"),
        ({"most_rows": -1}, "most_rows: got -1"),
        ({"most_rows": 1.5}, "most_rows: got 1.5"),
        ({"most_rows": True}, "most_rows: got True"),
        ({"most_time": "-1 s"}, "most_time"),
        ({"most_time": "soon"}, "most_time: got 'soon'"),
    ],
)
def test_wrong_limits(given, words):
    tuning = wb.tune(wb.IntervalJoin("0 s", "15 s"), *generators.generate("orders_payments", events=40, seed=1))
    with pytest.raises(wb.ArgumentError, match=words):
        tuning.best(**given)


def test_the_time_in_state():
    times_ = (100, 101, 130, 160, 190)
    left = stream([("a", each, place) for place, each in enumerate(times_)], "orders", "0 s")
    right = stream([("x", each, place) for place, each in enumerate(times_)], "payments", "0 s")
    table = wb.tune(wb.IntervalJoin("0 s", "10 s"), left, right, over={"left.watermark": ["0 s", "1 minute"]}).table
    # a at 100 leaves with the micro-batch after that of 130, in which 160 comes; a minute later with none
    assert table["state_time"].tolist() == [pd.Timedelta("60 s"), pd.Timedelta("90 s")]
