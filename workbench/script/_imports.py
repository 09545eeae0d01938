"""The imports and constants that a script's text needs: those that it names."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable

from workbench import plan
from workbench.sources.name_checks import CORRUPT, LATE_WINDOW

COMMON = (
    *"""
import argparse
import hashlib
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any
from pyspark.errors import AnalysisException, PySparkException, StreamingQueryException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter
from pyspark.sql.window import Window
""".strip().splitlines(),
    *plan.IMPORTS,
)
"""Imports that any script may need."""
CONSTANTS = {
    "CORRUPT": f'"{CORRUPT}"  # the column for what could not be read',
    "WINDOW": f'"{LATE_WINDOW}"  # the column for the window that a row is late for',
    "MICROSECONDS": "\"yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX\"  # of timestamps as text",
}


def names(body: str) -> set[str]:
    """The names that a text reads; what stands in its literals is none."""
    return {
        node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def imports(used: set[str], lines: Iterable[str], own: Iterable[str] = ()) -> str:
    """The import statements for these names, of those that there are, in the usual order.

    Parameters
    ----------
    used
        The names.
    lines
        The statements that there are.
    own
        Statements that import one name each from another module of the script; they stand last.
    """
    wanted = set()
    for line in lines:
        start, _, known = line.rpartition("import ")
        here = [name for name in known.split(", ") if name.split(" as ")[-1] in used]
        if here:
            wanted.add(f"{start}import {', '.join(here)}")
    groups: dict[bool, list[str]] = {False: [], True: []}
    for line in sorted(wanted, key=lambda line: (line.startswith("from"), line.split()[1], line)):
        groups[line.split()[1].partition(".")[0] not in sys.stdlib_module_names].append(line)
    return "\n\n".join("\n".join(group) for group in (*groups.values(), _together(own)) if group)


def imports_for(body: str, own: Iterable[str] = ()) -> str:
    """The import statements that a text of PySpark needs, and those of `own` that import one name each."""
    used = names(body)
    return imports(used, COMMON, own)


def _together(lines: Iterable[str]) -> list[str]:
    """Statements that import one name each, as one for each module."""
    names: dict[str, list[str]] = {}
    for line in lines:
        start, _, name = line.rpartition(" import ")
        names.setdefault(start, []).append(name)
    return [f"{start} import {', '.join(sorted(each))}" for start, each in sorted(names.items())]
