"""What Spark reported of a job's micro-batches while it ran: progress of a query or a listener, or an event log."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from workbench.errors import wrong
from workbench.jobs.catalyst import Node
from workbench.jobs.held import HASH_JOIN
from workbench.untyped import Argument, Json, Value

__all__ = ["dropped", "listed", "of", "of_operator", "state_rows"]

_REMEDY = "give what query.recentProgress or a listener gave, a list, or a file with a line of JSON for each"


def of(query: str, reports: Iterable[Json]) -> dict[int, Json]:
    """The reports of a query by the number of their micro-batch; of a micro-batch that ran again, the last.

    Parameters
    ----------
    query
        The id of the query, which stays the same over restarts; empty: not known, so all are taken for its own.
    reports
        Those of some queries.
    """
    mine = [each for each in reports if not query or str(each.get("id", query)) == query]
    return {each["batchId"]: each for each in mine}


def listed(progress: Argument) -> list[Json]:
    """Spark's reports of micro-batches.

    Parameters
    ----------
    progress
        Reports as dicts, as JSON or as ``StreamingQueryProgress``; or a file that has one in JSON on each line, among
        them the ``progress`` of the events of a Spark event log that is not compressed. None: there are none.

    Raises
    ------
    ArgumentError
        If it is none of these.
    """
    if progress is None:
        return []
    if isinstance(progress, str | os.PathLike):
        reports = _of_file(progress)
    elif isinstance(progress, Sequence) and not isinstance(progress, bytes | range):
        reports = (_of_one(each) for each in progress)
    else:
        raise wrong("progress", progress, _REMEDY)
    found = list(reports)
    for each in found:
        if not isinstance(each.get("batchId"), int):
            raise wrong("progress", each, _REMEDY)
    return found


def of_operator(reports: dict[int, Json], operators: Mapping[Node, int], join: Node) -> dict[int, Json]:
    """The reports with the figures of one of several joins only, by Spark's numbers of all."""
    if not operators:
        return reports
    place = sorted(operators.values()).index(operators[join])
    found: dict[int, Json] = {}
    for number, report in reports.items():
        joins = [each for each in report.get("stateOperators") or [] if each.get("operatorName") == HASH_JOIN]
        mine = [joins[place]] if len(joins) == len(operators) else []
        found[number] = {**report, "stateOperators": mine}
    return found


def _of_one(report: Argument) -> Json:
    if isinstance(report, Mapping):
        return report
    text: Value = getattr(report, "json", report)
    try:
        made = json.loads(text)
    except (TypeError, ValueError):
        made = None
    if not isinstance(made, Mapping):
        raise wrong("progress", report, _REMEDY)
    return made


def _of_file(path: str | os.PathLike[str]) -> Iterator[Json]:
    """The reports in a file, whatever else is in it."""
    for line in _lines(path):
        if '"batchId"' in line:
            made = _of_one(line)
            yield _of_one(made.get("progress", made))


def _lines(path: str | os.PathLike[str]) -> Iterator[str]:
    try:
        with Path(path).open(encoding="utf-8") as lines:
            yield from lines
    except UnicodeDecodeError:
        raise wrong(
            "progress", path, "it is no text; give JSON, or an event log under the name that Spark gave it"
        ) from None
    except OSError as error:
        raise wrong("progress", path, f"it cannot be read ({error.strerror})") from None
    except (TypeError, ValueError):
        raise wrong("progress", path, _REMEDY) from None


def dropped(report: Json) -> int | None:
    """How many late rows the only join of a job dropped in a micro-batch (``numRowsDroppedByWatermark``)."""
    return _of_join(report, "numRowsDroppedByWatermark")


def state_rows(report: Json) -> int | None:
    """How many rows the only join of a job held after a micro-batch (``numRowsTotal``)."""
    return _of_join(report, "numRowsTotal")


def _of_join(report: Json, name: str) -> int | None:
    joins = [each for each in report.get("stateOperators") or [] if each.get("operatorName") == HASH_JOIN]
    return int(joins[0][name]) if len(joins) == 1 else None
