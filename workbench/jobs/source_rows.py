"""The rows that a job's sources gave, before any of the job's own code: what a test of it starts from."""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from workbench.errors import ArgumentError, DataError, TooLargeError
from workbench.jobs import catalyst, entering, sources
from workbench.jobs.catalyst import Node
from workbench.jobs.chain import Chain
from workbench.jobs.checkpoint import Checkpoint
from workbench.jobs.job import Job
from workbench.jobs.replay import ids
from workbench.jobs.sources import BATCH, PLACE
from workbench.literals import SIDES, Side, Sides
from workbench.sources.key_choice import ALL, Choice, newest_in_each
from workbench.spark_io.cause import spark_errors_as
from workbench.spark_io.frames import of_arrow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["MOST_ROWS", "SourceRows", "is_name", "names", "names_of_sides", "of_job"]

_MOST_KEYS = 10_000
_NOT_FOUND = "{count} rows of {name} that were in state before the first micro-batch that is kept are no longer found"
MOST_ROWS = 100_000
"""How many rows of a source are given at most: they are read by people."""


@dataclass(frozen=True)
class SourceRows:
    """The rows of a source.

    Attributes
    ----------
    name
        Its folder, topic or table, as a name of Python.
    schema
        Its columns, as Spark's DDL.
    rows
        Its columns, and `BATCH`, the micro-batch that took a row in, in the order in which they came.
    missing
        What can no longer be read, a sentence each.
    """

    name: str
    schema: str
    rows: pa.Table
    missing: tuple[str, ...]


def of_job(job: Job | Chain, choice: Choice) -> list[SourceRows]:
    """The rows of each source of a job, those of the chosen keys, and those that its watermarks follow from.

    Of a job whose first micro-batches are no longer kept, the first that is kept has those rows that were in state
    after it, as far as the sources still have them.

    Raises
    ------
    ArgumentError
        If keys are chosen of a side that reads several sources, or is aggregated.
    DataError
        If the rows of a source can no longer be read.
    TooLargeError
        If there are more than `MOST_ROWS`.
    """
    jobs = job.joins if isinstance(job, Chain) else (job,)
    last = jobs[-1]
    spark, plan = last.spark, last.known.plan
    leaves = sources.leaves(plan)
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    with spark_errors_as("the rows of the job's sources cannot be read"):
        taken, missing = _taken(spark, plan, leaves, last.checkpoint)
        chosen = None if choice.takes_all else _chosen(jobs, taken, choice)
        first = last.checkpoint.batches[0]
        before, held, lacking = dict[Node, "DataFrame"](), dict[Node, set[int]](), list[str]()
        if first.number:  # up to there the sources are read as one micro-batch
            before, _ = _taken(spark, plan, leaves, replace(last.checkpoint, batches=(replace(first, number=0),)))
            held, lacking = _held(jobs, before, choice)
        found = []
        for leaf, name in _names(leaves).items():
            alike = [each for each in leaves if _same(each) == _same(leaf)]
            given = _rows(spark, taken[leaf], alike, chosen)
            if first.number:
                given = (
                    _rows(spark, before[leaf], alike, held).withColumn(BATCH, F.lit(first.number)).unionByName(given)
                )
            table = given.sort(BATCH, PLACE).limit(MOST_ROWS + 1).toArrow()
            if table.num_rows > MOST_ROWS:
                raise TooLargeError(f"job: {name} has more than {MOST_ROWS:,} rows; give keys= or sample=")
            schema = str(leaf.java.schema().toDDL())
            found.append(SourceRows(name, schema, table.drop_columns([PLACE]), (*missing[leaf], *lacking)))
            lacking = []
    return found


def _taken(
    spark: SparkSession, plan: Node, leaves: Sequence[Node], logs: Checkpoint
) -> tuple[dict[Node, DataFrame], dict[Node, tuple[str, ...]]]:
    """The rows that each source gave, and what of them can no longer be read."""
    found = dict(zip(leaves, sources.taken(spark, logs, leaves, catalyst.zone(plan)), strict=True))
    if lacking := [words for each in found.values() if each.rows is None for words in each.missing]:
        raise DataError(f"job: {'; '.join(lacking)}")
    frames = {leaf: each.rows for leaf, each in found.items() if each.rows is not None}
    return frames, {leaf: each.missing for leaf, each in found.items()}


def _rows(
    spark: SparkSession, given: DataFrame, alike: Sequence[Node], chosen: Mapping[Node, set[int]] | None
) -> DataFrame:
    """The rows of a source that are chosen for one of the places where the plan reads it."""
    if chosen is None:
        return given
    wanted = set[int]().union(*(chosen.get(each, ()) for each in alike))
    places = pa.table({PLACE: pa.array(sorted(wanted), pa.int64())})
    return given.join(of_arrow(spark, places), PLACE, "left_semi").select(given.columns)


