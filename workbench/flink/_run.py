"""A recording run by a real Flink."""

from __future__ import annotations

import os

from workbench.errors import TooLargeError, wrong
from workbench.flink._preview import preview
from workbench.flink._result import FlinkRun
from workbench.flink.cluster import Cluster, case_lines, find_jars
from workbench.flink.emissions import outputs
from workbench.joins import Join, how_of, where_of
from workbench.kinds import MS, kind_of
from workbench.model import in_sql
from workbench.streams import Stream
from workbench.times import Span

__all__ = ["run"]

_MOST_ROWS = 200_000


def run(
    join: Join,
    left: Stream,
    right: Stream,
    *,
    allowed_lateness: Span = "0 seconds",
    watermarks: str = "micro-batch",
    idleness: Span | int | None = None,
    jars: str | os.PathLike[str] | None = None,
) -> FlinkRun:
    """Run a join of two recorded streams on Flink, and verify what `preview` says of it.

    Flink's own operators run it, in a Java of their own with a mini cluster in it, which ends with this call. The
    source sends a row, or a watermark, when the join has done with the one before, so that a run is the same each time;
    that takes about five seconds, and one more for each 2,500 rows. Outer interval joins are run by the operator that
    Flink plans for them in SQL.

    Parameters
    ----------
    join, left, right, allowed_lateness, watermarks, idleness
        As in `preview`.
    jars
        The folder ``lib`` of Flink 2.3; None: that of ``FLINK_HOME``, else of the package of its jars, which
        ``pip install "stream-join-workbench[flink]"`` installs. A JDK, 17 or 21, must be there.

    Returns
    -------
    FlinkRun
        As `preview` gives, with Flink's output and late rows.

    Raises
    ------
    ArgumentError
        If an argument is wrong, or this is a join that Flink does otherwise.
    TooLargeError
        If there are more than 200,000 rows.
    JavaError
        If there is no JDK.
    QueryError
        If Flink fails.
    WorkbenchError
        If no jars of Flink are found.
    """
    if where_of(join) is not None:
        raise wrong(
            "join", join, "Flink runs joins without condition here: take its where out, or use wb.flink.preview"
        )
    expected = preview(join, left, right, allowed_lateness=allowed_lateness, watermarks=watermarks, idleness=idleness)
    if in_sql(join):
        low, high = kind_of(join).bounds(join)
        if how_of(join) == "semi":
            raise wrong(
                "join", join, "Flink does a semi join of an interval as a regular join, in which nothing is late"
            )
        if -(-low // MS) > high // MS:
            raise wrong(
                "join", join, "no whole millisecond lies within its bounds, and Flink's times have no finer ones"
            )
    rows = len(left) + len(right)
    if rows > _MOST_ROWS:
        raise TooLargeError(
            f"left, right: got {rows:,} rows, for which Flink in lock-step takes too long; give {_MOST_ROWS:,} at most",
            rows,
        )
    with Cluster(find_jars(jars)) as cluster:
        emitted, late = cluster.run(case_lines(expected.simulation))
    return FlinkRun(expected.simulation, outputs(expected.simulation, emitted), late)
