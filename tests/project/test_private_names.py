"""Tests use what a user can: no private name of the packages, wherever a test is; and they stand where the tested is."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import generators
import workbench

PACKAGES = [Path(package.__file__).parent for package in (workbench, generators)]
NAMES = {package.name for package in PACKAGES}
TESTS = Path(__file__).parents[1]
IN_TEXT = re.compile(r"\b(?:workbench|generators)((?:\.\w+)+)|\)\.(_[a-z]\w*)")
OF_OTHERS = {"_esm"}
"""Names that a library gives a protocol of its own: anywidget's for a widget's script."""


def is_private(name):
    """Whether a name is private; those with an underscore at either end are protocols, as IPython's."""
    return name.startswith("_") and not name.endswith("_") and name not in OF_OTHERS


def private_names():
    """The private names that the packages define: modules, functions, classes, attributes, variables of modules."""
    modules = [path for package in PACKAGES for path in package.rglob("*.py")]
    found = {part for path in modules for part in (path.stem, path.parent.name)}
    for path in modules:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(node.name)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_self(node.value):
                found.add(node.attr)
    return {name for name in found if is_private(name)}


def used(text, private):
    """The private names of the packages that a test uses."""
    for node in ast.walk(ast.parse(text)):
        names = []
        if isinstance(node, ast.Attribute):
            names = [] if _is_self(node.value) else [node.attr]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in NAMES:
            names = [*node.module.split("."), *(each.name for each in node.names)]
        elif isinstance(node, ast.Import):
            parts = [each.name.split(".") for each in node.names]
            names = [name for each in parts if each[0] in NAMES for name in each]
        elif isinstance(node, ast.Call) and _called(node.func) in ("setattr", "getattr", "delattr", "hasattr"):
            names = [each.value for each in node.args[1:2] if isinstance(each, ast.Constant)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = [name for found in IN_TEXT.findall(node.value) for each in found for name in each.split(".")]
            names += _code(node.value)
        yield from (name for name in names if name in private)


def _called(function):
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _is_self(node):
    return isinstance(node, ast.Name) and node.id == "self"


def _code(text):
    """The attributes in a text that is code: a cell of a notebook."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    return [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)]


def python_files():
    """All Python files of the tests, but this one, whose examples are private names."""
    return [path for path in sorted(TESTS.rglob("*.py")) if path != Path(__file__)]


PRIVATE = private_names()


@pytest.mark.parametrize("path", python_files(), ids=lambda path: path.relative_to(TESTS).as_posix())
def test_no_private_name_is_used(path):
    text = path.read_text()
    private = {name for name in PRIVATE if f"def {name}" not in text}  # a test's own function may have such a name
    assert sorted(used(text, private)) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("app._form", ["_form"]),
        ("from workbench.app._app import App", ["_app"]),
        ("from workbench.app import _code as code", ["_code"]),
        ("from generators._settings import Settings", ["_settings"]),
        ("import workbench.app._code", ["_code"]),
        ("patch.setattr('workbench.app._history._TOGETHER', 60)", ["_history", "_TOGETHER"]),
        ("patch.setattr(history, '_TOGETHER', 60)", ["_TOGETHER"]),
        ("ask('current()._settings.form.set({})')", ["_settings"]),
        ("cells = ['x = 1\\nx._results.run']", ["_results"]),
        ("self._clicks = 1", []),
        ("chart._repr_mimebundle_()", []),
        ("page.set({'Size': '_form'})", []),
    ],
)
def test_a_private_name_is_seen(text, found):
    private = {"_form", "_app", "_code", "_history", "_TOGETHER", "_settings", "_results"}
    assert set(used(text, private)) == set(found)


def test_there_are_tests_to_look_at():
    names = {path.name for path in python_files()}
    assert {"page.py", "test_app.py", "test_consistency.py", "test_views.py", "test_rooms.py", "preview.py"} <= names
    assert {"test_live.py", "test_origins.py", "test_generators.py", "settings.py"} <= names
    assert {"_app", "_form", "_settings", "_arrival"} <= PRIVATE


def test_the_folders_of_the_tests_are_those_of_the_package():
    packages = {path.parent.name for path in PACKAGES[0].glob("*/__init__.py")}
    folders = {path.parent.name for path in (TESTS / "workbench").glob("*/test_*.py")}
    assert folders == packages
