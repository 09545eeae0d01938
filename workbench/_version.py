"""The version: that of the installed package, which is made of the last tag."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("stream-join-workbench")
except PackageNotFoundError:  # run from its source, not installed
    __version__ = "0+unknown"
