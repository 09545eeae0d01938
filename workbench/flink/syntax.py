"""Names, types, time spans and windows for Flink SQL and Java. User text enters only as quoted names and literals."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from pyarrow import types

from workbench import times
from workbench.errors import wrong
from workbench.quoting import backticks
from workbench.sources import Files
from workbench.streams import Stream
from workbench.times import Span
from workbench.untyped import Record

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "BOTH",
    "Field",
    "bound",
    "duration",
    "fields",
    "interval",
    "java_comment",
    "java_imports",
    "java_keys",
    "java_lines",
    "java_text",
    "java_time",
    "options",
    "row_type",
    "sql_text",
]

BOTH = "bothSides"
"""The view of both sides; no table has a capital in its name."""
_MILLISECOND = timedelta(milliseconds=1)
_SECOND = timedelta(seconds=1)
_FLINK, _STREAMING = "org.apache.flink", "org.apache.flink.streaming.api"
_CLASSES = (
    "java.io.Serializable",
    "java.math.BigDecimal",
    "java.nio.ByteBuffer",
    "java.nio.charset.StandardCharsets",
    "java.time.Duration",
    "java.time.Instant",
    "java.time.LocalDate",
    "java.time.LocalDateTime",
    "java.time.ZoneOffset",
    "java.util.ArrayList",
    "java.util.List",
    "java.util.Map",
    "java.util.TreeMap",
    "java.util.function.DoubleBinaryOperator",
    "java.util.function.IntPredicate",
    f"{_FLINK}.api.common.eventtime.WatermarkStrategy",
    f"{_FLINK}.api.common.functions.CoGroupFunction",
    f"{_FLINK}.api.common.functions.FlatJoinFunction",
    f"{_FLINK}.api.common.functions.JoinFunction",
    f"{_FLINK}.api.common.functions.OpenContext",
    f"{_FLINK}.api.common.state.BroadcastState",
    f"{_FLINK}.api.common.state.MapState",
    f"{_FLINK}.api.common.state.MapStateDescriptor",
    f"{_FLINK}.api.common.typeinfo.TypeInformation",
    f"{_FLINK}.api.common.typeinfo.Types",
    *(f"{_FLINK}.api.java.tuple.Tuple{count}" for count in range(2, 26)),
    f"{_FLINK}.cep.CEP",
    f"{_FLINK}.cep.functions.PatternProcessFunction",
    f"{_FLINK}.cep.functions.TimedOutPartialMatchHandler",
    f"{_FLINK}.cep.nfa.aftermatch.AfterMatchSkipStrategy",
    f"{_FLINK}.cep.pattern.Pattern",
    f"{_FLINK}.cep.pattern.WithinType",
    f"{_FLINK}.cep.pattern.conditions.IterativeCondition",
    f"{_STREAMING}.datastream.DataStream",
    f"{_STREAMING}.datastream.SingleOutputStreamOperator",
    f"{_STREAMING}.environment.StreamExecutionEnvironment",
    f"{_STREAMING}.functions.co.BroadcastProcessFunction",
    f"{_STREAMING}.functions.co.KeyedBroadcastProcessFunction",
    f"{_STREAMING}.functions.co.KeyedCoProcessFunction",
    f"{_STREAMING}.functions.co.ProcessJoinFunction",
    f"{_STREAMING}.windowing.assigners.EventTimeSessionWindows",
    f"{_STREAMING}.windowing.assigners.SlidingEventTimeWindows",
    f"{_STREAMING}.windowing.assigners.TumblingEventTimeWindows",
    f"{_FLINK}.table.api.Table",
    f"{_FLINK}.table.api.bridge.java.StreamTableEnvironment",
    f"{_FLINK}.types.Row",
    f"{_FLINK}.util.Collector",
    f"{_FLINK}.util.OutputTag",
    f"{_FLINK}.util.function.SerializableFunction",
)


@dataclass(frozen=True)
class Field:
    """A column: its name, its type in SQL, its Java class and what Flink's `Types` calls it."""

    name: str
    sql: str
    java: str
    info: str


