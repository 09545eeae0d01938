"""What may surprise in a plan that is understood, or that has no join of two streams: a sentence each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from workbench.jobs import sides
from workbench.jobs.catalyst import Node, expressions, has_watermark, span
from workbench.times import exact, precise, text
from workbench.windows import Window

__all__ = ["of_duplicates", "of_duplicates_above", "of_limits_above", "of_static", "of_windows", "redefined"]

_DAY = timedelta(days=1)
_MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)
_MONTHS = {"January": _MIDNIGHT, "July": _MIDNIGHT.replace(month=7)}  # in winter and in summer
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?")
_WITHIN = "DeduplicateWithinWatermark"


def of_static(plan: Node) -> tuple[str, str] | None:
    """What a plan is in which a stream is joined with a table only, and what that means; None: it is no such plan."""
    for node in plan.walk():
        streaming = [bool(child.java.isStreaming()) for child in node.children]
        if node.kind == "Join" and True in streaming and False in streaming:
            stream, table = (
                sides.name(node.children[place]) or f"the {('left', 'right')[place]} side"
                for place in (streaming.index(True), streaming.index(False))
            )
            return (
                f"a join of the stream {stream} with {table}, which is static",
                f"Spark looks up each row of {stream} in {table} once, in the micro-batch in which it arrives: no row "
                f"waits in state, and none is late; where rows of {table} arrive later, read it with spark.readStream",
            )
    return None


def of_duplicates(plan: Node, name: str) -> Iterator[str]:
    """What ``dropDuplicates`` of a side of a join takes for duplicates, and for how long."""
    for node in _duplicates(plan):
        yield _of_meaning(node, f"{_called(node)} of {name}")


def of_duplicates_above(plan: Node, join: Node) -> Iterator[str]:
    """What ``dropDuplicates`` above a join does to its pairs."""
    below = {id(each) for each in join.walk()}
    for node in _duplicates(plan):
        if id(node) not in below:
            called = f"{_called(node)} after the join"
            yield (
                f"{called} removes pairs: fates are those of the join itself, so a row whose pairs are all removed is "
                "still matched"
            )
            yield _of_meaning(node, called, "the watermark that the join passes on, which its bounds hold back,")


def of_limits_above(plan: Node, join: Node) -> Iterator[str]:
    """What ``limit`` above a join does to its pairs: Spark counts the rows of all micro-batches."""
    below = {id(each) for each in join.walk()}
    for node in plan.walk():
        if node.kind == "GlobalLimit" and id(node) not in below:
            limit = expressions(node, "limitExpr")[0].java.sql()
            yield (
                f"limit({limit}) after the join ends the output, over all micro-batches: fates are those of the join "
                "itself, so a row that is matched or written with nulls may not come out"
            )


def _duplicates(plan: Node) -> Iterator[Node]:
    for node in plan.walk():
        if node.kind in ("Deduplicate", _WITHIN) and bool(node.java.isStreaming()) and expressions(node, "keys"):
            yield node


def _called(node: Node) -> str:
    return "dropDuplicatesWithinWatermark" if node.kind == _WITHIN else "dropDuplicates"


def _of_meaning(node: Node, subject: str, watermark: str = "the watermark") -> str:
    """Which rows are duplicates: those of any time, of the same event time, or within the watermark."""
    keys = expressions(node, "keys")
    names, times = [each.name for each in keys], [each.name for each in keys if has_watermark(each.java)]
    compared = " and ".join(names)
    if node.kind == _WITHIN:
        return (
            f"{subject} keeps each {compared} until {watermark} has passed the event time of its first row by the "
            f"delay: a row with the same {compared} that arrives after that is no duplicate"
        )
    within = f"dropDuplicatesWithinWatermark({[name for name in names if name not in times]})"
    if times:
        return (
            f"{subject} compares {compared}: a row that is sent again with another {times[0]} is no duplicate; "
            f"{within} drops it, too"
        )
    return (
        f"{subject} keeps each {compared} forever: a later row with the same {compared} is always dropped, and the "
        f"state grows; {within} forgets it once the watermark has passed it"
    )


def redefined(plan: Node) -> str:
    """What is said of a plan that sets a second watermark on a stream, which Spark refuses; empty: it does not."""
    for node in _watermarks(plan):
        below = next((each for child in node.children for each in _watermarks(child)), None)
        if below is not None:
            first, again = (_watermark_in_words(each) for each in (below, node))
            return (
                f"withWatermark is called on {first} and again on {again}, which Spark refuses as soon as the "
                "watermark moves, and late rows may be judged by either: call it once per stream"
            )
    return ""


def _watermarks(plan: Node) -> list[Node]:
    """The watermarks of the streams in a plan."""
    return [each for each in plan.walk() if each.kind == "EventTimeWatermark" and bool(each.java.isStreaming())]


def _watermark_in_words(node: Node) -> str:
    [time] = expressions(node, "eventTime")
    delay = span(node.java.delay())
    return time.name if delay is None else f"{time.name} (by {precise(timedelta(microseconds=delay))})"


def of_windows(window: Window, zone: str) -> Iterator[str]:
    """A note on windows that begin at no midnight of a time zone, as Spark's begin by that of UTC."""
    size, offset = getattr(window, "size", None), getattr(window, "offset", None)
    if size is None or offset is None or exact(offset):  # as of sessions, which begin with a row
        return
    step = exact(getattr(window, "slide", size))
    offsets = {month: found for month, moment in _MONTHS.items() if (found := _offset(zone, moment)) is not None}
    if not offsets or (step % _DAY and _DAY % step) or not any(each % step for each in offsets.values()):
        return
    begin = sorted({f"{_MIDNIGHT + each:%H:%M}" for each in offsets.values()})
    starts = {month: f'startTime="{text(-each % min(step, _DAY))}"' for month, each in offsets.items()}
    if len(set(starts.values())) == 1:
        [given] = set(starts.values())
    else:
        given = " or ".join(f"{start} (as in {month})" for month, start in starts.items())
    yield (
        f"windows of {text(size)} begin at 00:00 UTC, which is {' or '.join(begin)} in {zone}, the session's "
        f"time zone: give window() {given}{', or join on to_date and bounds' * (step >= _DAY)}"
    )


def _offset(zone: str, moment: datetime) -> timedelta | None:
    """How far a time zone, as Spark names them, is ahead of UTC; None where that is not known."""
    fixed = _OFFSET.fullmatch(zone)
    if fixed:
        ahead = timedelta(hours=int(fixed[2]), minutes=int(fixed[3] or 0))
        return -ahead if fixed[1] == "-" else ahead
    try:
        return moment.astimezone(ZoneInfo(zone)).utcoffset()
    except (ZoneInfoNotFoundError, ValueError):  # such as CTT, which Java knows
        return None
