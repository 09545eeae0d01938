"""What a kind of join says of its rows itself, where the verdicts that all kinds share do not fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from workbench.arrays import RowNumbers
from workbench.kinds import part_of
from workbench.literals import Side
from workbench.model import Outcome, Simulation
from workbench.reasons.slots import SentenceSlots

__all__ = ["OwnReasons", "sentences"]


@dataclass(frozen=True)
class OwnReasons:
    """What a kind brings along to explain its rows.

    Attributes
    ----------
    sentences
        Judges the rows of a run, and fills the sentences of the verdicts.
    versions
        Of a kind whose right rows are valid for some time: those that are on time, as right assignments with ``begin``
        and ``until`` (event times in microseconds, 2**62 without an end), of the join and the outcome.
    version_words
        Of such a kind what some right rows say, each in a few words.
    """

    sentences: type[SentenceSlots] = SentenceSlots
    versions: Callable[[Any, Outcome], pd.DataFrame] | None = None
    version_words: Callable[[Simulation, RowNumbers], list[str]] | None = None


def sentences(simulation: Simulation, asked: dict[Side, RowNumbers] | None = None) -> SentenceSlots:
    """The verdicts of some rows of a run, and the sentences that tell them, as its kind of join has them.

    Parameters
    ----------
    simulation
        The run.
    asked
        Per side the numbers of the rows, in order; None: all.
    """
    own = part_of(simulation.join, OwnReasons)
    return (SentenceSlots if own is None else own.sentences)(simulation, asked)
