"""A side of an opened join as a stream: the rows that entered it, those held before, and what is not known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa

from workbench.arrays import Batches, Flags, RowNumbers, Times
from workbench.counts import counted
from workbench.errors import ArgumentError, QueryError
from workbench.jobs import catalyst, entering, held, held_groups, not_followed, replay, residual
from workbench.jobs import checkpoint as checkpoints
from workbench.jobs.catalyst import Node
from workbench.jobs.checkpoint import Checkpoint
from workbench.jobs.clock import Clock
from workbench.jobs.sources import BATCH, PLACE
from workbench.jobs.understanding import Understood
from workbench.joins import IntervalJoin, emission
from workbench.kinds import kind_of
from workbench.literals import SIDES, Side
from workbench.model import NOTHING, Gone
from workbench.reasons.labels import words_of
from workbench.sources.key_choice import Choice
from workbench.streams import Stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["STAND_IN", "SideRows", "newest", "rows", "stream"]

STAND_IN = IntervalJoin("0 seconds", "0 seconds")
"""Which rows are late depends on no bounds: this stands for a join that was not understood."""


@dataclass(frozen=True)
class SideRows:
    """What is known of a side's rows before they are a stream."""

    table: pa.Table
    arrival: Batches
    met: Flags
    filtered: Flags | None
    gone: Gone
    untimed: dict[str, str]
    places: RowNumbers
    required: Sequence[str]


def newest(seen: dict[int, tuple[int, int]] | None, logs: Checkpoint, marks: Times, delay: int) -> Times | None:
    """The newest event time of each micro-batch, counted from the first one; None where the rows are all there are.

    Of the time before the first micro-batch that is kept only the watermarks tell. Under the policy ``min`` no side's
    own watermark was behind that of the query: a side that no later row brings as far had come as far before.
    """
    first, count = logs.batches[0].number, len(logs.batches)
    if seen is None and not first:
        return None
    found = np.full(count, NOTHING, dtype=np.int64)
    for number, (time, _) in (seen or {}).items():
        if 0 <= number - first < count:
            found[number - first] = min(time, checkpoints.LATEST + delay)
    if first:
        came = np.maximum.accumulate(found)
        behind = [place for place in range(1, count) if came[place - 1] < marks[place] + delay]
        place = behind[-1] if behind and logs.policy == "min" else min(1, count - 1)
        found[0] = max(int(found[0]), int(marks[place]) + delay)
    return found


def rows(
    spark: SparkSession,
    known: Understood,
    place: int,
    *,
    logs: Checkpoint,
    by_ids: dict[frozenset[int], DataFrame],
    choice: Choice,
    run_join: Node | None,
    unread: Sequence[str],
    inner: Mapping[Node, DataFrame],
    clock: Clock,
) -> tuple[SideRows, list[str]]:
    """A side's rows, and what is missing of them, a sentence each."""
    missing, shown = _random(known, place), entering.columns(known, place)
    needed = None if run_join is None else entering.needed(known, place, run_join)
    passed = (
        entering.survivors(spark, known, place, run_join, sources=by_ids, choice=choice, clock=clock)
        if run_join is not None and needed is None
        else None
    )
    parts: list[_Part] = []
    if logs.batches[0].number:
        before, words = _held_before(spark, known, place, logs, choice)
        missing += words
        parts += [] if before is None else [before]
    places: RowNumbers = np.array([], dtype=np.int64)
    steps: tuple[str, ...] = ()
    untimed: dict[str, str] = {}
    try:
        found = entering.entered(spark, known, place, by_ids, choice, inner=inner, clock=clock)
    except replay.NotReplayable as error:
        if inner and known.description.join is not None:
            why = f"the rows of the {SIDES[place]} side cannot be followed: there is {error}"
            raise not_followed.NotFollowedError(f"joined: {why}; open a join below it with join=…") from None
        missing.append(f"the rows of the {SIDES[place]} side cannot be read again: there is {error}")
    else:
        words, untimed = _not_listed(known, place, found, shown, clock)
        missing += words
        steps, places = found.steps, found.table.column(PLACE).to_numpy()
        parts.append(_came(found, needed, passed))
    if not parts and not unread and known.description.join is None:  # as of a side that is not followed
        parts.append(_Part.of(entering.none(spark, known, place)))
    if not parts:
        raise QueryError(f"the job cannot be opened: {'; '.join(unread or missing)}", "")
    schema = pa.schema([each.with_nullable(True) for each in parts[-1].table.schema])
    table = pa.concat_tables([each.table.cast(schema) for each in parts])
    arrival = entering.arrival(table, logs.batches[0].number)
    met = np.concatenate([each.met for each in parts])
    flags = None if passed is None and needed is None else np.concatenate([each.filtered for each in parts])
    gone = Gone(np.concatenate([each.left_at for each in parts]), steps)
    rows = table.select(list(shown.names))
    return SideRows(rows, arrival, met, flags, gone, untimed, places, needed or ()), missing


