"""A join that somebody else wrote, in PySpark alone, over the files that `generators.write` made.

``python tests/benchmarks/plain_job.py <folder>`` runs it to the end of its input, a file of each side a micro-batch.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

SCHEMAS = {
    "orders": "order_id string, ordered_at timestamp, customer string, city string, amount double",
    "payments": "order_id string, paid_at timestamp, payment_id string, method string, paid double",
}
WITHIN = "o.order_id = p.order_id AND p.paid_at BETWEEN o.ordered_at AND o.ordered_at + INTERVAL 30 SECONDS"


def session(memory: str) -> SparkSession:
    """PySpark's defaults, but for what a job of two cores sets."""
    builder = SparkSession.builder.master("local[2]").config("spark.ui.showConsoleProgress", "false")
    settings = {
        "spark.driver.memory": memory,
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "4",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    return made


def join(spark: SparkSession, folder: Path) -> DataFrame:
    sides = [
        spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder / name))
        for name, schema in SCHEMAS.items()
    ]
    orders = sides[0].withWatermark("ordered_at", "30 seconds").alias("o")
    payments = sides[1].withWatermark("paid_at", "30 seconds").alias("p")
    return orders.join(payments, F.expr(WITHIN), "left")


def main() -> None:
    folder = Path(sys.argv[1])
    spark = session("6g")
    writer = join(spark, folder).writeStream.format("noop").option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main()
