"""What a query's checkpoint says of its micro-batches: offsets, watermarks, files. It is read, never written to.

The folders ``offsets`` and ``commits`` have a file for each micro-batch, of which Spark keeps the last 100 by default;
``sources`` has what a source notes by itself: the file source its files, Kafka's the offsets that it began with.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from workbench.errors import ArgumentError, DataError, QueryError, wrong
from workbench.literals import Policy
from workbench.sources.arrow import END_OF_INPUT
from workbench.spark_io.cause import spark_errors_as
from workbench.spark_io.storage import HadoopFiles
from workbench.untyped import Value

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from workbench.jobs.catalyst import Node

__all__ = [
    "POLICY",
    "Checkpoint",
    "Files",
    "MicroBatch",
    "SourceFile",
    "check_local",
    "ended",
    "newest",
    "read",
    "source_files",
    "source_start",
]

LATEST = END_OF_INPUT.value // 1_000
"""The latest watermark that is told apart, in microseconds: a later one is taken for it."""
POLICY = "spark.sql.streaming.multipleWatermarkPolicy"
"""The setting for which of two watermarks is the query's."""
_TRIES = 3
_VERSIONS = ("v1", "v2")
_NUMBER = re.compile("0|[1-9][0-9]{0,17}")
"""What Spark calls the file of a micro-batch."""
T = TypeVar("T")


@dataclass(frozen=True)
class MicroBatch:
    """A micro-batch as the log of offsets has it.

    Attributes
    ----------
    number
        Spark's number of it.
    watermark
        The watermark it ran under, in microseconds since 1970-01-01 UTC.
    started
        When it was planned, in milliseconds since 1970-01-01 UTC.
    offsets
        For each source, in the order of the plan, up to where it read; None where it had nothing yet.
    committed
        Whether it has ended.
    """

    number: int
    watermark: int
    started: int
    offsets: tuple[Value, ...]
    committed: bool


@dataclass(frozen=True)
class Checkpoint:
    """The logs of a checkpoint.

    Attributes
    ----------
    address
        Its folder.
    query
        The id of the query.
    policy
        With two watermarks, the query's is their ``min`` or their ``max``.
    settings
        The settings that the query keeps for as long as it lives.
    batches
        The micro-batches that are still in the logs, in order, without gaps.
    operators
        Spark's numbers of the joins of a plan that has several; empty: there is one.
    next_watermark
        The watermark after the last micro-batch that has ended, in microseconds; None where the log does not say.
    gap
        What is said where an earlier file of the log of offsets is gone, and others before it are there.
    """

    address: str
    query: str
    policy: Policy
    settings: Mapping[str, str] = field(repr=False)
    batches: tuple[MicroBatch, ...] = field(repr=False)
    operators: Mapping[Node, int] = field(default_factory=dict, repr=False)
    next_watermark: int | None = None
    gap: str = ""

    @property
    def watermarks(self) -> list[int]:
        """The watermark of each micro-batch, in microseconds, and of the one that would follow, if that is known."""
        known = [each.watermark for each in self.batches]
        return known if self.next_watermark is None else [*known, self.next_watermark]


@dataclass(frozen=True)
class SourceFile:
    """A file that the file source took in.

    Attributes
    ----------
    path
        Its address, as the log writes it.
    entry
        The entry of the source's log, to which offsets refer.
    written
        When it had been written then, in milliseconds since 1970-01-01 UTC.
    """

    path: str
    entry: int
    written: int


def check_local(address: str, plain: bool) -> None:
    """Say what is wrong with a folder of this machine as `read` says it, and before there is a Spark.

    Parameters
    ----------
    address
        The folder, as Spark finds it. Of one that may be elsewhere nothing is said.
    plain
        Whether an address without a scheme is of this machine, too.

    Raises
    ------
    ArgumentError
        If there is no such folder, or it has no offsets.
    """
    address = address.rstrip("/")
    folder = _local(address, plain)
    try:
        if folder is None:
            return
        if not folder.exists():
            raise _not_there(address)
        offsets = folder / "offsets"
        if not offsets.exists() or not any(_NUMBER.fullmatch(each.name) for each in offsets.iterdir()):
            raise _without_offsets(address)
    except OSError:  # Spark says why it cannot be read
        return


def _local(address: str, plain: bool) -> Path | None:
    """The folder of this machine that an address is of, as Hadoop reads it; None: not known."""
    path = address
    if os.name == "nt":  # where an address may begin with a drive
        return None
    if address.startswith("file:/"):
        path = address.removeprefix("file:").removeprefix("//")
        if not path.startswith("/"):  # it names a host
            return None
    elif not plain or ":" in address.partition("/")[0]:
        return None
    return None if not path or path.startswith("//") else Path(os.path.normpath(path))


