"""What exists once in a process has one owner, which ends all of it in one order."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import altair as alt
import pytest
from helpers import active

import generators
import workbench as wb
from workbench import process
from workbench.app import App, close_all, current

PACKAGE = Path(wb.__file__).parent
OWNER = "process.py"
SCRIPTS = PACKAGE / "tuning/examples"  # which users run by themselves, and nothing imports
CONTAINERS = {
    "Condition", "ContextVar", "Counter", "Event", "Lock", "OrderedDict", "Queue", "RLock", "Semaphore",
    "WeakKeyDictionary", "WeakSet", "WeakValueDictionary", "bytearray", "defaultdict", "deque", "dict", "list", "local",
    "set",
}  # fmt: skip
CHANGES = {"add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "setdefault", "update"}
REGISTRATIONS = {"addHandler", "filterwarnings", "setprofile", "settrace", "signal", "simplefilter"}
EXCEPTIONS = {
    ("__init__.py", "globals()"): "a public name is kept when it is first used, so that the import stays light",
    ("conditions/_reading.py", "warnings.simplefilter"): "within `catch_warnings`, while a text is parsed",
    ("flink/__init__.py", "globals()"): "the same",
    ("jobs/commands.py", "sys"): "the module of a file that a command names, as an import has it",
    (
        "testing/_played.py",
        "observers",
    ): "who is told of a job that a test plays; the pytest plugin adds and removes itself",
    ("pytest_plugin.py", "os"): "the variable by which snapshots are written anew, for the process of the tests",
    ("app/sources/__init__.py", "_sources"): "the registry of sources, filled when it is imported",
    ("flink/_code.py", "_TEMPLATES"): "the filters of the package's own templates, set once at import",
    ("kinds/_registry.py", "_kinds"): "the registry of kinds, filled when it is first asked",
    ("plan/names.py", "ENVIRONMENT"): "the filters of the package's own templates, set once at import",
    ("plan/names.py", "_reserved"): "the names that registered sinks and sources reserve",
    ("sources/kafka.py", "quiet.addHandler"): "a logger of the workbench's own, which says nothing",
}
"""What may stand elsewhere, and why."""


def process_wide(text):
    """What a module keeps or changes for the whole process, by name."""
    tree = ast.parse(text)
    imported = {
        (alias.asname or alias.name).split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        and not (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "workbench")
        for alias in node.names
    }
    constants = set()
    for node in _of_module(tree):
        for name, value in _bound(node):
            if _is_mutable(value):
                if name.isupper():
                    constants.add(name)
                elif not name.startswith("__"):
                    yield name
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            yield from node.names
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            called = ast.unparse(node.func)
            if called == "atexit.register" or node.func.attr in REGISTRATIONS or "renderers." in called:
                yield called
            if node.func.attr in CHANGES and _root(node.func.value) in constants:
                yield _root(node.func.value)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("setattr", "delattr"):
            name = _root(node.args[0])
            if name in imported:
                yield name
        targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else [getattr(node, "target", None)]
        for target in targets:
            if isinstance(target, ast.Attribute | ast.Subscript):
                name = _root(target)
                if name in imported | constants or name == "globals()":
                    yield name
                if name.isupper() and isinstance(target, ast.Attribute):
                    yield name


def _of_module(tree):
    """The statements that run when a module is imported, those in its blocks among them."""
    for node in tree.body if hasattr(tree, "body") else ():
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _of_module(node)


def _bound(node):
    if isinstance(node, ast.Assign):
        return [(target.id, node.value) for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        return [(node.target.id, node.value)]
    return []


def _is_mutable(value):
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).split(".")[-1] in CONTAINERS
    return isinstance(value, ast.Dict | ast.List | ast.Set | ast.DictComp | ast.ListComp | ast.SetComp)


def _root(node):
    """The name at the beginning of an expression such as ``name.attribute[0]``."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return ast.unparse(node)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("_open: list[int] = []", "_open"),
        ("if True:\n    seen = set()", "seen"),
        ("class A:\n    known = {}", "known"),
        ("import weakref\nrunning = weakref.WeakSet()", "running"),
        ("import threading\n_lock = threading.Lock()", "_lock"),
        ("def f():\n    global n\n    n = 1", "n"),
        ("import atexit\natexit.register(print)", "atexit.register"),
        ("import altair as alt\nalt.renderers.enable('x')", "alt.renderers.enable"),
        ("from pyspark import SparkContext\nSparkContext._gateway = None", "SparkContext"),
        ("def f():\n    import pandas as pd\n    setattr(pd, 'x', 1)", "pd"),
        ("import sys\nsys.modules['x'] = None", "sys"),
        ("KNOWN = {}\ndef f():\n    KNOWN['x'] = 1", "KNOWN"),
        ("KNOWN = []\ndef f():\n    KNOWN.append(1)", "KNOWN"),
    ],
)
def test_state_of_the_process_is_seen(text, found):
    assert found in process_wide(text)


