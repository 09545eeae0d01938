"""The page on a job: what it shows, what other settings would give, and the way back."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace

import jobs
import pytest
import written
from page import Page

import workbench as wb
from workbench import charts
from workbench.app import close_all


@pytest.fixture(autouse=True)
def closed():
    yield
    close_all()


@pytest.fixture
def page(job):
    opened = Page("mine", namespace={"mine": job})
    opened.wait()
    return opened


def counted(result):
    return {name.replace("_", " "): count for name, count in result.rows.fate.value_counts().items()}


def test_it_opens_on_the_job_as_it_ran(page, job):
    assert page.badge == "mine, as it ran"
    assert page.trouble == ""
    assert page.value("From") == "a job that runs"
    assert page.value("Watermark / first") == "3 seconds"
    assert page.value("Upper bound") == "6 seconds"
    figures = page.figures
    assert {name: figures[name] for name in counted(job)} == counted(job)
    assert figures["rows out"] == len(job.output)
    (name,) = (view.name for view in charts.views() if view.tab == page.tab)
    assert page.tables_match(job, name)
    notes = "".join(page.notes())
    assert "paid >= amount" in notes
    assert f"verified: {job.comparison.model.sum():,} values of its logs and its state, no difference" in notes
    assert "Preview (simulated)" not in notes
    page.open("Script")
    page.open("Notebook cell")
    assert page.code.text == "mine.charts.timeline()\n"


def test_other_settings_are_previews_of_the_job_and_lead_back(page, job):
    page.set({"Watermark / first": "30 seconds"})
    page.wait()
    seen = job.under(left_watermark="30 seconds")
    assert page.badge == "Preview (simulated)"
    assert {name: page.figures[name] for name in counted(seen)} == counted(seen)
    page.open("Script")
    page.open("Notebook cell")
    made = {"mine": job}
    lines = page.code.text.replace("changed.against(mine)", "moved = changed.against(mine)")
    exec(lines, made)
    assert made["moved"].equals(seen.against(job))
    page.set({"Watermark / first": "3 seconds"})
    page.wait()
    assert page.badge == "mine, as it ran"
    assert len(page.app.runs) == 1


def test_what_the_variable_holds_now(job):
    """A list that changes leaves what was typed; another job under the same name is shown as it ran."""
    space = {"mine": job}
    page = Page("mine", namespace=space)
    page.wait()
    page.set({"Watermark / first": "30 seconds"})
    page.wait()
    space["another"] = job
    page.press("Look again")
    page.wait()
    assert page.value("Watermark / first") == "30 seconds"
    assert tuple(page.field("Job").options) == ("mine", "another")
    space["mine"] = replace(job)
    page.press("Look again")
    page.wait()
    assert page.value("Watermark / first") == "3 seconds"
    assert page.badge == "mine, as it ran"
    page.set({"From": "a scenario"})
    page.wait()
    assert "paid >= amount" not in "".join(page.notes())


def test_the_code_of_rows_runs_in_a_fresh_cell(page, job):
    page.open("Output")
    page.field_named("As pandas").value = True
    page.wait()
    space = {"mine": job}
    exec(page.code.text, space)
    assert space["shown"].equals(job.output)
    page.set({"Watermark / first": "0 seconds"})
    exec(page.code.text, space)
    assert space["shown"].equals(page.app.shown.output)


def test_tuning_is_that_of_the_job(page, job):
    page.open("Tune")
    assert page.trouble == ""
    (view, *_) = charts.tuning_views()
    expected = job.tune().charts.drawing(view.name).columns
    assert page.drawn["tables"] == json.loads(json.dumps(expected))


def test_a_run_on_spark_is_held_against_the_job(page, job):
    assert page.since == ""  # nothing else has been shown
    page.run()
    assert page.trouble == ""
    assert page.app.run is not None
    assert "this run does not apply (paid >= amount)" in "".join(page.notes())
    assert page.since == "since run 1: and (paid >= amount) → without (paid >= amount)"
    page.open("Runs")
    page.choose_run("Run", 2)
    page.choose_run("against", 1)
    page.wait()
    assert "rows have another fate" in page.note  # those that paid less than the amount
    page.choose_run("Run", 1)
    page.press("Go back to it")
    page.wait()
    assert page.badge == "mine, as it ran"
    page.open("Timeline")
    (name,) = (view.name for view in charts.views() if view.tab == page.tab)
    assert page.tables_match(job, name)


def test_rows_that_fail_what_else_the_join_asks_for_are_told_from_near_misses(page, job):
    failed = job.rows[
        job.causes.str.fullmatch(r"no row of (orders|payments) within the bounds satisfies \(paid >= amount\)")
    ]
    assert len(failed)
    assert all(failed.reason.str.contains("but none satisfies"))
    page.open("Unmatched")
    assert "none of which satisfies (paid >= amount)" in page.drawn["subtitle"]
    drawn = sum(page.drawn["tables"]["rows"]["rows"])
    near = job.rows[(job.rows.fate == "unmatched") & job.causes.str.contains("nearest row of its key")]
    assert drawn == len(near)


def test_a_page_on_a_job_exports_its_script_and_offers_no_examples(page, job, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "Late data" not in page.buttons()
    page.open("Script")
    page.set({"Folder": "exported"})
    page.press("Export")
    page.wait()
    assert "Written: " in "".join(page.notes())
    assert {each.name for each in (tmp_path / "exported").iterdir()} == {"join.py", "join_data"}
    kept = {each.name for each in (tmp_path / "exported" / "join_data").iterdir() if each.is_dir()}
    assert kept == {"orders", "payments"}


def test_a_page_on_some_keys_of_a_job_exports_its_script_without_rows(job, session, folder, tmp_path, monkeypatch):
    joined = written.enough(*jobs.streams(session, folder))
    page = Page(wb.open_job(joined, job.checkpoint.address, keys=["a"]))
    page.wait()
    monkeypatch.chdir(tmp_path)
    page.open("Script")
    page.set({"Folder": "exported"})
    page.press("Export")
    page.wait()
    assert "without the rows, which are a part" in "".join(page.notes())
    assert [each.name for each in (tmp_path / "exported").iterdir()] == ["join.py"]


def test_a_report_of_a_job(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page.press("Report")
    page.wait()
    assert page.trouble == ""
    assert "report.html" in "".join(page.notes())
    assert "paid" in (tmp_path / "report.html").read_text()


def test_micro_batches_of_a_cut_log_have_spark_s_numbers(spark, folder, tmp_path):
    own = jobs.session(spark, streaming_minBatchesToRetain="2")
    joined = written.enough(*jobs.streams(own, folder))
    cut = wb.open_job(joined, jobs.run(joined, tmp_path / "checkpoint").checkpoint)
    first, last = cut.batches.batch.iloc[[0, -1]]
    assert first > 0
    page = Page(cut)
    page.wait()
    assert f"number {first} of the job" in "".join(page.notes())
    assert f"{first} to {last} of the job" in page.text("moment")
    page.scrub(-1)
    assert page.text("moment").startswith(f"micro-batch {last}: ")
    assert str(cut.at(last)).startswith(f"micro-batch {last}: ")
    with pytest.raises(wb.ArgumentError, match=f"micro-batches {first} to {last}"):
        cut.at(0)
    page.open("Output")
    assert page.figures["rows out"] == len(cut.output)


def test_wrong_names(shell, job):
    shell.user_ns.update({"mine": job, "number": 3})
    shell.run_line_magic("load_ext", "workbench")
    shell.run_line_magic("workbench", "mine")
    for name in ("number", "nothing"):
        with pytest.raises(wb.ArgumentError, match="or a job"):
            shell.run_line_magic("workbench", name)
    shell.user_ns["whole"] = wb.Chain((job, job))
    words = "got 'whole'; it is a chain of 2 joins: open one of them, with one = whole.joins[0] and then %workbench one"
    with pytest.raises(wb.ArgumentError, match=re.escape(words)):
        shell.run_line_magic("workbench", "whole")
    page = Page()
    page.set({"From": "a job that runs"})
    assert "this notebook has no job yet" in page.mark("Job")


def test_a_report_says_that_it_is_of_a_job(job, tmp_path):
    text = job.report(tmp_path / "report.html").read_text(encoding="utf-8")
    head = text.partition("</header>")[0]
    assert '<span class="badge ran">Job</span>' in head
    assert f"checkpoint {job.checkpoint.address}, micro-batches 0 to " in head
    assert "verified: watermark of each micro-batch" in head
    assert "simulated, without Spark" not in text
    for each in job.advise():
        assert each.remedy in html.unescape(text)
