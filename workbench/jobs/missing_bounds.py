"""What bounds, and watermarks on both sides, would have kept of the pairs of a join without them, and held in state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd

from workbench import times
from workbench.counts import counted
from workbench.errors import WorkbenchError, wrong
from workbench.jobs.description import Description, SideDescription
from workbench.kinds import UNBOUNDED, kind_of
from workbench.literals import SIDES, Side, Sides
from workbench.model import Simulation
from workbench.plan.names import identifier, shift
from workbench.quoting import backticks, quoted
from workbench.sources.key_choice import newest_times
from workbench.streams import Stream
from workbench.untyped import AltairChart, Record

__all__ = ["Bounding", "bounding", "is_unbounded"]

_SHARES = (0.5, 0.9, 0.95, 0.99, 0.999, 1.0)
_HOUR = 3_600_000_000
_TENTH, _SECOND = 100_000, 1_000_000
Under = Callable[[Any, str | None, str | None], Simulation]
"""Simulates a join of the same rows with other watermark delays; None: as they are."""


def is_unbounded(simulation: Simulation) -> bool:
    """Whether nothing makes rows of a side leave the state: a bound is missing, or a watermark."""
    interval_ = kind_of(simulation.join).interval(simulation.join)
    if interval_ is None:
        return bool(simulation.facts.unmarked)
    return max(map(abs, interval_)) >= UNBOUNDED or bool(simulation.facts.unmarked)


@dataclass(frozen=True, eq=False, repr=False)
class Bounding:
    """What bounds and watermarks would keep of the pairs of a job, and hold in state. Made by `Job.bounding`.

    Its text is the answer for 99.9 % of the pairs.

    Attributes
    ----------
    table
        A row for each width of the bounds, and last the join as it is: ``kept`` (share of its pairs), ``pairs``,
        ``lower``, ``upper``, ``left_watermark``, ``right_watermark`` (as text; None: there is none), ``state_peak``
        and ``state_end`` (rows in state, at most and after the last micro-batch), ``late`` (rows that would be late).
    growth
        By how many rows the state of the join as it is grows in an hour of event time; None: its rows span no time.
    """

    table: pd.DataFrame
    growth: float | None
    described: Description

    def __repr__(self) -> str:
        return f"<Bounding: {self}>"

    def __str__(self) -> str:
        return self.sentence(0.999)

    def at(self, keep: float) -> Record:
        """The row of `table` with the narrowest bounds that keep a share of the pairs.

        Parameters
        ----------
        keep
            The share, above 0 and at most 1.

        Raises
        ------
        ArgumentError
            If it is none.
        """
        if isinstance(keep, bool) or not isinstance(keep, int | float) or not 0 < keep <= 1:
            raise wrong("keep", keep, "give a share above 0 and at most 1, such as 0.999")
        enough = self.table.iloc[:-1]
        enough = enough[enough["kept"] >= keep]
        found: Record = (enough if len(enough) else self.table.iloc[-2:-1]).iloc[0].to_dict()
        return found

    def sentence(self, keep: float = 0.999) -> str:
        """What the narrowest bounds that keep a share of the pairs hold in state, in place of what the join holds."""
        row, now = self.at(keep), self.table.iloc[-1]
        growing = "" if self.growth is None else f" and growing by {round(self.growth):,} an hour of event time"
        held = f"{counted(int(row['state_peak']), 'row')} in state at most"
        marks = (
            f"a watermark of {row[name]} on {each.name}"
            for name, each in (("left_watermark", self.described.left), ("right_watermark", self.described.right))
            if now[name] is None and row[name] is not None
        )
        settings = ", ".join([_bounds_in_words(row), *marks])
        return f"{settings}: {_share(row['kept'])} of the pairs, {held} in place of {int(now['state_peak']):,}{growing}"

    def code(self, keep: float = 0.999) -> str:
        """The join with these bounds and watermarks, as PySpark over DataFrames named as its sides."""
        row, (left, right) = self.at(keep), (self.described.left, self.described.right)
        names = [identifier(left.name or "left")]
        names.append(identifier(right.name or "right", names[0]))
        lines = ["from pyspark.sql import functions as F", ""]
        for name, side, described in zip(names, SIDES, (left, right), strict=True):
            delay = row[f"{side}_watermark"]
            marked = "" if described.watermark is not None else f".withWatermark({described.time!r}, {delay!r})"
            lines.append(f"{name} = {name}{marked}.alias({name!r})")
        one, other = (_time(name, each) for name, each in zip(names, (left, right), strict=True))
        keys = zip(*(_keys(each) for each in (left, right)), strict=True)
        parts = [f"({_column(names[0], mine)} == {_column(names[1], theirs)})" for mine, theirs in keys]
        join = self.described.join
        signs = (
            ">" * getattr(join, "lower_exclusive", False) or ">=",
            "<" * getattr(join, "upper_exclusive", False) or "<=",
        )
        for sign, bound in zip(signs, (row["lower"], row["upper"]), strict=True):
            parts += [] if bound is None else [f"({other} {sign} {one}{shift(times.parse(bound, 'bound'))})"]
        parts += [f"F.expr({self.described.where!r})"] if self.described.where else []
        how = getattr(self.described.join, "how", "inner")
        lines += ["condition = (", "    " + "\n    & ".join(parts), ")"]
        return "\n".join([*lines, f"joined = {names[0]}.join({names[1]}, condition, {how!r})", ""])

    @property
    def chart(self) -> AltairChart:
        """The share of pairs kept against the rows in state."""
        from workbench import charts  # when needed: Altair is slow to import

        shown = pd.DataFrame(
            {
                "bounds": [*map(_bounds_in_words, self.table.iloc[:-1].to_dict("records")), "as it is"],
                "kept": self.table["kept"],
                "state": self.table["state_peak"],
            }
        )
        chosen = _bounds_in_words(self.at(0.999))
        shown["label"] = shown["bounds"].where(shown["bounds"].isin([chosen, "as it is"]), "")
        return charts.bounded(shown, int(self.table["pairs"].iloc[-1])).chart()


def bounding(simulation: Simulation, described: Description, under: Under) -> Bounding:
    """What bounds of several widths keep and hold, from the rows that were there.

    Parameters
    ----------
    simulation
        The job as it ran.
    described
        What it is.
    under
        Simulates other settings of it.
    """
    join, total = simulation.join, simulation.outcome.outputs.pairs()
    delays: dict[Side, str | None] = dict.fromkeys(SIDES)
    for side in simulation.facts.unmarked:
        delays[side] = times.text(timedelta(microseconds=_disorder(simulation.side(side))))
    tried = [replace(join, **each) for each in _bounds(simulation)]  # type: ignore[type-var]
    rows = [_row(each, under(each, delays["left"], delays["right"]), total) for each in dict.fromkeys(tried)]
    table = pd.DataFrame([*rows, _row(join, simulation, total)])
    for side, described_side in Sides(described.left, described.right).items():
        own = None if described_side.watermark is None else times.text(described_side.watermark)
        table[f"{side}_watermark"] = [*[own or delays[side]] * len(rows), own]
    return Bounding(table, _growth(simulation), described)


def _bounds(simulation: Simulation) -> list[dict[str, timedelta]]:
    """The bounds that a join does not have, such that certain shares of its pairs are within them."""
    interval_ = kind_of(simulation.join).interval(simulation.join)
    if interval_ is None:
        return [{}]
    missing = [name for name, each in zip(("lower", "upper"), interval_, strict=True) if abs(each) >= UNBOUNDED]
    if not missing:
        return [{}]
    outputs = simulation.outcome.outputs
    met = outputs.table["matched"].to_numpy()
    moments = [simulation.side(side).event_times[outputs.first(side)[met]] for side in SIDES]
    apart = moments[1] - moments[0]
    if not len(apart):
        return []
    found = []
    for share in _SHARES:
        beyond = (1 - share) / len(missing)
        places = {"lower": beyond, "upper": 1 - beyond}
        limits = {name: np.quantile(apart, place, method="inverted_cdf") for name, place in places.items()}
        found.append({name: timedelta(microseconds=_rounded(int(limits[name]), name)) for name in missing})
    return found


def _rounded(bound: int, name: str) -> int:
    """A bound that is no narrower, in tenths of a second, or in seconds from ten on."""
    step = _TENTH if abs(bound) < 10 * _SECOND else _SECOND
    return -(-bound // step) * step if name == "upper" else bound // step * step


def _disorder(stream: Stream) -> int:
    """The least delay with which no row of a stream is behind its own watermark, in microseconds, in whole seconds."""
    newest = newest_times(stream.batch_count, stream.arrival, stream.event_times)
    before = np.concatenate([newest[:1], np.maximum.accumulate(newest)[:-1]])
    behind = np.maximum(before[stream.arrival] - stream.event_times, 0)[stream.arrival > 0]
    return -(-(int(behind.max(initial=0)) + 1) // _SECOND) * _SECOND


def _row(join: Any, simulation: Simulation, total: int) -> Record:
    outcome, held = simulation.outcome, simulation.outcome.state_counts()
    pairs = outcome.outputs.pairs()
    bounds = (getattr(join, name, None) for name in ("lower", "upper"))
    lower, upper = (None if each is None else times.text(each) for each in bounds)
    late = sum(int((simulation.fates[side]["fate"] == "late").sum()) for side in SIDES)
    return {
        "kept": pairs / total if total else 1.0,
        "pairs": pairs,
        "lower": lower,
        "upper": upper,
        "state_peak": int(held.max(initial=0)),
        "state_end": int(held[-1]) if len(held) else 0,
        "late": late,
    }


def _growth(simulation: Simulation) -> float | None:
    """By how many rows the state grows in an hour of event time."""
    moments = np.concatenate([simulation.side(side).event_times for side in SIDES])
    span = int(moments.max() - moments.min()) if len(moments) else 0
    held = simulation.outcome.state_counts()
    return None if not span or not len(held) else float(held[-1]) * _HOUR / span


def _share(kept: float) -> str:
    """A share in per cent, never more than it is."""
    return f"{np.floor(kept * 10_000) / 100:.4g} %"


def _bounds_in_words(row: Record) -> str:
    words = [f"{name} bound {row[name]}" for name in ("lower", "upper") if row[name] is not None]
    return ", ".join(words) or "the same windows"


def _keys(side: SideDescription) -> tuple[str, ...]:
    return (side.key,) if isinstance(side.key, str) else side.key


def _column(name: str, column: str) -> str:
    """A column of a DataFrame by its alias, as Python source."""
    return f"F.col({f'{name}.{quoted(column)}'!r})"


def _time(name: str, side: SideDescription) -> str:
    """The event time of a side, as Python source."""
    if side.time in side.columns:
        return _column(name, side.time)
    window, _, edge = side.time.rpartition("_")
    if window in side.columns:
        return f"F.col({f'{name}.{backticks(window)}.{edge}'!r})"
    raise WorkbenchError(
        f"the event time of {side.name} does not enter the join, so it cannot be compared there: select it before"
    )
