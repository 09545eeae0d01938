"""The exported PySpark script: plain in one file, or a project of modules with the restarts and logs of production.

It needs PySpark and the packages that its docstring names. Each source, sink and target of dead letters is one
object in a module of its own in ``sources``, ``sinks`` and ``dead_letters``, beside its template.
"""

from __future__ import annotations

from workbench.plan import Names
from workbench.script._checkpoint import FIXED, changeable, listed
from workbench.script._endpoints import Endpoints, check
from workbench.script._imports import imports_for
from workbench.script._job import MAIN
from workbench.script._places import (
    Argument,
    Connector,
    DeadLetters,
    Requirement,
    Sink,
    Source,
    SparkVersion,
    column_types,
)
from workbench.script._plain import render
from workbench.script._project import project
from workbench.script._registry import DEAD_LETTERS, SINKS, SOURCES, register, unregister
from workbench.script._variables import data_folder, made_for

__all__ = [
    "DEAD_LETTERS",
    "FIXED",
    "MAIN",
    "SINKS",
    "SOURCES",
    "Argument",
    "Connector",
    "DeadLetters",
    "Endpoints",
    "Names",
    "Requirement",
    "Sink",
    "Source",
    "SparkVersion",
    "changeable",
    "check",
    "column_types",
    "data_folder",
    "imports_for",
    "listed",
    "made_for",
    "project",
    "register",
    "render",
    "unregister",
]
