"""The rows that each micro-batch of a query took in from its sources, as DataFrames that are no streams.

Each has the columns of the source, with the ids that the query's plan refers to them by, and two more: `BATCH`, the
number of the micro-batch, and `PLACE`, by which rows are told apart.
"""

from __future__ import annotations

import bisect
import itertools
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

import pyarrow as pa

from workbench.counts import counted
from workbench.errors import DataError, excerpt
from workbench.jobs import catalyst, delta, in_memory
from workbench.jobs import checkpoint as checkpoints
from workbench.jobs.addresses import elsewhere, existing, spelled, written_anew
from workbench.jobs.catalyst import Node
from workbench.jobs.checkpoint import Checkpoint
from workbench.jobs.in_memory import Written
from workbench.quoting import backticks
from workbench.spark_io.frames import of_arrow
from workbench.untyped import Value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["BATCH", "PLACE", "Taken", "are_same", "described", "folders", "leaves", "taken", "with_batches"]

BATCH, PLACE = "__batch", "__place"
_FILE = f"{BATCH}_file"
_LEAVES = ("StreamingRelation", "StreamingRelationV2", "StreamingExecutionRelation")
_FEW = 200
"""With how many addresses of files an expression is quicker than a table."""
_OF_METADATA = "__metadata_col"
"""What Spark notes of a column that it hides unless a query asks for it."""
_EARLIEST = -2  # Kafka's number of the first offset that is there


@dataclass(frozen=True)
class Taken:
    """What a source gave.

    Attributes
    ----------
    rows
        Its rows; None where they cannot be read again.
    missing
        What can no longer be read, a sentence each.
    """

    rows: DataFrame | None
    missing: tuple[str, ...]


def leaves(plan: Node) -> list[Node]:
    """The sources in a plan, in the order in which Spark numbers them."""
    return [node for node in plan.walk() if node.kind in _LEAVES]


def are_same(spark: SparkSession, one: Node, other: Node) -> bool:
    """Whether two parts of a plan read one source each, which is the same."""
    found = [[_identity(spark, each) for each in leaves(part)] for part in (one, other)]
    return len(found[0]) == 1 and found[0] == found[1]


def _identity(spark: SparkSession, source: Node) -> tuple[str, str]:
    """What a source is called, and its options."""
    if source.kind == "StreamingRelationV2":
        options = str(source.java.extraOptions().asCaseSensitiveMap().toString())
    else:
        options = str(sorted(_options(spark, source).items())) if source.kind == "StreamingRelation" else ""
    return str(source.java.toString()), options


def folders(spark: SparkSession, part: Node) -> list[str]:
    """The folders of the sources of files in a part of a plan, as they were given."""
    files = [each for each in leaves(part) if each.kind == "StreamingRelation"]
    return [path for each in files if (path := _options(spark, each).get("path")) is not None]


def taken(
    spark: SparkSession,
    checkpoint: Checkpoint,
    sources: Sequence[Node],
    zone: str = "",
    written: Written | None = None,
) -> list[Taken]:
    """The rows that the kept micro-batches took in from each source.

    Parameters
    ----------
    spark
        A session that is not Spark Connect's.
    checkpoint
        The logs.
    sources
        The sources of the whole plan, as `leaves` gives them.
    zone
        The time zone in which texts of files are read as times; empty: that of the session.
    written
        Files whose rows need not be read, as they are in memory; None: there are none.
    """
    numbers: dict[tuple[str, tuple[int, ...]], int] = {}
    found = []
    for place, source in enumerate(sources):
        name = str(source.java.toString()), tuple(source.ids)  # used twice it is one, read twice it is two
        folder = numbers.setdefault(name, len(numbers))
        offsets = [each.offsets[place] if place < len(each.offsets) else None for each in checkpoint.batches]
        others = [each for each in sources if each is not source]
        reading = _Reading(others, zone, written)
        found.append(_of(spark, checkpoint, source, folder, offsets, reading))
    return found


