"""The page's table: each row is reached by what is asked for, and the code gives the same rows."""

from __future__ import annotations

import pytest
from page import Page

import generators
import workbench as wb
from workbench.charts.glyphs import GLYPHS
from workbench.kinds import kind_of

SETTINGS = {"Scenario": "orders_payments", "Events": 600, "Upper bound": "1 second", "Late": 0.1}


@pytest.fixture
def page():
    opened = Page()
    opened.wait()
    opened.set(SETTINGS)
    yield opened
    opened.close()


def code(page, namespace=None):
    """The rows that the code of the table gives, in a fresh cell."""
    space = {} if namespace is None else dict(namespace)
    box = page.field_named("As pandas")
    box.value = True
    page.wait()
    text = page.code.text
    *lines, last = text.splitlines()
    exec("\n".join(lines), space)
    box.value = False
    return eval(last, space)


def arrived(run, wanted):
    """Some rows in order of arrival."""
    return run.rows[wanted].sort_values("batch", kind="stable")


def first_page(page):
    return page.table.df.index.tolist()


def test_causes_are_counted_and_a_click_filters(page):
    """Those of the band: the most frequent of each side, and how many rows have others."""
    run = page.meant()
    page.open("Tracks")
    lost = run.rows["fate"] != "matched"
    drawn = run.charts.drawing("lanes").tables["rows"]
    for side in page.band["sides"]:
        counts = run.causes[lost & (run.rows["side"] == side["side"])].value_counts()
        assert sum(each["rows"] for each in side["causes"]) + side["more"] == counts.sum()
        assert all(counts[each["cause"]] == each["rows"] for each in side["causes"])
        for cause in side["causes"]:  # the same marks as in the chart
            marks = drawn[((run.causes == cause["cause"]) & (run.rows["side"] == side["side"])).to_numpy()]
            assert cause["glyphs"] == [glyph.path for name, glyph in GLYPHS.items() if name in set(marks["obstacle"])]
        assert [each["rows"] for each in side["causes"]] == counts.iloc[: len(side["causes"])].tolist()
    chosen = page.band["sides"][0]["causes"][-1]
    page.filter("left", chosen["fate"], chosen["cause"])
    rows = arrived(run, (run.rows["side"] == "left") & (run.causes == chosen["cause"]))
    assert first_page(page) == rows.index[:200].tolist()
    assert page.chart.params["picked"] == [f"left-{row}" for row in sorted(rows.index)]
    assert code(page).index.tolist() == rows.index.tolist()
    assert page.field("Fate").disabled
    assert page.field("Fate").tooltip == page.button("show all rows").tooltip  # which says how to leave it
    page.click("show all rows")
    assert "show all rows" not in page.buttons()
    assert not page.field("Fate").disabled
    assert page.chart.params["picked"] == []
    page.filter("left", chosen["fate"], chosen["cause"])
    page.set({"Upper bound": "60 seconds"})  # the filter holds where its rows are others
    assert page.chart.params["picked"] != [f"left-{row}" for row in sorted(rows.index)]
    page.filter()
    assert len(first_page(page)) == 200


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"Fate": "unmatched", "Side": "payments"},
        {"Search": "ORD"},
        {"Sort by": "paid_at"},
        {"Fate": "late"},
    ],
    ids=str,
)
@pytest.mark.parametrize("tab", ["Tracks", "Unmatched", "Late", "Output"])
def test_the_code_gives_what_is_shown(page, tab, asked):
    page.open(tab)
    if not all(page.usable(field) and _has(page, field, value) for field, value in asked.items()):
        pytest.skip("this table has no such choice")
    page.set(asked)
    assert code(page).index[:200].tolist() == first_page(page)


def test_the_code_runs_in_a_fresh_cell_of_the_notebook_that_the_page_is_in():
    left, right = generators.generate("orders_payments", events=60)
    space = {"orders": left, "paid": right}
    page = Page("orders", "paid", namespace=space)
    page.wait()
    page.set({"Follows": "faster side (max)", "Watermark / first": "1.5 seconds"})
    page.open("Unmatched")
    assert code(page, space).index[:200].tolist() == first_page(page)
    page.field_named("As pandas").value = True
    page.wait()
    assert page.code.text.startswith("import pandas as pd\nimport workbench as wb\n")
    assert 'run = wb.preview(join, left, right, policy="max")' in page.code.text


def _has(page, field, value):
    options = getattr(page.field(field), "options", None)
    return options is None or value in [each[0] for each in options]


