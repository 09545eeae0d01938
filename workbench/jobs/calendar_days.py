"""Bounds and windows that Spark counts by the clock of a time zone, where days are not all 24 hours long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.jobs import plan_notes
from workbench.jobs.catalyst import Node
from workbench.jobs.conditions import Conjunct
from workbench.jobs.join_conditions import Condition, bounds
from workbench.untyped import SparkObject

__all__ = ["bounding", "of_days", "of_windows"]

_FIXED_ZONES = ("UTC", "Etc/UTC", "GMT", "Z")
_DAY = 86_400_000_000
_DIFFERENCE = "SubtractTimestamps"


def bounding(spark: SparkObject, read: Condition, written: Sequence[Conjunct]) -> list[Node]:
    """The conjuncts with bounds of the event times, if Spark counts one by the clock of a zone where clocks change.

    All of them, as pairs are looked for within bounds that are wider by what clocks change, on either end.
    """
    if not _changes_clocks(_zone(spark, written)):
        return []
    found, counted = [], False
    for each in written:
        limits = [one for part in each.parts for one in bounds(part, read.inputs) if read.is_of_times(one)]
        kinds = {node.kind for part in each.parts for node in part.walk()}
        counted |= bool(limits) and (_DIFFERENCE in kinds or any(abs(one.micros) >= _DAY for one in limits))
        found += [each.written] if limits else []
    return found if counted else []


def of_days(spark: SparkObject, read: Condition) -> Iterator[str]:
    """A note on bounds of days that are not 24 hours long."""
    zone = _zone(spark, read.written)
    if not _changes_clocks(zone):
        return
    if any(abs(each.micros) >= _DAY for each in read.bounds) or (read.bounds and _DIFFERENCE in read.operators):
        yield (
            f"the session's time zone is {zone}: where clocks change, Spark computes days and differences of times by "
            "the clock, and the description by elapsed hours"
        )


def of_windows(spark: SparkObject, read: Condition) -> Iterator[str]:
    """A note on windows that begin at no midnight of the session's zone."""
    left = read.inputs["left"]
    for pair in read.windows[:1]:
        yield from plan_notes.of_windows(left.windows[left.origin(pair[0])][0], _zone(spark))


def _zone(spark: SparkObject, written: Sequence[Conjunct] = ()) -> str:
    """The time zone by which Spark counts days: that of the session when a condition was written, or that of now."""
    zones = (part.fields.get("timeZoneId") for each in written for part in each.written.walk())
    return str(next(filter(None, zones), "")) or str(spark.conf.get("spark.sql.session.timeZone"))


def _changes_clocks(zone: str) -> bool:
    """Whether a time zone is one in which a day may have another length than 24 hours."""
    return zone not in _FIXED_ZONES and zone[0] not in "+-"
