"""What a page keeps of a run, and what the list calls it: by what a user has set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any

from workbench.app._snapshot import RunConfiguration, Snapshot
from workbench.counts import counted
from workbench.jobs import Job
from workbench.joins import Join, how_of
from workbench.kinds import kind_of
from workbench.reasons.labels import setting_name, setting_value
from workbench.runs import running
from workbench.runs.result import Result
from workbench.runs.run import Run
from workbench.streams import Stream
from workbench.untyped import Record

__all__ = ["Entry", "RunRecord", "varied"]


@dataclass(frozen=True, eq=False)
class RunRecord:
    """A run with what the page was set to.

    Attributes
    ----------
    number
        Its number on its page.
    run, configuration
        The run, and what it is of.
    snapshot
        What the page was set to; None where its streams are not those that the page was set to: of a live query, and
        of a run that was loaded.
    origin
        How it came about, in a few words.
    """

    number: int
    run: Result
    configuration: RunConfiguration
    snapshot: Snapshot | None
    origin: str

    @cached_property
    def failure(self) -> str:
        """What to say of a run that differs from the model, or could not be compared; empty where they agree."""
        return running.verification_failure(self.run) if isinstance(self.run, Run) else ""

    @cached_property
    def closed(self) -> Result:
        """The run; where it left windows open, simulated with every window closed at the end."""
        run = self.run
        if run.finish:
            return run
        if isinstance(run, Job):
            return run.under(finish=True)
        return running.preview(run.join, run.left, run.right, finish=True, policy=run.policy)

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """What it is of, in words: the join with its bounds or window and how, both delays, and what is unusual."""
        of = self.configuration
        delays = ", ".join(f"{each.name} {setting_value('delay', each.watermark)}" for each in (of.left, of.right))
        found = [", ".join([kind_of(of.join).label, *_arguments(of.join, of.left, of.right)]), f"delays: {delays}"]
        if of.policy != "min":
            found.append(f"watermark follows the {setting_value('policy', of.policy)}")
        if not of.finish:
            found.append("windows left open at the end")
        if of.job is not None and of.job.where:
            found.append(f"and {of.job.where}" if of.heeds_where else f"without {of.job.where}")
        return tuple(found)

    def title(self, among: frozenset[str] = frozenset()) -> str:
        """Its line in the list.

        Parameters
        ----------
        among
            What generated streams were made with that differs between the runs of the list, as `varied` gives them.
        """
        name = [self.run.name] if self.run.name else []
        took = f"{self.origin} on Spark" if self.origin.endswith(" s") else self.origin
        return " · ".join([str(self.number), *name, *self.settings, self._streams(among), took])

    def _streams(self, among: frozenset[str]) -> str:
        """Which rows it is of: the scenario with what differs, or the streams; with how many rows they have."""
        of = self.configuration
        rows = " and ".join(f"{counted(len(each), 'row')} of {each.name}" for each in (of.left, of.right))
        if self.snapshot is None or not of.generated:
            return rows
        moved = [f"{name} {words}" for name, words in of.generated.items() if name in among]
        return ", ".join([f"{of.generated['scenario']}: {rows}", *moved])


def _arguments(join: Join, left: Stream, right: Stream) -> Iterator[str]:
    """The arguments of a join in words, how last; those that are as they are by themselves are left out."""
    kind = kind_of(join)
    usual = _defaults(join)
    for name, value in kind.shown(join).items():
        same = name in usual and setting_value(name, value) == setting_value(name, usual[name])
        if name != "how" and value is not None and not same:
            yield f"{setting_name(join, (left.name, right.name), name)} {setting_value(name, value)}"
    if kind.hows:
        yield how_of(join)


def _defaults(join: Join) -> Record:
    """What the arguments of a join and of its window are where nobody gives them."""
    parts: list[Any] = [each for each in (join, getattr(join, "window", None)) if is_dataclass(each)]
    return {field.name: field.default for part in parts for field in fields(part)}


def varied(records: Sequence[RunRecord]) -> frozenset[str]:
    """The labels of what generated streams were made with that differ between runs of one scenario."""
    of: dict[str, list[Mapping[str, str]]] = {}
    for each in records:
        if each.snapshot is not None and (made := each.configuration.generated):
            of.setdefault(made["scenario"], []).append(made)
    return frozenset(
        name
        for alike in of.values()
        for name in {name for each in alike for name in each}
        if any(each.get(name) != alike[0].get(name) for each in alike)
    )


@dataclass(frozen=True)
class Entry:
    """A run in the list of a page: the record, and the words for the page that it is of; none for the page itself."""

    record: RunRecord
    page: str = ""

    def title(self, among: frozenset[str] = frozenset()) -> str:
        """Its line in the list, as `RunRecord.title` has it."""
        words = self.record.title(among)
        return f"{self.page}: {words}" if self.page else words

    @property
    def short(self) -> str:
        """What a sentence calls it."""
        words = f"{self.page}, run {self.record.number}" if self.page else f"run {self.record.number}"
        return f"{words}, {self.record.run.name}" if self.record.run.name else words
