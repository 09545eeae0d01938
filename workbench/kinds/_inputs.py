"""The inputs of a form of the page, as data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from workbench import conditions, times
from workbench.conditions import Condition, shorthand
from workbench.errors import ArgumentError
from workbench.joins import Join
from workbench.untyped import Value

J = TypeVar("J", bound=Join)


@dataclass(frozen=True)
class Field:
    """A setting that is a time span, as a text field of the page's form and in reasons.

    Attributes
    ----------
    argument
        The argument of the join, or of its window, that it gives.
    label, first, help
        The field's label and first text, and what the term means.
    noun
        What it is called in a sentence, with its article.
    read
        Reads its text; raises `ArgumentError` for one that no other setting makes right.
    """

    argument: str
    label: str
    first: str
    help: str
    noun: str
    read: Callable[[times.Span, str], timedelta] = times.parse


@dataclass(frozen=True)
class Flag:
    """A box of the form that is ticked or not: the argument it gives, its label, what it means, and how it begins."""

    argument: str
    label: str
    help: str
    first: bool = False


@dataclass(frozen=True)
class Text:
    """Another text field of the page's form.

    Attributes
    ----------
    argument
        The argument of the join that it gives.
    label, first, help
        The field's label and first text, and what the term means.
    read
        Gives the argument, of the text and its name; raises `ArgumentError` for a text that is wrong.
    unset
        What the field shows while its text is empty.
    is_long
        Whether it has several lines.
    grows
        Whether a long text wraps, and the field is as high as it.
    form
        Makes the widget that shows it, of its first text; its trait ``value`` is the text. None: a text field.
    """

    argument: str
    label: str
    first: str
    help: str
    read: Callable[[str, str], Any]
    unset: str = ""
    is_long: bool = False
    grows: bool = False
    form: Callable[[str], Any] | None = None


def _read_where(text: str, argument: str) -> Condition | None:
    """A condition as a script has it, or as one types it: ``right_paid < left_amount and left_city != 'Rome'``."""
    if not text.strip():
        return None
    try:
        return conditions.read(text, argument)
    except ArgumentError:
        return shorthand.read(text, argument)


@dataclass(frozen=True)
class Menu:
    """A choice of the form: the argument it gives, its label, the values there are, and what it means."""

    argument: str
    label: str
    values: tuple[str, ...]
    help: str


WHERE = Text(
    "where",
    "Where",
    "",
    "A further condition on pairs: right_paid < left_amount and left_city != 'Rome'.",
    _read_where,
    "no condition",
    grows=True,
)


Input = Field | Text | Menu | Flag
"""An input of the form of a kind."""


def typed(of: Input, value: Value) -> Any:
    """What an input holds for a value."""
    if isinstance(value, timedelta):
        return times.text(value)
    if isinstance(of, Text):
        return "" if value is None else value if isinstance(value, str) else repr(value)
    return value
