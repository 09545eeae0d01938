"""Event times that a condition compares as numbers, such as ``unix_timestamp``: their bounds, and what to write."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from workbench.jobs.conditions import Numbered
from workbench.jobs.description import SideDescription
from workbench.literals import SIDES, Side
from workbench.model import Numbers

__all__ = ["bounds", "in_intervals", "note"]

_UNITS = {1_000_000: "seconds", 1_000: "milliseconds"}


def bounds(found: Sequence[Numbered], sides: Sequence[Side], described: Sequence[SideDescription]) -> Numbers | None:
    """The bounds of the event times of two sides, each compared as a number; None where there are none.

    Parameters
    ----------
    found
        The bounds.
    sides
        For each bound the side of the later of the two times that it compares.
    described
        What both sides are called, and their event times.
    """
    if not found:
        return None
    by_side = {side: [each for each, one in zip(found, sides, strict=True) if one == side] for side in SIDES}
    lower, upper = (max(by_side[side], key=_least, default=None) for side in ("right", "left"))
    times = [(each.name, each.time) for each in described]
    low, high = None if lower is None else _least(lower), None if upper is None else -_least(upper)
    return Numbers(low, high, max(each.unit for each in found), _interval(times, lower, upper))


def note(numbers: Numbers, kept: Collection[Side], lost: Mapping[Side, str]) -> str:
    """What is said of such a join.

    Parameters
    ----------
    numbers
        The bounds.
    kept
        The sides whose rows Spark keeps in state forever.
    lost
        The event times that do not enter the join, by side.
    """
    forever = f", and Spark derives no state watermark for the {' and the '.join(kept)} side from them" if kept else ""
    selected = f", and select {' and '.join(dict.fromkeys(lost.values()))} before the join, too" if lost else ""
    gain = ", so that rows leave the state" if kept else ""
    unit = numbers.unit_in_words
    return (
        f"the condition compares event times as whole numbers of {unit}, so that pairs up to less than 1 "
        f"{unit.removesuffix('s')} farther apart satisfy it, too{forever}: write {numbers.interval}{selected}{gain}"
    )


def _least(bound: Numbered) -> int:
    """The least difference of the numbers, in microseconds."""
    return bound.written.micros + bound.unit * bound.written.exclusive


def _interval(times: Sequence[tuple[str, str]], lower: Numbered | None, upper: Numbered | None) -> str:
    """The bounds as a condition of times."""
    low = None if lower is None else (lower.written.micros, lower.written.exclusive)
    high = None if upper is None else (-upper.written.micros, upper.written.exclusive)
    return in_intervals(times, low, high)


def in_intervals(
    times: Sequence[tuple[str, str]], lower: tuple[int, bool] | None, upper: tuple[int, bool] | None
) -> str:
    """A condition of times, from what both streams and their times are called, and the bounds of right less left.

    A bound is microseconds, and whether it is exclusive. Names of streams that are the same tell no times apart.
    """
    apart = len({name for name, _ in times}) > 1 or len({time for _, time in times}) == 1
    left, right = (f"{name}.{time}" if apart else time for name, time in times)
    low, high = (None if each is None else _shifted(left, each[0]) for each in (lower, upper))
    if lower is not None and upper is not None and not lower[1] and not upper[1]:
        return f"{right} BETWEEN {low} AND {high}"
    parts = [f"{right} {'>' if lower[1] else '>='} {low}"] if lower is not None else []
    parts += [f"{right} {'<' if upper[1] else '<='} {high}"] if upper is not None else []
    return " AND ".join(parts)


def _shifted(time: str, micros: int) -> str:
    """A time and a span, as SQL."""
    unit = next(each for each in (*_UNITS, 1) if micros % each == 0)
    words = f"INTERVAL {abs(micros) // unit} {_UNITS.get(unit, 'microseconds').upper()}"
    return f"{time} {'-' if micros < 0 else '+'} {words}" if micros else time