@dataclass(frozen=True)
class _Reading:
    """How the files of a source are read: what `taken` takes, and the other sources of its plan."""

    others: Sequence[Node]
    zone: str
    written: Written | None


def _of(
    spark: SparkSession,
    checkpoint: Checkpoint,
    source: Node,
    number: int,
    offsets: list[Value],
    reading: _Reading,
) -> Taken:
    numbers = [each.number for each in checkpoint.batches]
    from_start = numbers[0] == 0
    named = next((each for each in offsets if each is not None), None)
    if isinstance(named, dict) and named.keys() == {"logOffset"}:
        files = checkpoints.source_files(spark, checkpoint, number, own=reading.written is not None)
        return _from_files(spark, source, files, numbers, [_log_offset(each) for each in offsets], reading)
    if source.kind == "StreamingRelationV2" and isinstance(named, dict) and _is_kafka(source):
        start = checkpoints.source_start(spark, checkpoint, number) if from_start else None
        taken = _from_kafka(spark, source, numbers, offsets, start)
        return replace(taken, missing=(*taken.missing, *_other_topics(source, numbers, offsets, reading.others)))
    if named is None:
        return Taken(_none(spark, source), ())
    why = "only files, Delta tables and Kafka keep them"
    if delta.is_offset(named):
        hidden = _hidden(source)
        if source.kind == "StreamingRelation" and not hidden:
            return _from_delta(spark, source, numbers, offsets, f"{checkpoint.address}/sources/{number}")
        why = "they are read by Delta's second connector, which is not understood"
        if hidden:
            why = f"of a Delta table {hidden[0]} is not known of the micro-batches that have run"
    return Taken(None, (f"the rows of {described(source)} cannot be read again: {why}",))


def _log_offset(offset: Value) -> int:
    if offset is None:
        return -1
    if isinstance(offset, dict) and isinstance(offset.get("logOffset"), int):
        return int(offset["logOffset"])
    raise DataError(f"checkpoint: its log of offsets is damaged: {excerpt(offset)} is no offset of the file source")


def _batches(entries: Iterable[int], numbers: list[int], ends: list[int]) -> tuple[dict[int, int], int]:
    """For entries of a file source's log the micro-batch that took each in, and how many others were taken in.

    Of a job that is told from a later micro-batch on, the first only tells a start.

    Examples
    --------
    >>> _batches([0, 1, 2], [0, 1, 2], [0, 0, 3])
    ({0: 0, 1: 2, 2: 2}, 1)
    """
    start = -1 if numbers[0] == 0 else ends[0]
    up_to = list(itertools.accumulate(ends, max))
    within = {entry for entry in entries if start < entry <= up_to[-1]}
    return {each: numbers[bisect.bisect_left(up_to, each)] for each in sorted(within)}, up_to[-1] - start - len(within)


def _from_files(
    spark: SparkSession,
    source: Node,
    files: Iterable[checkpoints.SourceFile],
    numbers: list[int],
    ends: list[int],
    reading: _Reading,
) -> Taken:
    files = list(files)
    batches, dropped = _batches((each.entry for each in files), numbers, ends)
    mine = {each.path: batches[each.entry] for each in files if each.entry in batches}
    missing = [f"{dropped:,} entries of the log of {described(source)} are gone"] if dropped > 0 else []
    if reading.written is not None and not _hidden(source):
        rows = in_memory.rows(spark, _schema(source), mine, reading.written, (BATCH, PLACE))
        if rows is not None:
            return Taken(rows, tuple(missing))
    there = existing(spark, list(mine))
    if len(there) < len(mine):
        gone = [each for each in mine if each not in there]
        missing.append(f"{len(gone):,} of {len(mine):,} files of {described(source)} are gone, such as {gone[0]}")
    if not there:
        return Taken(_none(spark, source), tuple(missing))
    written = {each.path: each.written for each in files}
    if anew := written_anew(spark, {each: written[each] for each in there}):
        were, them = ("was", "it") if len(anew) == 1 else ("were", "them")
        missing.append(
            f"{counted(len(anew), 'file')} of {described(source)} {were} rewritten after the job had read {them}, "
            f"such as {anew[0]}: the rows shown are the current ones"
        )
    folder = _options(spark, source).get("path")
    apart = [] if folder is None else elsewhere(spark, there, folder)
    if apart:
        always = len(apart) == len(there)
        missing.append(_other_folder(spark, source, {each: mine[each] for each in apart}, reading.others, always))
    within = [each for each in there if each not in set(apart)]
    groups = [
        _read(spark, source, each, base, reading.zone) for each, base in ((within, folder), (apart, None)) if each
    ]
    rows = reduce(lambda one, other: one.unionByName(other), groups)
    rows = with_batches(rows, {each: mine[each] for each in there})
    return Taken(_numbered(rows, source), tuple(missing))


