"""The classes of errors that a user meets; each sentence stands where it is raised, mostly made by `wrong`."""

from __future__ import annotations

import operator

__all__ = [
    "ArgumentError",
    "DataError",
    "JavaError",
    "QueryError",
    "TooLargeError",
    "WorkbenchError",
    "check_whole",
    "excerpt",
    "one_of",
    "read_whole",
    "shortened",
    "wrong",
]


class WorkbenchError(Exception):
    """Base of every error the workbench raises on purpose.

    Notebooks show it as one line; ``details`` keeps what lies beneath (Spark's own message and trace, for instance).
    """

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(_one_line(message) if isinstance(message, str) else message)
        self.details = details

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


class ArgumentError(WorkbenchError, ValueError):
    """An argument is wrong; the message names it, what it got, and what would work.

    Attributes
    ----------
    inside
        Of an argument of a part of another one, such as of a step of a pattern: that other argument and the part.
    """

    inside: tuple[str, str] | None = None

    @property
    def argument(self) -> str:
        """The argument's name, with which every message begins."""
        return str(self).split(":", 1)[0]

    @property
    def remedy(self) -> str:
        """The message without the argument's name."""
        return str(self).split(":", 1)[-1].strip()


class DataError(WorkbenchError, ValueError):
    """The data is not what it is said to be: a column, a type, a file."""


class JavaError(WorkbenchError, RuntimeError):
    """No Java that Spark can run on."""


class TooLargeError(WorkbenchError, ValueError):
    """More pairs, windows or rows than are computed or read at once; the message gives the number.

    Attributes
    ----------
    count
        How many there would be.
    """

    def __init__(self, message: str, count: int = 0) -> None:
        super().__init__(message)
        self.count = count


class QueryError(WorkbenchError, RuntimeError):
    """The streaming query failed or was stopped; ``details`` holds Spark's own words."""


_DIGITS = 18
"""What 64 bits hold for certain."""
_HALF = 100  # characters of either end of what is quoted


def wrong(argument: str, got: object, remedy: str) -> ArgumentError:
    """The error for a wrong argument: *argument*: got *got*; *remedy*."""
    return ArgumentError(f"{argument}: got {excerpt(got)}; {remedy}")


def excerpt(got: object) -> str:
    """A value as errors quote it, in one line; what is long is shortened in the middle.

    Examples
    --------
    >>> excerpt("10 secs")
    "'10 secs'"
    >>> excerpt("x" * 10_000).count("x") < 200
    True
    """
    try:
        text = _one_line(repr(got))
    except Exception:  # noqa: BLE001 - a stranger's repr, or a number with too many digits to print
        text = f"something of type {type(got).__name__}"
    return shortened(text)


def shortened(text: str) -> str:
    """What a user wrote, as errors name it: shortened in the middle where it is long."""
    return text if len(text) <= 2 * _HALF else f"{text[:_HALF]} … {text[-_HALF:]}"


def _one_line(text: str) -> str:
    """A text without line breaks, and without halves of surrogate pairs, which no terminal prints."""
    return " ".join(each.strip() for each in text.splitlines()).encode(errors="backslashreplace").decode()


def one_of(argument: str, got: object, choices: tuple[str, ...]) -> None:
    """Check that `got` is one of `choices`.

    Raises
    ------
    ArgumentError
        If it is not; the message lists the choices.
    """
    if not isinstance(got, str) or got not in choices:
        raise wrong(argument, got, f"use one of {', '.join(map(repr, choices))}")


def check_whole(argument: str, got: object, of: str = "", most: int | None = None) -> None:
    """Check that `got` is a whole number, 1 or more.

    Parameters
    ----------
    argument, got
        The argument and what it got.
    of
        What it counts, for the message, such as ``of settings``.
    most
        The largest it may be; None: any.

    Raises
    ------
    ArgumentError
        If it is not.
    """
    try:
        number = 0 if isinstance(got, bool) else operator.index(got)  # type: ignore[arg-type]  # NumPy's numbers too
    except TypeError:
        number = 0
    if number < 1 or (most is not None and number > most):
        reach = "1 or more" if most is None else f"from 1 to {most:,}"
        raise wrong(argument, got, f"use a whole number{of and ' ' + of}, {reach}")


def read_whole(argument: str, text: str, remedy: str) -> int:
    """The whole number that a text gives; thousands may be told apart by commas or underscores.

    Parameters
    ----------
    argument, text
        The argument and what it got.
    remedy
        What would work.

    Raises
    ------
    ArgumentError
        If it gives none, or one of more than eighteen digits.
    """
    digits = text.strip().replace(",", "").replace("_", "")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= _DIGITS):
        raise wrong(argument, text, remedy)
    return int(digits)