def _held(
    jobs: Sequence[Job], before: Mapping[Node, DataFrame], choice: Choice
) -> tuple[dict[Node, set[int]], list[str]]:
    """The places of the rows of each source that were in state, and what is said of others."""
    by_ids = {ids(leaf): rows for leaf, rows in before.items()}
    found: dict[Node, set[int]] = {leaf: set() for leaf in before}
    lacking = []
    for job in jobs:
        for place, (side, part) in enumerate(zip(SIDES, job.known.join.children, strict=True)):
            stream, leaves = job.side(side), sources.leaves(part)
            in_state = np.flatnonzero(stream.arrival == 0)
            rows = stream.table.take(pa.array(in_state))
            if not choice.takes_all and len(rows):
                rows = rows.take(pa.array(choice.taken(job.spark, rows, stream.key)))
            if len(leaves) > 1 or job.known.inputs[place].grouped is not None:
                lacking += [_NOT_FOUND.format(count=len(rows), name=stream.name)] * bool(len(rows))
                continue
            keys = list(dict.fromkeys(zip(*(rows.column(name).to_pylist() for name in stream.key), strict=True)))
            some = Choice(tuple(keys)) if stream.key and len(keys) <= _MOST_KEYS else ALL
            there = entering.entered(job.spark, job.known, place, by_ids, some).table
            wanted = Counter(map(repr, rows.to_pylist()))
            told = there.select(rows.column_names).to_pylist()
            for row, at in sorted(zip(map(repr, told), there.column(PLACE).to_pylist(), strict=True), reverse=True):
                if wanted[row]:
                    wanted[row] -= 1
                    found[leaves[0]].add(at)
            if rest := wanted.total():
                lacking.append(_NOT_FOUND.format(count=rest, name=stream.name))
    return found, lacking


def _same(leaf: Node) -> str:
    """What two places of a plan have in common that read the same rows."""
    return sources.described(leaf)


def _names(leaves: Sequence[Node]) -> dict[Node, str]:
    """Each source, once, and its name."""
    found: dict[str, tuple[Node, str]] = {}
    for leaf in leaves:
        if _same(leaf) in found:
            continue
        taken = {name.lower() for _, name in found.values()}  # files of them are made, of which some disks know no case
        names = (f"{_name(leaf)}{suffix}" for suffix in ("", *(f"_{number}" for number in range(2, len(taken) + 3))))
        found[_same(leaf)] = leaf, next(name for name in names if name.lower() not in taken)
    return dict(found.values())


def _name(leaf: Node) -> str:
    _, slash, last = sources.described(leaf).rstrip("/]").rpartition("/")
    named = last if slash else last.rpartition(" ")[2]
    plain = named if named.isidentifier() else re.sub(r"\W+", "_", named).strip("_")
    return plain if is_name(plain) else f"stream_{plain}".rstrip("_")


def is_name(text: str) -> bool:
    """Whether an argument of a function can have this name."""
    return text.isidentifier() and not keyword.iskeyword(text)


def names(job: Job | Chain) -> list[str]:
    """The names of the sources of a job."""
    last = job.joins[-1] if isinstance(job, Chain) else job
    return list(_names(sources.leaves(last.known.plan)).values())


def names_of_sides(job: Job | Chain) -> dict[tuple[int, Side], str]:
    """The source that each side of each join reads, by the number of the join; empty where it reads several.

    The rows of a stream that is joined with itself are told apart by their sides, which are the names then.
    """
    jobs = job.joins if isinstance(job, Chain) else (job,)
    every = {_same(leaf): name for leaf, name in _names(sources.leaves(jobs[-1].known.plan)).items()}
    found = {}
    for number, each in enumerate(jobs):
        for side, part in Sides(*each.known.join.children).items():
            names = {every.get(_same(leaf), "") for leaf in sources.leaves(part)}
            found[number, side] = names.pop() if len(names) == 1 else ""
    if len(jobs) == 1 and found[0, "left"] == found[0, "right"] != "":
        return {(0, side): side for side in SIDES}
    return found


def _chosen(jobs: Sequence[Job], taken: Mapping[Node, DataFrame], choice: Choice) -> dict[Node, set[int]]:
    """The places of the rows of each source whose keys are chosen, or that are the newest of a micro-batch."""
    by_ids = {ids(leaf): rows for leaf, rows in taken.items()}
    found: dict[Node, set[int]] = {leaf: set() for leaf in taken}
    for job in jobs:
        for place, part in enumerate(job.known.join.children):
            leaves = sources.leaves(part)
            if len(leaves) > 1 or job.known.inputs[place].grouped is not None:
                raise ArgumentError("keys: a side that reads several sources, or is aggregated, has all; leave it out")
            every = entering.entered(job.spark, job.known, place, by_ids, ALL).table
            some = entering.entered(job.spark, job.known, place, by_ids, choice).table
            time = every.column(entering.columns(job.known, place).time).cast(pa.int64()).to_numpy()
            batch = every.column(BATCH).to_numpy()
            newest = every.column(PLACE).to_numpy()[newest_in_each(batch, time)]
            found[leaves[0]] |= {*some.column(PLACE).to_pylist(), *newest.tolist()}
    return found