def _options(spark: SparkSession, source: Node) -> dict[str, str]:
    """The options of a source of files."""
    return catalyst.texts(spark, source.java.dataSource().options())


def _read(spark: SparkSession, source: Node, files: Sequence[str], base: str | None, zone: str) -> DataFrame:
    """The rows of some files as a source reads them, `base` being the folder whose names are values of columns."""
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    options = {name: text for name, text in _options(spark, source).items() if name.lower() != "path"}
    if base:
        options["basePath"] = base
    if zone and not any(name.lower() == "timezone" for name in options):
        options["timeZone"] = zone  # the session's may be another one by now
    options["__globPaths__"] = "false"  # names of files may have characters of a pattern
    about = source.java.dataSource()
    reader = spark.read.format(str(about.className())).schema(_schema(source)).options(**options)
    rows = reader.load([unquote(each) for each in files])
    for name in _hidden(source):  # named, they stay when the rows of several readers are united
        rows = rows.withColumn(name, F.col(name))
    return rows.withColumn(_FILE, F.col("_metadata.file_path"))


def _other_folder(
    spark: SparkSession, source: Node, files: Mapping[str, int], others: Sequence[Node], always: bool
) -> str:
    """What is said of files that a source took in and that do not lie in its folder, by their micro-batches."""
    folders = [_options(spark, each).get("path") for each in others if each.kind == "StreamingRelation"]
    swapped = any(len(elsewhere(spark, list(files), each)) < len(files) for each in folders if each)
    lie, changed = "lies" if len(files) == 1 else "lie", "its sides swapped" if swapped else "another folder"
    return (
        f"{counted(len(files), 'file')} that {_from_to(files.values())} took in for {described(source)} {lie} in "
        f"another folder, such as {next(iter(files))}: {_restarted(changed, always)}"
    )


def _from_to(batches: Collection[int]) -> str:
    """Micro-batches in words, by the first and the last."""
    first, last = min(batches), max(batches)
    return f"micro-batch {first}" if first == last else f"micro-batches {first} to {last}"


def _restarted(changed: str, always: bool = False) -> str:
    """What is said of rows that come from where a source does not read now, some of them or all."""
    other = ", or joined is not the code that it ran" if always else ""
    return (
        f"the query was restarted on this checkpoint with {changed}{other}, and their rows belong to the side into "
        "which Spark took them, under the join of joined"
    )


