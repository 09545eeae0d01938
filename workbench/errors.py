"""The errors a user meets: one sentence each, saying what was wrong and what would work."""

from __future__ import annotations


class WorkbenchError(Exception):
    """Base of every error the workbench raises on purpose.

    Notebooks show it as one line; ``details`` keeps what lies beneath (Spark's own message and trace, for instance).
    """

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(message)
        self.details = details

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


class ArgumentError(WorkbenchError, ValueError):
    """An argument is wrong; the message names it, what it got, and what would work."""

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


class QueryError(WorkbenchError, RuntimeError):
    """The streaming query failed or was stopped; ``details`` holds Spark's own words."""


def wrong(argument: str, got: object, remedy: str) -> ArgumentError:
    """The error for a wrong argument: *argument*: got *got*; *remedy*."""
    text = repr(got)
    if len(text) > 200:
        text = text[:200] + "…"
    return ArgumentError(f"{argument}: got {text}; {remedy}")


def one_of(argument: str, got: object, choices: tuple[str, ...]) -> None:
    """Check that `got` is one of `choices`.

    Raises
    ------
    ArgumentError
        If it is not; the message lists the choices.
    """
    if not isinstance(got, str) or got not in choices:
        raise wrong(argument, got, f"use one of {', '.join(map(repr, choices))}")
