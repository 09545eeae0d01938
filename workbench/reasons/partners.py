"""Whether the key of each row came on the other side, and if not to the join, where its rows were left."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.literals import SIDES, Side, other_side
from workbench.model import Simulation
from workbench.model.ordering import among
from workbench.reasons.labels import key_words

__all__ = ["CAME", "LEFT_OUT", "NEVER", "UNTIMED", "keys_across", "left_out"]

NEVER, CAME, LEFT_OUT, UNTIMED = range(4)
"""Its key never came; came to the join; only in rows that the job takes out; only in rows without an event time."""


def left_out(simulation: Simulation, side: Side) -> np.ndarray[Any, Any]:
    """Which rows of a side the job takes out before they reach the join."""
    facts = simulation.facts
    found = np.zeros(len(simulation.side(side)), dtype=bool)
    if facts.filtered is not None:
        found |= facts.filtered[side]
    if facts.gone is not None:
        found |= facts.gone[side].rows
    return found


def keys_across(simulation: Simulation, side: Side) -> np.ndarray[Any, Any]:
    """For each row of a side what is known of its key on the other side: `NEVER`, `CAME`, `LEFT_OUT` or `UNTIMED`."""
    other = other_side(side)
    keys = dict(zip(SIDES, simulation.outcome.keys, strict=True))
    out = left_out(simulation, other)
    found = np.full(len(keys[side]), NEVER)
    if untimed := simulation.facts.untimed.get(other):
        found[np.isin(key_words(simulation.side(side)), list(untimed))] = UNTIMED
    if out.any():
        found[among(keys[side], keys[other][out])] = LEFT_OUT
    found[among(keys[side], keys[other][~out])] = CAME
    return found
