"""The plain script: one file that reads, joins and writes, and nothing that only a long-lived job needs."""

from __future__ import annotations

from workbench.errors import wrong
from workbench.joins import Join
from workbench.kinds import kind_of
from workbench.literals import Policy
from workbench.plan import Names
from workbench.safe_files import noted
from workbench.script import _imports, _modules, _templates
from workbench.script._endpoints import Endpoints, check
from workbench.script._variables import variables
from workbench.session import state_store
from workbench.streams import Stream


def render(
    join: Join,
    left: Stream,
    right: Stream,
    *,
    policy: Policy = "min",
    file: str = "join.py",
    source: str = "files",
    sink: str = "parquet",
    dead_letters: str | None = None,
) -> str:
    """The script as text.

    Parameters
    ----------
    join, left, right, policy
        As in `workbench.run`.
    file
        The script's own name, for its help.
    source, sink
        As in `workbench.export`.
    dead_letters
        None; what else asks for a project.

    Raises
    ------
    ArgumentError
        If there is no such place, or if they do not go together.
    """
    endpoints = check(left, right, source, sink, dead_letters)
    if dead_letters is not None:
        raise wrong(
            "dead_letters", dead_letters, 'a plain script has none; export a project, to a folder such as "job/"'
        )
    if not endpoints.source.plain:
        raise wrong("source", source, 'it has no plain script; export a project, to a folder such as "job/"')
    given = variables(join, left, right, policy, endpoints, file, endpoints.source.plain)
    given["noted_for"] = _noted_for(join, policy, left, right)
    given["settings"] = _settings(join, policy, left, right, endpoints)
    body = _templates.fill("plain.py.jinja", given)
    docstring = _templates.fill("plain_docstring.jinja", given)
    helpers = _templates.helpers(given)
    imports = (*_imports.COMMON, *endpoints.imports)
    return noted(_modules.assemble({file: docstring}, {file: body}, helpers, imports)[file])


def _noted_for(join: Join, policy: Policy, left: Stream, right: Stream) -> str:
    """What a checkpoint belongs to: with another join its state would be wrong."""
    names = Names.of(left, right)
    sides = ((names.left.var, left), (names.right.var, right))
    streams = (f"{name} ({', '.join((*stream.key, stream.time))})" for name, stream in sides)
    return " ".join(f"{join!r} of {' and '.join(streams)}, {policy} of the watermarks".split())  # in one line


def _settings(join: Join, policy: Policy, left: Stream, right: Stream, endpoints: Endpoints) -> dict[str, str]:
    """The session's settings that the join needs."""
    settings = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.streaming.multipleWatermarkPolicy": policy,  # a cluster's default would change the join
    }
    if kind_of(join).operator.is_processor:
        settings[state_store.SETTING] = state_store.ROCKSDB
    return (
        settings
        | endpoints.source.settings(left, right)
        | dict(pair for each in endpoints.connectors for pair in each.settings)
    )
