"""The page, driven through its widgets without a browser."""

from __future__ import annotations

import itertools
import re
import threading
import time

import pandas as pd
import pytest
from helpers import active
from ipywidgets.widgets import widget
from page import ORDINALS, Page, plain, wait_for

import generators
import workbench as wb
from workbench import charts, model, process
from workbench.app import App, close_all, current
from workbench.app.html import HTML
from workbench.kinds import kinds
from workbench.literals import SIDES, RowId
from workbench.runs.result import Result
from workbench.testing import writing

SETTINGS_OF_JOINS = {field.label for kind in kinds().values() for field in kind.fields}
DELAYS = ("Watermark / first", "Watermark / second")


def threads():
    return {each.name for each in threading.enumerate() if each.name.startswith("stream-join-workbench")}


def running_query():
    """The live query that runs."""
    (query,) = process.live_queries
    return query


def test_it_opens_ready_with_a_preview(page):
    assert current() is page.app
    assert not page.button("Run on Spark").disabled
    assert page.button("Stop").disabled
    assert page.badge == "Preview (simulated)"
    assert page.app.run is None
    assert "matched" in page.figures
    assert page.meant().join == wb.IntervalJoin("0 seconds", "30 seconds", how="left")
    assert page.drawn["title"] == "Interval join on event time"
    for source in ("a scenario", "this notebook", "files", "Kafka topics"):
        page.set({"From": source})
        for each in page.fields().values():
            assert each.tooltip


def test_the_tabs_are_the_views_and_the_pages_own(page):
    own = ("Output", "Script", "Tune", "Flink", "Runs")  # and Throughput, once a query has been live
    assert {*page.tabs} == {*(view.tab for view in charts.views() if view.tab and not view.of_windows), *own}
    for tab in page.tabs:
        page.look_at(tab)
        assert page.tab == tab


@pytest.mark.parametrize("scenario", generators.scenarios())
def test_each_scenario_brings_the_join_that_suits_it(page, scenario):
    page.set({"Scenario": scenario})
    run = page.meant()
    first = re.search(r"``(\w+)\(", generators.scenarios()[scenario])[1]
    assert type(run.join).__name__ == first
    assert page.trouble == ""
    page.open("Script")
    assert run.left.name in page.code.text


@pytest.mark.parametrize("kind", kinds())
def test_every_kind_of_join_can_be_set(page, kind):
    page.set({"Scenario": kinds()[kind].scenario})
    page.set({"Kind": kinds()[kind].label})
    for how in kinds()[kind].hows:
        page.set({"How": how})
        assert page.meant().join.how == how
        assert not page.button("Run on Spark").disabled
    name = type(page.meant().join).__name__
    assert name == {"i": "IntervalJoin", "c": "CoGroup", "a": "AsOfJoin", "r": "RulesJoin", "p": "Pattern"}.get(
        kind[0], "WindowJoin"
    )
    assert SETTINGS_OF_JOINS & set(page.fields()) == {field.label for field in kinds()[kind].fields}
    assert page.field("How").disabled == (not kinds()[kind].hows)
    assert ("join type" in page.mark("How")) == (not kinds()[kind].hows)


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("Lower bound", "1 minute"),
        ("Upper bound", "soon"),
        ("Upper bound", ""),
        ("Watermark / first", "-5 seconds"),
        ("Keys", "many"),
        ("Keys", "0"),
        ("No partner", "7"),
    ],
)
def test_a_wrong_field_is_marked_and_run_waits(page, field, text):
    before = page.value(field)
    page.set({field: text})
    assert page.button("Run on Spark").disabled
    assert page.mark(field)
    assert page.trouble
    page.app.start()
    assert not page.app.busy
    assert "stream-join-workbench" not in threads()
    page.set({field: before})
    assert not page.button("Run on Spark").disabled
    assert page.mark(field) == page.trouble == ""


def test_a_run_fills_every_view(page, spark):
    page.set({"Events": 30})
    page.press("Run on Spark")
    assert page.button("Run on Spark").disabled
    assert page.field("Upper bound").disabled
    page.wait(120)
    assert page.badge.startswith("run 1, on Spark in")
    assert page.badge.endswith(" s, verified")
    assert page.progress[0] == page.progress[1] > 0
    assert page.figures["rows out"] == len(page.app.run.output)
    page.open("Output")
    assert list(page.table.df.columns) == list(page.app.run.output.columns)
    page.open("Unmatched")
    assert list(page.table.df.columns)[:5] == ["stream", "micro-batch", "fate", "reason", "would match with"]
    first, figures = page.app.run, page.band
    assert wb.preview(first.join, first.left, first.right).rows.equals(first.rows)
    page.set({"Kind": "Tumbling window join"})
    assert page.badge.startswith("Preview")
    assert page.band != figures
    assert page.since == ""  # a run of another kind of join says nothing of this one's figures
    page.open("Output")
    assert page.note.startswith("Preview (simulated): ")
    assert len(page.table.df) == page.meant().batches["output_rows"].sum() == page.figures["rows out"]
    page.run()
    assert isinstance(page.app.run.join, wb.WindowJoin)


def test_every_view_is_drawn_when_it_is_chosen(page):
    titles = set()
    for tab in page.tabs:
        page.open(tab)
        assert page.text("remark") == ""
        if "chart" in page.parts:
            titles.add(page.drawn["title"])
    assert len(titles) == 9


