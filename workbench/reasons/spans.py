"""The windows of a run as they came about."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from workbench.arrays import Batches, RowNumbers, Times
from workbench.kinds import kind_of, part_of
from workbench.literals import SIDES
from workbench.model import NO_MICRO_BATCH, Simulation
from workbench.reasons.labels import key_words
from workbench.reasons.own import OwnReasons

__all__ = ["closed_in", "closing", "opening", "session_spans", "spans"]


def spans(simulation: Simulation) -> pd.DataFrame:
    """The windows behind the rows, or what right rows stand for during some time.

    Parameters
    ----------
    simulation
        The run.

    Returns
    -------
    pandas.DataFrame
        Columns ``start``, ``end``, ``opened``, ``closed`` (micro-batches), ``key`` (of a session), ``last`` (its last
        row, after which there is only its gap) and ``words`` (what a right row says that is in force).
    """
    kind = kind_of(simulation.join)
    own = part_of(simulation.join, OwnReasons)
    if own is not None and own.versions is not None:
        return _versions(simulation, own.versions(simulation.join, simulation.outcome), own.version_words)
    if not simulation.windowed:
        none = np.array([], dtype="datetime64[us]")
        return pd.DataFrame(
            {"key": [], "start": none, "end": none, "opened": [], "closed": [], "last": none, "words": []}
        )
    outcome = simulation.outcome
    if kind.merging:
        found, words = session_spans(simulation)
        opened = opening(simulation)[np.asarray(found.index)]
        closed = closed_in(simulation, found["batch"].to_numpy())
    else:
        every = pd.concat([each[["start", "end", "batch"]] for each in outcome.assignments.values()])
        found, words = every.groupby(["start", "end"], as_index=False)["batch"].min(), None
        opened = found["batch"].to_numpy()  # by the first row, late or not
        closed = closing(simulation, found["end"].to_numpy())
    moments = {name: found[name].to_numpy(dtype=np.int64).astype("datetime64[us]") for name in ("start", "end")}
    last = moments["end"] - np.timedelta64(dict(kind.limits(simulation.join))["gap"], "us") if kind.merging else None
    return pd.DataFrame({"key": words, **moments, "opened": opened, "closed": closed, "last": last, "words": None})


def _versions(
    simulation: Simulation, mine: pd.DataFrame, words: Callable[[Simulation, RowNumbers], list[str]] | None
) -> pd.DataFrame:
    """Right rows that are versions of something, from when until when left rows have them."""
    rows = mine["row"].to_numpy()
    count = len(simulation.outcome.marks)
    moments = np.concatenate([simulation.left.event_times, mine["start"].to_numpy()])
    least, most = (int(moments.min()), int(moments.max())) if len(moments) else (0, 0)
    edges = [np.clip(mine[name].to_numpy(), least, most) for name in ("begin", "until")]
    gone = mine["evicted_in"].to_numpy()
    return pd.DataFrame(
        {
            "key": key_words(simulation.side("right"), rows),
            "start": edges[0].astype("datetime64[us]"),
            "end": edges[1].astype("datetime64[us]"),
            "opened": mine["batch"].to_numpy(),
            "closed": np.where(gone < count, gone, NO_MICRO_BATCH),
            "last": np.datetime64("NaT", "us"),
            "words": None if words is None else words(simulation, rows),
        }
    )


def closing(simulation: Simulation, end: Times) -> Batches:
    """The micro-batch in which windows that end then are closed."""
    return closed_in(simulation, np.searchsorted(simulation.outcome.marks.eviction, end))


def closed_in(simulation: Simulation, batch: Batches) -> Batches:
    """The micro-batches in which windows are closed; `NO_MICRO_BATCH` for those after the last."""
    return np.where(batch < len(simulation.outcome.marks), batch, NO_MICRO_BATCH)


def opening(simulation: Simulation) -> Batches:
    """The micro-batch in which each group of a session join or coGroup got its first row."""
    first = np.full(len(simulation.outcome.groups), NO_MICRO_BATCH)
    for side in SIDES:
        members = simulation.outcome.assignments[side]
        members = members[members["group"] >= 0]
        np.minimum.at(first, members["group"].to_numpy(), members["batch"].to_numpy())
    return first


def session_spans(simulation: Simulation) -> tuple[pd.DataFrame, RowNumbers]:
    """The sessions as they came about, and the key of each in words."""
    groups = simulation.outcome.groups
    words = np.full(len(groups), None, dtype=object)
    for side in SIDES:
        members = simulation.outcome.assignments[side]
        members = members[members["group"] >= 0].drop_duplicates("group")
        words[members["group"]] = key_words(simulation.side(side), members["row"].to_numpy())
    known = (groups["key"] >= 0).to_numpy()
    return groups[known], words[known]
