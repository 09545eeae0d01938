"""What takes long to make and is the same every time is kept in the user's cache folder."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from platformdirs import user_cache_path

__all__ = ["bundled", "cached_file", "drop_oldest", "used"]

_HASH = "[0-9a-f]" * 16


def cached_file(name: str) -> Path:
    """A file of the cache folder; whether it is there is for the caller to see."""
    return user_cache_path("stream-join-workbench") / name


def used(file: Path) -> None:
    """Remember that a file of the cache folder was used now, for `drop_oldest`."""
    with suppress(OSError):
        os.utime(file)


def drop_oldest(kind: str, suffix: str, most: int) -> None:
    """Remove files named by a kind and a hash from the cache folder, but for those that were written or `used` last.

    What cannot be removed stays.

    Parameters
    ----------
    kind, suffix
        What stands before and after the hash.
    most
        How many stay.
    """
    dated = []
    for each in cached_file("").glob(f"{kind}-{_HASH}{suffix}"):
        with suppress(OSError):  # another process may remove it meanwhile
            dated.append((each.stat().st_mtime, each))
    for _, each in sorted(dated, reverse=True)[most:]:
        with suppress(OSError):
            each.unlink()


def bundled(source: str) -> str:
    """A script and Vega in one, as ``vl_convert.javascript_bundle`` makes it, which takes over a second."""
    import vl_convert  # when needed: a library of 90 MB

    words = f"{version('vl-convert-python')}\n{source}"
    file = cached_file(f"script-{hashlib.sha256(words.encode()).hexdigest()[:16]}.js")
    with suppress(OSError):
        return file.read_text(encoding="utf-8")
    bundle: str = vl_convert.javascript_bundle(source)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}")
        part.write_text(bundle, encoding="utf-8")
        part.replace(file)
    return bundle
