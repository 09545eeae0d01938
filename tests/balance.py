"""Shares the tests of a run out to its processes, and says at its end where the time went."""

from __future__ import annotations

import time
from collections import Counter, defaultdict

import pytest
import tiers
from timing import Durations, calibrate, family, is_page, split
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

LARGE = 45.0
"""Seconds from which on a file's tests are shared out by their functions."""
COLLECTED = pytest.StashKey[list[str]]()
"""Of a run that records durations, and that names no single tests: all that there are in its files."""


def unit(nodeid: str, durations: Durations) -> str:
    """What is run by one process, one test after the other: a file, or a function of a file that takes long.

    A file whose fixtures take most of its time stays whole, since each process makes them anew; so does a page, whose
    examples follow each other.
    """
    file, test = split(nodeid)
    if is_page(file):
        return file
    tests = durations.files.get(file, {})
    calls = sum(phases[1] for phases in tests.values())
    return f"{file}::{family(test)}" if calls > LARGE and durations.setups(file) < calls / 4 else file


def ordered(items: list[pytest.Item], durations: Durations) -> list[pytest.Item]:
    """The tests with those of the longest units first, so that no process is left with one at the end."""
    units: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        units[unit(item.nodeid, durations)].append(item)
    seconds = {name: sum(durations.seconds(item.nodeid) for item in some) for name, some in units.items()}
    files = defaultdict(float)
    for name, spent in seconds.items():
        files[split(name)[0]] += spent + durations.setups(split(name)[0])
    by_length = sorted(units, key=lambda name: (-files[split(name)[0]], name))
    return [item for name in by_length for item in units[name]]


class Balanced(LoadScopeScheduling):
    """Gives each process the longest unit that is left."""

    def __init__(self, config: pytest.Config, log: object, durations: Durations) -> None:
        config.option.loadscopereorder = False  # the tests come in order already
        super().__init__(config, log)
        self._durations = durations

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid, self._durations)


class Clock:
    """Of a run's first process: measures each test, ends the run at its limit, and tells where the time went."""

    def __init__(self, config: pytest.Config, known: Durations) -> None:
        self._config, self._known = config, known
        self.measured = Durations(calibration=calibrate() if config.option.calibrate else 0.0)
        self._needs: dict[str, str] = {}
        self._begin = time.monotonic()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: WorkerController) -> None:
        """All processes of a run choose the same tests, by the speed that its first one measured."""
        node.workerinput["calibration"] = self.measured.calibration

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.measured.add(report.nodeid, report.when, report.duration)
        found = next((name for name in tiers.PARTS if name in report.keywords), None)
        self._needs[report.nodeid] = found or ("spark" if "spark" in report.keywords else "python")

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self) -> None:
        limit = self._config.option.minutes
        if limit and time.monotonic() - self._begin > limit * 60:
            self._session.shouldstop = f"the run had not ended after {limit:g} minutes, and is stopped"

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if len(self._needs) < 100:
            return
        write = terminalreporter.write_line
        seconds = {
            f"{file}::{test}": sum(phases)
            for file, tests in self.measured.files.items()
            for test, phases in tests.items()
        }
        terminalreporter.section("the slowest 25 tests")
        for name in sorted(seconds, key=seconds.__getitem__, reverse=True)[:25]:
            write(f"{seconds[name]:7.1f} s  {name}")
        terminalreporter.section("time by what tests need")
        spent, count = Counter(), Counter(self._needs.values())
        for name, need in self._needs.items():
            spent[need] += seconds[name]
        for need in sorted(count, key=lambda each: -spent[each]):
            write(f"{spent[need] / 60:7.1f} min  {need}: {count[need]:,} tests")
        minutes = (time.monotonic() - self._begin) / 60
        line = f"{minutes:7.1f} min  the run, in {tiers.PROCESSES} processes"
        if self.measured.calibration:
            now, then = self.measured.calibration, self._known.calibration
            line += f"; calibration {now:.1f} s"
            if then:
                line += f", {now / then:.2f} times that of tests/durations.json, so some {minutes * then / now:.1f} min there"
        write(line)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if self._config.option.record_durations:
            self._known.take(self.measured)
            self._known.keep(self._config.stash[COLLECTED])
            self._known.write()
        if self._config.option.tier in ("all", "nightly") and exitstatus == 0:
            import touched

            touched.note_passed()
