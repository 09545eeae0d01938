"""The kinds of join: descriptions only, checked when they are made. How Spark does them is in `workbench.plan`.

Source of the definitions: https://nightlies.apache.org/flink/flink-docs-stable/docs/dev/datastream/operators/joining/
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from workbench import times
from workbench.errors import ArgumentError, one_of, wrong
from workbench.times import Span
from workbench.windows import Described, Window

How = Literal["inner", "left", "right", "full", "semi", "anti"]
HOWS: tuple[str, ...] = get_args(How)


def _check_window(window: object) -> None:
    if not isinstance(window, Window):
        raise wrong(
            "window", window, 'use Tumbling("10 seconds"), Sliding("10 seconds", "5 seconds") or Session("5 seconds")'
        )


def _check_how(how: object) -> None:
    one_of("how", how, HOWS)


@dataclass(frozen=True, repr=False)
class WindowJoin(Described):
    """Every pair of rows with the same key in the same window.

    Parameters
    ----------
    window
        `Tumbling`, `Sliding` or `Session`. In a sliding window a pair appears once for each window both rows share.
    how
        ``inner``; ``left``, ``right``, ``full`` (unmatched rows come padded with nulls, once for each window they
        are in); ``semi`` and ``anti`` (left rows with, and without, a partner, once for each window).

    Examples
    --------
    >>> from workbench.windows import Tumbling
    >>> WindowJoin(Tumbling("10 seconds"), how="left")
    WindowJoin(window=Tumbling(size='10 seconds'), how='left')
    """

    window: Window
    how: How = "inner"

    def __post_init__(self) -> None:
        _check_window(self.window)
        _check_how(self.how)


@dataclass(frozen=True, repr=False)
class CoGroup(Described):
    """One result for each key and window with an event on either side: the left rows and the right rows.

    Parameters
    ----------
    window
        `Tumbling`, `Sliding` or `Session`.
    """

    window: Window

    def __post_init__(self) -> None:
        _check_window(self.window)


@dataclass(frozen=True, repr=False)
class IntervalJoin(Described):
    """Every pair of rows with the same key and ``left time + lower <= right time <= left time + upper``.

    Parameters
    ----------
    lower, upper
        The bounds, relative to the left row's time; negative, zero or positive.
    how
        As in `WindowJoin`.
    lower_exclusive, upper_exclusive
        Leave the bound itself out.

    Raises
    ------
    ArgumentError
        If ``lower > upper``, or one of the two is no time span.

    Examples
    --------
    >>> IntervalJoin("-2 seconds", "5 seconds")
    IntervalJoin(lower='-2 seconds', upper='5 seconds')
    """

    lower: Span
    upper: Span
    how: How = "inner"
    lower_exclusive: bool = False
    upper_exclusive: bool = False

    def __post_init__(self) -> None:
        lower, upper = times.parse(self.lower, "lower"), times.parse(self.upper, "upper")
        if lower > upper:
            raise ArgumentError(
                f"lower: got {times.text(lower)!r}, which is above upper, {times.text(upper)!r}; "
                "swap the two, or use a lower bound at or below the upper one"
            )
        self._set("lower", lower)
        self._set("upper", upper)
        _check_how(self.how)
        for name in ("lower_exclusive", "upper_exclusive"):
            if not isinstance(getattr(self, name), bool):
                raise wrong(name, getattr(self, name), "use True or False")


Join = WindowJoin | CoGroup | IntervalJoin
