"""The exported PySpark script: the run's plan, with the sources, sinks, restarts and logs that production needs.

It needs PySpark and the packages that its docstring names. Each source, sink and target of dead letters is one
object in a module of its own in ``sources``, ``sinks`` and ``dead_letters``, beside its template.
"""

from __future__ import annotations

from workbench.plan import Names
from workbench.script._checkpoint import FIXED, changeable, listed
from workbench.script._endpoints import Endpoints, check
from workbench.script._places import Argument, Connector, DeadLetters, Requirement, Sink, Source, SparkVersion
from workbench.script._project import project
from workbench.script._registry import DEAD_LETTERS, SINKS, SOURCES, register, unregister
from workbench.script._script import data_folder, render

__all__ = [
    "DEAD_LETTERS",
    "FIXED",
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
    "data_folder",
    "listed",
    "project",
    "register",
    "render",
    "unregister",
]
