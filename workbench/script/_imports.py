"""The imports and constants that a script's text needs: those that it names."""

from __future__ import annotations

import ast

_IMPORTS = """
import argparse
import getpass
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Identifier
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter
from pyspark.sql.window import Window
"""
_CONSTANTS = {
    "CORRUPT": '"__corrupt"  # the column for what could not be read',
    "WINDOW": '"__window"  # the column for the window that a row is late for',
    "MICROSECONDS": "\"yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX\"  # of timestamps as text",
}


def names(body: str) -> set[str]:
    """The names that a text uses; what stands in its literals is none."""
    return {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}


def imports(used: set[str]) -> str:
    """The import statements for these names."""
    lines = []
    for line in _IMPORTS.strip().splitlines():
        start, _, known = line.rpartition("import ")
        wanted = [name for name in known.split(", ") if name.split(" as ")[-1] in used]
        if wanted or not line:
            lines.append(f"{start}import {', '.join(wanted)}" if line else "")
    return "\n".join(lines)


def constants(used: set[str]) -> str:
    """The constants of these names."""
    return "\n".join(f"{name} = {value}" for name, value in _CONSTANTS.items() if name in used)
