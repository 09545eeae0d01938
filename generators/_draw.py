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
    """

    name: str
    key: tuple[str, ...]
    time: str
    moments: Numbers
    columns: dict[str, pa.Array]


class Draw:
    """Draws for one recording: everything comes from the seed."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.rng = np.random.default_rng(settings.seed)
        self._faker = Faker("en_US")
        self._faker.seed_instance(settings.seed)

    def pool(self, make: Callable[[Faker], str], count: int, size: int = _POOL) -> pa.Array:
        """`count` values drawn from a pool that Faker fills."""
        return self.pick([make(self._faker) for _ in range(size)], count)

    def pick(self, values: list[str], count: int, weights: list[float] | None = None) -> pa.Array:
        """`count` values drawn from a list."""
        chances = None if weights is None else np.array(weights) / sum(weights)
        return pa.array(values).take(pa.array(self.rng.choice(len(values), count, p=chances)))

    def people(self, numbers: Numbers, make: Callable[[Faker], str]) -> pa.Array:
        """For each key number a value of its own from a pool, the same whenever the key comes again."""
        values = pa.array([make(self._faker) for _ in range(_POOL)])
        return values.take(pa.array(numbers % _POOL))

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
        if keys >= count and not self.settings.skew:
            return np.arange(count)
        weights = 1.0 / np.arange(1, keys + 1) ** self.settings.skew
        edges = np.cumsum(weights)
        return np.searchsorted(edges, self.rng.random(count) * edges[-1], side="right")

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
