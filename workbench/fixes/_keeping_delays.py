"""Longer watermark delays, for late rows: with them a row is on time, whether it has a partner or not."""

from __future__ import annotations

import pandas as pd

from workbench import times
from workbench.fixes.search import NEVER, kept_until
from workbench.literals import DELAYS, SIDES, Setting
from workbench.model import Simulation

__all__ = ["keeping"]


def keeping(simulation: Simulation, late: pd.DataFrame) -> dict[int, tuple[Setting, int]]:
    """By late row the delay that is changed, and to how many microseconds: the least change of one that keeps the row.

    Parameters
    ----------
    simulation
        The run.
    late
        Assignments of one side that were judged late, one a row, their index the numbers of the rows.

    Returns
    -------
    dict
        Without the rows that no delay keeps.
    """
    marks, policy = simulation.outcome.marks, simulation.policy
    index, until = late["batch"].to_numpy() - 1, kept_until(late)
    delayed = [side for side in SIDES if side not in simulation.facts.undelayed]
    now = {side: times.micros(simulation.side(side).watermark) for side in delayed}
    needed = {side: marks.needed_delays(policy, side, index, until).tolist() for side in delayed}
    found: dict[int, tuple[Setting, int]] = {}
    for place, row in enumerate(late.index.tolist()):
        values = {side: needed[side][place] for side in delayed}
        changes = [(value - now[side], value, DELAYS[side]) for side, value in values.items() if 0 < value < NEVER]
        if changes:
            _, value, setting = min(changes)
            found[row] = setting, value
    return found
