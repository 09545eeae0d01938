"""Plans that are read from the text of ``explain``: of Spark Connect, which gives nothing else of them.

The text becomes the same nodes as `workbench.jobs.catalyst` reads from a session's JVM, with stand-ins for what is
asked of the JVM there. Strings are printed without quotes and names without backticks; what is not understood for
certain becomes an expression that has its columns, and means nothing.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.jobs.catalyst import Node, unplanned
from workbench.jobs.explained._lines import ANALYSED, OPTIMISED, BrokenError, Names, outline, section
from workbench.jobs.explained._plans import Plans
from workbench.jobs.explained._types import json_type
from workbench.spark_io.cause import spark_errors_as

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Explained", "explained", "parsed"]

_WIDTH = "spark.sql.debug.maxToStringFields"
_WIDE = "1000000"
_LEFT_OUT = re.compile(r"\.\.\. \d+ more fields?|\.\.\. \d+ more characters|Truncated plan of \d+ characters")
_SAID = "Spark's explain leaves out parts of this plan ({}), which are not in the description"


@dataclass(frozen=True)
class Explained:
    """What an explanation says.

    Attributes
    ----------
    plan
        The analysed plan.
    run
        The optimised plan; None where Spark could not make one.
    unknown
        What the explanation leaves out, a sentence each.
    """

    plan: Node
    run: Node | None
    unknown: tuple[str, ...]


def explained(frame: DataFrame) -> Explained | None:
    """The plans of a streaming DataFrame, from what its ``explain`` prints; None where that has no plan of a stream.

    Raises
    ------
    ArgumentError
        If Spark cannot plan it, as cross joins and anti joins of two streams.
    """
    types = [(each.name, each.dataType.simpleString()) for each in frame.schema.fields]
    return parsed(_text(frame), types)


def _text(frame: DataFrame) -> str:
    """What ``explain`` prints, with all columns of wide plans."""
    conf = frame.sparkSession.conf
    before = conf.getAll.get(_WIDTH)
    printed = io.StringIO()
    try:
        with spark_errors_as(unplanned), contextlib.redirect_stdout(printed):
            conf.set(_WIDTH, _WIDE)
            frame.explain(extended=True)
    finally:
        conf.unset(_WIDTH) if before is None else conf.set(_WIDTH, before)
    return printed.getvalue()


def parsed(text: str, types: Sequence[tuple[str, str]] = ()) -> Explained | None:
    """The plans that an explanation has; None where its analysed plan is none of a stream, or is not all there.

    Parameters
    ----------
    text
        What ``explain(extended=True)`` prints.
    types
        The names and types, in Spark's SQL, of the columns that the plan gives, in order.
    """
    names = Names.of(text, [name for name, _ in types])
    text = names.hidden(text)
    analysed, optimised = (section(text, title) for title in (ANALYSED, OPTIMISED))
    if not analysed:
        return None
    known: dict[int, str] = {}
    first = _plan(analysed, names, known)
    if first is None:
        return None
    _know_output(first, types, known)
    _plan(optimised, names, known)
    plan, run = (_plan(lines, names, known) for lines in (analysed, optimised))  # with the types that both show
    said = dict.fromkeys(_SAID.format(each.strip(". ")) for line in analysed for each in _LEFT_OUT.findall(line))
    return Explained(plan or first, run, tuple(said))


def _plan(lines: list[str], names: Names, known: dict[int, str]) -> Node | None:
    """The plan of some lines; None of a broken one."""
    try:
        return Plans(names, known).plan(outline(lines)) if lines else None
    except BrokenError:
        return None


def _know_output(plan: Node, types: Sequence[tuple[str, str]], known: dict[int, str]) -> None:
    columns = plan.java.columns
    if len(columns) == len(types):
        known |= {number: json_type(kind) for (number, _), (_, kind) in zip(columns, types, strict=True)}
