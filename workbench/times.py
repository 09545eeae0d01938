"""The only parser and printer of time spans."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal

from workbench.errors import wrong

__all__ = [
    "MICROSECOND",
    "ZERO",
    "Span",
    "delay",
    "exact",
    "micros",
    "not_negative",
    "parse",
    "positive",
    "precise",
    "short",
    "text",
    "trigger",
]

Span = str | timedelta
"""A time span as users give it: ``"10 seconds"``, ``"-500 ms"`` or a `datetime.timedelta`."""

ZERO = timedelta(0)
MICROSECOND = timedelta(microseconds=1)
_SECOND = timedelta(seconds=1)

_UNITS = (
    ("day", timedelta(days=1)),
    ("hour", timedelta(hours=1)),
    ("minute", timedelta(minutes=1)),
    ("second", timedelta(seconds=1)),
    ("millisecond", timedelta(milliseconds=1)),
    ("microsecond", MICROSECOND),
)
_LONGEST = timedelta(days=36_500)
_REMEDY = 'use a number with a unit, such as "10 seconds", "-500 ms" or "1 minute 30 seconds", or a datetime.timedelta'
_DIGITS = 24
_SPAN = re.compile(r"\s*(?P<sign>[+-]?)\s*([0-9]+(\.[0-9]+)?\s*[a-zA-Zµμ]+\s*)+")
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Zµμ]+)")
_LENGTHS = {
    name: Decimal(micros)
    for names, micros in (
        ("w week weeks", 604_800_000_000),
        ("d day days", 86_400_000_000),
        ("h hr hrs hour hours", 3_600_000_000),
        ("m min mins minute minutes", 60_000_000),
        ("s sec secs second seconds", 1_000_000),
        ("ms milli millis millisecond milliseconds", 1_000),
        ("us µs μs micro micros microsecond microseconds", 1),
        ("ns nano nanos nanosecond nanoseconds", Decimal("0.001")),
    )
    for name in names.split()
}
"""Units as pandas reads them, in microseconds."""


def parse(span: Span, argument: str) -> timedelta:
    """Read a time span.

    Parameters
    ----------
    span
        Text with units (``"1 minute 30 seconds"``, ``"-2 s"``, ``"500 ms"``) or a `datetime.timedelta`.
    argument
        What to call it in an error.

    Raises
    ------
    ArgumentError
        If it is no time span, finer than a microsecond, or longer than a hundred years.

    Examples
    --------
    >>> parse("1 minute 30 seconds", "size")
    datetime.timedelta(seconds=90)
    """
    micros = _micros(span)
    if micros is None:
        raise wrong(argument, span, _REMEDY)
    if abs(micros) > _LONGEST // MICROSECOND:  # first, as a number of more digits has no remainder
        raise wrong(argument, span, "use at most a hundred years (36500 days)")
    if micros % 1:
        raise wrong(argument, span, "event times have microseconds, so use whole microseconds")
    return timedelta(microseconds=int(micros))


def _micros(span: object) -> Decimal | None:
    """A time span in microseconds, every digit counted; None where it is none."""
    if isinstance(span, str):
        return _read(span)
    if _is_numpys(span):
        return Decimal(int(span.astype("timedelta64[ns]").astype("int64"))) / 1000  # type: ignore[attr-defined]
    if not isinstance(span, timedelta) or span != span:  # pandas' NaT is a timedelta unlike itself
        return None
    whole = timedelta(span.days, span.seconds, span.microseconds) // MICROSECOND
    return whole + Decimal(getattr(span, "nanoseconds", 0)) / 1000


def _is_numpys(span: object) -> bool:
    """Whether it is a ``numpy.timedelta64`` of a fixed length, and not missing: months and years have none."""
    kind = str(getattr(span, "dtype", ""))
    lengths = any(kind == f"timedelta64[{unit}]" for unit in ("W", "D", "h", "m", "s", "ms", "us", "ns"))
    return lengths and not isinstance(span, timedelta) and getattr(span, "ndim", 1) == 0 and span == span


def _read(text: str) -> Decimal | None:
    found = _SPAN.fullmatch(text)
    if found is None:
        return None
    total = Decimal(0)
    for number, unit in _PART.findall(text):
        length = _LENGTHS.get(unit.lower())
        if length is None or unit == "M" or len(number) > _DIGITS:  # a capital M is a month
            return None
        total += Decimal(number) * length
    return -total if found["sign"] == "-" else total


def positive(span: Span, argument: str) -> timedelta:
    """Read a time span that must be longer than zero."""
    read = parse(span, argument)
    if read <= ZERO:
        raise wrong(argument, span, 'use a span longer than zero, such as "10 seconds"')
    return read


def not_negative(span: Span, argument: str) -> timedelta:
    """Read a time span of zero or more."""
    read = parse(span, argument)
    if read < ZERO:
        raise wrong(argument, span, 'use a span of zero or more, such as "20 seconds"')
    return read


def delay(span: Span, argument: str) -> timedelta:
    """Read a watermark delay: zero or more, in whole milliseconds, as Spark keeps watermarks."""
    read = parse(span, argument)
    if read < ZERO:
        raise wrong(argument, span, 'a watermark delay is zero or more, such as "10 seconds"')
    if micros(read) % 1000:
        raise wrong(argument, span, "Spark keeps watermarks in milliseconds, so use whole milliseconds")
    return read


def trigger(span: Span, argument: str = "trigger") -> timedelta:
    """Read a trigger interval: whole milliseconds, as Spark has them."""
    read = positive(span, argument)
    if micros(read) % 1000:
        raise wrong(argument, span, "Spark's trigger has milliseconds, so use whole milliseconds")
    return read


def exact(span: Span) -> timedelta:
    """A field of a window or a join: a `timedelta` since the description was made."""
    return span if isinstance(span, timedelta) else parse(span, "span")


def micros(span: Span) -> int:
    """A time span of a description as whole microseconds."""
    return exact(span) // MICROSECOND


def text(span: Span) -> str:
    """A time span in its largest whole unit, above a second in seconds, as both `parse` and Spark read it.

    Examples
    --------
    >>> text(timedelta(seconds=90))
    '90 seconds'
    >>> text(timedelta(milliseconds=-1))
    '-1 millisecond'
    >>> text(timedelta(seconds=-16.994))
    '-16.994 seconds'
    """
    span = exact(span)
    for unit, length in _UNITS:
        if span and span % length == ZERO:
            count = span // length
            if length < _SECOND < abs(span):
                return f"{Decimal(micros(span)) / 1_000_000:f} seconds"
            return f"{count} {unit}{'' if abs(count) == 1 else 's'}"
    return "0 seconds"


def precise(span: timedelta) -> str:
    """A time span in words that say it exactly, as a setting needs it: ``20 min 0.001 s``, ``8 h 5 s``."""
    sign, size = ("-" if span < ZERO else ""), abs(span)
    if size < timedelta(minutes=2):
        return short(span)
    minutes, seconds = divmod(size, timedelta(minutes=1))
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    rest = f"{seconds.total_seconds():.6f}".rstrip("0").rstrip(".")
    parts = [(days, "d"), (hours, "h"), (minutes, "min")]
    words = [f"{count} {unit}" for count, unit in parts if count] + ([f"{rest} s"] if seconds else [])
    return sign + " ".join(words)


def short(span: timedelta) -> str:
    """A time span as a person reads it in a sentence: ``4.2 s``, ``350 ms``, ``2 min 5 s``, ``1 h 5 min``."""
    sign, size = ("-" if span < ZERO else ""), abs(span)
    if size < timedelta(milliseconds=1) and size:
        return f"{sign}{micros(size)} µs"
    if size < timedelta(seconds=1) and size:
        return f"{sign}{micros(size) / 1000:g} ms"
    if size < timedelta(minutes=2):
        return f"{sign}{size.total_seconds():.6f}".rstrip("0").rstrip(".") + " s"
    seconds = round(size.total_seconds())
    if size < timedelta(hours=2):
        minutes, rest = divmod(seconds, 60)
        return f"{sign}{minutes} min" + (f" {rest} s" if rest else "")
    minutes = round(seconds / 60)
    if size < timedelta(days=2):
        hours, rest = divmod(minutes, 60)
        return f"{sign}{hours} h" + (f" {rest} min" if rest else "")
    days, rest = divmod(round(minutes / 60), 24)
    return f"{sign}{days} d" + (f" {rest} h" if rest else "")
