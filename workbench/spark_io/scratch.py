"""Temporary folders that do not outlive their process."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import weakref
from pathlib import Path

import psutil

if sys.platform != "win32":
    import fcntl

__all__ = ["MEMORY", "PREFIX", "Scratch", "is_readable"]

PREFIX = "stream-join-workbench-"
"""How the names of temporary folders begin."""
_MARK = ".in-use"
MEMORY = Path("/dev/shm")  # noqa: S108
"""Where temporary folders are where there is room: checkpoints of recorded runs need no durability."""
_ROOM = 2 * 1024**3
_ENCODED = frozenset(' %#"<>^`|\\?[]{}') if os.name == "posix" else frozenset(' %#"<>^`|?[]{}')
_SYSTEM = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108 - where the user's own place would not do


class Scratch:
    """A temporary folder, removed when nothing holds it, at exit, or by the next process if this one was killed.

    Parameters
    ----------
    parent
        Where it is made; None: in memory where there is room, else where temporary files belong, as long as Spark's
        reader of state finds a folder of that name.

    Attributes
    ----------
    path
        The folder.
    has_logs
        Whether the logs that Spark writes in it can be read: always.
    """

    has_logs = True

    def __init__(self, parent: Path | None = None) -> None:
        root = parent or _root()
        _sweep(root)
        hidden = Path(tempfile.mkdtemp(prefix=f".{PREFIX}{os.getpid()}-", dir=root))
        in_use = _in_use(hidden)
        self.path = hidden.rename(root / hidden.name[1:])  # others look at it only when it is marked as in use
        self._removal = weakref.finalize(self, _remove, self.path, os.getpid(), in_use)

    @property
    def parts(self) -> tuple[Path, ...]:
        """The folder, and the mark in it."""
        return self.path, self.path / _MARK

    @property
    def address(self) -> str:
        """The folder as Spark is given it: of this machine, whatever file system is the session's default."""
        return f"file://{'' if os.name == 'posix' else '/'}{self.path.as_posix()}"

    @property
    def logged(self) -> str:
        """The folder as Spark's logs write it, up to the names in it."""
        return f"{self.path.as_uri()}/"

    def send(self) -> None:
        """Make what was written to `path` known to Spark, which reads it there."""

    def fetch(self, part: str) -> Path:
        """A part of the folder as a path of this machine, with all that Spark has written there so far."""
        return self.path / part

    def remove(self) -> None:
        """Remove the folder now."""
        self._removal()


def _in_use(path: Path) -> int | None:
    """Mark a folder as in use for as long as the open file that this gives."""
    if sys.platform == "win32":
        return None
    opened = os.open(path / _MARK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
    except OSError:  # a file system without locks: the number of the process has to do
        os.close(opened)
        (path / _MARK).unlink()
        return None
    return opened


def _remove(path: Path, maker: int, in_use: int | None) -> None:
    """Remove a folder; not where a forked child of the process that made it ends."""
    if os.getpid() == maker:
        shutil.rmtree(path, ignore_errors=True)
        if in_use is not None:
            os.close(in_use)


def _root() -> Path:
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > _ROOM:
        return MEMORY
    places = [Path(tempfile.gettempdir()), *_SYSTEM]
    return next((each for each in places if is_readable(each) and os.access(each, os.W_OK)), places[0])


def is_readable(folder: Path) -> bool:
    """Whether Spark's reader of state finds a folder: it looks for a name that an address encodes as it is encoded."""
    return not any(each in _ENCODED or each.isspace() for each in str(folder))


def _sweep(root: Path) -> None:
    """Remove what killed processes left behind."""
    for left in (*root.glob(f"{PREFIX}*-*"), *root.glob(f".{PREFIX}*-*")):
        if _is_left(left):
            shutil.rmtree(left, ignore_errors=True)


def _is_left(path: Path) -> bool:
    """Whether no process uses a folder; those of other containers, whose numbers mean nothing here, included."""
    if sys.platform == "win32" or not (path / _MARK).exists():
        process = path.name.removeprefix(".").removeprefix(PREFIX).split("-")[0]
        return process.isdigit() and not psutil.pid_exists(int(process))
    try:
        opened = os.open(path / _MARK, os.O_RDWR)
    except OSError:  # another user's, or gone by now
        return False
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(opened)
    return True
