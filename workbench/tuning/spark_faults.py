"""Faults of Spark's own that a join of two recorded streams meets, by the version of Spark.

Named is only what a test reproduces on a version that has it: each fault has a script of plain PySpark in ``examples``.
What else was found, and why a join of the workbench does not meet it, is in ``docs/spark-versions.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.resources import files

import pandas as pd

from workbench import model
from workbench.joins import Join, emission
from workbench.kinds import HASH_JOIN, kind_of
from workbench.literals import SIDES, Policy, Side, Sides
from workbench.model import Outcome, Shared
from workbench.spark_versions import SparkFacts, facts, numbers
from workbench.streams import Stream
from workbench.untyped import Record

__all__ = ["FAULTS", "Case", "Fault", "Lost", "lost", "met"]

Range = tuple[tuple[int, ...], tuple[int, ...]]
"""Versions from the first to before the second, which has it no more."""

_ALL: Range = ((3, 3, 0), (4, 4, 0))


@dataclass(frozen=True)
class Case:
    """A join of two recorded streams, as it is asked whether it meets a fault.

    Attributes
    ----------
    join, streams, policy
        As in `workbench.run`.
    outcome
        What the model says of it.
    shared
        What runs of these rows have in common.
    idle
        The side that sends nothing for long, if one does.
    restarted
        Whether that side has sent nothing since the query was started again.
    """

    join: Join
    streams: Sides[Stream]
    policy: Policy
    outcome: Outcome
    shared: Shared
    idle: Side | None = None
    restarted: bool = False

    def by(self, spark: SparkFacts) -> Outcome:
        """What another Spark makes of it."""
        return model.judge_and_join(self.join, self.outcome.marks, self.shared, spark)


@dataclass(frozen=True)
class Fault:
    """A fault of Spark's.

    Attributes
    ----------
    ticket
        Of Spark's issue tracker; empty where none is known.
    affected
        The versions that have it.
    remedy
        The versions that do not have it, and what else helps.
    example
        The name of its script.
    problem
        What it does to a join, with figures of the recording; empty where the join does not meet it.
    """

    ticket: str
    affected: tuple[Range, ...]
    remedy: str
    example: str
    problem: Callable[[Case], str]

    def __str__(self) -> str:
        return self.ticket or "a fault without a ticket"

    def source(self) -> str:
        """The script of plain PySpark that shows it: it prints what Spark gives, and what was expected."""
        return (files("workbench.tuning") / "examples" / f"{self.example}.py").read_text(encoding="utf-8")

    def affects(self, version: str) -> bool:
        """Whether a version has it; of a minor version, whether any of its releases has."""
        found = numbers(version)
        if len(found) > 2:
            return any(first <= found < fixed for first, fixed in self.affected)
        return any(first[:2] <= found and (*found, 0) < fixed for first, fixed in self.affected)


@dataclass(frozen=True)
class Lost:
    """What differs in the output of a Spark that has a fault, as `Outputs.emitted` gives its rows.

    Attributes
    ----------
    matches
        Rows with a partner that do not come out.
    padded
        Rows without partner that do not come out.
    wrongly_padded
        Rows that come out as without partner, as all their matches are lost.
    """

    matches: pd.DataFrame
    padded: pd.DataFrame
    wrongly_padded: pd.DataFrame

    def text(self, streams: Sides[Stream]) -> str:
        """How many, and the first row."""
        found = [
            (self.matches, "{} with a partner"),
            (self.padded, "{} without"),
            (self.wrongly_padded, "{} that are written with nulls, but have a partner"),
        ]
        words = [what.format(f"{len(rows):,}") for rows, what in found if len(rows)]
        if not words:
            return "(here none: none of these rows expires so early)"
        one = next(rows for rows, _ in found if len(rows)).iloc[0]
        side: Side = "left" if one["left"] >= 0 else "right"
        return f"(here {', '.join(words)}; the first is row {one[side]} of {streams[side].name})"


def lost(case: Case, right: SparkFacts, wrong: SparkFacts) -> Lost:
    """What the rows of a recording lose by a fault.

    Parameters
    ----------
    case
        The join and its streams.
    right, wrong
        A Spark without the fault, and the same with it.
    """
    sides = emission(case.join).sides
    rows = [_emitted(case.by(spark), sides) for spark in (right, wrong)]
    both = rows[0].merge(rows[1], how="outer", indicator=True)
    missing, more = (both[both["_merge"] == which] for which in ("left_only", "right_only"))
    return Lost(missing[missing["matched"]], missing[~missing["matched"]], more)


def _emitted(outcome: Outcome, sides: tuple[Side, ...]) -> pd.DataFrame:
    found = outcome.outputs.emitted(sides)
    return found[["left", "right", "start", "end"]].assign(
        matched=outcome.outputs.table["matched"].to_numpy()[found["output"]]
    )


def met(case: Case, version: str) -> list[tuple[Fault, str]]:
    """The faults that a join meets on a version, each with what it does."""
    found = ((fault, fault.problem(case)) for fault in FAULTS if fault.affects(version))
    return [(fault, problem) for fault, problem in found if problem]


def _expiring(case: Case) -> str:
    if kind_of(case.join).operator is not HASH_JOIN:
        return ""
    right = facts("4.0")
    found = lost(case, right, replace(right, loses_expiring=True))
    return f"it loses rows that expire in the micro-batch they arrive in {found.text(case.streams)}"


def _expiring_before_late(case: Case) -> str:
    kind = kind_of(case.join)
    if kind.operator is not HASH_JOIN:
        return ""
    sides = [case.streams[side].name for side in emission(case.join).padded if kind.waits(case.join, side) < 0]
    if not sides:
        return ""
    return f"it loses rows of {' and '.join(sides)} without partner that expire in the micro-batch they arrive in"


def _left_semi(case: Case) -> str:
    if not emission(case.join).first_only:
        return ""
    found = lost(case, replace(facts("4.3"), semi_join_loses_expiring=False), facts("4.3"))
    what = "it loses left rows whose only partner comes in their micro-batch and expires in it"
    return f"{what} {found.text(case.streams)}"


def _null_keys(case: Case) -> str:
    if kind_of(case.join).operator is not HASH_JOIN or len(emission(case.join).padded) < len(SIDES):
        return ""
    counts = [int((keys < 0).sum()) for keys in case.outcome.keys]
    if not all(counts):
        return ""
    rows = " and ".join(f"{n:,} of {case.streams[side].name}" for n, side in zip(counts, SIDES, strict=True))
    return f"it pairs null keys in a full outer join on the equality of keys, and {rows} have one"


def _restarts(case: Case) -> str:
    if case.policy != "min" or case.idle is None:
        return ""
    name = case.streams[case.idle].name
    if case.restarted:
        return (
            "it forgot each side's watermark when the query was restarted, as the checkpoint keeps only that "
            f"of the query: {name} counts as 1970 until it has rows again, and nothing leaves the state"
        )
    return (
        f"it forgets each side's watermark in a restart, as the checkpoint keeps only that of the query, and {name}, "
        "which is idle for long, then counts as 1970 until it has rows again: nothing leaves the state"
    )


_EXPIRING: Record = {"ticket": "SPARK-49829", "example": "spark_49829"}

FAULTS = (
    Fault(
        **_EXPIRING,
        affected=(((3, 4, 0), (3, 4, 4)), ((3, 5, 0), (3, 5, 4))),
        remedy="use Spark 3.4.4, 3.5.4, 4.0 or later, which do not have it; a longer watermark delay makes it rarer",
        problem=_expiring,
    ),
    Fault(
        **_EXPIRING,
        affected=(((3, 3, 0), (3, 4, 0)),),
        remedy="use Spark 3.4.4, 3.5.4, 4.0 or later, which do not have it",
        problem=_expiring_before_late,
    ),
    Fault(
        ticket="",
        affected=(((4, 2, 0), (4, 4, 0)),),
        remedy="no version after 4.1 is without it; use an inner join and drop duplicates of the left row, or a longer "
        "watermark delay, which makes it rarer",
        example="left_semi",
        problem=_left_semi,
    ),
    Fault(
        ticket="",
        affected=(_ALL,),
        remedy="no version is without it; join on the condition that the left key is not null too, as the workbench "
        "and its scripts do",
        example="null_keys",
        problem=_null_keys,
    ),
    Fault(
        ticket="",
        affected=(_ALL,),
        remedy="no version is without it; let the idle source send a heartbeat row, and let the query run on rather "
        "than start it now and then",
        example="restart",
        problem=_restarts,
    ),
)
"""Those that a join of the workbench can meet."""
