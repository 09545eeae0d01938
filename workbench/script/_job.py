"""The long-lived job: a package of modules, each with one purpose."""

from __future__ import annotations

from workbench.joins import Join
from workbench.literals import Policy
from workbench.quoting import in_docstring
from workbench.script import _imports, _modules, _templates
from workbench.script._endpoints import Endpoints
from workbench.script._variables import variables
from workbench.streams import Stream

MAIN = "main.py"
"""The module that is started."""
_FUTURE = "from __future__ import annotations"


def modules(join: Join, left: Stream, right: Stream, policy: Policy, endpoints: Endpoints) -> dict[str, str]:
    """The modules of a job by the names of their files.

    Parameters
    ----------
    join, left, right, policy
        As in `workbench.run`.
    endpoints
        Where the job reads and writes.
    """
    given = variables(join, left, right, policy, endpoints, MAIN, endpoints.source.template)
    purposes = {
        "join": f"The join of {given['title']}.\n\n{in_docstring(given['description'])}",
        "draining": "What follows once `--drain` has ended the input: all new rows would be late, and are refused.",
        "sources": f"Where the rows come from: {endpoints.source.description}",
        "operations": "What a job needs to live long: a log, restarts, and the checkpoint that belongs to it.",
        "sinks": f"Where the joined rows go: {endpoints.sink.description}",
        "dead_letters": "Rows that the join drops, or that cannot be read, written down with the reason.",
        "main": _templates.fill("job/main_docstring.jinja", given).rstrip("\n"),
    }
    if endpoints.dead_letters is None:
        del purposes["dead_letters"]
    bodies = {name: _templates.fill(f"job/{name}.py.jinja", given) for name in purposes}
    imports = (*_imports.COMMON, *endpoints.imports)
    made = _modules.assemble(purposes, bodies, _templates.helpers(given), imports, _FUTURE)
    return {MAIN: made["main"], **{f"{name}.py": text for name, text in made.items()}}