@pytest.mark.parametrize("kind", kinds())
def test_windows_are_offered_where_a_join_has_some(page, kind):
    kind = kinds()[kind]
    page.set({"Scenario": kind.scenario, "Kind": "Sliding window join"})
    page.open("Windows")
    assert "Sliding window join" in page.drawn["title"]
    page.set({"Kind": kind.label})
    offered = page.choice("Tracks").options
    assert ("Windows" in offered) == kind.windowed
    assert page.tab == ("Windows" if kind.windowed else "Tracks")
    assert page.drawn["title"].startswith(kind.label)
    assert page.text("remark") == ""


def test_moving_a_slider_sends_no_new_layout(page):
    page.set({"Upper bound": "20 seconds"})
    sent, spec = page.drawn["number"], page.chart.spec
    page.set({"Upper bound": "25 seconds"})
    assert page.drawn["number"] == sent + 1
    page.set({"Disorder": 0.3})
    assert page.drawn["number"] == sent + 2
    assert page.chart.spec is spec


UNDO, REDO = "Undo the last change of a setting", "Redo it"


def test_undo_and_redo(page):
    assert page.button(UNDO).disabled
    assert page.button(REDO).disabled
    page.set({"Upper bound": "20 seconds"})
    page.set({"Kind": "Sliding window join", "Size": "8 seconds"})
    page.set({"Watermark / first": "3 seconds"})
    for join, delay in (
        (wb.WindowJoin(wb.Sliding("8 s", "5 s"), how="left"), "10 seconds"),
        (wb.WindowJoin(wb.Sliding("10 s", "5 s"), how="left"), "10 seconds"),
        (wb.IntervalJoin("0 s", "20 s", how="left"), "10 seconds"),
        (wb.IntervalJoin("0 s", "30 s", how="left"), "10 seconds"),
    ):
        page.click(UNDO)
        assert page.meant().join == join
        assert page.value("Watermark / first") == delay
    assert page.button(UNDO).disabled
    for _ in range(4):
        page.click(REDO)
    assert page.button(REDO).disabled
    assert page.value("Watermark / first") == "3 seconds"
    page.click(UNDO)
    page.set({"Size": "40 seconds"})
    assert page.button(REDO).disabled


def test_quick_moves_of_one_slider_are_one_step(page, monkeypatch):
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    page.set({"How": "inner"})
    for late in (0.1, 0.2, 0.3):
        page.set({"Late": late})
    page.click(UNDO)
    assert page.value("Late") == 0.03
    assert page.value("How") == "inner"


def test_a_wrong_value_is_no_step_of_undo(page, monkeypatch):
    monkeypatch.setattr(time, "monotonic", itertools.count(step=3600).__next__)
    page.set({"Upper bound": "20 seconds"})
    page.set({"Upper bound": "soon"})
    page.set({"Upper bound": "25 seconds"})
    page.click(UNDO)
    assert page.value("Upper bound") == "20 seconds"


def test_what_is_picked_is_picked_everywhere(page, spark):
    page.set({"Events": 40})
    page.run()
    page.pick(row_id="left-3")
    assert page.chart.params["picked"] == ["left-3"]
    for _, words in page.app.run.why(3).facts[1:4]:
        assert words in page.text("story")
    fates = page.app.run.fates["left"]
    unmatched = fates.index[fates["fate"] == "unmatched"][1]
    page.open("Unmatched")
    table = page.table.df
    (place,) = (table.index == unmatched).nonzero()[0]
    page.select(int(place))
    assert page.chart.params["picked"] == [f"left-{unmatched}"]
    page.open("Timeline")
    assert page.chart.params["picked"] == [f"left-{unmatched}"]
    assert page.drawn["params"]["picked"] == [f"left-{unmatched}"]
    page.open("Unmatched")
    assert page.table.selected_rows == [place]
    page.open("Output")
    (out,) = page.table.selected_rows
    assert page.app.run.output["left_user_id"].iloc[out] == page.app.run.rows["user_id"].iloc[unmatched]
    page.pick()
    assert page.chart.params["picked"] == page.table.selected_rows == []


def test_a_picked_window_picks_its_rows(page):
    page.set({"Kind": "Tumbling window join", "Size": "20 seconds"})
    page.open("Windows")
    rows = pd.DataFrame(page.drawn["tables"]["rows"])
    page.pick(window=1)
    assert sorted(page.chart.params["picked"]) == sorted(rows.loc[rows["window"] == 1, "row_id"])
    assert "are picked" in page.text("story")


def test_the_fix_of_a_picked_row_is_applied_by_a_click(page):
    rows = page.meant().rows
    row = rows.index[(rows["fix_setting"] == "upper")][0]
    page.pick(row_id=f"left-{row}")
    (fix,) = [each for each in page.buttons() if each.startswith("Set an upper bound of ")]
    page.click(fix)
    again = page.meant()
    assert again.join.upper == wb.IntervalJoin("0 s", rows["fix_value"][row]).upper
    assert again.rows["fate"][row] == "matched"


LISTED = ("unmatched", "pending", "null_key")
NEXT, BEFORE = "The next 200 rows", "The 200 rows before"


