"""Pools of Faker's values, and NumPy's draws from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from faker import Faker

from generators._settings import Settings

Numbers = np.ndarray[Any, Any]
SECOND = 1_000_000
_POOL = 300


@dataclass(frozen=True)
class Side:
    """One side as a scenario makes it, in order of event time, before disorder.

    Attributes
    ----------
    name, key, time
        As in `workbench.Stream`.
    moments
        Event times in microseconds since 1970-01-01.
    columns
        The other columns, Arrow arrays of the same length.
    until
        Where the next draw goes on, where rows of this one still follow it; None: at the last row.
    """

    name: str
    key: tuple[str, ...]
    time: str
    moments: Numbers
    columns: dict[str, pa.Array]
    until: int | None = None


class Draw:
    """Draws for one recording: everything comes from the seed."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.rng = np.random.default_rng(settings.seed)
        self.first = 0
        """The number of the first row: what is drawn on and on gives each row a number of its own."""
        self.goes_on = False
        """Whether this is one draw of many, which follow each other in event time."""
        self._faker = Faker("en_US")
        self._faker.seed_instance(settings.seed)
        self._pools: list[list[str]] = []
        self._turn = 0

    def continue_with(self, settings: Settings, first: int) -> None:
        """Draw more rows, from the same pools, the first of them with this number."""
        self.settings, self.first, self._turn = settings, first, 0
        self.goes_on = True

    def pool(self, make: Callable[[Faker], str], count: int, size: int = _POOL) -> pa.Array:
        """`count` values drawn from a pool that Faker fills."""
        return self.pick(self._pool(make, size), count)

    def _pool(self, make: Callable[[Faker], str], size: int) -> list[str]:
        """The pool whose turn it is; a scenario asks for its pools in one order."""
        if self._turn == len(self._pools):
            self._pools.append([make(self._faker) for _ in range(size)])
        self._turn += 1
        return self._pools[self._turn - 1]

    def pick(self, values: list[str], count: int, weights: list[float] | None = None) -> pa.Array:
        """`count` values drawn from a list."""
        chances = None if weights is None else np.array(weights) / sum(weights)
        return pa.array(values).take(pa.array(self.rng.choice(len(values), count, p=chances)))

    def people(self, numbers: Numbers, make: Callable[[Faker], str]) -> pa.Array:
        """For each key number a value of its own from a pool, the same whenever the key comes again."""
        return pa.array(self._pool(make, _POOL)).take(pa.array(numbers % _POOL))

    def numbers(self, count: int) -> Numbers:
        """A number for each row, that no other row has."""
        return np.arange(self.first, self.first + count)

    def moments(self, count: int) -> Numbers:
        """Event times at the asked-for rate, in whole milliseconds, ascending."""
        gaps = self.rng.exponential(SECOND / self.settings.rate, count)
        start = np.datetime64(self.settings.start, "us").astype(np.int64)
        moments: Numbers = start + (np.cumsum(gaps) // 1000).astype(np.int64) * 1000
        return moments

    def after(self, moments: Numbers, mean: float, least: float = 0.0) -> Numbers:
        """Times that follow others by `least` seconds and a gamma-distributed while of `mean` seconds more."""
        wait = self.rng.gamma(2.0, mean / 2.0, len(moments)) + least
        later: Numbers = moments + (wait * 1000).astype(np.int64) * 1000
        return later

    def keys(self, count: int, usual: int) -> Numbers:
        """Key numbers, Zipf-distributed by the skew; one each in turn where there are as many keys as rows."""
        keys = self.settings.keys or usual
        if keys >= count and not self.settings.skew and not self.settings.keys:
            return self.numbers(count)
        if keys >= count and not self.settings.skew:
            return np.arange(count) if not self.first else self.rng.integers(0, keys, count)
        weights = 1.0 / np.arange(1, keys + 1) ** self.settings.skew
        edges = np.cumsum(weights)
        drawn = np.searchsorted(edges, self.rng.random(count) * edges[-1], side="right")
        return drawn if self.settings.keys else drawn + self.first

    def partnered(self, count: int, unmatched: float) -> Numbers:
        """Which rows get a partner; exactly the asked-for share goes without."""
        share = unmatched if self.settings.unmatched is None else self.settings.unmatched
        with_partner = np.ones(count, dtype=bool)
        with_partner[self.rng.permutation(count)[: round(share * count)]] = False
        return with_partner

    def amounts(self, count: int, median: float) -> pa.Array:
        """Amounts of money, log-normal, in whole cents."""
        return pa.array(np.round(median * np.exp(self.rng.normal(0, 0.7, count)), 2))


def names(prefix: str, numbers: Numbers, width: int = 6) -> pa.Array:
    """Identifiers such as ``o-000042``."""
    digits = pc.utf8_lpad(pa.array(numbers).cast(pa.string()), width, "0")
    return pc.binary_join_element_wise(prefix, digits, "-")
