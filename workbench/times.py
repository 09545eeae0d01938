"""The only parser and printer of time spans."""

from __future__ import annotations

from datetime import timedelta

from workbench.errors import wrong

Span = str | timedelta
"""A time span as users give it: ``"10 seconds"``, ``"-500 ms"`` or a `datetime.timedelta`."""

ZERO = timedelta(0)
MICROSECOND = timedelta(microseconds=1)

_UNITS = (
    ("day", timedelta(days=1)),
    ("hour", timedelta(hours=1)),
    ("minute", timedelta(minutes=1)),
    ("second", timedelta(seconds=1)),
    ("millisecond", timedelta(milliseconds=1)),
    ("microsecond", MICROSECOND),
)
_LONGEST = timedelta(days=36_500)


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
    remedy = (
        'use a number with a unit, such as "10 seconds", "-500 ms" or "1 minute 30 seconds", or a datetime.timedelta'
    )
    import pandas as pd  # not at the top: importing workbench stays quick

    if isinstance(span, str):
        if not any(letter.isalpha() for letter in span):
            raise wrong(argument, span, remedy)
        try:
            read = pd.Timedelta(span)
        except ValueError:
            raise wrong(argument, span, remedy) from None
    elif isinstance(span, timedelta):
        read = pd.Timedelta(span)
    else:
        raise wrong(argument, span, remedy)
    if pd.isna(read):
        raise wrong(argument, span, remedy)
    if read.nanoseconds:
        raise wrong(argument, span, "event times have microseconds, so use whole microseconds")
    exact = read.to_pytimedelta()
    if abs(exact) > _LONGEST:
        raise wrong(argument, span, "use at most a hundred years (36500 days)")
    return exact


def positive(span: Span, argument: str) -> timedelta:
    """Read a time span that must be longer than zero."""
    read = parse(span, argument)
    if read <= ZERO:
        raise wrong(argument, span, 'use a span longer than zero, such as "10 seconds"')
    return read


def delay(span: Span, argument: str) -> timedelta:
    """Read a watermark delay: zero or more, in whole milliseconds, as Spark keeps watermarks."""
    read = parse(span, argument)
    if read < ZERO:
        raise wrong(argument, span, 'a watermark delay is zero or more, such as "10 seconds"')
    if micros(read) % 1000:
        raise wrong(argument, span, "Spark keeps watermarks in milliseconds, so use whole milliseconds")
    return read


def exact(span: Span) -> timedelta:
    """A field of a window or a join: a `timedelta` since the description was made."""
    assert isinstance(span, timedelta)  # noqa: S101 - narrows the type
    return span


def micros(span: Span) -> int:
    """A time span of a description as whole microseconds."""
    return exact(span) // MICROSECOND


def text(span: Span) -> str:
    """A time span in its largest whole unit, as both `parse` and Spark read it.

    Examples
    --------
    >>> text(timedelta(seconds=90))
    '90 seconds'
    >>> text(timedelta(milliseconds=-1))
    '-1 millisecond'
    """
    span = exact(span)
    for unit, length in _UNITS:
        if span and span % length == ZERO:
            count = span // length
            return f"{count} {unit}{'' if abs(count) == 1 else 's'}"
    return "0 seconds"


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
