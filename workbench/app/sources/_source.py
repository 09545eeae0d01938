"""`PageSource`: one place that a page can take its two streams from, with all that the page needs to know of it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import ipywidgets as widgets

from workbench.app._form import Form
from workbench.errors import WorkbenchError
from workbench.jobs import Job
from workbench.literals import Side
from workbench.sources.findings import Finding
from workbench.streams import SIDES, Stream
from workbench.untyped import Record, Value

Made = TypeVar("Made")
Values = Mapping[str, Value]
"""The values of a page's inputs, or of the notebook's variables, by name."""


class WrongSettingsError(WorkbenchError):
    """Settings are wrong: ``marks`` has the words to say beside each input that is, ``findings`` what would do."""

    def __init__(self, message: str, marks: dict[str, str], findings: Sequence[Finding] = ()) -> None:
        super().__init__(message)
        self.marks = marks
        self.findings = tuple(findings)


@dataclass(frozen=True)
class Streams:
    """Two streams, the lines of a cell that make them as ``left`` and ``right``, and what was found about the rows.

    Of a job that was opened ``job`` is the job, and ``job_name`` its variable. Of generated streams ``generated`` has
    what they were made with, in words, by the label of its input.
    """

    left: Stream
    right: Stream
    code: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    job: Job | None = None
    job_name: str = ""
    generated: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Control:
    """An input of a source.

    Attributes
    ----------
    name
        Of its value among those of the page; no other source has it.
    label, tip
        What is written on it, and what it means.
    widget
        Makes it, with the value that it has at first.
    """

    name: str
    label: str
    tip: str
    widget: Callable[[], widgets.Widget]


@dataclass(frozen=True)
class Notebook:
    """The notebook that a page is in.

    Attributes
    ----------
    variables
        Its variables, as they are now.
    look_again
        Has the page look for what they hold now.
    """

    variables: Record
    look_again: Callable[[], None]
    _known: dict[Hashable, tuple[tuple[Value, ...], Any]] = field(default_factory=dict, repr=False, compare=False)

    def once(self, what: Hashable, of: tuple[Value, ...], make: Callable[[], Any]) -> Any:
        """What is made of some values, made again only where these are others.

        Parameters
        ----------
        what
            What it is.
        of, make
            The values, told apart by what they are and not by what they hold; and what makes it of them.
        """
        before = self._known.get(what)
        if before is None or len(before[0]) != len(of) or not all(map(operator.is_, before[0], of)):
            before = self._known[what] = of, make()
        return before[1]

    def forget(self) -> None:
        """Make all of it anew, when it is asked for."""
        self._known.clear()


@dataclass(frozen=True)
class LiveFeed:
    """How a source goes live.

    Attributes
    ----------
    inputs
        The names of the inputs that act on the running generators.
    start
        Makes what writes the rows of the inputs' values, as `workbench.live` takes it.
    change
        Has it go on with other values.
    """

    inputs: tuple[str, ...]
    start: Callable[[Values], Any]
    change: Callable[[Any, Values], None]


@dataclass(frozen=True)
class PageSource:
    """Where a page takes its two streams from.

    Attributes
    ----------
    name
        The value of the page's input ``source``.
    label, tip
        What the page's list calls it, and what it gives, as a part of a sentence.
    controls
        Its inputs.
    make
        Makes the streams, and the code of a cell that makes them, of the values of the page's inputs and of the
        notebook's variables. Raises `WrongSettingsError` if an input is wrong.
    arrange
        Lays the inputs out and adds what follows from them; None: one below the other.
    refresh
        Sets the inputs to what there is now, when the source is chosen and when the user asks for it.
    variables
        The inputs that hold names of the notebook's variables.
    live
        How it goes live; None: it does not.
    tell
        Says in its inputs what was found about the rows.
    trigger
        The input that holds the trigger interval.
    """

    name: str
    label: str
    tip: str
    controls: tuple[Control, ...]
    make: Callable[[Values, Values], Streams]
    arrange: Callable[[Form, Notebook], list[widgets.Widget]] | None = None
    refresh: Callable[[Form, Notebook], None] | None = None
    variables: tuple[str, ...] = ()
    live: LiveFeed | None = None
    tell: Callable[[Form, Sequence[Finding]], None] | None = None
    trigger: str = ""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of its inputs."""
        return tuple(each.name for each in self.controls)


def both(make: Callable[[Side], Made]) -> list[Made]:
    """Make both sides, and report what is wrong with either."""
    made, found = [], []
    for side in SIDES:
        try:
            made.append(make(side))
        except WrongSettingsError as error:
            found.append(error)
    if found:
        marks = {place: words for each in found for place, words in each.marks.items()}
        raise WrongSettingsError(str(found[0]), marks, [finding for each in found for finding in each.findings])
    return made


def marking(side: Side, places: tuple[str, ...], make: Callable[[], Made]) -> Made:
    """Make something of one side; what is wrong is said beside the input that it was typed in."""
    try:
        return make()
    except WorkbenchError as error:
        argument, _, words = str(error).partition(":")
        place = next((name for name in places if name.split("_")[-1] == argument), places[0])
        raise WrongSettingsError(f"{side} {error}", {f"{side}.{place}": words.strip()}) from error


def column_names(text: str) -> list[str]:
    """The names in a list with commas between."""
    return [each.strip() for each in text.split(",") if each.strip()]