def all_pages(page, column=None):
    """The index of all rows of the table, or a column, from the first page to the last."""
    found = []
    while True:
        shown = page.table.df
        found += (shown.index if column is None else shown[column]).tolist()
        if not page.usable(NEXT):
            break
        page.click(NEXT)
    while page.usable(BEFORE):
        page.click(BEFORE)
    return found


def test_every_row_of_a_table_is_reached(page):
    page.set({"Scenario": "orders_payments", "Events": 1000, "Upper bound": "1 second", "Late": 0.1})
    rows = page.meant().rows.sort_values("batch", kind="stable")  # as they arrived
    wanted = rows[rows["fate"].isin(LISTED)]
    assert len(wanted) > 1000
    page.open("Unmatched")
    assert page.note.startswith(
        f"Preview (simulated): rows 1 to 200 of {len(wanted):,} rows; pick one to see it in all "
    )
    assert all_pages(page) == wanted.index.tolist()
    assert all_pages(page, "reason") == wanted["reason"].tolist()


def test_rows_of_a_table_are_filtered_searched_and_sorted_in_the_kernel(page):
    page.set({"Scenario": "orders_payments", "Events": 1000, "Upper bound": "1 second", "Late": 0.1})
    page.set({"close every window at the end": False})
    rows = page.meant().rows.sort_values("batch", kind="stable")  # as they arrived
    wanted = rows[rows["fate"].isin(LISTED)]
    page.open("Unmatched")
    page.set({"Fate": "pending"})
    assert all_pages(page) == wanted.index[wanted["fate"] == "pending"].tolist()
    page.set({"Fate": "unmatched", "Side": "payments"})
    mine = wanted[(wanted["fate"] == "unmatched") & (wanted["side"] == "right")]
    assert all_pages(page) == mine.index.tolist()
    key = mine["order_id"].iloc[-1]
    page.set({"Search": key.lower()})
    assert all_pages(page) == mine.index[mine["order_id"].str.contains(key)].tolist()
    assert f"of {len(wanted):,} rows" in page.note
    page.set({"Search": "", "Fate": "any", "Side": "both", "Sort by": "paid_at"})
    ordered = wanted.sort_index().sort_values("paid_at", kind="stable")
    assert all_pages(page) == ordered.index.tolist()
    page.set({"Search": "no such text"})
    assert len(page.table.df) == 0


def test_a_row_is_picked_on_any_page(page):
    page.set({"Scenario": "orders_payments", "Events": 1000, "Upper bound": "1 second"})
    page.open("Unmatched")
    page.click(NEXT)
    row = int(page.table.df.index[7])
    page.select(7)
    side = "left" if row < len(page.meant().left) else "right"
    number = row if side == "left" else row - len(page.meant().left)
    assert page.chart.params["picked"] == [f"{side}-{number}"]
    assert page.table.selected_rows == [7]
    page.click(BEFORE)
    assert page.table.selected_rows == []


def test_every_row_of_the_output_is_reached(page):
    page.set({"Scenario": "orders_payments", "Events": 600})
    output = page.meant().output
    page.open("Output")
    assert all_pages(page) == output.index.tolist()
    page.set({"Sort by": "right_paid_at"})
    assert all_pages(page) == output.sort_values("right_paid_at", kind="stable").index.tolist()


def test_a_point_of_the_tuning_sets_the_page_to_it(page):
    page.set({"Scenario": "orders_payments", "Events": 100, "Late": 0.2})
    page.open("Tune")
    assert page.drawn["title"] == "Share kept against cost"
    assert "To keep 99.9 %" in page.text("tuned")
    run = page.meant()
    tuning = wb.tune(run.join, run.left, run.right)
    points = pd.DataFrame(page.drawn["tables"]["settings"])
    assert points["kept"].tolist() == tuning.table["kept"].round(6).tolist()
    place = int(points["kept"].argmax())
    page.pick(place=place)
    assert page.value("Watermark / first") == tuning.table["left.watermark"][place]
    assert page.value("Watermark / second") == tuning.table["right.watermark"][place]
    points = pd.DataFrame(page.drawn["tables"]["settings"])
    assert points["now"].sum() == 1
    assert points.loc[points["now"], "kept"].iloc[0] == round(tuning.table["kept"][place], 6)
    for name in page.choice("Kept against state").options:
        page.open(name)
        assert page.drawn["tables"]
    page.click(UNDO)
    assert page.value("Watermark / first") == "10 seconds"


def test_advice_is_taken_by_a_click(page):
    page.set({"Scenario": "orders_payments", "Kind": "Sliding window join", "Size": "2 minutes", "Slide": "5 seconds"})
    page.open("Tune")
    (line,) = [words for words in page.advice() if "each row is in 24 windows" in words]
    page.take_advice(line)
    assert page.meant().join.window == wb.Sliding("2 minutes", "30 seconds")
    assert not any("each row is in" in words for words in page.advice())


def test_the_scrubber_steps_through_the_run(page):
    assert page.moment == page.moments == page.player.value == page.player.max
    run = page.meant()
    page.open("Timeline")
    count = len(run.batches)
    assert page.moments == count
    sent = page.drawn["number"]
    page.scrub(-count)
    for batch in range(count):
        assert page.chart.params["moment"] == page.moment == batch
        assert page.text("moment") == str(run.at(batch))
        page.scrub(1)
    assert page.moment == page.moments
    assert page.chart.params["moment"] == 10**9
    assert page.drawn["number"] == sent
    page.open("Unmatched")
    everything = len(page.table.df)
    page.scrub(-count)
    assert len(page.table.df) < everything
    page.set({"Micro-batches": 3})
    assert page.moment == 0
    assert page.moments == len(page.meant().batches)


