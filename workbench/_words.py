"""How rows, keys, times and settings are named in what a user reads."""

from __future__ import annotations

from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workbench import times
from workbench.model import Micros
from workbench.streams import SIDES, Stream

if TYPE_CHECKING:
    from workbench.results import Run

_DAY = 86_400_000_000


class Words:
    """The names of one run's things.

    Parameters
    ----------
    run
        The run.
    whole
        Whether most of its rows will be named; else their keys are looked up one by one.

    Attributes
    ----------
    names
        The names of the left and the right stream.
    """

    def __init__(self, run: Run, whole: bool = True) -> None:
        self._whole = whole
        self.streams = dict(zip(SIDES, (run.left, run.right), strict=True))
        self.names = (run.left.name, run.right.name)
        self._zone = run.zone

    def moment(self, micros: int) -> str:
        """A time; with its date where the recording spans more than one day."""
        moment = pd.Timestamp(micros, unit="us", tz="UTC").tz_convert(self._zone or "UTC")
        text = f"{moment:%Y-%m-%d %H:%M:%S}" if self._days > 1 or moment.year < 1971 else f"{moment:%H:%M:%S}"
        return text + (f".{moment.microsecond:06d}".rstrip("0") if moment.microsecond else "")

    @cached_property
    def _days(self) -> int:
        moments = np.concatenate([each.event_times for each in self.streams.values()])
        return len(np.unique(moments // _DAY)) if len(moments) else 0

    @staticmethod
    def span(micros: int) -> str:
        """A time span."""
        return times.short(timedelta(microseconds=int(micros)))

    @cached_property
    def _keys(self) -> dict[str, Micros]:
        return {side: key_words(stream) for side, stream in self.streams.items()}

    def key(self, side: str, row: int) -> str:
        """A row's key."""
        if not self._whole:
            return str(key_words(self.streams[side], np.array([row]))[0])
        return str(self._keys[side][row])

    @cached_property
    def _identities(self) -> dict[str, list[Any] | None]:
        return {side: _identity(stream) for side, stream in self.streams.items()}

    def label(self, side: str, row: int) -> str:
        """A row: by a column that tells its side's rows apart, such as an order number, or else by its time."""
        identity = self._identities[side]
        if identity is not None:
            return str(identity[row])
        return f"the row at {self.moment(int(self.streams[side].event_times[row]))}"

    def setting(self, setting: str, value: str | bool) -> str:
        """A changed setting, such as ``a watermark delay of 14.2 s on payments``."""
        if setting == "finish":
            return "the end of the input (finish=True)"
        span = times.short(times.parse(str(value), setting))
        if setting.endswith(".watermark"):
            return f"a watermark delay of {span} on {self.names[SIDES.index(setting.split('.')[0])]}"
        words = {"lower": "a lower bound of", "upper": "an upper bound of", "size": "a window size of"}
        return f"{words.get(setting, f'a {setting} of').replace('a offset', 'an offset')} {span}"


def key_words(stream: Stream, rows: Micros | None = None) -> Micros:
    """The key of every row, or of some, as text, several columns with a dot between."""
    table = stream.table.select(list(stream.key))
    keys = (table if rows is None else table.take(rows)).to_pandas(integer_object_nulls=True).astype(str)
    words: Micros = keys.iloc[:, 0].str.cat([keys[name] for name in keys.columns[1:]], sep=" · ").to_numpy()
    return words


def _identity(stream: Stream) -> list[Any] | None:
    """The first column but the key of text or whole numbers that differs in every row; None if there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    others = [name for name in stream.table.column_names if name not in stream.key]
    for name in others:
        column = stream.table.column(name)
        fitting = pa.types.is_string(column.type) or pa.types.is_integer(column.type)
        if name != stream.time and fitting and pc.count_distinct(column, mode="all").as_py() == len(column) > 1:
            values = column.to_pylist()
            return values if pa.types.is_string(column.type) else [f"{name} {value}" for value in values]
    return None