@pytest.mark.parametrize(
    "text",
    [
        "NAMES = {'a': 1}\ndef f():\n    known = {}\n    known['b'] = 2\n    return NAMES['a'], known",
        "from workbench import streams\nx = 1\n__all__ = ['x']",
        "class A:\n    def __init__(self):\n        self.seen = []",
    ],
)
def test_what_is_no_state_of_the_process_is_not(text):
    assert list(process_wide(text)) == []


def test_what_is_process_wide_has_one_owner():
    found = {
        (path.relative_to(PACKAGE).as_posix(), name)
        for path in PACKAGE.rglob("*.py")
        for name in process_wide(path.read_text())
        if path.relative_to(PACKAGE).as_posix() != OWNER and path.parent != SCRIPTS
    }
    assert found == set(EXCEPTIONS)


def test_the_owner_tells_of_every_exception():
    for file, _ in EXCEPTIONS:
        assert f"``{file}``" in process.__doc__ or file == "flink/__init__.py", file


class Ended:
    """What is ended notes its name, in order."""

    def __init__(self, name, order):
        self.close = self.end = lambda: order.append(name)


def test_all_is_closed_in_one_order():
    close_all()
    order = []
    for name in ("first page", "second page"):
        process.pages.append(Ended(name, order))
    query = Ended("query", order)
    process.live_queries.add(query)
    try:
        process.close_all()
    finally:
        process.live_queries.discard(query)
    assert order == ["second page", "first page", "query"]
    assert process.pages == []


def test_one_that_cannot_be_closed_does_not_keep_the_others_open():
    close_all()
    order = []

    class Stuck:
        def close(self):
            raise OSError("stuck")

    process.pages += [Ended("first page", order), Stuck()]
    query = Ended("query", order)
    process.live_queries.add(query)
    try:
        with pytest.raises(OSError, match="stuck"):
            process.close_all()
    finally:
        process.live_queries.discard(query)
    assert order == ["first page", "query"]
    assert process.pages == []


def test_a_page_is_known_while_it_is_open():
    one, other = App(), App()
    assert process.pages[-2:] == [one, other]
    assert current() is other
    other.close()
    assert current() is one
    process.close_all()
    assert process.pages == []
    assert current() is None


def test_a_live_query_is_known_while_it_runs(spark):
    feed = generators.Feed("orders_payments", rate=10, seed=3)
    query = wb.live(wb.IntervalJoin("0 s", "5 s"), feed, "2 seconds", "2 seconds")
    assert query in process.live_queries
    process.close_all()
    assert not query.active
    assert query not in process.live_queries
    assert not active(spark)


def test_a_renderer_is_taken_only_where_nobody_chose_one():
    before = alt.renderers.active
    with alt.renderers.enable("json"):
        process.draw_charts_with("nobody's", lambda spec: {})
        assert alt.renderers.active == "json"
    with alt.renderers.enable("default"):
        process.draw_charts_with("somebody's", lambda spec: {})
        assert alt.renderers.active == "somebody's"
    assert alt.renderers.active == before


def test_a_module_is_not_found_for_a_while_only():
    with process.without_module("wave"), pytest.raises(ModuleNotFoundError):
        import wave
    import wave

    assert sys.modules["wave"] is wave
