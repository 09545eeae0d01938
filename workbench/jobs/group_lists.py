"""What the lists of a group's rows have: of which side each is, and which of its columns."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.jobs import conditions, sides
from workbench.jobs.catalyst import Node, expressions
from workbench.jobs.sides import Input

__all__ = ["Collected", "read"]

_CONDITIONS = ("If", "CaseWhen")
_WRAPPERS = ("Alias", "KnownNullable", "KnownNotNull")


@dataclass(frozen=True)
class Collected:
    """A list in which groups collect the rows of a side.

    Attributes
    ----------
    side
        Of which side its entries are: 0 or 1.
    column
        The id of the column that its entries are, as it enters the union; None where they are computed above it.
    fields
        Where entries are structs, the ids of the columns that these have; None of what was computed.
    kind
        The type of an entry, in Spark's SQL.
    """

    side: int
    column: int | None
    fields: tuple[int | None, ...]
    kind: str


def read(aggregate: Node, union: Node, above: Input, inputs: tuple[Input, Input]) -> tuple[Collected | None, ...]:
    """The lists of an aggregation in the order of its state; None of one whose entries are not known to be rows.

    Parameters
    ----------
    aggregate, union
        The nodes.
    above
        What enters the aggregation.
    inputs
        Both sides of the union.
    """
    found: list[Node] = []
    for one in expressions(aggregate, "aggregateExpressions"):
        for part in one.walk():
            known = any(bool(part.java.semanticEquals(each.java)) for each in found)
            if part.kind in ("CollectList", "CollectSet") and not known:
                found.append(part)
    below = _Union(union, above, inputs)
    return tuple(below.collected(each) if each.kind == "CollectList" else None for each in found)


class _Union:
    """The columns of a union as expressions above it have them."""

    def __init__(self, union: Node, above: Input, inputs: tuple[Input, Input]) -> None:
        self._above = above
        self._inputs = inputs
        self._columns = tuple(list(each.columns) for each in inputs)
        self._meanings = tuple(
            {column: meaning for node in child.walk() for column, meaning in sides.defined(node)}
            for child in union.children
        )

    def collected(self, listed: Node) -> Collected | None:
        entry, asked = _entry(listed.children[0])
        if entry is None:
            return None
        side = self._side(entry, asked)
        if side is None:
            return None
        meaning = self._meaning(side, entry)
        struct = meaning.children[1::2] if meaning.kind == "CreateNamedStruct" else ()
        fields = tuple(self._entering(side, each) for each in struct)
        return Collected(side, self._entering(side, entry), fields, str(listed.children[0].java.dataType().sql()))

    def _place(self, column: int | None) -> int | None:
        """Which column of the union it is."""
        if column is None:
            return None
        return next(
            (self._columns[0].index(each) for each in self._above.lineage(column) if each in self._columns[0]), None
        )

    def _of_side(self, side: int, column: int | None) -> int | None:
        """A column as it enters the union on a side, by its id above the union or in the side's plan."""
        place, mine = self._place(column), self._inputs[side]
        if place is not None:
            return self._columns[side][place]
        same = (each for each in self._columns[side] if column is not None and mine.origin(each) == mine.origin(column))
        return next(same, None)

    def _entering(self, side: int, field: Node) -> int | None:
        return self._of_side(side, field.id) if field.kind == "AttributeReference" else None

    def _meaning(self, side: int, entry: Node) -> Node:
        """A struct, where a side's column is one; else what it was."""
        column = self._of_side(side, entry.id)
        while column is not None and column in self._meanings[side]:
            meaning = self._meanings[side][column]
            if meaning.kind == "CreateNamedStruct":
                return meaning
            column = meaning.id if meaning.kind == "AttributeReference" else None
        return entry

    def _side(self, entry: Node, asked: Node | None) -> int | None:
        """Of which side the entries are: the other has null instead, or is not what is asked for."""
        used = [each.id for each in entry.walk() if each.kind == "AttributeReference"]
        some = [side for side in (0, 1) if not all(self._is_null(side, each) for each in used)]
        if len(some) == 1:
            return some[0]
        if asked is None:
            return None
        meet = [side for side in (0, 1) if self._meets(side, asked)]
        return meet[0] if len(meet) == 1 else None

    def _is_null(self, side: int, column: int | None) -> bool:
        mine = self._of_side(side, column)
        return mine is not None and self._inputs[side].is_null(mine)

    def _meets(self, side: int, asked: Node) -> bool:
        """Whether rows of a side can meet a condition: a column that is not null, or is a literal."""
        for part in (part for each in conditions.conjuncts(asked) for part in each.parts):
            if part.kind == "IsNotNull" and self._is_null(side, part.children[0].id):
                return False
            if part.kind == "EqualTo" and not self._is_equal(side, part):
                return False
        return True

    def _is_equal(self, side: int, equality: Node) -> bool:
        column = next((each for each in equality.children if each.kind == "AttributeReference"), None)
        literal = next((each for each in equality.children if each.kind == "Literal"), None)
        mine = None if column is None else self._of_side(side, column.id)
        meaning = None if mine is None else self._meanings[side].get(self._inputs[side].origin(mine))
        if literal is None or meaning is None or meaning.kind != "Literal":
            return True
        return bool(meaning.fields.get("value") == literal.fields.get("value"))


def _entry(element: Node) -> tuple[Node | None, Node | None]:
    """What is collected, and the condition under which it is, if there is one."""
    asked = None
    while element.kind in (*_CONDITIONS, *_WRAPPERS):
        if element.kind in _CONDITIONS:
            if asked is not None or not all(_is_null(each) for each in element.children[2:]):
                return None, None
            asked, element = element.children[:2]
        else:
            [element] = element.children
    return (element if element.kind in ("AttributeReference", "CreateNamedStruct") else None), asked


def _is_null(node: Node) -> bool:
    while node.kind == "Cast":
        [node] = node.children
    return node.kind == "Literal" and node.fields.get("value") is None
