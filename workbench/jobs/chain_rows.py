"""Which rows pass from one join of a chain to the next, and what became of them there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from workbench.arrays import Counts, Flags, RowNumbers
from workbench.jobs import leaving
from workbench.literals import FATES, SIDES, Side, Sides
from workbench.reasons.labels import Labels

if TYPE_CHECKING:
    from workbench.jobs.job import Job

__all__ = ["feeds", "from_join", "later", "named", "outputs", "reached", "steps", "taken_on"]

_FURTHER = [*FATES, "taken out before it", "not known"]
"""What a row may become in a later join, as `later` counts it."""


def feeds(joins: Sequence[Job]) -> list[dict[Side, int]]:
    """For each join its sides that come out of another join, and the number of that one."""
    numbers = {each.known.plan: number for number, each in enumerate(joins)}
    return [
        {
            side: numbers[child]
            for side, child in zip(SIDES, each.known.join.children, strict=False)
            if side in each.origins and child in numbers
        }
        for each in joins
    ]


def from_join(job: Job, feed: dict[Side, int], rows: dict[Side, RowNumbers]) -> RowNumbers:
    """For some rows of a join, by side, the number of the join that they come out of; -1 of rows of a stream."""
    found = [
        np.where(job.origins[side][rows[side]] != -1, feed[side], -1)
        if side in feed
        else np.full(len(rows[side]), -1, dtype=np.int64)
        for side in SIDES
    ]
    return np.concatenate(found)


def taken_on(joins: Sequence[Job], number: int) -> tuple[int, Side] | None:
    """The number and side of the join that takes in what comes out of one; None of the last."""
    return next(
        ((later, side) for later, feed in enumerate(feeds(joins)) for side, of in feed.items() if of == number), None
    )


def outputs(job: Job) -> pd.DataFrame:
    """The rows that come out of a join, a line for each row in them.

    Columns: ``row`` (its place in `Job.rows`), ``output`` (the place in `workbench.jobs.leaving.emitted`).
    """
    out = leaving.emitted(job.simulation)
    parts = []
    for side in SIDES:
        rows = out[side].to_numpy()
        there = np.flatnonzero(rows >= 0)
        parts.append(pd.DataFrame({"row": _first(job, side) + rows[there], "output": there}))
    return pd.concat(parts, ignore_index=True)


def steps(joins: Sequence[Job], number: int) -> Iterator[tuple[int, pd.DataFrame]]:
    """The way of a join's rows through those after it: the number of each, and which of its rows have one in them.

    Columns of each frame: ``row`` (the place in `Job.rows` of the join that is asked for) and ``entered`` (that in
    `Job.rows` of the later one).
    """
    way: pd.DataFrame | None = None
    while (next_one := taken_on(joins, number)) is not None:
        later_one, side = next_one
        origin = joins[later_one].origins[side]
        there = np.flatnonzero(origin >= 0)
        entered = pd.DataFrame({"output": origin[there], "entered": _first(joins[later_one], side) + there})
        step = outputs(joins[number]).merge(entered, on="output")
        if way is not None:
            step = way.rename(columns={"entered": "on"}).merge(
                step.rename(columns={"row": "on"}).drop(columns="output"), on="on"
            )
        way = step[["row", "entered"]].drop_duplicates(ignore_index=True)
        yield later_one, way
        number = later_one


def later(joins: Sequence[Job], number: int, fates: Sequence[pd.Series[str]]) -> list[str]:
    """For each row of a join what became, in the joins after it, of the rows that came out with it; empty: none did.

    Parameters
    ----------
    joins
        All of them.
    number
        The number of the join.
    fates
        For each join the fates of its rows.
    """
    found = [""] * len(fates[number])
    for after, way in steps(joins, number):
        job = joins[after]
        kinds = fates[after].map({fate: place for place, fate in enumerate(FATES)}).fillna(len(_FURTHER) - 1)
        became = kinds.to_numpy(dtype=np.int64)
        became[_is_taken_out(job)] = len(_FURTHER) - 2
        counts = np.zeros((len(found), len(_FURTHER)), dtype=np.int64)
        np.add.at(counts, (way["row"].to_numpy(), became[way["entered"].to_numpy()]), 1)
        each, of = np.unique(counts, axis=0, return_inverse=True)
        words = [f"join {after}: {_in_words(one)}" if one.any() else "" for one in each]
        told = [words[at] for at in of.ravel().tolist()]
        found = ["; ".join(filter(None, both)) for both in zip(found, told, strict=True)]
    return found


def reached(joins: Sequence[Job], number: int) -> Counts:
    """For each row of a join in how many rows it is that come out of the last join on their way."""
    count = len(joins[number].left) + len(joins[number].right)
    ways = list(steps(joins, number))
    last = outputs(joins[ways[-1][0] if ways else number])
    if ways:
        last = ways[-1][1].merge(last.rename(columns={"row": "entered"}), on="entered")
    last = last[["row", "output"]].drop_duplicates()
    return np.bincount(last["row"].to_numpy(dtype=np.int64), minlength=count)


def named(joins: Sequence[Job], number: int, rows: RowNumbers) -> list[str]:
    """What came together in rows of a join that came out of another one, by their places in `Job.rows`, in words."""
    job, words = joins[number], []
    for side, of in feeds(joins)[number].items():
        first, origin = _first(job, side), job.origins[side]
        labels, out = Labels(joins[of].simulation, whole=False), leaving.emitted(joins[of].simulation)
        for row in rows[(rows >= first) & (rows < first + len(origin))] - first:
            pair = [int(out[each].iloc[origin[row]]) for each in SIDES]
            there = [labels.label(each, at) for each, at in Sides(*pair).items() if at >= 0]
            words.append(f"out of join {of}: {' with '.join(there)}{', without partner' * (len(there) == 1)}")
    return words


def _in_words(counts: Counts) -> str:
    return ", ".join(f"{count:,} {_FURTHER[at].replace('_', ' ')}" for at, count in enumerate(counts.tolist()) if count)


def _is_taken_out(job: Job) -> Flags:
    """Which rows of a join's are listed and do not come to it."""
    gone = job.simulation.facts.gone
    if gone is None:
        return np.zeros(len(job.left) + len(job.right), dtype=bool)
    return np.concatenate([gone[side].rows for side in SIDES])


def _first(job: Job, side: Side) -> int:
    """The place in `Job.rows` of the first row of a side."""
    return 0 if side == "left" else len(job.left)
