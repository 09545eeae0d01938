"""Orders and sets of many whole numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.arrays import Flags, Integers

__all__ = ["along_keys", "among", "equal", "numbered", "order", "stretches"]

_LARGEST = 2**62
_DIGIT = 16
_FEW = 10_000


def order(values: Integers) -> Integers:
    """The places of numbers in ascending order, equal ones as they come: a stable ``argsort`` in a third of its time.

    NumPy sorts numbers of 16 bits by counting, and longer ones by comparing: these are sorted digit by digit, the
    lowest first. Invariant: after each digit the places are in the order of the digits so far, equal ones as they come.

    Examples
    --------
    >>> order(np.array([30, 10, 30, 20])).tolist()
    [1, 3, 0, 2]
    """
    width = _span(values)
    if len(values) < _FEW or width >= _LARGEST:
        return np.argsort(values, kind="stable")
    values = values - values.min()
    found = np.argsort(_digit(values, 0), kind="stable")
    for shift in range(_DIGIT, width.bit_length(), _DIGIT):
        found = found[np.argsort(_digit(values, shift)[found], kind="stable")]
    return found


def _digit(values: Integers, shift: int) -> Integers:
    return (values >> shift).astype(np.uint16)


def along_keys(*parts: tuple[Integers, Integers]) -> list[Integers]:
    """Numbers that lay the times of all keys along one axis: those of the first key, then those of the next.

    Parameters
    ----------
    *parts
        The keys, as whole numbers, and the times of some rows.

    Returns
    -------
    list of numpy.ndarray
        One array a part. Invariant: of two rows, of whatever parts, the number of the one is less where its key is, or
        where the keys are equal and its time is less; equal numbers are equal keys and times.

    Examples
    --------
    >>> key, time = np.array([0, 0, 1]), np.array([7_000, 9_000, 7_000])
    >>> first, second = along_keys((key, time), (np.array([1]), np.array([8_000])))
    >>> first.tolist(), second.tolist()
    ([0, 2, 3], [4])
    """
    keys, times = zip(*parts, strict=True)
    if not any(map(len, times)):
        return list(times)
    origin = min(int(each.min()) for each in times if len(each))
    if (_span(*times) + 1) * (_span(*keys) + 1) < _LARGEST:
        since = [each - origin for each in times]
        step = int(np.gcd.reduce([np.gcd.reduce(each) for each in since])) or 1  # the fewer, the shorter to sort
        places = [each // step for each in since] if step > 1 else since
        width = _span(*times) // step + 1
    else:
        instants = np.sort(pd.unique(np.concatenate(times)))
        places, width = [np.searchsorted(instants, each) for each in times], len(instants)
    return [key * width + place for key, place in zip(keys, places, strict=True)]


def stretches(begin: Integers, count: Integers) -> Integers:
    """The numbers from each of some beginnings on, so many of each, one stretch after the other.

    Examples
    --------
    >>> stretches(np.array([5, 0, 8]), np.array([2, 0, 3])).tolist()
    [5, 6, 8, 9, 10]
    """
    return np.repeat(begin - (np.cumsum(count) - count), count) + np.arange(count.sum())


def numbered(first: Integers) -> tuple[Integers, Integers]:
    """Groups of rows, numbered in the order of their first rows.

    Parameters
    ----------
    first
        For each row one of its group, the same for all of them.

    Returns
    -------
    group
        For each row its group.
    heads
        For each group that row. Invariant: ``heads[group] == first``.

    Examples
    --------
    >>> group, heads = numbered(np.array([0, 1, 0, 3]))
    >>> group.tolist(), heads.tolist()
    ([0, 1, 0, 2], [0, 1, 3])
    """
    is_head = first == np.arange(len(first))
    return (np.cumsum(is_head) - 1)[first], np.flatnonzero(is_head)


def among(values: Integers, others: Integers) -> Flags:
    """Which of some small numbers, such as codes of keys, are among others; of those below 0 none is.

    A flag for each number there may be is many times as fast as NumPy's sets.

    Examples
    --------
    >>> among(np.array([2, -1, 5]), np.array([5, -1, 3])).tolist()
    [False, False, True]
    """
    found = np.zeros(max(int(values.max(initial=-1)), int(others.max(initial=-1))) + 2, dtype=bool)
    found[others[others >= 0]] = True
    return found[np.maximum(values, -1)]  # the last flag is of no number


def equal(values: Integers) -> Integers:
    """For each of some numbers the first place that has the same.

    Examples
    --------
    >>> equal(np.array([7, 3, 7, 3])).tolist()
    [0, 1, 0, 1]
    """
    places = order(values)
    ordered = values[places]
    begins = np.append(True, ordered[1:] != ordered[:-1])[: len(values)]
    first = np.empty(len(values), dtype=np.int64)
    first[places] = places[begins][np.cumsum(begins) - 1]
    return first


def _span(*arrays: Integers) -> int:
    """The difference between the least and the greatest number of some arrays; 0 without any."""
    some = [each for each in arrays if len(each)]
    return max(int(each.max()) for each in some) - min(int(each.min()) for each in some) if some else 0
