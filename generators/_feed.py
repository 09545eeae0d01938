"""`Feed`: a scenario that goes on and on, its settings changeable while it runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from generators._arrival import delays_on_the_way, table
from generators._draw import SECOND, Draw, Numbers
from generators._scenarios import SCENARIOS
from generators._settings import Settings
from workbench.errors import one_of, wrong
from workbench.streams import SIDES, Stream
from workbench.untyped import Record, Value

_CHUNK = 2.0  # seconds of event time that are drawn at once
_LONGEST_STEP = 86_400  # seconds of event time
CHANGEABLE = ("rate", "disorder", "disorder_spread", "late", "late_by", "duplicates", "unmatched", "idle")
"""What `Feed.change` takes."""


class Feed:
    """Two streams without an end, for `workbench.live`.

    Parameters
    ----------
    scenario
        One of `scenarios`.
    **settings
        As in `generate`; ``events``, ``batches`` and ``trigger`` have no meaning here, and ``idle`` is a side that
        sends nothing from now on (``"left"``, ``"right"``), or None.

    Raises
    ------
    ArgumentError
        Naming the setting that is wrong.

    Examples
    --------
    >>> feed = Feed("orders_payments", rate=20, seed=7)
    >>> orders, payments = feed.step(5)  # the rows that arrive in the next five seconds
    """

    def __init__(self, scenario: str, **settings: Value) -> None:
        one_of("scenario", scenario, tuple(SCENARIOS))
        self.scenario = scenario
        self.idle = _checked_idle(settings.pop("idle", None))
        self._settings = Settings.of(settings)
        self._draw = Draw(self._settings)
        self._rng = np.random.default_rng([self._settings.seed, 1])
        start = self._settings.start
        self._start = start if isinstance(start, datetime) else datetime.fromisoformat(start)
        self._clock = self._drawn = int(np.datetime64(self._start, "us").astype(np.int64))
        self._count = 0
        empty = self._sides(self._clock, 1)
        self._ahead = [_Waiting(table(side, np.arange(0)), np.array([], dtype=np.int64)) for side in empty]
        self._under_way = list(self._ahead)
        self.streams = tuple(
            Stream.from_arrow(table(side, np.arange(0)), side.name, list(side.key), side.time, self._settings.watermark)
            for side in empty
        )
        """Both streams without rows: their names, columns, keys and times."""

    @property
    def settings(self) -> Record:
        """What `change` can change, as it is."""
        return {name: getattr(self._settings, name) for name in CHANGEABLE if name != "idle"} | {"idle": self.idle}

    def change(self, **settings: Value) -> None:
        """Change settings; rows that are under way already arrive as they would have.

        Raises
        ------
        ArgumentError
            If a setting is wrong, or is not one of `CHANGEABLE`.
        """
        for name, value in settings.items():
            if name not in CHANGEABLE:
                raise wrong(name, value, f"it cannot be changed while the feed runs; use {', '.join(CHANGEABLE)}")
        idle = _checked_idle(settings.pop("idle", self.idle))
        self._settings = replace(self._settings, **settings)
        self.idle = idle

    def step(self, seconds: float) -> tuple[pa.Table, pa.Table]:
        """The rows of both sides that arrive in the next so many seconds of event time, in order of arrival."""
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= _LONGEST_STEP:
            raise wrong("seconds", seconds, f"use seconds of event time from 0 to {_LONGEST_STEP:,}")
        until = self._clock + round(seconds * SECOND)
        while self._drawn < until:
            self._draw_ahead()
        tables = []
        for place, side in enumerate(SIDES):
            happened, self._ahead[place] = self._ahead[place].split(until)
            self._under_way[place] = self._under_way[place] + self._sent(side, happened)
            arrived, self._under_way[place] = self._under_way[place].split(until)
            tables.append(arrived.rows)
        self._clock = until
        return tables[0], tables[1]

    def _draw_ahead(self) -> None:
        count = int(self._rng.poisson(self._settings.rate * _CHUNK))
        if count:
            for place, side in enumerate(self._sides(self._drawn, count)):
                drawn = _Waiting(table(side, np.arange(len(side.moments))), side.moments)
                self._ahead[place] = self._ahead[place] + drawn
            self._count += count
        self._drawn += round(_CHUNK * SECOND)

    def _sides(self, begin: int, count: int) -> Any:
        start = self._start + timedelta(microseconds=begin - int(np.datetime64(self._start, "us").astype(np.int64)))
        self._draw.continue_with(replace(self._settings, events=count, start=start), self._count)
        return SCENARIOS[self.scenario](self._draw)

    def _sent(self, side: str, happened: _Waiting) -> _Waiting:
        """Rows on their way: none of an idle side, some twice, each with its time of arrival."""
        if side == self.idle:
            return happened.take(np.arange(0))
        chosen = np.arange(len(happened.due))
        twice = chosen[self._rng.random(len(chosen)) < self._settings.duplicates]
        sent = happened.take(np.concatenate([chosen, twice]))
        return _Waiting(sent.rows, sent.due + delays_on_the_way(len(sent.due), self._settings, self._rng))


class _Waiting:
    """Rows and when each is due, in microseconds of event time."""

    def __init__(self, rows: pa.Table, due: Numbers) -> None:
        self.rows, self.due = rows, due

    def __add__(self, other: _Waiting) -> _Waiting:
        return _Waiting(pa.concat_tables([self.rows, other.rows]), np.concatenate([self.due, other.due]))

    def take(self, chosen: Numbers) -> _Waiting:
        return _Waiting(self.rows.take(pa.array(chosen)), self.due[chosen])

    def split(self, until: int) -> tuple[_Waiting, _Waiting]:
        """Those that are due before a time, in order, and the rest."""
        order = np.argsort(self.due, kind="stable")
        place = int(np.searchsorted(self.due[order], until))
        return self.take(order[:place]), self.take(np.sort(order[place:]))


def _checked_idle(idle: object) -> str | None:
    if idle is not None and (not isinstance(idle, str) or idle not in SIDES):
        raise wrong("idle", idle, 'use "left", "right" or None')
    return idle
