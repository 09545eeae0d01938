"""The project's commands: ``python3 dev.py lab`` opens the workbench, ``test`` runs the quick tests.

``test --changed`` runs the tests of what imports a change; ``test --all`` tests of everything, those included that need
a browser, a server or a second engine; ``nightly`` every case of every test, and hunts for long. ``durations`` measures
every test anew; ``hunt`` searches for mismatches between model and Spark; ``matrix`` runs the quick tests on every
Python and Java; ``docs`` builds the documentation's site, ``bench`` measures.
"""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
HOME = ROOT / os.environ.get("WORKBENCH_VENV", ".venv")
BIN = HOME / ("Scripts" if os.name == "nt" else "bin")
STAMP = HOME / "installed"
TWO = ["-n", "2", "--dist", "loadscope"]  # pytest-xdist: two processes, each with a Spark session; see tests/balance.py
MINUTES = 60  # of tests, after which `test` takes no further one; one that hangs is killed ten minutes later


def run(*command: str | Path, minutes: float | None = None) -> None:
    """Run a command in the project's folder; end with its exit code if it fails, or if it takes too long."""
    try:
        done = subprocess.run([str(word) for word in command], cwd=ROOT, check=False, timeout=minutes and 60 * minutes)
    except subprocess.TimeoutExpired:
        sys.exit(f"the tests had not ended after {minutes:.0f} minutes, and were killed")
    if done.returncode:
        sys.exit(done.returncode)


def environment() -> None:
    """Make the virtual environment, once for each state of pyproject.toml; see to Java."""
    if sys.version_info < (3, 11):  # noqa: UP036 - run by whatever python3 is
        sys.exit(f"Python 3.11 or later is needed; this is {sys.version.split()[0]}")
    wanted = (ROOT / "pyproject.toml").read_text()
    if STAMP.exists() and STAMP.read_text() == wanted:
        java()
        return
    print(f"making the environment in {HOME.name} …", flush=True)
    venv.create(HOME, with_pip=True, clear=True)
    run(BIN / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-e", ".[dev]")
    java()
    print("keeping Spark's classes for quick starts …", flush=True)
    run(BIN / "python", "-m", "workbench.prepare")
    STAMP.write_text(wanted)


def java() -> None:
    """Say in one line which Java is missing, if one is."""
    run(BIN / "python", "-m", "workbench.session")


def lab() -> None:
    """Open JupyterLab on the notebook of the main job."""
    run(BIN / "jupyter", "lab", "notebooks/1_main_job.ipynb")


def test() -> None:
    """Lint, types, layers, and the quick tests; with ``--changed`` or ``--all`` others. Other words go to pytest."""
    words = sys.argv[2:]
    tier = "all" if "--all" in words else "changed" if "--changed" in words else "quick"
    lint()
    words = [each for each in words if each != f"--{tier}"]
    pytest("--tier", tier, "--calibrate", "--minutes", MINUTES, *words, minutes=MINUTES + 10)


def nightly() -> None:
    """Every test, every kill of the fault-injection tests, every version of Spark, a long search for mismatches."""
    seed = str(datetime.date.today().toordinal())
    lint()
    run(BIN / "python", "tests/hunt.py", "--cases", "5000", "--seed", seed)
    run(BIN / "python", "tests/hunt.py", "--cases", "500", "--seed", seed, "--spark", "all")
    run(BIN / "python", "tests/fault_lab.py", "--kills", "60", "--seed", seed)
    run(BIN / "python", "tests/fault_lab.py", "--kills", "30", "--seed", seed, "--join", "as-of")
    pytest("--tier", "nightly", "--every-kill", *sys.argv[2:])


def durations() -> None:
    """Every case of every test, measured; their table goes into tests/durations.json."""
    pytest("--tier", "nightly", "--calibrate", "--record-durations", *sys.argv[2:])


def hunt() -> None:
    """A search for mismatches between the model and Spark, of one version, of several, or of all."""
    run(BIN / "python", "tests/hunt.py", *sys.argv[2:])


def matrix() -> None:
    """The quick tests on every Python and Java of .github/workflows/tests.yml that is found."""
    run(BIN / "python", "tests/matrix.py", *sys.argv[2:])


def lint() -> None:
    """Lint, types, layers."""
    run(BIN / "ruff", "check", ".")
    run(BIN / "ruff", "format", "--check", ".")
    run(BIN / "mypy")
    run(BIN / "lint-imports", "--no-cache")  # its cache goes by times of files, and misses quick edits


def pytest(*words: str | int, minutes: float | None = None) -> None:
    """Tests, and last what pytest says of them; killed if they have not ended after so many minutes."""
    run(BIN / "python", "-m", "pytest", *TWO, *map(str, words), minutes=minutes)


def bench() -> None:
    """All benchmarks; their table goes into the README."""
    run(BIN / "python", "tests/benchmarks", *sys.argv[2:])


def docs() -> None:
    """The documentation's site, in build/docs; a warning is an error."""
    run(BIN / "python", "docs/refresh.py")
    run(BIN / "python", "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "docs", "build/docs")
    print(ROOT / "build" / "docs" / "index.html")


COMMANDS = {
    "lab": lab, "test": test, "nightly": nightly, "durations": durations, "hunt": hunt, "matrix": matrix, "docs": docs,
    "bench": bench,
}  # fmt: skip

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(f"usage: python3 dev.py {'|'.join(COMMANDS)}")
    environment()
    COMMANDS[sys.argv[1]]()
