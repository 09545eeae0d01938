"""What changed between two results: the same rows in both, by their values, and what became of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from workbench import schema
from workbench.arrays import Codes, RowNumbers, Texts
from workbench.counts import counted
from workbench.errors import ArgumentError, wrong
from workbench.kinds import kind_of
from workbench.literals import DELAYS, SIDES, Side, other_side
from workbench.reasons.labels import setting_name, setting_value
from workbench.streams import Stream
from workbench.untyped import Value

__all__ = ["Changes", "changes"]

_BY = 'give the columns that tell rows apart, such as by=["order_id"], or of each side, by={"left": […], "right": […]}'

_Result = Any  # a result: it imports this module, and modules import each other in no circle


@dataclass(frozen=True, eq=False, repr=False)
class Changes:
    """What changed between two jobs, or a job and a run of its rows. Made by `Run.changes`.

    Attributes
    ----------
    rows
        The rows that both have and whose fate differs: ``side``, ``batch`` and ``other_batch``, the row's columns,
        ``fate``, ``other_fate``, ``reason``, ``other_reason``. Its index is that of `Result.rows`.
    counts
        How many rows that both have went from which fate to which, by side: ``side``, ``fate``, ``other_fate``,
        ``rows``; those that stayed as they were, too.
    gone, new
        The rows that only the first one has, and only the other one: as in `Result.rows`, without fixes.
    settings
        The settings that differ: ``setting``, ``value``, ``other_value``.
    by
        By which columns the rows of each side were recognised.
    notes
        What else differs and may be why, a sentence each.
    """

    rows: pd.DataFrame
    counts: pd.DataFrame
    gone: pd.DataFrame
    new: pd.DataFrame
    settings: pd.DataFrame
    by: Mapping[Side, tuple[str, ...]]
    notes: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        both = int(self.counts["rows"].sum())
        return (
            f"<Changes: {len(self.rows):,} of the {counted(both, 'row')} of both with another fate; "
            f"{len(self.gone):,} gone, {len(self.new):,} new>"
        )


def changes(one: _Result, other: _Result, by: Value) -> Changes:
    """What `Result.changes` gives."""
    sides = _facing(one, other)
    named = _named(one, other, sides, by)
    found = {side: _Matched.of(one, other, side, sides[side], named[side]) for side in SIDES}
    moved, gone = ({side: getattr(found[side], name) for side in SIDES} for name in ("moved", "gone"))
    there = {side: found[side].pairs[1][moved[side]] for side in SIDES}
    here = {side: found[side].pairs[0][moved[side]] for side in SIDES}
    return Changes(
        _moved(one, other, sides, here, there),
        pd.concat([found[side].counts(one, other, side, sides[side]) for side in SIDES], ignore_index=True),
        _explained(one, gone),
        _explained(other, {sides[side]: found[side].new for side in SIDES}),
        _settings(one, other),
        named,
        (*one.caveats, *(f"of the other one, {each}" for each in other.caveats if each not in one.caveats)),
    )


def _facing(one: _Result, other: _Result) -> dict[Side, Side]:
    """For each side the other result's side with the same stream: the other one where their names are exchanged."""
    names = [(each.left.name, each.right.name) for each in (one, other)]
    crossed = names[0] == names[1][::-1] and names[0][0] != names[0][1]
    return {side: other_side(side) if crossed else side for side in SIDES}


def _named(one: _Result, other: _Result, sides: Mapping[Side, Side], by: Value) -> dict[Side, tuple[str, ...]]:
    """The columns by which the rows of each side are recognised."""
    given = dict.fromkeys(SIDES) if by is None else by if isinstance(by, Mapping) else dict.fromkeys(SIDES, by)
    if set(given) != set(SIDES):
        raise wrong("by", by, _BY)
    found: dict[Side, tuple[str, ...]] = {}
    for side in SIDES:
        mine, theirs = one.side(side), other.side(sides[side])
        shared = [name for name in mine.table.column_names if name in theirs.table.column_names]
        asked = given[side]
        if asked is None:
            if not shared:
                raise ArgumentError(
                    f"other: its {mine.name} have no column that the {mine.name} of this one have; {_BY}"
                )
            found[side] = tuple(shared)
            continue
        names = [asked] if isinstance(asked, str) else asked
        if isinstance(names, bytes) or not isinstance(names, Sequence) or not len(names):
            raise wrong("by", by, _BY)
        for each in names:
            if each not in shared:
                raise wrong("by", each, f"the common columns of {mine.name} are {', '.join(shared)}: {_BY}")
        found[side] = tuple(dict.fromkeys(names))
    return found


