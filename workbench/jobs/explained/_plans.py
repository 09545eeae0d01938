"""Nodes of the lines of a plan, as a session's JVM would give them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace

from workbench.jobs.catalyst import Node
from workbench.jobs.explained._brackets import listed, split
from workbench.jobs.explained._expressions import Expressions, answers
from workbench.jobs.explained._lines import RELATION, BrokenError, Line, Names
from workbench.jobs.explained._types import COLUMN, COPY, TAG
from workbench.jobs.explained._values import calendar
from workbench.untyped import JavaObject, Json

__all__ = ["Plans"]

_JOINS = {
    "Cross": "CROSS", "ExistenceJoin": "EXISTENCE", "FullOuter": "FULL OUTER", "Inner": "INNER",
    "LeftAnti": "LEFT ANTI", "LeftOuter": "LEFT OUTER", "LeftSemi": "LEFT SEMI", "RightOuter": "RIGHT OUTER",
}  # fmt: skip


def _output(columns: Sequence[tuple[int, str]]) -> JavaObject:
    """Columns like a sequence of Scala's."""
    found = [answers(exprId=answers(id=number), name=name) for number, name in columns]
    return SimpleNamespace(size=lambda: len(found), apply=found.__getitem__)


@dataclass(frozen=True)
class _Made:
    """What the line of a node says: the columns that it gives, its fields, and what its stand-in answers."""

    columns: list[tuple[int, str]]
    fields: Json = field(default_factory=dict)
    answers: Json = field(default_factory=dict)


