"""`Shared`: what runs of the same rows under several settings have in common."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import pandas as pd

from workbench.joins import Join
from workbench.kinds import Micros, kind_of
from workbench.literals import SIDES, Side
from workbench.model.definition import key_codes, matches
from workbench.streams import Stream


class Shared:
    """What runs of the same rows under several settings have in common, computed once.

    Parameters
    ----------
    left, right
        The streams; their watermark delays do not matter here.
    keys
        As `key_codes` gives them, where they are known already.

    Attributes
    ----------
    keys
        As `key_codes` gives them.
    """

    def __init__(self, left: Stream, right: Stream, keys: tuple[Micros, Micros] | None = None) -> None:
        self._streams = dict(zip(SIDES, (left, right), strict=True))
        self.keys = key_codes(left, right) if keys is None else keys
        self._assignments: dict[tuple[Hashable, str], pd.DataFrame] = {}
        self._matches: dict[object, tuple[Micros, Micros]] = {}

    def assignments(self, join: Join, side: Side) -> pd.DataFrame:
        """The assignments of a side in the join's windows, with ``batch`` and ``key``."""
        kind = kind_of(join)
        what = kind.assignment(join)
        if (what, side) not in self._assignments:
            stream = self._streams[side]
            mine = kind.assign(join, stream.event_times)
            row = mine["row"].to_numpy()
            key = self.keys[SIDES.index(side)]
            self._assignments[what, side] = mine.assign(batch=stream.arrival[row], key=key[row])
        return self._assignments[what, side]

    def named(self, code: int) -> str:
        """A key in words, by its code."""
        for side, codes in zip(SIDES, self.keys, strict=True):
            rows = np.flatnonzero(codes == code)
            if len(rows):
                stream = self._streams[side]
                values = [stream.table.column(key)[int(rows[0])].as_py() for key in stream.key]
                return repr(values[0] if len(values) == 1 else values)
        return "null"

    def matches(self, join: Join) -> tuple[Micros, Micros]:
        """The pairs by definition, as places in the assignments."""
        kind = kind_of(join)
        what = kind.assignment(join), kind.bounds(join)
        if what not in self._matches:
            left, right = (self.assignments(join, side) for side in SIDES)
            self._matches[what] = matches(join, left, right, self.named)
        return self._matches[what]
