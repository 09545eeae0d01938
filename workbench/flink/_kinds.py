"""Which rows of a run on Spark fare differently under Flink's rules, and in which way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from workbench.joins import emission
from workbench.kinds import MS, kind_of
from workbench.literals import SIDES, Side
from workbench.model import FlinkRules, Micros, Simulation
from workbench.runs import firings

__all__ = ["DIFFERENCES", "FLINK_DROPS", "SPARK_DROPS", "kinds"]

DIFFERENCES = (
    "Spark drops it, Flink keeps it",
    "Spark drops it, the allowed lateness keeps it",
    "Flink drops it, Spark keeps it",
    "Flink drops it, because a side was idle",
    "still in state at the end, on one engine only",
    "late for some windows, on one engine only",
    "a null key, which the Flink job leaves out",
    "another row is late, or gone from state, on one engine only",
    "comes out again in Flink, as its window fires again",
)
"""The kinds of difference, in the order in which a row that has several is told as one of them."""
_KEEPS, _ALLOWED, _DROPS, _IDLE, _WAITS, _WINDOWS, _NULL, _OTHERS, _AGAIN = range(len(DIFFERENCES))
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
    meet, (more, fewer) = _meet_others(here, there), _come_out(here, there)
    waiting, fires_again = not here.finish, bool(rules.allowed_lateness)
    found = {}
    for side in SIDES:
        mine, theirs = (each.fates[side] for each in (here, there))
        fate, other = (each["fate"].to_numpy() for each in (mine, theirs))
        again = more[side] & fires_again
        again[list(firings.again(there, side, np.arange(len(fate))))] = True
        dropped_here, dropped_there = here_late[side] & ~there_late[side], there_late[side] & ~here_late[side]
        partly = mine["late"].to_numpy() != theirs["late"].to_numpy()
        found[side] = np.select(
            [
                dropped_here & strict[side],
                dropped_here,
                dropped_there & ~awake[side],
                dropped_there,
                ((fate == "pending") != (other == "pending")) | (more[side] & waiting & (not fires_again)),
                partly & kind_of(here.join).windowed & ~(here_late[side] & there_late[side]),
                fewer[side] & (fate == "null_key"),
                (fate != other) | meet[side] | fewer[side] | (more[side] & (not fires_again)),
                again,
            ],
            [_ALLOWED, _KEEPS, _IDLE, _DROPS, _WAITS, _WINDOWS, _NULL, _OTHERS, _AGAIN],
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


def _come_out(here: Simulation, there: Simulation) -> tuple[dict[Side, Micros], dict[Side, Micros]]:
    """Per side which rows Flink emits more often than Spark, and less often: with the same partner, or without one.

    A session is the same if it begins and ends at the same millisecond. Nothing is said of groups.
    """
    found = [{side: np.zeros(len(here.side(side)), dtype=bool) for side in SIDES} for _ in range(2)]
    kind = kind_of(here.join)
    if kind.grouped or max(len(each.outcome.outputs) for each in (here, there)) > _MOST_PAIRS:
        return found[0], found[1]
    parts = [each.outcome.outputs.emitted(emission(here.join).sides) for each in (here, there)]
    rows = pd.concat([part.assign(engine=engine) for engine, part in enumerate(parts)], ignore_index=True)
    same = ["left", "right"]
    if kind.merging:
        rows[["start", "end"]] //= MS
        same += ["start", "end"]
    counts = rows.groupby(same, sort=False)["engine"].agg(["size", "sum"]).reset_index()
    balance = (2 * counts["sum"] - counts["size"]).to_numpy()  # how many more of them Flink emits
    for side in SIDES:
        places = counts[side].to_numpy()
        for which, chosen in zip(found, (balance > 0, balance < 0), strict=True):
            which[side][places[chosen & (places >= 0)]] = True
    return found[0], found[1]


def _pairs(outputs: Any) -> tuple[Micros, Micros]:
    """The rows of all pairs; of a group each row with each of its other side."""
    met = outputs.table["matched"].to_numpy()
    if not met.any():
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    left, right = (outputs.of(side)[["output", "row"]] for side in SIDES)
    joined = left[met[left["output"]]].merge(right[met[right["output"]]], on="output")
    return joined["row_x"].to_numpy(), joined["row_y"].to_numpy()
