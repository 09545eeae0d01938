"""Temporary folders that do not outlive their process."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path

import psutil

_PREFIX = "stream-join-workbench-"
_MEMORY = Path("/dev/shm")  # noqa: S108 - checkpoints of recorded runs need no durability
_ROOM = 2 * 1024**3


def folder(owner: object) -> Path:
    """A new temporary folder, removed with its owner, at exit, or by the next process if this one was killed."""
    root = _root()
    _sweep(root)
    path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=root))
    weakref.finalize(owner, shutil.rmtree, path, ignore_errors=True)
    return path


def _root() -> Path:
    if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM:
        return _MEMORY
    return Path(tempfile.gettempdir())


def _sweep(root: Path) -> None:
    """Remove what killed processes left behind."""
    for left in root.glob(f"{_PREFIX}*-*"):
        process = left.name.removeprefix(_PREFIX).split("-")[0]
        if process.isdigit() and not psutil.pid_exists(int(process)):
            shutil.rmtree(left, ignore_errors=True)
