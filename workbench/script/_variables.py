"""What the templates of a script are filled with."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

from workbench import times
from workbench.joins import Join, emission
from workbench.kinds import kind_of, part_of, plan_of
from workbench.literals import Policy
from workbench.model import Meeting
from workbench.plan import Names
from workbench.quoting import column, literal
from workbench.script import _late, _sides, _templates
from workbench.script._endpoints import Endpoints
from workbench.sources import MALFORMED, arrow
from workbench.streams import Stream
from workbench.untyped import Record

TRIGGER = "10 seconds"
"""How often a script begins a micro-batch, unless its streams or its arguments tell otherwise."""


def variables(
    join: Join, left: Stream, right: Stream, policy: Policy, endpoints: Endpoints, file: str, reads: str
) -> Record:
    """What templates are filled with, the texts of the places among it.

    Parameters
    ----------
    join, left, right, policy
        As in `workbench.run`.
    endpoints
        Where the script reads and writes.
    file
        The script's own name, for its help.
    reads
        The source's template.
    """
    names = Names.of(left, right)
    kind, sides = kind_of(join), both_sides(names, left, right, endpoints, file)
    for side, late_rows in zip(sides, _late.bodies(join, names), strict=True):
        side["late_rows"] = late_rows
    given = dict(
        left=names.left,
        right=names.right,
        sides=sides,
        description=description(join, policy, names),
        made_for=_made_for(join, policy, endpoints, sides),
        title=title(names),
        file=file,
        code=plan_of(join, left, right, finish=True),
        policy=policy,
        trigger=_trigger(left, right),
        drain_help="take what is there, close every window, and end",
        end=arrow.END_OF_INPUT.tz_localize("UTC").isoformat(),
        after_all=arrow.AFTER_ALL.value // 1_000_000,  # milliseconds
        windowed=kind.windowed,
        unordered=unordered(join),
        processor=kind.operator.is_processor,
        malformed=max((stream.source.as_files().malformed for stream in (left, right)), key=MALFORMED.index),
        output_keys=_output_keys(join, names),
        meta=_sides.meta(left, right),
        inputs=_inputs(names),
        **endpoints.variables(names, file),
    )
    given["reads"] = _templates.macros(reads, given)
    given["writes"] = _templates.fill_text(endpoints.sink.template, given)
    if endpoints.dead_letters:
        statements = dedent(_templates.fill_text(endpoints.dead_letters.template, given))
        given["writes_dead_letters"] = indent(statements, " " * 12)
    return given


def _trigger(left: Stream, right: Stream) -> str:
    """The trigger interval that the streams' micro-batches were cut by, where both have the same."""
    found = {None if each.arrivals is None else each.arrivals.trigger for each in (left, right)}
    one = found.pop()
    return TRIGGER if one is None or found else times.text(one)


def made_for(join: Join, left: Stream, right: Stream, policy: Policy, endpoints: Endpoints) -> dict[str, str]:
    """What a project notes with its checkpoint that it is made for; arguments as in `variables`."""
    return _made_for(join, policy, endpoints, both_sides(Names.of(left, right), left, right, endpoints, ""))


def _made_for(join: Join, policy: Policy, endpoints: Endpoints, sides: list[Record]) -> dict[str, str]:
    of_sides = {side["var"]: side["made_for"] for side in sides}
    return {"join": repr(join), **of_sides, "policy": policy, "source": endpoints.source.name}


def unordered(join: Join) -> bool:
    """Whether the lists of rows in its output are in no order: those of groups are not, those of a pattern's steps are."""
    return kind_of(join).grouped and not kind_of(join).match_columns(join)


def title(names: Names) -> str:
    """What a script is called: both streams."""
    return f"{names.left.var} with {names.right.var}"


def data_folder(file: str) -> str:
    """The folder beside a script that holds the recordings of its streams from memory."""
    return f"{Path(file).stem}_data"


def both_sides(names: Names, left: Stream, right: Stream, endpoints: Endpoints, file: str) -> list[Record]:
    """What the templates ask of either side."""
    sides = ((names.left, left), (names.right, right))
    return [_sides.side(side, stream, endpoints.source, data_folder(file)) for side, stream in sides]


def description(join: Join, policy: Policy, names: Names) -> str:
    """The settings in words, for a docstring."""
    delays = " and ".join(f"{times.text(side.delay)} ({side.var})" for side in (names.left, names.right))
    return f"{join!r}\nWatermark delays: {delays}; the query's watermark is the {policy}imum of the two."


def _inputs(names: Names) -> str:
    """For each side the place of its source among Spark's, its description, and what finds its late rows."""
    step = 2  # behind each source there is one for the end of its input
    sides = enumerate((names.left, names.right))
    return "[" + ", ".join(f"({n * step}, {side.var.upper()}, late_{side.var})" for n, side in sides) + "]"


def _output_keys(join: Join, names: Names) -> str:
    """The key of an output row, as Python source of columns."""
    if kind_of(join).grouped:
        return ", ".join(f"F.col({column(key)})" for key in names.left.keys)
    if len(emission(join).sides) == 1 or part_of(join, Meeting) is not None:  # it may pair rows of different keys
        mine = zip(names.left.prefixed_keys, names.left.keys, strict=True)
        return ", ".join(f"F.col({name}).alias({literal(key)})" for name, key in mine)
    pairs = zip(names.left.prefixed_keys, names.right.prefixed_keys, names.left.keys, strict=True)
    return ", ".join(f"F.coalesce({mine}, {theirs}).alias({literal(key)})" for mine, theirs, key in pairs)
