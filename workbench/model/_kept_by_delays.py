"""Which share of a join's results, or of its rows, each pair of watermark delays keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from workbench.arrays import Numbers, RowNumbers, Times
from workbench.joins import Join, emission
from workbench.kinds import AGGREGATION, HASH_JOIN, NEVER, kind_of
from workbench.literals import SIDES, Policy, Side, other_side
from workbench.model._outcome import Outcome
from workbench.model._shared import RowFacts
from workbench.model._watermarks import Watermarks

__all__ = ["KeptByDelays", "kept_results", "kept_rows"]


@dataclass(frozen=True, eq=False)
class KeptByDelays:
    """What is kept under each pair of delays: a function that rises in steps, all of which are known.

    Something is kept if each part of it is on time: of a pair both rows, of a group all rows. A part is on time if the
    watermark of its micro-batch is below its end. Under ``min`` one side's watermark below it is enough,
    under ``max`` both have to be.

    Attributes
    ----------
    policy
        How the query's watermark follows from those of both sides.
    count
        How many results or rows there are.
    of
        For each part which of them it belongs to, from 0 to ``count - 1``.
    needs
        For each part and side the least delay with which that side's watermark is below its end, in microseconds, whole
        milliseconds; `NEVER` where none is.

    Examples
    --------
    Two pairs; the left row of the second needs 5 ms on the left side, or 9 ms on the right one.

    >>> left, right = np.array([0, 0, 5_000, 0]), np.array([0, 0, 9_000, 0])
    >>> found = KeptByDelays("min", 2, np.array([0, 0, 1, 1]), {"left": left, "right": right})
    >>> found.share({"left": 4_999, "right": 0}), found.share({"left": 5_000, "right": 0})
    (0.5, 1.0)
    >>> found.minimal(1.0, 10)
    [{'left': 0, 'right': 9000}, {'left': 5000, 'right': 0}]
    """

    policy: Policy
    count: int
    of: RowNumbers
    needs: Mapping[Side, Times]

    def share(self, delays: Mapping[Side, int]) -> float:
        """The share that is kept under such delays, in microseconds; 1 where there is nothing to keep."""
        on_time = [self.needs[side] <= delays[side] for side in SIDES]
        good = on_time[0] | on_time[1] if self.policy == "min" else on_time[0] & on_time[1]
        lost = len(np.unique(self.of[~good]))
        return (self.count - lost) / self.count if self.count else 1.0

    def needed(self, side: Side, other: int) -> Times:
        """For each result or row the least delay of a side that keeps it beside `other` of the other, ascending."""
        good = self.needs[other_side(side)] <= other
        mine = self.needs[side]
        return self._of_all(np.where(good, 0, mine) if self.policy == "min" else np.where(good, mine, NEVER))

    def curve(self, side: Side, other: int) -> tuple[Times, Numbers]:
        """The delays of a side at which the share that is kept rises, from 0, ascending, and the share from each on.

        Examples
        --------
        >>> needs = {"left": np.array([0, 5_000, NEVER]), "right": np.array([NEVER] * 3)}
        >>> delays, shares = KeptByDelays("min", 3, np.arange(3), needs).curve("left", 0)
        >>> delays.tolist(), shares.round(2).tolist()
        ([0, 5000], [0.33, 0.67])
        """
        needed = self.needed(side, other)
        delays = np.unique(np.append(0, needed[needed < NEVER]))
        kept = np.searchsorted(needed, delays, side="right")
        return delays, kept / self.count if self.count else np.ones(len(delays))

    def needed_by_both(self) -> Times:
        """The same of one delay on both sides."""
        return self._of_all((np.minimum if self.policy == "min" else np.maximum)(*(self.needs[side] for side in SIDES)))

    def least(self, needed: Times, keep: float) -> int:
        """The least of such delays that keeps a share; `NEVER` where none does."""
        count = self.enough(keep)
        return int(needed[count - 1]) if count else 0

    def enough(self, keep: float) -> int:
        """How many results or rows are at least a share of all."""
        count = int(np.ceil(keep * self.count))
        while count and (count - 1) / self.count >= keep:
            count -= 1
        return count

    def minimal(self, keep: float, most: int) -> list[dict[Side, int]]:
        """The pairs of delays that keep a share while no shorter delay of either side does, at most so many of them.

        Where there are more, delays of the left side are left out, evenly: each pair keeps the share all the same.
        """
        tried = np.unique(np.append(self.needs["left"], 0))
        tried = tried[tried < NEVER]
        if len(tried) > most:
            tried = tried[np.unique(np.linspace(0, len(tried) - 1, most).astype(int))]
        found: list[dict[Side, int]] = []
        for left in tried.tolist():
            right = self.least(self.needed("right", left), keep)
            if right < NEVER and (not found or right < found[-1]["right"]):
                found.append({"left": left, "right": right})
            if right == 0:
                break
        return found

    def _of_all(self, parts: Times) -> Times:
        """Of what each part needs what all parts of each result need, ascending."""
        found = np.zeros(self.count, dtype=np.int64)
        np.maximum.at(found, self.of, parts)
        return np.sort(found)


def kept_results(
    join: Join, complete: Outcome, marks: Watermarks, policy: Policy, facts: RowFacts
) -> KeptByDelays | None:
    """What each pair of delays keeps of the complete result.

    Parameters
    ----------
    join, complete
        The join, and its outcome with nothing late.
    marks, policy
        The watermarks under any delays, and the policy.
    facts
        What is known of the rows beside their keys and times.

    Returns
    -------
    KeptByDelays or None
        None where the rows that are late change what other rows come to: in sessions, which a late row does not bridge;
        in semi joins, for which another partner will do; where a row has one partner of several; in patterns; where a
        query forgot watermarks when it was started again; where Spark evicts rows before their partners have come.
    """
    kind = kind_of(join)
    forgotten = any((marks.newest[side][1:] < marks.newest[side][:-1]).any() for side in SIDES)
    fixed = kind.operator in (HASH_JOIN, AGGREGATION) and not kind.merging
    if not fixed or forgotten or facts.evicts_early or (not kind.grouped and emission(join).first_only):
        return None
    emitted = complete.outputs.table["emitted"].to_numpy()
    number = np.cumsum(emitted) - 1
    of: list[RowNumbers] = []
    needs: dict[Side, list[Times]] = {side: [] for side in SIDES}
    for side in SIDES:
        members, assignments = complete.outputs.of(side), complete.assignments[side]
        members = members[emitted[members["output"].to_numpy()]]
        place = members["assignment"].to_numpy()
        of.append(number[members["output"].to_numpy()])
        ends, batches = (assignments[name].to_numpy()[place] for name in ("end", "batch"))
        for moved in SIDES:
            never_late = side in facts.never_late
            needs[moved].append(
                np.zeros(len(place), np.int64) if never_late else marks.least_delays(moved, batches - 1, ends)
            )
    return KeptByDelays(
        policy, int(emitted.sum()), np.concatenate(of), {side: np.concatenate(needs[side]) for side in SIDES}
    )


def kept_rows(outcome: Outcome, policy: Policy, sides: Sequence[Side]) -> KeptByDelays:
    """What each pair of delays keeps of the rows of some sides: those that are on time for one of their windows.

    Rows that are filtered out before the join are not counted, nor those at or before 1970, which no delay keeps.
    """
    rows = pd.concat([outcome.assignments[side].drop_duplicates("row", keep="last") for side in sides])
    last = rows[~rows["filtered"] & (rows["end"] > 0)]
    batches, ends = last["batch"].to_numpy(), last["end"].to_numpy()
    needs = {moved: outcome.marks.least_delays(moved, batches - 1, ends) for moved in SIDES}
    return KeptByDelays(policy, len(last), np.arange(len(last)), needs)
