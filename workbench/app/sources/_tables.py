"""Two streams of tables whose columns are chosen in menus: checked, repaired as the user chose, and the code of it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from workbench import frames, times
from workbench.app.sources._menus import Menus
from workbench.app.sources._source import Streams, Values, WrongSettingsError
from workbench.errors import ArgumentError, WorkbenchError
from workbench.literals import SIDES, Side, Sides
from workbench.sources import arrow
from workbench.sources.findings import Finding, Part, Place, of_duplicates, of_keys, of_times, of_zones
from workbench.sources.folder_repairs import FileRepair
from workbench.sources.profile import key_overlap
from workbench.sources.repairs import AnyRepair, code, repaired
from workbench.streams import Stream
from workbench.untyped import Record, Value

__all__ = ["Given", "check_streams", "made_of", "overlaps"]


@dataclass(frozen=True, eq=False)
class Given:
    """What is chosen on one side.

    Attributes
    ----------
    side, name
        The side, and what its stream is called.
    value
        A Stream or a table.
    text
        The expression that gives it in a cell.
    fresh
        Whether that makes a pandas frame which nothing else holds.
    before
        Lines that stand before it.
    batch
        The column of a table that says in which micro-batch a row arrives, also of the table that a Stream would be
        after a repair; None: as `frames.stream` takes it.
    is_cut
        Whether its micro-batches are its own: they are not cut anew.
    repairable
        Whether the rows of a Stream can be repaired: the same choice gives a table then.
    findings
        What is to be remarked of it.
    """

    side: Side
    name: str
    value: Value
    text: str
    fresh: bool = False
    before: tuple[str, ...] = ()
    batch: str | None = None
    is_cut: bool = False
    repairable: bool = False
    findings: tuple[Finding, ...] = ()


@dataclass(eq=False)
class _Faults:
    """What is wrong, by the input that it is said beside."""

    marks: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def add(self, place: str, words: str) -> None:
        self.marks.setdefault(place, words)

    def check(self) -> None:
        if self.marks:
            place, words = next(iter(self.marks.items()))
            raise WrongSettingsError(f"{place.split('.')[0]}: {words}", self.marks, self.findings)


@dataclass(frozen=True, eq=False)
class _Side:
    """One side with its chosen columns: its rows as a pandas frame after the repairs, or the Stream that it is."""

    given: Given
    keys: tuple[str, ...]
    time: str
    arrival: str | None
    repairs: tuple[AnyRepair, ...]
    frame: pd.DataFrame | None

    @property
    def timed(self) -> bool:
        """Whether it is known when its rows arrived."""
        value = self.given.value
        return value.arrivals is not None if isinstance(value, Stream) else self.arrival is not None

    @property
    def repairable(self) -> bool:
        """Whether its rows can be repaired."""
        return self.frame is not None or self.given.repairable

    def rows(self, *columns: str) -> pd.DataFrame | None:
        """Its rows where they can be repaired, or some columns of them."""
        if self.frame is not None or not self.given.repairable:
            return self.frame
        stream: Stream = self.given.value
        table = stream.table.select(list(columns)) if columns else stream.table
        return arrow.to_pandas(table, stream.zones)

    @property
    def part(self) -> Part:
        frame = self.rows(*self.keys)
        return Part(self.given.name, frame, self.keys, self.given.value.table if frame is None else None)


def made_of(given: tuple[Given, Given], values: Values, menus: Menus, slices: str, trigger: str) -> Streams:
    """The streams of two tables, and the code that makes them.

    Parameters
    ----------
    given
        What is chosen on either side.
    values, menus
        The values of the page's inputs, and those that say what the columns are.
    slices, trigger
        The names of the inputs with the number of micro-batches and with the trigger interval.

    Raises
    ------
    WrongSettingsError
        If an input is wrong, or the rows need a repair.
    """
    faults = _Faults()
    sides = [_read(each, values, menus, faults) for each in given]
    faults.check()
    left, right = (each for each in sides if each is not None)
    remarks = [*_check_keys(left, right, menus, faults), *_duplicates(left, right)]
    _check_arrivals(left, right, menus, faults)
    faults.check()
    interval = _interval(values[trigger], trigger) if left.timed else None
    streams, lines = [], []
    for each in (left, right):
        stream, code_lines = _stream(each, interval, menus, trigger, faults)
        streams.append(stream)
        lines += code_lines
    faults.check()
    one, other = (each for each in streams if each is not None)
    cut = any(each.batch_count > 1 for each in (one, other)) or any(each.is_cut for each in given)
    if not cut and interval is None:
        one, other = frames.sliced(one, other, values[slices])
        lines.append(f"left, right = wb.frames.sliced(left, right, {values[slices]})")
    before = [line for each in given for line in each.before]
    if any(each.repairs for each in (left, right)):
        before.insert(0, "import pandas as pd")
    lines = [*dict.fromkeys(before), *lines]
    zones = of_zones(
        (one.name, other.name),
        (one.time, other.time),
        (one.zones.get(one.time), other.zones.get(other.time)),
        (left.repairable, right.repairable),
    )
    remarks += [*([zones] if zones else []), *(remark for each in given for remark in each.findings)]
    found = (*overlaps(one, other), *remarks)
    return Streams(one, other, tuple(lines), found)


def overlaps(left: Stream, right: Stream) -> list[Finding]:
    """What share of either side's keys the other one has, in words."""
    if len(left.key) != len(right.key):
        return []
    found = []
    for side, mine, theirs in (("left", left, right), ("right", right, left)):
        try:
            share = key_overlap(mine.table, mine.key, theirs.table, theirs.key)
        except (ValueError, NotImplementedError, TypeError):  # Arrow's: types that it neither casts nor joins on
            return []
        if share is not None:
            words = f"{_percent(share)} of the keys of {mine.name} are on {theirs.name}"
            if not share:
                words += ": no row meets another; choose other keys, or repair them"
            found.append(Finding(SIDES[side == "right"], "key", words, wrong=False, warns=not share))
    return found


