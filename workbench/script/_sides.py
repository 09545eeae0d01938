"""What the script's templates ask of a side, whatever its source is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from workbench.plan.names import SideNames, literal, quoted
from workbench.script._places import Source
from workbench.sources import arrow
from workbench.sources.kafka import KAFKA_COLUMNS
from workbench.streams import Stream

if TYPE_CHECKING:
    import pyarrow as pa


def side(names: SideNames, stream: Stream, source: Source, data: str) -> dict[str, Any]:
    """The names and literals of one side, each as Python source; `data` is the folder of recordings."""
    columns = source.columns(stream)
    return {
        "var": names.var,
        "constant": names.var.upper(),
        "option": names.option,
        "schema": [literal(f"{quoted(name)} {spark_type}") for name, spark_type in source.schema(stream).items()],
        "columns": ", ".join(map(literal, columns)),
        "made_for": json.dumps({"key": stream.key, "time": stream.time, "columns": columns}),
        "time": stream.time,
        "ending": _ending(stream),
        **source.variables(stream, names.var, data),
    }


def meta(left: Stream, right: Stream) -> dict[str, str]:
    """The columns that are of a Kafka message rather than its value, as Python source."""
    return {
        name: column.spark
        for name, column in KAFKA_COLUMNS.items()
        if any(name in stream.table.column_names for stream in (left, right))
    }


def _ending(stream: Stream) -> str:
    """The row that ends an input, as Python source of a dict."""
    values = {key: _zero(stream.table.schema.field(key).type) for key in stream.key} | {stream.time: "END_OF_INPUT"}
    nanos = stream.source.as_files().nanos
    values |= {name: str(arrow.END_OF_INPUT.value) for name in values if name in nanos}
    return "{" + ", ".join(f"{literal(name)}: {value}" for name, value in values.items()) + "}"


def _zero(kind: pa.DataType) -> str:
    import pyarrow as pa

    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return "END_OF_INPUT"
    return repr(arrow.zero(kind).as_py()) if not pa.types.is_decimal(kind) else "0"
