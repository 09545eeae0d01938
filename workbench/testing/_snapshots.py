"""Snapshots: output and fates as a JSON file that a review can read, a row a line, sorted."""

from __future__ import annotations

import difflib
import json
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from workbench import safe_files
from workbench.errors import wrong
from workbench.testing.values import plain
from workbench.untyped import Argument, Value

__all__ = ["UPDATE", "compared", "place", "text"]

UPDATE = "WORKBENCH_UPDATE"
"""The variable that says that snapshots are written anew."""
_HEAD = "stream-join-workbench snapshot"
_FATES = ("side", "stream", "join", "batch", "fate", "verdict")


def place(path: Argument) -> Path:
    """Where a snapshot is: relative to the file that asks for it, as tests may be run from anywhere."""
    given = safe_files.place(path, 'give a file, such as "unpaid.json"')
    if given.is_absolute():
        return given
    package = str(Path(__file__).parent)
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame = frame.f_back
    asking = Path(frame.f_code.co_filename)
    return (asking.parent if asking.is_file() else Path.cwd()) / given


def text(output: pd.DataFrame, rows: pd.DataFrame | None, without: Sequence[str]) -> str:
    """A snapshot of what came out, and of what became of the rows that came in.

    Raises
    ------
    ArgumentError
        If a column to be left out is not there.
    """
    if isinstance(without, str):
        raise wrong("without", without, "give a list of columns")
    known = {*output.columns, *(() if rows is None else rows.columns)}
    for name in without:
        if name not in known:
            raise wrong("without", name, f"there is no such column; there are {', '.join(map(str, known))}")
    parts = {"output": _lines(output.drop(columns=[each for each in without if each in output]))}
    if rows is not None:
        own = [name for name in rows if name not in ("reason", "fix_setting", "fix_value", "later", "out", *without)]
        parts["rows"] = _lines(rows[own])
    whole = ",\n".join(f'"{name}": [\n' + ",\n".join(lines) + "\n]" for name, lines in parts.items())
    return f'{{"about": {json.dumps(_HEAD)},\n{whole}}}\n'


def _lines(frame: pd.DataFrame) -> list[str]:
    names = list(map(str, frame.columns))
    first = [name for name in ("batch", "micro_batch", *_FATES) if name in names]
    order = [*first, *(name for name in names if name not in first)]
    rows = [dict(zip(names, map(_told, row), strict=False)) for row in frame.itertuples(index=False, name=None)]
    told = [({name: row[name] for name in order}) for row in rows]
    told.sort(key=lambda row: json.dumps([_sortable(row[name]) for name in order]))
    return [json.dumps(row, ensure_ascii=False) for row in told]


def _sortable(value: Value) -> list[Any]:
    """A value by which rows of a column are ordered: numbers as such, all else as text; null first."""
    if value is None:
        return [0]
    if isinstance(value, int | float):
        return [1, f"{value:+030.9f}"]
    return [2, json.dumps(value)]


def _told(value: Value) -> Any:
    """A value as JSON has it; in a column of pandas one that is missing may be no number."""
    return None if isinstance(value, float) and math.isnan(value) else plain(value)


def compared(path: Path, found: str) -> str:
    """What differs from a snapshot, in words; empty: nothing. The snapshot is written where that is asked for.

    Raises
    ------
    ArgumentError
        If it is to be written over a file that is no snapshot.
    """
    before = path.read_text(encoding="utf-8") if path.is_file() else None
    if before is not None and not before.startswith(f'{{"about": {json.dumps(_HEAD)}'):
        raise wrong("path", str(path), "that is no snapshot; give another name")
    if os.environ.get(UPDATE):
        with safe_files.said(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(found, encoding="utf-8", newline="\n")
        return ""
    if before is None:
        return f"there is no snapshot {path}; write it with pytest --workbench-update, or {UPDATE}=1, and look at it"
    if before == found:
        return ""
    lines = difflib.unified_diff(before.splitlines(), found.splitlines(), "snapshot", "now", n=0, lineterm="")
    return "\n".join([f"output or fates differ from {path.name}:", *lines])
