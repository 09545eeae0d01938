"""A page comes back as its notebook keeps it: settings, view and picked rows."""

from __future__ import annotations

import json

import nbformat
import pytest
from page import Page

import generators
import workbench as wb
from workbench.app import App, close_all, kept_in_notebook

ORDERS, PAYMENTS = generators.generate("orders_payments", events=40, seed=3)
SPACE = {"orders": ORDERS, "payments": PAYMENTS}


@pytest.fixture(autouse=True)
def closed():
    yield
    close_all()


def page_of(*names):
    page = Page(App(*names, namespace=SPACE))
    page.wait()
    return page


def notebook_with(monkeypatch, folder, data, cell="one"):
    """A saved notebook of this kernel, with an output in a cell."""
    output = nbformat.v4.new_output("display_data", data)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("%workbench", id=cell, outputs=[output])])
    nbformat.write(book, folder / "a.ipynb")
    monkeypatch.setenv("JPY_SESSION_NAME", str(folder / "a.ipynb"))


def test_settings_view_and_picked_rows_come_back(monkeypatch, tmp_path):
    before = page_of()
    before.set(
        {"Scenario": "orders_payments", "Events": 80, "Rate": 3.0, "Kind": "Session window join", "Gap": "2 seconds"}
    )
    before.set({"Watermark / first": "7 seconds"})
    before.open("Late")
    before.pick(row_id="left-3")
    bundle = json.loads(json.dumps(before.app.kept().bundle()).replace("3.0", "3"))  # as JavaScript writes it
    notebook_with(monkeypatch, tmp_path, {**bundle, "text/html": "<p>shown</p>"})
    after = page_of()
    after.app.come_back(kept_in_notebook("one"))
    after.wait()
    assert after.meant().join == before.meant().join
    assert after.cell() == before.cell()
    assert after.tab == "Late"
    assert after.app.kept() == before.app.kept()
    assert after.app.kept().picked == (("left", 3),)
    assert not after.usable("Undo the last change of a setting")  # nobody set what a new page opens with
    after.set({"Gap": "3 seconds"})
    after.press("Undo the last change of a setting")
    after.wait()
    assert after.app.kept().settings == before.app.kept().settings


def test_what_tune_was_asked_comes_back(monkeypatch, tmp_path):
    before = page_of("orders", "payments")
    before.open("Tune")
    before.set({"Keep at least, %": "95", "Rows in state, at most": "40", "Time in state, at most": "1 minute"})
    chart = before.choice("Kept against state").options[-1]
    before.open(chart)
    notebook_with(monkeypatch, tmp_path, before.app.kept().bundle())
    after = page_of("orders", "payments")
    after.app.come_back(kept_in_notebook("one"))
    after.wait()
    assert after.tab == "Tune"
    for name in ("Keep at least, %", "Rows in state, at most", "Time in state, at most"):
        assert after.value(name) == before.value(name)
    assert after.choice(chart).value == chart
    assert after.drawn["title"] == before.drawn["title"]
    assert after.html("tuned") == before.html("tuned")


def test_a_row_that_was_picked_among_those_of_a_fate_comes_back_with_the_filter(monkeypatch, tmp_path):
    before = page_of("orders", "payments")
    before.filter("left", "unmatched")
    assert before.app.kept().picked == ()  # the filter's own
    before.pick(row_id="left-3")
    before.set({"Watermark / first": "9 seconds"})  # which draws all again
    notebook_with(monkeypatch, tmp_path, before.app.kept().bundle())
    after = page_of("orders", "payments")
    after.app.come_back(kept_in_notebook("one"))
    after.wait()
    assert after.app.kept().picked == (("left", 3),)
    assert after.app.kept().filter == {"side": "left", "fate": "unmatched", "cause": ""}
    assert after.chart.params["picked"] == ["left-3"]
    after.filter()
    assert after.app.kept().picked == (("left", 3),)
    assert after.app.kept().filter is None


