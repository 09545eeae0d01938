"""The rows of a case of `pattern_cases` as the two streams of a join, and a join's result in the words of a case."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pandas as pd
import pattern_cases
from hypothesis import strategies as st

import workbench as wb

START = pd.Timestamp("2026-01-01 10:00")
LAST = pd.Timedelta(hours=1)
"""How long after the first row a last one of each side comes, without a key: an empty side has no watermark."""


def streams(rows, batches=3):
    """A left and a right stream with these rows: key ``k``, time ``t``, ``kind``, ``x`` and ``n``, the row's number.

    The rows arrive in order, some in each micro-batch, so that none is late.

    Parameters
    ----------
    rows
        Rows of `pattern_cases`, in order of time and side.
    batches
        How many micro-batches there are.
    """
    return tuple(_stream(rows, side, name, batches) for side, name in enumerate(("left", "right")))


def _stream(rows, side, name, batches):
    mine = [(number, row) for number, row in enumerate(rows) if row.side == side]
    frame = pd.DataFrame(
        {
            "k": pd.array([*("k" for _ in mine), None], dtype="string"),
            "t": [*(START + pd.Timedelta(milliseconds=row.at) for _, row in mine), START + LAST],
            "kind": pd.array([*(row.kind for _, row in mine), None], dtype="string"),
            "x": pd.array([*(row.x for _, row in mine), None], dtype="Int64"),
            "n": pd.array([*(number for number, _ in mine), -1], dtype="int32"),
            "batch": [*(number * batches // len(rows) for number, _ in mine), batches - 1],
        }
    )
    return wb.Stream.from_pandas(frame, name, "k", "t", "1 minute", batch="batch")


def found(result):
    """What a run or a preview has found, as `pattern_cases.found` says it."""
    said = []
    for is_match, frame in ((True, result.output), (False, result.timed_out)):
        names = sorted(each.name for each in result.join.taken)
        for lists in frame[names].to_numpy().tolist():
            numbers = {name: [str(row["n"]) for row in each] for name, each in zip(names, lists, strict=True)}
            said.append((is_match, ";".join(f"{name}={','.join(each)}" for name, each in numbers.items() if each)))
    return said


def recorded(seed, delay="2 seconds", batches=5, rows=60):
    """Both sides, rows in any order of time within and some beyond the delay, many of them at the same time."""
    chance = random.Random(seed)
    made = []
    for side in ("left", "right"):
        found = []
        for number in range(rows // 2):
            batch = number * batches // (rows // 2)
            at = batch * 10 + chance.choice([-26, -16, -6, 0, 1, 1, 2, 3, 5, 8, 9])
            found.append(
                (chance.choice("kkl"), START + pd.Timedelta(seconds=at), chance.choice("aabcd"), batch, number)
            )
        frame = pd.DataFrame(found, columns=["k", "t", "kind", "batch", "n"])
        frame["x"] = pd.array([chance.choice([1, 2, 3, None]) for _ in found], dtype="Int64")
        frame.loc[::11, "k"] = None
        made.append(wb.Stream.from_pandas(frame, side + "s", "k", "t", delay, batch="batch"))
    return tuple(made)


@dataclass(frozen=True)
class Case:
    """A generated pattern and rows of two keys, some of them late."""

    seed: int
    finish: bool

    def run(self):
        """The case on Spark."""
        pattern = pattern_cases.pattern(random.Random(self.seed))
        return wb.run(pattern, *recorded(self.seed), finish=self.finish)


cases = st.builds(Case, st.integers(0, 2**32), st.booleans())
