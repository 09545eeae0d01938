"""Files that were dropped on a page, as its inputs for uploads hold them."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from workbench.errors import DataError, excerpt, wrong
from workbench.sources import single_file
from workbench.streams import SIDES
from workbench.untyped import Record

__all__ = ["as_uploads"]

_LARGEST = 9.5e6  # bytes, as in browser.js


def as_uploads(files: Sequence[Record]) -> list[Record]:
    """Files that were dropped, as `ipywidgets.FileUpload` has those that were chosen.

    Parameters
    ----------
    files
        As `Browser.dropped` has them.

    Raises
    ------
    ArgumentError, DataError
        If there are too many, one came without content, or its ending says nothing.
    """
    if len(files) > len(SIDES):
        raise wrong("files", f"{len(files)} files", "drop one for a side, or two for both; choose a folder by its path")
    return [_checked(each) for each in files]


def _checked(file: Record) -> Record:
    if file["content"] is None:
        large = file["size"] > _LARGEST
        why = f"has {file['size'] / 1e6:,.0f} MB, and JupyterLab takes 10 at once" if large else "is no file"
        raise DataError(f"files: {excerpt(file['name'])} {why}; put it beside the notebook, and choose it in the list")
    single_file.check_ending(file["name"], "files")
    at = datetime.datetime.fromtimestamp(file["last_modified"] / 1000, tz=datetime.UTC)
    return {name: file[name] for name in ("name", "type", "size", "content")} | {"last_modified": at}
