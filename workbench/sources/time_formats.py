"""How texts and numbers say times: which format they are written in, and the same in Spark's words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from workbench.untyped import Series

__all__ = ["FORMATS", "RARE", "Written", "in_sparks_words", "likely_unit", "written"]

_SAMPLE = 300
"""Texts that are looked at of each column."""
_DATES = (
    "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y", "%d %b %Y", "%b %d %Y", "%d-%b-%Y",
)  # fmt: skip
_CLOCKS = (
    (" ", "%H:%M:%S"), (" ", "%H:%M:%S.%f"), (" ", "%H:%M"), (" ", "%I:%M:%S %p"), (" ", "%I:%M %p"), ("", ""),
)  # fmt: skip
FORMATS = (
    "ISO8601",
    *(f"{date}{sep}{clock}".strip() for date in _DATES for sep, clock in _CLOCKS),
    "%Y%m%d%H%M%S",
    "%Y%m%d %H%M%S",
    "%d/%b/%Y:%H:%M:%S %z",
    "%a, %d %b %Y %H:%M:%S %z",
    "%a %b %d %H:%M:%S %Y",
)
"""How times are written, as ``strptime`` says it; the first of those that read as many texts is the likelier."""
_RARE_DATES = (
    "%b %d, %Y", "%B %d, %Y", "%B %d %Y", "%d %B %Y", "%d. %B %Y", "%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%d-%b-%y",
)  # fmt: skip
_OFFSETS = ("%z", " %z")
RARE = (
    *(f"{date}{sep}{clock}" for date in _RARE_DATES for sep, clock in _CLOCKS),
    *(f"{date}T{clock}" for date in ("%d.%m.%Y", "%d/%m/%Y", "%Y/%m/%d") for clock in ("%H:%M:%S", "%H:%M")),
    "%H:%M:%S %d/%m/%Y", "%H:%M:%S %d.%m.%Y", "%H:%M %d/%m/%Y", "%H:%M %d.%m.%Y",
    "%a %b %d %H:%M:%S %z %Y", "%a %b %d %H:%M:%S UTC %Y", "%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%d %H:%M:%S.%f UTC",
    "%Y-%m-%d %I:%M:%S %p", "%Y-%m-%d %I:%M %p", "%a, %d %b %Y %H:%M:%S GMT",
)  # fmt: skip
"""How times are written that none of the others reads."""
_WITH_OFFSET = tuple(
    f"{date}{sep}{clock}{offset}"
    for date in (*_DATES, *_RARE_DATES, "%Y-%m-%d")
    for sep, clock in _CLOCKS[:-1]
    for offset in _OFFSETS
)
_ISO = re.compile(r"\s*\d{4}-?\d{2}-?\d{2}([T ].*)?$")
_LIKE_TIME = re.compile(
    r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}|\d{1,2}\.?[ /-][A-Z][a-z]{2}|[A-Z][a-z]{2,8},? +\d{1,2}"
    r"|\d{8}[T ]\d{4}|^\s*\d{14}$"
)
_ZONE = re.compile(r"(Z|UTC|GMT|[+-]\d{2}(:?\d{2})?)\s*$")
_CLOCK = re.compile(r"\d:\d{2}|[T ]\d{4,}")
_EPOCHS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_UNIVERSAL = ("UTC", "GMT", "UTC %Y")
_FROM, _TO = 631_152_000, 4_102_444_800  # seconds: the years 1990 to 2099
_WIDE = {"%d": "dd", "%m": "MM", "%H": "HH"}  # where nothing stands between them
_LETTERS = {  # not %y: of years from 69 on Spark takes another century
    "%d": "d", "%m": "M", "%Y": "yyyy", "%b": "MMM", "%B": "MMMM", "%H": "H", "%I": "h", "%M": "mm", "%S": "ss",
    "%f": "SSSSSS", "%p": "a", "%z": "[XXX][XX]",
}  # fmt: skip


@dataclass(frozen=True)
class Written:
    """How texts say times.

    Attributes
    ----------
    format
        In the words of ``strptime``, or ``ISO8601``.
    zoned
        Whether they say a time zone.
    share
        The share of the texts that are written so.
    """

    format: str
    zoned: bool
    share: float


def written(values: Series) -> tuple[Written, ...]:
    """How texts say times: of the ways that read most of them the likeliest first; none where few are read.

    Parameters
    ----------
    values
        Texts; those that are missing do not count.
    """
    there = values.dropna()
    texts = there.iloc[np.unique(np.linspace(0, len(there) - 1, min(_SAMPLE, len(there))).astype(int))].astype(str)
    if not len(texts) or not texts.map(lambda text: bool(_LIKE_TIME.search(text))).mean() >= 0.5:
        return ()
    zoned = bool(texts.map(lambda text: bool(_ZONE.search(text) and _CLOCK.search(text))).any())
    found: list[Written] = []
    for forms in (FORMATS, (*RARE, *(_WITH_OFFSET if zoned else ()))):
        found = found or list(_readable(texts, forms, zoned))
    best = max((each.share for each in found), default=0.0)
    return tuple(each for each in found if each.share == best)[:2]


def _readable(texts: Series, forms: Iterable[str], zoned: bool) -> Iterator[Written]:
    """The forms in which at least half of some texts are written."""
    for each in forms:
        with_zone = zoned or "%z" in each or each.endswith(_UNIVERSAL)
        if not _reads(texts.iloc[:: max(1, len(texts) // 20)], each, with_zone):
            continue
        read = _reads(texts, each, with_zone)
        if read >= 0.5:
            yield Written(each, with_zone, read)


def _reads(texts: Series, form: str, zoned: bool) -> float:
    """The share of texts that are written in a form."""
    if form == "ISO8601":
        texts = texts.where(texts.map(lambda text: bool(_ISO.match(text))))
    read = pd.to_datetime(texts, format=form, utc=zoned, errors="coerce")
    return float(read.notna().mean())


def likely_unit(values: Series) -> str | None:
    """The unit in which numbers count time since 1970, if all lie in the years 1990 to 2099 then; else None."""
    there = values.dropna()
    if not len(there):
        return None
    low, high = float(there.min()), float(there.max())
    return next((unit for unit, per in _EPOCHS.items() if _FROM * per <= low and high <= _TO * per), None)


def in_sparks_words(form: str) -> str | None:
    """A format of ``strptime`` as Spark's datetime pattern; None where Spark has none for it.

    Source: https://spark.apache.org/docs/latest/sql-ref-datetime-pattern.html
    """
    parts = re.findall(r"%.|[^%]", form)
    marks = {each for each in parts if each[0] != "%"}
    if form == "ISO8601" or not marks or any(each.isalnum() for each in marks):  # digits alone are a number to Spark
        return None
    if any(each not in _LETTERS for each in parts if each not in marks):
        return None
    letters = _LETTERS | (_WIDE if "%Y%m%d" in form else {})
    return "".join(letters.get(each, each) for each in parts)
