"""``python -m workbench check``: the health of a job, for CI or cron."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from workbench import process, times
from workbench.counts import number_or_text
from workbench.errors import WorkbenchError, wrong
from workbench.jobs import checkpoint as checkpoints
from workbench.jobs import commands
from workbench.jobs.chain import Chain
from workbench.jobs.health import Crossed, Health, Limits, crossed, figures
from workbench.jobs.opening import open_job
from workbench.literals import SIDES
from workbench.reasons.labels import setting_value
from workbench.sources.key_choice import checked
from workbench.spark_io.cause import spark_errors_as
from workbench.untyped import Argument, Record, SparkObject

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["add_arguments", "as_json", "check", "text"]

_OPTIONS = {"checkpoint": "--checkpoint", "sample": "--sample", "join": "--join", "job": "--job", "joined": "--job"} | {
    each.name: "--" + each.name.replace("_", "-") for each in dataclasses.fields(Limits)
}
"""The options that the arguments of functions come from, as messages name them."""

_HADOOP = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
"""Where one of these is set, Spark may take a folder without a scheme for one of another file system."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give a parser the arguments of the command, as text: `check` says what is wrong with them."""
    parser.add_argument("--checkpoint", required=True, metavar="FOLDER", help="the job's checkpointLocation")
    parser.add_argument(
        "--job",
        required=True,
        metavar="MODULE:FUNCTION",
        help="the function that takes a SparkSession and returns the streaming DataFrame that the job runs; modules "
        "of the current folder are found",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--sample", metavar="SHARE", help="read the rows of this share of the keys only, such as 0.01")
    parser.add_argument("--join", metavar="N", help="of several joins of streams, which one, counted from 0; else each")
    at_most = parser.add_argument_group("limits", "what a figure may be at most; exit code 1 where one is above")
    at_most.add_argument("--max-late-share", metavar="SHARE", help="late rows of a side, such as 0.01")
    at_most.add_argument("--max-wait", metavar="SPAN", help='wait of rows without partner, such as "10 minutes"')
    at_most.add_argument("--max-state-rows", metavar="N", help="rows in state now")
    at_most.add_argument("--max-state-growth", metavar="SHARE", help="growth of the state, such as 0.2")
    at_most.add_argument("--max-idle", metavar="N", help="micro-batches at the end without rows of one side")
    at_most.add_argument("--max-skew", metavar="SHARE", help="share of a side's most frequent key, such as 0.5")


def check(given: argparse.Namespace) -> int:
    """Do what the command is asked for.

    Parameters
    ----------
    given
        The arguments, as `add_arguments` has them.

    Returns
    -------
    int
        The exit code: 0 all is fine; 1 a limit is crossed; 2 wrong arguments, or the job cannot be opened.
    """
    try:
        limits = Limits(**{name: _value(name, getattr(given, name)) for name in _limit_names()})
        sample = 1.0 if given.sample is None else number_or_text(given.sample)
        if limits.max_skew is not None and sample != 1:
            raise wrong("max_skew", given.max_skew, "leave it out, or --sample: a sample of the keys does not tell it")
        with spark_errors_as("the job cannot be checked"), process.with_modules_of_the_folder():
            join = None if given.join is None else number_or_text(given.join)
            healths = _healths(given.job, given.checkpoint, sample, join, limits)
    except WorkbenchError as error:
        return commands.failed(error, _OPTIONS)
    told = [(each, crossed(each, limits)) for each in healths]
    print(_as_json(told) if given.json else commands.printable(_text(told)))
    return commands.CROSSED if any(found for _, found in told) else commands.FINE


def _limit_names() -> list[str]:
    return [each.name for each in dataclasses.fields(Limits)]


def _value(name: str, given: str | None) -> Any:
    return given if name == "max_wait" or given is None else number_or_text(given)


def _healths(job: str, checkpoint: str, sample: Argument, join: Argument, limits: Limits) -> list[Health]:
    """The figures of the job; of several joins those of each."""
    build = commands.function(job)
    if not commands.is_there():
        checked(None, sample)
        _check_folder(checkpoint)
    with commands.spark_session() as spark:
        opened = open_job(_joined(build, job, spark), checkpoint, sample=sample, join=join)
        return [figures(each, limits) for each in (opened.joins if isinstance(opened, Chain) else (opened,))]


def _check_folder(checkpoint: str) -> None:
    """Say what is wrong with the checkpoint as far as that is known before Spark has started, which takes long."""
    if not os.environ.get("SPARK_REMOTE"):
        checkpoints.check_local(checkpoint, plain=not commands.is_set(*commands.SETTINGS, *_HADOOP))


def _joined(build: Callable[[SparkSession], Any], job: str, spark: SparkSession) -> DataFrame:
    try:
        with redirect_stdout(sys.stderr):  # what the job prints is not part of the figures
            joined = build(spark)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a stranger's function does
        raise wrong("job", job, f"the function failed: {commands.said_of(error)}") from None
    if not getattr(joined, "isStreaming", False):
        remedy = "let it return the streaming DataFrame that the job runs"
        raise wrong("job", job, f"it returned {_returned(joined)}; {remedy}")
    return joined


def _returned(joined: SparkObject) -> str:
    if joined is None:
        return "nothing"
    is_table = hasattr(joined, "isStreaming")
    return "a DataFrame that is not streaming" if is_table else f"something of type {type(joined).__name__}"


def as_json(health: Health, found: tuple[Crossed, ...]) -> str:
    """The figures as one JSON object; its keys are those of `Health`, time spans are in seconds."""
    return json.dumps(_plain(health, found))


def _as_json(told: list[tuple[Health, tuple[Crossed, ...]]]) -> str:
    """The figures as one JSON object; of several joins it has ``fine``, and ``joins`` with one for each."""
    if len(told) == 1:
        return as_json(*told[0])
    return json.dumps({"fine": not any(found for _, found in told), "joins": [_plain(*each) for each in told]})


def _text(told: list[tuple[Health, tuple[Crossed, ...]]]) -> str:
    """The figures in words, a line each; of several joins with the number of the join in front."""
    if len(told) == 1:
        return text(*told[0])
    return "\n".join(f"join {at}: {line}" for at, each in enumerate(told) for line in text(*each).split("\n"))


def _plain(health: Health, found: tuple[Crossed, ...]) -> Record:
    named: Record = {}
    for name, figure in dataclasses.asdict(health).items():
        if name in ("wait", "watermark_lag"):
            named[f"{name}_seconds"] = None if figure is None else figure.total_seconds()
        elif name in SIDES:
            delay = figure.pop("needed_delay")
            named[name] = figure | {"needed_delay_seconds": None if delay is None else delay.total_seconds()}
        else:
            named[name] = figure
    limits = [dataclasses.asdict(each) | {"above": each.above, "limit": _OPTIONS[each.limit]} for each in found]
    return {"fine": not found, **named, "crossed": limits}


def text(health: Health, found: tuple[Crossed, ...]) -> str:
    """The figures in words, a line each."""
    return "\n".join(f"{label}: {' '.join(words.splitlines())}" for label, words in _lines(health, found))


def _lines(health: Health, found: tuple[Crossed, ...]) -> Iterator[tuple[str, str]]:
    yield "join", health.join or "not understood"
    if health.where:
        yield "where", health.where
    yield "micro-batches", f"{health.first_micro_batch} to {health.last_micro_batch}"
    sides = (health.left, health.right)
    for each in sides:
        known = each.rows is not None
        words = f"{each.late_rows:,} of {each.rows:,} ({_share(each.late_share)})" if known else "not known"
        yield f"late rows of {each.name}", words
        if each.causes:
            yield (
                f"rows of {each.name} without a match",
                "; ".join(f"{count:,}: {cause}" for cause, count in each.causes.items()),
            )
        if each.needed_delay is not None:
            of = "both streams" if each.delay_on_both else each.name
            late = f"with which at most {_share(health.allowed_late_share)} of its rows are late"
            delay = setting_value("left.watermark", each.needed_delay)
            yield f"delay that {each.name} needs", f"{delay} on {of}, {late}"
    yield "longest wait of rows without partner", _span(health.wait, "none, or not known")
    yield "watermark behind the newest event time", _span(health.watermark_lag, "there is no watermark yet")
    yield "rows in state", "not known" if health.state_rows is None else f"{health.state_rows:,}"
    yield "growth of the state", _share(health.state_growth)
    if health.idle_side is None:
        yield "idle side", "not known" if health.idle_micro_batches is None else "none"
    else:
        count = health.idle_micro_batches
        words = "micro-batch" if count == 1 else f"{count} micro-batches"
        yield "idle side", f"{health.side(health.idle_side).name}, without rows in the last {words} with rows"
    for each in sides:
        share = each.frequent_key_share
        words = "not known" if share is None else "none, there are no rows with a key"
        if each.frequent_key is not None:
            words = f"{each.frequent_key}, with {_share(share)} of the rows"
        yield f"most frequent key of {each.name}", words
    for fault in health.faults:
        problem = f"Spark {health.spark_version} has {fault.fault}, by which {fault.problem}: {fault.remedy}"
        yield "known fault", problem
    if not health.faults:
        none = "none that this join meets" if health.join else "not known, as the join was not understood"
        yield "known fault", f"{none} (Spark {health.spark_version})"
    for words in health.missing:
        yield "missing", words
    for words in health.unknown:
        yield "not understood", words
    if health.mismatch:
        yield "differs", health.mismatch
    for one in found:
        yield f"crossed {_OPTIONS[one.limit]}", one.text


def _share(share: float | None) -> str:
    return "not known" if share is None else f"{100 * share:.4g}%"


def _span(span: Any, otherwise: str) -> str:
    return otherwise if span is None else times.short(span)
