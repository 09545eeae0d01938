"""Which files are there, asked of the file systems that the session's Spark finds them on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    java: Any = spark._jvm
    settings = spark._jsparkSession.sessionState().newHadoopConf()
    found = []
    for each in files:
        path = java.org.apache.hadoop.fs.Path(java.java.net.URI(each) if encoded else each)
        if path.getFileSystem(settings).exists(path):
            found.append(each)
    return found


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
    java: Any = spark._jvm
    settings = spark._jsparkSession.sessionState().newHadoopConf()
    found = []
    for each, time in files.items():
        path = java.org.apache.hadoop.fs.Path(java.java.net.URI(each))
        if int(path.getFileSystem(settings).getFileStatus(path).getModificationTime()) != time:
            found.append(each)
    return found
