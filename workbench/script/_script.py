"""The exported script as text."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import black

from workbench import plan, times
from workbench.joins import Join, emission
from workbench.kinds import kind_of
from workbench.literals import Policy
from workbench.plan import Names
from workbench.plan.names import literal
from workbench.safe_files import noted
from workbench.script import _imports, _late, _sides, _templates
from workbench.script._endpoints import Endpoints, check
from workbench.sources import MALFORMED, arrow
from workbench.streams import Stream


def render(
    join: Join,
    left: Stream,
    right: Stream,
    *,
    finish: bool = True,
    policy: Policy = "min",
    file: str = "join.py",
    source: str = "files",
    sink: str = "parquet",
    dead_letters: str | None = None,
) -> str:
    """The script as text.

    Parameters
    ----------
    join, left, right, finish, policy
        As in `workbench.run`.
    file
        The script's own name, for its help.
    source, sink, dead_letters
        As in `workbench.export`.

    Raises
    ------
    ArgumentError
        If there is no such place, or if they do not go together.
    """
    endpoints = check(left, right, source, sink, dead_letters)
    finish = finish and endpoints.source.stored
    names = Names.of(left, right)
    kind, sides = kind_of(join), both_sides(names, left, right, endpoints, file)
    for side, late_rows in zip(sides, _late.bodies(join, names), strict=True):
        side["late_rows"] = late_rows
    given = dict(
        left=names.left,
        right=names.right,
        sides=sides,
        description=description(join, policy, names),
        join_repr=repr(join),
        title=f"{names.left.var} with {names.right.var}",
        file=file,
        code=plan.render(join, left, right, finish),
        finish=finish,
        policy=policy,
        end=arrow.END_OF_INPUT.tz_localize("UTC").isoformat(),
        windowed=kind.windowed,
        grouped=kind.grouped,
        malformed=max((stream.source.as_files().malformed for stream in (left, right)), key=MALFORMED.index),
        output_keys=_output_keys(join, names),
        meta=_sides.meta(left, right),
        inputs=_inputs(names, finish),
        **endpoints.variables(names, file),
    )
    given["reads"] = _templates.macros(endpoints.source.template, given)
    given["writes"] = _templates.fill_text(endpoints.sink.template, given)
    given["connections"] = [
        _templates.fill_text(each.template, given) for each in endpoints.connectors if each.template
    ]
    if endpoints.dead_letters:
        statements = dedent(_templates.fill_text(endpoints.dead_letters.template, given))
        given["writes_dead_letters"] = indent(statements, " " * 12)
        given["dead_letter_query"] = _templates.fill("dead_letters.jinja", given)
    given["used"] = _imports.names("\n".join([given["writes"], given.get("dead_letter_query", "")]))
    body = _templates.fill("body.py.jinja", given)
    used = _imports.names(body)
    head = {
        "body": body,
        "constants": _imports.constants(used),
        "imports": _imports.imports(used, (*_imports.COMMON, *endpoints.imports)),
    }
    text = _templates.fill("join.py.jinja", given | head)
    return noted(black.format_str(text, mode=black.Mode(line_length=100)))


def data_folder(file: str) -> str:
    """The folder beside a script that holds the recordings of its streams from memory."""
    return f"{Path(file).stem}_data"


def both_sides(names: Names, left: Stream, right: Stream, endpoints: Endpoints, file: str) -> list[dict[str, Any]]:
    """What the templates ask of either side."""
    sides = ((names.left, left), (names.right, right))
    return [_sides.side(side, stream, endpoints.source, data_folder(file)) for side, stream in sides]


def description(join: Join, policy: Policy, names: Names) -> str:
    """The settings in words; no user text but the identifiers made of the streams' names."""
    delays = " and ".join(f"{times.text(side.delay)} ({side.var})" for side in (names.left, names.right))
    return f"{join!r}\nWatermark delays: {delays}; the query's watermark is the {policy}imum of the two."


def _inputs(names: Names, finish: bool) -> str:
    """For each side the place of its source among Spark's, its description, and what finds its late rows."""
    step = 2 if finish else 1  # beside each source there is one for the end of its input
    sides = enumerate((names.left, names.right))
    return "[" + ", ".join(f"({n * step}, {side.var.upper()}, late_{side.var})" for n, side in sides) + "]"


def _output_keys(join: Join, names: Names) -> str:
    """The key of an output row, as Python source of columns."""
    if kind_of(join).grouped:
        return ", ".join(f"F.col({plan.column(key)})" for key in names.left.keys)
    pairs = zip(names.left.prefixed_keys, names.right.prefixed_keys, names.left.keys, strict=True)
    if len(emission(join).sides) == 1:
        return ", ".join(f"F.col({mine}).alias({literal(key)})" for mine, _, key in pairs)
    return ", ".join(f"F.coalesce({mine}, {theirs}).alias({literal(key)})" for mine, theirs, key in pairs)
