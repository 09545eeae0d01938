"""The imports and constants that a script's text needs: those that it names."""

from __future__ import annotations

import re

_IMPORTS = """
import argparse
import getpass
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


def imports(body: str) -> str:
    """The import statements for a text, each with the names that the text uses."""
    lines = []
    for line in _IMPORTS.strip().splitlines():
        if not line:
            lines.append("")
            continue
        start, _, names = line.rpartition("import ")
        used = [name for name in names.split(", ") if _names(body, name.split(" as ")[-1])]
        if used:
            lines.append(f"{start}import {', '.join(used)}")
    return "\n".join(lines)


def constants(body: str) -> str:
    """The constants that a text uses."""
    return "\n".join(f"{name} = {value}" for name, value in _CONSTANTS.items() if _names(body, name))


def _names(body: str, name: str) -> bool:
    return re.search(rf"(?<![\w.\"']){name}(?![\w\"'])", body) is not None
