"""The model verified against what a job left behind: the watermarks of its logs, and the rows in its state."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrays import Counts
from workbench.jobs import catalyst, entering, held_groups, not_followed, reported, restarts
from workbench.jobs.checkpoint import LATEST, Checkpoint
from workbench.jobs.understanding import Understood
from workbench.kinds import HASH_JOIN, kind_of
from workbench.literals import SIDES
from workbench.model import Simulation, drop_counts, watermarks
from workbench.sources.key_choice import Choice
from workbench.times import micros, precise
from workbench.untyped import Json, Record, Value

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["causes", "compare", "drops", "fates", "sizes"]

_COLUMNS = ["what", "model", "spark", "differences", "examples"]
_WATERMARKS = "watermark of each micro-batch"
_LATE = "late rows, once for each window (numRowsDroppedByWatermark)"
_IN_STATE = "rows in state after each micro-batch (numRowsTotal)"
"""What the lines of `Job.comparison` are called."""
Counters = tuple[list[tuple[int, int]], list[tuple[int, int]]]
"""The number of each micro-batch, and what the model counted in it; and what Spark did."""
_SPELLED_OUT = 5
_QUARTER, _CLOCK_CHANGE, _FARTHEST_ZONES = (minutes * 60_000_000 for minutes in (15, 60, 26 * 60))
"""By what time zones differ, each of them over a year, and at most, in microseconds."""


def compare(
    spark: SparkSession, simulation: Simulation, known: Understood, logs: Checkpoint, choice: Choice
) -> pd.DataFrame:
    """The table of `Job.comparison`."""
    marks = [node for node in known.plan.walk() if node.kind == "EventTimeWatermark"]
    facts = (
        [_watermarks(simulation, logs)]
        if len(marks) <= len(SIDES) and not logs.operators and not_followed.has_all_times(known.plan)
        else []
    )  # else others hold the query's back, too
    if known.description.join is None:  # of which only late rows and watermarks are known
        return pd.DataFrame(facts, columns=_COLUMNS)
    if known.join.kind == "Join" and kind_of(simulation.join).operator is HASH_JOIN:
        facts.append(_state(spark, simulation, known, logs, choice))
    elif known.groups is not None:
        with contextlib.suppress(held_groups.NotReadable):
            facts.append(_groups(spark, simulation, known, logs, choice))
    return pd.DataFrame(facts, columns=_COLUMNS)


def causes(
    mismatches: pd.DataFrame,
    simulation: Simulation,
    known: Understood,
    logs: Checkpoint,
    reports: Mapping[int, Json],
) -> list[str]:
    """What in the life of the query explains lines of `Job.comparison` that differ, in words."""
    found = []
    if _WATERMARKS in set(mismatches["what"]):
        found.append(_other_zone(simulation, known, logs) or _other_delay(simulation, logs))
    if {_LATE, _IN_STATE} & set(mismatches["what"]):
        found.append(_run_again(_late_counts(simulation, known, reports), _state_counts(simulation, known, reports)))
    return [each for each in found if each]


def _other_zone(simulation: Simulation, known: Understood, logs: Checkpoint) -> str:
    """Says that the job read its times in another zone, if all watermarks of its logs are apart by what zones are."""
    model, spark = _both_watermarks(simulation, logs)
    apart = {found - mine for (_, mine), (_, found) in zip(model, spark, strict=True) if mine and found}
    if not apart or any(not each or each % _QUARTER or abs(each) > _FARTHEST_ZONES for each in apart):
        return ""
    if max(apart) - min(apart) > _CLOCK_CHANGE:
        return ""
    by = precise(timedelta(microseconds=abs(min(apart))))
    here = catalyst.zone(known.plan) or "that of this session"
    return (
        f"the watermarks of the logs are {by} {'after' if min(apart) > 0 else 'before'} those of the rows as they are "
        f"read here: the job ran with another spark.sql.session.timeZone than {here}; make joined in a session that "
        "has the job's"
    )


def _run_again(*counters: Counters | None) -> str:
    """Says that Spark ran each micro-batch several times, if its counters are that many times those of the model."""
    both = [(model, spark) for each in counters if each for model, spark in zip(*each, strict=True)]
    times = [spark // model if model and spark % model == 0 else 0 for (_, model), (_, spark) in both if model or spark]
    if not times or min(times) < 1 or max(times) < 2:
        return ""
    often = f"{max(times)} times"
    if len(set(times)) > 1:
        often = f"{min(times)} to {max(times)} times, a whole number of times in each micro-batch,"
    return (
        f"each of Spark's counters is {often} the model's: foreachBatch runs the micro-batch again for each "
        "action on its DataFrame, and counts again; persist the DataFrame before the first"
    )


def _other_delay(simulation: Simulation, logs: Checkpoint) -> str:
    """What the watermarks of the logs say of the delay of a side, if it is not that of the job as it was opened."""
    streams = simulation.left, simulation.right
    found = restarts.other_delay(
        [restarts.newest_of(each, len(logs.batches)) for each in streams],
        [micros(each.watermark) for each in streams],
        logs.watermarks,
        logs.policy,
    )
    if found is None:
        return ""
    stream, delay = simulation.side(found.side or "left"), precise(timedelta(microseconds=found.delay))
    name = " and ".join(simulation.names) if found.side is None else stream.name
    when = "from" if found.since else "before"
    return (
        f"{when} micro-batch {logs.batches[found.batch].number}{' on' if found.since else ''} the watermarks are those "
        f"of a delay of {delay} on {name}, with which the query ran then; here it is {precise(stream.watermark)}"
    )


def fates(simulation: Simulation) -> pd.DataFrame:
    """The line of `Job.comparison` on the rows that come out: those with a partner are matched, and no other waits."""
    model, out = [], []
    table = simulation.outcome.outputs.table
    for side in SIDES:
        members = simulation.outcome.outputs.of(side)
        fate = simulation.fates[side]["fate"].to_numpy()
        matched = table["matched"].to_numpy()[members["output"].to_numpy()]
        rows = members["row"].to_numpy()
        met = np.unique(rows[matched])
        alone = np.setdiff1d(rows[~matched], met) if not simulation.windowed else np.array([], dtype=np.int64)
        out += [(side, int(row), "matched") for row in met] + [(side, int(row), "alone") for row in alone]
        words = {"matched": "matched", "pending": "waits"}
        told = fate[np.concatenate([met, alone])]
        model += [
            (side, int(row), words.get(str(each), "alone"))
            for row, each in zip(np.concatenate([met, alone]), told, strict=True)
        ]
    return pd.DataFrame([_fact("side, row and fate of each row that comes out", model, out)])


def _watermarks(simulation: Simulation, logs: Checkpoint) -> Record:
    return _fact(_WATERMARKS, *_both_watermarks(simulation, logs))


def _both_watermarks(simulation: Simulation, logs: Checkpoint) -> Counters:
    """The watermark of each micro-batch as it follows from the rows, and as the logs have it."""
    outcome = simulation.outcome
    computed = watermarks(
        simulation.join,
        simulation.left,
        simulation.right,
        outcome.keys,
        False,
        simulation.policy,
        False,
        () if simulation.logged is None else simulation.logged.restarts,
        simulation.facts.unmarked,
    )
    known = range(1 if simulation.first else 0, len(logs.batches))  # of the first kept one those before are not known
    places = [place for place in known if logs.batches[place].watermark < LATEST]  # which follows from no row
    model = [(logs.batches[place].number, int(computed.eviction[place])) for place in places]
    spark = [(logs.batches[place].number, logs.batches[place].watermark) for place in places]
    return model, spark


def _state(spark: SparkSession, simulation: Simulation, known: Understood, logs: Checkpoint, choice: Choice) -> Record:
    last = logs.batches[-1].number
    model, found = [], []
    for place, side in enumerate(SIDES):
        held = entering.held_before(spark, known, place, logs=logs, batch=last, choice=choice)
        shown, state = held.columns, held.table
        timed = shown.with_time and entering.compares_times(known)  # else a time may be filled in
        compared = [name for name in shown.names if timed or name != shown.time]
        kept = [name for name in compared if state.column(name).null_count < len(state)]
        rows = simulation.outcome.held_after(last - simulation.first, side)
        table = simulation.side(side).table.take(rows["row"].to_numpy()).select(kept)
        table, state = (
            (
                table.append_column(entering.START, pa.array(rows["start"], pa.int64())),
                state.select([*kept, entering.START]),
            )
            if simulation.windowed
            else (table, state.select(kept))
        )
        model += [(side, *values) for values in _values(table)]
        found += [(side, *values) for values in _values(state)]
    return _fact("side, values and window of each row in state after the last micro-batch", model, found)


def _groups(spark: SparkSession, simulation: Simulation, known: Understood, logs: Checkpoint, choice: Choice) -> Record:
    """The rows in the lists of groups; without those of null keys, which the model puts into no group."""
    last = logs.batches[-1].number
    model, found = [], []
    for place, side in enumerate(SIDES):
        state = held_groups.rows(spark, known, place, logs=logs, batch=last, choice=choice)
        stream, held = simulation.side(side), state.table
        for name in entering.columns(known, place).key:
            held = held.filter(pc.is_valid(held.column(name)))
        names = [name for name in state.collected if state.has_times or name != stream.time]
        rows = simulation.outcome.held_after(last - simulation.first, side)
        table = stream.table.take(rows["row"].to_numpy()).select(names)
        if not state.in_sessions:  # whose starts move as they grow
            table = table.append_column(entering.START, pa.array(rows["start"], pa.int64()))
            names.append(entering.START)
        model += [(side, *values) for values in _values(table)]
        found += [(side, *values) for values in _values(held.select(names))]
    return _fact("side and values of each row in the lists of groups after the last micro-batch", model, found)


def drops(simulation: Simulation, known: Understood, reports: Mapping[int, Json]) -> pd.DataFrame:
    """The line of `Job.comparison` on Spark's counter of late rows; none where it has no single join to count for."""
    return _counters(_LATE, _late_counts(simulation, known, reports))