@dataclass(frozen=True)
class _Part:
    """Some rows of a side.

    Attributes
    ----------
    table
        The rows.
    met
        Which had met another before the first micro-batch that is kept.
    filtered
        Which Spark's own filters left out before the join.
    left_at
        The step of the job's at which each left on its way to the join; -1 where it came there.
    """

    table: pa.Table
    met: Flags
    filtered: Flags
    left_at: RowNumbers

    @classmethod
    def of(cls, table: pa.Table) -> _Part:
        """Rows that came to the join and had met none."""
        none = np.zeros(table.num_rows, dtype=bool)
        return cls(table, none, none, np.full(table.num_rows, -1))


def _random(known: Understood, place: int) -> list[str]:
    """What is said of a side with expressions that give another value each time, in a sentence."""
    random = list(catalyst.random_parts(known.join.children[place]))
    if not random:
        return []
    return [
        f"{', '.join(random)} of the {SIDES[place]} side differs each time it is evaluated: it, and all that depends "
        "on it, may differ from what the job had"
    ]


def _held_before(
    spark: SparkSession, known: Understood, place: int, logs: Checkpoint, choice: Choice
) -> tuple[_Part | None, list[str]]:
    """The rows of a side that were in state after the first micro-batch that is kept, and what is not known of them."""
    first = logs.batches[0].number
    if known.join.kind != "Join":
        before, words = _in_groups(spark, known, place, logs, choice)
        return None if before is None else _Part.of(before), words
    words = not_followed.of_older(known.join.children[place], SIDES[place], first)
    in_state = entering.held_before(spark, known, place, logs=logs, batch=first, choice=choice)
    join = known.description.join or STAND_IN
    table = entering.each_once(join, in_state.columns, in_state.table)
    met = table.column(held.MATCHED).fill_null(False).to_numpy(zero_copy_only=False)
    part = _Part.of(table.drop_columns([held.MATCHED]))
    # with windows those it met are in state, too
    return replace(part, met=met & (not kind_of(join).windowed)), [*words, *_of_held(known, place, in_state, first)]


def _not_listed(
    known: Understood, place: int, found: entering.Entered, shown: entering.Columns, clock: Clock
) -> tuple[list[str], dict[str, str]]:
    """What is said of rows that entered without a usable time, and the keys of those that are not listed, with why."""
    words: list[str] = []
    untimed: dict[str, str] = {}
    if found.untimed.num_rows:
        words.append(_without_time(known, place, found.untimed))
        untimed |= dict.fromkeys(words_of(found.untimed, shown.key), "without an event time")
    if found.beyond.num_rows:
        words.append(_beyond(known, place, found.beyond, shown))
        untimed |= dict.fromkeys(words_of(found.beyond, shown.key), "with a time in the far future")
    if not entering.compares_times(known):
        words += _filled(known, place, found.table, shown, clock)
    return words, untimed


def _came(found: entering.Entered, needed: Sequence[str] | None, passed: pa.Table | None) -> _Part:
    """The rows that came in the micro-batches that are kept."""
    part = _Part.of(found.table.drop_columns([PLACE]))
    filtered = part.filtered
    if needed is not None:
        filtered = _without(found.table, needed)
    elif passed is not None:
        filtered = ~_among(found.table, passed) & (found.left_at < 0)
    return replace(part, filtered=filtered, left_at=found.left_at)


