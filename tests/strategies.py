"""Hypothesis strategies: recordings and joins around every boundary, drawn from one small clock."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from helpers import stream
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import workbench as wb
from workbench import spark_versions
from workbench.joins import HOWS

START = 1_767_225_600  # seconds: 2026-01-01, on an edge of every window below
EARLY = 0  # around 1970 instead


def in_parts(parts, examples, **given_strategies):
    """A property in so many parts, each with so many examples of a seed of its own; but for the nightly run one is drawn."""

    def decorate(test):
        steady = settings(
            max_examples=examples,
            deadline=None,
            database=None,
            derandomize=False,
            suppress_health_check=[HealthCheck.too_slow],
        )

        def run(part):
            seed(part)(steady(given(**given_strategies)(test)))()

        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        run.pytestmark = list(getattr(test, "pytestmark", ()))
        return pytest.mark.drawn(1)(pytest.mark.parametrize("part", range(parts))(run))

    return decorate


@dataclass(frozen=True)
class Case:
    """One generated case; its repr can be pasted into a test."""

    join: object
    left: tuple
    right: tuple
    delays: tuple
    batches: int
    finish: bool
    policy: str
    start: int = START

    def streams(self):
        made = []
        for name, rows, delay in zip(("orders", "payments"), (self.left, self.right), self.delays, strict=True):
            placed = [(key, self.start + t / 1000, batch) for key, t, batch in sorted(rows, key=lambda row: row[2])]
            made.append(stream(placed, name, f"{delay} ms", batches=self.batches))
        return made

    def run(self):
        return wb.run(self.join, *self.streams(), finish=self.finish, policy=self.policy)


grid = st.sampled_from([0, 1000, 2000, 4000, 5000, 6000, 8000, 10_000, 12_000, 15_000, 20_000, 25_000, 30_000, 60_000])
nudge = st.sampled_from([0, 0, 0, 0, 0, 0, -1, 1, 500, -0.001, 0.001])
moments = st.builds(lambda a, b: a + b, grid, nudge)
keys = st.sampled_from(["a", "a", "a", "b", "b", None])


def rows(batches):
    return st.lists(st.tuples(keys, moments, st.integers(0, batches - 1)), max_size=9).map(tuple)


span = st.sampled_from(["1 second", "2 seconds", "4 seconds", "5 seconds", "10 seconds", "1 ms", "1500 ms", "1 us"])
bound = st.sampled_from(
    ["-10 s", "-5 s", "-2 s", "-1 ms", "-1 us", "0 s", "1 us", "1 ms", "2 s", "5 s", "10 s", "1500500 us"]
)
offset = st.sampled_from(["0 s", "0 s", "1 s", "-3 s", "500 ms"])
windows = st.one_of(
    st.builds(wb.Tumbling, st.sampled_from(["2 s", "5 s", "10 s", "10 s"]), offset),
    st.builds(
        wb.Sliding, st.sampled_from(["2 s", "4 s", "10 s"]), st.sampled_from(["2 s", "3 s", "5 s", "10 s"]), offset
    ),
    st.builds(wb.Session, span),
)
hows = st.sampled_from(HOWS)


@st.composite
def intervals(draw):
    from workbench.times import parse

    bounds = sorted((draw(bound), draw(bound)), key=lambda each: parse(each, "lower"))
    return wb.IntervalJoin(*bounds, draw(hows), draw(st.booleans()), draw(st.booleans()))


_NO_TOLERANCE = [None] * spark_versions.here().has_processor
tolerance = st.sampled_from([*_NO_TOLERANCE, "1 s", "2 s", "5 s", "10 s", "1 us", "1 ms", "1500500 us"])
as_of_joins = st.builds(
    wb.AsOfJoin,
    st.sampled_from(["backward", "backward", "forward", "nearest"]),
    tolerance,
    st.sampled_from(["inner", "left"]),
    st.booleans(),
)

joins_of_all_in_reach = st.one_of(intervals(), st.builds(wb.WindowJoin, windows, hows), st.builds(wb.CoGroup, windows))
joins = st.one_of(as_of_joins, joins_of_all_in_reach)


@st.composite
def cases(draw, start=START, of=joins):
    batches = draw(st.integers(1, 5))
    delay = st.sampled_from([0, 0, 1, 1000, 5000, 10_000])
    return Case(
        draw(of),
        draw(rows(batches)),
        draw(rows(batches)),
        (draw(delay), draw(delay)),
        batches,
        draw(st.booleans()),
        draw(st.sampled_from(["min", "min", "max"])),
        draw(st.sampled_from([start, start, start, EARLY])),
    )
