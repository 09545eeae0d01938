"""Runs jobs in plain PySpark, for tests that open them."""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

START = 1_767_225_600  # 2026-01-01


def recorded(seed, rows=40, batches=6, keys="abc", disorder=9.0):
    """Rows of both sides by micro-batch: lists of dicts, some of them late."""
    draw = random.Random(seed)
    sides = []
    for number, (key, time, value) in enumerate((("order_id", "ordered_at", "amount"), ("oid", "paid_at", "paid"))):
        name = ("order_no", "payment_no")[number]
        found = [[] for _ in range(batches)]
        for place in range(rows):
            batch = place * batches // rows
            at = START + 1 + place * 40 / rows - max(0.0, draw.gauss(0, disorder / 2)) - 20 * (draw.random() < 0.1)
            who = None if draw.random() < 0.05 else draw.choice(keys)
            found[batch].append(
                {
                    key: who,
                    time: pd.Timestamp(round(at * 1e3), unit="ms"),
                    value: float(draw.choice([10, 30, 60])),
                    name: place,
                }
            )
        sides.append(found)
    return sides


def write(rows, folder, schema):
    """One file a micro-batch, taken in order."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for number, each in enumerate(rows):
        frame = pd.DataFrame(each, columns=list(schema))
        frame = frame.astype({name: kind for name, kind in schema.items() if not kind.startswith("datetime")})
        for name, kind in schema.items():
            if kind.startswith("datetime"):
                frame[name] = pd.to_datetime(frame[name]).dt.tz_localize("UTC").astype("datetime64[us, UTC]")
        file = f"{folder}/part-{number:03d}.parquet"
        frame.to_parquet(file, index=False)
        os.utime(file, (10**9 + number, 10**9 + number))


ORDERS = {"order_id": "object", "ordered_at": "datetime64[us]", "amount": "float64", "order_no": "int64"}
PAYMENTS = {"oid": "object", "paid_at": "datetime64[us]", "paid": "float64", "payment_no": "int64"}
DDL = (
    "order_id string, ordered_at timestamp, amount double, order_no long",
    "oid string, paid_at timestamp, paid double, payment_no long",
)


def session(spark, **settings):
    """A session of its own, with one partition, and settings whose dots are underscores here."""
    made = spark.newSession()
    for name, value in ({"shuffle_partitions": "1"} | settings).items():
        made.conf.set(f"spark.sql.{name.replace('_', '.')}", value)
    return made


def put(rows, folder):
    """The rows of both sides in a folder each; gives the folder that these are in."""
    write(rows[0], f"{folder}/orders", ORDERS)
    write(rows[1], f"{folder}/payments", PAYMENTS)
    return folder


def streams(spark, folder):
    """The streaming DataFrames of both sides."""
    names = ("orders", "payments")
    return [
        spark.readStream.schema(ddl).option("maxFilesPerTrigger", 1).parquet(f"{folder}/{name}")
        for name, ddl in zip(names, DDL, strict=True)
    ]


@dataclass
class Ran:
    """A job that ran to the end of its input."""

    checkpoint: str
    progress: list
    output: dict = field(default_factory=dict)  # micro-batch: list of rows


def run(joined, checkpoint, select=()):
    """Run a job over all that is there, and keep what comes out."""
    output = {}

    def keep(rows, number):
        output[number] = [each.asDict(recursive=True) for each in rows.collect()]

    frame = joined.select(*select) if select else joined
    writer = frame.writeStream.foreachBatch(keep).option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    return Ran(str(checkpoint), list(query.recentProgress), output)


def pairs(rows, names=("order_no", "payment_no")):
    """Rows that came out, as a multiset of the numbers in them."""
    return Counter(tuple(None if pd.isna(each.get(name)) else int(each[name]) for name in names) for each in rows)
