"""Plans and expressions of Spark's, read from Spark's own JSON of an analysed plan.

The JSON is a list of nodes in pre-order, each with its class, its fields and the number of its children; an expression
within a node's field is such a list, too. What the JSON leaves out (the delay of a watermark, the text of an
expression, the value of one without columns) is asked of the node itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from workbench.errors import ArgumentError, wrong
from workbench.jobs import jvm
from workbench.spark_io.cause import spark_errors_as
from workbench.spark_io.explaining import explain, in_one
from workbench.untyped import JavaObject, Json, Record

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = [
    "Node",
    "analysed",
    "columns_in",
    "delay_of",
    "expressions",
    "has_watermark",
    "listed",
    "name_of_watermark",
    "optimised",
    "random_parts",
    "seq",
    "span",
    "texts",
    "tree",
    "unplanned",
    "value",
    "without_plan",
    "zone",
]


_ZONE = re.compile(r'"timeZoneId": "([^"]+)"')
_DELAY = "spark.watermarkDelayMs"
"""What Spark calls the delay in the metadata of a column that has a watermark."""
_MOST_AT_ONCE = 10  # elements that Java makes a list of in one call


@dataclass(frozen=True, eq=False)
class Node:
    """A node of a plan or of an expression.

    Attributes
    ----------
    kind
        The name of its class, without the package.
    fields
        What else the JSON says of it.
    children
        Its inputs.
    java
        The node itself, in the JVM.
    """

    kind: str
    fields: Json = field(repr=False)
    children: tuple[Node, ...]
    java: JavaObject = field(repr=False)

    def walk(self) -> Iterator[Node]:
        """The node and all below it, in pre-order."""
        yield self
        for child in self.children:
            yield from child.walk()

    @cached_property
    def output(self) -> tuple[JavaObject, ...]:
        """The columns that a node of a plan gives, in the JVM."""
        return tuple(listed(self.java.output()))

    @cached_property
    def ids(self) -> tuple[int, ...]:
        """The ids of the columns that a node of a plan gives."""
        return tuple(int(each.exprId().id()) for each in self.output)

    @property
    def id(self) -> int | None:
        """The id of an attribute or alias."""
        found = self.fields.get("exprId")
        return int(found["id"]) if isinstance(found, dict) else None

    @property
    def name(self) -> str:
        """The name of an attribute or alias."""
        return str(self.fields.get("name", ""))

    @property
    def data_type(self) -> JavaObject:
        """The type of an attribute, literal or cast as the JSON has it."""
        return self.fields.get("dataType")


def analysed(frame: DataFrame) -> Node:
    """The analysed plan of a DataFrame.

    Raises
    ------
    ArgumentError
        If it is one of Spark Connect.
    """
    if not hasattr(frame, "_jdf"):
        raise without_plan()
    return tree(frame.sparkSession, frame._jdf.queryExecution().analyzed())


def without_plan() -> Exception:
    """The error for a DataFrame of Spark Connect whose plan is needed."""
    return wrong("joined", "a DataFrame of Spark Connect", "its plan cannot be read; give one of a classic session")


def tree(spark: JavaObject, plan: JavaObject) -> Node:
    """A plan of Spark's, with what is defined at its head put where it is used."""
    text = plan.toJSON()
    if "WithCTE" in text:
        plan = _with_ctes_in_place(spark, plan)
        text = plan.toJSON()
    return _tree(json.loads(text), plan)


def _with_ctes_in_place(spark: JavaObject, plan: JavaObject) -> JavaObject:
    """A plan with each common table expression where it is used."""
    name = "org.apache.spark.sql.catalyst.optimizer.InlineCTE"
    [constructor] = spark._jvm.java.lang.Class.forName(name).getConstructors()
    settings = [True, *[False] * (constructor.getParameterCount() - 1)]  # always; their number differs by version
    return spark._jvm.org.apache.spark.sql.catalyst.optimizer.InlineCTE(*settings).apply(plan)


def unplanned(why: str) -> ArgumentError:
    """The error for a DataFrame that Spark cannot plan."""
    found = explain(why)
    return wrong(
        "joined",
        "a DataFrame that Spark cannot plan",
        f"give one of another join ({in_one(found) if found.known else why})",
    )


def optimised(spark: JavaObject, plan: Node) -> Node:
    """The plan as Spark's optimizer leaves it, which a query runs.

    Raises
    ------
    ArgumentError
        If Spark cannot plan it, as an outer join whose condition has a UDF in Python.
    """
    with spark_errors_as(unplanned):
        java = spark._jsparkSession.sessionState().optimizer().execute(plan.java)
    return _tree(json.loads(java.toJSON()), java)


