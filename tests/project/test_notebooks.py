"""The notebooks run from their first cell to their last."""

from __future__ import annotations

import nbformat
import pytest
import run_notebooks


@pytest.mark.parametrize("path", run_notebooks.NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path):
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
