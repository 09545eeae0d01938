"""The files of an exported project: its modules, its test, its README, its ``pyproject.toml``, the join as a pipeline."""

from __future__ import annotations

import black

from workbench.joins import Join, emission
from workbench.kinds import kind_of, plan_of
from workbench.literals import Policy
from workbench.plan import Names
from workbench.script import _sides, _templates
from workbench.script._endpoints import Endpoints
from workbench.script._job import MAIN, modules
from workbench.script._variables import both_sides, description, title, unordered
from workbench.streams import Stream


def project(join: Join, left: Stream, right: Stream, policy: Policy, endpoints: Endpoints) -> dict[str, str]:
    """The files of a project, by name.

    Parameters
    ----------
    join, left, right, policy
        As in `workbench.run`.
    endpoints
        Where the script reads and writes.
    """
    names = Names.of(left, right)
    given = {
        "left": names.left,
        "right": names.right,
        "title": title(names),
        "heading": _heading(join, names),
        "name": title(names).replace(" ", "-").replace("_", "-"),
        "policy": policy,
        "main": MAIN,
        "description": description(join, policy, names),
        "unordered": unordered(join),
        "processor": kind_of(join).operator.is_processor,
        "pipeline": _is_pipeline(join, left, right, endpoints),
        "packages": f"--packages {endpoints.coordinates} " if endpoints.connectors else "",
        **endpoints.variables(names, MAIN),
    }
    made = modules(join, left, right, policy, endpoints)
    given["modules"] = [name for name in made if name != MAIN]
    made |= {
        name: _templates.fill(f"project/{name}.jinja", given) + "\n"
        for name in ("tests/test_join.py", "README.md", "pyproject.toml")
    }
    if given["pipeline"]:
        given["sides"] = both_sides(names, left, right, endpoints, MAIN)
        code = plan_of(join, left, right)
        for side in (names.left, names.right):  # a pipeline's functions must not ask Spark for columns
            code = code.replace(f"in {side.var}.columns", f"in {side.var.upper()}_COLUMNS")
        given["code"] = code
        given["reads"] = _templates.macros(endpoints.source.pipeline, given)
        text = _templates.fill("project/pipeline.py.jinja", given)
        made["pipeline/transformations/join.py"] = black.format_str(text, mode=black.Mode(line_length=120))
        made["pipeline/spark-pipeline.yml"] = _templates.fill("project/spark-pipeline.yml.jinja", given) + "\n"
    return made


def _heading(join: Join, names: Names) -> str:
    """What the join is, in words; what the kind's label says behind a comma stands behind the streams."""
    kind, comma, more = kind_of(join).label.partition(",")
    return f"{kind} of {names.left.var} and {names.right.var}{comma}{more}"


def _is_pipeline(join: Join, left: Stream, right: Stream, endpoints: Endpoints) -> bool:
    """Whether the join can be written as a declarative pipeline: of plain files, or topics of JSON."""
    if not emission(join).matched or not endpoints.source.pipeline or kind_of(join).operator.is_processor:
        return False  # its plan asks for columns, or its source has no such text
    plain = not endpoints.formats and not (
        endpoints.source.stored and any(stream.source.as_files().nanos for stream in (left, right))
    )
    return plain and not _sides.meta(left, right)
