"""A join as Apache Flink says it: in Flink SQL, and as a job of its DataStream API in Java.

For people who come from there, and to lay side by side: nothing of it runs in the workbench. The rows are those of the
run wherever none comes late; what differs beside lateness is told in the text itself.
"""

from __future__ import annotations

from typing import Any

import jinja2

from workbench.flink import _words
from workbench.joins import CoGroup, IntervalJoin, Join, WindowJoin
from workbench.plan import Names
from workbench.plan._names import ENVIRONMENT, backticks
from workbench.streams import SIDES, Stream
from workbench.windows import Session

__all__ = ["class_name", "java", "sql"]

_TEMPLATES = ENVIRONMENT.overlay(loader=jinja2.PackageLoader("workbench", "flink"))
_TEMPLATES.filters |= {
    "sql_name": backticks,
    "row_type": _words.row_type,
    "java_text": _words.java_text,
    "java_lines": _words.java_lines,
}
_JOINS = {"inner": "JOIN", "left": "LEFT JOIN", "right": "RIGHT JOIN", "full": "FULL JOIN", "anti": "LEFT JOIN"}


def sql(join: Join, left: Stream, right: Stream) -> str:
    """The two tables and the query as Flink SQL (2.0 and later).

    Parameters
    ----------
    join, left, right
        As in `workbench.run`.

    Returns
    -------
    str
        Statements that each end in a semicolon; the last one is the query. Streams from memory are read where
        `workbench.export` writes them.

    Raises
    ------
    ArgumentError
        If a time span is finer than a millisecond, which is as fine as Flink's event times are, or if Flink's SQL has
        no such join.

    Examples
    --------
    >>> import generators
    >>> import workbench as wb
    >>> text = sql(wb.IntervalJoin("0 s", "15 s"), *generators.generate("orders_payments", events=10))
    >>> print(text[text.index("FROM") :])
    FROM `orders` AS L
    JOIN `payments` AS R
      ON L.`order_id` = R.`order_id`
      AND R.`paid_at` >= L.`ordered_at` + INTERVAL '0' SECOND
      AND R.`paid_at` <= L.`ordered_at` + INTERVAL '15' SECOND;
    """
    given = _given(join, left, right)
    return _TEMPLATES.get_template("join.sql.jinja").render(
        given, tables=_tables(given, watermarks=True), query=_query(join, given)
    )


def java(join: Join, left: Stream, right: Stream) -> str:
    """The job as one Java class of Flink's DataStream API (2.0 and later); it is named as `class_name` says.

    Parameters
    ----------
    join, left, right
        As in `workbench.run`.

    Raises
    ------
    ArgumentError
        As in `sql`.
    """
    given = _given(join, left, right)
    by_table = isinstance(join, IntervalJoin) and join.how != "inner"
    named = [{each.name: each for each in columns} for columns in given["fields"]]
    body = _TEMPLATES.get_template("Join.java.jinja").render(
        given,
        name=class_name(left, right),
        tables=_tables(given, watermarks=by_table),
        query=_query(join, given) if by_table else "",
        keys=_words.java_keys([named[0][key] for key in left.key], [named[1][key] for key in right.key]),
        times=[_words.java_time(columns[stream.time]) for columns, stream in zip(named, (left, right), strict=True)],
        delays=[_words.duration(stream.watermark, "watermark") for stream in (left, right)],
        assigner=None if isinstance(join, IntervalJoin) else _words.assigner(join.window),
        bounds=[_words.duration(join.lower, "lower"), _words.duration(join.upper, "upper")]
        if isinstance(join, IntervalJoin)
        else [],
    )
    return f"{_words.java_imports(body)}\n\n{body}\n"


def class_name(left: Stream, right: Stream) -> str:
    """The name of the class that `java` writes, and of its file.

    Examples
    --------
    >>> import generators
    >>> class_name(*generators.generate("orders_payments", events=10))
    'OrdersWithPayments'
    """
    names = Names.of(left, right)
    return "With".join("".join(map(str.capitalize, side.var.split("_"))) for side in (names.left, names.right))


def _given(join: Join, left: Stream, right: Stream) -> dict[str, Any]:
    """What all templates go by."""
    names = Names.of(left, right)
    how = "inner" if isinstance(join, CoGroup) else join.how
    return {
        "join": join,
        "how": how,
        "join_word": _JOINS.get(how, ""),
        "title": f"{names.left.var} with {names.right.var}",
        "left": left,
        "right": right,
        "keys": list(zip(left.key, right.key, strict=True)),
        "names": [names.left.var, names.right.var],
        "fields": [_words.fields(stream) for stream in (left, right)],
        "both": _words.BOTH,
        "grouped": isinstance(join, CoGroup),
        "windowed": not isinstance(join, IntervalJoin),
        "session": isinstance(join, CoGroup | WindowJoin) and isinstance(join.window, Session),
        "sides": (0,) if how in ("semi", "anti") else (0, 1),
        "regular": isinstance(join, IntervalJoin) and how == "semi",
    }


def _tables(given: dict[str, Any], watermarks: bool) -> list[str]:
    """The statement that makes each side's table."""
    template = _TEMPLATES.get_template("table.sql.jinja")
    sides = zip(given["names"], given["fields"], (given["left"], given["right"]), strict=True)
    return [
        template.render(
            name=name,
            columns=columns,
            options=_words.options(stream, name),
            time=stream.time,
            delay=_words.interval(stream.watermark, "watermark") if watermarks else "",
        )
        for name, columns, stream in sides
    ]


def _query(join: Join, given: dict[str, Any]) -> str:
    """The query without its semicolon, and the view that it needs before it, if any."""
    if isinstance(join, IntervalJoin):
        bounds = [_words.bound(join.lower, "lower"), _words.bound(join.upper, "upper")]
        return _TEMPLATES.get_template("interval.sql.jinja").render(given, bounds=bounds).strip()
    sides = [(name, given[side].time) for name, side in zip(given["names"], SIDES, strict=True)]
    if given["session"] or given["grouped"]:
        sides = [(_words.BOTH, "event_time")] * 2
    functions = [_words.window_function(join.window, *side, given["left"].key, given["grouped"]) for side in sides]
    template = "cogroup.sql.jinja" if given["grouped"] else "window.sql.jinja"
    return _TEMPLATES.get_template(template).render(given, functions=functions).strip()
