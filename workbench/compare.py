"""The model held to Spark: pair by pair, row by row, micro-batch by micro-batch.

A difference is a fault of the workbench, and is told as one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workbench import _state, _tables
from workbench.joins import CoGroup
from workbench.model import Outcome
from workbench.model._outcome import first_matches
from workbench.streams import ROW, SIDES

if TYPE_CHECKING:
    from workbench.results import Run

_MOST = 5  # differences that are spelled out


def compare(run: Run, state: bool = True) -> pd.DataFrame:
    """Hold the model to what Spark did.

    Parameters
    ----------
    run
        The run.
    state
        Compare the rows in state after each micro-batch too, read back with Spark's state data source.

    Returns
    -------
    pandas.DataFrame
        Columns ``what`` (was compared), ``model``, ``spark`` (how many), ``differences`` (how many), ``examples``.
    """
    outcome = run.outcome
    facts = [
        ("watermark of each micro-batch", _model_marks(outcome), _spark_marks(run)),
        ("rows out, each with its micro-batch", _model_output(run, outcome), _spark_output(run)),
        (_dropped_words(run), _model_dropped(run, outcome), _spark_counts(run, "dropped")),
        (_counted_words(run), _model_state_rows(run, outcome), _spark_counts(run, "state_rows")),
    ]
    if state:
        facts.append(
            ("rows in state after each micro-batch", _model_state(outcome), _spark_state(run, len(outcome.marks)))
        )
    return pd.DataFrame([_fact(*each) for each in facts])


def _fact(what: str, model: list[Any], spark: list[Any]) -> dict[str, Any]:
    differences = list(_multiset_difference(model, spark))
    return {
        "what": what,
        "model": len(model),
        "spark": len(spark),
        "differences": len(differences),
        "examples": "; ".join(differences[:_MOST]),
    }


def _multiset_difference(model: list[Any], spark: list[Any]) -> Iterable[str]:
    counted = Counter(model), Counter(spark)
    only = [list((one - other).elements()) for one, other in (counted, counted[::-1])]
    for pair in zip_longest(*only):
        for words, each in zip(("model only", "Spark only"), pair, strict=True):
            if each is not None:
                yield f"{words}: {each}"


def _model_marks(outcome: Outcome) -> list[Any]:
    return list(enumerate((outcome.marks.eviction // 1000).tolist()))


def _spark_marks(run: Run) -> list[Any]:
    marks = _tables.micros(run.batches["watermark"]) // 1000
    return list(zip(run.batches["batch"], marks, strict=True))


def _model_output(run: Run, outcome: Outcome) -> list[Any]:
    if isinstance(run.join, CoGroup):
        done = outcome.groups[outcome.groups["batch"] < len(outcome.marks)]
        rows: dict[str, dict[int, list[int]]] = {}
        for side in SIDES:
            mine = outcome.copies[side]
            rows[side] = mine[mine["group"] >= 0].groupby("group")["row"].apply(list).to_dict()
        return [
            (*(tuple(sorted(rows[side].get(group, ()))) for side in SIDES), start, end, batch)
            for group, start, end, batch in done[["start", "end", "batch"]].itertuples()
        ]
    pairs = first_matches(outcome).assign(right=-1) if run.join.how == "semi" else outcome.pairs
    if run.join.how == "anti":
        pairs = pairs.iloc[:0]
    columns = ["left", "right", "start", "end", "batch"]
    found = [tuple(map(int, each)) for each in pairs[columns].itertuples(index=False)]
    for side, row, start, end, batch in outcome.padded[["side", "row", "start", "end", "batch"]].itertuples(
        index=False
    ):
        found.append((int(row), -1, start, end, batch) if side == "left" else (-1, int(row), start, end, batch))
    return found


def _spark_output(run: Run) -> list[Any]:
    import pyarrow as pa

    raw = run.raw_output
    spans = [
        raw.column(name).cast(pa.timestamp("us", "UTC")).cast(pa.int64()).to_pylist()
        if run.windowed
        else [0] * raw.num_rows
        for name in ("window_start", "window_end")
    ]
    batch = raw.column("batch").to_pylist()
    if isinstance(run.join, CoGroup):
        rows = [
            [tuple(sorted(each[ROW] for each in group)) for group in raw.column(side).to_pylist()] for side in SIDES
        ]
        return list(zip(*rows, *spans, batch, strict=True))
    numbers = []
    for side in SIDES:
        name = f"{side}_{ROW}"
        found = raw.column(name).to_pylist() if name in raw.column_names else [None] * raw.num_rows
        numbers.append([-1 if each is None else each for each in found])
    return list(zip(*numbers, *spans, batch, strict=True))


def _grouped(run: Run) -> bool:
    return _state.grouped(run)


def _dropped_words(run: Run) -> str:
    if not _grouped(run):
        return "late rows, or their copies in windows, in each micro-batch (numRowsDroppedByWatermark)"
    return "groups of late rows in each micro-batch (numRowsDroppedByWatermark counts partial aggregates)"


def _counted_words(run: Run) -> str:
    return f"number of {'groups' if _grouped(run) else 'rows'} in state after each micro-batch (numRowsTotal)"


def _model_dropped(run: Run, outcome: Outcome) -> list[Any]:
    late = pd.concat([outcome.copies[side].assign(side=side) for side in SIDES], ignore_index=True)
    late = late[late["late"]]
    if isinstance(run.join, CoGroup) and not _state.sessions(run):
        late = late.drop_duplicates(["batch", "key", "start"])  # counted after both sides are merged
    elif _grouped(run):
        late = late.assign(lone=np.where(late["key"] < 0, late["row"], -1))
        late = late.drop_duplicates(["batch", "side", "key", "start"])  # counted before
    counts = np.bincount(late["batch"], minlength=len(outcome.marks))
    return list(enumerate(counts.tolist()))


def _model_state_rows(run: Run, outcome: Outcome) -> list[Any]:
    if not _grouped(run):
        rows = outcome.state_rows()
        return list(enumerate((rows["left"] + rows["right"]).tolist()))
    return list(enumerate(outcome.open_groups.tolist()))


def _spark_counts(run: Run, column: str) -> list[Any]:
    return list(zip(run.batches["batch"], run.batches[column], strict=True))


def _model_state(outcome: Outcome) -> list[Any]:
    found = []
    for side in SIDES:
        mine = outcome.copies[side]
        mine = mine[mine["held"]]
        for row, came, leaves in mine[["row", "batch", "leaves"]].itertuples(index=False):
            found += [(batch, side, row) for batch in range(came, min(leaves, len(outcome.marks)))]
    return found


def _spark_state(run: Run, count: int) -> list[Any]:
    found = []
    for batch in range(count):
        held = _state.held(run, batch)
        found += [(batch, side, row) for side, row in held[["side", "row"]].itertuples(index=False)]
    return found