def test_what_was_picked_is_not_forgotten_while_there_is_nothing_to_show(monkeypatch, tmp_path):
    before = page_of("orders", "payments")
    before.filter("left", "unmatched")
    before.pick(row_id="left-3")
    kept = before.app.kept()
    again = Page(App("orders", "payments", namespace=SPACE | {"orders": ORDERS.to_pandas().iloc[:0]}))
    again.wait()
    assert again.app.shown is None
    again.app.come_back(kept)
    again.wait()
    assert (again.app.kept().picked, again.app.kept().filter) == (kept.picked, kept.filter)


def test_a_page_of_a_job_that_is_not_there_yet_shows_nothing_of_other_streams():
    before = page_of()
    before.set({"From": "a job that runs"})
    assert before.badge == "shown for the previous settings"
    assert not before.usable("Report")  # which would be of other settings than the page has
    after = page_of()
    assert after.usable("Report")
    after.app.come_back(before.app.kept())
    after.wait()
    assert after.badge == "nothing to show yet"
    assert (after.tabs, after.app.shown, after.figures) == ((), None, {})
    assert not after.stale
    assert not after.usable("Report")
    assert not after.usable("Run on Spark")
    assert (
        """such as import workbench as wb; job = wb.open_job(joined, checkpoint="…"), then Look again"""
        in after.mark("Job")
    )
    after.set({"From": "a scenario"})
    assert after.badge == "Preview (simulated)"
    after.set({"Watermark / first": "soon"})
    assert after.badge == "shown for the previous settings"


def test_another_cell_another_notebook_or_none_brings_nothing(monkeypatch, tmp_path):
    notebook_with(monkeypatch, tmp_path, page_of().app.kept().bundle())
    assert kept_in_notebook("one") is not None
    assert kept_in_notebook("two") is None
    assert kept_in_notebook(None) is None
    (tmp_path / "a.ipynb").write_text("no notebook")
    assert kept_in_notebook("one") is None
    (tmp_path / "a.ipynb").unlink()
    assert kept_in_notebook("one") is None


@pytest.mark.parametrize(
    "changed",
    [
        {"streams": None},
        {"settings": ["events"]},
        {"view": 5},
        {"view": "no such view"},
        {"picked": [["left"], ["up", 1], ["left", "1"], ["left", True], ["left", 10**9], ["left", -1], 7]},
        {"picked": None},
        {"filter": 3},
        {"filter": {"side": "up", "fate": "late", "cause": ""}},
        {"filter": {"side": "left", "fate": "late", "cause": ["<b>"]}},
        {"filter": {"side": "left", "fate": "unmatched", "cause": "no such cause"}},
        {"settings": {"events": "many", "kind": "no kind", "how": 4, "rate": None, "idle_part": [1], "nothing": 1}},
        {"settings": {"left.watermark": "soon <b>"}},
        {"runs": 5},
        {"runs": [7, {}, {"number": "1", "title": "<b>", "settings": {}}, {"number": 1, "title": 4, "settings": {}}]},
        {"runs": [{"number": 1, "title": "<b>", "settings": {"events": "many"}, "repairs": 3}]},
    ],
)
def test_what_somebody_has_changed_does_no_harm(monkeypatch, tmp_path, changed):
    page = page_of()
    [(mime, found)] = page.app.kept().bundle().items()
    notebook_with(monkeypatch, tmp_path, {mime: found | changed})
    page.app.come_back(kept_in_notebook("one"))
    page.wait()
    assert page.tabs or page.trouble
    page.set({"Watermark / first": "5 seconds", "Events": 30})
    assert page.tabs
    assert not page.trouble