def sql_text(value: str) -> str:
    """A text literal of SQL."""
    return "'" + value.replace("'", "''") + "'"


def java_text(value: str) -> str:
    """A text literal of Java; what is no ASCII, quote or backslash is escaped."""
    return json.dumps(value)


def java_lines(text: str) -> str:
    """The inside of a text block of Java, whose lines keep what they end in."""
    lines = [json.dumps(line)[1:-1] for line in text.split("\n")]
    return "\n".join(f"{line[:-1]}\\s" if line.endswith(" ") else line for line in lines)


def java_comment(text: object) -> str:
    """A text inside a comment of Java, which ends it nowhere; Java reads Unicode escapes there, too."""
    shown = str(text).replace("&", "&amp;").replace("<", "&lt;")
    return shown.replace("\\", "&#92;").replace("*/", "*&#47;")


def java_imports(body: str) -> str:
    """The imports of the classes that a text names."""
    return "\n".join(f"import {each};" for each in _CLASSES if re.search(rf"\b{each.rsplit('.', 1)[-1]}\b", body))


def fields(stream: Stream) -> list[Field]:
    """The columns of a stream; its event time in milliseconds, as fine as Flink's are."""
    first = _first_line(stream)
    zoned = {name for name, value in first.items() if re.search(r"\d(Z|[+-]\d\d:?\d\d)$", str(value))}
    return [_field(each.name, each.type, 3 if each.name == stream.time else 6, zoned) for each in stream.table.schema]


def _first_line(stream: Stream) -> Record:
    """The first row as JSON files have it: Flink reads times that end in a zone as another type."""
    if isinstance(stream.source, Files) and stream.source.format == "json":
        for file in sorted(Path(stream.source.path).glob("[!_.]*")):
            with suppress(OSError, ValueError), file.open() as lines:
                return dict(json.loads(next(lines, "{}")))
    return {}


def _field(name: str, kind: pa.DataType, digits: int = 6, zoned: Container[str] = ()) -> Field:
    """A column of a type of Arrow's; its times have so many digits, and a zone if they are among `zoned`."""
    if types.is_timestamp(kind):
        if name in zoned:
            return Field(name, f"TIMESTAMP_LTZ({digits})", "Instant", "INSTANT")
        return Field(name, f"TIMESTAMP({digits})", "LocalDateTime", "LOCAL_DATE_TIME")
    for test, *names in _kinds():
        if test(kind):
            return Field(name, *names)
    return Field(name, _nested(kind), "Object", "GENERIC(Object.class)")


def _kinds() -> tuple[tuple[Callable[[pa.DataType], bool], str, str, str], ...]:
    return (
        (types.is_string, "STRING", "String", "STRING"),
        (types.is_int64, "BIGINT", "Long", "LONG"),
        (types.is_int32, "INT", "Integer", "INT"),
        (types.is_int16, "SMALLINT", "Short", "SHORT"),
        (types.is_int8, "TINYINT", "Byte", "BYTE"),
        (types.is_float64, "DOUBLE", "Double", "DOUBLE"),
        (types.is_float32, "FLOAT", "Float", "FLOAT"),
        (types.is_boolean, "BOOLEAN", "Boolean", "BOOLEAN"),
        (types.is_date, "DATE", "LocalDate", "LOCAL_DATE"),
        (types.is_binary, "BYTES", "byte[]", "PRIMITIVE_ARRAY(Types.BYTE)"),
    )


def _nested(kind: pa.DataType) -> str:
    """A type made of others, and a decimal, in Flink SQL."""
    if types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    if types.is_list(kind) or types.is_large_list(kind):
        return f"ARRAY<{_field('', kind.value_type).sql}>"
    if types.is_map(kind):
        return f"MAP<{_field('', kind.key_type).sql}, {_field('', kind.item_type).sql}>"
    if types.is_struct(kind):
        return row_type([_field(each.name, each.type) for each in kind])
    return "STRING"


def row_type(columns: list[Field]) -> str:
    """The type of a whole row."""
    return f"ROW<{', '.join(f'{backticks(each.name)} {each.sql}' for each in columns)}>"


