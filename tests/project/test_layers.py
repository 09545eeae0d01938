"""The tree is the architecture: no circle among packages, and no import by name that would hide one."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
ROOTS = {"workbench/__init__.py", "workbench/flink/__init__.py", "workbench/_root.py"}
"""What may import by name: the packages whose names are imported when they are first used, and the composition root."""
TO_TOOLS = re.compile(r"#\s*(noqa(: *[A-Z]+[0-9]+(, *[A-Z]+[0-9]+)*)?|type: *ignore(\[[^]]*\])?)")
"""Of a comment what is no reason."""


def imported():
    """For each package or module of the top level those that it imports, lazy and type-checking imports among them."""
    graph, found = grimp.build_graph("workbench", cache_dir=None), {}
    for module in graph.modules - {"workbench"}:
        mine = module.split(".")[1]
        others = {name.split(".")[1] for name in graph.find_modules_directly_imported_by(module) if "." in name}
        found.setdefault(mine, set()).update(others - {mine})
    return found


def by_name(tree):
    """The lines in which a module is imported by a name that begins with this package's."""
    for node in ast.walk(tree):
        name = node.func if isinstance(node, ast.Call) else None
        called = name.id if isinstance(name, ast.Name) else getattr(name, "attr", "")
        if called in ("import_module", "__import__"):
            texts = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
            if any(str(each).startswith("workbench") for each in texts):
                yield node.lineno


def inside_functions(tree):
    """The imports inside functions, in the order of their lines."""
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    found = {
        each for function in functions for each in ast.walk(function) if isinstance(each, ast.Import | ast.ImportFrom)
    }
    return sorted(found, key=lambda each: each.lineno)


def without_reason(code):
    """The lines of imports inside functions that say nothing on why they stand there, nor does an import right above."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    comments = {each.start[0]: each.string for each in tokens if each.type == tokenize.COMMENT}
    said = {line for line, text in comments.items() if re.search(r"\w", TO_TOOLS.sub("", text))}
    explained = set()  # the last lines of imports with a reason
    for each in inside_functions(ast.parse(code)):
        lines = range(each.lineno, each.end_lineno + 1)
        if each.lineno - 1 in explained or not said.isdisjoint(lines):
            explained.add(each.end_lineno)
        else:
            yield each.lineno


def test_there_is_no_circle_among_packages():
    order = list(TopologicalSorter(imported()).static_order())
    assert len(order) > 30
    assert order.index("runs") < order.index("app")


def test_the_gate_sees_a_circle():
    with pytest.raises(CycleError):
        list(TopologicalSorter(imported() | {"times": {"app"}}).static_order())


def test_only_the_root_imports_by_name():
    found = [
        f"{file}:{line}"
        for path in sorted((ROOT / "workbench").rglob("*.py"))
        if (file := str(path.relative_to(ROOT))) not in ROOTS
        for line in by_name(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


@pytest.mark.parametrize("code", ["import_module('workbench.app')", "importlib.import_module(f'workbench.{name}')"])
def test_the_gate_sees_an_import_by_name(code):
    assert list(by_name(ast.parse(code))) == [1]


def test_an_import_inside_a_function_says_why_it_is_there():
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / "workbench").rglob("*.py"))
        for line in without_reason(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("import a", [2]),
        ("import a  # noqa: F401", [2]),
        ("import a  # type: ignore[import]", [2]),
        ("import a  # noqa: F401 - it registers itself", []),
        ("from a import (\n        b,\n    )", [2]),
        ("from a import (  # slow\n        b,\n    )\n    import c", []),
        ("import a  # slow\n    import b\n    import c", []),
        ("import a  # slow\n\n    import b", [4]),
        ("import a\n    import b  # slow", [2]),
        ("try:\n        import a\n    except ImportError:\n        pass", [3]),
        ("def inner():\n        import a", [3]),
        ("# slow\n    import a", [3]),
        ("name = '# slow'; import a", [2]),
    ],
)
def test_the_gate_sees_an_import_that_does_not_say_why(body, lines):
    assert list(without_reason(f"def function():\n    {body}\n")) == lines
    assert list(without_reason("import a\n\nif a:\n    import b\n")) == []


def test_the_page_on_the_architecture_has_the_layers_of_the_contract():
    import tomllib

    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    [layers] = [each["layers"] for each in contracts if each.get("containers") == ["workbench"]]
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    drawn = text.partition("```text\n")[2].partition("```")[0].splitlines()
    assert [set(line.partition("   ")[0].split()) for line in drawn] == [
        {name for name in layer.split(" | ") if name not in ("_version", "_root")} for layer in layers
    ]


def test_each_file_that_the_page_on_the_architecture_names_is_there():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    names = re.findall(r"`((?:\w+/)*\w+\.(?:py|java\.jinja))`", text)
    assert len(names) > 40
    files = [
        f"/{each.relative_to(ROOT)}" for place in ("workbench", "tests", "docs") for each in (ROOT / place).rglob("*.*")
    ]
    assert [name for name in names if not any(each.endswith(f"/{name}") for each in files)] == []


def test_the_walk_from_a_run_to_its_chart_is_short_and_each_file_leads_to_the_next():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    walk = text.partition("## From `wb.run` to a chart")[2].partition("\n## ")[0]
    files = re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", walk)
    assert 10 < len(files) <= 25
    assert [file for file in files if not (ROOT / "workbench" / file).exists()] == []
    graph = grimp.build_graph("workbench", cache_dir=None)
    names = ["workbench." + file.removesuffix(".py").replace("/", ".").removesuffix(".__init__") for file in files]
    found_by_a_registry = ("workbench.builtin_kinds.", "workbench.charts.", "workbench.app.")
    for place, name in enumerate(names[1:], 1):
        if not name.startswith(found_by_a_registry):
            chains = [graph.find_shortest_chain(importer=before, imported=name) for before in names[:place]]
            assert min(len(each) for each in chains if each) <= 3, name  # a package may stand between
