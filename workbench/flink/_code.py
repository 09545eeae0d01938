"""The text of a join for Flink: SQL, and the Java of a job, from templates; kinds bring their own parts of the Java."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import jinja2

from workbench.conditions import Condition, Kind, check
from workbench.flink import syntax
from workbench.flink.conditions import flink_sql, java_helpers
from workbench.flink.conditions import java as java_condition
from workbench.joins import Join, emission, how_of, where_of
from workbench.kinds import kind_of
from workbench.plan import Names
from workbench.plan.names import ENVIRONMENT
from workbench.quoting import backticks
from workbench.streams import Stream, check_stream, pair_types
from workbench.untyped import Record, Value

__all__ = ["class_name", "java", "sql"]

_TEMPLATES = ENVIRONMENT.overlay(
    loader=jinja2.ChoiceLoader([jinja2.PackageLoader("workbench", name) for name in ("flink", "builtin_kinds")])
)
_TEMPLATES.filters = ENVIRONMENT.filters | {  # an overlay shares its filters with the environment it is of
    "sql_name": backticks,
    "row_type": syntax.row_type,
    "java_text": syntax.java_text,
    "java_lines": syntax.java_lines,
    "java_comment": syntax.java_comment,
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
    kind = kind_of(join)
    parts: Record = {"assigner": None, "bounds": [], "by_table": False, "more": {}} | kind.flink_java(join)
    more: Record = {"keyed": (True, True), "rules": False} | parts["more"]
    more |= kind.flink_variables(join, pair_types(left, right))
    by_table = parts["by_table"]
    named = [{each.name: each for each in columns} for columns in given["fields"]]
    where_java = "" if by_table else _where(join, left, right, _java)
    body = _TEMPLATES.get_template(parts["template"]).render(
        given,
        where_java=where_java,
        java_helpers=java_helpers,
        name=class_name(left, right),
        tables=_tables(given, watermarks=by_table),
        query=_query(join, given) if by_table else "",
        keys=_java_keys(more["keyed"], named, left, right),
        times=[syntax.java_time(columns[stream.time]) for columns, stream in zip(named, (left, right), strict=True)],
        delays=[syntax.duration(stream.watermark, "watermark") for stream in (left, right)],
        assigner=parts["assigner"],
        bounds=parts["bounds"],
        **more,
    )
    return f"{syntax.java_imports(body)}\n\n{body}\n"


def _java_keys(
    keyed: tuple[bool, bool], named: list[dict[str, syntax.Field]], left: Stream, right: Stream
) -> dict[str, str]:
    """The key as Java source; that of the left rows alone where right rows are for any key."""
    mine = [named[0][key] for key in left.key]
    return syntax.java_keys(mine, [named[1][key] for key in right.key] if keyed[1] else mine)


def class_name(left: Stream, right: Stream) -> str:
    """The name of the class that `java` writes, and of its file.

    Examples
    --------
    >>> import generators
    >>> class_name(*generators.generate("orders_payments", events=10))
    'OrdersWithPayments'
    """
    check_stream("left", left)
    check_stream("right", right)
    names = Names.of(left, right)
    return "With".join("".join(map(str.capitalize, side.var.split("_"))) for side in (names.left, names.right))


def _given(join: Join, left: Stream, right: Stream) -> Record:
    """What all templates go by, of arguments that are checked."""
    kind = kind_of(join)
    check_stream("left", left)
    check_stream("right", right)
    kind.check(join, left, right)
    names = Names.of(left, right)
    emitted, how = emission(join), how_of(join)
    return {
        "join": join,
        "how": how,
        "join_word": _JOINS.get(how, ""),
        "title": f"{names.left.var} with {names.right.var}",
        "left": left,
        "right": right,
        "keys": list(zip(left.key, right.key, strict=False)),  # rules may be for any key
        "names": [names.left.var, names.right.var],
        "fields": [syntax.fields(stream) for stream in (left, right)],
        "both": syntax.BOTH,
        "grouped": kind.grouped,
        "chosen": kind.one_partner,
        "windowed": kind.windowed,
        "session": kind.merging,
        "sides": tuple(range(len(emitted.sides))),
        "regular": emitted.first_only and not kind.windowed,
        "where": _where(join, left, right, _sql),
    }


def _where(join: Join, left: Stream, right: Stream, text: Callable[[Condition, Mapping[str, Kind]], str]) -> str:
    """The text of a join's condition on its pairs; empty for none."""
    where = where_of(join)
    return "" if where is None else text(where, check(where, pair_types(left, right), "where"))


def _sql(where: Condition, kinds: Mapping[str, Kind]) -> str:
    return flink_sql(where, kinds, lambda name: f"{'L' if name.startswith('left_') else 'R'}.{backticks(_own(name))}")


def _java(where: Condition, kinds: Mapping[str, Kind]) -> str:
    return java_condition(
        where, kinds, lambda name: f"{name.partition('_')[0]}.getField({syntax.java_text(_own(name))})"
    )


def _own(name: str) -> str:
    """A column's name in its stream, by that in the output."""
    return name.partition("_")[2]


def _tables(given: Record, watermarks: bool) -> list[str]:
    """The statement that makes each side's table."""
    template = _TEMPLATES.get_template("table.sql.jinja")
    sides = zip(given["names"], given["fields"], (given["left"], given["right"]), strict=True)
    return [
        template.render(
            name=name,
            columns=columns,
            options=syntax.options(stream, name),
            time=stream.time,
            delay=syntax.interval(stream.watermark, "watermark") if watermarks else "",
            key=stream.key if given["chosen"] and stream is given["right"] else (),
        )
        for name, columns, stream in sides
    ]


def _query(join: Join, given: Record) -> str:
    """The query without its semicolon, and the view that it needs before it, if any."""

    def render(template: str, **more: Value) -> str:
        return _TEMPLATES.get_template(template).render(given, **more)

    return kind_of(join).flink_query(join, given, render).strip()
