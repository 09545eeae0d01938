"""Numbers of things, in words."""

from __future__ import annotations

import pandas as pd
import pytest

import workbench as wb
from workbench.counts import counted, have


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 rows have"), (1, "1 row has"), (2, "2 rows have"), (2_000, "2,000 rows have")]
)
def test_one_is_singular(count, words):
    assert f"{counted(count, 'row')} {have(count)}" == words


def test_micro_batches_have_their_plural():
    assert [counted(count, "micro-batch") for count in (1, 2)] == ["1 micro-batch", "2 micro-batches"]


def test_one_row_is_told_as_one():
    frame = pd.DataFrame({"id": ["a"], "at": [pd.Timestamp("2026-01-01")]})
    stream = wb.Stream.from_pandas(frame, "orders", key="id", time="at")
    assert repr(stream).startswith("<Stream orders: 1 row in 1 micro-batch, ")