def sizes(simulation: Simulation, known: Understood, reports: Mapping[int, Json]) -> pd.DataFrame:
    """The line of `Job.comparison` on the rows in state after each micro-batch; none where some are not listed."""
    return _counters(_IN_STATE, _state_counts(simulation, known, reports))


def _late_counts(simulation: Simulation, known: Understood, reports: Mapping[int, Json]) -> Counters | None:
    found = {number: reported.dropped(each) for number, each in sorted(reports.items())}
    found.pop(simulation.first if simulation.first else -1, None)  # the first kept one only tells what was in state
    return _counts(simulation, known, drop_counts(simulation.join, simulation.outcome), found)


def _state_counts(simulation: Simulation, known: Understood, reports: Mapping[int, Json]) -> Counters | None:
    if any(simulation.facts.untimed.values()):
        return None
    found = {number: reported.state_rows(each) for number, each in sorted(reports.items())}
    return _counts(simulation, known, simulation.outcome.state_counts(), found)


def _counts(
    simulation: Simulation, known: Understood, counts: Counts, found: Mapping[int, int | None]
) -> Counters | None:
    """What the model and the only join of a job counted in the micro-batches that are kept; None: nothing is known."""
    if known.join.kind != "Join" or kind_of(simulation.join).operator is not HASH_JOIN:
        return None
    first = simulation.first
    spark = [(number, each) for number, each in found.items() if each is not None and 0 <= number - first < len(counts)]
    return ([(number, int(counts[number - first])) for number, _ in spark], spark) if spark else None


def _counters(what: str, counts: Counters | None) -> pd.DataFrame:
    return pd.DataFrame([_fact(what, *counts)] if counts else [])


def _values(table: pa.Table) -> list[tuple[str, ...]]:
    """The rows of a table, values as text, times in UTC whether they say so or not."""
    plain = (
        column.cast(pa.timestamp("us")) if pa.types.is_timestamp(column.type) else column
        for column in table.itercolumns()
    )
    columns = [[str(value) for value in column.to_pylist()] for column in plain]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows


def _fact(what: str, model: list[Value], spark: list[Value]) -> Record:
    only = [Counter(model) - Counter(spark), Counter(spark) - Counter(model)]
    words = [f"model only: {each}" for each in only[0].elements()] + [
        f"Spark only: {each}" for each in only[1].elements()
    ]
    return {
        "what": what,
        "model": len(model),
        "spark": len(spark),
        "differences": len(words),
        "examples": "; ".join(words[:_SPELLED_OUT]),
    }
