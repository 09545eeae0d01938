"""Several pages in one notebook: each has its own past runs, and lists those of the others; runs are named and kept."""

from __future__ import annotations

import pandas as pd
import pytest
from page import Page, wait_for

import generators
import workbench as wb
from workbench import process
from workbench.app import App, close_all, current


@pytest.fixture
def space():
    """The variables of a notebook with two streams."""
    names = ("orders", "payments")
    return dict(zip(names, generators.generate("orders_payments", events=40, late=0.2, seed=5), strict=True))


@pytest.fixture
def page(space):
    opened = Page("orders", "payments", namespace=space)
    opened.wait()
    return opened


def titles(page, field="Run"):
    return [text for text, _ in page.field(field).options]


def choose(page, field, words):
    page.set({field: next(text for text in titles(page, field) if text.startswith(words))})


def test_a_second_page_leaves_the_first_and_its_history_alone(page, space, spark):
    page.run()
    first = page.app.run
    second = Page("orders", "payments", namespace=space)
    second.wait()
    assert process.pages == [page.app, second.app]
    assert page.app.widget.comm is not None
    assert page.app.run is first
    page.open("Runs")
    second.open("Runs")
    assert [each.split(" · ")[0] for each in titles(page)] == ["1"]
    assert [each.split(" · ")[0] for each in titles(second)] == ["page 1: 1"]
    second.set({"Watermark / first": "0 seconds"})
    second.run()
    page.wait()
    assert [each.split(" · ")[0] for each in titles(second)] == ["1", "page 1: 1"]
    assert [each.split(" · ")[0] for each in titles(page)] == ["1", "page 2: 1"]
    choose(page, "against", "page 2: 1")
    assert "<th>run 1</th><th>page 2, run 1</th>" in page.html("compared")
    moved = first.against(second.app.run)
    assert page.note.startswith(f"{len(moved)} rows have another fate in run 1 than in page 2, run 1")
    choose(page, "Run", "page 2: 1")
    page.click("Go back to it")
    assert page.app.run is second.app.run
    assert page.value("Watermark / first") == "0 seconds"
    second.close()
    page.wait()
    page.open("Runs")
    assert [each.split(" · ")[0] for each in titles(page)] == ["1"]


def test_pages_are_all_closed(space):
    for _ in range(3):
        App("orders", "payments", namespace=space)
    assert [each.number for each in process.pages] == [1, 2, 3]
    close_all()
    assert process.pages == []
    assert current() is None


def test_the_magic_opens_one_page_a_cell(shell, monkeypatch, space, tmp_path):
    shell.run_line_magic("load_ext", "workbench")
    shell.user_ns |= space
    cell = {"metadata": {"cellId": "one"}}
    monkeypatch.setattr(shell, "get_parent", lambda: cell, raising=False)
    shell.run_line_magic("workbench", "orders payments")
    first = current()
    cell["metadata"]["cellId"] = "two"
    shell.run_line_magic("workbench", "orders payments")
    second = current()
    assert process.pages == [first, second]
    kept = wb.preview(wb.IntervalJoin("0 s", "5 s"), *space.values()).save(tmp_path / "kept")
    try:
        other = Page(second)
        other.wait()
        other.open("Runs")
        other.set({"Folder": str(kept)})
        other.click("Load")
        past = other.app.runs
        assert len(past) == 1
        shell.run_line_magic("workbench", "")  # the same cell again: its page is replaced, its history goes on
        assert process.pages == [first, current()]
        assert current() is not second
        assert current().runs == past
    finally:
        shell.run_line_magic("unload_ext", "workbench")


def test_the_magic_names_the_folder_of_runs(shell, space, spark, tmp_path):
    shell.run_line_magic("load_ext", "workbench")
    shell.user_ns |= space
    try:
        with pytest.raises(wb.ArgumentError, match="folder: got 'no/such'; it is no folder of this machine"):
            shell.run_line_magic("workbench", "--folder no/such")
        shell.run_line_magic("workbench", f"orders payments --folder '{tmp_path}'")
        page = Page(current())
        page.wait()
        page.run()
        assert [each.name for each in tmp_path.iterdir()] == [page.app.run.execution.scratch.path.name]
        assert f'folder="{tmp_path}"' in page.cell()
    finally:
        shell.run_line_magic("unload_ext", "workbench")


def test_a_run_is_named_kept_and_loaded_on_another_page(page, space, spark, tmp_path):
    page.run()
    run = page.app.run
    page.open("Runs")
    page.set({"Name": "baseline"})
    assert titles(page)[0].startswith("1 · baseline · Interval join, ")
    page.set({"Folder": str(tmp_path / "kept")})
    page.click("Keep")
    assert page.note.startswith(f"run 1, baseline is saved in {tmp_path / 'kept'}; wb.load(")
    assert wb.load(tmp_path / "kept").name == "baseline"
    close_all()
    later_space = {}
    later = Page(namespace=later_space)
    later.wait()
    later.open("Runs")
    later.set({"Folder": str(tmp_path / "kept")})
    later.click("Load")
    assert titles(later)[0].startswith("1 · baseline · Interval join, ")
    assert titles(later)[0].endswith(" · loaded")
    later.click("Go back to it")
    assert later.badge == "run 1, baseline, on Spark, loaded"
    assert not later.stale
    assert later.meant(**later_space).join == run.join
    later.open("Output")
    pd.testing.assert_frame_equal(later.table.df, run.output)
    (tmp_path / "strange").mkdir()
    later.open("Runs")
    later.set({"Folder": str(tmp_path / "strange")})
    later.click("Load")
    assert "there is no run.json in it" in later.note
    (tmp_path / "strange" / "mine.txt").write_text("mine")
    later.click("Keep")
    assert "that folder holds other files" in later.note


def test_a_report_is_written_under_a_name_that_is_free(page, spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "report.html").write_text("mine")
    page.click("Report")
    assert page.text("note") == f"the report is in {tmp_path / 'report-2.html'}"
    assert "<h2>Tuning</h2>" not in (tmp_path / "report-2.html").read_text()
    assert "Preview" in (tmp_path / "report-2.html").read_text()
    page.run()
    page.open("Tune")
    page.click("Report")
    written = (tmp_path / "report-3.html").read_text()
    assert "Run on Spark" in written
    assert "<h2>Tuning</h2>" in written
    assert (tmp_path / "report.html").read_text() == "mine"


def test_a_live_run_enters_the_runs_when_it_ends(spark):
    space = {}
    page = Page(namespace=space)
    page.wait()
    page.set({"Scenario": "orders_payments", "Upper bound": "5 seconds"})
    page.press("Go live")
    wait_for(lambda: process.live_queries and next(iter(process.live_queries)).done > 3)
    page.press("Stop")
    wait_for(lambda: page.badge == "live, stopped")
    page.wait()
    (record,) = page.app.runs
    assert record.run.mismatch == ""
    page.open("Runs")
    assert titles(page)[0].endswith(" · live")
    page.set({"Upper bound": "1 second"})
    page.click("Go back to it")
    assert page.badge == "run 1, on Spark, live"
    assert page.app.run is record.run
    assert page.value("Upper bound") == "5 seconds"
    assert page.meant(**space).left.table is record.run.left.table
    page.run()  # the same rows again, under settings of its own
    assert len(page.app.runs) == 2
