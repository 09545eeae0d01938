"""One schema for what comes out of a join of any kind: outputs, and the rows that are members of each.

A pair is an output with a member on each side, a row that is padded with nulls one with a single member, a group of a
coGroup one with any number on each side. Whoever compares, explains, tunes or draws asks these two tables, and need not
know the kind of join.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from workbench.arrays import Batches, Counts, Flags, RowNumbers, Times
from workbench.joins import Emission
from workbench.literals import SIDES, Side
from workbench.model.ordering import order

__all__ = ["Outputs", "Placed", "members", "of_groups", "of_pairs"]


@dataclass(frozen=True, eq=False)
class Outputs:
    """What comes out of a join.

    Attributes
    ----------
    table
        One row an output: ``start``, ``end`` (of the window, in microseconds since 1970-01-01 UTC; 0 without windows),
        ``batch`` (the micro-batch it comes out in), ``matched`` (whether rows of both sides with equal keys are in it),
        ``emitted`` (whether a row comes out for it: not for the pairs of an anti join, nor for a left row's further
        pairs in a semi join). Of matches of a pattern also ``waited_for`` (the step that a partial match waited for
        when it was given up; None: it is a match, and only that is ``matched``); ``start`` and ``end`` are the times of
        its first and last row.
    members
        One row a member, ordered by side, output and row: ``side`` (the place in `SIDES`), ``output`` (the place in
        ``table``), ``row``, ``assignment`` (the place in `Outcome.assignments` of its side; -1 in what Spark wrote,
        which does not say). Of matches also ``step`` (the place of the row's list among those of the match) and
        ``place`` (its place in that list).
    """

    table: pd.DataFrame
    members: pd.DataFrame

    def __len__(self) -> int:
        """How many outputs there are, emitted or not."""
        return len(self.table)

    @cached_property
    def _of(self) -> dict[Side, pd.DataFrame]:
        left = int((self.members["side"] == 0).sum())
        return {"left": self.members.iloc[:left], "right": self.members.iloc[left:]}

    @cached_property
    def _counts(self) -> dict[Side, Counts]:
        return {side: np.bincount(self.of(side)["output"], minlength=len(self)) for side in SIDES}

    def of(self, side: Side) -> pd.DataFrame:
        """The members of a side."""
        return self._of[side]

    def counts(self, side: Side) -> Counts:
        """How many members of a side each output has."""
        return self._counts[side]

    def first(self, side: Side) -> RowNumbers:
        """The first row of a side in each output; -1 where there is none."""
        members, found = self.of(side), np.full(len(self), -1)
        found[members["output"].to_numpy()[::-1]] = members["row"].to_numpy()[::-1]
        return found

    def pairs(self) -> int:
        """How many pairs of rows have met, each row of a group with each of its other side."""
        met = self.table["matched"].to_numpy()
        return int((self.counts("left") * self.counts("right"))[met].sum())

    def emitted(self, sides: tuple[Side, ...] = SIDES) -> pd.DataFrame:
        """What is emitted, as rows: the first members of an output, the second ones, and so on, side by side.

        Parameters
        ----------
        sides
            The sides whose rows come out.

        Returns
        -------
        pandas.DataFrame
            ``output``; ``left``, ``right`` (rows; -1 where there is none, or none more); ``start``, ``end``, ``batch``;
            ``further`` (0 in the first row of an output, which names it; in the others that first row's left row + 1,
            or without one its right row + 1 below 0). A pair is one row, a group as many as its larger side has.

        Examples
        --------
        A group of two left rows, 4 and 5, and one right row, 7.

        >>> outputs = Outputs(
        ...     pd.DataFrame({"start": [0], "end": [9], "batch": [3], "matched": [True], "emitted": [True]}),
        ...     pd.DataFrame({"side": [0, 0, 1], "output": 0, "row": [4, 5, 7], "assignment": [4, 5, 7]}),
        ... )
        >>> outputs.emitted()[["left", "right", "batch", "further"]].to_numpy().tolist()
        [[4, 7, 3, 0], [5, -1, 3, 5]]
        """
        out = self.table["emitted"].to_numpy()
        lines = out * np.max([self.counts(side) for side in sides], axis=0)
        begins = np.cumsum(lines) - lines
        found = {"output": np.repeat(np.arange(len(self)), lines)}
        for side in SIDES:
            found[side] = np.full(len(found["output"]), -1)
            if side in sides:
                output, row = (self.of(side)[name].to_numpy() for name in ("output", "row"))
                shown = out[output]
                found[side][(begins[output] + _rank(output))[shown]] = row[shown]
        spans = {name: self.table[name].to_numpy()[found["output"]] for name in ("start", "end", "batch")}
        begin = begins[found["output"]]
        left, right = (found[side][begin] for side in SIDES)
        named = np.where(left >= 0, left + 1, -right - 1)
        further = np.where(begin < np.arange(len(begin)), named, 0)
        return pd.DataFrame(found | spans | {"further": further})


def _rank(output: RowNumbers) -> RowNumbers:
    """The place of each member within its output, for members in order of output.

    Examples
    --------
    >>> _rank(np.array([0, 0, 0, 2, 2])).tolist()
    [0, 1, 2, 0, 1]
    """
    place = np.arange(len(output))
    begins = np.ones(len(output), dtype=bool)
    begins[1:] = output[1:] != output[:-1]
    if begins.all():
        return np.zeros(len(output), dtype=np.int64)
    rank: RowNumbers = place - np.maximum.accumulate(np.where(begins, place, 0))
    return rank


@dataclass(frozen=True, eq=False)
class Placed:
    """When and in which window some outputs come out, each array one value an output.

    Attributes
    ----------
    assignments
        Per side the place in `Outcome.assignments` of the output's only member there.
    start, end, batch
        As in `Outputs.table`.
    """

    assignments: dict[Side, RowNumbers]
    start: Times
    end: Times
    batch: Batches


def of_pairs(
    emission: Emission,
    rows: Mapping[Side, RowNumbers],
    pairs: Placed,
    padded: Mapping[Side, Placed],
    of: RowNumbers | None = None,
) -> Outputs:
    """Outputs of a join that gives pairs, and rows without partner.

    Parameters
    ----------
    emission
        What comes out.
    rows
        Per side the row of each assignment.
    pairs
        The pairs.
    padded
        Per side the rows that come out without partner.
    of
        Of each pair the firing of its window, where windows fire again: a left row comes out once in each.
    """
    emitted = np.full(len(pairs.batch), emission.matched)
    if emission.first_only:
        emitted = _first(pairs.assignments["left"], pairs.batch, of)
    parts = [pairs, *padded.values()]
    ends = np.cumsum([len(each.batch) for each in parts])
    table = {name: np.concatenate([getattr(each, name) for each in parts]) for name in ("start", "end", "batch")}
    count = int(ends[-1])
    table["matched"] = np.arange(count) < ends[0]
    table["emitted"] = np.ones(count, dtype=bool)
    table["emitted"][: ends[0]] = emitted
    sides = []
    for side in SIDES:
        mine = [(each, end) for each, end in zip(parts, ends, strict=True) if side in each.assignments]
        output = np.concatenate([np.arange(end - len(each.batch), end) for each, end in mine])
        assignment = np.concatenate([each.assignments[side] for each, _ in mine])
        sides.append((output, rows[side][assignment], assignment))
    return Outputs(pd.DataFrame(table, copy=False), members(*sides))


def of_groups(groups: pd.DataFrame, matched: Flags, out: Flags, assignments: Mapping[Side, pd.DataFrame]) -> Outputs:
    """Outputs of a join that gives groups.

    Parameters
    ----------
    groups
        `Outcome.groups`.
    matched, out
        Which of them have rows of both sides with equal keys, and which of them come out.
    assignments
        `Outcome.assignments`.
    """
    table = groups.loc[out, ["start", "end", "batch"]].reset_index(drop=True)
    table = table.assign(matched=matched[out], emitted=True)
    number = np.cumsum(out) - 1
    sides = []
    for side in SIDES:
        group = assignments[side]["group"].to_numpy()
        assignment = np.flatnonzero(group >= 0)
        assignment = assignment[out[group[assignment]]]
        output = number[group[assignment]]
        places = order(output)
        row = assignments[side]["row"].to_numpy()[assignment[places]]
        sides.append((output[places], row, assignment[places]))
    return Outputs(table, members(*sides))


def _first(left: RowNumbers, batch: Batches, of: RowNumbers | None) -> Flags:
    """Which pairs are the first of their left assignment, in each firing of its window if it has several."""
    of = np.zeros(len(left), dtype=np.int64) if of is None else of
    order = np.lexsort((batch, of, left))
    begins = np.ones(len(left), dtype=bool)
    begins[1:] = (np.diff(left[order]) != 0) | (np.diff(of[order]) != 0)
    first = np.zeros(len(left), dtype=bool)
    first[order[begins]] = True
    return first


def members(left: tuple[RowNumbers, ...], right: tuple[RowNumbers, ...]) -> pd.DataFrame:
    """`Outputs.members`, from each side's ``output``, ``row`` and ``assignment``, in order of output and row."""
    columns = [np.concatenate(both) for both in zip(left, right, strict=True)]
    side = np.repeat(np.arange(2, dtype=np.int8), [len(left[0]), len(right[0])])
    return pd.DataFrame(dict(zip(("side", "output", "row", "assignment"), (side, *columns), strict=True)), copy=False)
