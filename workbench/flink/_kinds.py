"""Which rows of a run on Spark fare differently under Flink's rules, and in which way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from workbench.arrays import Flags, RowNumbers
from workbench.joins import emission
from workbench.kinds import MS, kind_of
from workbench.literals import SIDES, Side
from workbench.model import FlinkRules, Simulation
from workbench.reasons import firings

__all__ = ["DIFFERENCES", "FLINK_DROPS", "SPARK_DROPS", "differing", "kinds"]

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


def kinds(here: Simulation, there: Simulation) -> dict[Side, RowNumbers]:
    """Per side the place of each row's difference in `DIFFERENCES`; -1 where it fares alike.

    Parameters
    ----------
    here, there
        The same rows on Spark, and under Flink's rules.
    """
    rules = there.flink or FlinkRules()
    here_late, there_late = _late(here), _late(there)
    awake = there_late if rules.idle is None else _late(replace(there, flink=replace(rules, idle=None)))
    strict = there_late
    if rules.allowed_lateness:
        strict = _late(replace(there, flink=replace(rules, allowed_lateness=0)))
    found = {}
    for side, each in _results(here, there).items():
        dropped_here, dropped_there = here_late[side] & ~there_late[side], there_late[side] & ~here_late[side]
        conditions = {
            _ALLOWED: dropped_here & strict[side],
            _KEEPS: dropped_here,
            _IDLE: dropped_there & ~awake[side],
            _DROPS: dropped_there,
            _WAITS: each.waits,
            _WINDOWS: each.partly & ~(here_late[side] & there_late[side]),
            _NULL: each.fewer & (each.fate == "null_key"),
            _OTHERS: (each.fate != each.other) | each.meets_others | each.fewer,
            _AGAIN: each.again,
        }
        found[side] = np.select(list(conditions.values()), list(conditions), -1)
    return found


def differing(here: Simulation, there: Simulation) -> tuple[int, int]:
    """How many rows have another fate, and how many fare differently in any way: quicker than `kinds`."""
    fates = ways = 0
    for each in _results(here, there).values():
        moved = each.fate != each.other
        partly = each.partly & ~((each.fate == "late") & (each.other == "late"))
        fates += int(moved.sum())
        ways += int((moved | each.waits | partly | each.fewer | each.meets_others | each.again).sum())
    return fates, ways


@dataclass(frozen=True, eq=False)
class _Results:
    """What becomes of a side's rows on both engines, an entry a row.

    Attributes
    ----------
    fate, other
        The fates on Spark, and in Flink.
    waits
        Whether it is in state at the end on one of them only.
    partly
        Whether it is late for more windows on one of them.
    meets_others
        Whether it meets other rows.
    fewer, again
        Whether Flink emits it less often, and, as its window fires again, more often.
    """

    fate: Flags
    other: Flags
    waits: Flags
    partly: Flags
    meets_others: Flags
    fewer: Flags
    again: Flags


def _results(here: Simulation, there: Simulation) -> dict[Side, _Results]:
    meet, (more, fewer) = _meet_others(here, there), _come_out(here, there)
    fires_again, windowed = bool(there.flink and there.flink.allowed_lateness), kind_of(here.join).windowed
    found = {}
    for side in SIDES:
        mine, theirs = (each.fates[side] for each in (here, there))
        fate, other = (each["fate"].to_numpy() for each in (mine, theirs))
        waits = (fate == "pending") != (other == "pending")
        again = more[side] & fires_again
        if fires_again:
            again[list(firings.again(there, side, np.arange(len(fate))))] = True
        elif not here.finish:
            waits |= more[side]
        others = meet[side] | (more[side] & ~again & ~waits)
        partly = (mine["late"].to_numpy() != theirs["late"].to_numpy()) & windowed
        found[side] = _Results(fate, other, waits, partly, others, fewer[side], again)
    return found


def _late(simulation: Simulation) -> dict[Side, Flags]:
    """Per side which rows are late for all of their windows."""
    return {side: (simulation.fates[side]["fate"] == "late").to_numpy() for side in SIDES}


def _meet_others(here: Simulation, there: Simulation) -> dict[Side, Flags]:
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


def _come_out(here: Simulation, there: Simulation) -> tuple[dict[Side, Flags], dict[Side, Flags]]:
    """Per side which rows Flink emits more often than Spark, and less often: with the same partner, or without one.

    A session is the same if it begins and ends at the same millisecond, a group if it has the same rows.
    """
    found = [{side: np.zeros(len(here.side(side)), dtype=bool) for side in SIDES} for _ in range(2)]
    kind = kind_of(here.join)
    if max(len(each.outcome.outputs) for each in (here, there)) > _MOST_PAIRS:
        return found[0], found[1]
    if kind.grouped:
        return _groups_come_out(here, there, found)
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


def _groups_come_out(
    here: Simulation, there: Simulation, found: list[dict[Side, Flags]]
) -> tuple[dict[Side, Flags], dict[Side, Flags]]:
    """As `_come_out`, of groups: those are the same whose rows, each a random number, have the same sum."""
    numbers = np.random.default_rng(0)
    weight = {side: numbers.integers(0, 2**63, len(here.side(side)), dtype=np.uint64) for side in SIDES}
    tables = []
    for engine, each in enumerate((here, there)):
        outputs = each.outcome.outputs
        rows = np.zeros(len(outputs), dtype=np.uint64)
        for side in SIDES:
            members = outputs.of(side)
            np.add.at(rows, members["output"].to_numpy(), weight[side][members["row"].to_numpy()])
        tables.append(pd.DataFrame({"rows": rows, "engine": engine, "output": np.arange(len(outputs))}))
    groups = pd.concat(tables, ignore_index=True)
    counts = groups.groupby("rows")["engine"].agg(["size", "sum"])
    balance = (2 * counts["sum"] - counts["size"]).reindex(groups["rows"]).to_numpy()
    for engine, each in enumerate((here, there)):
        mine = (groups["engine"] == engine).to_numpy()
        for side in SIDES:
            members = each.outcome.outputs.of(side)
            differs = balance[mine][members["output"].to_numpy()]
            for which, chosen in zip(found, (differs > 0, differs < 0), strict=True):
                which[side][members["row"].to_numpy()[chosen]] = True
    return found[0], found[1]


def _pairs(outputs: Any) -> tuple[RowNumbers, RowNumbers]:
    """The rows of all pairs; of a group each row with each of its other side."""
    met = outputs.table["matched"].to_numpy()
    if not met.any():
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    left, right = (outputs.of(side)[["output", "row"]] for side in SIDES)
    joined = left[met[left["output"]]].merge(right[met[right["output"]]], on="output")
    return joined["row_x"].to_numpy(), joined["row_y"].to_numpy()
