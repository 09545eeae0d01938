"""What a running join's state survives: ``python schema_changes.py FOLDER`` prints, for each change, what Spark does.

Plain PySpark, so that it runs on each version. A join takes one row of each side and is stopped; the left stream's columns
are changed; the join goes on from its checkpoint with a right row that meets the left row in state.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
PACKAGE = "org.apache.spark.sql.execution.streaming.state"
STORES = {"in memory": "HDFSBackedStateStoreProvider", "RocksDB": "RocksDBStateStoreProvider"}
BEFORE = "k long, t timestamp, a int, f float, b string"
CHANGES = {
    "nothing": BEFORE,
    "a nullable column added at the end": f"{BEFORE}, c string",
    "a nullable column added in the middle": "k long, t timestamp, c string, a int, f float, b string",
    "a column removed": "k long, t timestamp, a int, f float",
    "a column renamed": BEFORE.replace("b string", "b2 string"),
    "columns in another order": "k long, t timestamp, b string, f float, a int",
    "int to bigint": BEFORE.replace("a int", "a long"),
    "float to double": BEFORE.replace("f float", "f double"),
    "int to string": BEFORE.replace("a int", "a string"),
    "the key's bigint to string": BEFORE.replace("k long", "k string"),
}
RIGHT = "k long, t timestamp, n int"
OLD = {"a": 7, "f": 0.5, "b": "old"}


def main(folder: Path) -> None:
    """Try each change with each store."""
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    found: dict[str, dict[str, str]] = {}
    for store, name in STORES.items():
        spark.conf.set(PROVIDER, f"{PACKAGE}.{name}")
        for place, (change, after) in enumerate(CHANGES.items()):
            home = folder / f"{name}-{place}"
            found.setdefault(change, {})[store] = _tried(spark, home, after)
    print(json.dumps({"spark": spark.version, "found": found}))


def _tried(spark: SparkSession, home: Path, after: str) -> str:
    _write(spark, home / "left", BEFORE, {"k": 1, "t": 10, **OLD})
    _write(spark, home / "right", RIGHT, {"k": 2, "t": 10, "n": 1})
    _run(spark, home, "before", BEFORE)
    _write(spark, home / "left", after, {"k": 3, "t": 11, "a": 8, "f": 1.5, "b": "new", "b2": "new", "c": "new"})
    _write(spark, home / "right", RIGHT, {"k": 1, "t": 11, "n": 2})
    try:
        _run(spark, home, "after", after)
    except Exception as error:  # noqa: BLE001 - which one is what is asked for
        conditions = [each for each in re.findall(r"\[([A-Z][A-Z_.0-9]{7,})\]", str(error)) if each != "STREAM_FAILED"]
        return f"refused: {conditions[-1]}" if conditions else f"refused: {type(error).__name__}"
    rows = [row.asDict() for row in spark.read.parquet(f"{home}/after/*.parquet").collect()]
    if len(rows) != 1:
        return f"goes on, and gives {len(rows)} rows for 1"
    if rows[0].get("b2") == OLD["b"]:
        return "goes on; values in state go by the new name"
    kept = {name: value for name, value in OLD.items() if name in rows[0]}
    given = {name: float(rows[0][name]) if name in "af" else rows[0][name] for name in kept}
    if given != kept:
        return "goes on, with wrong values"
    missing = [name for name in ("c", "b2") if rows[0].get(name, "") is None]
    return "goes on; rows in state have null there" if missing else "goes on"


def _write(spark: SparkSession, folder: Path, schema: str, row: dict[str, object]) -> None:
    types = dict(each.split() for each in schema.split(", "))
    values = [F.timestamp_seconds(F.lit(row[n])) if kind == "timestamp" else F.lit(row[n]) for n, kind in types.items()]
    columns = [value.cast(kind).alias(name) for (name, kind), value in zip(types.items(), values, strict=True)]
    spark.range(1).select(*columns).write.mode("append").parquet(str(folder))


def _run(spark: SparkSession, home: Path, output: str, schema: str) -> None:
    left, right = (
        spark.readStream.schema(columns).parquet(str(home / side)).withWatermark("t", "1 hour")
        for side, columns in (("left", schema), ("right", RIGHT))
    )
    on = F.expr("cast(l.k as bigint) = r.k and r.t between l.t - interval 5 seconds and l.t + interval 5 seconds")
    if "k string" in schema:
        on = F.expr("l.k = cast(r.k as string) and r.t between l.t - interval 5 seconds and l.t + interval 5 seconds")
    joined = left.alias("l").join(right.alias("r"), on).select("l.*", "r.n")
    writer = joined.writeStream.format("parquet").trigger(availableNow=True)
    writer.option("checkpointLocation", str(home / "checkpoint")).start(str(home / output)).awaitTermination()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
