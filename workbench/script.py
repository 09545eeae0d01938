"""The exported PySpark script: the run's plan, with a reader, a sink and arguments around it. It needs PySpark only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import black

from workbench import _arrow, plan
from workbench.joins import Join
from workbench.plan import Names
from workbench.plan._names import ENVIRONMENT, Side, literal
from workbench.streams import Stream

if TYPE_CHECKING:
    import pyarrow as pa


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _micros(name: str) -> str:
    """Python source of the SQL for a column of nanoseconds in microseconds, towards the past."""
    return literal(f"({_quoted(name)} - pmod({_quoted(name)}, 1000)) div 1000")


ENVIRONMENT.filters["micros"] = _micros

_TEMPLATE = ENVIRONMENT.from_string('''
"""Join two streams: {{ left.var }} with {{ right.var }}.

{{ description }}

Rows out: Parquet files in --output, written exactly once (Spark's file sink keeps a log of them beside the checkpoint).
Run it with `python {{ file }}` or `spark-submit {{ file }}`; `--help` lists the arguments.
"""

from __future__ import annotations

import argparse
{% if data %}
from pathlib import Path
{% endif %}

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

{% for side in sides %}
{{ side.constant }}_SCHEMA = ", ".join(
    [
{% for column in side.schema %}
        {{ column }},
{% endfor %}
    ]
)
{% endfor %}
{% if finish %}

# Spark has no end of input: what is open when a query stops stays in its state. So the script ends each input with one
# row after everything else. The watermark follows it and closes every window; the plan takes it out again.
END_OF_INPUT = "{{ end }}"
{% for side in sides %}
END_OF_{{ side.constant }} = {{ side.ending }}
{% endfor %}
{% endif %}


{{ code }}


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description={{ title | literal }})
{% for side in sides %}
    parser.add_argument("--{{ side.option }}", default={{ side.default }}, help="folder of {{ side.format }} files, one micro-batch each, by modification time")
{% endfor %}
    parser.add_argument("--output", default="output", help="folder for the joined rows, as Parquet")
    parser.add_argument("--checkpoint", default="checkpoint", help="folder for offsets and state; a restart goes on from there")
    parser.add_argument("--shuffle-partitions", default="2", help="state stores a side; fixed by the first run of a checkpoint")
    return parser.parse_args()


{% if finish %}
def read(spark: SparkSession, folder: str, schema: str, file_format: str, files: int, end: str) -> DataFrame:
    """A folder of files as a stream, and behind it the folder of the row that ends it."""
    spark.createDataFrame([], schema).write.mode("ignore").parquet(end)
    rows = spark.readStream.schema(schema).option("maxFilesPerTrigger", files){{ header }}
    return rows.format(file_format).load(folder).union(spark.readStream.schema(schema).parquet(end))


def end_input(spark: SparkSession, schema: str, values: dict[str, object], end: str) -> None:
    """Write the one row that ends an input: a time after everything, and a key that is not null."""
    columns = spark.createDataFrame([], schema).schema
    row = [F.lit(values.get(column.name)).cast(column.dataType).alias(column.name) for column in columns]
    spark.range(1).select(row).write.mode("overwrite").parquet(end)
{% else %}
def read(spark: SparkSession, folder: str, schema: str, file_format: str, files: int) -> DataFrame:
    """A folder of files as a stream."""
    rows = spark.readStream.schema(schema).option("maxFilesPerTrigger", files){{ header }}
    return rows.format(file_format).load(folder)
{% endif %}


def main() -> None:
    args = parse_args()
    spark = (
        SparkSession.builder.appName({{ title | literal }})
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", args.shuffle_partitions)
        .config("spark.sql.streaming.multipleWatermarkPolicy", "{{ policy }}")
        .getOrCreate()
    )
{% if finish %}
{% for side in sides %}
    {{ side.var }}_end = f"{args.checkpoint}/end-of-input/{{ side.option }}"
{% endfor %}
{% endif %}
{% for side in sides %}
    {{ side.var }} = read(spark, args.{{ side.argument }}, {{ side.constant }}_SCHEMA, "{{ side.format }}", {{ side.files }}{% if finish %}, {{ side.var }}_end{% endif %})
{% if side.nanos %}
    # these files hold nanoseconds, which Spark reads as numbers only
{% for name in side.nanos %}
    {{ side.var }} = {{ side.var }}.withColumn({{ name | literal }}, F.timestamp_micros(F.expr({{ name | micros }})))
{% endfor %}
{% endif %}
{% endfor %}
    writer = (
        join_streams({{ left.var }}, {{ right.var }})
        .writeStream.format("parquet")
        .option("path", args.output)
        .option("checkpointLocation", args.checkpoint)
        .outputMode("append")
        .trigger(availableNow=True)
    )
    writer.start().awaitTermination()
{% if finish %}
{% for side in sides %}
    end_input(spark, {{ side.constant }}_SCHEMA, END_OF_{{ side.constant }}, {{ side.var }}_end)
{% endfor %}
    writer.start().awaitTermination()
{% endif %}
    spark.stop()


if __name__ == "__main__":
    main()
''')


def render(
    join: Join, left: Stream, right: Stream, finish: bool = True, policy: str = "min", file: str = "join.py"
) -> str:
    """The script as text.

    Parameters
    ----------
    join, left, right, finish, policy
        As in `workbench.run`.
    file
        The script's own name, for its help.
    """
    names = Names.of(left, right)
    sides = [_side(*each) for each in ((names.left, left), (names.right, right))]
    csv = any(stream.format == "csv" and stream.path is not None for stream in (left, right))
    text = _TEMPLATE.render(
        left=names.left,
        right=names.right,
        sides=sides,
        description=_description(join, policy, names),
        title=f"{names.left.var} with {names.right.var}",
        file=file,
        data=any(stream.path is None for stream in (left, right)),
        code=plan.render(join, left, right, finish),
        finish=finish,
        policy=policy,
        end=_arrow.END_OF_INPUT.tz_localize("UTC").isoformat(),
        header='.option("header", True)' if csv else "",
    )
    return black.format_str(text, mode=black.Mode(line_length=100))


def _side(side: Side, stream: Stream) -> dict[str, Any]:
    """What the template needs to know of a side."""
    from pyspark.sql.pandas.types import from_arrow_schema

    columns = [
        f"{each.name if re.fullmatch('[A-Za-z_][A-Za-z0-9_]*', each.name) else _quoted(each.name)} "
        f"{'bigint' if each.name in stream.nanos else each.dataType.simpleString()}"
        for each in from_arrow_schema(stream.table.schema)
    ]
    default = literal(stream.path) if stream.path else f'str(Path(__file__).parent / "data" / "{side.var}")'
    return {
        "var": side.var,
        "constant": side.var.upper(),
        "option": side.var.replace("_", "-"),
        "argument": side.var,
        "schema": [literal(column) for column in columns],
        "default": default,
        "format": stream.format if stream.path else "parquet",
        "files": stream.max_files,
        "nanos": stream.nanos,
        "ending": _ending(stream),
    }


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


def _description(join: Join, policy: str, names: Names) -> str:
    """The settings in words; no user text but the identifiers made of the streams' names."""
    from workbench import times

    delays = " and ".join(f"{times.text(side.delay)} ({side.var})" for side in (names.left, names.right))
    return f"{join!r}\nWatermark delays: {delays}; the query's watermark is the {policy}imum of the two."
