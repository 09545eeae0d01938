"""The form of a pattern: a card for each step, and beside them the text that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import count

import ipywidgets as widgets
import traitlets

from workbench import patterns, times
from workbench.app.closing import close
from workbench.app.growing import growing
from workbench.app.html import HTML, html
from workbench.builtin_kinds.pattern.beginning import beginning, example, suits
from workbench.conditions import shorthand
from workbench.errors import ArgumentError, WorkbenchError, wrong
from workbench.literals import SIDES, Side, Sides
from workbench.patterns import Step, read_steps
from workbench.streams import Stream
from workbench.untyped import Record

__all__ = ["PatternBuilder"]

_LATER = {
    "next": "next",
    "followed_by": "followed by",
    "followed_by_any": "followed by any",
    "not_next": "not next",
    "not_followed_by": "not followed by",
}
_FIRST = {"begin": "begins with"}
_NEGATIVE = ("not_next", "not_followed_by")
_NARROW = "84px"
_KEPT = "as the text says"
_TIMES = "so many times"
_ANY_ROW = "any row"
_OFTEN: dict[str, Callable[[Step], Step]] = {
    "once": lambda step: step,
    "once or not at all": Step.optional,
    "once or more": Step.one_or_more,
    "once or more, as many as possible": lambda step: step.one_or_more().greedy(),
}
_LEGEND = html(
    "<details><summary>What the words mean</summary>Rows are those of one key, of both streams, in the order of their "
    "event times. <b>next</b> allows no row between, <b>followed by</b> rows that do not fit, <b>followed by any</b> "
    "all rows: each that fits gives a match of its own. <b>not next</b> and <b>not followed by</b> take no row: a row "
    "that fits there ends the match. A condition compares columns, <code>amount &gt; 5 and status "
    "== 'declined'</code>, also with those of a step before, <code>amount &gt; order.amount</code>.</details>"
)


@dataclass(frozen=True)
class _Typed:
    """What a card holds."""

    contiguity: str
    name: str
    side: str
    where: str
    within: str
    often: str
    count: int


class _Card:
    """The inputs of a step.

    Parameters
    ----------
    step
        The step that it begins with.
    changed, leave_out, insert
        Called when an input changed, and with the card when it is to be left out or another is to follow it.
    streams
        The streams of both sides, as far as they are known.

    Attributes
    ----------
    trouble
        Why its step cannot be made; empty: it can.
    """

    def __init__(
        self,
        step: Step,
        changed: Callable[[], None],
        leave_out: Callable[[_Card], None],
        insert: Callable[[_Card], None],
        streams: Mapping[Side, Stream],
    ) -> None:
        self._step, self._streams = step, streams
        is_first = step.contiguity == "begin"
        words = _FIRST if is_first else _LATER
        self._contiguity = widgets.Dropdown(
            options=[(text, name) for name, text in words.items()],
            value=step.contiguity,
            tooltip="How the step follows the one before it",
            layout=widgets.Layout(width="auto", flex="1 1 auto"),
            disabled=is_first,
        )
        self._name = widgets.Text(
            step.name,
            placeholder="name",
            tooltip="What its rows are called in the output",
            layout=widgets.Layout(width="auto", flex="1 1 0"),
        )
        self._side = widgets.Dropdown(
            options=_sides(streams),
            value=step.side or "left",
            tooltip="The stream of its rows",
            layout=widgets.Layout(width="auto", min_width=_NARROW, flex="1 1 0"),
        )
        condition = "Which rows fit; empty: all of this stream"
        self._where = growing(
            shorthand.short(step.where),
            placeholder=_ANY_ROW,
            tooltip=condition,
            layout=widgets.Layout(width="auto"),
        )
        often, count = _often_of(step)
        self._often = widgets.Dropdown(
            options=[*_OFTEN, _TIMES, *([_KEPT] if often == _KEPT else [])],
            value=often,
            tooltip="How often the step is taken",
            layout=widgets.Layout(width="auto", flex="1 1 0"),
        )
        self._count = widgets.BoundedIntText(
            count, min=1, max=100, tooltip="How many times", layout=widgets.Layout(width=_NARROW)
        )
        self._within = widgets.Text(
            "" if step.within is None else times.text(step.within),
            placeholder="within, such as 5 minutes",
            tooltip="How long after the row before it its row may come; empty: any time",
            layout=widgets.Layout(width="auto"),
        )
        self._note = HTML()
        self._note.add_class("sjw-mark")
        remove = widgets.Button(icon="times", tooltip="Leave out this step", layout=widgets.Layout(width="32px"))
        remove.on_click(lambda _: leave_out(self))
        more = widgets.Button(icon="plus", tooltip="Insert a step after this one", layout=widgets.Layout(width="32px"))
        more.on_click(lambda _: insert(self))
        lines = [
            widgets.HBox([self._contiguity, more, remove]),
            widgets.HBox([self._name, self._side]),
            self._where,
            widgets.HBox([self._often, self._count]),
            self._within,
            self._note,
        ]
        self.widget = widgets.VBox(lines)
        self.widget.add_class("sjw-step")
        self._inputs = (
            self._contiguity, self._name, self._side, self._where, self._within, self._often, self._count,
        )  # fmt: skip
        self.trouble = ""
        if step.steps:  # a group
            self._note.value = html("A group of steps, which the text has: {}", step)
            for each in (*self._inputs[1:], remove):
                each.layout.display = "none"
        self._began = self._typed
        self._named = False
        for each in self._inputs:
            each.observe(lambda _: None if self._named else changed(), "value")
        self._fit()

    def know(self, streams: Mapping[Side, Stream]) -> None:
        """Name the streams that its rows may be of."""
        self._streams, side = streams, self._side.value
        self._named = True  # with other entries, the list is at its first one for a moment
        try:
            self._side.options = _sides(streams)
            self._side.value = side
        finally:
            self._named = False
        self._fit()

    @property
    def _typed(self) -> _Typed:
        return _Typed(*(each.value for each in self._inputs))

    def _fit(self) -> None:
        """Show what the step can have."""
        if self._step.steps:
            return
        of = self._streams.get(self._side.value)
        condition = example(of) if of is not None else ""
        self._where.placeholder = f"{_ANY_ROW}, or {condition}" if condition else _ANY_ROW
        negative = self._contiguity.value in _NEGATIVE
        for each, on in (
            (self._often, not negative),
            (self._count, not negative and self._often.value == _TIMES),
            (self._within, self._contiguity.value not in ("begin", "not_next")),
        ):
            each.layout.display = None if on else "none"

    def text(self) -> str:
        """The text of the step; where it cannot be made, one that nothing reads, and a note that says why."""
        self._fit()
        self.trouble = ""
        if self._typed == self._began:
            return repr(self._step)
        try:
            made = repr(self._made())
        except WorkbenchError as error:
            self.trouble = error.remedy if isinstance(error, ArgumentError) else str(error)
            self._say(self.trouble)
            return f"wb.step({self._name.value!r}, ?)"
        self._say("")
        return made

    def mark(self, marks: Mapping[str, str]) -> None:
        """Say what the page finds wrong with the step, or with those of its group, by their names."""
        if not self.trouble:  # else that is said
            names = _names_in(self._step) if self._step.steps else [self._name.value.strip()]
            self._say("; ".join(marks[name] for name in names if name in marks))

    def _say(self, words: str) -> None:
        group = html("A group of steps, which the text has: {}", self._step) if self._step.steps else ""
        self._note.value = html("{}", words) if words else group
        (self._note.add_class if words else self._note.remove_class)("sjw-said")

    def _made(self) -> Step:
        typed, step = self._typed, self._step
        if step.steps:
            return replace(step, contiguity=typed.contiguity)  # type: ignore[arg-type]
        make = getattr(patterns, "step" if typed.contiguity == "begin" else typed.contiguity)
        named: Record = {"side": typed.side, "where": shorthand.read(typed.where)}
        if typed.within.strip() and typed.contiguity not in ("begin", "not_next"):
            named["within"] = times.positive(typed.within, "within")
        made: Step = make(typed.name.strip(), **named)
        if typed.contiguity in _NEGATIVE:
            return made
        if typed.often == _KEPT:
            if made.within is not None:
                raise wrong("within", typed.within, "a step with a within of its own is taken once: leave it empty")
            return replace(step, name=made.name, contiguity=made.contiguity, side=made.side, where=made.where)
        return made.times(typed.count) if typed.often == _TIMES else _OFTEN[typed.often](made)

    def enable(self, on: bool) -> None:
        """Make the inputs usable, or not."""
        for each in self._inputs:
            each.disabled = not on or (each is self._contiguity and self._step.contiguity == "begin")


def _sides(streams: Mapping[Side, Stream]) -> list[tuple[str, Side]]:
    """The sides as a list offers them: by the names of their streams, where they are known and tell them apart."""
    names = {side: stream.name for side, stream in streams.items()}
    alike = len(set(names.values())) < len(SIDES)
    return [(side if alike else names[side], side) for side in SIDES]


def _names_in(group: Step) -> list[str]:
    """The names of the steps of a group."""
    return [name for each in group.steps for name in (_names_in(each) if each.steps else [each.name])]


def _often_of(step: Step) -> tuple[str, int]:
    """How often a step is taken, as the form says it, and the number in it."""
    once = replace(
        step, least=1, most=1, repeats=False, inner="followed_by", is_optional=False, is_greedy=False, stop=None
    )
    if step.contiguity in _NEGATIVE or step.within is not None or step.steps:
        return ("once", 2) if step == once else (_KEPT, 2)
    for words, taken in _OFTEN.items():
        if taken(once) == step:
            return words, 2
    exact = step.most is not None and step.least == step.most and step == once.times(step.least)
    return (_TIMES, step.least) if exact else (_KEPT, 2)


class PatternBuilder(widgets.VBox):  # type: ignore[misc]
    """A form for the steps of a pattern, of which `value` is the text.

    Parameters
    ----------
    value
        The text that it begins with, as `workbench.patterns.read_steps` reads it.
    """

    value = traitlets.Unicode()
    description = traitlets.Unicode()
    tooltip = traitlets.Unicode(None, allow_none=True)  # not for the browser: a box without a label has none there
    disabled = traitlets.Bool(False)

    def __init__(self, value: str) -> None:
        self._cards: list[_Card] = []
        self._writes = False
        self._streams: Mapping[Side, Stream] = {}
        self._own = {value}  # the texts that nobody typed
        self._rows = widgets.VBox()
        self._add = widgets.Button(description="Add a step", icon="plus", layout=widgets.Layout(width="auto"))
        self._as_text = widgets.ToggleButton(description="As text", icon="code", layout=widgets.Layout(width="auto"))
        self._as_text.tooltip = "Show the text of the steps, as it stands in the script"
        self._text = widgets.Textarea(
            value, rows=8, tooltip="The text of the steps", layout=widgets.Layout(width="auto")
        )
        self._text.layout.display = "none"
        self._add.on_click(lambda _: self._insert(None))
        self._as_text.observe(lambda change: self._show_text(change["new"]), "value")
        legend = HTML(_LEGEND)
        legend.add_class("sjw-legend")
        buttons = widgets.HBox([self._add, self._as_text])
        super().__init__([self._rows, buttons, self._text, legend])
        self.add_class("sjw-pattern")
        self.observe(lambda _: self._read(), "value")
        self.observe(lambda _: self._enable(), "disabled")
        self._text.observe(lambda change: self.set_trait("value", change["new"]), "value")
        self.value = value

    def _read(self) -> None:
        """Show the steps of the text; where it has none, the text."""
        self._text.value = self.value
        if self._writes:
            return
        try:
            steps = read_steps(self.value, "steps")
        except WorkbenchError:
            self._as_text.value = True
            steps = ()
        self._cards = [self._card(each) for each in steps]
        self._arrange()

    def _arrange(self) -> None:
        there = {id(each.widget) for each in self._cards}
        gone = [each for each in self._rows.children if id(each) not in there]
        self._rows.children = [each.widget for each in self._cards]
        for each in gone:
            close(each)
        self._enable()

    def _write(self) -> None:
        """Have the text say what the cards hold."""
        self._writes = True
        try:
            self.value = ", ".join(each.text() for each in self._cards)
        finally:
            self._writes = False

    def _card(self, step: Step) -> _Card:
        return _Card(step, self._write, self._leave_out, self._insert, self._streams)

    def _insert(self, after: _Card | None) -> None:
        """Add a step that follows another one; None: the last."""
        at = len(self._cards) if after is None else self._cards.index(after) + 1
        made = patterns.followed_by if self._cards else patterns.step
        name = next(each for each in map("step_{}".format, count(at + 1)) if repr(each) not in self.value)
        self._cards.insert(at, self._card(made(name, side="right")))
        self._arrange()
        self._write()

    def _leave_out(self, card: _Card) -> None:
        """Leave out a step; what followed the first one begins then."""
        texts = [each.text() for each in self._cards if each is not card]
        if texts and not texts[0].startswith("wb.step("):
            texts[0] = f"wb.step({texts[0].split('(', 1)[1]}"
        self.value = ", ".join(texts)

    @property
    def trouble(self) -> str:
        """What is wrong with a step of which there is no text, which its card says; empty: nothing is."""
        return next((each.trouble for each in self._cards if each.trouble), "")

    def know(self, left: Stream, right: Stream) -> None:
        """Name the streams; steps that nobody typed, and that do not suit them, become a row of each."""
        self._streams = Sides(left, right)
        for each in self._cards:
            each.know(self._streams)
        if self.value in self._own and not suits(self.value, left, right):
            made = beginning(left, right)
            self._own.add(made)
            self.value = made

    def mark_parts(self, marks: Mapping[str, str]) -> None:
        """Say at the steps what the page finds wrong with them, by their names."""
        for each in self._cards:
            each.mark(marks)

    def _show_text(self, on: bool) -> None:
        self._text.layout.display = None if on else "none"

    def _enable(self) -> None:
        for each in (self._add, self._text):
            each.disabled = self.disabled
        for card in self._cards:
            card.enable(not self.disabled)
