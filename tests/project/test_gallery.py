"""The gallery: in each report is to be found what the page says, and its notebook makes the join again."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import lab
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

from gallery import EXHIBITS  # noqa: E402 - a script beside the pages

NAMES = sorted(EXHIBITS)
EACH = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.engine] * (EXHIBITS[name].code is not None)) for name in NAMES]
)


@pytest.fixture
def exhibit(name, request):
    """One of the gallery; with the session of the run, if it is a job."""
    if EXHIBITS[name].code is not None:
        request.getfixturevalue("spark")
    return EXHIBITS[name]


@EACH
def test_what_is_to_be_found_is_there(exhibit):
    reasons = exhibit.result().rows["reason"]
    assert reasons.str.contains(exhibit.found, regex=False).any()


@EACH
def test_each_has_a_report_a_notebook_and_a_script(site, name, exhibit, monkeypatch):
    folder = site / "gallery" / name
    report = (folder / "report.html").read_text()
    assert len(report) < 1_500_000
    assert not re.search(r'<(?:script|link|img)[^>]+(?:src|href)="https?:', report)
    compile((folder / "join.py").read_text(), "join.py", "exec")
    monkeypatch.chdir(folder)  # as a notebook runs where its files are
    cells = json.loads((folder / "look.ipynb").read_text())["cells"]
    space = {}
    for cell in cells:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code" and "%workbench" not in text:
            exec(compile(text, "cell", "exec", dont_inherit=True), space)  # not with this module's own future
    assert space["result"].rows["reason"].tolist() == exhibit.result().rows["reason"].tolist()


@pytest.mark.browser
def test_reports_open_without_a_fault(site):
    faults = []
    with lab.chromium() as browser:
        for name in NAMES:
            page = browser.new_page()
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.goto((site / "gallery" / name / "report.html").as_uri())
            page.wait_for_selector("#timeline canvas, #timeline svg")
            page.close()
    assert not faults
