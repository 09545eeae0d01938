"""Which folders hold files that a stream can be made of, which files can be, and what the files are."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

from workbench.sources._source import Format

__all__ = ["ENDINGS", "format_of", "format_of_file", "header", "texts", "with_files"]

ENDINGS: dict[str, Format] = {
    ".parquet": "parquet", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".csv": "csv",
}  # fmt: skip
"""What files are, by how their names end; ``.gz`` may follow."""
_DEEP, _MOST, _VISITED = 3, 100, 2_000
_LONGEST = 100_000  # characters of a header
_SOME = 100  # rows


def format_of(folder: Path) -> Format | None:
    """What the files of a folder are, by their endings; None where there is none that is known, or there are several.

    Parameters
    ----------
    folder
        The folder.
    """
    try:
        with os.scandir(folder) as found:
            entries = [(each.name, each.is_dir()) for each in found]
    except OSError:
        return None
    if ("_delta_log", True) in entries:
        return "delta"
    if any(is_folder and not name.startswith(("_", ".")) for name, is_folder in entries):
        return None
    files = [name.lower().removesuffix(".gz") for name, _ in entries if not name.startswith(("_", "."))]
    kinds = {ENDINGS.get(Path(name).suffix) for name in files}
    return kinds.pop() if len(kinds) == 1 else None


def format_of_file(path: str) -> Format | None:
    """What a file is, by its ending; None where that says nothing.

    Examples
    --------
    >>> format_of_file("orders.csv.gz")
    'csv'
    """
    return ENDINGS.get(Path(path.lower().removesuffix(".gz")).suffix)


def _first(folder: Path) -> Path:
    """The first file of a folder that Spark reads; `ValueError` where there is none."""
    return min(each for each in folder.iterdir() if each.is_file() and not each.name.startswith(("_", ".")))


def header(folder: Path) -> list[str]:
    """The columns that a comma separates in the first line of a folder's first file; none where it cannot be read."""
    try:
        first = _first(folder)
        opener = gzip.open if first.name.lower().endswith(".gz") else open
        with opener(first, "rt", encoding="utf-8-sig") as file:
            return file.readline(_LONGEST).rstrip("\r\n").split(",")
    except (OSError, EOFError, ValueError):
        return []


def texts(folder: Path, kind: Format, column: str, separator: str = ",") -> list[str]:
    """Some values of a column of text files, as they are written in the first file; none where they cannot be read.

    Parameters
    ----------
    folder, kind
        The folder, and what its files are.
    column
        The column.
    separator
        What separates the columns of CSV.
    """
    import pandas as pd  # when needed: the page asks, and nothing else

    try:
        first = _first(folder)
        if kind == "csv":
            rows = pd.read_csv(first, sep=separator, nrows=_SOME, dtype=str)
        elif kind == "json":
            rows = pd.read_json(first, lines=True, nrows=_SOME, dtype=False, convert_dates=False)
        else:
            return []
        return [each for each in rows[column] if isinstance(each, str)]
    except (OSError, EOFError, ValueError, KeyError):
        return []


def with_files(root: Path) -> list[str]:
    """The folders below a folder, and itself, that hold files of one known format, relative to it; then single files.

    Those of such a folder are not listed, but for the first folder: each may be a stream of its own.

    Parameters
    ----------
    root
        Where to look; three levels deep, and into two thousand folders at most.
    """
    found: list[str] = []
    loose: list[str] = []
    waiting, visited = [root], 0
    while waiting and visited < _VISITED and len(found) < _MOST:
        folder = waiting.pop(0)
        visited += 1
        kind = format_of(folder)
        if kind is not None:
            found.append(folder.relative_to(root).as_posix())
        if kind is None or folder == root:
            loose += [each.relative_to(root).as_posix() for each in _single(folder)]
        if kind == "delta" or len(folder.relative_to(root).parts) >= _DEEP:
            continue
        try:
            inner = sorted(each for each in folder.iterdir() if each.is_dir() and not each.is_symlink())
        except OSError:
            continue
        waiting += [each for each in inner if not each.name.startswith(("_", "."))]
    return [*found, *loose[: _MOST - len(found)]]


def _single(folder: Path) -> list[Path]:
    """The files of a folder that are of a known format."""
    try:
        there = sorted(each for each in folder.iterdir() if not each.name.startswith(("_", ".")) and each.is_file())
    except OSError:
        return []
    return [each for each in there if format_of_file(each.name) is not None]
