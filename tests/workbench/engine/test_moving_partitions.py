"""The recipe in docs/state.md: how a job comes to another number of partitions."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F

import generators
import workbench as wb
from workbench.session import state_store

BATCHES, STOPPED = 8, 4
JOIN = wb.IntervalJoin("0 seconds", "10 seconds", how="left")


class Job:
    """A job in plain PySpark over files, one a micro-batch, as somebody has written it."""

    def __init__(self, spark: Any, home: Any, run: Any) -> None:
        self.spark, self.home, self.run = spark.newSession(), home, run
        self.spark.conf.set(state_store.SETTING, state_store.ROCKSDB)
        self.spark.conf.set("spark.sql.session.timeZone", "UTC")
        for side in (run.left, run.right):
            (home / side.name).mkdir(parents=True)

    def arrive(self, batches: range) -> None:
        """Write the rows of some micro-batches, a file each."""
        for stream in (self.run.left, self.run.right):
            frame = stream.to_pandas()
            frame[stream.time] = frame[stream.time].dt.tz_localize("UTC")
            for batch in batches:
                name = self.home / stream.name / f"{batch:03d}.parquet"
                frame[frame["batch"] == batch].drop(columns="batch").to_parquet(name, index=False)

    def go_on(self, name: str, partitions: int, first: str = "", sink: str = "each batch") -> Any:
        """Run until all files are taken in; of those from the first of that name on."""
        self.spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
        sides = []
        for stream in (self.run.left, self.run.right):
            folder = str(self.home / stream.name)
            schema = self.spark.read.parquet(folder).schema
            found = self.spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(folder)
            if first:
                found = found.where(F.regexp_extract(F.input_file_name(), r"(\d+)\.parquet", 1) >= first)
            sides.append(found.withWatermark(stream.time, "5 seconds"))
        o, p = sides[0].alias("o"), sides[1].alias("p")
        reach = "p.paid_at BETWEEN o.ordered_at AND o.ordered_at + INTERVAL 10 SECONDS"
        joined = o.join(p, F.expr(f"o.order_id = p.order_id AND {reach}"), "left").select("o.order_id", "p.payment_id")
        writer = joined.writeStream.trigger(availableNow=True).option("checkpointLocation", str(self.home / name))
        if sink == "each batch":
            place = self.home / "output"
            writer = writer.foreachBatch(
                lambda rows, n: rows.write.mode("overwrite").parquet(f"{place}/of={name}/n={n}")
            )
        else:
            writer = writer.format("parquet").option("path", str(self.home / "files"))
        query = writer.start()
        query.awaitTermination()
        return query

    @property
    def output(self) -> list[tuple[Any, ...]]:
        """What came out so far."""
        rows = self.spark.read.parquet(str(self.home / "output")).select("order_id", "payment_id").toPandas()
        rows = rows.astype(object)
        return sorted(rows.where(rows.notna(), "").itertuples(index=False, name=None))


@pytest.fixture
def run(spark):
    """The recording of the job, whose micro-batches are its files; no row is late."""
    streams = generators.generate(
        "orders_payments", events=200, rate=2, late=0.0, seed=4, batches=BATCHES, watermark="5 seconds"
    )
    return wb.preview(JOIN, *streams, finish=False)


def partitions(query):
    return {each["numShufflePartitions"] for report in query.recentProgress for each in report["stateOperators"]}


def test_an_old_checkpoint_keeps_its_number(spark, tmp_path, run):
    """Spark takes the number from the log of offsets, whatever the session says: rows of a key are where its hash says."""
    job = Job(spark, tmp_path, run)
    job.arrive(range(STOPPED))
    assert partitions(job.go_on("checkpoint", 2)) == {2}
    job.arrive(range(STOPPED, BATCHES))
    assert partitions(job.go_on("checkpoint", 3)) == {2}


@pytest.mark.family("a checkpoint gets more partitions")
def test_by_replay(spark, tmp_path, run):
    """A new checkpoint from where the oldest row in state came; what had come out already is dropped."""
    job = Job(spark, tmp_path / "moved", run)
    job.arrive(range(STOPPED))
    job.go_on("checkpoint", 2)
    done = job.output
    since = int(run.state(STOPPED - 1)["since"].min())
    assert 0 < since < STOPPED
    job.arrive(range(STOPPED, BATCHES))
    assert partitions(job.go_on("new checkpoint", 3, f"{since:03d}")) == {3}
    straight = Job(spark, tmp_path / "straight", run)
    straight.arrive(range(BATCHES))
    straight.go_on("checkpoint", 2)
    again = job.output
    assert len(again) > len(straight.output)  # the replayed stretch came out twice
    assert sorted(set(again)) == straight.output
    assert set(done) <= set(straight.output)


@pytest.mark.family("a checkpoint gets more partitions")
def test_by_sparks_own_repartitioning(spark, tmp_path, run):
    """Spark 4.2 and later rewrite the state of a stopped query, of RocksDB only."""
    job = Job(spark, tmp_path / "moved", run)
    job.arrive(range(STOPPED))
    job.go_on("checkpoint", 2)
    job.spark._streamingCheckpointManager.repartition(str(job.home / "checkpoint"), 3)
    job.arrive(range(STOPPED, BATCHES))
    assert partitions(job.go_on("checkpoint", 2)) == {3}
    straight = Job(spark, tmp_path / "straight", run)
    straight.arrive(range(BATCHES))
    straight.go_on("checkpoint", 2)
    assert job.output == straight.output


@pytest.mark.family("a checkpoint gets more partitions")
def test_the_log_of_files_does_not_bear_sparks_repartitioning(spark, tmp_path, run):
    """The micro-batch that rewrites the state writes no rows, and so is missing when the sink compacts its log."""
    job = Job(spark, tmp_path, run)
    job.spark.conf.set("spark.sql.streaming.fileSink.log.compactInterval", "10")
    job.arrive(range(STOPPED))
    job.go_on("checkpoint", 2, sink="files")
    job.spark._streamingCheckpointManager.repartition(str(job.home / "checkpoint"), 3)
    job.arrive(range(STOPPED, BATCHES))
    with pytest.raises(StreamingQueryException, match="BATCH_METADATA_NOT_FOUND"):
        job.go_on("checkpoint", 2, sink="files")