def with_batches(rows: DataFrame, batches: Mapping[str, int]) -> DataFrame:
    """Rows of files with `BATCH`, the micro-batch of each; those of other files are left out.

    Parameters
    ----------
    rows
        As Spark's reader of files gives them.
    batches
        The micro-batch of each file, by its address as a log of Spark's has it.
    """
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    if not batches:
        return rows.where(F.lit(False)).withColumn(BATCH, F.lit(0).cast("long"))
    known_as = {other: batch for path, batch in batches.items() for other in _spellings(path)}
    if len(known_as) <= _FEW:  # two thirds of the time of a join, which makes a query of its own of the table
        numbers = F.create_map(*(F.lit(each) for pair in known_as.items() for each in pair))
        named = rows if _FILE in rows.columns else rows.withColumn(_FILE, F.col("_metadata.file_path"))
        return (
            named.withColumn(BATCH, F.try_element_at(numbers, F.col(_FILE)).cast("long"))
            .dropna(subset=[BATCH])
            .drop(_FILE)
        )
    table = pa.table({_FILE: list(known_as), BATCH: pa.array(known_as.values(), pa.int64())})
    known = of_arrow(rows.sparkSession, table)
    named = rows if _FILE in rows.columns else rows.withColumn(_FILE, F.col("_metadata.file_path"))
    return named.join(F.broadcast(known), _FILE).drop(_FILE)


def _spellings(path: str) -> set[str]:
    """A file's address in all ways in which Spark writes it: with one slash or three, its characters escaped or not."""
    plain = {spelled(each) for each in (path, unquote(path))}
    return plain | {re.sub("^file:/", "file:///", each) for each in plain}


def _from_delta(spark: SparkSession, source: Node, numbers: list[int], offsets: list[Value], folder: str) -> Taken:
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    spans, before = [], None
    for place, (number, each) in enumerate(zip(numbers, offsets, strict=True)):
        told = place > 0 or number == 0  # the first kept one only tells a start
        if told and each is not None and each != before:
            spans.append(delta.Span(number, before, each))
        before = each or before
    if not spans:
        return Taken(_none(spark, source), ())
    found, missing = delta.micro_batches(spark, source, described(source), spans, folder)
    if found is None:
        return Taken(None, tuple(missing))
    rows = [each.withColumn(BATCH, F.lit(number).cast("long")) for number, each in found]
    if not rows:
        return Taken(_none(spark, source), tuple(missing))
    return Taken(_numbered(reduce(lambda one, other: one.unionByName(other), rows), source), tuple(missing))


def _is_kafka(source: Node) -> bool:
    return "kafka" in str(source.java.sourceName()).lower()


def _from_kafka(spark: SparkSession, source: Node, numbers: list[int], offsets: list[Value], start: Any) -> Taken:
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    options = dict(source.java.extraOptions())
    reads: list[tuple[str, int, int, int, int]] = []
    before = start if start is not None else offsets[0]
    for number, each in zip(numbers, offsets, strict=True):
        for topic, partitions in (each or {}).items():
            for partition, end in partitions.items():
                begin = (before or {}).get(topic, {}).get(partition, _EARLIEST if number else 0)
                if end > begin:
                    reads.append((topic, int(partition), max(begin, 0), end, number))
        before = each or before
    if not reads:
        return Taken(_none(spark, source), ())
    first, last = _ends(reads, 2, min), _ends(reads, 3, max)
    kept = {name: text for name, text in options.items() if not name.lower().startswith(("starting", "ending"))}
    kept = {name: text for name, text in kept.items() if name.lower() not in ("failondataloss", "subscribepattern")}
    kept = {name: text for name, text in kept.items() if name.lower() not in ("subscribe", "assign")}
    kept["assign"] = json.dumps({topic: [int(each) for each in partitions] for topic, partitions in last.items()})
    reader = spark.read.format("kafka").options(**kept).option("failOnDataLoss", "false")
    rows = reader.option("startingOffsets", json.dumps(first)).option("endingOffsets", json.dumps(last)).load()
    names = [f"{BATCH}_{each}" for each in ("topic", "partition", "from", "to")]
    known = spark.createDataFrame(
        reads,
        f"`{names[0]}` string, `{names[1]}` int, `{names[2]}` long, `{names[3]}` long, `{BATCH}` long",
    )
    on = (F.col("topic") == F.col(names[0])) & (F.col("partition") == F.col(names[1]))
    on = on & (F.col("offset") >= F.col(names[2])) & (F.col("offset") < F.col(names[3]))
    rows = rows.join(F.broadcast(known), on)
    there = rows.groupBy("topic").count().collect()
    missing = []
    expected = sum(end - begin for _, _, begin, end, _ in reads)
    count = sum(each["count"] for each in there)
    if count < expected:
        missing.append(
            f"{expected - count:,} of {expected:,} offsets of {described(source)} have no record any more (expired, "
            "compacted, or markers of transactions)"
        )
    return Taken(_numbered(rows, source), tuple(missing))


