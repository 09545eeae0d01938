"""The model held to Spark: row by row, micro-batch by micro-batch.

A difference is a fault of the workbench, and is told as one.
"""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workbench import _state, _tables, recording
from workbench.joins import CoGroup
from workbench.model import Micros, Outcome, first_matches
from workbench.streams import ROW, SIDES

if TYPE_CHECKING:
    import pyarrow as pa

    from workbench.results import Run

_SPELLED_OUT = 5
_MOST_STATE_ROWS = 50_000
_MOST_ROWS = 200_000  # reading state back replays all that was ever put into it


def compare(run: Run, every_state: bool = True) -> pd.DataFrame:
    """Hold the model to what Spark did.

    Parameters
    ----------
    run
        The run.
    every_state
        Read the state after every micro-batch with Spark's state data source; else after three of them: the one with
        the most rows, the one half-way, the last; and after none where more than 200,000 rows arrived. (How many rows
        are held is compared after all of them.)

    Returns
    -------
    pandas.DataFrame
        Columns ``what`` (was compared), ``model``, ``spark`` (how many facts each has), ``differences`` (how many),
        ``examples``.
    """
    outcome = run.outcome
    batches = _with_state(run, every_state)
    return pd.DataFrame(
        [
            _fact("watermark of each micro-batch", _model_marks(outcome), _spark_marks(run)),
            _fact(_output_words(run), _model_output(run, outcome), _spark_output(run)),
            _fact(_dropped_words(run), _model_dropped(run, outcome), _spark_counts(run, "dropped")),
            _fact(_counted_words(run), _model_counts(outcome), _spark_counts(run, "state_rows")),
            _fact(
                "micro-batch, side and row of what is in state",
                _model_state(outcome, batches),
                _spark_state(run, batches),
            ),
        ]
    )