def test_the_badge_and_the_figures_change_together(page, spark):
    """Nothing comes to the browser between the figures of a preview or a past run, and the badge that says so."""
    wanted = {page.html("text"): "text"}
    changed = []

    def figures(change):
        if not any(side["causes"] for side in change["new"]["sides"]):  # the causes follow
            changed.append(("figures", page.badge))

    for each in page.widgets(hidden=True):
        if each.has_trait("shown"):
            each.observe(figures, "shown")
        if isinstance(each, HTML) or each.has_trait("drawing"):
            name = wanted.get(each.value, "other") if isinstance(each, HTML) else "chart"
            trait = "value" if isinstance(each, HTML) else "drawing"
            each.observe(lambda _, name=name: changed.append((name, page.badge)), trait)
    page.run()
    page.set({"Upper bound": "20 seconds"})
    page.open("Runs")
    page.click("Go back to it")
    assert page.badge.startswith("run 1, on Spark")
    page.set({"Upper bound": "3 seconds"})
    places = [place for place, (name, _) in enumerate(changed) if name == "figures"]
    preview, past = ("text", "Preview (simulated)"), changed[places[0] + 1]
    assert past[0] == "text"
    assert past[1].startswith("run 1, on Spark")
    assert [changed[place + 1] for place in places] == [past, preview, past, preview]


def test_past_runs_are_kept_gone_back_to_and_compared(page, spark):
    page.set({"Events": 40})
    page.run()
    other = page.app.run
    page.set({"Upper bound": "3 seconds", "Watermark / first": "0 seconds"})
    page.run()
    one = page.app.run
    page.open("Runs")
    assert [text.split(" · ")[0] for text, _ in page.field("Run").options] == ["2", "1"]
    assert "<th>run 2</th><th>run 1</th>" in page.html("compared")
    assert '<tr class="sjw-differs"><th>upper bound</th><td>3 s</td><td>30 s</td></tr>' in page.html("compared")
    moved = one.against(other)
    assert len(moved) == (one.rows["fate"] != other.rows["fate"]).sum() > 0
    assert page.note.startswith(f"{len(moved)} rows have another fate in run 2 than in run 1")
    table = page.table.df
    assert list(table["fate in run 1"]) == list(moved["other_fate"])
    assert list(table.columns[:3]) == ["stream", "fate in run 1", "fate in run 2"]
    assert [each for each in table.columns[:6] if each.startswith("why")] == ["why in run 1", "why in run 2"]
    assert set(table["stream"]) <= {one.left.name, one.right.name}
    page.choose_run("Run", 1)
    page.click("Go back to it")
    assert page.badge.startswith("run 1, on Spark")
    assert page.app.run is other
    assert page.meant().join == wb.IntervalJoin("0 s", "30 s", how="left")
    page.open("Output")
    assert page.table.df.equals(other.output)
    page.set({"Events": 50})
    page.run()
    page.open("Runs")
    page.choose_run("Run", 3)
    page.choose_run("against", 1)
    assert page.note.startswith("run 3 has other rows than run 1: press Go back to it")


def test_show_code_does_what_the_page_does(page):
    page.set(
        {
            "Scenario": "orders_payments",
            "Events": 60,
            "Idle": "the right side",
            "Keys": "20",
            "No partner": "0.3",
            "Kind": "Sliding window join",
            "How": "full",
            "Size": "8 seconds",
            "Slide": "3 seconds",
            "Follows": "faster side (max)",
            "close every window at the end": False,
            "Watermark / first": "4 seconds",
        }
    )
    made = page.meant()
    given = {"events": 60, "disorder": 0.1, "late": 0.03, "batches": 10, "seed": 7, "rate": 4.0}
    sides = generators.generate("orders_payments", keys=20, unmatched=0.3, idle=("right", 0.4, 0.7), **given)
    assert made.join == wb.WindowJoin(wb.Sliding("8 s", "3 s"), how="full")
    assert (made.finish, made.policy) == (False, "max")
    assert made.left.watermark == pd.Timedelta("4 s")
    assert made.left.table.equals(sides[0].table)
    assert made.right.table.equals(sides[1].table)
    counts = made.rows["fate"].value_counts()
    assert {fate: page.figures[fate] for fate in counts.index} == counts.to_dict()
    page.open("Timeline")
    assert page.tables_match(made, "tracks")


def test_the_join_is_shown_in_flinks_words_too(page):
    page.set({"Events": 20, "Kind": "Interval join", "Lower bound": "-2 seconds", "Upper bound": "5 seconds"})
    shown = page.meant()
    page.open("Script")
    page.open("Flink SQL")
    code = page.code
    assert (code.text, code.file) == (wb.flink.sql(shown.join, shown.left, shown.right), "join.sql")
    assert '<span class="k">SELECT</span>' in code.html
    page.open("Flink DataStream")
    assert (code.text, code.file) == (wb.flink.java(shown.join, shown.left, shown.right), "ImpressionsWithClicks.java")
    page.set({"Upper bound": "5000001 us"})
    assert code.text.startswith("// upper: got '5.000001 seconds'; Flink's event times have milliseconds")
    page.open("Flink SQL")
    assert code.text.startswith("-- upper: got")


