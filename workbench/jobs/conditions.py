"""What a join's condition says: which columns are equal, and between which bounds two event times lie.

A bound is found by what an expression means, not by how it is spelled: both sides of a comparison become a sum of
times and a number of microseconds, so that ``BETWEEN``, an interval on either side, a difference of two times and
reversed or strict comparisons of the same bound are one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from workbench.jobs.catalyst import Node, columns_in, value

__all__ = [
    "Bound",
    "Compared",
    "Conjunct",
    "Linear",
    "Numbered",
    "bounds",
    "compared",
    "conjuncts",
    "equality",
    "field_of",
    "is_collated",
    "is_struct",
    "linear",
    "numbered",
    "of_field",
    "replaced",
]

_SAME = frozenset(
    {"Alias", "CheckOverflow", "DatetimeSub", "KnownNotNull", "KnownNullable", "PreciseTimestampConversion"}
)
"""What means the same as its only child; of some, Spark writes what they stand for as their child."""
_COMPARED = {
    "GreaterThanOrEqual": (1, False),
    "GreaterThan": (1, True),
    "LessThanOrEqual": (-1, False),
    "LessThan": (-1, True),
}
"""Of each comparison of ``a`` with ``b``: the sign by which ``a - b`` is at least a span, and whether it is longer."""
_NEGATED = {
    "GreaterThanOrEqual": "LessThan", "GreaterThan": "LessThanOrEqual",
    "LessThanOrEqual": "GreaterThan", "LessThan": "GreaterThanOrEqual",
}  # fmt: skip
_UNITS = {
    "MICROSECOND": 1, "MILLISECOND": 1_000, "SECOND": 1_000_000, "MINUTE": 60_000_000, "HOUR": 3_600_000_000,
}  # fmt: skip
"""Units of ``timestampadd`` in microseconds; a day is not always 24 hours."""
_COUNTS = {"UnixTimestamp": 1_000_000, "ToUnixTimestamp": 1_000_000, "UnixSeconds": 1_000_000, "UnixMillis": 1_000}
"""Functions of a time that give a whole number, and what it counts, in microseconds; the rest is cut off."""
_TIMES = ("timestamp", "timestamp_ntz")
_WHOLE = ("byte", "short", "integer", "long")


@dataclass(frozen=True)
class Linear:
    """A sum of times and a span: a time, or a difference of times.

    Attributes
    ----------
    times
        How often each attribute is in it, by its id.
    micros
        The span.
    """

    times: Mapping[int, int]
    micros: int

    def __add__(self, other: Linear) -> Linear:
        counts = Counter(self.times)
        counts.update(other.times)
        return Linear({each: count for each, count in counts.items() if count}, self.micros + other.micros)

    def __neg__(self) -> Linear:
        return Linear({each: -count for each, count in self.times.items()}, -self.micros)

    def __sub__(self, other: Linear) -> Linear:
        return self + -other


@dataclass(frozen=True)
class Bound:
    """``later - earlier >= micros``, or ``>`` if it is exclusive, of two event times by their ids."""

    later: int
    earlier: int
    micros: int
    exclusive: bool = False


@dataclass(frozen=True)
class Numbered:
    """A bound of two event times that are compared as whole numbers of a unit.

    Attributes
    ----------
    written
        The bound of the numbers, in microseconds.
    unit
        What they count, in microseconds.
    """

    written: Bound
    unit: int

    @property
    def implied(self) -> Bound:
        """What follows for the times themselves, of whose difference less than a unit may be cut off."""
        least = self.written.micros + self.unit * self.written.exclusive
        return replace(self.written, micros=least - self.unit, exclusive=True)


@dataclass(frozen=True)
class Conjunct:
    """A part of a condition that has to hold, as it is written, and what it says, as parts that all have to hold."""

    written: Node
    parts: tuple[Node, ...]


def conjuncts(condition: Node) -> list[Conjunct]:
    """The parts of a condition that all have to hold."""
    if condition.kind == "And":
        return [each for child in condition.children for each in conjuncts(child)]
    return [Conjunct(condition, tuple(_parts(condition)))]


def _parts(condition: Node) -> Iterator[Node]:
    meant = _without_references(condition)
    if meant.kind == "And":
        for child in meant.children:
            yield from _parts(child)
    elif meant.kind == "Not" and meant.children[0].kind in _NEGATED:
        [inside] = meant.children
        yield replace(inside, kind=_NEGATED[inside.kind])
    else:
        yield meant


def _without_references(node: Node) -> Node:
    """What a node stands for: Spark writes ``x BETWEEN a AND b`` as a condition with references to ``x``."""
    if node.kind == "Between":
        return _without_references(node.children[0])
    if node.kind != "With":
        return node
    inner, *definitions = node.children
    meanings = {str(each.fields["id"]): each.children[0] for each in definitions}

    def put_in(part: Node) -> Node:
        if part.kind == "CommonExpressionRef" and str(part.fields["id"]) in meanings:
            return meanings[str(part.fields["id"])]
        return replace(part, children=tuple(map(put_in, part.children)))

    return put_in(inner)


def equality(part: Node) -> tuple[Node, Node] | None:
    """The two attributes that a part of a condition says to be equal; whole numbers may be widened for it."""
    if part.kind != "EqualTo":
        return None
    left, right = map(_widened, part.children)
    if left.kind != "AttributeReference" or right.kind != "AttributeReference":
        return None
    return left, right


@dataclass(frozen=True)
class Compared:
    """Two expressions that are equal, each of columns of one side: these columns and the expression, of either side.

    Attributes
    ----------
    columns
        The columns, of each expression in the order in which they stand in it.
    expressions
        What is compared.
    nulls_meet
        Whether two nulls are equal (``<=>``).
    """

    columns: tuple[tuple[int, ...], tuple[int, ...]]
    expressions: tuple[Node, Node]
    nulls_meet: bool

    @property
    def is_alike(self) -> bool:
        """Whether both are the same function of a column, whatever its type, so that the columns tell rows apart."""
        one, other = map(_shape, self.expressions)
        return one == other or any(map(is_collated, self.expressions))


def _shape(part: Node) -> object:
    """An expression without the names and types of its columns."""
    if part.kind == "Cast":
        return _shape(part.children[0])
    if part.kind == "AttributeReference":
        return part.kind
    return part.kind, [*map(_shape, part.children)] or str(part.java.sql())


def compared(part: Node) -> Compared | None:
    """What a part of a condition says to be equal, each an expression of columns; None: it says something else."""
    if part.kind not in ("EqualTo", "EqualNullSafe"):
        return None
    found = []
    for each in part.children:
        columns = dict.fromkeys(
            node.id for node in each.walk() if node.kind == "AttributeReference" and node.id is not None
        )
        if not columns or not bool(each.java.deterministic()):
            return None
        found.append(tuple(columns))
    return Compared((found[0], found[1]), (part.children[0], part.children[1]), part.kind == "EqualNullSafe")


def is_collated(part: Node) -> bool:
    """Whether an expression is a text whose collation finds others equal than those of the same bytes."""
    return " COLLATE " in str(part.java.dataType().sql())


def is_struct(part: Node) -> bool:
    """Whether an expression is a column that is a struct."""
    return part.kind == "AttributeReference" and isinstance(part.data_type, dict) and part.data_type["type"] == "struct"


def _widened(part: Node) -> Node:
    if part.kind == "Cast" and part.data_type in _WHOLE and part.children[0].data_type in _WHOLE:
        [inside] = part.children
        if _WHOLE.index(str(inside.data_type)) <= _WHOLE.index(str(part.data_type)):
            return inside
    return part


def replaced(part: Node, meanings: Mapping[int, Node]) -> Node:
    """An expression with what its attributes stand for."""
    if part.kind == "AttributeReference" and part.id is not None and part.id in meanings:
        return replaced(meanings[part.id], meanings)
    return replace(part, children=tuple(replaced(each, meanings) for each in part.children))


def bounds(part: Node) -> list[Bound]:
    """The bounds on a difference of two times that a part of a condition says; none if it says something else."""
    return [_at_least(each, exclusive) for each, exclusive in _not_negative(part, linear)]


def numbered(part: Node) -> list[Numbered]:
    """The bounds that a part of a condition says of two times as numbers of seconds or milliseconds; else none."""
    units = {unit for node in part.walk() if (unit := _unit_of(node)) is not None}
    if len(units) != 1:
        return []
    [unit] = units
    found = _not_negative(part, lambda node: _in_units(node, unit))
    return [Numbered(_at_least(each, exclusive), unit) for each, exclusive in found]


def _not_negative(part: Node, read: Callable[[Node], Linear | None]) -> list[tuple[Linear, bool]]:
    """The differences of two times that a part of a condition says to be at least 0, and whether each is more."""
    if part.kind not in (*_COMPARED, "EqualTo"):
        return []
    sign, exclusive = _COMPARED.get(part.kind, (0, False))
    left, right = part.children
    absolute = [each for each in (left, right) if each.kind == "Abs"]
    if absolute:
        if len(absolute) == 2 or sign != (-1 if left.kind == "Abs" else 1):  # a difference that is at least so long
            return []
        inside, most = read(absolute[0].children[0]), read(right if left.kind == "Abs" else left)
        found = [] if inside is None or most is None else [(most - inside, exclusive), (most + inside, exclusive)]
    else:
        one, other = read(left), read(right)
        difference = None if one is None or other is None else one - other
        both = [] if difference is None else [(difference, exclusive), (-difference, exclusive)]
        found = both if sign == 0 else both[:1] if sign > 0 else both[1:]
    return found if all(sorted(each.times.values()) == [-1, 1] for each, _ in found) else []


def _unit_of(node: Node) -> int | None:
    """Of a time as a number the unit that it counts, in microseconds; None of other expressions."""
    if node.kind in _COUNTS:
        return _COUNTS[node.kind]
    is_time = node.kind == "Cast" and node.data_type == "long" and node.children[0].data_type not in _WHOLE
    return 1_000_000 if is_time and linear(node.children[0]) is not None and columns_in(node) else None


def _in_units(node: Node, unit: int) -> Linear | None:
    """An expression of numbers of a unit as a sum of times and a span; None if it is something else."""
    if _unit_of(node) == unit:
        inside, columns = linear(node.children[0]), [each for each in node.walk() if each.kind == "AttributeReference"]
        of_time = len(columns) == 1 and columns[0].data_type == "timestamp"
        whole = inside is not None and list(inside.times.values()) == [1] and inside.micros % unit == 0
        return inside if of_time and whole else None
    constant = value(node)
    if constant is not None:
        return Linear({}, constant * unit)
    if node.kind in ("Alias", "KnownNotNull", "Cast") and (node.kind != "Cast" or node.data_type == "long"):
        return _in_units(node.children[0], unit)
    found = [_in_units(each, unit) for each in node.children]
    known = [each for each in found if each is not None]
    if len(known) != len(found):
        return None
    if node.kind in ("Add", "Subtract") and len(known) == 2:
        return known[0] + known[1] if node.kind == "Add" else known[0] - known[1]
    return -known[0] if node.kind == "UnaryMinus" else None


def _at_least(difference: Linear, exclusive: bool = False) -> Bound:
    by = {count: each for each, count in difference.times.items()}
    return Bound(by[1], by[-1], -difference.micros, exclusive)


def field_of(part: Node) -> int | None:
    """What stands for the id of a field of a column: a number below 0, see `of_field`; None of other expressions."""
    [of] = part.children
    ordinal = part.fields.get("ordinal")
    return (
        None if of.kind != "AttributeReference" or of.id is None or ordinal not in (0, 1) else -2 * of.id - ordinal - 1
    )


def of_field(number: int) -> tuple[int, int]:
    """The column, by its id, and the ordinal of its field that `field_of` stands for.

    Examples
    --------
    >>> of_field(-2 * 7 - 1 - 1)
    (7, 1)
    """
    return (-number - 1) // 2, (-number - 1) % 2


def linear(part: Node) -> Linear | None:
    """An expression as a sum of times and a span; None if it is something else."""
    kind, children = part.kind, part.children
    if kind == "AttributeReference":
        return Linear({part.id: 1}, 0) if part.data_type in _TIMES and part.id is not None else None
    if kind == "GetStructField" and (field := field_of(part)) is not None:
        return Linear({field: 1}, 0)
    constant = value(part)
    if constant is not None:
        return Linear({}, constant)
    if kind == "Cast" and part.data_type not in (*_TIMES, "interval day to second"):
        return None  # a cast to a number or to a coarser interval cuts something off
    if (kind in _SAME or kind in ("Cast", "UnixMicros")) and len(children) == 1:
        return linear(children[0])
    if kind == "TimestampAdd":
        length, number, time = _UNITS.get(part.fields.get("unit", "")), value(children[0]), linear(children[1])
        if length is None or number is None or time is None:
            return None
        return time + Linear({}, length * number)
    found = [linear(each) for each in children]
    known = [each for each in found if each is not None]
    if len(known) != len(found):
        return None
    if kind in ("TimestampAddInterval", "TimeAdd", "Add") and len(known) == 2:
        return known[0] + known[1]
    if kind in ("SubtractTimestamps", "Subtract") and len(known) == 2:
        return known[0] - known[1]
    return -known[0] if kind == "UnaryMinus" else None
