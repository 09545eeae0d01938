"""The same joins as somebody would write them in PySpark, without the workbench.

``python tests/benchmarks/by_hand.py <folder> <kind>`` runs one over recorded files with PySpark's defaults, on two
cores, and prints its seconds.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

END = "2261-01-01"  # of the rows that end a recording: after everything


def join(kind: str, left: DataFrame, right: DataFrame) -> DataFrame:
    sides = [prepared(kind, name, side) for name, side in (("left", left), ("right", right))]
    same = F.col("left_key") == F.col("right_key")
    if kind == "tumbling":
        return sides[0].join(sides[1], same & (F.col("left_window") == F.col("right_window"))).drop("right_window")
    near = F.expr("right_t >= left_t - INTERVAL 5 SECONDS AND right_t <= left_t + INTERVAL 5 SECONDS")
    return sides[0].join(sides[1], same & near)


def prepared(kind: str, name: str, side: DataFrame) -> DataFrame:
    renamed = side.withColumnsRenamed({column: f"{name}_{column}" for column in side.columns})
    if kind != "tumbling":
        return renamed.withWatermark(f"{name}_t", "5 seconds").where(F.col(f"{name}_t") < END)
    return (
        renamed.withColumn("event_time", F.col(f"{name}_t"))
        .withWatermark("event_time", "5 seconds")
        .where(F.col("event_time") < END)
        .withColumn(f"{name}_window", F.window("event_time", "10 seconds"))
        .drop("event_time")  # a sink takes one column with a watermark
    )


def run(spark: SparkSession, recording: Path, kind: str) -> float:
    """Seconds that the query took; what it wrote is removed."""
    schema = StructType.fromDDL("key bigint, t timestamp, value double, __row bigint")
    with tempfile.TemporaryDirectory(dir=recording.parent) as home:
        begun = time.perf_counter()
        sides = [
            spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(recording / side))
            for side in ("left", "right")
        ]
        writer = (
            join(kind, *sides)
            .writeStream.format("parquet")
            .option("path", f"{home}/output")
            .option("checkpointLocation", f"{home}/checkpoint")
            .trigger(availableNow=True)
        )
        writer.start().awaitTermination()
        return time.perf_counter() - begun


def main() -> None:
    spark = SparkSession.builder.master("local[2]").config("spark.ui.showConsoleProgress", "false").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    print(run(spark, Path(sys.argv[1]), sys.argv[2]))
    spark.stop()


if __name__ == "__main__":
    main()
