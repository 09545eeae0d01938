"""Examples are tests: blocks of the pages that begin with ``python``, and what follows ``>>>`` in docstrings."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from sybil import Sybil
from sybil.document import PythonDocStringDocument
from sybil.integration.pytest import SybilItem
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


# the examples of docs/joins are run by tests/project/test_docs.py, which looks at what they give, too; the one of the
# report makes a session of its own, and is run by tests/workbench/engine/test_faulty_sparks.py
pages = Sybil(
    parsers=[PythonCodeBlockParser()],
    patterns=["*.md"],
    excludes=["docs/joins/*.md", "docs/spark-left-semi-report.md"],
    setup=_enter,
    teardown=_leave,
)


def _docstrings(package: str) -> Sybil:
    return Sybil(
        parsers=[DocTestParser()],
        path=str(ROOT / package),
        patterns=["*.py"],
        document_types={".py": PythonDocStringDocument},
    )


pytest_collect_file = SybilCollection([pages, _docstrings("workbench"), _docstrings("generators")]).pytest()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests come in any order, but the examples of a page follow each other as they stand there; they are slow."""
    first: dict[object, int] = {}
    for place, item in enumerate(items):
        first.setdefault(_group(item), place)
        if isinstance(item, SybilItem) and item.path.suffix == ".md":
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: (first[_group(item)], item.example.start if isinstance(item, SybilItem) else 0))


def _group(item: pytest.Item) -> object:
    return item.parent if isinstance(item, SybilItem) else item