def test_what_is_shown_is_written_as_a_test(page):
    page.set({"Events": 20, "Kind": "Interval join", "Lower bound": "-2 seconds", "Upper bound": "5 seconds"})
    shown = page.meant()
    page.open("Script")
    page.open("Test")
    assert (page.code.text, page.code.file) == (writing.test_of(shown), "test_join.py")
    page.set({"Events": 2_000})
    assert "too many for a test that people read; pick a row" in page.code.text
    page.open("Tracks")
    page.pick(row_id=str(RowId("left", 3)))
    page.open("Script")
    assert page.code.text == writing.test_of(page.meant(), RowId("left", 3))


def test_stop_ends_the_run_and_the_next_one_works(page, spark):
    page.set({"Events": 500})
    page.press("Run on Spark")
    page.press("Stop")
    page.wait(120)
    assert page.badge == "stopped"
    assert page.app.run is None
    assert not page.button("Run on Spark").disabled
    assert not page.field("Upper bound").disabled
    assert not active(spark)
    page.set({"Events": 20})
    page.run()
    assert page.app.run is not None


def test_a_failure_is_one_sentence_and_keeps_the_last_run(page, spark, monkeypatch):
    page.set({"Events": 20})
    page.run()
    before = page.app.run

    def broken(*_, **__):
        raise wb.QueryError("the query failed in Spark: because <b>", "Trace\n\tat x")

    with monkeypatch.context() as patch:
        patch.setattr("workbench.engine.query.start", broken)
        page.run()
    assert page.badge == "failed"
    assert "because &lt;b&gt;<details>" in page.html("trouble")
    assert page.app.run is before
    page.run()
    assert page.badge.startswith("run 2")
    assert page.trouble == ""


def test_the_trace_of_a_view_goes_when_a_view_is_drawn(page, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Result, "charts", property(lambda _: 1 / 0))
        page.open("Arrival")
        assert "division by zero" in page.trouble
        page.open("Late")
        assert "division by zero" in page.trouble
    page.open("Timeline")
    assert page.trouble == ""


