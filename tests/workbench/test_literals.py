"""The fixed words of the API: each list is said once, and a row's id survives being written as text."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import workbench as wb
from workbench.literals import FATES, SIDES, RowId, other_side, row_ids

PACKAGE = Path(wb.__file__).parent


def lists_of_fates(tree):
    """Where all fates stand in one tuple, list or set."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            values = {each.value for each in node.elts if isinstance(each, ast.Constant)}
            if values >= set(FATES):
                yield node.lineno


def test_a_list_of_fates_is_seen():
    assert list(lists_of_fates(ast.parse(f"FATES = {FATES!r}"))) == [1]


def test_the_fates_are_listed_once():
    found = [
        str(path.relative_to(PACKAGE))
        for path in sorted(PACKAGE.rglob("*.py"))
        for _ in lists_of_fates(ast.parse(path.read_text()))
    ]
    assert found == ["literals.py"]


@pytest.mark.parametrize("side", SIDES)
def test_a_row_id_is_its_side_and_number_and_reads_back(side):
    row = RowId(side, 12)
    assert row == (side, 12)
    assert str(row) == f"{side}-12"
    assert RowId.parse(str(row)) == row
    assert row_ids(side, [0, 12]) == [f"{side}-0", f"{side}-12"]
    assert {side, other_side(side)} == set(SIDES)
