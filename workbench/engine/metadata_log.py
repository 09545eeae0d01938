"""The logs in which Spark's file source and file sink note what they read and wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlparse

from workbench.untyped import Record

__all__ = ["entries"]


def entries(log: Path, read: set[str]) -> Iterator[tuple[int, Path, Record]]:
    """What a log says of each file: the number of the log's batch, the file, the entry itself.

    Parameters
    ----------
    log
        Its folder; one that is not there yet is empty.
    read
        The names of the log's files that need not be read again; those read now are added.
    """
    if not log.is_dir():
        return
    files = [file for file in log.iterdir() if file.name.split(".")[0].isdigit() and file.name not in read]
    for file in sorted(files, key=lambda file: int(file.name.split(".")[0])):
        for line in file.read_text(encoding="utf-8").splitlines()[1:]:
            entry = json.loads(line)
            yield int(file.name.split(".")[0]), Path(unquote(urlparse(entry["path"]).path)), entry
        read.add(file.name)
