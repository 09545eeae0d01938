"""How rows, keys, times and settings are named in what a user reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cached_property

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from workbench import times
from workbench.arrays import Flags, RowNumbers, Texts, Times
from workbench.errors import WorkbenchError, wrong
from workbench.joins import Join
from workbench.kinds import kind_of
from workbench.literals import DELAYS, Setting, Side, Sides
from workbench.model import Simulation
from workbench.streams import Stream
from workbench.untyped import Value

__all__ = ["Labels", "fix_value", "key_text", "key_words", "rows_of_key", "setting_name", "setting_value", "words_of"]

_DAY = 86_400_000_000


class Labels:
    """How the rows, keys, times and settings of one run are named.

    Parameters
    ----------
    simulation
        The run.
    whole
        Whether most of its rows will be named; else their keys are looked up one by one.

    Attributes
    ----------
    names
        The names of the left and the right stream.
    """

    def __init__(self, simulation: Simulation, whole: bool = True) -> None:
        self._whole = whole
        self.streams = Sides(simulation.left, simulation.right)
        self.names = simulation.names
        self._zone = simulation.zone
        self._fields = kind_of(simulation.join).fields

    def moment(self, micros: int) -> str:
        """A time; with its date where the recording spans more than one day."""
        moment = pd.Timestamp(micros, unit="us", tz="UTC").tz_convert(self._zone or "UTC")
        text = f"{moment:%Y-%m-%d %H:%M:%S}" if self._days > 1 or moment.year < 1971 else f"{moment:%H:%M:%S}"
        return text + (f".{moment.microsecond:06d}".rstrip("0") if moment.microsecond else "")

    @cached_property
    def times(self) -> dict[Side, Times]:
        """Per side the event times, in microseconds: a stream casts them anew each time."""
        return {side: stream.event_times for side, stream in self.streams.items()}

    @cached_property
    def _days(self) -> int:
        moments = np.concatenate(list(self.times.values()))
        return len(np.unique(moments // _DAY)) if len(moments) else 0

    @staticmethod
    def span(micros: int) -> str:
        """A time span."""
        return times.short(timedelta(microseconds=int(micros)))

    @cached_property
    def _keys(self) -> dict[Side, Texts]:
        return {side: key_words(stream) for side, stream in self.streams.items()}

    def key(self, side: Side, row: int) -> str:
        """A row's key."""
        if not self._whole:
            return str(key_words(self.streams[side], np.array([row]))[0])
        return str(self._keys[side][row])

    @cached_property
    def _identities(self) -> dict[Side, list[Value]]:
        named = {side: (stream, stream.identity) for side, stream in self.streams.items()}
        return {side: stream.table.column(name).to_pylist() for side, (stream, name) in named.items() if name}

    def label(self, side: Side, row: int) -> str:
        """A row: by a column that tells its side's rows apart, such as an order number, or else by its time."""
        stream = self.streams[side]
        name = stream.identity
        if name is None:
            return f"the row at {self.moment(int(self.times[side][row]))}"
        value = self._identities[side][row] if self._whole else stream.table.column(name)[int(row)].as_py()
        return value if isinstance(value, str) else f"{name} {value}"

    def labels(self, rows: Mapping[Side, RowNumbers]) -> list[str]:
        """Rows by their labels, with the streams that they are of where two have the same one."""
        names = Sides(*self.names)
        found = [(self.label(side, int(row)), names[side]) for side, some in rows.items() for row in some]
        alike = len({label for label, _ in found}) < len(found)
        return [label + f" of {name}" * alike for label, name in found]

    def setting(self, setting: Setting, value: str | bool) -> str:
        """A changed setting, such as ``a watermark delay of 14.2 s on payments``."""
        if setting == "finish":
            return "the end of the input (finish=True)"
        if setting == "policy":
            return f"the watermark of the {'slower' if value == 'min' else 'faster'} stream (policy {value})"
        span = times.precise(times.parse(str(value), setting))
        for side, name in Sides(*self.names).items():
            if setting == DELAYS[side]:
                return f"a watermark delay of {span} on {name}"
        if setting == "trigger":
            return f"a trigger interval of {span}"
        if setting == "allowed_lateness":
            return f"an allowed lateness of {span}"
        noun = next(field.noun for field in self._fields if field.argument == setting)
        return f"{noun} of {span}"

    def changed(self, setting: Setting, value: float) -> str:
        """A fix in words, of its setting and its value in microseconds."""
        return self.setting(setting, fix_value(setting, value))


