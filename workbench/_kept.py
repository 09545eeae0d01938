"""Where the workbench keeps what takes long to make and is the same every time."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_cache_path


def kept(name: str) -> Path:
    """A file of the user's cache folder; whether it is there is for the caller to see."""
    return user_cache_path("stream-join-workbench") / name
