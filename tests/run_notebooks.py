"""Runs the notebooks from their first cell to their last. ``python tests/run_notebooks.py`` saves what they show."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

import nbformat
import parts
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
_PICTURES = "import altair\naltair.renderers.enable('png', scale_factor=1)\n"  # small, and shown wherever a notebook can be read


@contextlib.contextmanager
def _startup(folder, code):
    """IPython runs `code` before a notebook's first cell."""
    startup = Path(folder) / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00.py").write_text(code)
    before = os.environ.get("IPYTHONDIR")
    os.environ["IPYTHONDIR"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["IPYTHONDIR"]
        else:
            os.environ["IPYTHONDIR"] = before


def execute(path):
    """The notebook with the outputs of a fresh run; an error in a cell is raised."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder, _startup(folder, _PICTURES):
        client = NotebookClient(
            notebook,
            timeout=300,
            store_widget_state=False,
            record_timing=False,
            resources={"metadata": {"path": str(FOLDER)}},
        )
        client.execute()
    return notebook


def save(path):
    """Run a notebook and keep its outputs, but for the app's widgets, in whose place its summary and picture stay."""
    notebook = execute(path)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [
                each for each in cell.outputs if "application/vnd.jupyter.widget-view+json" not in each.get("data", {})
            ]
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    nbformat.write(notebook, path)


@contextlib.contextmanager
def kafka():
    """A broker for the notebook of your own data, where there can be one."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(parts.MissingError):
            os.environ["KAFKA_BROKERS"] = stack.enter_context(parts.broker()).brokers
        yield
        os.environ.pop("KAFKA_BROKERS", None)


if __name__ == "__main__":
    with kafka():
        for each in NOTEBOOKS:
            print(each.name, flush=True)
            save(each)
