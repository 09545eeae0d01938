"""`Chain`: a query that somebody else wrote and ran, with several joins of streams, and what became of its rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pandas as pd

from workbench import _root, schema, times
from workbench.arrays import Counts, RowNumbers
from workbench.counts import counted
from workbench.errors import WorkbenchError, wrong
from workbench.jobs import chain_rows, leaving, other_settings
from workbench.jobs.description import Description
from workbench.jobs.job import Job
from workbench.jobs.other_settings import Supposed
from workbench.joins import Join, emission
from workbench.literals import SIDES, Policy, Side, Sides, other_side
from workbench.model import is_index
from workbench.reasons import tables
from workbench.times import Span
from workbench.untyped import Build, Value

if TYPE_CHECKING:
    from workbench.charts import ChainCharts
    from workbench.runs.why import Why

__all__ = ["Chain", "ChainWhy", "column_names"]

_FOLLOWED = 5
"""Of how many rows that pass on to a join the story is told."""
_JOIN = schema.Column("join", "integer", "the number of the join in `Chain.joins`")
_FROM = schema.Column("from_join", "integer", "the join that the row came out of; missing: it is a row of a stream")
_STREAM = schema.Column("stream", "text", "the name of the stream, or of the streams that were joined before")
_LATER = schema.Column(
    "later",
    "text",
    "what became, in each later join, of the rows that came out of this one with the row, such as ``join 1: 2 "
    "matched, 1 late``; empty: none came so far",
)
_OUT = schema.Column("out", "integer", "in how many rows it is that come out of the last join; None: not known", "rows")
_ROWS = replace(
    schema.ROWS,
    row="a row of one of the streams, in the join that it enters first; by join and side, in order of arrival",
    first=(_JOIN, schema.SIDE, _STREAM, schema.BATCH),
    last=(*schema.ROWS.last, _LATER, _OUT),
)
_LATE = replace(
    schema.LATE,
    row="a row that was dropped as late by one of the joins, once for each window that it was late for",
    first=(_JOIN, _FROM, schema.SIDE, _STREAM, schema.BATCH),
)
_OURS = [_JOIN.name, _FROM.name, _STREAM.name, _LATER.name, _OUT.name]


@dataclass(frozen=True, repr=False, eq=False)
class ChainWhy:
    """Why a row of a chain became what it became, in every join that it, or a row with it, came to.

    Attributes
    ----------
    text
        The stories of the joins, in the order in which rows pass them.
    steps
        The story of the row, and those of the rows that it is in at later joins, each with the number of its join.
    """

    text: str
    steps: tuple[tuple[int, Why], ...]

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True, repr=False, eq=False)
class Chain:
    """A query with several joins of streams that somebody else wrote and ran. Made by `workbench.open_job`.

    A row of a stream enters one join. What comes out of that enters the next one, until it comes out of the last. Each
    join has late rows, a state and fates of its own, under the watermark that the joins before it pass on.

    Attributes
    ----------
    joins
        A `Job` for each join, in the order in which rows pass them, as ``join=0``, ``join=1``, … name them. The rows of
        a side that comes out of another join are listed there as any other rows.
    unopened
        A sentence on each later join that is not opened, as its rows cannot be followed; empty: all are.
    """

    joins: tuple[Job, ...] = field(repr=False)
    _simulated: Callable[[Supposed], tuple[Job, ...]] | None = field(default=None, repr=False)
    unopened: tuple[str, ...] = ()

    def __repr__(self) -> str:
        numbers = [each.number for each in self.joins[0].checkpoint.batches]
        parts = "; ".join(
            f"join {number} {each.join if each.is_understood else 'not understood'} of {_named(each)}"
            for number, each in enumerate(self.joins)
        )
        warned = "; not all of it can be read any more, see .missing" if self.missing else ""
        warned += f"; {'; '.join(self.unopened)}" if self.unopened else ""
        return (
            f"<Chain of {len(self.joins) + len(self.unopened)} joins, micro-batches {numbers[0]:,} to {numbers[-1]:,}: "
            f"{parts}; {counted(len(self._places), 'row')} of its streams{warned}>"
        )

    @property
    def description(self) -> tuple[Description, ...]:
        """What each join is, as `workbench.describe` gives it."""
        return tuple(each.description for each in self.joins)

    @property
    def unknown(self) -> tuple[str, ...]:
        """What was not understood of the joins, a sentence each."""
        found = tuple(f"join {number}: {words}" for number, each in enumerate(self.joins) for words in each.unknown)
        return (*found, *self.unopened)

    @property
    def is_understood(self) -> bool:
        """Whether each join is one of the workbench's kinds, and opened."""
        return not self.unopened and all(each.is_understood for each in self.joins)

    @property
    def _ends_known(self) -> bool:
        """Whether what comes out of the last join is known."""
        return not self.unopened and self.joins[-1].is_understood

    def _check_opened(self) -> None:
        if self.unopened:
            raise WorkbenchError(f"not known: {'; '.join(self.unopened)}; job.joins has the joins that are opened")

    @property
    def missing(self) -> tuple[str, ...]:
        """What could not be read any more, a sentence each; fates that depend on it may differ from what happened."""
        return tuple(dict.fromkeys(words for each in self.joins for words in each.missing))

    @property
    @schema.described(_ROWS)
    def rows(self) -> pd.DataFrame:
        """Every row of the job's streams, with its fate in the join that it enters first, and what followed.

        What comes out of a join and enters the next is not a row of a stream, and is not listed: `Job.rows` of that
        join has it, ``later`` and ``out`` count it. Before the first micro-batch that is kept, where that is not the
        job's first, what came out is not known, and neither is what became of it.
        """
        return tables.handed_out(self._rows)

    @cached_property
    def _rows(self) -> pd.DataFrame:
        every = [each.rows for each in self.joins]
        fates = [each["fate"] for each in every]
        parts = []
        for number, job in enumerate(self.joins):
            mine = self._of_streams[number]
            out = chain_rows.reached(self.joins, number)[mine] if self._ends_known else None
            later = chain_rows.later(self.joins, number, fates)
            if self.unopened:
                later = _with_unknown(later, chain_rows.reached(self.joins, number))
            more = {"join": number, "later": np.array(later, dtype=object)[mine], "out": out}
            parts += _by_side(job, every[number].iloc[mine], _ROWS, more)
        return tables.stack(parts, _ROWS)

    @cached_property
    def _of_streams(self) -> list[RowNumbers]:
        """For each join the places of its rows that are rows of a stream."""
        feeds = chain_rows.feeds(self.joins)
        found = []
        for job, feed in zip(self.joins, feeds, strict=True):
            of = chain_rows.from_join(job, feed, {side: np.arange(len(job.side(side))) for side in SIDES})
            found.append(np.flatnonzero(of < 0))
        return found

    @cached_property
    def _places(self) -> RowNumbers:
        """For each row of `rows` the number of its join, and its place in `Job.rows` of that."""
        numbers = np.repeat(np.arange(len(self.joins)), [len(each) for each in self._of_streams])
        return np.column_stack([numbers, np.concatenate(self._of_streams)])

    @property
    @schema.described(_LATE)
    def late(self) -> pd.DataFrame:
        """Every row that one of the joins dropped as late: rows of streams, and rows that came out of another join."""
        parts = []
        for number, (job, feed) in enumerate(zip(self.joins, chain_rows.feeds(self.joins), strict=True)):
            rows = {
                side: each["row"].to_numpy()[each["late"].to_numpy()] for side, each in job.outcome.assignments.items()
            }
            of = pd.Series(chain_rows.from_join(job, feed, rows), dtype="Int64")
            more = {"join": number, "from_join": of.where(of >= 0)}
            parts += _by_side(job, job.late, _LATE, more)
        return tables.stack(parts, _LATE)

    def why(self, row: int) -> ChainWhy:
        """One row's story through all joins: its own, and those of the rows that came out with it, at most five a join.

        Parameters
        ----------
        row
            An index of `rows`.

        Returns
        -------
        ChainWhy
            Prints as text; ``.steps`` has the `Why` of each join.

        Raises
        ------
        ArgumentError
            If there is no such row.
        """
        if not is_index(row, len(self._places)):
            raise wrong("row", row, f"use an index of job.rows, 0 to {len(self._places) - 1}")
        number, place = self._places[int(row)].tolist()
        told = self.joins[number].why(place)
        found, lines = [(number, told)], [_heading(self.joins, number), told.text]
        for after, way in chain_rows.steps(self.joins, number):
            entered = way["entered"].to_numpy()[way["row"].to_numpy() == place]
            job = self.joins[after]
            if not len(entered):
                known = ", as far as is known" if job.simulation.first else ""
                lines.append(f"{_heading(self.joins, after)}: no row with it came{known}")
                break
            lines.append(f"{_heading(self.joins, after)}: {counted(len(entered), 'row')} that came out with it")
            if not job.is_understood:
                lines.append(f"  not known, as the join could not be analyzed: {'; '.join(job.unknown)}")
                break
            more = [job.why(int(each)) for each in entered[:_FOLLOWED]]
            found += [(after, each) for each in more]
            came = chain_rows.named(self.joins, after, entered[:_FOLLOWED])
            for words, each in zip(came, more, strict=True):
                lines += [words, each.text]
            if len(entered) > _FOLLOWED:
                lines.append(f"and {len(entered) - _FOLLOWED:,} more, see job.joins[{after}].rows")
        if self.unopened:
            on = int(chain_rows.reached(self.joins, number)[place])
            words = f"what became of {counted(on, 'row')} that came out with it is not known: " if on else ""
            lines.append(f"{words}{'; '.join(self.unopened)}")
        if self._ends_known:
            out = int(chain_rows.reached(self.joins, number)[place])
            lines.append(
                f"in all: it is in {counted(out, 'row')} that {'comes' if out == 1 else 'come'} out of the last join"
            )
        return ChainWhy("\n".join(lines), tuple(found))

    @property
    def batches(self) -> pd.DataFrame:
        """One row a micro-batch and join: ``join``, and the columns of `Job.batches`."""
        found = self._each(lambda job: job.batches)
        return found.sort_values(["batch", "join"], ignore_index=True)

    @property
    def output(self) -> pd.DataFrame:
        """What comes out of the last join, as the model has it: its `Job.output`.

        Raises
        ------
        WorkbenchError
            If that join is not opened, or if a union brings together the rows of several.
        """
        self._check_opened()
        last = [each for each in range(len(self.joins)) if chain_rows.taken_on(self.joins, each) is None]
        if len(last) > 1:
            outputs = " and ".join(f"job.joins[{each}].output" for each in last)
            raise WorkbenchError(f"the query puts out the rows of several joins: see {outputs}")
        return self.joins[-1].output

    def state(self, batch: int) -> pd.DataFrame:
        """What all joins held in state after a micro-batch, read from the checkpoint.

        Parameters
        ----------
        batch
            A micro-batch of `batches`.

        Returns
        -------
        pandas.DataFrame
            As `Job.state`; Spark numbers its operators from the last join on.
        """
        return self.joins[-1].state(batch)

    def fixture(
        self,
        path: str | os.PathLike[str],
        *,
        anonymize: Mapping[str, str] | None = None,
        names: Mapping[str, str] | None = None,
        build: Build | str | None = None,
        mode: str = "append",
    ) -> Path:
        """Write what happened as a folder with a test; as `Job.fixture`, without ``keys`` and ``sample``.

        Raises
        ------
        WorkbenchError
            If a join is not opened.
        """
        self._check_opened()
        return _root.write_fixture(self, path, anonymize=anonymize, names=names, build=build, mode=mode)

    @property
    def comparison(self) -> pd.DataFrame:
        """What the model says of each join, verified against what the job left behind: ``join``, `Job.comparison`."""
        return self._each(lambda job: job.comparison)

    @property
    def mismatches(self) -> pd.DataFrame:
        """The rows of `comparison` that differ: a bug of the workbench, or for want of what is `missing`."""
        return self._each(lambda job: job.mismatches)

    @property
    def mismatch(self) -> str:
        """A sentence on each join that has `mismatches`, or could not be verified; empty where none has."""
        words = [f"join {number}: {each.mismatch}" for number, each in enumerate(self.joins) if each.mismatch]
        return "; ".join(words)

    @property
    def charts(self) -> ChainCharts:
        """The picture of the chain; each join has the charts of a run."""
        from workbench.charts import ChainCharts, ChainLink  # when needed: Altair is slow to import

        for each in self.joins:
            each._check_understood()
        feeds = chain_rows.feeds(self.joins)
        return ChainCharts(
            [
                ChainLink(each.simulation, feed, len(leaving.emitted(each.simulation)))
                for each, feed in zip(self.joins, feeds, strict=True)
            ]
        )

    def _each(self, table: Callable[[Job], pd.DataFrame]) -> pd.DataFrame:
        """A table of each join below each other, with its number."""
        parts = [table(each) for each in self.joins]
        for number, each in enumerate(parts):
            each.insert(0, "join", number)
        full = [each for each in parts if len(each)] or parts[:1]
        return pd.concat(full, ignore_index=True)

    def under(
        self,
        *,
        joins: Mapping[int, Join] | None = None,
        watermarks: Mapping[str, Span] | None = None,
        policy: Policy | None = None,
    ) -> Chain:
        """What the job would have given under other settings, simulated through all joins.

        The rows come in the micro-batches of the job. What comes out of a join under these settings enters the next
        one, through the job's own operators, which Spark is asked for.

        Parameters
        ----------
        joins
            Other joins, by their numbers: of the same kind, and the same ``how``, as the job's.
        watermarks
            Other watermark delays, such as ``"10 minutes"``, by the names of the streams. Of several streams with one
            name each has it.
        policy
            Whether the watermark is the ``min`` or the ``max`` of all streams'; None: as in the job.

        Returns
        -------
        Chain
            Its `joins`, `rows`, `late`, `output`, `batches`, `why` and `charts`. It has no state that could be read,
            and nothing to compare with.

        Raises
        ------
        ArgumentError
            If an argument is wrong.
        WorkbenchError
            If a join was not understood, or is not opened, or the watermarks of the logs do not follow from the rows.
        """
        self._check_opened()
        for each in self.joins:
            each._check_understood()
        if self._simulated is None or self.joins[0].is_supposed:
            raise WorkbenchError("this chain is simulated under other settings: use under() of the one that was opened")
        wanted = [each.join for each in self.joins]
        for number, join in _given("joins", joins, "numbers of joins and joins").items():
            place = self._checked_number(number)
            wanted[place] = self._checked_join(place, join)
        delays = self._delays(_given("watermarks", watermarks, "names of streams and delays"))
        own = self.joins[0].policy
        policy = own if policy is None else policy
        if policy not in ("min", "max"):
            raise wrong("policy", policy, "use 'min' or 'max'")
        streams = [each for some in self._streams.values() for each in some]
        logged = [each.watermark for each in self.joins[0].checkpoint.batches]
        if other_settings.query_marks(self.joins, streams, {}, own)[:-1].tolist() != logged:
            raise WorkbenchError(
                "other settings of this chain are not simulated, as the watermarks of its logs do not follow from its "
                "rows: it was started again between them, or rows cannot be read any more"
            )
        marks = other_settings.query_marks(self.joins, streams, delays, policy)
        return Chain(self._simulated(Supposed(wanted, marks, policy, delays)), self._simulated)

    @cached_property
    def _streams(self) -> Mapping[str, list[tuple[int, Side]]]:
        """The number and the side of each stream with a watermark, by its name."""
        found: dict[str, list[tuple[int, Side]]] = {}
        for number, (job, feed) in enumerate(zip(self.joins, chain_rows.feeds(self.joins), strict=True)):
            for side in SIDES:
                if side not in feed and side not in job.simulation.facts.unmarked:
                    found.setdefault(job.side(side).name, []).append((number, side))
        return found

    def _delays(self, watermarks: Mapping[str, Span]) -> dict[tuple[int, Side], timedelta]:
        found: dict[tuple[int, Side], timedelta] = {}
        for name, delay in watermarks.items():
            if name not in self._streams:
                known = ", ".join(self._streams)
                remedy = f"the streams with a watermark are {known}" if known else "no stream of it has a watermark"
                raise wrong("watermarks", name, remedy)
            found |= dict.fromkeys(self._streams[name], times.delay(delay, f"watermarks[{name!r}]"))
        return found

    def _checked_number(self, number: Value) -> int:
        if not is_index(number, len(self.joins)):
            raise wrong("joins", number, f"the joins are 0 to {len(self.joins) - 1}")
        return int(number)

    def _checked_join(self, number: int, join: Value) -> Join:
        own = self.joins[number].join
        if type(join) is not type(own) or emission(join) != emission(own):
            raise wrong(f"joins[{number}]", join, f"give one of the kind and the how of {own}")
        checked: Join = join
        return checked

    def advise(self) -> NoReturn:
        """Not of a chain: `under` simulates other settings."""
        raise WorkbenchError(
            "a chain gives no advice, as its watermark follows the streams of all joins: try other settings with "
            "job.under(joins={0: …}, watermarks={…}), or run the rows of one join by themselves: one = job.joins[0]; "
            "wb.run(one.join, *one.recording())"
        )

    def tune(self, **_: Value) -> NoReturn:
        """Not of a chain: `under` simulates other settings."""
        self.advise()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if not name.startswith("_") and (hasattr(Job, name) or name in Job.__dataclass_fields__):
                raise AttributeError(f"a chain has no {name}, each of its joins has: job.joins[0].{name}")
            return super().__getattribute__(name)