def _other_topics(source: Node, numbers: list[int], offsets: list[Value], others: Sequence[Node]) -> list[str]:
    """What is said of topics that a source read and to which it is not subscribed, a sentence or none."""
    subscribed = _topics(source)
    if not subscribed:  # a pattern, of Java's
        return []
    read = {number: (each or {}).keys() - subscribed for number, each in zip(numbers, offsets, strict=True)}
    foreign = [number for number, topics in read.items() if topics]
    if not foreign:
        return []
    topics = sorted(set().union(*read.values()))
    swapped = any(_topics(each) & set(topics) for each in others if each.kind == "StreamingRelationV2")
    return [
        f"the log has offsets of {' and '.join(topics)} for {_from_to(foreign)}, to which {described(source)} is not "
        f"subscribed: {_restarted('its sides swapped' if swapped else 'another topic')}"
    ]


def _topics(source: Node) -> set[str]:
    """The topics that a source of Kafka is told by their names."""
    options = {name.lower(): text for name, text in dict(source.java.extraOptions()).items()}
    if "subscribe" in options:
        return {each.strip() for each in options["subscribe"].split(",")}
    return set(json.loads(options["assign"])) if "assign" in options else set()


def _ends(reads: list[tuple[str, int, int, int, int]], place: int, which: Any) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for each in reads:
        partitions = found.setdefault(each[0], {})
        name, value = str(each[1]), int(each[place])
        partitions[name] = which(partitions.get(name, value), value)
    return found


def _schema(source: Node) -> StructType:
    """The columns of a source's rows."""
    from pyspark.sql.types import StructType  # when needed: PySpark is slow to import

    return StructType([each for each in _all_columns(source).fields if _OF_METADATA not in each.metadata])


def _all_columns(source: Node) -> StructType:
    from pyspark.sql.types import StructType  # when needed: PySpark is slow to import

    return StructType.fromJson(json.loads(source.java.schema().json()))


def _none(spark: SparkSession, source: Node) -> DataFrame:
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    rows = spark.createDataFrame([], _all_columns(source))
    return _numbered(rows.withColumn(BATCH, F.lit(0).cast("long")), source)


def _hidden(source: Node) -> list[str]:
    """The columns that a plan asks of a source beside those of its rows: ``_metadata``, of files and Delta tables."""
    return [each.name for each in _all_columns(source).fields if _OF_METADATA in each.metadata]


def _numbered(rows: DataFrame, source: Node) -> DataFrame:
    from pyspark.sql import functions as F  # when needed: PySpark is slow to import

    names = [*(each.name for each in _schema(source).fields), *_hidden(source)]
    quoted = [F.col(backticks(each)) for each in names]
    return rows.select(*quoted, F.col(BATCH), F.monotonically_increasing_id().alias(PLACE))


def described(source: Node) -> str:
    """A source in words: its kind, and its folder, topic or table."""
    if source.kind == "StreamingRelation":
        name, place = str(source.java.sourceName()), source.java.dataSource().options().get("path")
        return name if "[" in name or place.isEmpty() else f"{name} {place.get()}"
    options = dict(source.java.extraOptions()) if source.kind == "StreamingRelationV2" else {}
    found = options.get("subscribe") or options.get("subscribePattern") or options.get("path") or ""
    name = str(source.java.sourceName()) if source.kind == "StreamingRelationV2" else str(source.java.source())
    return f"{name} {found}".strip() if not found or urlparse(found).password is None else name
