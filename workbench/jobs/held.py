"""What a query holds in state after a micro-batch, read by Spark's state data source; nothing is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from workbench.errors import QueryError
from workbench.literals import SIDES, Side
from workbench.reasons import tables
from workbench.spark_io.cause import spark_errors_as
from workbench.untyped import Record, Value

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = [
    "HASH_JOIN",
    "MATCHED",
    "count",
    "fields",
    "joined_rows",
    "key_width",
    "numbered",
    "only_join",
    "operators",
    "reader",
    "table",
    "unreadable",
]

_OURS = ["operator", "operator_name", "side"]
MATCHED = "__matched"
"""The column that says whether a row in state has met one of the other side; null where Spark notes that nowhere."""

_WITH_MATCHED = ("keyWithIndexToValue", "keyWithTsToValues")
"""The stores of a join, by the format of its state, that alone say which rows have met others."""

HASH_JOIN = "symmetricHashJoin"
"""What Spark calls the operator of a stream-stream join in a checkpoint."""


def operators(spark: SparkSession, address: str) -> list[tuple[int, str]]:
    """The stateful operators of a checkpoint: Spark's number of each, and its name.

    Raises
    ------
    QueryError
        If the checkpoint does not say.
    """
    with spark_errors_as("the state's operators cannot be read"):
        found = spark.read.format("state-metadata").load(address).collect()
        return sorted({(int(each.operatorId), str(each.operatorName)) for each in found})


def unreadable(batch: int) -> str:
    """How an error begins of state that Spark cannot read."""
    return f"the state after micro-batch {batch} cannot be read"


def table(spark: SparkSession, address: str, batch: int) -> pd.DataFrame:
    """What is in state after a micro-batch, as Spark has it.

    Returns
    -------
    pandas.DataFrame
        ``operator`` (Spark's number of the stateful operator) and its name ``operator_name``; ``side`` (of a join);
        the columns of the rows, those of these names as ``row_…``; of other operators their keys and values as
        ``key_…`` and ``value_…``.

    Raises
    ------
    QueryError
        If the state of that micro-batch cannot be read (any more).
    """
    found = []
    for number, name in operators(spark, address):
        parts: Record = {}
        if name == HASH_JOIN:
            sides = {side: _values(_side(spark, address, batch, side, number)) for side in SIDES}
            parts |= {side: rows.toDF(*_told_apart(rows.columns)) for side, rows in sides.items()}
        else:
            parts[""] = _flat(reader(spark, batch, operatorId=number).load(address))
        for side, rows in parts.items():
            with spark_errors_as(unreadable(batch)):
                part: pd.DataFrame = rows.toPandas()
            part = part.rename(columns=tables.renamed([*part.columns], _OURS))
            for place, (column, value) in enumerate(zip(_OURS, (number, name, side), strict=True)):
                part.insert(place, column, value)
            found.append(part)
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame({"operator": [], "operator_name": []})


def count(spark: SparkSession, address: str, batch: int, *, operator: int | None = None) -> int:
    """How many rows the join holds in state after a micro-batch, counted by Spark; of other operators their groups.

    Of several joins it is the one with Spark's number `operator`.

    Raises
    ------
    QueryError
        If the state of that micro-batch cannot be read (any more).
    """
    known = operators(spark, address)
    joins = [number for number, name in known if name == HASH_JOIN and operator in (None, number)]
    with spark_errors_as(unreadable(batch)):
        if joins:
            return sum(_side(spark, address, batch, side, number).count() for number in joins for side in SIDES)
        return sum(int(reader(spark, batch, operatorId=number).load(address).count()) for number, _ in known)


def joined_rows(spark: SparkSession, address: str, batch: int, side: Side, *, operator: int | None = None) -> DataFrame:
    """The rows of a side that a join of the checkpoint holds after a micro-batch.

    Parameters
    ----------
    spark, address, batch, side
        The session, the checkpoint's folder, the micro-batch and the side.
    operator
        Spark's number of the join; None: it is the only one.

    Returns
    -------
    pyspark.sql.DataFrame
        The columns that Spark keeps of them, as the side's plan gives them, and `MATCHED`.

    Raises
    ------
    QueryError
        If the state cannot be read, or is not that of one join.
    """
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    operator = only_join(operators(spark, address)) if operator is None else operator
    rows = next(
        filter(None, (_store(spark, address, batch, operator, f"{side}-{name}") for name in _WITH_MATCHED)), None
    )
    if rows is None:
        with spark_errors_as(unreadable(batch)):
            rows = _values(_side(spark, address, batch, side, operator))
    names = rows.columns
    if names and names[-1] == "matched":
        return rows.toDF(*names[:-1], MATCHED)
    return rows.withColumn(MATCHED, F.lit(None).cast("boolean"))


def key_width(spark: SparkSession, address: str, batch: int, *, operator: int) -> int:
    """How many columns the key has by which a join of the checkpoint holds its rows."""
    with spark_errors_as(unreadable(batch)):
        return len(fields(_side(spark, address, batch, "left", operator), "key"))


def only_join(known: Sequence[tuple[int, str]]) -> int:
    """Spark's number of the only join among the `operators` of a checkpoint.

    Raises
    ------
    QueryError
        If there is none, or there are several.
    """
    numbers = [number for number, name in known if name == HASH_JOIN]
    if len(numbers) != 1:
        raise QueryError(
            f"the checkpoint has the state of {len(numbers)} joins of two streams: say which, with join=0 for the first"
        )
    return numbers[0]


def _store(spark: SparkSession, address: str, batch: int, operator: int, name: str) -> DataFrame | None:
    """The values of one of a join's own stores; None where the state has another format."""
    try:
        state: DataFrame = reader(spark, batch, operatorId=operator, storeName=name).load(address)
    except Exception:  # noqa: BLE001 - Spark has no other way to say that there is none
        return None
    return _values(state)


def _values(state: DataFrame) -> DataFrame:
    """The values of a state in columns; of fields of one name ``value.*`` would give the last for each."""
    names = [each.name for each in fields(state, "value")]
    if len(set(names)) == len(names):
        return state.select("value.*")
    return state.select(numbered(state, "value")).select("value.*").toDF(*names)


def reader(spark: SparkSession, batch: int, **options: Value) -> Any:
    """Spark's reader of the state after a micro-batch."""
    cast(Any, spark)._jsparkSession.streams()  # what reads state asks a coordinator, which a session makes with this
    return spark.read.format("statestore").options(batchId=batch, **options)


def _side(spark: SparkSession, address: str, batch: int, side: Side, operator: int) -> DataFrame:
    return reader(spark, batch, operatorId=operator, joinSide=side).load(address)


def numbered(state: DataFrame, part: str) -> Column:
    """A struct of the state, ``key`` or ``value``, whose fields are c0, c1, …: several may have one name."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    kinds = [f"c{number}: {each.dataType.simpleString()}" for number, each in enumerate(fields(state, part))]
    return F.col(part).cast(f"struct<{', '.join(kinds)}>").alias(part)


def fields(state: DataFrame, part: str) -> list[Value]:
    """The fields of a struct of the state."""
    return list(state.schema[part].dataType.fields)  # type: ignore[attr-defined]


def _flat(state: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    columns: list[Column] = []
    for part in ("key", "value"):
        names = _told_apart([f"{part}_{each.name}" for each in fields(state, part)])
        columns += [F.col(f"{part}.c{number}").alias(name) for number, name in enumerate(names)]
    return state.select(numbered(state, "key"), numbered(state, "value")).select(*columns)


def _told_apart(names: Sequence[str]) -> list[str]:
    """Names of columns, the second of one name with ``_2``."""
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(f"{name}_{seen[name]}" if seen[name] > 1 else name)
    return found