def expressions(node: Node, name: str, *path: int) -> list[Node]:
    """The expressions in a node's field, which holds one, a list of them, or a list of such lists.

    Parameters
    ----------
    node, name
        The node of a plan, and the field.
    *path
        Of a list of lists, which of them.
    """
    flat = node.fields.get(name)
    if not flat:
        return []
    if isinstance(flat, tuple):  # of a plan that was read from text
        for place in path:
            flat = flat[place]
        return list(flat)
    java = getattr(node.java, name)()
    if isinstance(flat[0], dict):
        return [_tree(flat, java.get() if java.getClass().getSimpleName() == "Some" else java)]
    for place in path:
        flat, java = flat[place], java.apply(place)
    return [_tree(each, java.apply(place)) for place, each in enumerate(flat)]


def zone(plan: Node) -> str:
    """The time zone of the session in which a plan was written; empty where nothing in it depends on one."""
    texts = (json.dumps(each.fields) for each in plan.walk())
    return next((found[1] for each in texts if (found := _ZONE.search(each))), "")


def value(node: Node) -> int | None:
    """The whole number that an expression without columns gives, a span in microseconds; None if it has columns.

    A span with months is none, as these differ in length.
    """
    if not node.java.foldable() or not node.java.deterministic():
        return None
    try:
        found = node.java.eval(None)
    except Exception:  # noqa: BLE001 - what stands for something else, or overflows, has no value
        return None
    if isinstance(found, int) and not isinstance(found, bool):
        return found
    if hasattr(found, "_get_object_id") and found.getClass().getSimpleName() == "CalendarInterval":
        return span(found)
    return None


def span(interval: JavaObject) -> int | None:
    """A CalendarInterval of Spark's in microseconds; None if it has months. One read from text is so already."""
    if interval is None or isinstance(interval, int):
        return interval
    from py4j.java_gateway import get_field  # when needed: PySpark is slow to import

    if get_field(interval, "months"):
        return None
    return int(get_field(interval, "days")) * 86_400_000_000 + int(get_field(interval, "microseconds"))


def random_parts(plan: Node) -> Iterator[str]:
    """What a plan has that is another each time it is asked for, such as ``uuid()``, as SQL."""
    for node in plan.walk():
        for each in listed(node.java.expressions()):
            if not bool(each.deterministic()):
                yield str(each.sql())


def name_of_watermark(node: JavaObject) -> str:
    """What Spark's tracker calls an operator that sets a watermark; older versions number them in order of the plan."""
    return str(node.nodeId()) if "nodeId" in {each.getName() for each in node.getClass().getMethods()} else ""


def has_watermark(column: JavaObject) -> bool:
    """Whether a column of the JVM's has a watermark."""
    return bool(column.metadata().contains(_DELAY))


def columns_in(expression: Node) -> set[int]:
    """The ids of the columns in an expression."""
    return {each.id for each in expression.walk() if each.kind == "AttributeReference" and each.id is not None}


def delay_of(column: JavaObject) -> int:
    """The delay of the watermark of a column of the JVM's, in microseconds."""
    return int(column.metadata().getLong(_DELAY)) * 1_000


def listed(seq: JavaObject) -> list[JavaObject]:
    """The elements of a sequence of Scala's."""
    return [seq.apply(place) for place in range(int(seq.size()))]


def texts(spark: JavaObject, mapping: JavaObject) -> dict[str, str]:
    """A map of texts of Scala's, read at once: of its entries each would be a call to the JVM, or several."""
    java = spark._jvm
    mapper = jvm.new(java, "com.fasterxml.jackson.databind.ObjectMapper")()
    converted = jvm.static(java, "scala.jdk.javaapi.CollectionConverters", "asJava")(mapping)
    found: dict[str, str] = json.loads(mapper.writeValueAsString(converted))
    return found


def seq(java: JavaObject, values: list[JavaObject]) -> JavaObject:
    """A sequence of Scala's."""
    if len(values) <= _MOST_AT_ONCE:
        found = jvm.static(java, "java.util.List", "of")(*values)
    else:
        found = jvm.new(java, "java.util.ArrayList")()
        for each in values:
            found.add(each)
    return jvm.static(java, "org.apache.spark.api.python.PythonUtils", "toList")(found)


def _tree(flat: list[Record], java: JavaObject) -> Node:
    left = iter(flat)

    def made(own: JavaObject) -> Node:
        fields = next(left)
        inputs = own.children()
        count = int(fields["num-children"])
        children = tuple(made(inputs.apply(place)) for place in range(count))
        return Node(fields["class"].rpartition(".")[2].rstrip("$"), fields, children, own)

    return made(java)
