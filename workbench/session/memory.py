"""How much memory there is for this process: the machine's, or what its container allows."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import psutil

__all__ = ["available", "heap"]


_GROUPS = Path("/sys/fs/cgroup")
_MINE = Path("/proc/self/cgroup")


def available(groups: Path = _GROUPS, mine: Path = _MINE) -> int:
    """Bytes that this process may use: the least of the machine's memory and the limits of the groups it is in.

    Parameters
    ----------
    groups, mine
        Where Linux lists control groups, and which ones this process is in (cgroups(7), both versions).
    """
    limits = [psutil.virtual_memory().total]
    with suppress(OSError):
        for line in mine.read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers in ("", "memory"):
                root, name = (groups / "memory", "memory.limit_in_bytes") if controllers else (groups, "memory.max")
                own = root / path.strip("/")  # in a container the root itself is its own group
                limits += [_limit(each / name) for each in (own, *own.parents) if each.is_relative_to(root)]
    return min(limits)


def _limit(file: Path) -> int:
    """The limit in a file; where there is none, more than any machine has."""
    with suppress(OSError, ValueError):
        return int(file.read_text(encoding="utf-8"))
    return 1 << 63


def heap() -> str:
    """How large Java's heap may grow: a third of the memory, at most 2 GiB, as Spark's settings take it."""
    return f"{max(512, min(2048, available() // 3 // 1024**2))}m"
