"""What a join's definition says of recorded rows, whatever their order of arrival: keys and matches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrays import Codes, Counts, RowNumbers, Times
from workbench.errors import ArgumentError, TooLargeError
from workbench.joins import Join
from workbench.kinds import kind_of
from workbench.model.ordering import along_keys, order, stretches
from workbench.sources.key_checks import check_same_keys
from workbench.streams import Stream

__all__ = ["MOST", "at_most", "check_pairs", "check_size", "common_type", "key_codes", "matches"]


MOST = 10_000_000
"""Pairs, or rows in windows, that the model makes at most: about 1.5 GB."""


_DENSE = 4
"""Whole numbers that are no farther apart, on average, are their own codes: to look each up takes far longer."""
_NOWHERE = np.iinfo(np.int64).max
_LIMIT = ContextVar("limit", default=MOST)


@contextmanager
def at_most(limit: int) -> Iterator[None]:
    """Refuse to make more than so many, in place of `MOST`: what takes long is asked about before it is begun."""
    before = _LIMIT.set(min(limit, MOST))
    try:
        yield
    finally:
        _LIMIT.reset(before)


def check_size(count: int, what: str, remedy: str) -> None:
    """Refuse to make more than `MOST` of something, or than `at_most` allows.

    Raises
    ------
    TooLargeError
        Naming the number, and what would help.
    """
    if count > MOST:
        raise TooLargeError(f"{what}; the model makes {MOST:,} at most: {remedy}", count)
    if count > _LIMIT.get():
        raise TooLargeError(f"{what}, which takes long: {remedy}", count)


def key_codes(left: Stream, right: Stream) -> tuple[Codes, Codes]:
    """The keys of both sides as whole numbers, equal where the keys are; below 0 where a column is null.

    Keys that cannot be compared, as there may be where rows meet others of any key, are never equal.
    """
    if left.compared is not None and right.compared is not None:
        keys = [(mine, theirs) for mine, theirs in zip(left.compared.columns, right.compared.columns, strict=True)]
    elif _comparable(left, right):
        keys = [(left.table[mine], right.table[theirs]) for mine, theirs in zip(left.key, right.key, strict=True)]
    else:
        mine, theirs = (key_codes(each, each)[0] for each in (left, right))
        return mine, np.where(theirs < 0, theirs, theirs + len(left))
    columns = [_column_codes(mine, theirs) for mine, theirs in keys]
    codes, count = columns[0]
    missing = codes == count
    for part, count in columns[1:]:
        missing |= part == count
        codes = pd.factorize(codes * (count + 1) + part)[0]
    codes[missing] = -1 - codes[missing]
    return codes[: len(left)], codes[len(left) :]


def _comparable(left: Stream, right: Stream) -> bool:
    try:
        check_same_keys(left, right)
    except ArgumentError:
        return False
    return True


def _column_codes(mine: pa.ChunkedArray, theirs: pa.ChunkedArray) -> tuple[Codes, int]:
    """Equal numbers for values that Spark's join finds equal, and how many there are, which stands for null.

    Text is compared byte by byte. Among floating-point numbers NaN equals NaN, and -0.0 equals 0.0, as in Spark's
    ``NormalizeFloatingNumbers``.
    """
    kind = common_type(mine.type, theirs.type)
    both = pa.chunked_array([*mine.cast(kind).chunks, *theirs.cast(kind).chunks], kind)
    if pa.types.is_floating(kind):
        both = pc.if_else(pc.is_nan(both), float("nan"), pc.add(both, 0.0))
    if pa.types.is_integer(kind) and both.null_count == 0 and len(both):
        values = both.to_numpy().astype(np.int64, copy=False)  # of 64 bits without a sign there are none in Spark
        lowest = int(values.min())
        width = int(values.max()) - lowest + 1
        if width <= _DENSE * len(values):
            return values - lowest, width
    encoded = both.combine_chunks().dictionary_encode()
    encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
    count = len(encoded.dictionary)
    return encoded.indices.fill_null(count).to_numpy().astype(np.int64), count


def common_type(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """A type that holds the values of two key columns of one class."""
    if one == other:
        return one
    if pa.types.is_decimal(one):
        scale = max(one.scale, other.scale)
        whole = max(one.precision - one.scale, other.precision - other.scale)
        return pa.decimal256(whole + scale, scale)
    return pa.float64() if pa.types.is_floating(one) else pa.int64()


def matches(
    join: Join,
    left: pd.DataFrame,
    right: pd.DataFrame,
    named: Callable[[int], str] = lambda code: f"number {code}",
    slack: int = 0,
) -> tuple[RowNumbers, RowNumbers]:
    """The pairs of a join, but of merging windows, whatever was late, as places in the two frames.

    Parameters
    ----------
    join
        The join.
    left, right
        Columns ``key`` (code, below 0 for none), ``start`` (the window's, or the event time).
    named
        Gives the key of a code in words.
    slack
        How far beyond the bounds pairs are taken, too, in microseconds.

    Raises
    ------
    TooLargeError
        If there are more than `MOST`; it names the key that has most of them.
    """
    low, high = kind_of(join).bounds(join)
    low, high = low - slack, high + slack
    return _within(
        left["key"].to_numpy(), left["start"].to_numpy(), right["key"].to_numpy(), right["start"].to_numpy(), low, high,
        named,
    )  # fmt: skip


def check_pairs(key: Codes, count: Counts, named: Callable[[int], str]) -> None:
    """Refuse to make too many pairs.

    Parameters
    ----------
    key, count
        Codes of keys, and how many pairs each of them makes; a key may come several times.
    named
        Gives the key of a code in words.
    """
    total = int(count.sum())
    if total <= min(MOST, _LIMIT.get()):
        return
    codes, place = np.unique(key, return_inverse=True)
    of_key = np.bincount(place, weights=count)
    most = int(of_key.argmax())
    check_size(
        total,
        f"this join makes {total:,} pairs, {int(of_key[most]):,} of them of key {named(int(codes[most]))}",
        "narrow the bounds or windows, or leave that key out; a run on Spark makes them all",
    )


def _within(
    left_key: Codes,
    left: Times,
    right_key: Codes,
    right: Times,
    low: int,
    high: int,
    named: Callable[[int], str],
) -> tuple[RowNumbers, RowNumbers]:
    """Places of all pairs of one key with ``left + low <= right <= left + high``.

    The right rows lie on one axis, key after key. Invariant: the partners of a left row are a stretch of that axis,
    from where ``left + low`` would stand to where ``left + high`` would; so two searches give all pairs, without a
    table of keys. Pairs come in order of left row, then of right time.

    Examples
    --------
    >>> key, time = np.array([0, 0]), np.array([10, 20])
    >>> left, right = _within(key, time, np.array([0, 0, 1]), np.array([11, 25, 11]), 0, 5, str)
    >>> left.tolist(), right.tolist()
    ([0, 1], [0, 1])
    """
    if not (len(left) and len(right)):
        return np.array([], dtype=np.int64), np.array([], dtype=np.int64)
    ends = [left + low] if low == high else [left + low, left + high]
    right, first, *others = along_keys((right_key, right), *((left_key, each) for each in ends))
    last = others[0] if others else first
    right_order, left_order = order(right), order(first)
    axis = right[right_order]
    # looked up in the axis' own order: several times as fast, because memory is read from end to end
    begin = np.searchsorted(axis, first[left_order])
    met = (np.append(axis, _NOWHERE)[begin] <= last[left_order]) & (left_key[left_order] >= 0)
    back = order(left_order[met])
    row, begin = left_order[met][back], begin[met][back]
    count = np.searchsorted(axis, last[row], side="right") - begin
    check_pairs(left_key[row], count, named)
    return np.repeat(row, count), right_order[stretches(begin, count)]
