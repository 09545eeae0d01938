"""Which rows of one key make matches of a pattern, row after row, as Flink's CEP operator does it.

Source: ``org.apache.flink.cep.nfa.NFA`` and ``CepOperator`` of Flink 2.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.patterns._pattern import Pattern, skip_of
from workbench.patterns.automaton import Automaton, State, Test

__all__ = ["Ended", "Found", "Matcher", "Path", "paths"]


@dataclass(frozen=True, eq=False, slots=True)
class Path:
    """The rows of a partial match, from the last one back.

    Attributes
    ----------
    before
        The rows before its last one; None: it is the first.
    step
        The name of the step that took it.
    row, at
        Its number, and its event time in microseconds.
    length
        How many rows there are.
    """

    before: Path | None
    step: str
    row: int
    at: int
    length: int

    def rows(self) -> list[Path]:
        """The path of each row, in order."""
        found: list[Path] = []
        each: Path | None = self
        while each is not None:
            found.append(each)
            each = each.before
        return found[::-1]


@dataclass(frozen=True, eq=False, slots=True)
class _Partial:
    """A partial match: the number of its state, its rows, and its first row."""

    state: int
    path: Path | None = None
    first: Path | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A match, or a partial match that was given up.

    Attributes
    ----------
    path
        Its rows.
    at
        The event time, in microseconds, that the watermark must have reached for it to come out.
    waited_for
        The step that it waited for when its time had passed; empty: it is a match.
    """

    path: Path
    at: int
    waited_for: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """A partial match that has come to nothing, or waits.

    Attributes
    ----------
    path
        Its rows.
    cause
        ``timed out``; ``stopped`` (by a row that must not come), ``broken`` (by one that it could not go on with),
        ``skipped`` (as a match excludes it); ``waits``.
    waited_for
        The step that it waited for.
    at
        The event time at which it ended, or will be given up, in microseconds; None: it waits forever.
    by
        The number of the row that ended it, of a match the last one; -1 where there is none.
    """

    path: Path
    cause: Literal["timed out", "stopped", "broken", "skipped", "waits"]
    waited_for: str
    at: int | None
    by: int = -1


