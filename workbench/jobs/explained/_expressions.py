"""Expressions in the text of a plan, as the nodes that a session's JVM would give of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from types import SimpleNamespace

from workbench.jobs.catalyst import Node
from workbench.jobs.explained._brackets import Depths, UnbalancedError, between, outside, parted, split
from workbench.jobs.explained._lines import Names
from workbench.jobs.explained._types import COLUMN, COPY, TAG, TYPES, json_type
from workbench.jobs.explained._values import UNITS, Span, constant, converted, reckoned, whole_span
from workbench.untyped import JavaObject

__all__ = ["Expressions", "answers"]

_ATTRIBUTE = re.compile(rf"(\w+){TAG}(?:: (.+))?", re.DOTALL)
_ALIAS = re.compile(rf"(.*) AS (\w+){TAG}", re.DOTALL)
_OPERATORS = re.compile(r" (AND|OR|<=>|>=|<=|=|>|<|\+|-|\*|/|%) ")
_LOGICAL = {
    "AND": "And", "OR": "Or", "=": "EqualTo", "<=>": "EqualNullSafe", ">=": "GreaterThanOrEqual", ">": "GreaterThan",
    "<=": "LessThanOrEqual", "<": "LessThan",
}  # fmt: skip
_ARITHMETIC = {"+": "Add", "-": "Subtract", "*": "Multiply", "/": "Divide", "%": "Remainder"}
_FUNCTIONS = {
    "collect_list": "CollectList", "collect_set": "CollectSet", "explode": "Explode", "isnotnull": "IsNotNull",
    "isnull": "IsNull", "knownnotnull": "KnownNotNull", "knownnullable": "KnownNullable",
    "abs": "Abs", "precisetimestampconversion": "PreciseTimestampConversion", "size": "Size",
    "to_unix_timestamp": "ToUnixTimestamp", "unix_micros": "UnixMicros", "unix_millis": "UnixMillis",
    "unix_seconds": "UnixSeconds", "unix_timestamp": "UnixTimestamp",
}  # fmt: skip
"""Functions whose first argument is their child; the others are settings."""
_TIMES = ("timestamp", "timestamp_ntz")
_CONVERTED = {"TimestampType": "timestamp", "TimestampNTZType": "timestamp_ntz", "LongType": "long"}
_WRITTEN = {kind: name for name, kind in TYPES.items()}
_BARE = ("none", "true", "false")
_SIGNS = {kind: sign for sign, kind in (_LOGICAL | _ARITHMETIC).items()} | {"SubtractTimestamps": "-"}
_WORDS = {"IsNotNull": "{} IS NOT NULL", "IsNull": "{} IS NULL", "Not": "NOT {}"}


def answers(**values: JavaObject) -> JavaObject:
    """A stand-in for an object of the JVM, whose methods give these values."""
    return SimpleNamespace(**{name: lambda *_, value=value: value for name, value in values.items()})


class Expressions:
    """Expressions in the text of a node.

    Parameters
    ----------
    names
        Words that stand for names.
    types
        The types of columns, as far as they are known, by id: those that an expression shows are added.
    scope
        The alias of columns, by id.
    """

    def __init__(self, names: Names, types: dict[int, str], scope: Mapping[int, str]) -> None:
        self._names = names
        self._types = types
        self._scope = scope

    def named(self, text: str) -> tuple[Node, ...]:
        """The expressions of a list, each a column or with a name."""
        items = split(text[1:-1])
        return tuple(self._alias(each) or self.expression(each) for each in items if each)

    def expression(self, text: str) -> Node:
        """What a text means; a node without a meaning, with its columns, where that is not understood."""
        text = text.strip()
        try:
            for form in (self._attribute, self._literal, self._case, self._if, self._unary, self._infix, self._call):
                found = form(text)
                if found is not None:
                    return found
        except UnbalancedError:
            pass
        return self._opaque(text)

    def know(self, column: int | None, kind: str | None) -> None:
        """Keep the type of a column, if it is not known yet."""
        if column is not None and kind is not None:
            self._types.setdefault(column, kind)

    def type_of(self, node: Node) -> str | None:
        """The type of an expression, where it is known."""
        if node.kind in ("AttributeReference", "Cast"):
            return node.data_type
        if node.kind == "CreateNamedStruct":
            return "struct"
        if node.kind in ("Alias", "KnownNullable", "KnownNotNull", "TimestampAddInterval"):
            return self.type_of(node.children[0])
        return "timestamp" if node.kind == "TimestampAdd" else None

    def _expect(self, node: Node, kind: str | None) -> None:
        """What has to be of a type."""
        if node.kind == "AttributeReference":
            self.know(node.id, kind)
        elif node.kind == "TimestampAddInterval":
            self._expect(node.children[0], kind)

    def _made(
        self, kind: str, text: str, children: Sequence[Node] = (), constant: JavaObject = None, **fields: JavaObject
    ) -> Node:
        java = answers(foldable=constant is not None, deterministic=True, eval=constant, dataType=answers(sql=""))
        java.constant = constant
        java.text = text
        java.sql = lambda: self._sql(kind, text, children, str(fields.get("dataType")))
        java.semanticEquals = lambda other: bool(other.text == text)
        return Node(kind, fields, tuple(children), java)

    def _sql(self, kind: str, text: str, children: Sequence[Node], data_type: str) -> str:
        """An expression as SQL, as far as the text has it: of functions it is the text without the ids of columns."""
        if kind in _SIGNS:
            return f"({f' {_SIGNS[kind]} '.join(_quoted(each) for each in children)})"
        if kind == "Between":
            [low, high] = children[0].children
            return f"between({', '.join(each.java.sql() for each in (*low.children, high.children[1]))})"
        if kind == "Cast":
            return f"CAST({children[0].java.sql()} AS {_WRITTEN.get(data_type, data_type).upper()})"
        if kind in _WORDS:
            return f"({_WORDS[kind].format(children[0].java.sql())})"

        def column(found: re.Match[str]) -> str:
            alias = self._scope.get(int(found[2]))
            return f"{alias}.{self._names.quoted(found[1])}" if alias else self._names.quoted(found[1])

        return re.sub(r"(?<=\))#\d+L?", "", COLUMN.sub(column, text))

    def _opaque(self, text: str) -> Node:
        columns = [found[0] for found in COLUMN.finditer(text)]
        if not columns:
            return self._made("Literal", text, value=text)
        return self._made("Opaque", text, [node for each in columns if (node := self._attribute(each))])

    def _attribute(self, text: str) -> Node | None:
        found = _ATTRIBUTE.fullmatch(text)
        if found is None:
            return None
        if found[5]:
            self.know(int(found[2]), json_type(found[5]))
        return self._column("AttributeReference", text, found)

    def _alias(self, text: str) -> Node | None:
        found = _ALIAS.fullmatch(text)
        if found is None:
            return None
        child = self.expression(found[1])
        self.know(int(found[3]), self.type_of(child))
        named = _ATTRIBUTE.fullmatch(text, found.start(2))
        return None if named is None else self._column("Alias", text, named, [child])

    def _column(self, kind: str, text: str, found: re.Match[str], children: Sequence[Node] = ()) -> Node:
        word, number = found[1], int(found[2])
        known = self._types.get(number, self._types.get(number % COPY))
        known = known or ("timestamp" if found[4] else "long" if found[3] else None)
        name = self._names.name(word)
        made = self._made(kind, text, children, exprId={"id": number}, name=name, word=word, dataType=known)
        made.java.metadata = answers(metadata=answers(contains=bool(found[4]))).metadata
        return made

    def _literal(self, text: str) -> Node | None:
        if text.lower() == "null":
            return self._made("Literal", text, value=None)
        found = constant(text)
        return None if found is None else self._made("Literal", text, constant=found, value=text)

    def _case(self, text: str) -> Node | None:
        if not (text.startswith("CASE WHEN ") and text.endswith(" END") and Depths(text).closes() == len(text) - 3):
            return None
        inner = text[len("CASE WHEN ") : -len(" END")]
        return self._made("CaseWhen", text, [self.expression(each) for each in parted(inner, " (?:WHEN|THEN|ELSE) ")])

    def _if(self, text: str) -> Node | None:
        if not text.startswith("if ("):
            return None
        end = Depths(text).closes()
        values = parted(text[end + 1 :], " else ")
        if len(values) != 2:
            return None
        return self._made("If", text, [self.expression(each) for each in (text[4:end], *values)])

    def _unary(self, text: str) -> Node | None:
        if text.startswith("NOT "):
            return self._made("Not", text, [self.expression(text[4:])])
        if not re.match(r"-[(\w]", text) or outside(_OPERATORS, text[1:]):
            return None
        child = self.expression(text[1:])
        found = child.java.constant
        return self._made("UnaryMinus", text, [child], None if found is None else type(found)(-found))

    def _infix(self, text: str) -> Node | None:
        """What has operators: within brackets all, else sums with intervals only."""
        if not text.startswith("(") or Depths(text).closes() != len(text) - 1:
            return self._sum(text, text, outside(_OPERATORS, text), within=False) if COLUMN.search(text) else None
        inner = text[1:-1]
        found = outside(_OPERATORS, inner)
        logical = next((each for each in found if each[1] in _LOGICAL), None)
        if logical is None:
            return self._sum(text, inner, found, within=True) if found else self.expression(inner)
        children = [self.expression(each) for each in (inner[: logical.start()], inner[logical.end() :])]
        if logical[1] not in ("AND", "OR"):
            self._same_type(children)
        return self._made(_LOGICAL[logical[1]], text, children)

    def _same_type(self, children: Sequence[Node]) -> None:
        """Two times that are compared or subtracted have one type: Spark casts them to it."""
        for one, other in (children, children[::-1]):
            if (kind := self.type_of(one)) in _TIMES:
                self._expect(other, kind)

    def _sum(self, text: str, inner: str, found: list[re.Match[str]], *, within: bool) -> Node | None:
        """What is added: a time and an interval are so without brackets, and belong closer together."""
        if not found or any(each[1] in _LOGICAL for each in found):
            return None
        first, *others = (self.expression(each) for each in between(inner, found))
        terms = [first]
        loose = []
        for each, term in zip(found, others, strict=True):
            if each[1] in "+-" and isinstance(term.java.constant, Span) and not (within and len(found) == 1):
                terms[-1] = self._moved(each[1], terms[-1], term)
            else:
                terms.append(term)
                loose.append(each[1])
        if not loose:
            return terms[0]
        if len(loose) > 1 or (not within and loose[0] not in "+-"):
            return None
        return self._computed(loose[0], text, terms, within=within)

    def _moved(self, sign: str, time: Node, length: Node) -> Node:
        text = f"{time.java.text} {sign} {length.java.text}"
        if "INTERVAL '" in length.java.text:
            self._expect(time, "timestamp")
        if sign == "-":
            length = self._made("UnaryMinus", length.java.text, [length], Span(-length.java.constant))
        return self._made("TimestampAddInterval", text, [time, length])

    def _computed(self, sign: str, text: str, terms: list[Node], *, within: bool) -> Node:
        kind = _ARITHMETIC[sign]
        if sign == "-":
            self._same_type(terms)
            kind = "SubtractTimestamps" if any(self.type_of(each) in _TIMES for each in terms) and within else kind
        elif sign == "+" and not within:
            kind = "TimestampAddInterval"
        return self._made(kind, text, terms, reckoned(sign, *(each.java.constant for each in terms)))

    def _call(self, text: str) -> Node | None:
        found = re.match(r"([\w.]+)\(", text)
        if found is None:
            return None
        end = Depths(text).closes()
        if end != len(text) - 1:
            return self._filtered(text, end)
        name, arguments = found[1].lower(), split(text[found.end() : -1])
        special = {
            "cast": self._cast, "between": self._between, "timestampadd": self._timestamp_add,
            "make_dt_interval": self._interval, "make_interval": self._interval,
        }  # fmt: skip
        if name in special:
            return special[name](text, arguments)
        if name in ("struct", "named_struct"):
            return self._made("CreateNamedStruct", text, [self.expression(each) for each in arguments])
        if name in _FUNCTIONS and arguments:
            return self._wrapper(_FUNCTIONS[name], text, arguments)
        return self._made("Function", text, [self.expression(each) for each in arguments])

    def _filtered(self, text: str, end: int) -> Node | None:
        """An aggregate of some rows only."""
        clause = " FILTER (WHERE "
        if not text[end + 1 :].startswith(clause):
            return None
        parts = text[: end + 1], text[end + 1 + len(clause) : -1]
        return self._made("AggregateExpression", text, [self.expression(each) for each in parts])

    def _wrapper(self, kind: str, text: str, arguments: list[str]) -> Node:
        child = self.expression(arguments[0])
        if kind in ("UnixMicros", "UnixMillis", "UnixSeconds"):  # the others take texts, too
            self._expect(child, "timestamp")
        if kind == "PreciseTimestampConversion" and len(arguments) == 3:
            self._expect(child, _CONVERTED.get(arguments[1]))
        return self._made(kind, text, [child])

    def _cast(self, text: str, arguments: list[str]) -> Node | None:
        inner, _, kind = ", ".join(arguments).rpartition(" as ")
        if not inner:
            return None
        child = self.expression(inner)
        return self._made("Cast", text, [child], converted(child.java.constant, kind), dataType=json_type(kind))

    def _between(self, text: str, arguments: list[str]) -> Node | None:
        """Casts of what is compared are not printed here."""
        if len(arguments) != 3:
            return None
        one, low, high = (self.expression(each) for each in arguments)
        parts = [
            self._made("GreaterThanOrEqual", text, [one, low]),
            self._made("LessThanOrEqual", text, [one, high]),
        ]
        return self._made("Between", text, [self._made("And", text, parts)])

    def _timestamp_add(self, text: str, arguments: list[str]) -> Node | None:
        if len(arguments) < 3:
            return None
        number, time = self.expression(arguments[1]), self.expression(arguments[2])
        self._expect(time, "timestamp")
        return self._made("TimestampAdd", text, [number, time], unit=arguments[0])

    def _interval(self, text: str, arguments: list[str]) -> Node:
        children = [self.expression(each) for each in arguments]
        calendar = text.startswith("make_interval")
        units = ("week", "day", "hour", "minute", "second") if calendar else ("day", "hour", "minute", "second")
        values = [each.java.constant for each in children]
        if calendar:
            months, values = values[:2], values[2:7]
            if any(months):
                values = []
        span = None
        if len(values) == len(units) and all(isinstance(each, (int, Decimal)) for each in values):
            span = whole_span(sum(Decimal(each) * UNITS[unit] for each, unit in zip(values, units, strict=True)))
        return self._made("Function", text, children, span)


def _quoted(node: Node) -> str:
    """What is compared as SQL: strings have quotes again."""
    is_word = node.kind == "Literal" and not node.java.foldable() and str(node.fields["value"]).lower() not in _BARE
    text = str(node.java.sql())
    return f"'{text}'" if is_word else text
