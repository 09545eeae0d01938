"""The exported PySpark script: the run's plan, with sources, sinks and what a long life asks for around it.

It needs PySpark and, for some sinks, the packages that its docstring names.
"""

from __future__ import annotations

import black
import jinja2

from workbench import _arrow, plan, times
from workbench.errors import ArgumentError, one_of
from workbench.joins import CoGroup, IntervalJoin, Join
from workbench.plan import Names
from workbench.plan._names import ENVIRONMENT, is_plain, literal
from workbench.script import _imports, _late, _sides
from workbench.script._places import LATE, SINKS, SOURCES, Places
from workbench.streams import Stream

__all__ = ["LATE", "SINKS", "SOURCES", "Names", "Places", "render"]

_TEMPLATES = ENVIRONMENT.overlay(loader=jinja2.PackageLoader("workbench", "script"))


def render(
    join: Join,
    left: Stream,
    right: Stream,
    finish: bool = True,
    policy: str = "min",
    file: str = "join.py",
    source: str = "files",
    sink: str = "parquet",
    late: str | None = None,
) -> str:
    """The script as text.

    Parameters
    ----------
    join, left, right, finish, policy
        As in `workbench.run`.
    file
        The script's own name, for its help.
    source, sink, late
        As in `workbench.export`.

    Raises
    ------
    ArgumentError
        If there is no such source or sink, or if they do not go together.
    """
    places = check(left, right, source, sink, late)
    finish = finish and places.source == "files"
    names = Names.of(left, right)
    sides = [_sides.side(*each, places) for each in ((names.left, left), (names.right, right))]
    for side, words in zip(sides, _late.bodies(join, left, right, names), strict=True):
        side["late"] = words
    given = dict(
        left=names.left,
        right=names.right,
        sides=sides,
        description=_description(join, policy, names),
        join_words=repr(join),
        title=f"{names.left.var} with {names.right.var}",
        file=file,
        data=places.source == "files" and any(stream.path is None for stream in (left, right)),
        code=plan.render(join, left, right, finish),
        finish=finish,
        policy=policy,
        end=_arrow.END_OF_INPUT.tz_localize("UTC").isoformat(),
        windowed=not isinstance(join, IntervalJoin),
        grouped=isinstance(join, CoGroup),
        nanos=places.source == "files" and any(stream.nanos for stream in (left, right)),
        output_keys=_output_keys(join, names),
        meta=_sides.meta(left, right),
        inputs=_inputs(names, finish),
        **places.words(names, file),
    )
    body = _TEMPLATES.get_template("body.py.jinja").render(given)
    used = _imports.names(body)
    head = {"body": body, "constants": _imports.constants(used), "imports": _imports.imports(used)}
    text = _TEMPLATES.get_template("join.py.jinja").render(given | head)
    return black.format_str(text, mode=black.Mode(line_length=100))


def project(join: Join, left: Stream, right: Stream, policy: str, places: Places) -> dict[str, str]:
    """The files around a script, by name: its test, its README, its ``pyproject.toml``.

    Parameters
    ----------
    join, left, right, policy
        As in `workbench.run`.
    places
        Where the script reads and writes.
    """
    names = Names.of(left, right)
    title = f"{names.left.var} with {names.right.var}"
    given = {
        "left": names.left,
        "right": names.right,
        "title": title,
        "name": title.replace(" ", "-").replace("_", "-"),
        "description": _description(join, policy, names),
        "grouped": isinstance(join, CoGroup),
        "pipeline": _as_pipeline(join, left, right, places),
        "packages": f"--packages {places.coordinates} " if places.needs else "",
        **places.words(names, "join.py"),
    }
    made = {
        name: _TEMPLATES.get_template(f"project/{name}.jinja").render(given) + "\n"
        for name in ("test_join.py", "README.md", "pyproject.toml")
    }
    if given["pipeline"]:
        given["sides"] = [_sides.side(*each, places) for each in ((names.left, left), (names.right, right))]
        code = plan.render(join, left, right)
        for side in (names.left, names.right):  # a pipeline's functions must not ask Spark for columns
            code = code.replace(f"in {side.var}.columns", f"in {side.var.upper()}_COLUMNS")
        given |= {"code": code, "policy": policy}
        text = _TEMPLATES.get_template("project/pipeline.py.jinja").render(given)
        made["pipeline/transformations/join.py"] = black.format_str(text, mode=black.Mode(line_length=100))
        made["pipeline/spark-pipeline.yml"] = (
            _TEMPLATES.get_template("project/spark-pipeline.yml.jinja").render(given) + "\n"
        )
    return made


def _as_pipeline(join: Join, left: Stream, right: Stream, places: Places) -> bool:
    """Whether the join can be written as a declarative pipeline: of plain files, or topics of JSON."""
    if not isinstance(join, CoGroup) and join.how == "anti":
        return False  # its plan asks for columns
    plain = "delta" not in places.formats and not (left.nanos or right.nanos)
    return not _sides.meta(left, right) and (plain if places.source == "files" else places.source == "kafka")


def check(left: Stream, right: Stream, source: object, sink: object, late: object) -> Places:
    """Check where rows come from and go to.

    Raises
    ------
    ArgumentError
        If there is no such place, or if they do not go together.
    """
    one_of("source", source, tuple(SOURCES))
    one_of("sink", sink, tuple(SINKS))
    if late is not None:
        one_of("late", late, tuple(LATE))
    places = Places(str(source), str(sink), None if late is None else str(late), (left.format, right.format))
    if late is not None and places.source == "files" and "delta" in places.formats:
        raise ArgumentError(
            f"late: got {late!r}; which rows of a Delta table a micro-batch took in cannot be told afterwards: "
            "use a source of files or Kafka, or late=None"
        )
    if places.source == "kafka-avro":
        for stream in (left, right):
            for name in stream.columns:
                if not is_plain(name):
                    raise ArgumentError(
                        f"source: got {source!r}; Avro has no field named {name!r}, as a column of {stream.name} is: "
                        "rename it, or use 'kafka'"
                    )
    return places


def _inputs(names: Names, finish: bool) -> str:
    """For each side the place of its source among Spark's, its description, and what finds its late rows."""
    step = 2 if finish else 1  # beside each source there is one for the end of its input
    sides = enumerate((names.left, names.right))
    return "[" + ", ".join(f"({n * step}, {side.var.upper()}, late_{side.var})" for n, side in sides) + "]"


def _output_keys(join: Join, names: Names) -> str:
    """The key of an output row, as Python source of columns."""
    if isinstance(join, CoGroup):
        return ", ".join(f"F.col({plan.column(key)})" for key in names.left.keys)
    pairs = zip(names.left.prefixed_keys, names.right.prefixed_keys, names.left.keys, strict=True)
    if join.how in ("semi", "anti"):
        return ", ".join(f"F.col({mine}).alias({literal(key)})" for mine, _, key in pairs)
    return ", ".join(f"F.coalesce({mine}, {theirs}).alias({literal(key)})" for mine, theirs, key in pairs)


def _description(join: Join, policy: str, names: Names) -> str:
    """The settings in words; no user text but the identifiers made of the streams' names."""
    delays = " and ".join(f"{times.text(side.delay)} ({side.var})" for side in (names.left, names.right))
    return f"{join!r}\nWatermark delays: {delays}; the query's watermark is the {policy}imum of the two."
