"""The rows that settings are tried on: all, or those of some keys where all would take too long."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.arrays import Codes
from workbench.joins import Join
from workbench.kinds import kind_of
from workbench.literals import Sides
from workbench.model import RowFacts, Shared
from workbench.streams import Stream, some_rows
from workbench.tuning import limits

_LEAST_KEYS = 1_000


@dataclass(frozen=True)
class Sample:
    """The rows that are looked at: all, or those of some keys.

    Attributes
    ----------
    left, right, shared
        The rows.
    share
        How large a part of all rows they are.
    keys
        How many keys they have.
    bytes_a_row
        What a row takes in state, about.
    """

    left: Stream
    right: Stream
    shared: Shared
    share: float
    keys: int
    bytes_a_row: float


def draw(
    join: Join, left: Stream, right: Stream, keys: tuple[Codes, Codes], settings: int, *, facts: RowFacts
) -> Sample:
    """Whole keys, drawn at random, where all rows under all settings would take too long."""
    both = np.concatenate(keys)
    count = 1 + int(both.max(initial=-1))
    kind = kind_of(join)
    width = sum(each.table.nbytes for each in (left, right)) / max(1, len(both))
    size = kind.state_bytes + width
    wanted = (limits.MOST_WORK // kind.operator.work_per_row) / max(1, len(both) * settings)
    if wanted >= 1 or count < _LEAST_KEYS:
        return Sample(left, right, Shared(left, right, keys, facts), 1.0, count, size)
    taken = np.zeros(count, dtype=bool)
    taken[np.random.default_rng(0).permutation(count)[: max(_LEAST_KEYS, round(wanted * count))]] = True
    mine = {side: np.flatnonzero((key >= 0) & taken[key]) for side, key in Sides(*keys).items()}
    one, other = (some_rows(stream, mine[side]) for side, stream in Sides(left, right).items())
    share = (len(one) + len(other)) / len(both)
    return Sample(one, other, Shared(one, other, rows=facts.of(mine)), share, int(taken.sum()), size)
