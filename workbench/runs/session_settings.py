"""Which settings of a session a run does not take over, and what that means for the job they are of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from workbench import session
from workbench.engine import query
from workbench.errors import one_of
from workbench.literals import POLICIES, Policy
from workbench.runs.arguments import check_session
from workbench.spark_io.cause import spark_errors_as

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["session_settings"]

_MEANINGS = {
    "spark.sql.streaming.multipleWatermarkPolicy": (
        "policy= decides it: give the session's, and the watermark advances as in your job"
    ),
    "spark.sql.streaming.noDataMicroBatches.enabled": (
        "your job evicts and pads what a watermark has passed when the next rows arrive, the run at once"
    ),
    "spark.sql.streaming.stateStore.": "state is kept in memory: the same rows, other sizes in bytes",
    "spark.sql.streaming.join.stateFormatVersion": "the same rows are in state, in another format",
    "spark.sql.streaming.": "how a query keeps its files and its progress; which rows join does not depend on it",
    "spark.sql.shuffle.partitions": "which rows join does not depend on it; your job has a state store for each",
    "spark.sql.session.timeZone": "event times are in UTC; they are the same instants",
    "spark.sql.timestampType": "event times are instants, not clock times without a zone",
    "spark.sql.parquet.outputTimestampType": "event times are written in full, in microseconds",
    "spark.sql.adaptive.": "which rows join does not depend on it",
    "spark.sql.execution.arrow.": "how rows reach Python; which rows join does not depend on it",
    "spark.sql.files.": "a run reads and writes files of its own only",
    "spark.sql.parquet.": "a run reads and writes files of its own only",
    "spark.sql.ansi.": "it does not change the join that the workbench writes",
    "spark.sql.caseSensitive": "column names that differ only in case are one name",
}
_OTHERWISE = "a run uses the value that its model knows; compare where your job relies on yours"
_DEFAULT = "Spark's default"


def session_settings(spark: SparkSession | None = None, *, policy: Policy = "min") -> pd.DataFrame:
    """The settings of a Spark session that a run in it does not take over.

    A run uses the session that is there, but not all of its settings: the model knows Spark's defaults, and a small
    recording is joined much faster in few partitions. The session itself stays as it is.

    Parameters
    ----------
    spark
        The session. None: that which `run` uses.
    policy
        As `run` is given it.

    Returns
    -------
    pandas.DataFrame
        One row for each setting that the session has and a run sets otherwise, by name: columns ``setting``,
        ``session`` (its value there), ``run`` (its value in a run) and ``meaning`` (what differs in your job).

    Raises
    ------
    ArgumentError
        If an argument is wrong, or the session is of a Spark that the workbench does not run on.
    QueryError
        If the session has ended.

    Examples
    --------
    >>> import workbench as wb
    >>> mine = wb.spark().newSession()
    >>> mine.conf.set("spark.sql.shuffle.partitions", "400")
    >>> wb.session_settings(mine, policy="min")[["setting", "session"]].values.tolist()
    [['spark.sql.shuffle.partitions', '400']]
    """
    one_of("policy", policy, POLICIES)
    check_session(spark)
    base = session.spark() if spark is None else spark
    with spark_errors_as(query.FAILED):
        session.version_of(base)
        own = session.for_query(base, policy).conf.getAll
        theirs = dict(base.conf.getAll)
    rows = [
        (name, value, own.get(name, _DEFAULT), _meaning(name))
        for name, value in sorted(theirs.items())
        if own.get(name) != value
    ]
    return pd.DataFrame(rows, columns=["setting", "session", "run", "meaning"])


def _meaning(name: str) -> str:
    found = [prefix for prefix in _MEANINGS if name.startswith(prefix)]
    return _MEANINGS[max(found, key=len)] if found else _OTHERWISE
