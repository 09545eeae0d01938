"""Which rows of a run on Spark fare differently under Flink's rules, and in which way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from workbench.kinds import kind_of
from workbench.literals import SIDES, Side
from workbench.model import FlinkRules, Micros, Simulation
from workbench.runs import firings

__all__ = ["DIFFERENCES", "FLINK_DROPS", "SPARK_DROPS", "kinds"]

DIFFERENCES = (
    "Spark drops it, Flink keeps it",
    "Spark drops it, the allowed lateness keeps it",
    "Flink drops it, Spark keeps it",
    "Flink drops it, as the other side is idle",
    "late for other windows",
    "a partner is late on one of them",
    "still waits on Spark",
    "Flink's window fires again",
)
"""The kinds of difference, in the order in which a row that has several is told as one of them."""
_KEEPS, _ALLOWED, _DROPS, _IDLE, _WINDOWS, _PARTNER, _WAITS, _AGAIN = range(len(DIFFERENCES))
SPARK_DROPS, FLINK_DROPS = (_KEEPS, _ALLOWED), (_DROPS, _IDLE)
"""The kinds of rows that are late for all of their windows on one engine, and not on the other."""
_MOST_PAIRS = 5_000_000


def kinds(here: Simulation, there: Simulation) -> dict[Side, Micros]:
    """Per side the place of each row's difference in `DIFFERENCES`; -1 where it fares alike.

    Parameters
    ----------
    here, there
        The same rows on Spark, and under Flink's rules.
    """
    rules = there.flink or FlinkRules()
    awake = _late(there) if rules.idle is None else _late(replace(there, flink=replace(rules, idle=None)))
    strict = (
        _late(there) if not rules.allowed_lateness else _late(replace(there, flink=replace(rules, allowed_lateness=0)))
    )
    here_late, there_late = _late(here), _late(there)
    others = _meet_others(here, there)
    found = {}
    for side in SIDES:
        mine, theirs = (each.fates[side] for each in (here, there))
        fate, other = (each["fate"].to_numpy() for each in (mine, theirs))
        again = np.zeros(len(fate), dtype=bool)
        again[list(firings.again(there, side, np.arange(len(fate))))] = True
        dropped_here, dropped_there = here_late[side] & ~there_late[side], there_late[side] & ~here_late[side]
        partly = mine["late"].to_numpy() != theirs["late"].to_numpy()
        found[side] = np.select(
            [
                dropped_here & strict[side],
                dropped_here,
                dropped_there & ~awake[side],
                dropped_there,
                (fate == "pending") & (other != "pending"),
                partly & kind_of(here.join).windowed & ~(here_late[side] & there_late[side]),
                (fate != other) | others[side],
                again,
            ],
            [_ALLOWED, _KEEPS, _IDLE, _DROPS, _WAITS, _WINDOWS, _PARTNER, _AGAIN],
            -1,
        )
    return found


def _late(simulation: Simulation) -> dict[Side, Micros]:
    """Per side which rows are late for all of their windows."""
    return {side: (simulation.fates[side]["fate"] == "late").to_numpy() for side in SIDES}


def _meet_others(here: Simulation, there: Simulation) -> dict[Side, Micros]:
    """Per side which rows meet other rows; none where there are more than five million pairs."""
    found = {side: np.zeros(len(here.side(side)), dtype=bool) for side in SIDES}
    outputs = [each.outcome.outputs for each in (here, there)]
    if max(each.pairs() for each in outputs) > _MOST_PAIRS:
        return found
    width = len(here.right) + 1
    one, other = (np.unique(left * width + right) for left, right in map(_pairs, outputs))
    differ = np.setxor1d(one, other, assume_unique=True)
    found["left"][differ // width] = True
    found["right"][differ % width] = True
    return found


def _pairs(outputs: Any) -> tuple[Micros, Micros]:
    """The rows of all pairs; of a group each row with each of its other side."""
    met = outputs.table["matched"].to_numpy()
    if not met.any():
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    left, right = (outputs.of(side)[["output", "row"]] for side in SIDES)
    joined = left[met[left["output"]]].merge(right[met[right["output"]]], on="output")
    return joined["row_x"].to_numpy(), joined["row_y"].to_numpy()