def check_streams(left: Stream, right: Stream, menus: Menus) -> None:
    """Check that the keys of two streams that cannot be repaired pair up.

    Raises
    ------
    WrongSettingsError
        If they do not; what is wrong is said beside the keys.
    """
    faults = _Faults()
    parts = [
        _Side(Given(side, each.name, each, ""), each.key, each.time, None, (), None)
        for side, each in Sides(left, right).items()
    ]
    _check_keys(parts[0], parts[1], menus, faults)
    faults.check()


def _percent(share: float) -> str:
    """A share as a person reads it: no 0 % where there are some, no 100 % where not all are."""
    if 0 < share < 0.005:
        return "fewer than 1 %"
    return "99 %" if 0.99 < share < 1 else f"{share * 100:.0f} %"


def _read(given: Given, values: Values, menus: Menus, faults: _Faults) -> _Side | None:
    """A side with its rows repaired; what of its columns is wrong is noted."""
    side, value = given.side, given.value
    if isinstance(value, Stream):
        return _Side(given, value.key, value.time, None, (), None)
    keys, time = menus.keys(values, side), menus.chosen(values, side, "time")
    arrival = menus.chosen(values, side, "arrival")
    repairs = tuple(each for each in menus.done(values, side) if not isinstance(each, FileRepair))
    if not keys:
        faults.add(menus.name(side, "key"), "choose the column that must be equal on both sides")
    if time is None:
        faults.add(menus.name(side, "time"), "choose the column with the event time")
    if not keys or time is None:
        return None
    try:
        frame = repaired(frames.to_pandas(value), repairs)
    except WorkbenchError as error:
        faults.add(menus.name(side, "repairs"), str(error).split(":", 1)[-1].strip())
        return None
    gone = [each for each in (*keys, time, *([arrival] if arrival else [])) if each not in frame]
    if gone:
        faults.add(menus.name(side, "key"), f"{given.name} has no column {gone[0]!r} any more; look again")
        return None
    wanted: list[tuple[Place, str]] = [("time", time), *([("arrival", arrival)] if arrival else [])]  # type: ignore[list-item]
    for place, column in wanted:
        finding = of_times(side, given.name, frame, place, column)
        if finding is not None:
            faults.add(menus.name(side, place), finding.words)
            faults.findings.append(finding)
    return _Side(given, tuple(keys), time, arrival, repairs, frame)