@dataclass(frozen=True)
class _Matched:
    """Which rows of a side both have: the numbers of each in one and in the other, and the numbers of the rest."""

    pairs: tuple[RowNumbers, RowNumbers]
    moved: RowNumbers
    gone: RowNumbers
    new: RowNumbers

    @classmethod
    def of(cls, one: _Result, other: _Result, side: Side, facing: Side, by: tuple[str, ...]) -> _Matched:
        """Of rows that are alike, those of one fate are the same first, then those that are left in their order."""
        codes = _codes(one.side(side), other.side(facing), by)
        fates = [_fates(each, name) for each, name in ((one, side), (other, facing))]
        numbers: list[RowNumbers] = [np.arange(len(each)) for each in codes]
        kinds = pd.factorize(np.concatenate(fates))[0]
        split = len(codes[0])
        fine = [
            code * (int(kinds.max(initial=0)) + 1) + kind
            for code, kind in zip(codes, (kinds[:split], kinds[split:]), strict=True)
        ]
        same = _paired(fine[0], fine[1])
        left = [np.setdiff1d(numbers[place], same[place], assume_unique=True) for place in range(2)]
        rest = _paired(codes[0][left[0]], codes[1][left[1]])
        pairs = [np.concatenate([same[place], left[place][rest[place]]]) for place in range(2)]
        order = np.argsort(pairs[0], kind="stable")
        pairs = [each[order] for each in pairs]
        moved = fates[0][pairs[0]] != fates[1][pairs[1]]
        lost = [np.setdiff1d(numbers[place], pairs[place], assume_unique=True) for place in range(2)]
        return cls((pairs[0], pairs[1]), moved, lost[0], lost[1])

    def counts(self, one: _Result, other: _Result, side: Side, facing: Side) -> pd.DataFrame:
        """The rows that both have, by fate and fate."""
        fates = {
            "fate": _fates(one, side)[self.pairs[0]],
            "other_fate": _fates(other, facing)[self.pairs[1]],
        }
        counted = pd.DataFrame(fates, dtype=object).groupby(["fate", "other_fate"]).size().reset_index(name="rows")
        counted.insert(0, "side", side)
        return counted


def _fates(result: _Result, side: Side) -> Texts:
    found: Texts = result.simulation.fates[side]["fate"].to_numpy(dtype=object)
    return found


def _codes(one: Stream, other: Stream, by: tuple[str, ...]) -> tuple[Codes, Codes]:
    """A number for each row of two streams, the same for rows with equal values."""
    split = len(one)
    codes = np.zeros(split + len(other), dtype=np.int64)
    for name in by:
        values = _alike(one.table.column(name), other.table.column(name))
        encoded = pc.dictionary_encode(values, null_encoding="encode")
        indices = encoded.indices.to_numpy().astype(np.int64)
        codes = np.unique(codes * (int(indices.max(initial=0)) + 1) + indices, return_inverse=True)[1]
    return codes[:split], codes[split:]


def _alike(one: pa.ChunkedArray, other: pa.ChunkedArray) -> pa.Array:
    """The values of two columns, one after the other, in one type: as text where they have none in common."""
    if pa.types.is_nested(one.type) or pa.types.is_nested(other.type):
        return pa.array([str(each) for column in (one, other) for each in column.to_pylist()], pa.string())
    if not one.type.equals(other.type):
        try:
            other = other.cast(one.type)
        except pa.ArrowException:
            one, other = one.cast(pa.string()), other.cast(pa.string())
    return pa.concat_arrays([*one.chunks, *other.chunks]) if one.chunks or other.chunks else pa.array([], one.type)


def _paired(one: RowNumbers, other: RowNumbers) -> tuple[RowNumbers, RowNumbers]:
    """The places of equal numbers in two arrays: the first of one with the first of the other, and so on."""
    frames = []
    for each in (one, other):
        frame = pd.DataFrame({"code": each})
        frame["rank"] = frame.groupby("code").cumcount()
        frames.append(frame.reset_index(names="place"))
    both = frames[0].merge(frames[1], on=["code", "rank"])
    return both["place_x"].to_numpy(), both["place_y"].to_numpy()


def _places(result: _Result, rows: Mapping[Side, RowNumbers]) -> list[int]:
    """The places of some rows in `Result.rows`."""
    found = np.concatenate([np.asarray(rows["left"]), len(result.left) + np.asarray(rows["right"])])
    places: list[int] = found.astype(np.int64).tolist()
    return places


def _explained(result: _Result, rows: Mapping[Side, RowNumbers]) -> pd.DataFrame:
    return result.explain(_places(result, rows)).drop(columns=schema.FIX_NAMES)


def _moved(
    one: _Result,
    other: _Result,
    sides: Mapping[Side, Side],
    here: Mapping[Side, RowNumbers],
    there: Mapping[Side, RowNumbers],
) -> pd.DataFrame:
    mine = _explained(one, here)
    theirs = _explained(other, {sides[side]: there[side] for side in SIDES})
    wanted = np.concatenate(
        [there[side] + (len(other.left) if sides[side] == "right" else 0) for side in SIDES]
    ).astype(np.int64)
    theirs = theirs.loc[wanted]
    columns = [name for name in mine.columns if name not in ("side", "batch", "fate", "reason")]
    found = mine[["side", "batch"]].assign(other_batch=theirs["batch"].to_numpy())
    found[columns] = mine[columns]
    for name in ("fate", "reason"):
        found[name] = mine[name]
        found[f"other_{name}"] = theirs[name].to_numpy()
    return found[["side", "batch", "other_batch", *columns, "fate", "other_fate", "reason", "other_reason"]]


def _settings(one: _Result, other: _Result) -> pd.DataFrame:
    """The settings that differ."""
    given = []
    for each in (one, other):
        delays = {DELAYS["left"]: each.left.watermark, DELAYS["right"]: each.right.watermark}
        known = kind_of(each.join).arguments(each.join) | delays | {"policy": each.policy, "finish": each.finish}
        names = each.left.name, each.right.name
        words = {setting_name(each.join, names, name): setting_value(name, value) for name, value in known.items()}
        given.append({"join": kind_of(each.join).label} | words)
    differ = [name for name in dict.fromkeys([*given[0], *given[1]]) if given[0].get(name) != given[1].get(name)]
    return pd.DataFrame(
        {
            "setting": differ,
            "value": [given[0].get(name) for name in differ],
            "other_value": [given[1].get(name) for name in differ],
        },
        dtype=object,
    )
