"""The rows of a case of `pattern_cases` as the two streams of a join, and a join's result in the words of a case."""

from __future__ import annotations

import pandas as pd

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
