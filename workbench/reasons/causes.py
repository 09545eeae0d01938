"""The rows that were not matched, each with its cause in a few words that many rows share."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.arrays import RowNumbers
from workbench.literals import SIDES, Side
from workbench.model import Simulation
from workbench.reasons.own import sentences

__all__ = ["lost_rows", "not_matched"]


def not_matched(simulation: Simulation) -> dict[Side, RowNumbers]:
    """For each side the numbers of the rows that were not matched, in order."""
    return {side: np.flatnonzero(simulation.fates[side]["fate"].to_numpy() != "matched") for side in SIDES}


def lost_rows(simulation: Simulation) -> pd.DataFrame:
    """The rows of both sides that were not matched.

    Parameters
    ----------
    simulation
        The run.

    Returns
    -------
    pandas.DataFrame
        Columns ``side``, ``row`` (its number on its side), ``fate``, ``cause``, ``obstacle`` (an `Obstacle`; empty for
        rows that are not unmatched).

    Raises
    ------
    TooLargeError
        If only Spark can make the pairs of the join.
    """
    fates = {side: simulation.fates[side]["fate"].to_numpy() for side in SIDES}
    lost = not_matched(simulation)
    told = sentences(simulation, lost)
    parts = [
        pd.DataFrame(
            {
                "side": side,
                "row": lost[side],
                "fate": fates[side][lost[side]],
                "cause": told.causes(side),
                "obstacle": told.obstacles(side),
            }
        )
        for side in SIDES
    ]
    return pd.concat(parts, ignore_index=True)
