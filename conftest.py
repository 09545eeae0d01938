"""Examples are tests: blocks of the pages that begin with ``python``, and what follows ``>>>`` in docstrings."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from sybil import Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.doctest import DocTestParser
from sybil.parsers.markdown import PythonCodeBlockParser
from sybil.sybil import SybilCollection

ROOT = Path(__file__).parent


def _enter(space: dict[str, Any]) -> None:
    space["_before"] = Path.cwd()
    space["_folder"] = tempfile.TemporaryDirectory()
    os.chdir(space["_folder"].name)


def _leave(space: dict[str, Any]) -> None:
    os.chdir(space["_before"])
    space["_folder"].cleanup()


pages = Sybil(parsers=[PythonCodeBlockParser()], patterns=["*.md"], setup=_enter, teardown=_leave)


def _docstrings(package: str) -> Sybil:
    return Sybil(
        parsers=[DocTestParser()],
        path=str(ROOT / package),
        patterns=["*.py"],
        document_types={".py": PythonDocStringDocument},
    )


pytest_collect_file = SybilCollection([pages, _docstrings("workbench"), _docstrings("generators")]).pytest()