def fix_value(setting: Setting, value: float) -> str | bool:
    """A fix's value as the setting takes it: a time span as text, or True."""
    return True if setting == "finish" else times.text(timedelta(microseconds=int(value)))


def setting_name(join: Join, names: Sequence[str], setting: str) -> str:
    """What a setting is called in a list: as the page's fields are labelled.

    Parameters
    ----------
    join
        The join.
    names
        The names of the left and the right stream.
    setting
        Of the join or its window, of the run, or a stream's watermark delay.
    """
    for side, name in Sides(*names).items():
        if setting == DELAYS[side]:
            return f"delay of {name}"
    kind = kind_of(join)
    labels = {each.argument: each.label for each in kind.inputs}
    label = (labels | _OF_THE_RUN).get(setting, setting)
    return label[:1].lower() + label[1:]


def setting_value(setting: str, value: Value) -> str:
    """A setting's value in words, to stand beside its name."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if setting == "policy":
        return f"{'slower' if value == 'min' else 'faster'} side ({value})"
    try:
        span = times.parse(value, setting)
    except WorkbenchError:  # it is no time span
        return str(value)
    return times.precise(span)


_OF_THE_RUN = {
    "policy": "watermark follows",
    "finish": "every window closed at the end",
    "trigger": "trigger interval",
    "how": "how",
}


def _text(value: object) -> str:
    return repr(value) if isinstance(value, bytes) else str(value)


def key_text(key: object) -> str:
    """A key as `key_words` has it: a value, several as a tuple, or the text itself.

    Raises
    ------
    ArgumentError
        If it is a value that has no text.
    """
    try:
        return " · ".join(map(_text, key)) if isinstance(key, tuple) else _text(key)
    except Exception:  # noqa: BLE001 - of a class of the user's, or a number with too many digits
        raise wrong("key", key, "give a key's value, or the text that `keys` has of it") from None


def rows_of_key(simulation: Simulation, words: Texts, key: object) -> dict[Side, RowNumbers]:
    """Per side the rows of a key, and those whose key Spark finds equal, as 0.0 and -0.0.

    Parameters
    ----------
    simulation
        The run.
    words
        The keys of the left rows, then of the right ones, as `key_words` gives them.
    key
        A key's value, a tuple of several columns' values, or its text.
    """
    codes, first = np.concatenate(simulation.outcome.keys), len(simulation.left)
    found = words == key_text(key)
    if not isinstance(key, str):
        values = key if isinstance(key, tuple) else (key,)
        of_value = np.concatenate([_has_key(stream, values) for stream in (simulation.left, simulation.right)])
        found = of_value if of_value.any() else found
    equal = codes[found] if simulation.keyed else codes[:0]
    places = np.flatnonzero(found | np.isin(codes, equal[equal >= 0]))
    return {"left": places[places < first], "right": places[places >= first] - first}


def _has_key(stream: Stream, values: tuple[object, ...]) -> Flags:
    """Which rows of a stream have some values as their key; a missing value is that of any missing one."""
    found = np.full(len(stream), len(values) == len(stream.key))
    for name, value in zip(stream.key, values, strict=False):
        column = stream.table.column(name)
        missing = pd.api.types.is_scalar(value) and pd.isna(value)
        try:
            same = pc.is_null(column, nan_is_null=True) if missing else pc.equal(column, pa.scalar(value, column.type))
        except (pa.ArrowException, TypeError, ValueError, OverflowError):  # no value of the column's type
            return np.zeros(len(stream), dtype=bool)
        found &= pc.fill_null(same, False).to_numpy()
    return found


def key_words(stream: Stream, rows: RowNumbers | None = None) -> Texts:
    """The key of every row, or of some, as text, several columns with a dot between."""
    return words_of(stream.table if rows is None else stream.table.select(list(stream.key)).take(rows), stream.key)


def words_of(table: pa.Table, key: Sequence[str]) -> Texts:
    """The key of every row of a table as text; of no key columns nothing."""
    if not key:
        return np.array([], dtype=object)
    keys = table.select(list(key)).to_pandas(integer_object_nulls=True).map(_text)
    keys = keys.astype(object)  # of no rows, the type is still that of the column
    words: Texts = keys.iloc[:, 0].str.cat([keys[name] for name in keys.columns[1:]], sep=" · ").to_numpy()
    return words
