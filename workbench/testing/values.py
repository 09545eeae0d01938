"""Values as a test writes them: what JSON has, and `micro_batches` reads."""

from __future__ import annotations

import base64
import datetime as dt
import math
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["BASE64", "plain"]

BASE64 = "base64"
"""The field of an object of JSON that has bytes which are no text."""


def plain(value: Any) -> Any:
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
