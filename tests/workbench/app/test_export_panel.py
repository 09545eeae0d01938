"""Exporting from the page: places, a plain script or a project, each file seen before it is written."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pyarrow.parquet as pq
import pytest
from page import Page

import workbench as wb
from workbench import script
from workbench.app import close_all


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    opened = Page()
    opened.set({"Events": 30})
    opened.open("Script")
    yield opened
    close_all()


def texts(page, label):
    return [each if isinstance(each, str) else each[0] for each in page.field(label).options]


def test_the_script_is_shown_as_it_is_written(page, tmp_path):
    assert page.code.text == wb.preview(**arguments(page)).script
    page.set({"Sink": "kafka", "Dead letters": "parquet"})
    assert "a plain script has none" in page.mark("Dead letters")
    assert not page.usable("Export")
    page.set({"Dead letters": "none"})
    shown = page.code.text
    assert "kafka_options" in shown
    page.set({"Folder": "out"})
    page.click("Export")
    assert (tmp_path / "out" / "join.py").read_text() == shown
    assert (tmp_path / "out" / "join_data").is_dir()
    files = [each for each in (tmp_path / "out" / "join_data").rglob("[!.]*") if each.is_file()]
    assert page.notes()[-1] == (
        f"Written: {tmp_path / 'out' / 'join.py'}, with the rows of the streams in join_data ({len(files)} files)"
    )


def arguments(page):
    shown = page.meant()
    return {name: getattr(shown, name) for name in ("join", "left", "right", "finish", "policy")}


def test_sources_sinks_and_dead_letters_say_what_they_promise(page):
    assert (texts(page, "Source"), texts(page, "Sink")) == (list(script.SOURCES), list(script.SINKS))
    assert texts(page, "Dead letters") == ["none", *script.DEAD_LETTERS]
    assert "each row exactly once" in page.notes()[-1]
    page.set({"Sink": "kafka", "Dead letters": "parquet"})
    assert "each row at least once" in page.notes()[-1]
    assert "Parquet" in page.notes()[-1]
    for label in ("Source", "Sink", "Dead letters", "Export as", "Folder", "Preview of"):
        assert page.field(label).tooltip.endswith(".")


def test_a_project_is_seen_file_by_file_and_needs_a_run(page, tmp_path, spark):
    page.set({"Export as": "a project"})
    assert "run it first" in page.mark("Export as")
    assert not page.usable("Export")
    assert page.button("Export").tooltip == page.mark("Export as")
    seen = {}
    for name in texts(page, "Preview of"):
        page.set({"Preview of": name})
        seen[name] = page.code.text
        assert page.code.file == name
    assert {"main.py", "join.py", "operations.py", "tests/test_join.py", "README.md", "pyproject.toml"} <= set(seen)
    assert not (tmp_path / "job").exists()
    page.run()
    assert page.mark("Export as") == ""
    page.click("Export")
    for name, text in seen.items():
        assert (tmp_path / "job" / name).read_text() == text
    assert pq.read_table(tmp_path / "job" / "tests" / "fixture" / "expected.parquet").num_rows


def test_what_the_workbench_did_not_write_stays(page, tmp_path):
    mine = tmp_path / "job" / "join.py"
    mine.parent.mkdir()
    mine.write_text("print('mine')")
    page.click("Export")
    assert "the workbench did not write that file" in page.mark("Folder")
    assert mine.read_text() == "print('mine')"
    for wrong, words in (("", "name a folder"), ("no/such/place", "there is no folder"), ("job/join.py", "is a file")):
        page.set({"Folder": wrong})
        page.click("Export")
        assert words in page.mark("Folder")
    page.set({"Folder": "new"})
    page.click("Export")
    assert page.mark("Folder") == ""
    page.click("Export")
    assert page.mark("Folder") == ""


def test_a_place_that_does_not_go_is_said_beside_it(tmp_path):
    start = pd.Timestamp("2026-01-01 10:00")
    frame = pd.DataFrame({"k": ["a", "b"], "a t": [start, start + pd.Timedelta("1 s")]})
    page = Page("one", "two", namespace={"one": frame, "two": frame})
    page.wait()
    page.open("Script")
    page.set({"Source": "kafka-avro"})
    assert "Avro has no field named 'a t'" in page.mark("Source")
    page.set({"Source": "kafka"})
    assert page.mark("Source") == ""
    assert "kafka" in page.code.text
    close_all()


@pytest.mark.engine
def test_an_exported_script_runs(page, tmp_path):
    page.click("Export")
    done = subprocess.run(
        [sys.executable, "job/join.py", "--drain", "--output", "o", "--checkpoint", "c"],
        capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert pq.read_table(tmp_path / "o").num_rows