def _of_held(known: Understood, place: int, found: entering.Held, batch: int) -> list[str]:
    """What is not known of the rows of a side that were in state after a micro-batch, a sentence each."""
    side, words = SIDES[place], []
    if found.untimed:
        words.append(
            f"the state of the {side} side held {counted(found.untimed, 'row')} without an event time after "
            f"micro-batch {batch}, the first that is kept: {'it is' if found.untimed == 1 else 'they are'} not listed"
        )
    asked = {column for each in known.rest for column in catalyst.columns_in(each)}
    lost = [
        name
        for each, name in zip(found.columns.ids, found.columns.names, strict=False)
        if each in asked and found.table.num_rows and found.table.column(name).null_count == found.table.num_rows
    ]
    if not found.columns.with_time and not entering.compares_times(known) and found.table.num_rows:
        words.append(
            f"the state of the {side} side does not keep event times, which the join does not compare: rows that it "
            f"held after micro-batch {batch}, the first that is kept, are shown at the time of this micro-batch"
        )
    if lost:
        words.append(
            f"the state of the {side} side does not keep {', '.join(lost)}, which the condition compares: of the rows "
            f"that it held after micro-batch {batch} it is not known which of their pairs satisfy it"
        )
    return words


def _beyond(known: Understood, place: int, rows: pa.Table, shown: entering.Columns) -> str:
    """What is said of the rows of a side whose times are later than any that a stream holds."""
    described = known.described[place]
    count, latest = counted(rows.num_rows, "row"), int(rows.column(shown.time).cast(pa.int64()).to_numpy().max())
    year = 1970 + latest // 31_556_952_000_000
    return (
        f"{count} of {described.name or SIDES[place]} {'has a time' if rows.num_rows == 1 else 'have times'} as late "
        f"as the year {year}, and {'is' if rows.num_rows == 1 else 'are'} not listed: were milliseconds read as "
        f"seconds? make {shown.time} with timestamp_millis"
    )


def _without_time(known: Understood, place: int, rows: pa.Table) -> str:
    """What is said of the rows of a side that have no event time."""
    described = known.described[place]
    count, name = counted(rows.num_rows, "row"), described.time or "its event time"
    join = known.description.join or STAND_IN
    padded = known.run is None or SIDES[place] in emission(join).padded
    becomes = "and stays in state forever" if padded else "and meets no other"
    if not entering.compares_times(known):
        becomes = "and meets every row of its key, whose fates may differ"
    return (
        f"{count} of {described.name or SIDES[place]} {'has' if rows.num_rows == 1 else 'have'} no event time, as "
        f"{name} is null: such a row is never late, {becomes}, and is not listed; look at how {name} is made"
    )


def _filled(known: Understood, place: int, rows: pa.Table, shown: entering.Columns, clock: Clock) -> list[str]:
    """What is said of rows that have no event time in a join that compares none."""
    planned = np.array(clock.started, dtype=np.int64)[rows.column(BATCH).to_numpy() - clock.first] * 1000
    count = int((rows.column(shown.time).cast(pa.int64()).to_numpy() == planned).sum())
    name = known.described[place].name or SIDES[place]
    if not count or not known.described[place].time:
        return []
    return [
        f"{counted(count, 'row')} of {name} {'has' if count == 1 else 'have'} no event time, as {shown.time} is null; "
        "the join compares no times, so each is shown at the time at which its micro-batch was planned"
    ]


def _in_groups(
    spark: SparkSession, known: Understood, place: int, logs: Checkpoint, choice: Choice
) -> tuple[pa.Table | None, list[str]]:
    """The rows of a side that groups held after the first micro-batch that is kept, and what is not known of them."""
    first, side = logs.batches[0].number, SIDES[place]
    try:
        found = held_groups.rows(spark, known, place, logs=logs, batch=first, choice=choice)
    except held_groups.NotReadable as error:
        return None, [
            f"what the groups held after micro-batch {first}, the first that is kept, cannot be read as rows "
            f"({error}): fates of rows in a group with these may differ"
        ]
    shown, table = entering.columns(known, place), found.table
    words = []
    if not found.has_times and table.num_rows:
        where = "spread over their session" if found.in_sessions else "shown at the start of their window"
        words.append(
            f"groups do not keep the event times of the {side} rows that they held after micro-batch {first}, the "
            f"first that is kept: these are {where}"
        )
    if found.in_sessions:
        return table.drop_columns([entering.START]), words
    timed = shown if found.has_times else replace(shown, with_time=False)
    return entering.each_once(known.description.join or STAND_IN, timed, table), words


def _without(rows: pa.Table, needed: Sequence[str]) -> Flags:
    """Which rows of a table have a null in one of some columns."""
    found = np.zeros(rows.num_rows, dtype=bool)
    for name in needed:
        found |= rows.column(name).is_null().to_numpy()
    return found