class Matcher:
    """The partial matches of one key.

    Parameters
    ----------
    pattern, automaton
        The pattern, and its automaton.
    asked
        Of a row and the rows of a partial match before it whether each of `Automaton.asked` holds.
    """

    def __init__(
        self, pattern: Pattern, automaton: Automaton, asked: Callable[[int, Path | None], Sequence[bool]]
    ) -> None:
        self._automaton, self._asked = automaton, asked
        self._skip, self._named = skip_of(pattern)
        self.partial = _Queue([_Partial(automaton.start)])
        self.complete = _Queue([])
        self.ended: list[Ended] = []

    def take(self, row: int, at: int) -> Iterator[Found]:
        """What comes out with the next row, after `pass_time` has been called for its event time."""
        partial, complete = _Queue([]), _Queue([])
        for each in self.partial.items:
            kept, stopped, made = [], False, False
            for after in self._after(each, row, at):
                match self._state(after).kind:
                    case "final":
                        complete.add(after)
                        made = True
                    case "stop":
                        stopped = True
                    case _:
                        kept.append(after)
            for after in () if stopped else kept:
                partial.add(after)
            if each.path is not None and (stopped or not (kept or made)):
                cause: Literal["stopped", "broken"] = "stopped" if stopped else "broken"
                self.ended.append(Ended(each.path, cause, self._state(each).waits_for, at, row))
        yield from self._release(partial, complete, at)

    def pass_time(self, until: int) -> Iterator[Found]:
        """What comes out, and is given up, when event time has come so far; one end of a time after the other."""
        while (ends := self.next_end()) is not None and ends <= until:
            partial, complete = _Queue([]), _Queue([])
            for each in self.partial.items:
                if self._end(each) != ends or each.path is None:
                    partial.add(each)
                elif self._state(each).kind == "pending":
                    complete.add(each)
                else:
                    self.ended.append(Ended(each.path, "timed out", self._state(each).waits_for, ends))
                    yield Found(each.path, ends, self._state(each).waits_for)
            yield from self._release(partial, complete, ends)

    def next_end(self) -> int | None:
        """The event time at which the next partial match is given up; None: none ever is."""
        return min((end for each in self.partial.items if (end := self._end(each)) is not None), default=None)

    def held(self) -> list[Path]:
        """The rows of all partial matches, and of matches that wait for others, those of each from the last one."""
        return [each.path for queue in (self.partial, self.complete) for each in queue.items if each.path is not None]

    def waiting(self) -> list[Ended]:
        """The partial matches that wait."""
        every = [(each.path, each) for each in self.partial.items]
        return [
            Ended(path, "waits", self._state(of).waits_for, self._end(of)) for path, of in every if path is not None
        ]

    def _state(self, of: _Partial) -> State:
        return self._automaton.states[of.state]

    def _end(self, of: _Partial) -> int | None:
        if of.path is None or of.first is None:
            return None
        own, whole = self._state(of).within, self._automaton.within
        ends = [of.path.at + own] if own else []
        ends += [of.first.at + whole] if whole else []
        return min(ends, default=None)

    def _after(self, of: _Partial, row: int, at: int) -> Iterator[_Partial]:
        """What becomes of a partial match with the next row."""
        holds = self._asked(row, of.path)
        looked_at = [of.state]
        while looked_at:
            state = self._automaton.states[looked_at.pop()]
            made = []
            for move in state.moves:
                if not _holds(move.test, holds):
                    continue
                if move.action == "proceed":
                    looked_at.append(move.target)
                else:
                    made.append(move)
            for move in made:
                if move.action == "ignore":
                    if of.path is not None:
                        yield _Partial(move.target, of.path, of.first)
                    continue
                path = Path(of.path, state.step, row, at, 1 if of.path is None else of.path.length + 1)
                yield _Partial(move.target, path, of.first or path)
                end = self._final_from(move.target, holds)
                if end is not None:
                    yield _Partial(end, path, of.first or path)
        if of.path is None:
            yield of

    def _final_from(self, state: int, holds: Sequence[bool]) -> int | None:
        """The final state that a state proceeds to with the row that led to it; None: it does not."""
        looked_at = [state]
        while looked_at:
            for move in self._automaton.states[looked_at.pop()].moves:
                if move.action == "proceed" and _holds(move.test, holds):
                    if self._automaton.states[move.target].kind == "final":
                        return move.target
                    looked_at.append(move.target)
        return None

    def _release(self, partial: _Queue, complete: _Queue, at: int) -> Iterator[Found]:
        """The matches that come out, in order; the skip strategy lets those go that each of them excludes."""
        self.partial = partial
        for each in complete.items:
            self.complete.add(each)
        while self.complete.items:
            first = self.complete.items[0]
            if self._skip != "no skip" and partial.items and _order(first) > _order(partial.items[0]):
                break
            self.complete.poll()
            if first.path is not None:  # a match has a row
                self._prune(first.path, at)
                yield Found(first.path, at)

    def _prune(self, match: Path, at: int) -> None:
        rows = match.rows()
        match self._skip:
            case "no skip":
                return
            case "to next":
                until, itself = rows[0].row, True
            case "past last event":
                until, itself = rows[-1].row, True
            case _:
                named = [each.row for each in rows if each.step == self._named]
                if not named:
                    return
                until, itself = named[0 if self._skip == "to first" else -1], False
        for queue in (self.partial, self.complete):
            for each in queue.drop(lambda each: each.first is not None and each.first.row < until + itself):
                if each.path is not None:
                    self.ended.append(Ended(each.path, "skipped", self._state(each).waits_for, at, match.row))


def paths(held: Sequence[Path]) -> set[Path]:
    """All rows that some partial matches hold, each as often as it is held with others before it."""
    found: set[Path] = set()
    for path in held:
        each: Path | None = path
        while each is not None and each not in found:
            found.add(each)
            each = each.before
    return found


def _holds(test: Test, asked: Sequence[bool]) -> bool:
    match test.sign:
        case "true":
            return True
        case "asked":
            return asked[test.number]
        case "not":
            return not _holds(test.parts[0], asked)
    return all(_holds(each, asked) for each in test.parts)


def _order(of: _Partial) -> float:
    """The order of partial matches: by their first row; last the one without a row."""
    return float("inf") if of.first is None else of.first.row


class _Queue:
    """Partial matches in the order of Java's ``PriorityQueue``: it says which of those with one first row is next."""

    def __init__(self, items: list[_Partial]) -> None:
        self.items = items

    def add(self, item: _Partial) -> None:
        self.items.append(item)
        place = len(self.items) - 1
        while place and _order(item) < _order(self.items[(place - 1) // 2]):
            self.items[place] = self.items[(place - 1) // 2]
            place = (place - 1) // 2
        self.items[place] = item

    def poll(self) -> None:
        """Take the first one away."""
        last = self.items.pop()
        if self.items:
            self.items[0] = last
            self._sink(0)

    def drop(self, gone: Callable[[_Partial], bool]) -> list[_Partial]:
        """Take all those away for which something holds."""
        dropped = [each for each in self.items if gone(each)]
        if dropped:
            self.items = [each for each in self.items if not gone(each)]
            for place in range(len(self.items) // 2 - 1, -1, -1):
                self._sink(place)
        return dropped

    def _sink(self, place: int) -> None:
        items, item = self.items, self.items[place]
        while (child := 2 * place + 1) < len(items):
            if child + 1 < len(items) and _order(items[child]) > _order(items[child + 1]):
                child += 1
            if _order(item) <= _order(items[child]):
                break
            items[place], place = items[child], child
        items[place] = item
