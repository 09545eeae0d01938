"""A pattern as an automaton: what each state does with the next row of a key.

It has the states that Flink's CEP library makes of the same pattern, and in the same order, as which match comes first
depends on it where a skip strategy keeps one of several.

Source: ``org.apache.flink.cep.nfa.compiler.NFACompiler`` of Flink 2.3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from workbench.conditions import Condition
from workbench.literals import Side
from workbench.patterns._pattern import Pattern
from workbench.patterns._steps import Contiguity, Step
from workbench.times import micros

__all__ = ["Asked", "Automaton", "Move", "State", "Test", "automaton"]

Action = Literal["take", "ignore", "proceed"]
StateKind = Literal["normal", "final", "stop", "pending"]


@dataclass(frozen=True)
class Asked:
    """What is asked of a row: its side, and a condition, if there is one."""

    side: Side
    where: Condition | None


@dataclass(frozen=True)
class Test:
    """When a move is made.

    Attributes
    ----------
    sign
        ``asked``: what is asked of a row holds; ``not``, ``and``: of other tests; ``true``: always.
    number
        The number of what is asked, in `Automaton.asked`.
    parts
        The other tests.
    """

    sign: Literal["true", "asked", "not", "and"]
    number: int = -1
    parts: tuple[Test, ...] = ()


ALWAYS = Test("true")


def _not(test: Test) -> Test:
    return Test("not", parts=(test,))


def _and(one: Test, other: Test) -> Test:
    if one is ALWAYS:
        return other
    return one if other is ALWAYS else Test("and", parts=(one, other))


@dataclass(frozen=True)
class Move:
    """What a state does with a row, where the test holds.

    Attributes
    ----------
    action
        ``take`` the row, ``ignore`` it, or ``proceed``: do what the target does with it.
    target
        The number of the state after it.
    test
        When it is made.
    """

    action: Action
    target: int
    test: Test


@dataclass(frozen=True)
class State:
    """What a partial match waits for.

    Attributes
    ----------
    step
        The name of the step; empty in the final state.
    waits_for
        The name of the step that must come for it to go on: another one where this one may be left out, or has come.
    kind
        ``final``: it is a match; ``stop``: it is none any more; ``pending``: it is one once its time has passed.
    within
        How long after its last row, in microseconds, the next one may come; 0: forever.
    moves
        What it does with a row, in order.
    """

    step: str
    waits_for: str
    kind: StateKind
    within: int
    moves: tuple[Move, ...]


@dataclass(frozen=True)
class Automaton:
    """The states of a pattern.

    Attributes
    ----------
    states
        All of them, by number.
    start
        The number of the state in which a match begins.
    asked
        What is asked of rows, by number.
    within
        How long a match may take, in microseconds; 0: forever.
    """

    states: tuple[State, ...]
    start: int
    asked: tuple[Asked, ...]
    within: int


def automaton(pattern: Pattern) -> Automaton:
    """The automaton of a pattern."""
    made = _Builder(pattern)
    start = made.whole()
    states = tuple(
        State(
            each.step,
            _waits_for(each),
            each.kind,
            each.within,
            tuple(Move(a, t.number, test) for a, t, test in each.moves),
        )
        for each in made.states
    )
    return Automaton(states, start.number, tuple(made.asked), _micros(pattern.within))


def _waits_for(state: _State) -> str:
    """The step of the first state from here on that does not proceed to another."""
    seen = [state]
    while onward := [to for action, to, _ in seen[-1].moves if action == "proceed" and to.kind != "stop"]:
        if onward[-1].kind == "final" or onward[-1] in seen:
            break
        seen.append(onward[-1])
    return seen[-1].step


def _micros(span: Any) -> int:
    return 0 if span is None else micros(span)


@dataclass(eq=False)
class _State:
    number: int
    step: str
    kind: StateKind = "normal"
    within: int = 0
    moves: list[tuple[Action, _State, Test]] = field(default_factory=list)

    def add(self, action: Action, target: _State, test: Test) -> None:
        self.moves.append((action, target, test))


@dataclass(eq=False)
class _At:
    """A step in its sequence, and the group that this sequence is, as they are worked on."""

    steps: tuple[Step, ...]
    place: int
    group: _At | None
    first_round: bool = True

    @property
    def step(self) -> Step:
        return self.steps[self.place]

    @property
    def heads_group(self) -> bool:
        return self.group is not None and self.place == 0


class _Builder:
    """Makes the states of a pattern, from its end to its start."""

    def __init__(self, pattern: Pattern) -> None:
        self.states: list[_State] = []
        self.asked: list[Asked] = []
        self._pattern = pattern
        self._stops: dict[str, _State] = {}
        self._following: Step | None = None
        self._before_greedy: dict[int, _State] = {}

    def whole(self) -> _State:
        end = self._state("", "final")
        return self._sequence(self._pattern.steps, None, end)

    def _sequence(self, steps: tuple[Step, ...], group: _At | None, sink: _State) -> _State:
        """The states of a sequence that leads to a state; gives the first of them."""
        for place in range(len(steps) - 1, -1, -1):
            at = _At(steps, place, group)
            match at.step.contiguity if place else "begin":
                case "not_followed_by":
                    if sink.kind == "final":
                        sink = self._pending(at, sink)
                case "not_next":
                    sink = self._not_next(at, sink)
                case _:
                    sink = self._taken(at, sink)
            if place:
                self._following = at.step
        return sink

    # steps that must not come

    def _pending(self, at: _At, sink: _State) -> _State:
        test, state = self._fits(at), self._state(at.step.name, "pending", _micros(at.step.within))
        state.add("proceed", self._stop(at.step, test), test)
        state.add("ignore", state, _not(test))
        return state

    def _not_next(self, at: _At, sink: _State) -> _State:
        test, state = self._fits(at), self._state(at.step.name)
        stop = self._stop(at.step, test)
        state.add("ignore" if sink.kind == "final" else "proceed", sink, _not(test))
        state.add("proceed", stop, test)
        return state

    def _stop(self, step: Step, test: Test) -> _State:
        if step.name not in self._stops:
            stop = self._stops[step.name] = self._state(step.name, "stop")
            stop.add("take", stop, test)
        return self._stops[step.name]

    def _forbidden(self, at: _At) -> list[tuple[Step, Test]]:
        """The steps that must not come before a step: those right before it, or with optional ones between."""
        found, place = [], at.place
        while place and (at.steps[place - 1].is_optional or at.steps[place - 1].contiguity == "not_followed_by"):
            place -= 1
            if at.steps[place].contiguity == "not_followed_by":
                found.append((at.steps[place], self._fits(_At(at.steps, place, at.group))))
        return found

    def _add_stops(self, at: _At, state: _State) -> None:
        for step, test in self._forbidden(at):
            state.add("proceed", self._stop(step, test), test)

    def _add_stop_of_following(self, at: _At, state: _State) -> None:
        after = self._following
        if after is not None and after.contiguity == "not_followed_by":
            test = self._unless(self._own(after), self._until_of_group(at)) or ALWAYS
            state.add("proceed", self._stop(after, test), test)

    def _without_stops(self, at: _At, sink: _State) -> _State:
        """The sink after a row of an optional step was taken: what must not come before it may come after it."""
        gone = {self._stops[step.name] for step, _ in self._forbidden(at) if step.name in self._stops}
        if not self._forbidden(at) or not at.step.is_optional:
            return sink
        made = self._state(sink.step, sink.kind)
        for action, target, test in sink.moves:
            if action == "proceed" and target.kind == "stop":
                if target not in gone:
                    made.add(action, target, test)
            elif action == "proceed":
                made.add(action, self._without_stops(at, target), test)
            else:
                made.add(action, made if target is sink else target, test)
        return made

    # steps that are taken

    def _taken(self, at: _At, sink: _State) -> _State:
        step = at.step
        if step.repeats and step.most is None:
            at.first_round = False
            looping = self._looping(at, self._without_stops(at, sink))
            at.first_round = True
            first = self._times(at, looping, sink, step.least, step.least)
        elif step.repeats and step.most is not None:
            first = self._times(at, sink, sink, step.least, step.most)
        else:
            first = self._single(at, sink, sink, self._fits(at), self._ignored(at, first=True), step.is_optional)
        self._add_stops(at, first)
        return first

    def _times(self, at: _At, sink: _State, after: _State, least: int, most: int) -> _State:
        step, until = at.step, self._until(at.step)
        at.first_round = False
        inner = self._unless(self._ignored(at, first=False), until)
        take = self._unless(self._fits(at), until) or ALWAYS
        if step.is_greedy and least != most:
            if until is not None:
                self._before_greedy[sink.number] = self._copied(sink)
            self._only_without(sink, take)
        last = sink
        for _ in range(most - least):
            last = self._single(at, last, after, take, inner, True)
            self._add_stop_of_following(at, last)
        for _ in range(least - 1):
            last = self._single(at, last, None, take, inner, False)
            self._add_stop_of_following(at, last)
        at.first_round = True
        return self._single(at, last, after, take, self._ignored(at, first=True), step.is_optional)

    def _single(
        self, at: _At, sink: _State, after: _State | None, take: Test, ignore: Test | None, optional: bool
    ) -> _State:
        """The states that take a step once, and, where it is optional, lead to another state without it."""
        if at.step.steps:
            return self._group(at, sink, after if optional else None)
        state = self._state(at.step.name, within=_micros(at.step.within))
        sink = self._without_stops(at, sink)
        state.add("take", sink, take)
        if optional and after is not None:
            self._proceed(at, state, after)
        if ignore is not None:
            waits = state
            if optional or (at.heads_group and self._in_first_round(at) and at.group and at.group.step.is_optional):
                waits = self._state(at.step.name)
                waits.add("take", sink, take)
                waits.add("ignore", waits, ignore)
                self._add_stops(at, waits)
            state.add("ignore", waits, ignore)
        return state

    def _proceed(self, at: _At, state: _State, after: _State) -> None:
        """Let a state go on without a row; where the step is greedy until another row, that row goes on freely."""
        until = self._until(at.step)
        if at.step.is_greedy and until is not None:
            state.add("proceed", self._before_greedy.get(after.number, after), _and(self._always(at), until))
            state.add("proceed", after, _and(self._always(at), _not(until)))
        else:
            state.add("proceed", after, self._always(at))

    def _group(self, at: _At, sink: _State, after: _State | None) -> _State:
        always, following = self._always(at), self._following
        first = self._sequence(at.step.steps, at, sink)
        if after is not None:
            first.add("proceed", after, always)
        self._following = following
        return first

    def _looping(self, at: _At, sink: _State) -> _State:
        if at.step.steps:
            return self._looping_group(at, sink)
        step, until = at.step, self._until(at.step)
        ignore = self._unless(self._ignored(at, first=False), until)
        take = self._unless(self._fits(at), until) or ALWAYS
        state = self._state(step.name)
        if step.is_greedy:
            if until is not None:
                self._before_greedy[sink.number] = self._copied(sink)
            self._proceed(at, state, sink)
            self._only_without(sink, self._fits(at))
        else:
            state.add("proceed", sink, self._always(at))
        state.add("take", state, take)
        self._add_stop_of_following(at, state)
        if ignore is not None:
            waits = self._state(step.name)
            waits.add("take", state, take)
            waits.add("ignore", waits, ignore)
            state.add("ignore", waits, ignore)
            self._add_stop_of_following(at, waits)
        return state

    def _looping_group(self, at: _At, sink: _State) -> _State:
        always, following = self._always(at), self._following
        again = self._state(at.step.name)
        first = self._sequence(at.step.steps, at, again)
        first.add("proceed", sink, always)
        again.add("proceed", first, always)
        self._following = following
        return first

    # tests

    def _number(self, side: Side | None, where: Condition | None) -> Test:
        asked = Asked(side or "left", where)
        if asked not in self.asked:
            self.asked.append(asked)
        return Test("asked", self.asked.index(asked))

    def _own(self, step: Step) -> Test:
        return ALWAYS if step.steps else self._number(step.side, step.where)

    def _until(self, step: Step) -> Test | None:
        return None if step.stop is None else self._number(step.stop.side, step.stop.where)

    def _until_of_group(self, at: _At) -> Test | None:
        return None if at.group is None else self._until(at.group.step)

    @staticmethod
    def _unless(test: Test | None, until: Test | None) -> Test | None:
        if until is None or test is None:
            return test
        return _and(_not(until), test)

    def _fits(self, at: _At) -> Test:
        return self._unless(self._own(at.step), self._until_of_group(at)) or ALWAYS

    def _always(self, at: _At) -> Test:
        return self._unless(ALWAYS, self._until_of_group(at)) or ALWAYS

    def _in_first_round(self, at: _At) -> bool:
        return at.group is None or at.group.first_round

    def _ignored(self, at: _At, first: bool) -> Test | None:
        """Which rows may come between a step, or its repetitions, and the row before; None: none may."""
        of: Contiguity | str = at.step.contiguity if first else at.step.inner
        if at.heads_group and at.group is not None:
            outer = at.group.step
            of = outer.contiguity if first and self._in_first_round(at) else outer.inner
        test: Test | None
        match of:
            case "followed_by":
                test = _not(self._own(at.step))
            case "followed_by_any":
                test = ALWAYS
            case _:
                test = None
        return self._unless(test, self._until_of_group(at))

    def _only_without(self, sink: _State, take: Test) -> None:
        """Let a state take no row that a greedy step before it could take."""
        sink.moves = [(action, target, _and(test, _not(take))) for action, target, test in sink.moves]

    # states

    def _state(self, step: str, kind: StateKind = "normal", within: int = 0) -> _State:
        self.states.append(_State(len(self.states), step, kind, within))
        return self.states[-1]

    def _copied(self, of: _State) -> _State:
        made = self._state(of.step, of.kind)
        for action, target, test in of.moves:
            made.add(action, made if target is of else target, test)
        return made