def _among(rows: pa.Table, others: pa.Table) -> Flags:
    """Which rows of a table are in another one, by micro-batch and place."""
    one, other = (
        pd.MultiIndex.from_arrays([each.column(name).to_numpy() for name in (BATCH, PLACE)]) for each in (rows, others)
    )
    return np.asarray(one.isin(other))


def _with_compared(
    known: Understood, place: int, shown: entering.Columns, others: Sequence[str], rows: pa.Table, compared: pa.Table
) -> tuple[pa.Table, tuple[str, ...]]:
    """A side with a column of each expression by which its rows are told, and the names of what the join compares.

    So a row joined on a field of a struct, as of a parsed payload, is told by that field, and one joined on ``a + 1``
    by this sum. A column of ``others`` needs none where it is compared as it is, or as its partner.
    """
    alias, names = f"{known.described[place].name}.", []
    listed = {each for each, name in zip(shown.ids, shown.names, strict=False) if name in others}
    for pair, one, values in zip(known.keys, known.compared, compared.columns, strict=True):
        if one is None or (
            pair[place] in listed and (one.is_alike or one.expressions[place].kind == "AttributeReference")
        ):
            names.append(shown.names[shown.ids.index(pair[place])])
            continue
        name = str(one.expressions[place].java.sql()).replace("`", "").removeprefix(alias)
        if name in rows.column_names:  # the whole struct is compared
            name = f"{name} as text"
        rows = rows.append_column(name, values)
        names.append(name)
    return rows, tuple(names)


def _with_text(rows: pa.Table, side: Side) -> tuple[pa.Table, tuple[str, ...]]:
    """A side of structs of which the join compares nothing, with the text of the first, by which its rows are told.

    Raises
    ------
    ArgumentError
        If the side has no column beside the event time.
    """
    nested = [each.name for each in rows.schema if pa.types.is_nested(each.type)]
    if not nested:
        raise ArgumentError(f"joined: its {side} side has no column beside the event time")
    rows, name = _with_text_of(rows, nested[0])
    return rows, (name,)


def _lists_as_texts(rows: pa.Table, key: Sequence[str]) -> tuple[pa.Table, tuple[str, ...]]:
    """A side whose key columns that are arrays have their text beside them, by which its rows are told.

    Spark finds two arrays equal where all their elements are, two nulls among them.
    """
    names = []
    for name in key:
        is_list = pa.types.is_list(rows.schema.field(name).type)
        rows, known_as = _with_text_of(rows, name) if is_list else (rows, name)
        names.append(known_as)
    return rows, tuple(names)


def _with_text_of(rows: pa.Table, column: str) -> tuple[pa.Table, str]:
    """Rows with the text of a nested column, and the name that this has."""
    texts = [None if each is None else str(each) for each in rows.column(column).to_pylist()]
    return rows.append_column(f"{column} as text", pa.array(texts, pa.string())), f"{column} as text"


def stream(
    spark: SparkSession,
    known: Understood,
    place: int,
    rows: SideRows,
    *,
    shown: entering.Columns,
    count: int,
    newest: Times | None,
) -> Stream:
    """The side as a stream of so many micro-batches, told by its keys as the join compares them."""
    described = known.described[place]
    compared = residual.compared(spark, known, place, shown, rows.table)
    table, key, others = rows.table, shown.key, [name for name in shown.names if name != shown.time]
    if compared is not None:  # by which keys are told apart, so that a struct need not be one
        others = [name for name in others if not pa.types.is_nested(table.schema.field(name).type)]
        if not set(key) <= set(others) or not all(one is None or one.is_alike for one in known.compared):
            table, key = _with_compared(known, place, shown, others, table, compared)
    if not key:  # nothing is told that rests on the keys of a join that are not understood
        table, key = (table, tuple(others[:1])) if others else _with_text(table, SIDES[place])
    if compared is None:
        table, key = _lists_as_texts(table, key)
    elif lists := [each for each in key if pa.types.is_list(table.schema.field(each).type)]:
        raise not_followed.NotFollowedError(
            f"joined: the key {lists[0]} of {described.name} is an array, by which rows cannot be told; "
            f"join on its text, as in to_json({lists[0]})"
        )
    made = Stream.from_arrow(
        table,
        described.name,
        list(key),
        shown.time,
        described.watermark or timedelta(0),
        arrival=rows.arrival,
        batch_count=count,
    )
    return replace(made, newest=newest, compared=compared)