def test_a_stretch_of_the_axis_limits_the_table(page):
    page.open("Timeline")
    run = page.meant()
    drawn = page.drawn["params"]
    third = (drawn["high"] - drawn["low"]) / 3
    low, high = drawn["low"] + third, drawn["high"] - third
    page.brush(low, high)
    times = run.rows["ordered_at"].fillna(run.rows["paid_at"])
    inside = times.between(*(wb_time(each) for each in (low, high)))
    assert first_page(page) == arrived(run, inside).index[:200].tolist()
    assert "in this stretch" in page.note
    assert set(page.drawn["tables"]["rows"]["row_id"]) == row_ids(run, inside)
    assert code(page).index.tolist() == arrived(run, inside).index.tolist()
    page.open("Output")
    columns = [name for name in run.output if name.endswith(("ordered_at", "paid_at"))]
    some = run.output[columns].apply(lambda each: each.between(wb_time(low), wb_time(high))).any(axis=1)
    assert first_page(page) == run.output.index[some][:200].tolist()
    assert code(page).index.tolist() == run.output.index[some].tolist()
    page.open("Timeline")
    page.click("Show all")
    assert "in this stretch" not in page.note
    page.set({"Along": "micro-batch"})
    page.brush(2.2, 3.5)
    expected = arrived(run, run.rows["batch"].isin([2, 3])).index
    assert first_page(page) == expected[:200].tolist()
    assert code(page).index.tolist() == expected.tolist()


def wb_time(milliseconds):
    import pandas as pd

    return pd.Timestamp(round(milliseconds * 1000), unit="us")


def row_ids(run, inside):
    count = len(run.left)
    return {f"left-{row}" if row < count else f"right-{row - count}" for row in run.rows.index[inside]}


def test_one_key_is_followed_through_both_sides(page):
    run = page.meant()
    key = run.keys[run.rows["side"] == "right"].iloc[3]
    page.open("Timeline")
    page.set({"One key": key})
    assert first_page(page) == arrived(run, run.keys == key).index.tolist()
    assert code(page).index.tolist() == first_page(page)


def test_rows_are_listed_as_they_arrived_and_the_other_way_round(page):
    run = page.meant()
    page.open("Timeline")
    order = arrived(run, run.rows["batch"] >= 0).index.tolist()
    assert first_page(page) == order[:200]
    assert set(run.rows["side"].iloc[order[:200]]) == {"left", "right"}
    next(each for each in page.widgets() if getattr(each, "tooltip", None) == "The largest first").value = True
    page.wait()
    assert first_page(page) == order[::-1][:200]
    assert code(page).index.tolist() == order[::-1]


def test_a_column_with_a_name_of_the_tables_own_is_kept():
    left, right = generators.generate("orders_payments", events=20)
    frame = left.to_pandas().drop(columns="batch").rename(columns={"amount": "fate"})
    page = Page(
        wb.Stream.from_pandas(frame.assign(stream="mine"), "orders", left.key, left.time),
        wb.Stream.from_pandas(right.to_pandas().drop(columns="batch"), "payments", right.key, right.time),
    )
    page.wait()
    assert {"stream", "row_stream", "fate", "row_fate"} <= set(page.table.df.columns)
    assert set(page.table.df["row_stream"]) == {"mine", ""}
    page.close()


def test_what_is_in_state_is_listed_below_its_chart(page):
    run = page.meant()
    page.open("State")
    last = run.state(int(run.batches["batch"].max()))
    assert len(page.table.df) == len(last)
    busiest = int(run.batches["state_rows"].idxmax())
    page.scrub(busiest - page.moments)
    held = run.state(busiest)
    assert first_page(page) == held.index[:200].tolist()
    assert code(page).equals(held)
    assert page.table.df["evicted in"].tolist() == held["evicted_in"].head(200).tolist()
    assert page.table.df["key"].iloc[0] == held["order_id"].iloc[0]
    page.set({"Side": "payments", "Sort by": "leaves_at"})
    some = held[held["side"] == "right"].sort_values("leaves_at", kind="stable")
    assert first_page(page) == some.index[:200].tolist()
    assert code(page).index.tolist() == some.index.tolist()
    page.set({"Side": "both", "Sort by": "side", "One key": held["order_id"].iloc[0]})
    assert set(page.table.df["key"]) == {held["order_id"].iloc[0]}
    assert code(page).index.tolist() == first_page(page)


def test_partial_matches_that_were_given_up_are_listed_behind_the_matches(page):
    page.set({"Scenario": "user_actions", "Kind": "Pattern", "Within": "45 seconds"})
    page.open("Output")
    run = page.meant()
    assert len(run.output) and len(run.timed_out)
    frame = page.table.df
    assert len(frame) == min(len(run.output) + len(run.timed_out), 200)
    matches = (frame["waited_for"] == "").to_numpy()
    assert matches[: len(run.output)].all()
    assert not matches[len(run.output) :].any()
    assert (
        frame["waited_for"].tolist()[len(run.output) :] == run.timed_out["waited_for"].tolist()[: 200 - len(run.output)]
    )
    assert code(page)["waited_for"].tolist()[:200] == frame["waited_for"].tolist()
    page.select(len(run.output))  # the first that was given up
    step = next(name for name, _ in kind_of(run.join).match_columns(run.join))
    assert run.timed_out[step].iloc[0]
    assert "waited for" in page.html("story")
