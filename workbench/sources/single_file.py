"""A single file of rows, on disk or uploaded, as a pandas frame: the call that reads it is what is run."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa

from workbench.errors import DataError, excerpt, shortened, wrong
from workbench.sources._source import Format
from workbench.sources.folders import ENDINGS, format_of_file
from workbench.untyped import Record

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["call", "check_ending", "read"]

_EXACT = 'dtype_backend="numpy_nullable"'  # whole numbers stay whole where some are missing
_CALLS: Mapping[Format, tuple[str, str]] = {
    "csv": ("read_csv", f'keep_default_na=False, na_values=[""], {_EXACT}'),  # a key may be NA
    "json": ("read_json", f'lines=True, engine="pyarrow", {_EXACT}'),
    "parquet": ("read_parquet", _EXACT),
}


def check_ending(path: str, argument: str = "path") -> Format:
    """What a file is, by its ending.

    Raises
    ------
    ArgumentError
        If the ending says nothing.
    """
    found = format_of_file(path)
    if found is None:
        remedy = f"give a file that ends in {', '.join(ENDINGS)}, or the folder that holds the files"
        raise wrong(argument, path, remedy)
    return found


def call(file: str, kind: Format, separator: str = ",") -> str:
    """The expression that reads a file, given as an expression, too.

    Parameters
    ----------
    file, kind
        The file, and what it is.
    separator
        What separates the columns of CSV.
    """
    function, options = _CALLS[kind]
    separated = f", sep={separator!r}" if kind == "csv" and separator != "," else ""
    return f"pd.{function}({file}{separated}, {options})"


def read(path: str, kind: Format, content: bytes | None = None, separator: str = ",") -> pd.DataFrame:
    """The rows of a file.

    Parameters
    ----------
    path, kind
        The file, and what it is.
    content
        What it holds, where it was uploaded; None: it is on disk.
    separator
        What separates the columns of CSV.

    Raises
    ------
    ArgumentError
        If it is of a kind that is a folder.
    DataError
        If it is not what `kind` says.
    """
    if kind not in _CALLS:
        raise wrong("format", kind, f"a single file is one of {', '.join(_CALLS)}: choose that, or the table's folder")
    names: Record = {"pd": pd, "file": path if content is None else _opened(path, content)}
    try:
        frame: pd.DataFrame = eval(call("file", kind, separator), names)  # noqa: S307 - the code shown is the code run
    except (ValueError, TypeError, OSError, EOFError, pa.ArrowException) as error:
        why = shortened(" ".join(str(error).split()))
        raise DataError(f"path: {excerpt(path)} cannot be read as {kind} ({why}); choose its format") from None
    if not len(frame.columns):
        raise DataError(f"path: {excerpt(path)} has no columns; give a file with rows")
    return frame


def _opened(path: str, content: bytes) -> io.IOBase:
    """What was uploaded as a file; pandas tells from a path only whether it is compressed."""
    import gzip  # when needed: few are

    held = io.BytesIO(content)
    return gzip.GzipFile(fileobj=held) if path.lower().endswith(".gz") else held
