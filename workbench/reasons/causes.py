"""The rows that were not matched, each with its cause in a few words that many rows share."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.literals import SIDES
from workbench.model import Simulation
from workbench.reasons.own import sentences

__all__ = ["lost_rows"]


def lost_rows(simulation: Simulation) -> pd.DataFrame:
    """The rows of both sides that were not matched.

    Parameters
    ----------
    simulation
        The run.

    Returns
    -------
    pandas.DataFrame
        Columns ``side``, ``row`` (its number on its side), ``fate``, ``cause``.

    Raises
    ------
    TooLargeError
        If only Spark can make the pairs of the join.
    """
    fates = {side: simulation.fates[side]["fate"].to_numpy() for side in SIDES}
    lost = {side: np.flatnonzero(fates[side] != "matched") for side in SIDES}
    told = sentences(simulation, lost)
    parts = [
        pd.DataFrame({"side": side, "row": lost[side], "fate": fates[side][lost[side]], "cause": told.causes(side)})
        for side in SIDES
    ]
    return pd.concat(parts, ignore_index=True)
