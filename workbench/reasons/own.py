"""What a kind of join says of its rows itself, where the words that all kinds share do not fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd

from workbench.kinds import part_of
from workbench.literals import RowId, Setting, Side, other_side
from workbench.model import Micros, Outcome, Simulation
from workbench.reasons.labels import Labels

__all__ = ["CauseMasks", "Fix", "OwnReasons", "RowReasons", "own_reasons"]

Keeps = Callable[[RowId], tuple[Setting, str] | None]
"""The least change of one watermark delay that keeps a late row: the setting, and its value as text."""


class Fix(Protocol):
    """The best change of one setting that would match a row; see `workbench.fixes.fixes`."""

    setting: Setting
    value: float
    partner: float


class RowReasons:
    """The reasons of the rows of one run; as it stands it leaves all of them to the words that kinds share.

    `workbench.reasons.explain` asks it for one row after the other; an empty text leaves that row to the shared words.
    Of an unmatched row it asks `unmatched` first, then, if the row's key came on the other side, `alone`.
    `workbench.charts` asks `missed_by`.

    Parameters
    ----------
    simulation
        The run.
    labels
        How its rows and times are named.
    keeps
        What would keep a late row.
    """

    def __init__(self, simulation: Simulation, labels: Labels, keeps: Keeps) -> None:
        self._simulation, self._labels, self._keeps = simulation, labels, keeps

    def matched(self, side: Side, row: int, batch: int) -> str:
        """Whom a matched row met; `batch` is the micro-batch in which it first came out."""
        return ""

    def pending(self, side: Side, row: int) -> str:
        """Until when a row in state waits."""
        return ""

    def unmatched(self, side: Side, row: int, comes: bool, fix: Fix | None) -> str:
        """Why a row met no other; `comes` is whether its key came on the other side."""
        return ""

    def alone(self, side: Side, row: int, near: str, fix: Fix | None) -> str:
        """Why a row whose key came has no partner; `near` is the sentence on the nearest one, empty without a fix."""
        return near

    def would(self, side: Side, fix: Fix) -> tuple[str, str]:
        """What a fix brings, after "with an upper bound of 9 s" and after "a delay of 9 s would have kept it, and"."""
        met = self._labels.label(other_side(side), int(fix.partner))
        return f"it would have met {met}", f"matched it with {met}"

    def in_vain(self, side: Side, row: int, comes: bool) -> str:
        """Of a late row that nothing would match, to end "a delay of 9 s would have kept it, …"."""
        return ""

    def missed_by(self, rows: Micros) -> pd.DataFrame | None:
        """By how much left rows missed the nearest of what they are compared with: ``row``, ``field``, ``away``."""
        return None


@dataclass(frozen=True)
class CauseMasks:
    """Of a side's rows: arrays of booleans.

    Attributes
    ----------
    matched, late, unmatched
        Their fate.
    met
        Those that would have met a row, had they come in time.
    known
        Those whose key came on the other side.
    refused
        Those that fail what the join asks beside keys and times, with rows in reach.
    """

    matched: np.ndarray[Any, Any]
    late: np.ndarray[Any, Any]
    unmatched: np.ndarray[Any, Any]
    met: np.ndarray[Any, Any]
    known: np.ndarray[Any, Any]
    refused: np.ndarray[Any, Any]


def _no_causes(simulation: Simulation, side: Side, masks: CauseMasks, found: np.ndarray[Any, Any]) -> None:
    """Leaves the causes as they are."""


@dataclass(frozen=True)
class OwnReasons:
    """What a kind brings along to explain its rows.

    Attributes
    ----------
    make
        Makes the reasons of a run, given how its rows and times are named, and what would keep a late row.
    causes
        Replaces causes in an array of texts, one a row of a side, where the kind has others.
    versions
        Of a kind whose right rows are valid for some time: those that are on time, as right assignments with ``begin``
        and ``until`` (event times in microseconds, 2**62 without an end), of the join and the outcome.
    """

    make: Callable[[Simulation, Labels, Keeps], RowReasons]
    causes: Callable[[Simulation, Side, CauseMasks, np.ndarray[Any, Any]], None] = _no_causes
    versions: Callable[[Any, Outcome], pd.DataFrame] | None = None


def own_reasons(simulation: Simulation, labels: Labels, keeps: Keeps = lambda of: None) -> RowReasons:
    """What the kind of a run's join says of its rows itself."""
    own = part_of(simulation.join, OwnReasons)
    return (RowReasons if own is None else own.make)(simulation, labels, keeps)
