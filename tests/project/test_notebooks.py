"""The notebooks run from their first cell to their last."""

from __future__ import annotations

import os
import shutil

import nbformat
import pytest
import run_notebooks


@pytest.mark.slow
@pytest.mark.drawn(9)
@pytest.mark.parametrize("path", run_notebooks.NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, request, monkeypatch):
    if path.stem.startswith("7") and (shutil.which("mvn") or os.environ.get("CI")):
        monkeypatch.setenv("KAFKA_BROKERS", request.getfixturevalue("broker").brokers)
    done = run_notebooks.execute(path)
    code = [cell for cell in done.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    noise = [each for cell in code for each in cell.outputs if each.get("name") == "stderr"]
    assert not noise
    kinds = {kind for cell in code for each in cell.outputs for kind in each.get("data", {})}
    assert "image/png" in kinds


@pytest.mark.parametrize("path", run_notebooks.NOTEBOOKS, ids=lambda path: path.stem)
def test_saved_notebook_is_small_and_shows_its_results(path):
    assert path.stat().st_size < 1_000_000
    saved = nbformat.read(path, as_version=4)
    assert any("image/png" in each.get("data", {}) for cell in saved.cells for each in cell.get("outputs", []))
    assert "widgets" not in saved.metadata


def test_the_first_has_ten_cells_and_checks_are_hidden():
    for path in run_notebooks.NOTEBOOKS:
        cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        checks = [cell for cell in cells if "check" in cell.metadata.get("tags", [])]
        assert checks
        for cell in cells:
            assert ("assert " in cell.source) <= (cell in checks)
        for cell in checks:
            assert "remove-cell" in cell.metadata.tags
            assert cell.metadata.jupyter.source_hidden
        if path.stem == "1_main_job":
            assert len(cells) - len(checks) == 10