def _not_there(address: str) -> ArgumentError:
    return wrong("checkpoint", address, "there is no such folder; give the query's checkpointLocation")


def _without_offsets(address: str) -> ArgumentError:
    remedy = "it has no offsets, so no query ran a micro-batch with it; give a query's checkpointLocation"
    return wrong("checkpoint", address, remedy)


def read(spark: SparkSession, address: str, *, own: bool = False) -> Checkpoint:
    """The logs of a checkpoint.

    Parameters
    ----------
    spark, address
        The session, and the folder.
    own
        Whether this process had it written on this machine, so that Hadoop need not be asked for its files.

    Raises
    ------
    ArgumentError
        If the folder is none, or cannot be read.
    DataError
        If its logs have a form that is not known.
    """
    for left in reversed(range(_TRIES)):  # a query that goes on deletes files, now and then one that was just listed
        try:
            with spark_errors_as(QueryError):
                return _read(_files(spark, address, own), address)
        except QueryError as error:
            if not left:
                raise ArgumentError(f"checkpoint: {address} cannot be read ({error})", error.details) from None
    raise AssertionError("the last try returns or raises")


def _read(files: Files | _OwnFiles, address: str) -> Checkpoint:
    if not files.has(address):
        raise _not_there(address)
    offsets, commits = (_numbers(files.names(f"{address}/{log}")) for log in ("offsets", "commits"))
    if commits:  # a query plans one micro-batch ahead, so that other files are not its own
        offsets = [number for number in offsets if number <= commits[-1] + 1]
    if not offsets:
        raise _without_offsets(address)
    query = ""
    if files.has(f"{address}/metadata"):
        query = _parsed(files, f"{address}/metadata", lambda text: str(json.loads(text)["id"]))
    kept = _without_gaps(offsets)
    done = frozenset(commits)
    found = [
        _parsed(
            files, f"{address}/offsets/{number}", functools.partial(_batch, number=number, committed=number in done)
        )
        for number in kept
    ]
    batches, settings = tuple(each for each, _ in found), found[-1][1]
    policy: Policy = "max" if settings.get(POLICY, "min").lower() == "max" else "min"
    after = _parsed(files, f"{address}/commits/{commits[-1]}", _next_watermark) if commits else None
    gap = ""
    if len(kept) < len(offsets):
        gap = f"{address}/offsets/{kept[0] - 1} is gone, so the job begins with micro-batch {kept[0]}"
    return Checkpoint(address, query, policy, settings, batches, next_watermark=after, gap=gap)


def _parsed(files: Files | _OwnFiles, file: str, parse: Callable[[str], T]) -> T:
    """What a file of a checkpoint says.

    Raises
    ------
    DataError
        If it is no file of Spark's.
    """
    text = files.text(file)
    try:
        return parse(text)
    except DataError as error:
        raise DataError(f"{error} (in {file})") from None
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError, RecursionError):
        raise DataError(f"checkpoint: {file} is damaged: it is no log of Spark's") from None


def _next_watermark(text: str) -> int | None:
    """The watermark that the log of commits has for the micro-batch that follows, in microseconds."""
    _, *lines = text.split("\n")
    found = json.loads(lines[0]).get("nextBatchWatermarkMs") if lines and lines[0].strip() else None
    return None if found is None else min(int(found) * 1_000, LATEST)


def _without_gaps(numbers: list[int]) -> list[int]:
    """The last numbers that follow one another."""
    first = len(numbers) - 1
    while first and numbers[first - 1] == numbers[first] - 1:
        first -= 1
    return numbers[first:]


def _batch(text: str, number: int, committed: bool) -> tuple[MicroBatch, dict[str, str]]:
    version, *lines = text.split("\n")
    if version.strip() not in _VERSIONS or not lines:
        raise DataError(
            f"checkpoint: the log of offsets has the version {version.strip()!r}, but only "
            f"{' and '.join(_VERSIONS)} are supported"
        )
    about, told = json.loads(lines[0]), [line.strip() for line in lines[1:] if line.strip()]
    offsets = tuple(map(_offset, told)) if version.strip() == _VERSIONS[0] else _by_number(told)
    watermark, started = int(about.get("batchWatermarkMs", 0)), int(about.get("batchTimestampMs", 0))
    if watermark < 0 or not 0 <= started < LATEST // 1_000:
        raise ValueError(watermark, started)
    return MicroBatch(number, min(watermark * 1_000, LATEST), started, offsets, committed), dict(
        about.get("conf") or {}
    )


