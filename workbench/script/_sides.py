"""What the script's templates ask of a side, whatever its source is."""

from __future__ import annotations

import json

import pyarrow as pa

from workbench.plan.names import SideNames
from workbench.quoting import in_sql, literal
from workbench.script._places import Source, column_types
from workbench.sources import arrow
from workbench.sources.kafka import KAFKA_COLUMNS
from workbench.streams import Stream
from workbench.untyped import Record


def side(names: SideNames, stream: Stream, source: Source, data: str) -> Record:
    """The names and literals of one side, each as Python source; `data` is the folder of recordings."""
    columns, schema = source.columns(stream), source.schema(stream)
    whole = [f"{in_sql(name)} {spark_type}" for name, spark_type in schema.items()]
    ending, types = _ending(stream), {**column_types(stream), **columns}
    return {
        "var": names.var,
        "constant": names.var.upper(),
        "option": names.option,
        "schema": [literal(each) for each in whole],
        "schema_text": ", ".join(whole),
        "columns": ", ".join(map(literal, columns)),
        "made_for": json.dumps({"key": stream.key, "time": stream.time, "columns": columns}),
        "time": stream.time,
        "ending": _as_dict(ending, types),
        "ending_sql": _as_sql(ending, types),
        **source.variables(stream, names.var, data),
    }


def meta(left: Stream, right: Stream) -> dict[str, str]:
    """The columns that are of a Kafka message rather than its value, as Python source."""
    return {
        name: column.spark
        for name, column in KAFKA_COLUMNS.items()
        if any(name in stream.table.column_names for stream in (left, right))
    }


def _ending(stream: Stream) -> dict[str, str]:
    """The row that ends an input: each value as Python source; the other columns are null."""
    values = {key: _zero(stream.table.schema.field(key).type) for key in stream.key} | {stream.time: "END_OF_INPUT"}
    nanos = stream.source.as_files().nanos
    return values | {name: str(arrow.END_OF_INPUT.value) for name in values if name in nanos}


def _as_dict(ending: dict[str, str], types: dict[str, str]) -> str:
    pairs = [f"{literal(name)}: ({value}, {literal(types[name])})" for name, value in ending.items()]
    return "{" + ", ".join(pairs) + "}"


def _as_sql(ending: dict[str, str], types: dict[str, str]) -> str:
    """The query that gives the row that ends an input, as Python source of a text."""
    parts = []
    for name, value in ending.items():
        word = {"END_OF_INPUT": "'{END_OF_INPUT}'", '""': "''", "True": "true", "False": "false"}.get(value, value)
        typed = word if word == "''" else f"CAST({word} AS {types[name]})"
        parts.append(f"{typed} AS {in_sql(name).replace('{', '{{').replace('}', '}}')}")
    return "f" + literal("SELECT " + ", ".join(parts))


def _zero(kind: pa.DataType) -> str:
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return "END_OF_INPUT"
    if pa.types.is_string(kind):
        return '""'
    return repr(arrow.zero(kind).as_py()) if not pa.types.is_decimal(kind) else "0"