def _with_unknown(later: Sequence[str], counts: Counts) -> list[str]:
    """What became of rows in later joins, and that it is not known of those that come to a join that is not opened."""
    words = ("in a later join: not known" if count else "" for count in counts.tolist())
    return ["; ".join(filter(None, each)) for each in zip(later, words, strict=True)]


def _named(job: Job) -> str:
    return f"{job.left.name} and {job.right.name}"


def _heading(joins: Sequence[Job], number: int) -> str:
    return f"join {number}, of {_named(joins[number])}"


def column_names(job: Job | Chain, number: int, side: Side) -> dict[str, str]:
    """What the columns of a side are called in ``rows`` of a job, or of a chain, by their own names.

    Parameters
    ----------
    job
        The job, or the chain.
    number
        Of a chain the number of the join.
    side
        Its side.
    """
    if not isinstance(job, Chain):
        return _names(job)[0][side]
    shown, new = _names(job.joins[number])
    return {own: new.get(name, name) for own, name in shown[side].items()}


def _names(job: Job) -> tuple[Sides[dict[str, str]], dict[str, str]]:
    """What the columns of either side are called in the tables of a job, and new names for those in a chain's."""
    streams = Sides.of(job.side)
    shown = streams.map(lambda stream: {each: each for each in stream.columns} | tables.renamed(stream.columns))
    every = dict.fromkeys(name for each in shown.values() for name in each.values())
    return shown, tables.renamed(list(every), _OURS)


def _by_side(job: Job, table: pd.DataFrame, described: schema.Table, more: Mapping[str, Value]) -> list[pd.DataFrame]:
    """A table of a join with more columns, by side, with the columns of that side's stream only."""
    shown, new = _names(job)
    front = [each.name for each in described.first]
    parts = []
    for side in SIDES:
        foreign = {*shown[other_side(side)].values()} - {*shown[side].values()}
        own = table[[each for each in table if each not in foreign]]
        mine = own.rename(columns=new).assign(stream=job.side(side).name, **more)
        mine = mine[[*front, *(each for each in mine.columns if each not in front)]]
        parts.append(mine[mine["side"] == side].reset_index(drop=True))
    return parts


def _given(name: str, given: Mapping[Any, Any] | None, what: str) -> Mapping[Any, Any]:
    """An argument that is a mapping, or nothing."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise wrong(name, given, f"give a dict of {what}")
    return given