def _with_state(run: Run, every: bool) -> list[int]:
    rows = run.batches.set_index("batch")["state_rows"]
    small = rows[rows <= _MOST_STATE_ROWS]
    if not every and len(run.left) + len(run.right) > _MOST_ROWS:
        return []
    if every or len(small) <= 3:
        return list(small.index)
    return sorted({int(small.idxmax()), int(small.index[len(small) // 2]), int(small.index[-1])})


def _fact(what: str, model: Micros, spark: Micros) -> dict[str, Any]:
    model, spark = (each[np.lexsort(each.T[::-1])] for each in (model, spark))
    differences = [] if np.array_equal(model, spark) else list(_difference(model, spark))
    return {
        "what": what,
        "model": len(model),
        "spark": len(spark),
        "differences": len(differences),
        "examples": "; ".join(differences[:_SPELLED_OUT]),
    }


def _difference(model: Micros, spark: Micros) -> Iterable[str]:
    counted = [Counter(map(tuple, each.tolist())) for each in (model, spark)]
    only = [list((one - other).elements()) for one, other in (counted, counted[::-1])]
    for pair in zip_longest(*only):
        for words, each in zip(("model only", "Spark only"), pair, strict=True):
            if each is not None:
                yield f"{words}: {each}"


def _columns(*columns: Any) -> Micros:
    """Columns of whole numbers side by side, one row a fact."""
    return np.column_stack([np.asarray(each, dtype=np.int64) for each in columns])


def _model_marks(outcome: Outcome) -> Micros:
    return _columns(np.arange(len(outcome.marks)), outcome.marks.eviction)


def _spark_marks(run: Run) -> Micros:
    return _columns(run.batches["batch"], _tables.micros(run.batches["watermark"]))


def _output_words(run: Run) -> str:
    if isinstance(run.join, CoGroup):
        return "side, row, window and micro-batch of each row in a group that came out"
    return "left row, right row, window and micro-batch of each row that came out"


def _model_output(run: Run, outcome: Outcome) -> Micros:
    if isinstance(run.join, CoGroup):
        done = outcome.groups["batch"].to_numpy() < len(outcome.marks)
        parts = []
        for number, side in enumerate(SIDES):
            mine = outcome.copies[side]
            mine = mine[mine["group"] >= 0]
            mine = mine[done[mine["group"]]]
            groups = outcome.groups.iloc[mine["group"]]
            parts.append(
                _columns(np.full(len(mine), number), mine["row"], *(groups[name] for name in ("start", "end", "batch")))
            )
        return np.concatenate(parts)
    pairs = first_matches(outcome).assign(right=-1) if run.join.how == "semi" else outcome.pairs
    pairs = pairs.iloc[:0] if run.join.how == "anti" else pairs
    padded = outcome.padded
    left = np.where(padded["side"] == "left", padded["row"], -1)
    right = np.where(padded["side"] == "right", padded["row"], -1)
    spans = ("start", "end", "batch")
    return np.concatenate(
        [
            _columns(pairs["left"], pairs["right"], *(pairs[name] for name in spans)),
            _columns(left, right, *(padded[name] for name in spans)),
        ]
    )


def _spark_output(run: Run) -> Micros:
    import pyarrow as pa
    import pyarrow.compute as pc

    raw = run.raw_output
    count = raw.num_rows
    spans = [
        raw.column(name).cast(pa.timestamp("us", "UTC")).cast(pa.int64()).to_numpy()
        if run.windowed
        else np.zeros(count)
        for name in ("window_start", "window_end")
    ]
    spans.append(raw.column("batch").to_numpy())
    if not isinstance(run.join, CoGroup):
        return _columns(*(_row_numbers(raw, f"{side}_{ROW}") for side in SIDES), *spans)
    parts = []
    for number, side in enumerate(SIDES):
        lists = raw.column(side).combine_chunks()
        group = pc.list_parent_indices(lists).to_numpy()
        rows = pc.struct_field(pc.list_flatten(lists), [ROW]).to_numpy()
        parts.append(_columns(np.full(len(rows), number), rows, *(each[group] for each in spans)))
    return np.concatenate(parts)


def _row_numbers(raw: pa.Table, name: str) -> Micros:
    import pyarrow.compute as pc

    if name not in raw.column_names:
        return np.full(raw.num_rows, -1)
    numbers: Micros = pc.fill_null(raw.column(name), -1).to_numpy()
    return numbers


def _dropped_words(run: Run) -> str:
    if not _state.grouped(run):
        return "late rows, once for each window, in each micro-batch (numRowsDroppedByWatermark)"
    return "groups of late rows in each micro-batch (numRowsDroppedByWatermark counts partial aggregates)"


def _model_dropped(run: Run, outcome: Outcome) -> Micros:
    columns = ["batch", "key", "start"]
    parts = [outcome.copies[side][columns][outcome.copies[side]["late"]].assign(side=side) for side in SIDES]
    late = pd.concat(parts, ignore_index=True)
    if _state.sessions(run):  # counted before the sides are merged
        late = late.drop_duplicates(["batch", "side", "key", "start"])
    elif isinstance(run.join, CoGroup):  # counted after
        late = late.drop_duplicates(["batch", "key", "start"])
    counts = np.bincount(late["batch"], minlength=len(outcome.marks))
    return _columns(np.arange(len(counts)), counts)


def _counted_words(run: Run) -> str:
    return f"number of {'groups' if _state.grouped(run) else 'rows'} in state after each micro-batch (numRowsTotal)"


def _model_counts(outcome: Outcome) -> Micros:
    return _columns(np.arange(len(outcome.marks)), outcome.state_counts())


def _spark_counts(run: Run, column: str) -> Micros:
    return _columns(run.batches["batch"], run.batches[column])


def _model_state(outcome: Outcome, batches: list[int]) -> Micros:
    parts = [np.empty((0, 3), dtype=np.int64)]
    for batch in batches:
        for number, side in enumerate(SIDES):
            rows = outcome.held_after(batch, side)["row"]
            parts.append(_columns(np.full(len(rows), batch), np.full(len(rows), number), rows))
    return np.concatenate(parts)


def _spark_state(run: Run, batches: list[int]) -> Micros:
    if not batches:
        return np.empty((0, 3), dtype=np.int64)
    held = _state.held_after(run, batches)
    return _columns(held["batch"], held["side"] == "right", held["row"])


def save_report(run: Run, path: Path) -> Path:
    """Write what is needed to look into a difference: the recording, the settings, the comparison, the script."""
    import pyspark

    from workbench._version import __version__

    recording.save(path / "recording", run.left, run.right)
    about = {
        "join": repr(run.join),
        "finish": run.finish,
        "policy": run.policy,
        "versions": {"workbench": __version__, "pyspark": pyspark.__version__, "python": platform.python_version()},
        "comparison": run.comparison.to_dict("records"),
    }
    (path / "report.json").write_text(json.dumps(about, indent=2) + "\n")
    (path / "join.py").write_text(run.script)
    return path
