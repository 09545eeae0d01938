"""Binder: what repo2docker makes of the folder; its steps in a fresh root; JupyterLab there with 2 GB of memory.

Not carried out, because there is no Docker here: repo2docker's own base (Ubuntu, and the Python of ``runtime.txt`` from
conda-forge). Its Dockerfile is looked at instead, and Debian's Python 3 stands in its place.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import image
import nbformat
import parts
import pytest
from lab import CHROMIUM, options, page, serving

ROOT = Path(__file__).parents[2]
GIGABYTE = 1024**3


@pytest.fixture(scope="module")
def dockerfile():
    python = parts.real(parts.repo2docker)
    command = [python, "-m", "repo2docker", "--no-build", "--debug", "."]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    return output


def test_repo2docker_takes_what_the_folder_says(dockerfile):
    installed = re.findall(r"^apt-get install --yes --no-install-recommends (.*) && \\", dockerfile, re.M)
    assert [each.split() for each in installed] == [["openjdk-17-jre-headless"]]
    assert 'pip install --no-cache-dir -r "binder/requirements.txt"' in dockerfile
    assert re.search(r"environment-2epy-2d3-2e12", dockerfile)  # the Python of runtime.txt
    assert "RUN ./binder/postBuild" in dockerfile
    assert 'ENV R2D_ENTRYPOINT="${REPO_DIR}/binder/start"' in dockerfile
    steps = [
        dockerfile.index(each)
        for each in ("openjdk-17", 'binder/requirements.txt"\n', "RUN ./binder/postBuild", "R2D_ENTRYPOINT")
    ]
    assert steps == sorted(steps)


def test_the_folder_holds_nothing_more():
    assert {each.name for each in (ROOT / "binder").iterdir()} == {
        "apt.txt", "postBuild", "requirements.txt", "runtime.txt", "start",
    }  # fmt: skip


def test_the_badge_opens_the_first_notebook_in_jupyterlab():
    (link,) = re.findall(
        r"\[!\[[^\]]*\]\(https://mybinder.org/badge_logo.svg\)\]\(([^)]+)\)", (ROOT / "README.md").read_text()
    )
    home = re.search(r'Homepage = "https://github.com/([^"]+)"', (ROOT / "pyproject.toml").read_text())[1]
    assert link == f"https://mybinder.org/v2/gh/{home}/HEAD?urlpath=lab/tree/notebooks/1_main_job.ipynb"
    assert (ROOT / link.split("lab/tree/")[1]).exists()


@pytest.fixture(scope="module")
def binder():
    """The image, made by the folder's steps."""
    parts.real(image.check)
    with image.image() as made:
        yield made


@pytest.mark.family("in Binder's image")
@pytest.mark.timeout(1500)
def test_java_knows_how_little_memory_there_is(binder):
    code = "import workbench as wb; print(wb.spark()._jvm.java.lang.Runtime.getRuntime().maxMemory())"
    with parts.real(lambda: image.Limit(2 * GIGABYTE)) as limit:
        command = binder.command(f'./binder/start python -c "{code}"')
        done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limit.join)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) < 0.7 * GIGABYTE


@pytest.mark.family("in Binder's image")
@pytest.mark.timeout(1500)
def test_the_first_run_neither_downloads_nor_compiles(binder):
    """There is no network, and nothing new in the caches afterwards."""
    code = (
        "import generators, workbench as wb; from workbench.app import App; "
        "run = wb.run(wb.IntervalJoin('0 s', '15 s'), *generators.generate('orders_payments', events=50)); "
        "app = App(); app.wait(); run.charts.timeline(); print(len(run.output))"
    )
    caches = [binder.folder / image.HOME[1:], binder.folder / image.PYTHON[1:]]

    def kept():
        return {file for each in caches for file in each.rglob("*") if file.is_file() and ".ipython" not in file.parts}

    before = kept()
    command = binder.command(f'./binder/start python -c "{code}"', alone=True)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) > 20
    assert not kept() - before


@pytest.fixture(scope="module")
def served(binder):
    """JupyterLab in the image, with 2 GB: its address, and the limit."""
    assert (binder.folder / image.HOME[1:] / ".cache" / "stream-join-workbench").is_dir()  # what postBuild kept
    port = parts.free_port()
    words = f"./binder/start jupyter lab {' '.join(options(port))}"
    limit = parts.real(lambda: image.Limit(2 * GIGABYTE))
    with limit, serving(binder.command(words), port, limit.kill, preexec_fn=limit.join) as address:
        yield address, limit


@pytest.mark.family("in Binder's image")
@pytest.mark.timeout(1500)
@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("[1-5]_*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs_in_the_image_with_two_gigabytes(served, path, capsys):
    address, limit = served
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    with page(address, f"notebooks/{path.name}") as opened:
        limit.peak = 0
        opened.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
        opened.wait_for_function(DONE, arg=len(cells), timeout=240_000)
        assert opened.evaluate(ERRORS) == []
        assert limit.killed() == 0
        opened.evaluate("window.jupyterapp.commands.execute('notebook:shutdown-kernel')")
    with capsys.disabled():
        print(f"\nwith 2 GB, {path.stem} had {limit.peak / GIGABYTE:.2f} GB in use at most")


DONE = """(count) => {
    const cells = window.jupyterapp.shell.currentWidget.content.model.cells;
    let done = 0;
    for (let i = 0; i < cells.length; i++) {
        const cell = cells.get(i);
        if (cell.type !== 'code') continue;
        if (cell.outputs.toJSON().some(each => each.output_type === 'error')) return true;
        if (cell.executionCount !== null && cell.executionState !== 'running') done++;
    }
    const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel;
    return done === count && kernel?.status === 'idle';
}"""
ERRORS = """() => {
    const cells = window.jupyterapp.shell.currentWidget.content.model.cells;
    const found = [];
    for (let i = 0; i < cells.length; i++) {
        const cell = cells.get(i);
        if (cell.type !== 'code') continue;
        for (const each of cell.outputs.toJSON())
            if (each.output_type === 'error') found.push(`${each.ename}: ${each.evalue}`);
    }
    return found;
}"""
