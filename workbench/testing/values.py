"""Values as a test writes them: what JSON has, and `micro_batches` reads."""

from __future__ import annotations

import base64
import datetime as dt
import math
import re
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from workbench.untyped import Value

__all__ = ["BASE64", "DAY", "clock", "plain"]

DAY = dt.date(2026, 1, 1)
"""The day of a time that is given without one, such as ``"10:00:00"``."""

BASE64 = "base64"
"""The field of an object of JSON that has bytes which are no text."""
_TIME = re.compile(r"\d{1,2}:\d{2}(:\d{2}(\.\d{1,9})?)? ?(Z|[+-]\d{2}(:?\d{2})?)?$")
_REGION = re.compile(r"(.*\d) ?([A-Z]\w+(?:/[\w+-]+)+)")
_DAYS_TIME = re.compile(r"\d{4}-\d")  # pandas reads "now", too, and times of today


def plain(value: Value) -> Any:
    """A value as a test writes it."""
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if value is None or value is pd.NaT or value is pd.NA:
        return None
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return {BASE64: base64.b64encode(value).decode()}
    return value if isinstance(value, str | int | float | bool) else str(value)


def clock(value: Value) -> pd.Timestamp:
    """A time of a text or a time object. A number is none: it could count seconds, milliseconds or microseconds.

    Raises
    ------
    ValueError
        If it is none.
    """
    if isinstance(value, dt.time):
        value = value.isoformat()
    if isinstance(value, str) and (named := _REGION.fullmatch(value.strip())):
        return _in_region(*named.groups())
    if isinstance(value, str) and _TIME.match(value.strip()):
        value = f"{DAY} {value.strip()}"
    if isinstance(value, str) and not _DAYS_TIME.match(value.strip()):
        raise ValueError
    if not isinstance(value, str | dt.datetime | np.datetime64):
        raise ValueError
    found = pd.Timestamp(value)
    if found is pd.NaT:
        raise ValueError
    return found


def _in_region(text: str, region: str) -> pd.Timestamp:
    """A time that clocks of a region show; of two such times the first, as Spark takes it."""
    found = clock(text)
    try:
        zone = ZoneInfo(region)
    except KeyError:
        raise ValueError from None
    if found.tz is not None:
        raise ValueError
    return pd.Timestamp(found.to_pydatetime(warn=False).replace(tzinfo=zone).astimezone(dt.UTC))
