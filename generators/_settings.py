"""What can be set on every scenario."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime

from workbench import times
from workbench.errors import wrong
from workbench.streams import MOST_BATCHES, SIDES
from workbench.times import Span
from workbench.untyped import Record

BATCHES = 10
"""How many micro-batches there are where neither their number nor a trigger interval is given."""
_COUNTS = ("events", "keys", "batches")
_MOST = 100_000_000
_LEAST_RATE = 0.000_001


@dataclass(frozen=True)
class Settings:
    """Checked settings of `generators.generate`, described there."""

    events: int = 1_000
    keys: int | None = None
    skew: float = 0.0
    rate: float = 10.0
    unmatched: float | None = None
    disorder: float = 0.1
    disorder_spread: Span = "3 seconds"
    late: float = 0.02
    late_by: Span = "30 seconds"
    duplicates: float = 0.0
    idle: tuple[str, float, float] | None = None
    start: str | datetime = "2026-01-01 09:00:00"
    batches: int | None = None
    trigger: Span | None = None
    watermark: Span = "10 seconds"
    seed: int = 0

    def __post_init__(self) -> None:
        for name in _COUNTS:
            value = getattr(self, name)
            if value is None and name in ("keys", "batches"):
                continue
            most = MOST_BATCHES if name == "batches" else _MOST
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
                raise wrong(name, value, f"use a whole number from 1 to {most:,}")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise wrong("seed", self.seed, "use a whole number, 0 or more")
        for name in ("unmatched", "disorder", "late", "duplicates"):
            value = getattr(self, name)
            if value is None and name == "unmatched":
                continue
            if not _number(value) or not 0 <= value <= 1:
                raise wrong(name, value, "use a share from 0 to 1, such as 0.1")
        if not _number(self.rate) or not _LEAST_RATE <= self.rate <= _MOST:
            raise wrong("rate", self.rate, f"use events a second and side from {_LEAST_RATE} to {_MOST:,}, such as 10")
        if not _number(self.skew) or not 0 <= self.skew <= 5:
            raise wrong("skew", self.skew, "use a Zipf exponent from 0 (all keys alike) to 5")
        object.__setattr__(self, "disorder_spread", times.positive(self.disorder_spread, "disorder_spread"))
        object.__setattr__(self, "late_by", times.positive(self.late_by, "late_by"))
        times.delay(self.watermark, "watermark")
        if self.trigger is not None:
            if self.batches is not None:
                raise wrong("trigger", self.trigger, "it cuts the rows, and so does batches: give one of them")
            object.__setattr__(self, "trigger", times.trigger(self.trigger))
        object.__setattr__(self, "start", _moment(self.start))
        self._check_idle()

    def _check_idle(self) -> None:
        if self.idle is None:
            return
        remedy = 'use (side, begin, end) with shares of the recording, such as ("right", 0.4, 0.7)'
        try:
            side, begin, end = self.idle
        except (TypeError, ValueError):
            raise wrong("idle", self.idle, remedy) from None
        if (
            not isinstance(side, str)
            or side not in SIDES
            or not (_number(begin) and _number(end))
            or not 0 <= begin < end <= 1
        ):
            raise wrong("idle", self.idle, remedy)

    @classmethod
    def of(cls, given: Record) -> Settings:
        """Settings from keyword arguments, an unknown one refused by name."""
        known = [each.name for each in fields(cls)]
        for name in given:
            if name not in known:
                raise wrong(name, given[name], f"there is no such setting; there are {', '.join(known)}")
        return cls(**given)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _moment(value: object) -> datetime:
    import pandas as pd

    remedy = 'use a time such as "2026-01-01 09:00:00" (UTC), from 1900 to 2200'
    if not isinstance(value, str | datetime):
        raise wrong("start", value, remedy)
    try:
        moment = pd.Timestamp(value)
    except (ValueError, TypeError, OverflowError):
        raise wrong("start", value, remedy) from None
    if pd.isna(moment) or not 1900 <= moment.year <= 2200:
        raise wrong("start", value, remedy)
    if moment.tz is not None:
        moment = moment.tz_convert("UTC").tz_localize(None)
    plain: datetime = moment.floor("us").to_pydatetime()
    return plain
