"""How two key columns may be written so that more of their values meet: blanks, case, zeros, numbers as text."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from workbench.sources.profile import Kind
from workbench.sources.repairs import KeyText, Step, repaired
from workbench.untyped import Series

__all__ = ["Way", "found", "share", "ways"]

_LARGEST = 300_000  # distinct values of a side that are looked through
_MOST = 3
_CHOICES: tuple[tuple[Step | None, ...], ...] = (
    (None, "ends", "blanks"), (None, "case"), (None, "zeros", "padding"),
)  # fmt: skip
"""The steps of which one of each group is taken, or none; the last of each takes away most."""
_TEXTS: dict[Kind, tuple[Step, ...]] = {"text": (), "whole number": ("text",), "number": ("whole", "text")}


@dataclass(frozen=True)
class Way:
    """How two key columns may be written.

    Attributes
    ----------
    repairs
        What is done to either side; None: nothing.
    shares
        The share of either side's distinct values that the other one has then.
    found
        How many distinct values of both sides that are.
    merged
        Of either side how many distinct values there are before, and after.
    """

    repairs: tuple[KeyText | None, KeyText | None]
    shares: tuple[float, float]
    found: int
    merged: tuple[tuple[int, int], tuple[int, int]]

    @property
    def steps(self) -> frozenset[tuple[int, Step]]:
        """What is done, each with its side."""
        return frozenset((side, step) for side, each in enumerate(self.repairs) if each for step in each.steps)


def share(mine: Series, theirs: Series) -> float:
    """The share of a column's distinct values that another one has."""
    values = mine.dropna().drop_duplicates()
    return float(values.isin(set(theirs.dropna())).mean()) if len(values) else 0.0


def found(left: Series, right: Series) -> int:
    """How many distinct values of two columns the other one has, of both together."""
    sides = [each.dropna().drop_duplicates() for each in (left, right)]
    return sum(int(one.isin(set(other)).sum()) for one, other in (sides, sides[::-1]))


def ways(
    columns: tuple[Series, Series], kinds: tuple[Kind, Kind], names: tuple[str, str], repairable: tuple[bool, bool],
    least: int,
) -> list[Way]:  # fmt: skip
    """The ways of writing two key columns that have more values meet, the one with most first.

    Parameters
    ----------
    columns, kinds, names
        Of both sides the values, what they are, and what the column is called.
    repairable
        Whether a side's rows can be repaired.
    least
        How many distinct values of both sides meet without them.
    """
    if any(kind not in _TEXTS for kind in kinds) or "text" not in kinds:
        return []
    values = [each.dropna().drop_duplicates() for each in columns]
    if max(map(len, values)) > _LARGEST or not all(map(len, values)):
        return []
    if any(kind == "number" and bool((each % 1 != 0).any()) for each, kind in zip(values, kinds, strict=True)):
        return []
    forms = [list(_forms(each, kind, name)) for each, kind, name in zip(values, kinds, names, strict=True)]
    if _meet(*(each[-1][1] for each in forms)) <= least:  # which is written with least: no other way finds more
        return []
    made = [
        _way((one, other), values)
        for one, other in zip(*forms, strict=True)
        if all(able or not repair for able, (repair, _) in zip(repairable, (one, other), strict=True))
    ]
    better = sorted(
        dict.fromkeys(each for each in made if each.found > least), key=lambda each: (-each.found, len(each.steps))
    )
    kept = [
        each for each in better if not any(other.found >= each.found and other.steps < each.steps for other in better)
    ]
    return _without_equals(kept)[:_MOST]


def _forms(values: Series, kind: Kind, name: str) -> Iterator[tuple[KeyText | None, Series]]:
    """The values in each way of writing, in one order for both sides, with the repair that writes them so."""
    first = _TEXTS[kind]
    texts = _written(values, name, first)
    for wanted in itertools.product(*_CHOICES):
        steps, now = [*first], texts
        for step in wanted:
            after = now if step is None else _written(now, name, (step,))
            if step is not None and not after.equals(now):
                steps.append(step)
                now = after
        yield (KeyText(name, tuple(steps)) if steps else None), now


def _written(values: Series, name: str, steps: tuple[Step, ...]) -> Series:
    frame = pd.DataFrame({name: values})
    return (repaired(frame, [KeyText(name, steps)])[name] if steps else values).astype(object)


def _way(forms: tuple[tuple[KeyText | None, Series], ...], before: Sequence[Series]) -> Way:
    (one, left), (other, right) = forms
    there = [left.isin(set(right)), right.isin(set(left))]
    return Way(
        (one, other),
        (float(there[0].mean()), float(there[1].mean())),
        int(sum(each.sum() for each in there)),
        ((len(before[0]), left.nunique()), (len(before[1]), right.nunique())),
    )


def _meet(left: Series, right: Series) -> int:
    return int(left.isin(set(right)).sum() + right.isin(set(left)).sum())


def _without_equals(found: Sequence[Way]) -> list[Way]:
    """Of ways that have as many values meet with as many steps only the first."""
    seen: dict[tuple[int, int], Way] = {}
    for each in found:
        seen.setdefault((each.found, len(each.steps)), each)
    return list(seen.values())
