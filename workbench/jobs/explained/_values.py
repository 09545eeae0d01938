"""Constants in the text of a plan: numbers, and intervals in microseconds."""

from __future__ import annotations

import operator
import re
from decimal import Decimal
from typing import Any

from workbench.jobs.explained._types import TYPES
from workbench.untyped import Value

__all__ = ["UNITS", "Span", "calendar", "constant", "converted", "reckoned", "whole_span"]

UNITS = {
    "week": 604_800_000_000, "day": 86_400_000_000, "hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000,
    "millisecond": 1_000, "microsecond": 1,
}  # fmt: skip
_UNIT = "|".join((*UNITS, "month", "year"))
_CALENDAR = re.compile(rf"-?[\d.]+ (?:{_UNIT})s?(?: -?[\d.]+ (?:{_UNIT})s?)*")
_ONE_UNIT = re.compile(rf"(-?[\d.]+) ({_UNIT})")
_INTERVAL = re.compile(r"(-?)INTERVAL '([+-]?)([\d :.]+)' (DAY|HOUR|MINUTE|SECOND)(?: TO (HOUR|MINUTE|SECOND))?")
_CLOCK = ("DAY", "HOUR", "MINUTE", "SECOND")


class Span(int):
    """An interval of days and less, in microseconds."""


def constant(text: str) -> int | Decimal | Span | None:
    """The value of a number or an interval; None of other texts, and of intervals with months."""
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if re.fullmatch(r"-?\d+\.\d+", text):
        return Decimal(text)
    if _CALENDAR.fullmatch(text):
        return calendar(text)
    found = _INTERVAL.fullmatch(text)
    return None if found is None else _of_clock(found)


def calendar(text: str) -> Span | None:
    """An interval such as ``1 hours 0.5 seconds``."""
    found = _ONE_UNIT.findall(text)
    if not found or any(unit in ("month", "year") for _, unit in found):
        return None
    return whole_span(sum(Decimal(number) * UNITS[unit] for number, unit in found))


def _of_clock(found: re.Match[str]) -> Span | None:
    """An interval such as ``INTERVAL '1 02:03:04.5' DAY TO SECOND``."""
    first, last = found[4], found[5] or found[4]
    units = _CLOCK[_CLOCK.index(first) : _CLOCK.index(last) + 1]
    numbers = re.split("[ :]", found[3])
    if len(numbers) != len(units):
        return None
    total = sum(Decimal(number) * UNITS[unit.lower()] for number, unit in zip(numbers, units, strict=True))
    return whole_span(-total if (found[1] == "-") != (found[2] == "-") else total)


def whole_span(micros: Decimal | int) -> Span | None:
    """An interval of so many microseconds; None where there is a part of one."""
    return Span(micros) if micros == int(micros) else None


def converted(value: Value, kind: str) -> Any:
    """A constant as another type; None where that would cut something off, or is not known."""
    if isinstance(value, Span):
        return value if kind in ("interval", "interval day to second") else None
    if kind.startswith("decimal(") and isinstance(value, (int, Decimal)):
        return Decimal(value)
    return value if kind in TYPES and isinstance(value, int) else None


def reckoned(sign: str, one: Any, other: Any) -> Any:
    """What two constants give; None where one is none, or nothing whole comes out."""
    spans = isinstance(one, Span), isinstance(other, Span)
    numbers = [each for each in (one, other) if isinstance(each, int)]
    if len(numbers) < 2:
        return None
    if sign in "+-" and spans[0] == spans[1]:
        found = operator.add(one, other) if sign == "+" else operator.sub(one, other)
        return Span(found) if spans[0] else int(found)
    if sign == "*" and not all(spans):
        return Span(one * other) if any(spans) else one * other
    if sign == "/" and spans == (True, False) and other and not one % other:
        return Span(one // other)
    return None