def test_the_trace_of_a_table_goes_with_the_table(page, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("workbench.runs.preview.Preview.raw_output", property(lambda _: 1 / 0))
        page.open("Output")
        assert "division by zero" in page.trouble
    page.open("Watermarks")
    assert page.trouble == ""


def test_the_trace_of_a_report_goes_when_one_is_written(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def broken(*_, **__):
        raise wb.WorkbenchError("no room", "Trace\n\tat x")

    with monkeypatch.context() as patch:
        patch.setattr("workbench.runs.result.Result.report", broken)
        page.click("Report")
        assert page.trouble.startswith("no room")
        page.open("Arrival")
        assert page.trouble.startswith("no room")  # which no view mends
    page.click("Report")
    assert page.trouble == ""
    assert (tmp_path / "report.html").exists()


def test_which_question_a_delay_answers_is_said_where_it_is_named(page):
    page.set({"Scenario": "orders_payments", "Late": 0.2})
    page.open("Late")
    assert re.search(r"99% of all rows in time with [\d.]+ \w+ on both", page.drawn["subtitle"])
    page.open("Tune")
    assert page.text("tuned").startswith("To keep 99.9 % of the complete result:")


def test_the_folder_of_a_report_is_text(page, monkeypatch, tmp_path):
    folder = tmp_path / 'a"><img src=x>'
    folder.mkdir()
    monkeypatch.chdir(folder)
    page.click("Report")
    told = [each.value for each in page.widgets() if isinstance(each, HTML) and "data-file" in each.value]
    assert [plain(each) for each in told] == [f"the report is in {folder / 'report.html'}"]
    assert "<img" not in told[0]
    assert told[0].count('"') == 2


def test_what_is_wrong_with_a_setting_stays_where_a_view_is_drawn(page):
    page.set({"Upper bound": "x"})
    before = page.trouble
    assert before
    page.open("Arrival")
    assert page.trouble == before


def test_own_streams_and_dataframes(spark):
    orders, payments = generators.generate("orders_payments", events=20, watermark="7 seconds")
    frame = payments.to_pandas().drop(columns="batch")
    space = {"orders": orders, "paid": frame, "n": 3, "_hidden": frame}
    page = Page("orders", "paid", namespace=space)
    page.wait()
    assert tuple(page.field("Streams / Left").options) == ("orders", "paid")
    assert page.value("Watermark / first") == "7 seconds"
    assert (page.value("Right / Key"), page.value("Right / Event time")) == ("order_id", "paid_at")
    made = page.meant(**space)
    assert made.left.table is orders.table
    assert len(made.right) == len(frame)
    assert not page.button("Run on Spark").disabled
    page.set({"Right / Event time": "order_id"})
    assert page.mark("Right / Event time")
    assert page.button("Run on Spark").disabled


def test_two_dataframes_arrive_by_event_time_in_micro_batches():
    orders, payments = (
        each.to_pandas().drop(columns="batch") for each in generators.generate("orders_payments", events=50)
    )
    page = Page(orders, payments)
    page.wait()
    page.set({"Micro-batches": 6, "Left / Key": "order_id", "Right / Key": "order_id"})
    made = page.meant(left=orders, right=payments)
    assert made.left.batch_count == made.right.batch_count == 6
    assert "wb.frames.sliced(left, right, 6)" in page.cell()


def test_files(tmp_path):
    streams = generators.generate("orders_payments", events=50)
    for stream in streams:
        stream.write(tmp_path / stream.name)
    page = Page()
    page.wait()
    orders = {"Left files / Key": "order_id", "Left files / Event time": "ordered_at"}
    for given, marked in (
        ({"From": "files"}, ["Left files", "Right files"]),
        ({"Left files": str(tmp_path / "orders")}, ["Right files"]),
        (orders, ["Right files"]),
    ):
        page.set(given)
        assert page.button("Run on Spark").disabled
        assert page.marks() == marked
    page.set(
        {
            "Right files": str(tmp_path / "payments"),
            "Right files / Key": "order_id",
            "Right files / Event time": "method",
        }
    )
    assert page.marks() == ["Event time"]
    page.set({"Right files / Event time": "paid_at"})
    assert not page.button("Run on Spark").disabled
    assert page.meant().right.table.equals(streams[1].table)


def test_many_rows_are_counted_and_a_marked_stretch_shows_single_ones():
    sides = generators.generate("orders_payments", events=20_000, rate=100, seed=3)
    page = Page(*sides)
    page.wait()
    assert set(page.drawn["tables"]) >= {"counts"}
    assert "drag" in page.text("stretch-text")
    assert len(page.chart.drawing) < 2_000_000
    low = pd.Timestamp("2026-01-01 09:01:00").value / 1e6
    page.brush(low, low + 10_000)
    assert "counts" not in page.drawn["tables"]
    assert page.text("stretch-text") == "from 2026-01-01 09:01:00 to 2026-01-01 09:01:10"
    page.click("Show all")
    assert "counts" in page.drawn["tables"]
    assert "drag" in page.text("stretch-text")
    page.scrub(-4)
    assert sum(page.drawn["tables"]["counts"]["rows"]) < len(sides[0]) + len(sides[1])


def test_going_live(spark):
    space = {"live_orders": "a variable of the user's"}
    page = Page(namespace=space)
    page.wait()
    page.set({"Scenario": "orders_payments", "Rate": 10.0, "Upper bound": "5 seconds"})
    page.set(dict.fromkeys(DELAYS, "2 seconds"))
    page.set({"Trigger interval": "100 ms", "Speed": "1×"})
    page.press("Go live")
    wait_for(lambda: "has been running for" in page.text("text"))
    assert "trigger 100 ms" in page.text("text")
    wait_for(lambda: len(process.live_queries) and len(running_query().rates) >= 4)
    live = running_query()
    assert live.trigger == 0.1
    first = min(int(side.event_times.min()) for side in (live.run().left, live.run().right))
    wait_for(lambda: page.drawn["params"]["low"] == first / 1000)  # not 90 seconds before the newest row
    assert page.field("Upper bound").disabled
    assert not page.field("Disorder").disabled
    assert page.button("Run on Spark").disabled
    assert not page.button("Stop").disabled
    wait_for(lambda: "backpressure" in page.text("text"))
    wait_for(lambda: re.search(r"orders \d+ and payments \d+ rows/s in", page.text("text")))
    assert page.warnings() == []
    page.change({"Disorder": 0.9, "Idle": "the right side"})
    assert live.feed.settings["disorder"] == 0.9
    assert live.feed.idle == "right"
    page.look_at("Throughput")
    wait_for(lambda: "chart" in page.parts and page.drawn["title"] == "Live: orders and payments")
    silent = r"payments has brought no row in the last \d+ micro-batches, while orders brought \d+: the watermark .*"
    wait_for(lambda: page.warnings())
    (words,) = page.warnings()
    assert re.fullmatch(silent, words)
    assert "waits for payments" in words
    page.change({"Idle": "no side"})
    wait_for(lambda: not page.warnings())  # rows of payments come again
    page.change({"Idle": "the left side"})
    page.press("Pause")
    assert live.paused
    page.press("Resume")
    assert not live.paused
    assert "Pause" in page.buttons()
    page.press("Stop")
    wait_for(lambda: not live.active and not active(spark))
    wait_for(lambda: page.badge == "live, stopped")
    assert not page.button("Run on Spark").disabled
    assert live.run().mismatch == ""
    assert page.figures["rows out"] == len(live.run().output)
    assert page.app.shown.output.equals(live.run().output)
    page.wait()
    assert page.drawn["title"] == "Run 1, live: orders and payments"
    page.open("Output")
    page.field_named("As pandas").value = True
    page.wait()
    assert page.code.text == "from workbench.app import current\n\nrun = current().shown\nshown = run.output\nshown"
    page.click("Keep as variables")
    assert {"live_orders_2", "live_payments"} <= set(space)
    assert space["live_orders"] == "a variable of the user's"
    assert page.meant(**space).left.table is space["live_orders_2"].table
    assert page.badge.startswith("Preview")
    assert page.button("Go live").disabled
    page.set({"Upper bound": "1 second"})
    page.run()
    assert page.app.run.left.table is space["live_orders_2"].table
    page.open("Throughput")
    assert "chart" not in page.parts  # the run on show was never live
    told = "Run 1 was live, of orders and payments: go back to it among the Runs to see how it kept up."
    assert page.text("remark") == told
    page.open("Runs")
    page.choose_run("Run", 1)
    page.click("Go back to it")
    page.open("Throughput")
    assert page.drawn["title"] == "Run 1, live: orders and payments"


def test_why_recorded_rows_do_not_go_live_is_said_beside_the_button():
    left, right = generators.generate("orders_payments", events=20)
    page = Page(left, right)
    page.wait()
    assert page.button("Go live").disabled
    assert page.text("why-not") == "needs a scenario"
    assert "Choose a scenario" in page.button("Go live").tooltip
    assert "Speed" not in [each.description for each in page.widgets() if hasattr(each, "description")]
    page.set({"From": "a scenario"})
    assert page.usable("Go live")
    assert page.text("why-not") == ""
    assert "generators write" in page.button("Go live").tooltip
    page.set({"From": "files"})
    assert page.text("why-not")


@pytest.mark.parametrize("count", [1, 3])
def test_a_key_leads_from_no_picked_row_to_the_first_or_last_that_was_not_matched(count):
    left = pd.DataFrame({"key": [f"k{each}" for each in range(count + 1)], "at": pd.Timestamp("2026-01-01 10:00")})
    page = Page(left, left.head(1), namespace={})  # k0 has a partner
    page.wait()
    assert page.figures["unmatched"] == count

    def press(key):
        browser = next(each for each in page.widgets(hidden=True) if each.has_trait("pressed"))
        browser.pressed = {"key": key, "count": browser.pressed.get("count", 0) + 1}
        page.wait()
        return page.app.kept().picked

    assert page.app.kept().picked == ()
    assert press("p") == (("left", count),)
    assert press("n") == (("left", 1),)  # behind the last is the first
    assert press("p") == (("left", count),)
    page.pick()  # between the marks: no row
    assert page.app.kept().picked == ()
    assert press("n") == (("left", 1),)


def test_rules_are_set_and_withdrawn_while_a_query_runs(page, spark):
    page.set({"Scenario": "readings_thresholds", "Rate": 10.0})
    page.set({"Kind": "Rules join by arrival"})
    page.press("Go live")
    assert page.tab == "Tracks"
    wait_for(lambda: len(process.live_queries) and len(running_query().rates) >= 2)
    live = running_query()

    wait_for(lambda: "Set rule" in page.buttons())

    def entry(words):
        names = ("placeholder", "tooltip")
        return next(each for each in page.widgets() if words in [getattr(each, name, None) for name in names])

    def told(words):
        return any(words in plain(each.value) for each in page.widgets() if isinstance(each, HTML))

    page.press("Set rule")
    assert told("give a value for sensor_id")
    entry("sensor_id").value = live.run().left.to_pandas()["sensor_id"].iloc[0]
    entry("rule").value = "any"
    assert entry("The column that is compared").value == "temperature"
    entry("The column that is compared").value = "humidity"
    entry("How it is compared").value = ">="
    entry("value").value = "low"
    page.press("Set rule")
    assert told("value holds double values, and 'low' is not one")
    entry("value").value = "-1"
    page.press("Set rule")
    assert told("any is set to humidity >= -1 from the next micro-batch on")
    wait_for(lambda: "any" in set(live.run().right.to_pandas()["rule_id"]))
    page.press("Withdraw")
    wait_for(lambda: (live.run().right.to_pandas()["rule_id"] == "any").sum() == 2)
    page.press("Stop")
    wait_for(lambda: not live.active and not active(spark))
    assert live.run().mismatch == ""


def test_a_page_that_is_taken_away_stops_its_query(page, spark):
    page.chart.views = 1
    page.press("Go live")
    wait_for(lambda: process.live_queries)
    live = running_query()
    page.chart.views = 0
    wait_for(lambda: not live.active and not active(spark))


def test_a_closed_page_is_no_longer_the_current_one(page):
    assert current() is page.app
    page.close()
    assert current() is not page.app


def test_a_closed_page_leaves_no_widget():
    """JupyterLab asks a kernel for all widgets when it is reloaded: a part of one that is closed fails them all."""
    before = set(widget._instances)
    page = Page(App())
    for tab in list(page.tabs):
        page.look_at(tab)
    for source in ("this notebook", "files", "Kafka topics", "a scenario"):
        page.set({"From": source})
    for kind in kinds().values():
        page.set({"Kind": kind.label})
    page.close()
    left = [each for name, each in widget._instances.items() if name not in before]
    assert not left


def test_closing_a_live_page_leaves_nothing(page, spark):
    page.press("Go live")
    wait_for(lambda: process.live_queries)
    close_all()
    assert not active(spark)
    wait_for(lambda: not threads(), 5)


def test_a_feed_that_fails_is_told_on_the_page(page, spark):
    page.press("Go live")
    wait_for(lambda: process.live_queries and len(running_query().rates))
    running_query().feed.step = lambda seconds: 1 / 0
    wait_for(lambda: page.badge == "failed")
    assert "division by zero" in page.trouble
    page.set({"Upper bound": "20 seconds"})
    assert page.badge.startswith("Preview")
    assert page.trouble == ""


def test_closing_leaves_no_thread(spark):
    app = App()
    app.start()
    close_all()
    assert current() is None
    assert not threads()
    assert not active(spark)


def test_the_magic(shell, capsys):
    shell.run_line_magic("load_ext", "workbench")
    shell.run_line_magic("workbench", "")
    assert current() is not None
    shell.user_ns |= dict(zip(("orders", "payments"), generators.generate("orders_payments", events=5), strict=True))
    shell.run_line_magic("workbench", "orders payments")
    page = Page(current())
    page.wait()
    assert page.meant(**shell.user_ns).left.table is shell.user_ns["orders"].table
    known = "the notebook's streams and DataFrames are: orders, payments"
    with pytest.raises(wb.ArgumentError, match=f"%workbench: got 'nope'; {known}"):
        shell.run_line_magic("workbench", "nope payments")
    with pytest.raises(wb.ArgumentError, match="right: got None"):
        shell.run_line_magic("workbench", "orders")
    capsys.readouterr()
    told = shell.run_cell("%workbench nope payments")
    assert not told.success
    assert capsys.readouterr().out.strip().splitlines() == [f"ArgumentError: %workbench: got 'nope'; {known}"]
    shell.run_line_magic("pinfo", "%workbench")
    assert "Open the stream-join workbench" in capsys.readouterr().out
    shell.run_line_magic("reload_ext", "workbench")
    shell.run_line_magic("unload_ext", "workbench")
    assert current() is None
    assert "workbench" not in shell.magics_manager.magics["line"]


def test_a_cheaper_setting_is_told_only_where_it_differs_from_what_is_set(page):
    page.set({"Scenario": "orders_payments", "Events": 100, "Late": 0.2})
    page.open("Tune")
    run = page.meant()
    cheaper = wb.tune(run.join, run.left, run.right).best(0.999).cheaper
    assert "the next cheaper" in page.text("tuned")
    delays = {f"Watermark / {each}": cheaper[f"{side}.watermark"] for each, side in zip(ORDINALS, SIDES, strict=True)}
    page.set(delays)
    assert "recommended" in page.text("tuned")
    assert "the next cheaper" not in page.text("tuned")


def test_tuning_answers_what_is_asked_for(page):
    page.set({"Scenario": "orders_payments", "Events": 100, "Late": 0.2})
    page.open("Tune")
    run = page.meant()
    tuning = wb.tune(run.join, run.left, run.right)
    fewest = int(tuning.table["state_peak"].min())
    page.set({"Keep at least, %": "50", "Rows in state, at most": str(fewest + 20)})
    best = tuning.best(0.5, most_rows=fewest + 20)
    assert f"To keep 50 % of the complete result, with at most {fewest + 20} rows in state:" in page.text("tuned")
    found = page.html("tuned")
    assert f"<td>{best.row['kept']:.3%}</td><td>{best.row['state_peak']:,}</td>" in found
    page.press("Apply")
    assert [page.value(f"Watermark / {place}") for place in ("first", "second")] == list(best.settings.values())
    assert all("delay" not in each for each in page.advice())
    page.set({"Keep at least, %": "", "Time in state, at most": "60 s"})
    held = f"with at most {fewest + 20} rows in state, holding no row longer than 60 s:"
    assert f"To keep as much as possible, {held}" in page.text("tuned")
    page.set({"Rows in state, at most": "1"})
    assert "no setting stays within at most 1 row in state" in page.text("tuned")
    page.set({"Rows in state, at most": str(fewest), "Time in state, at most": "", "Keep at least, %": "100"})
    told = page.text("tuned")
    assert re.search(r"; a watermark delay of .* s on \w+, a watermark delay of .* s on \w+ keeps most", told)
    page.set({"Rows in state, at most": "", "Keep at least, %": "", "Time in state, at most": "60"})
    assert "To keep as much as possible, holding no row longer than 60 s:" in page.text("tuned")
    page.set({"Rows in state, at most": "many"})
    assert "write a number of rows, such as 10000, or nothing" in page.text("tuned")
    page.set({"Rows in state, at most": "", "Time in state, at most": "soon"})
    assert "time in state: got 'soon'" in page.text("tuned")
    page.set({"Time in state, at most": "", "Keep at least, %": "much"})
    assert "write a share in percent" in page.text("tuned")


def test_the_tab_tune_says_where_there_is_nothing_to_tune(page):
    page.set({"Scenario": "readings_thresholds", "Kind": "Rules join by arrival"})
    page.open("Tune")
    assert "no late or waiting rows, so there is nothing to tune" in page.text("tuned")
    page.set({"Kind": "Rules join"})
    assert "To keep 99.9 %" in page.text("tuned")


def test_a_tuning_that_fails_leaves_no_recommendation_of_the_run_before(page, monkeypatch):
    page.open("Tune")
    assert "To keep 99.9 %" in page.text("tuned")

    def fails(*_):
        raise wb.TooLargeError("too many pairs")

    monkeypatch.setattr(model, "watermarks", fails)  # which only a tuning asks by this name
    page.set({"Upper bound": "7 seconds"})
    for tab in ("Arrival", "Tune"):
        page.open(tab)
    assert "To keep 99.9 %" not in page.text("tuned")
