"""How long each test takes: the table in ``tests/durations.json``, and a command that tells a slow hour from a slow test."""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import multiprocessing
import statistics
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

TABLE = Path(__file__).with_name("durations.json")
PHASES = ("setup", "call", "teardown")
_OWN_SETUP = 2.0
_TELLING, _ENOUGH, _BUSY = 0.5, 20, 1.25
"""Seconds from which on a test tells how fast a machine is, how many it takes, and from when on it is called busy."""
UNKNOWN = 1.0
"""Seconds that a test is taken to last of which the table knows neither another case nor the file."""


@dataclass
class Durations:
    """Seconds of setup, call and teardown of each test, by file and test, and of the calibration in the same run."""

    calibration: float = 0.0
    files: dict[str, dict[str, list[float]]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path = TABLE) -> Durations:
        if not path.exists():
            return cls()
        table = json.loads(path.read_text())
        return cls(table["calibration"], table["files"])

    def on_machine(self, calibration: float) -> Durations:
        """The same on a machine that takes so long for the calibration; as they are on one that is no slower."""
        slower = calibration / self.calibration if calibration > self.calibration > 0 else 1.0
        files = {
            file: {test: [slower * each for each in phases] for test, phases in tests.items()}
            for file, tests in self.files.items()
        }
        return Durations(max(calibration, self.calibration), files)

    def write(self, path: Path = TABLE) -> None:
        """One line a test, so that a change of the table can be read."""
        files = {
            name: {test: [round(each, 2) for each in phases] for test, phases in sorted(tests.items())}
            for name, tests in sorted(self.files.items())
        }
        lines = [
            f" {json.dumps(name)}: {{\n"
            + ",\n".join(f"  {json.dumps(test)}: {json.dumps(phases)}" for test, phases in tests.items())
            + "\n }"
            for name, tests in files.items()
        ]
        path.write_text(f'{{"calibration": {round(self.calibration, 2)}, "files": {{\n' + ",\n".join(lines) + "\n}}\n")

    def add(self, nodeid: str, phase: str, seconds: float) -> None:
        file, test = split(nodeid)
        self.files.setdefault(file, {}).setdefault(test, [0.0, 0.0, 0.0])[PHASES.index(phase)] = seconds

    def take(self, newer: Durations) -> None:
        """What another run has measured, in place of what was known; files that are gone go.

        Other work on the machine makes all tests longer: what is new is divided by how much longer those took that were
        known, and these stay as they were.
        """
        pace = self.pace(newer)
        for file, tests in newer.files.items():
            known = self.files.setdefault(file, {})
            for test, phases in tests.items():
                if pace == 1.0 or test not in known:
                    known[test] = [each / pace for each in phases]
        self.calibration = newer.calibration if pace == 1.0 and newer.calibration else self.calibration
        root = Path(__file__).parents[1]
        self.files = {file: tests for file, tests in self.files.items() if (root / file).exists()}

    def keep(self, nodeids: Iterable[str]) -> None:
        """Of the files of these tests no other ones: what has another name by now, or is gone, goes."""
        there: dict[str, set[str]] = {}
        for nodeid in nodeids:
            file, test = split(nodeid)
            there.setdefault(file, set()).add(test)
        for file in there.keys() & self.files.keys():
            self.files[file] = {test: phases for test, phases in self.files[file].items() if test in there[file]}

    def pace(self, newer: Durations) -> float:
        """How much longer another run's tests took than the same did before; 1 where that is little, or not known."""
        ratios = [
            sum(phases) / sum(before)
            for file, tests in newer.files.items()
            for test, phases in tests.items()
            if (before := self.files.get(file, {}).get(test)) and sum(before) >= _TELLING
        ]
        found = statistics.median(ratios) if len(ratios) >= _ENOUGH else 1.0
        return found if found > _BUSY else 1.0

    def seconds(self, nodeid: str) -> float:
        """Of one test; of one that is not known the mean of its family's cases, or else of its file's tests.

        Of its setup two seconds at most: the first test to use a fixture bears its cost, whichever that is.
        """
        file, test = split(nodeid)
        known = self.files.get(file, {})
        if test in known:
            return _spent(known[test])
        name = family(test)
        cases = [_spent(phases) for each, phases in known.items() if family(each) == name]
        cases = cases or [_spent(phases) for phases in known.values()]
        return sum(cases) / len(cases) if cases else UNKNOWN

    def setups(self, file: str) -> float:
        """What the fixtures of a file took."""
        return sum(phases[0] + phases[2] for phases in self.files.get(file, {}).values())


def _spent(phases: list[float]) -> float:
    setup, call, teardown = phases
    return min(setup, _OWN_SETUP) + call + teardown


def split(nodeid: str) -> tuple[str, str]:
    """A test's file, and its name in the file."""
    file, _, test = nodeid.partition("::")
    return file, test


def is_page(file: str) -> bool:
    """Whether a file's tests are the examples of a page or a module."""
    return file.endswith(".md") or file.startswith(("workbench/", "generators/"))


def family(test: str) -> str:
    """A test's name without its case."""
    return test.partition("[")[0]


def calibrate() -> float:
    """Seconds that a fixed piece of work takes on two processes at once: about one on an idle machine.

    It has nothing of this project in it, so that a whole run's time can be read as so many times this.
    """
    begin = time.monotonic()
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        list(pool.map(_work, range(2)))
    return time.monotonic() - begin


def _work(number: int) -> int:
    digest = str(number).encode()
    table: dict[bytes, int] = {}
    for count in range(900_000):
        digest = hashlib.sha256(digest).digest()
        table[digest[:3]] = table.get(digest[:3], 0) + count
    return len(sorted(table.items(), key=lambda entry: entry[1]))


if __name__ == "__main__":
    print(f"{calibrate():.2f}")
