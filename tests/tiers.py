"""Which tests a run takes. A tier is a command of ``dev.py``: quick, changed, all, nightly.

A *family* is a test function with all its cases, or several functions, of any files, that name one (`family`), or those
of a folder whose cases take longer than `DEAR` each: mostly they start a process, a browser or a query of their own. No
tier but the quick one and that of a change leaves a family out: what a run does not take are cases of families that take
long. Which ones it takes is drawn, the same from commit to commit (`DRAW`), so that a run that fails tells of the change;
the nightly run takes all. Of what a change touches a whole run takes the other cases, too.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest
from timing import Durations, family, is_page, split

PARTS = ("browser", "server", "engine", "slow")
"""Markers of tests that need more than Python and the tests' own Spark session."""
SPARK = frozenset({"spark"})
"""Fixtures that start the tests' Spark session."""


class Test(Protocol):
    """What a tier asks of a test; pytest's items have it."""

    nodeid: str

    def get_closest_marker(self, name: str) -> pytest.Mark | None: ...


@dataclass(frozen=True)
class Tier:
    """How much of each family a run takes.

    Attributes
    ----------
    family
        Seconds that the cases of a family take; of a family that takes longer cases are drawn, at least one.
    parts
        Whether tests with real parts are among it.
    spark
        Whether all tests of the Spark session are, or one of each file.
    longest
        Seconds that a test takes at most that is among it.
    """

    family: float
    parts: bool = True
    spark: bool = True
    longest: float = float("inf")


TIERS = {
    "quick": Tier(family=0.4, parts=False, spark=False, longest=2.0),
    "changed": Tier(family=1.5),
    "all": Tier(family=1.5),
    "nightly": Tier(family=float("inf")),
}
CHANGED = 8 * 60.0
"""Seconds that a run of what a change touches takes at most, by the table of durations and two processes."""
WHOLE = 19 * 60.0
"""The same of a whole run, with those cases of what a change touches that the draw has left out."""
PROCESSES = 2
DRAW = 1
"""Draws the cases of every tier but the nightly one. The next number draws others, for when those have passed at night."""
DEAR = 3.0
"""Seconds from which on a test is drawn among those of its folder that take as long."""
SHARE = 0.1
"""How much of the time of a folder's dear tests a run takes, at least one of them."""


@dataclass(frozen=True)
class Choice:
    """Which tests a run takes, and what it says of the others."""

    taken: set[str]
    words: list[str]


def choose(
    tests: Sequence[Test], tier: str, seed: int, durations: Durations, distance: Callable[[str], float | None]
) -> Choice:
    """The tests that a tier takes.

    Parameters
    ----------
    tests
        All that were collected.
    tier
        Its name.
    seed
        Draws the cases.
    durations
        How long each took when it was last measured.
    distance
        How far a test's file is from what a change touches, in imports: 0 if the change is in the package that it tests, 1 if
        that imports a module which changed; None if it has nothing to do with it.
    """
    choice = _chosen(tests, tier, seed, durations, distance)
    return Choice(_with_whole_pages(tests, choice.taken), choice.words)


def _with_whole_pages(tests: Sequence[Test], taken: set[str]) -> set[str]:
    """Without the examples of a page or a module of which not all are taken: they follow each other."""
    pages = {file for file in (split(test.nodeid)[0] for test in tests) if is_page(file)}
    cut = {split(test.nodeid)[0] for test in tests if test.nodeid not in taken} & pages
    return {nodeid for nodeid in taken if split(nodeid)[0] not in cut}


def _chosen(
    tests: Sequence[Test], tier: str, seed: int, durations: Durations, distance: Callable[[str], float | None]
) -> Choice:
    if tier != "nightly":
        tests = [test for test in tests if not test.get_closest_marker("nightly")]
    if tier == "changed":
        return _changed(tests, seed, durations, distance)
    of_tier = [test for test in tests if TIERS[tier].parts or not any(map(test.get_closest_marker, PARTS))]
    of_tier = [test for test in of_tier if durations.seconds(test.nodeid) <= TIERS[tier].longest]
    if not TIERS[tier].spark:
        of_tier = _one_with_spark_a_file(of_tier, seed, durations)
    taken = _drawn(of_tier, TIERS[tier], seed, durations)
    words = [_said(f"{tier}: ", [test for test in tests if test.nodeid in taken], tests, durations)]
    if tier == "all":
        near = lambda file: (far := distance(file)) is not None and far <= 1  # noqa: E731
        left_out = [test for test in tests if test.nodeid not in taken and near(split(test.nodeid)[0])]
        drawn = sum(durations.seconds(name) for name in taken) / PROCESSES
        more, beyond = _fitting(left_out, max(0.0, WHOLE - drawn), durations, distance)
        taken |= {test.nodeid for test in more}
        if left_out:
            words.append(_said("  the change touches, and the draw had left out: ", more, tests, durations))
        if beyond:
            words.append(_said("  left to the nightly run, for their time: ", beyond, tests, durations))
    return Choice(taken, words)