class Plans:
    """Nodes of the lines of one plan."""

    def __init__(self, names: Names, types: dict[int, str]) -> None:
        self._names = names
        self._types = types
        self._shared: dict[str, Line] = {}
        self._uses = 0
        self._makers: dict[str, Callable[[str, Expressions, tuple[Node, ...]], _Made]] = {
            "Aggregate": self._of_aggregate, "Deduplicate": self._of_duplicates,
            "DeduplicateWithinWatermark": self._of_duplicates, "EventTimeWatermark": self._of_watermark,
            "Expand": self._of_expand, "Filter": self._of_filter, "Generate": self._of_generate, "Join": self._of_join,
            "Project": self._of_project, "SubqueryAlias": self._of_alias, "Union": self._of_union,
        }  # fmt: skip

    def plan(self, line: Line, copy: int = 0) -> Node:
        """The node of a line.

        Parameters
        ----------
        line
            The line.
        copy
            What is added to the ids of columns.
        """
        text = re.sub(r"#(\d+)", lambda found: f"#{int(found[1]) + copy}", line.text) if copy else line.text
        found = re.match(r"[~'!]?(\w+)(?: |$)", text)
        kind, rest = ("", text) if found is None else (found[1], text[found.end() :])
        if kind == "WithCTE":
            if not line.below:
                raise BrokenError(text)
            self._shared |= {_first(each.text): each for each in line.below[:-1]}
            return self.plan(line.below[-1], copy)
        if kind == "CTERelationRef":
            return self._used(text, rest)
        children = tuple(self.plan(each, copy) for each in line.below)
        return self._node(kind, text, rest, children)

    def _used(self, text: str, rest: str) -> Node:
        """A common table expression where it is used: the columns of further uses have ids of their own."""
        shared = self._shared.get(_first(text))
        wanted = _columns(rest)
        if shared is None or not shared.below:
            return self._made("CTERelationRef", _Made(wanted), (), text.startswith("~"), {})
        plan = self.plan(shared.below[0])
        if wanted == plan.java.columns:
            return plan
        self._uses += 1
        plan = self.plan(shared.below[0], self._uses * COPY)
        columns = zip(plan.java.columns, wanted, strict=False)
        items = [f"{name}#{before} AS {name}#{number}" for (before, _), (number, name) in columns]
        return self._node("Project", "", f"[{', '.join(items)}]", (plan,))

    def _node(self, kind: str, text: str, rest: str, children: tuple[Node, ...]) -> Node:
        streaming = text.startswith(("~", "StreamingRelation")) or any(each.java.isStreaming() for each in children)
        scope = {number: alias for each in children for number, alias in each.java.scope.items()}
        read = Expressions(self._names, self._types, scope)
        if kind in self._makers and kind != "Union" and len(children) != (2 if kind == "Join" else 1):
            raise BrokenError(text)
        make = self._of_source if kind.startswith("StreamingRelation") else self._makers.get(kind, self._of_others)
        made = make(rest, read, children)
        if kind == "SubqueryAlias":
            scope = {number: made.answers["alias"] for number, _ in made.columns}
        return self._made(kind, made, children, streaming, scope)

    def _made(
        self, kind: str, made: _Made, children: tuple[Node, ...], streaming: bool, scope: Mapping[int, str]
    ) -> Node:
        named = [(number, self._names.name(word)) for number, word in made.columns]
        java = answers(isStreaming=streaming, output=_output(named), **made.answers)
        java.columns = made.columns
        java.scope = scope
        return Node(kind, made.fields, children, java)

    def _of_join(self, rest: str, read: Expressions, children: tuple[Node, ...]) -> _Made:
        kind, _, condition = re.sub(r", (?:left|right)Hint=.*$", "", rest, flags=re.DOTALL).partition(", ")
        kind = re.split(r"\W", kind)[0]
        found = (read.expression(condition),) if condition else ()
        columns = _below(children[:1] if kind in ("LeftSemi", "LeftAnti") else children)
        return _Made(
            columns,
            {"joinType": {"object": f"{kind}$"}, "condition": found},
            {"joinType": answers(sql=_JOINS.get(kind, kind.upper()))},
        )

    def _of_filter(self, rest: str, read: Expressions, children: tuple[Node, ...]) -> _Made:
        return _Made(_below(children), {"condition": (read.expression(rest),)})

    def _of_project(self, rest: str, read: Expressions, _: tuple[Node, ...]) -> _Made:
        found = read.named(rest)
        return _Made(_ids(found), {"projectList": found})

    def _of_aggregate(self, rest: str, read: Expressions, _: tuple[Node, ...]) -> _Made:
        groups, found = (read.named(each) for each in [*listed(rest), "[]", "[]"][:2])
        return _Made(_ids(found), {"groupingExpressions": groups, "aggregateExpressions": found})

    def _of_expand(self, rest: str, read: Expressions, _: tuple[Node, ...]) -> _Made:
        projections, output = [*listed(rest), "[]", "[]"][:2]
        first = read.named([*listed(projections[1:-1]), "[]"][0])  # the others have windows of the same kind
        columns = read.named(output)
        for column, meaning in zip(columns, first, strict=False):
            read.know(column.id, read.type_of(meaning))
        return _Made(_ids(columns), {"projections": (first,), "output": columns})

    def _of_generate(self, rest: str, read: Expressions, children: tuple[Node, ...]) -> _Made:
        generator, *settings = split(rest)
        columns = _below(children) + (_columns(settings[-1]) if settings else [])
        return _Made(columns, {"generator": (read.expression(generator),), "outer": "true" in settings})

    def _of_duplicates(self, rest: str, read: Expressions, children: tuple[Node, ...]) -> _Made:
        return _Made(_below(children), {"keys": read.named([*listed(rest), "[]"][0])})

    def _of_union(self, _: str, __: Expressions, children: tuple[Node, ...]) -> _Made:
        return _Made(_below(children[:1]))

    def _of_watermark(self, rest: str, read: Expressions, children: tuple[Node, ...]) -> _Made:
        found = re.search(rf"(?:^|, )(\w+{TAG}: [^ ]+), ([^,]*)$", rest)
        time = () if found is None else (read.expression(found[1]),)
        return _Made(_below(children), {"eventTime": time}, {"delay": None if found is None else calendar(found[5])})

    def _of_alias(self, rest: str, _: Expressions, children: tuple[Node, ...]) -> _Made:
        parts = re.findall(r"`(?:[^`]|``)+`|[^.`]+", rest)
        alias = parts[-1] if parts else rest
        if alias.startswith("`"):
            alias = alias[1:-1].replace("``", "`")
        return _Made(_below(children), {}, {"alias": alias})

    def _of_source(self, rest: str, _: Expressions, __: tuple[Node, ...]) -> _Made:
        found = RELATION.fullmatch(f"StreamingRelation {rest}")
        about, columns = (rest, rest) if found is None else (found[2], found[3])
        options = re.search(r"(?:^|, )\[([^\[\]]*)\]$", about)
        pairs = re.findall(r"([\w.]+)=(.*?)(?=, [\w.]+=|$)", options[1] if options else "")
        named = re.search(r"\w+\[[^\[\]]*\]$", about)
        return _Made(_columns(columns), {}, {"sourceName": named[0] if named else "", "extraOptions": dict(pairs)})

    def _of_others(self, rest: str, _: Expressions, children: tuple[Node, ...]) -> _Made:
        """Of other operators: what enters them, but for those that say at their end which columns they give."""
        if not children:
            return _Made(_columns(rest))
        columns = _below(children)
        ids = {number for number, _ in columns}
        last = _columns(["", *listed(rest)][-1])
        return _Made(columns if ids.issuperset(number for number, _ in last) else last)


def _columns(text: str) -> list[tuple[int, str]]:
    return [(int(found[2]), found[1]) for found in COLUMN.finditer(text)]


def _below(children: Iterable[Node]) -> list[tuple[int, str]]:
    """The columns that enter a node."""
    return [column for each in children for column in each.java.columns]


def _first(text: str) -> str:
    """The number of a common table expression."""
    return re.split(r"[ ,]", text)[1]


def _ids(found: Iterable[Node]) -> list[tuple[int, str]]:
    return [(each.id, each.fields["word"]) for each in found if each.id is not None]