def test_a_page_of_other_streams_begins_anew(monkeypatch, tmp_path):
    page = page_of()
    page.set({"Scenario": "orders_payments", "Upper bound": "3 seconds"})
    notebook_with(monkeypatch, tmp_path, page.app.kept().bundle())
    other = page_of("orders", "payments")
    assert other.app.kept().streams == ("orders", "payments")
    other.app.come_back(kept_in_notebook("one"))
    other.wait()
    assert other.value("Upper bound") == "15 seconds"


def test_variables_that_are_gone_leave_what_is_there(monkeypatch, tmp_path):
    page = page_of("orders", "payments")
    page.set({"Upper bound": "3 seconds"})
    [(mime, found)] = page.app.kept().bundle().items()
    settings = found["settings"] | {"left.variable": "gone"}
    notebook_with(monkeypatch, tmp_path, {mime: found | {"settings": settings}})
    again = page_of("orders", "payments")
    again.app.come_back(kept_in_notebook("one"))
    again.wait()
    assert again.value("Upper bound") == "3 seconds"
    assert again.meant(**SPACE).left.name == "orders"


def test_runs_of_the_kernel_before_are_listed_and_made_again_from_their_settings(monkeypatch, tmp_path, spark):
    before = page_of()
    before.set({"Scenario": "orders_payments", "Events": 40, "Upper bound": "3 seconds"})
    before.run()
    before.set({"Events": 50, "Upper bound": "9 seconds"})
    before.run()
    titles = [each.title for each in before.app.kept().runs]
    assert len(titles) == 2
    notebook_with(monkeypatch, tmp_path, before.app.kept().bundle())
    kept = kept_in_notebook("one")
    before.close()
    after = page_of()
    after.app.come_back(kept)
    after.wait()
    after.open("Runs")
    told = "The kernel before made 2 runs, whose rows are gone with it: set the page to the settings of a run, and Run "
    assert told + "on Spark makes it again." in after.notes()
    assert [each for each in titles if each in after.notes()] == titles
    after.click("Settings of run 1")
    assert after.value("Upper bound") == "3 seconds"
    assert after.value("Events") == 40
    after.run()
    assert [each.number for each in after.app.runs] == [3]  # no number stands for two runs
    assert after.app.runs[0].run.join == wb.IntervalJoin("0 seconds", "3 seconds", how="left")
    assert [each.number for each in after.app.kept().runs] == [1, 2, 3]


def test_a_page_whose_cell_is_run_again_has_its_runs_and_tells_of_no_kernel_before(spark):
    before = page_of()
    before.set({"Events": 40})
    before.run()
    after = page_of()
    after.app.come_back(before.app.kept())
    after.app.take_place_of(before.app)
    after.wait()
    after.open("Runs")
    assert [each.number for each in after.app.runs] == [1]
    assert not any("kernel before" in each for each in after.notes())


@pytest.mark.parametrize("secret", ["s3a://me:pass@bucket/a", "jdbc:x?password=pass", "Token = pass"])
def test_no_secret_is_kept(secret):
    page = page_of()
    page.set({"Watermark / first": secret})
    assert "pass" not in json.dumps(page.app.kept().bundle())


def test_files_and_their_repairs_come_back(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    rows = ORDERS.to_pandas().drop(columns="batch")
    rows.assign(ordered_at=rows["ordered_at"].dt.strftime("%d/%m/%Y %H:%M:%S")).to_csv("orders.csv", index=False)
    PAYMENTS.to_pandas().drop(columns="batch").to_csv("payments.csv", index=False)
    before = page_of()
    before.set({"From": "files"})
    before.set({"Left files": "orders.csv", "Right files": "payments.csv"})
    before.wait()
    while offered := [each for each in before.buttons() if each.startswith("Parse")]:
        before.click(offered[0])
    assert not before.trouble
    notebook_with(monkeypatch, tmp_path, before.app.kept().bundle())
    after = page_of()
    after.app.come_back(kept_in_notebook("one"))
    after.wait()
    assert after.cell() == before.cell()
    assert after.figures == before.figures
    assert after.app.kept() == before.app.kept()
