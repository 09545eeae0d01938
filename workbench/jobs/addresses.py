"""Which files are there, asked of the file systems that the session's Spark finds them on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from workbench.untyped import JavaObject

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["elsewhere", "existing", "spelled", "written_anew"]

_OF_PATTERNS = "*?[{"
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


def elsewhere(spark: SparkSession, files: Sequence[str], folder: str) -> list[str]:
    """Those of some files that lie in another folder; none where the folder is a pattern.

    Parameters
    ----------
    spark
        A session that is not Spark Connect's.
    files
        Their addresses, as in a URI.
    folder
        The folder, as a source has it.
    """
    if any(each in folder for each in _OF_PATTERNS):
        return []
    [(_, path, system)] = _paths(spark, [folder], encoded=False)
    home = spelled(str(system.makeQualified(path).toString())).rstrip("/")
    paths = ((each, spelled(unquote(each))) for each in files)  # there may be very many
    return [each for each, text in paths if text != home and not text.startswith(f"{home}/")]


def spelled(path: str) -> str:
    """An address with one slash where Hadoop writes one or three."""
    return re.sub("^file:/+", "file:/", path)


def _paths(spark: SparkSession, files: Sequence[str], encoded: bool) -> Iterator[tuple[str, Any, Any]]:
    """Each file's address, and its path and file system in the JVM."""
    java: JavaObject = spark._jvm
    settings = spark._jsparkSession.sessionState().newHadoopConf()
    for each in files:
        path = java.org.apache.hadoop.fs.Path(java.java.net.URI(each) if encoded else each)
        yield each, path, path.getFileSystem(settings)
