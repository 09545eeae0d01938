"""What a page is set to at one moment, and the arguments of a run that it means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import cast

from workbench import conditions, times
from workbench.app._form import part_of_input
from workbench.app._join_inputs import JoinInputs
from workbench.app._streams import Made, made_streams
from workbench.app.sources import Streams, WrongSettingsError
from workbench.errors import ArgumentError, WorkbenchError
from workbench.jobs import Job
from workbench.joins import How, Join, where_of
from workbench.kinds import kind_of
from workbench.literals import Policy, Side
from workbench.runs import running
from workbench.runs.result import Result
from workbench.sources.findings import Finding
from workbench.streams import SIDES, Stream, pair_types
from workbench.untyped import Record, Value


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What all inputs of a page hold at one moment. All that the page shows is computed from one of these.

    Attributes
    ----------
    values
        The inputs' values, by name; not to be changed.
    variables
        What the notebook's variables that the page offers held then, by name.
    """

    values: Mapping[str, Value]
    variables: Mapping[str, Value] = field(default_factory=dict)

    def same(self, other: Snapshot | None) -> bool:
        """Whether another one holds the same values, and the very same streams and tables."""
        if other is None or self.values != other.values:
            return False
        names = self.variables.keys() | other.variables.keys()
        return all(self.variables.get(name) is other.variables.get(name) for name in names)


@dataclass(frozen=True)
class RunConfiguration:
    """What a page is set to: the arguments of a run.

    Attributes
    ----------
    join, left, right, finish, policy
        As `workbench.run` takes them.
    code
        The lines of a cell that make the two streams, but for their delays, as ``left`` and ``right``.
    folder
        Where a run on Spark keeps its files, as `workbench.run` takes it.
    job, job_name
        The job whose rows the streams are, and its variable; None: they are no job's.
    heeds_where
        Whether what is shown heeds what the job's join asks for beside keys and times; a run on Spark does not.
    generated
        What the streams were generated with, in words, by the label of its input; empty where they were not.
    """

    join: Join
    left: Stream
    right: Stream
    finish: bool
    policy: Policy
    code: tuple[str, ...] = ()
    folder: str | None = None
    job: Job | None = None
    job_name: str = ""
    heeds_where: bool = True
    generated: Mapping[str, str] = field(default_factory=dict)

    @property
    def arguments(self) -> Record:
        """The arguments that `workbench.run` and `workbench.preview` both take, by name."""
        return {name: getattr(self, name) for name in ("join", "left", "right", "finish", "policy")}

    @property
    def is_as_it_ran(self) -> bool:
        """Whether it is of a job, and no setting differs from the job's own."""
        job = self.job
        if job is None or self.join != job.join or self.finish or self.policy != job.policy:
            return False
        return (self.left.watermark, self.right.watermark) == (job.left.watermark, job.right.watermark)

    def preview(self) -> Result:
        """What it gives, without Spark; of a job under its own settings the job."""
        if self.job is None:
            return running.preview(**self.arguments)
        if self.is_as_it_ran:
            return self.job
        delays = {"left_watermark": self.left.watermark, "right_watermark": self.right.watermark}
        return self.job.under(self.join, **delays, policy=self.policy, finish=self.finish)


class Reader:
    """Reads snapshots; streams are made again only when what they are made of has changed.

    Parameters
    ----------
    inputs
        Those of the joins.
    folder
        Where runs on Spark keep their files.

    Attributes
    ----------
    findings
        What was found about the rows of the streams that were read last.
    """

    def __init__(self, inputs: JoinInputs, folder: str | None = None) -> None:
        self._inputs, self._folder = inputs, folder
        self._made: Made | None = None
        self.findings: tuple[Finding, ...] = ()

    @property
    def streams(self) -> tuple[Stream, Stream] | None:
        """The two streams that were read last."""
        return None if self._made is None else (self._made.streams.left, self._made.streams.right)

    def forget(self) -> None:
        """Make the streams anew next time: a table may have been changed in place."""
        self._made = None

    def configuration(self, snapshot: Snapshot) -> RunConfiguration:
        """What a snapshot asks for.

        Raises
        ------
        WrongSettingsError
            If an input is wrong.
        """
        found: list[tuple[WorkbenchError, dict[str, str]]] = []
        values = snapshot.values
        join = self._join(values, found)
        delays = [self._delay(values, side, found) for side in SIDES]
        streams = self._streams(snapshot, found)
        if found or join is None or streams is None:
            marks = {place: words for _, each in reversed(found) for place, words in each.items()}
            raise WrongSettingsError(str(found[0][0]), marks) from found[0][0]
        left, right = (
            replace(each, watermark=delay) for each, delay in zip((streams.left, streams.right), delays, strict=True)
        )
        self._check_parts(values, join, left, right)
        self._check_where(values, join, left, right)
        finish, policy = values["finish"], values["policy"]
        return RunConfiguration(
            join,
            left,
            right,
            finish,
            policy,
            streams.code,
            self._folder,
            streams.job,
            streams.job_name,
            generated=streams.generated,
        )

    def _join(self, values: Mapping[str, Value], found: list[Value]) -> Join | None:
        wrong = self._inputs.wrong(values)
        if wrong:
            found.extend(wrong)
            return None
        try:
            return self._inputs.join(values, cast(How, values["how"] or "inner"))
        except ArgumentError as error:
            name = self._inputs.names[values["kind"]].get(error.argument)
            found.append((error, {name: error.remedy} if name else {}))
            return None

    def _check_parts(self, values: Mapping[str, Value], join: Join, left: Stream, right: Stream) -> None:
        """Say beside a part of an input, such as a step of a pattern, what is wrong with it; the rest a run checks."""
        try:
            kind_of(join).check(join, left, right)
        except ArgumentError as error:
            if error.inside is None:
                return
            argument, part = error.inside
            place = part_of_input(self._inputs.names[values["kind"]][argument], part)
            raise WrongSettingsError(str(error), {place: error.remedy}) from error

    def _check_where(self, values: Mapping[str, Value], join: Join, left: Stream, right: Stream) -> None:
        where = where_of(join)
        if where is not None:
            try:
                conditions.check(where, pair_types(left, right), "where")
            except ArgumentError as error:
                name = self._inputs.names[values["kind"]].get("where")
                raise WrongSettingsError(str(error), {name: error.remedy} if name else {}) from error

    @staticmethod
    def _delay(values: Mapping[str, Value], side: Side, found: list[Value]) -> timedelta:
        name = f"{side}.watermark"
        try:
            return times.delay(values[name], name)
        except WorkbenchError as error:
            found.append((error, {name: str(error).split(":", 1)[-1].strip()}))
            return timedelta()

    def _streams(self, snapshot: Snapshot, found: list[Value]) -> Streams | None:
        try:
            self._made = made_streams(snapshot.values, snapshot.variables, self._made)
        except WorkbenchError as error:
            found.append((error, getattr(error, "marks", {})))
            self.findings = getattr(error, "findings", ())
            return None
        self.findings = self._made.streams.findings
        return self._made.streams
