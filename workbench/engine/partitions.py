"""How the keys of a run fall on partitions: Spark's own hash of them, for any number of partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa

from workbench.kinds import kind_of
from workbench.literals import SIDES
from workbench.model import Shared, Simulation, common_type, on_time
from workbench.spark_io.frames import of_arrow
from workbench.untyped import Record, Value

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["COUNTS", "compared", "spread"]

COUNTS = (1, 2, 4, 8, 16, 32, 64, 200)
"""Numbers of partitions that are worth a look; 200 is Spark's default."""


def spread(simulation: Simulation, spark: SparkSession, count: int) -> pd.DataFrame:
    """How keys, and the rows that are not late, fall on so many partitions.

    Returns
    -------
    pandas.DataFrame
        One row a partition: ``partition``, ``keys``, ``rows``, ``share`` (of the rows), ``top_key`` (the one with most
        of them, as Python writes it; of rules for rows of any key the copy; NaN where there is none).
    """
    found = _placed(simulation, spark, [count])
    groups = found.groupby(f"of_{count}")
    table = pd.DataFrame({"keys": groups["key"].nunique(), "rows": groups["rows"].sum()})
    table = table.reindex(np.arange(count), fill_value=0).rename_axis("partition").reset_index()
    loads = found.groupby([f"of_{count}", "key"], as_index=False)["rows"].sum()
    top = loads.loc[loads.groupby(f"of_{count}")["rows"].idxmax()].set_index(f"of_{count}")["key"]
    table["share"] = table["rows"] / max(int(table["rows"].sum()), 1)
    shared = Shared(simulation.left, simulation.right, simulation.outcome.keys)
    words = {key: shared.named(key) if simulation.keyed else f"copy {key}" for key in top.tolist()}
    return table.assign(top_key=table["partition"].map(top.map(words)).astype(object))


def compared(simulation: Simulation, spark: SparkSession, counts: Sequence[int]) -> pd.DataFrame:
    """What several numbers of partitions would do.

    Returns
    -------
    pandas.DataFrame
        One row a number: ``partitions``; ``empty`` (how many get no row); ``largest`` (the share of the rows that the
        one with most gets); ``skew`` (how many times as many that is as if all had the same); ``key`` (the share of the
        rows that is kept together with most, below which no number of partitions brings ``largest``).
    """
    found = _placed(simulation, spark, counts)
    every = max(int(found["rows"].sum()), 1)
    key = int(found.groupby("place")["rows"].sum().max()) / every if len(found) else 0.0
    rows = []
    for count in counts:
        loads = found.groupby(f"of_{count}")["rows"].sum()
        largest = int(loads.max()) / every if len(loads) else 0.0
        rows.append((count, count - len(loads), largest, largest * count, key))
    return pd.DataFrame(rows, columns=["partitions", "empty", "largest", "skew", "key"])


def _placed(simulation: Simulation, spark: SparkSession, counts: Sequence[int]) -> pd.DataFrame:
    """What is kept together (``place``): its ``key`` (code), ``rows``, and its partition among each number of them."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    kind = kind_of(simulation.join)
    if not simulation.keyed:
        return _copies(simulation, spark, counts)
    by = ["key", "start", "end"] if kind.windowed and not kind.merging else ["key"]
    parts = []
    for number, side in enumerate(SIDES):
        mine = simulation.outcome.assignments[side]
        mine = mine[on_time(mine)]
        parts.append(mine.assign(side=number)[["side", "row", *by]])
    every = pd.concat(parts, ignore_index=True)
    groups = every.groupby(by, sort=False)
    first = every.loc[groups.head(1).index]
    found = pd.DataFrame(
        {"place": np.arange(len(first)), "key": first["key"].to_numpy(), "rows": groups.size().to_numpy()}
    )
    table = _values(simulation, first)
    names = [name for name in table.column_names if name.startswith("key_")]
    frame = of_arrow(spark, table)
    columns: list[Value] = [F.col(name) for name in names]
    if len(by) > 1:
        columns.append(F.struct(F.timestamp_micros("start").alias("start"), F.timestamp_micros("end").alias("end")))
    hashed = F.hash(*columns)
    for count in counts:
        frame = frame.withColumn(f"of_{count}", F.pmod(hashed, F.lit(count)))
    placed = frame.select("place", *(f"of_{count}" for count in counts)).toPandas()
    return found.merge(placed, on="place")


def _copies(simulation: Simulation, spark: SparkSession, counts: Sequence[int]) -> pd.DataFrame:
    """As `_placed`, where rows meet those of any key: each copy of the right rows, with its share of the left ones."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    copies = kind_of(simulation.join).right_copies(simulation.join) or 1
    left, right = (simulation.outcome.assignments[side] for side in SIDES)
    keys = simulation.left.table.select(list(simulation.left.key)).take(pa.array(left.loc[on_time(left), "row"]))
    rows = of_arrow(spark, keys.rename_columns([f"key_{n}" for n in range(keys.num_columns)]))
    of_row = F.pmod(F.xxhash64(*rows.columns), F.lit(copies))
    spread: Any = rows.groupBy(of_row.alias("place")).count().toPandas()
    places = spark.range(copies).select("id", *(F.pmod(F.hash("id"), F.lit(n)).alias(f"of_{n}") for n in counts))
    found: Value = places.toPandas()
    found = found.rename(columns={"id": "place"})
    found["rows"] = found["place"].map(spread.set_index("place")["count"]).fillna(0).astype("int64") + int(
        on_time(right).sum()
    )
    return found.assign(key=found["place"])


def _values(simulation: Simulation, first: pd.DataFrame) -> pa.Table:
    """What Spark's hash is of: the keys, in the type in which both sides are compared, and windows."""
    rows = pa.array(first["row"] + len(simulation.left) * first["side"])  # the right side's after the left one's
    columns: Record = {"place": pa.array(np.arange(len(first)))}
    for n, (mine, theirs) in enumerate(zip(simulation.left.key, simulation.right.key, strict=True)):
        left, right = simulation.left.table.column(mine), simulation.right.table.column(theirs)
        kind = common_type(left.type, right.type)
        both = pa.chunked_array([*left.cast(kind).chunks, *right.cast(kind).chunks], kind)
        columns[f"key_{n}"] = both.take(rows)
    for name in ("start", "end"):
        if name in first:
            columns[name] = pa.array(first[name].to_numpy())
    return pa.table(columns)