def _check_keys(left: _Side, right: _Side, menus: Menus, faults: _Faults) -> list[Finding]:
    """Note what is wrong with the keys; gives what is only to be remarked."""
    if len(left.keys) != len(right.keys):
        counts = f"{left.given.name} has {len(left.keys)} key columns and {right.given.name} {len(right.keys)}"
        few = left if len(left.keys) < len(right.keys) else right
        faults.add(menus.name(few.given.side, "key2"), f"{counts}; choose as many on both sides")
    found = of_keys(left.part, right.part)
    for finding in (each for each in found if each.wrong):
        faults.add(menus.name(finding.side, "key"), finding.words)
        faults.findings.append(finding)
    return [each for each in found if not each.wrong]


def _duplicates(*sides: _Side) -> list[Finding]:
    """What is to be remarked of rows that come twice."""
    found = []
    for each in sides:
        rows = each.rows()
        if rows is not None:
            of_batch = None if each.frame is None or each.arrival is not None else frames.batch_column(rows)
            found.append(of_duplicates(each.given.side, each.given.name, rows, each.given.batch or of_batch or ""))
    return [each for each in found if each is not None]


def _check_arrivals(left: _Side, right: _Side, menus: Menus, faults: _Faults) -> None:
    if left.timed == right.timed:
        return
    without, other = (right, left) if left.timed else (left, right)
    if without.repairable:
        words = f"{other.given.name} has times of arrival: choose such a column here, too, or none there"
        faults.add(menus.name(without.given.side, "arrival"), words)
    else:
        words = f"{without.given.name} has no times of arrival; choose none here"
        faults.add(menus.name(other.given.side, "arrival"), words)


def _interval(text: str, name: str) -> str:
    try:
        times.trigger(text)
    except ArgumentError as error:
        raise WrongSettingsError(str(error), {name: error.remedy}) from error
    return text


def _stream(
    side: _Side, trigger: str | None, menus: Menus, trigger_name: str, faults: _Faults
) -> tuple[Stream | None, list[str]]:
    given = side.given
    if side.frame is None:
        stream: Stream = given.value
        if stream.arrivals is None or trigger is None or times.trigger(trigger) == stream.arrivals.trigger:
            return stream, [f"{given.side} = {given.text}"]
        return stream.with_trigger(trigger), [f"{given.side} = {given.text}.with_trigger({trigger!r})"]
    rows, lines = given.text, []
    if side.repairs:
        rows = f"{given.side}_rows"
        made_of_it = given.text if given.fresh else f"wb.frames.to_pandas({given.text}).copy()"
        lines = [f"{rows} = {made_of_it}", *code(side.repairs, rows)]
    cut = "" if side.arrival is None else f", arrival={side.arrival!r}, trigger={trigger!r}"
    cut += "" if given.batch in (None, frames.BATCH) else f", batch={given.batch!r}"
    lines.append(f"{given.side} = wb.frames.stream({rows}, {given.name!r}, {list(side.keys)!r}, {side.time!r}{cut})")
    table = side.frame if side.repairs else given.value  # a Spark DataFrame's collation is looked at, too
    cut_by: Record = {"arrival": side.arrival, "trigger": trigger if side.arrival else None, "batch": given.batch}
    try:
        return frames.stream(table, given.name, list(side.keys), side.time, **cut_by), lines
    except WorkbenchError as error:
        argument, _, words = str(error).partition(":")
        places = {"time": "time", "arrival": "arrival"}
        place = trigger_name if argument == "trigger" else menus.name(given.side, places.get(argument, "key"))
        faults.add(place, words.strip())
        return None, []