def _offset(text: str) -> Any:
    return None if text == "-" else json.loads(text)


def _by_number(told: list[str]) -> tuple[Value, ...]:
    """The offsets of version 2 of the log, which has the number of its source before each; others have a name."""
    found = {}
    for each in told:
        source, _, offset = each.partition(":")
        if not source.isdigit():
            raise DataError(
                f"checkpoint: its sources have names, such as {source!r} (spark.sql.streaming.queryEvolution); "
                "only sources that Spark numbers are supported"
            )
        found[int(source)] = _offset(offset)
    return tuple(found.get(place) for place in range(max(found, default=-1) + 1))


def newest(spark: SparkSession, address: str) -> int:
    """The last micro-batch that has ended; -1: none."""
    return max(_numbers(Files(spark).names(f"{address}/commits")), default=-1)


def ended(spark: SparkSession, address: str) -> dict[int, int]:
    """When micro-batches ended, by their number: when the log of commits was written, in milliseconds since 1970."""
    times = Files(spark).times(f"{address}/commits")
    return {int(name): time for name, time in times.items() if _NUMBER.fullmatch(name)}


def source_files(spark: SparkSession, checkpoint: Checkpoint, source: int, *, own: bool = False) -> list[SourceFile]:
    """The files that a file source noted, in its order; those that its compacted log has dropped are not there.

    Of a folder that this process had written itself (`own`), as `read` takes it.
    """
    folder = f"{checkpoint.address}/sources/{source}"
    files = _files(spark, folder, own)
    names = files.names(folder)
    compacts = [name.removesuffix(".compact") for name in names if name.endswith(".compact")]
    compacted = max((int(name) for name in compacts if _NUMBER.fullmatch(name)), default=None)
    numbers = [int(name) for name in names if _NUMBER.fullmatch(name) and (compacted is None or int(name) > compacted)]
    logs = ([] if compacted is None else [f"{compacted}.compact"]) + [str(each) for each in sorted(numbers)]
    found = []
    for log in logs:
        found += _parsed(files, f"{folder}/{log}", _entries)
    return found


def _entries(text: str) -> list[SourceFile]:
    entries = [json.loads(line) for line in text.split("\n")[1:] if line.strip()]
    return [SourceFile(_text(each["path"]), int(each["batchId"]), int(each["timestamp"])) for each in entries]


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise TypeError(value)


def source_start(spark: SparkSession, checkpoint: Checkpoint, source: int) -> Any:
    """The offsets that a source noted when the query began; None where it noted none."""
    files, file = Files(spark), f"{checkpoint.address}/sources/{source}/0"
    if not files.has(file):
        return None
    return _parsed(files, file, lambda text: json.loads(text[text.index("{") :]) if "{" in text else None)


class Files(HadoopFiles):
    """Files of a checkpoint, which are read only."""

    def has(self, address: str) -> bool:
        """Whether there is such a file or folder."""
        system, path = self._at(address)
        return bool(system.exists(path))

    def names(self, folder: str) -> list[str]:
        """The files of a folder; none of one that is not there."""
        system, path = self._at(folder)
        return [str(each.getPath().getName()) for each in system.listStatus(path)] if system.exists(path) else []

    def times(self, folder: str) -> dict[str, int]:
        """When each file of a folder was written, by its name."""
        system, path = self._at(folder)
        found = system.listStatus(path) if system.exists(path) else []
        return {str(each.getPath().getName()): int(each.getModificationTime()) for each in found}

    def text(self, file: str) -> str:
        """What a file holds."""
        system, path = self._at(file)
        stream = system.open(path)
        try:
            return str(self._java.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()


class _OwnFiles:
    """Files of a checkpoint on this machine, which nobody changes: Hadoop would be asked some ten times for each."""

    def has(self, address: str) -> bool:
        """Whether there is such a file or folder."""
        return _path(address).exists()

    def names(self, folder: str) -> list[str]:
        """The files of a folder; none of one that is not there."""
        return [each.name for each in _path(folder).iterdir()] if self.has(folder) else []

    def text(self, file: str) -> str:
        """What a file holds."""
        return _path(file).read_text(encoding="utf-8")


def _files(spark: SparkSession, address: str, own: bool) -> Files | _OwnFiles:
    return _OwnFiles() if own and _local(address, plain=False) is not None else Files(spark)


def _path(address: str) -> Path:
    found = _local(address, plain=False)
    if found is None:
        raise ValueError(address)
    return found


def _numbers(names: list[str]) -> list[int]:
    """Those of some files that are called by a number."""
    return sorted(int(name) for name in names if _NUMBER.fullmatch(name))
