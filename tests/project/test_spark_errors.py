"""Spark's errors become sentences in one place, `spark_errors_as`; what else catches any error says why on its line."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pyspark.errors
import pytest
from py4j import protocol

import workbench

PACKAGE = Path(workbench.__file__).parent
BROAD = {"BaseException", "Exception", *pyspark.errors.__all__, *(each for each in dir(protocol) if "Py4J" in each)}
MAPPING = "spark_io/cause.py"

OF_SPARK = {
    "jobs/catalyst.py": 1,  # a value that the JVM cannot compute is none
    "jobs/held.py": 1,  # whether there is a store of state
    "jobs/batch_readings.py": 1,  # watermarks, as long as Spark has them there
    "jobs/watching.py": 1,  # whether a query runs
    "runs/live.py": 1,  # told as the mapping does, but kept: the thread that follows a live query ends by it
    "runs/run.py": 1,  # kept for whoever asks for the comparison
    "session/__init__.py": 4,  # whether there are a session, a JVM, a context; no Java
    "session/state_store.py": 3,  # whether there is a context, and a class
    "spark_io/explaining.py": 1,  # Spark's name for an error, as long as Spark is there
}
"""Where Spark's errors are caught outside the mapping: they are an answer there, or are raised later."""

OF_OTHERS = {
    "app/_previews.py": 1,
    "app/_spark_runs.py": 1,
    "app/watch_view.py": 1,
    "app/worker.py": 1,
    "engine/query.py": 2,
    "errors.py": 1,
    "jobs/check_command.py": 1,
    "jobs/commands.py": 1,
    "process.py": 1,
    "reasons/labels.py": 1,
    "runs/live.py": 1,
    "runs/running.py": 1,
    "safe_files.py": 1,
}
"""Where whatever a page's job, a user's function or a stranger's module raises is caught."""


def broad(text):
    """The lines of a module that catch any error, or one of Spark's or Py4J's."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ExceptHandler):
            parts = list(ast.walk(node.type)) if node.type else []
            names = {each.id for each in parts if isinstance(each, ast.Name)}
            names |= {each.attr for each in parts if isinstance(each, ast.Attribute)}
            if names & BROAD or not parts:
                yield node.lineno


def reason(line):
    """What the line of a handler says of itself."""
    return line.partition("#")[2].partition(" - ")[2] if "noqa" in line else line.partition("#")[2].strip()


MODULES = {path.relative_to(PACKAGE).as_posix(): path.read_text() for path in PACKAGE.rglob("*.py")}


def test_no_error_of_spark_is_told_outside_the_mapping():
    found = Counter({name: len(list(broad(text))) for name, text in MODULES.items() if name != MAPPING})
    assert +found == Counter(OF_SPARK) + Counter(OF_OTHERS), "use spark_errors_as, or say here why it does not do"


def test_what_catches_any_error_says_why():
    silent = [
        f"{name}:{number}"
        for name, text in MODULES.items()
        for number in broad(text)
        if name != MAPPING and not reason(text.splitlines()[number - 1])
    ]
    assert silent == []


@pytest.mark.parametrize(
    ("handler", "lines", "why"),
    [
        ("except Exception as error:  # noqa: BLE001 - of a stranger", [3], "of a stranger"),
        ("except (ValueError, Py4JError):  # over Spark Connect", [3], "over Spark Connect"),
        ("except:", [3], ""),
        ("except errors.AnalysisException:  # no such table", [3], "no such table"),
        ("except ValueError:", [], ""),
    ],
)
def test_the_gate_sees_what_catches_any_error(handler, lines, why):
    text = f"try:\n    pass\n{handler}\n    pass\n"
    assert list(broad(text)) == lines
    assert reason(handler) == why