def taken(request: pytest.FixtureRequest, argument: str) -> list[object]:
    """The values of an argument with which this run calls tests of the module: what a fixture makes for all at once."""
    found = []
    for item in request.session.items:
        callspec = getattr(item, "callspec", None)
        if item.path == request.path and callspec and argument in callspec.params:
            found.append(callspec.params[argument])
    return found


def _changed(tests: Sequence[Test], seed: int, durations: Durations, distance: Callable[[str], float | None]) -> Choice:
    """The tests of what imports a change, the nearest first, as many as there is time for."""
    near = [test for test in tests if distance(split(test.nodeid)[0]) is not None]
    drawn = _drawn(near, TIERS["changed"], seed, durations)
    some, beyond = _fitting([test for test in near if test.nodeid in drawn], CHANGED, durations, distance)
    words = [_said("what imports the change: ", some, tests, durations)]
    if beyond:
        words.append(_said("  further away, and left to the whole run for their time: ", beyond, tests, durations))
    return Choice({test.nodeid for test in some}, words)


def _fitting(
    tests: Iterable[Test], seconds: float, durations: Durations, distance: Callable[[str], float | None]
) -> tuple[list[Test], list[Test]]:
    """Those of the nearest files that take so long at most, the quick ones of them first, and the others."""
    some: list[Test] = []
    beyond: list[Test] = []
    spent = 0.0
    for test in sorted(tests, key=lambda test: (distance(split(test.nodeid)[0]) or 0, durations.seconds(test.nodeid))):
        spent += durations.seconds(test.nodeid)
        (some if spent <= seconds * PROCESSES else beyond).append(test)
    return some, beyond


def _drawn(tests: Iterable[Test], tier: Tier, seed: int, durations: Durations) -> set[str]:
    """Of each family the cases that the tier has time for."""
    if tier.family == float("inf"):
        return {test.nodeid for test in tests}
    functions: dict[tuple[str, str], list[Test]] = {}
    for test in tests:
        file, name = split(test.nodeid)
        mark = test.get_closest_marker("family")
        functions.setdefault(("", mark.args[0]) if mark else (file, family(name)), []).append(test)
    taken: set[str] = set()
    dear: dict[str, list[Test]] = {}
    for (file, _), cases in functions.items():
        mark = cases[0].get_closest_marker("drawn")
        most = mark.args[0] if mark else len(cases)
        drawn = _within(cases, tier.family, seed, durations)[:most]
        seconds = sum(durations.seconds(test.nodeid) for test in drawn) / len(drawn)
        if seconds > DEAR and file and not is_page(file):
            dear.setdefault(str(Path(file).parent), []).extend(drawn)
        else:
            taken |= {test.nodeid for test in drawn}
    for cases in dear.values():
        share = SHARE * sum(durations.seconds(test.nodeid) for test in cases)
        taken |= {test.nodeid for test in _within(cases, share, seed, durations)}
    return taken


def _within(cases: Sequence[Test], seconds: float, seed: int, durations: Durations) -> list[Test]:
    """Cases that take so long together at most, drawn by the seed; at least one."""
    drawn = sorted(cases, key=lambda test: _lot(test, seed))  # a case that is added leaves the others where they are
    spent = itertools.accumulate(durations.seconds(test.nodeid) for test in drawn)
    return drawn[: max(1, sum(so_far <= seconds for so_far in spent))]


def _lot(test: Test, seed: int) -> bytes:
    return hashlib.sha256(f"{seed} {test.nodeid}".encode()).digest()


def _one_with_spark_a_file(tests: Iterable[Test], seed: int, durations: Durations) -> list[Test]:
    """The tests without Spark, and of each file one with it, drawn from those that take the least time."""
    found: list[Test] = []
    with_spark: dict[str, list[Test]] = {}
    for test in tests:
        if SPARK & set(getattr(test, "fixturenames", ())):
            with_spark.setdefault(split(test.nodeid)[0], []).append(test)
        else:
            found.append(test)
    for cases in with_spark.values():
        cases.sort(key=lambda test: (durations.seconds(test.nodeid), test.nodeid))
        found.append(min(cases[: 1 + len(cases) // 4], key=lambda test: _lot(test, seed)))
    return found


def _said(words: str, some: Sequence[Test], tests: Sequence[Test], durations: Durations) -> str:
    minutes = sum(durations.seconds(test.nodeid) for test in some) / 60 / PROCESSES
    return f"{words}{len(some):,} of {len(tests):,} tests, some {minutes:.1f} minutes by tests/durations.json"
