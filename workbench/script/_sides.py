"""What the script's templates need to know of a side."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from workbench import _arrow
from workbench.plan._names import Side, literal, quoted
from workbench.script._places import Places
from workbench.streams import KAFKA_COLUMNS, Stream

if TYPE_CHECKING:
    import pyarrow as pa


def side(names: Side, stream: Stream, places: Places) -> dict[str, Any]:
    """The names and literals of one side, each as Python source."""
    of_files = places.source == "files"
    types = columns(stream, of_files)
    return {
        "var": names.var,
        "constant": names.var.upper(),
        "option": names.var.replace("_", "-"),
        "schema": [literal(f"{quoted(name)} {kind}") for name, kind in types.items()],
        "columns": ", ".join(map(literal, types)),
        "made_for": json.dumps({"key": stream.key, "time": stream.time, "columns": types}),
        "time": stream.time,
        "default": literal(stream.path) if stream.path else f'str(Path(__file__).parent / "data" / "{names.var}")',
        "place": json.dumps(stream.path or f"data/{names.var}"),
        "format": stream.format if stream.path else "parquet",
        "files": stream.max_files,
        "nanos_source": f"({', '.join(map(literal, stream.nanos))},)" if of_files and stream.nanos else "",
        "ending": _ending(stream),
        "avro": json.dumps(avro(stream, names.var)) if places.source == "kafka-avro" else "",
    }


def columns(stream: Stream, of_files: bool) -> dict[str, str]:
    """The columns and their types in Spark's words; of a topic, those that its values hold."""
    from pyspark.sql.pandas.types import from_arrow_schema

    types = {each.name: each.dataType.simpleString() for each in from_arrow_schema(stream.table.schema)}
    if of_files:
        return types | dict.fromkeys(stream.nanos, "bigint")
    return {name: kind for name, kind in types.items() if name not in KAFKA_COLUMNS}


def meta(left: Stream, right: Stream) -> dict[str, str]:
    """The columns that are of a Kafka message rather than its value, as Python source."""
    return {
        name: column
        for name, column in KAFKA_COLUMNS.items()
        if any(name in stream.table.column_names for stream in (left, right))
    }


_AVRO = {"string": "string", "bigint": "long", "int": "int", "smallint": "int", "tinyint": "int", "double": "double"}
_AVRO |= {"float": "float", "boolean": "boolean", "binary": "bytes"}


def avro(stream: Stream, name: str) -> dict[str, Any]:
    """The Avro schema of a topic's values: every field may be null; timestamps in microseconds."""
    fields = []
    for column, kind in columns(stream, of_files=False).items():
        logical: Any = _AVRO.get(kind, "string")
        if kind.startswith("timestamp"):
            logical = {"type": "long", "logicalType": "timestamp-micros"}
        elif kind == "date":
            logical = {"type": "int", "logicalType": "date"}
        fields.append({"name": column, "type": ["null", logical], "default": None})
    return {"type": "record", "name": name, "fields": fields}


def _ending(stream: Stream) -> str:
    """The row that ends an input, as Python source of a dict."""
    values = {key: _zero(stream.table.schema.field(key).type) for key in stream.key} | {stream.time: "END_OF_INPUT"}
    values |= {name: str(_arrow.END_OF_INPUT.value) for name in values if name in stream.nanos}
    return "{" + ", ".join(f"{literal(name)}: {value}" for name, value in values.items()) + "}"


def _zero(kind: pa.DataType) -> str:
    import pyarrow as pa

    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return "END_OF_INPUT"
    return repr(_arrow.zero(kind).as_py()) if not pa.types.is_decimal(kind) else "0"