def options(stream: Stream, name: str) -> dict[str, str]:
    """What stands in a table's WITH: where the rows are."""
    files = stream.source.as_files(f"join_data/{name}")
    if files.format == "delta":
        found = {"connector": "delta", "table-path": files.path}
    else:
        found = {"connector": "filesystem", "path": files.path, "format": files.format}
    if files.format == "json":
        found |= {"json.timestamp-format.standard": "ISO-8601"}
    return {sql_text(option): sql_text(value) for option, value in found.items()}


def interval(span: Span, argument: str) -> str:
    """An interval literal of SQL, in its largest whole unit; its sign is left out."""
    size = abs(_whole(span, argument))
    if size % _SECOND:
        seconds, rest = divmod(size // _MILLISECOND, 1000)
        return f"INTERVAL '{seconds}.{rest:03}' SECOND({len(str(seconds))}, 3)"
    count, unit = times.text(size).split()
    digits = f"({len(count)})" if len(count) > 2 else ""  # Flink reads two where nothing else is said
    return f"INTERVAL '{count}' {unit.rstrip('s').upper()}{digits}"


def bound(span: Span, argument: str) -> str:
    """What is added to a time to reach a bound."""
    sign = "-" if times.exact(span) < times.ZERO else "+"
    return f"{sign} {interval(span, argument)}"


def duration(span: Span, argument: str) -> str:
    """A `java.time.Duration` as Java source."""
    size = _whole(span, argument)
    if not size:
        return "Duration.ZERO"
    count, unit = (str(size // _MILLISECOND), "millis") if size % _SECOND else times.text(size).split()
    name = unit.rstrip("s").capitalize() + "s"
    long = "L" if abs(int(count)) > 2**31 - 1 else ""
    return f"Duration.of{name}({count}{long})"


def _whole(span: Span, argument: str) -> timedelta:
    size = times.exact(span)
    if size % _MILLISECOND:
        raise wrong(argument, times.text(size), "Flink's event times have milliseconds, so use whole milliseconds")
    return size


def java_time(time: Field) -> str:
    """How a row gives its event time, as Java source."""
    zone = "" if time.java == "Instant" else ".toInstant(ZoneOffset.UTC)"
    return f"row.<{time.java}>getFieldAs({java_text(time.name)}){zone}"


def java_keys(left: list[Field], right: list[Field]) -> dict[str, str]:
    """The key as Java source: its class, its type information, and how a row of each side gives it.

    Parameters
    ----------
    left, right
        The key columns, which pair up in order.

    Raises
    ------
    ArgumentError
        If a key column is of a type that Flink cannot group rows by.
    """
    parts = [_key(*pair) for pair in zip(left, right, strict=True)]
    classes, infos, *gets = (list(each) for each in zip(*parts, strict=True))
    variables = {"infos": ", ".join(infos)}
    if len(parts) == 1:
        return variables | {"java": classes[0], "info": infos[0], "left": gets[0][0], "right": gets[1][0]}
    tuple_ = f"Tuple{len(parts)}"
    return variables | {
        "java": f"{tuple_}<{', '.join(classes)}>",
        "info": f"Types.TUPLE({variables['infos']})",
        "left": f"{tuple_}.of({', '.join(gets[0])})",
        "right": f"{tuple_}.of({', '.join(gets[1])})",
    }


def _key(mine: Field, theirs: Field) -> tuple[str, str, str, str]:
    """A key column's class, type information, and what gives it on either side."""
    if mine.java in ("byte[]", "Object"):
        raise wrong("key", mine.name, f"a DataStream job cannot group by {mine.sql}; use Flink SQL, or a key of text")
    if mine.java == theirs.java:
        gets = [f"row.<{mine.java}>getFieldAs({java_text(each.name)})" for each in (mine, theirs)]
        return mine.java, f"Types.{mine.info}", gets[0], gets[1]
    wide = "Double" if {mine.java, theirs.java} & {"Double", "Float"} else "Long"
    gets = [f"row.<Number>getFieldAs({java_text(each.name)}).{wide.lower()}Value()" for each in (mine, theirs)]
    return wide, f"Types.{wide.upper()}", gets[0], gets[1]
