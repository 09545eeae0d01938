"""The model verified against Spark: row by row, micro-batch by micro-batch.

A difference is a mismatch, a bug of the workbench, and is reported as one.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import zip_longest
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd

from workbench import recording, safe_files
from workbench.arrays import Integers
from workbench.engine import sink_reader, state_reader
from workbench.engine.execution import Execution, versions
from workbench.joins import emission
from workbench.kinds import kind_of
from workbench.literals import SIDES, Side
from workbench.model import Outcome, Outputs, Simulation, drop_counts
from workbench.reasons import tables
from workbench.untyped import Record, Value

__all__ = ["MOST_ROWS", "STATE", "compare", "compared", "output_facts", "save_report"]

STATE = "micro-batch, side and row of what is in state"
"""The fact whose comparison reads the checkpoint."""

MOST_ROWS = 200_000
"""Rows that may arrive where the state is to be compared: reading it back replays all that was ever put into it."""
_MOST_STATE_ROWS = 50_000
_SPELLED_OUT = 5


def compare(
    simulation: Simulation, execution: Execution, micro_batches: pd.DataFrame, every_state: bool = True
) -> pd.DataFrame:
    """Verify the model against what Spark did.

    Parameters
    ----------
    simulation
        What the model says.
    execution
        What Spark did.
    micro_batches
        The table `Run.batches`.
    every_state
        Read the state after every micro-batch with Spark's state data source, but for those of more than 50,000 rows in
        state; else after three of them: the one with
        the most rows, the one half-way, the last; and after none where more than 200,000 rows arrived. (How many rows
        are held is compared after all of them.) A run that was loaded has no state to read: what was in state is
        listed as it was compared when the run was saved.

    Returns
    -------
    pandas.DataFrame
        Columns ``what`` (was compared), ``model``, ``spark`` (how many facts each has), ``differences`` (how many),
        ``examples``.
    """
    outcome = simulation.outcome
    kind = kind_of(simulation.join)
    operator, grouped = kind.operator, kind.grouped
    if execution.is_loaded and every_state:
        execution.at_hand()  # says why not
    return pd.DataFrame(
        [
            compared("watermark of each micro-batch", _model_marks(outcome), _spark_marks(micro_batches)),
            compared(
                "left row, right row, window and micro-batch of what came out",
                output_facts(outcome.outputs, grouped, emission(simulation.join).sides),
                output_facts(sink_reader.outputs(execution.raw_output, simulation.join), grouped),
            ),
            compared(
                operator.drops,
                _numbered(drop_counts(simulation.join, outcome)),
                _spark_counts(micro_batches, "dropped"),
            ),
            compared(
                f"number of {operator.holds} in state after each micro-batch (numRowsTotal)",
                _numbered(outcome.state_counts()),
                _spark_counts(micro_batches, "state_rows"),
            ),
            *_state_fact(simulation, execution, micro_batches, every_state),
        ]
    )


def _state_fact(
    simulation: Simulation, execution: Execution, micro_batches: pd.DataFrame, every: bool
) -> list[Mapping[str, Value]]:
    """What is in state, compared; of a run that was loaded, as it was compared when it was saved."""
    if execution.is_loaded:
        return [execution.compared_state] if execution.compared_state is not None else []
    batches = _with_state(simulation, micro_batches, every)
    return [
        compared(STATE, _model_state(simulation.outcome, batches), _spark_state(simulation, execution, batches)),
    ]


def _with_state(simulation: Simulation, micro_batches: pd.DataFrame, every: bool) -> list[int]:
    rows = micro_batches.set_index("batch")["state_rows"]
    small = rows[rows <= _MOST_STATE_ROWS]
    if not every and len(simulation.left) + len(simulation.right) > MOST_ROWS:
        return []
    if every or len(small) <= 3:
        return list(small.index)
    return sorted({int(small.idxmax()), int(small.index[len(small) // 2]), int(small.index[-1])})


def compared(what: str, model: Integers, found: Integers, engine: str = "Spark") -> Record:
    """A row of `compare`.

    Parameters
    ----------
    what
        What is compared.
    model, found
        One row a fact, in any order: as the model has them, and as the engine.
    engine
        What ran the join.
    """
    model, found = (each[np.lexsort(each.T[::-1])] for each in (model, found))
    differences = [] if np.array_equal(model, found) else list(_difference(model, found, engine))
    return {
        "what": what,
        "model": len(model),
        engine.lower(): len(found),
        "differences": len(differences),
        "examples": "; ".join(differences[:_SPELLED_OUT]),
    }


def _difference(model: Integers, found: Integers, engine: str) -> Iterable[str]:
    counted = [Counter(map(tuple, each.tolist())) for each in (model, found)]
    only = [list((one - other).elements()) for one, other in (counted, counted[::-1])]
    for pair in zip_longest(*only):
        for words, each in zip(("model only", f"{engine} only"), pair, strict=True):
            if each is not None:
                yield f"{words}: {each}"


def _columns(*columns: Value) -> Integers:
    """Columns of whole numbers side by side, one row a fact."""
    return np.column_stack([np.asarray(each, dtype=np.int64) for each in columns])


def _model_marks(outcome: Outcome) -> Integers:
    return _columns(np.arange(len(outcome.marks)), outcome.marks.eviction)


def _spark_marks(micro_batches: pd.DataFrame) -> Integers:
    return _columns(micro_batches["batch"], tables.micros(micro_batches["watermark"]))


def output_facts(outputs: Outputs, grouped: bool, sides: tuple[Side, ...] = SIDES) -> Integers:
    """What came out, as facts to compare: rows, window, micro-batch.

    Parameters
    ----------
    outputs
        What came out.
    grouped
        Whether in groups.
    sides
        The sides whose rows come out.
    """
    if "step" in outputs.members:
        return _facts_of_matches(outputs)
    rows = outputs.emitted(sides)
    names = ["left", "right", "start", "end", "batch", *(["further"] if grouped else [])]
    return _columns(*(rows[name] for name in names))


def _facts_of_matches(outputs: Outputs) -> Integers:
    """A match in one row: its first rows, times and micro-batch, and a checksum of which row is where in it."""
    members = outputs.members.sort_values(["output", "step", "place"])
    words = defaultdict[int, list[tuple[int, ...]]](list)
    for output, *own in members[["output", "step", "place", "side", "row"]].itertuples(index=False, name=None):
        words[output].append(tuple(own))
    waited = outputs.table["waited_for"].tolist()
    sums = [crc32(repr((words[output], each)).encode()) for output, each in enumerate(waited)]
    spans = (outputs.table[name] for name in ("start", "end", "batch"))
    return _columns(outputs.first("left"), outputs.first("right"), *spans, np.array(sums, dtype=np.int64))


def _numbered(counts: Integers) -> Integers:
    """Counts with their micro-batch."""
    return _columns(np.arange(len(counts)), counts)


def _spark_counts(micro_batches: pd.DataFrame, column: str) -> Integers:
    return _columns(micro_batches["batch"], micro_batches[column])


def _model_state(outcome: Outcome, batches: list[int]) -> Integers:
    parts = [np.empty((0, 3), dtype=np.int64)]
    for batch in batches:
        for number, side in enumerate(SIDES):
            rows = outcome.held_after(batch, side)["row"]
            parts.append(_columns(np.full(len(rows), batch), np.full(len(rows), number), rows))
    return np.concatenate(parts)


def _spark_state(simulation: Simulation, execution: Execution, batches: list[int]) -> Integers:
    if not batches:
        return np.empty((0, 3), dtype=np.int64)
    held = state_reader.held_after(simulation, execution, batches)
    return _columns(held["batch"], held["side"] == "right", held["row"])


def save_report(simulation: Simulation, comparison: pd.DataFrame, script: str, path: Path) -> Path:
    """Write what is needed to look into a difference: the recording, the settings, the comparison, the script."""
    about = {
        "join": repr(simulation.join),
        "finish": simulation.finish,
        "policy": simulation.policy,
        "versions": versions(simulation.spark_version),
        "comparison": comparison.to_dict("records"),
    }
    with safe_files.folder(path, "a report of mismatches") as staged:
        (staged / "recording").mkdir()
        recording.write(staged / "recording", simulation.left, simulation.right)
        (staged / "report.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
        (staged / "join.py").write_text(script, encoding="utf-8")
    return path
