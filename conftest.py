"""The examples in the README and the pages are tests: blocks that begin with ``python`` are run."""

from __future__ import annotations

import os
import tempfile
from typing import Any

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser


def _enter(space: dict[str, Any]) -> None:
    space["_before"] = os.getcwd()  # noqa: PTH109
    space["_folder"] = tempfile.TemporaryDirectory()
    os.chdir(space["_folder"].name)


def _leave(space: dict[str, Any]) -> None:
    os.chdir(space["_before"])
    space["_folder"].cleanup()


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser()],
    patterns=["*.md"],
    setup=_enter,
    teardown=_leave,
).pytest()
