"""`advise` with the checkpoint of an exported project: what has changed since, and what that means."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import workbench as wb
from workbench import script
from workbench.errors import ArgumentError

JOIN = wb.IntervalJoin("0 s", "5 s")
COLUMNS = {"k": pa.int64(), "t": pa.timestamp("us", "UTC"), "a": pa.int32(), "b": pa.string()}


def stream(name="orders", columns=COLUMNS, key="k"):
    return wb.Stream.from_arrow(
        pa.table({n: pa.array([], kind) for n, kind in columns.items()}), name, key=key, time="t"
    )


@pytest.fixture
def checkpoint(tmp_path):
    """As a project leaves it: `test_script_life.py` has one that did."""
    sides = stream(), stream("payments")
    noted = script.made_for(JOIN, *sides, "min", script.check(*sides, "files", "parquet", None))
    (tmp_path / "made-for").mkdir()
    noted |= {"state store": "rocksdb", "shuffle partitions": "2"}
    (tmp_path / "made-for" / "part-00000.txt").write_text(json.dumps(noted) + "\n")
    (tmp_path / "made-for" / "_SUCCESS").touch()
    (tmp_path / "metadata").write_text('{"id":"1"}')
    return tmp_path


def told(checkpoint, left=None, join=JOIN):
    found = wb.advise(join, stream() if left is None else left, stream("payments"), checkpoint=checkpoint)
    return [str(each) for each in found if "refuses the checkpoint" in each.remedy]


def test_nothing_has_changed(checkpoint):
    assert told(checkpoint) == []


def test_a_note_of_a_start_that_was_refused_binds_nobody(checkpoint):
    other = wb.IntervalJoin("0 s", "6 s")
    assert told(checkpoint, join=other)
    (checkpoint / "metadata").unlink()
    assert told(checkpoint, join=other) == []


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (COLUMNS | {"c": pa.string()}, "orders: c is new: Spark refuses the state: "),
        (
            {n: each for n, each in COLUMNS.items() if n != "b"},
            "orders: b is no longer there: Spark refuses the state: ",
        ),
        (COLUMNS | {"a": pa.int64()}, "orders: a was int, and is bigint now: Spark refuses the state: "),
        (
            {n: each for n, each in COLUMNS.items() if n != "b"} | {"b2": pa.string()},
            "orders: b is called b2 now: Spark would continue, and the values in state would get the new name: ",
        ),
        (dict(reversed(COLUMNS.items())), "orders: its columns are in another order: Spark refuses the state: "),
    ],
    ids=["added", "removed", "widened", "renamed", "reordered"],
)
def test_changed_columns(checkpoint, columns, words):
    (found,) = told(checkpoint, stream(columns=columns))
    assert found.startswith(words)
    assert found.endswith("start with a new one, and replay the rows that are in state")


def test_another_join_key_or_name(checkpoint):
    (found,) = told(checkpoint, join=wb.IntervalJoin("0 s", "6 s"))
    assert "was made for join IntervalJoin(lower='0 seconds', upper='5 seconds')" in found
    (found,) = told(checkpoint, stream("purchases"))
    assert "was made for a stream called orders, this one is called purchases" in found
    other = wb.advise(JOIN, stream(key="a"), stream("payments"), checkpoint=checkpoint)
    assert any(each.problem == "orders: the checkpoint was made for key ['k'], this is ['a']" for each in other)


@pytest.mark.parametrize("text", [None, "", "[]", "{}", '{"join": 1, "policy": "min", "source": "files"}'])
def test_a_folder_that_is_none(tmp_path, text):
    (tmp_path / "made-for").mkdir()
    if text is not None:
        (tmp_path / "made-for" / "part-00000.txt").write_text(text)
    with pytest.raises(ArgumentError, match=r"checkpoint: .* it has no note of a project of the workbench"):
        told(tmp_path)
