"""Which files are there, asked of the file systems that the session's Spark finds them on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["existing", "written_anew"]

_AT_ONCE = 1_000  # files whose existence is asked of the file system one by one


def existing(spark: SparkSession, files: Sequence[str], *, encoded: bool = True) -> list[str]:
    """Those of some files that are there; of very many, all.

    Parameters
    ----------
    spark
        A session that is not Spark Connect's.
    files
        Their addresses.
    encoded
        Whether characters of the addresses are encoded as in a URI.
    """
    if len(files) > _AT_ONCE:
        return list(files)
    return [each for each, path, system in _paths(spark, files, encoded) if system.exists(path)]


def written_anew(spark: SparkSession, files: Mapping[str, int]) -> list[str]:
    """Those of some files that have changed since a time; of very many, none.

    Parameters
    ----------
    spark
        A session that is not Spark Connect's.
    files
        When each had been written, in milliseconds since 1970-01-01 UTC, by its address as in a URI.
    """
    if len(files) > _AT_ONCE:
        return []
    return [
        each
        for each, path, system in _paths(spark, list(files), True)
        if int(system.getFileStatus(path).getModificationTime()) != files[each]
    ]


def _paths(spark: SparkSession, files: Sequence[str], encoded: bool) -> Iterator[tuple[str, Any, Any]]:
    """Each file's address, and its path and file system in the JVM."""
    java: Any = spark._jvm
    settings = spark._jsparkSession.sessionState().newHadoopConf()
    for each in files:
        path = java.org.apache.hadoop.fs.Path(java.java.net.URI(each) if encoded else each)
        yield each, path, path.getFileSystem(settings)
