"""The text that finds a side's late rows again, by the rules of the model."""

from __future__ import annotations

from workbench import times
from workbench.joins import IntervalJoin, Join
from workbench.model import dropped_null_keys
from workbench.plan import Names
from workbench.plan._assign import window_calls
from workbench.plan._names import Side, column, interval
from workbench.streams import Stream
from workbench.windows import Session

WINDOW = "__window"
"""The column for the window that a row is late for."""


def bodies(join: Join, left: Stream, right: Stream, names: Names) -> list[str]:
    """For each side the body of a function of ``rows`` and ``watermark``, as Python source."""
    filtered = dropped_null_keys(join)
    return [_body(join, side, drops) for side, drops in zip((names.left, names.right), filtered, strict=True)]


def _body(join: Join, side: Side, null_keys_are_dropped: bool) -> str:
    keyed = ""
    if null_keys_are_dropped:
        keyed = "".join(f".where(F.col({column(key)}).isNotNull())" for key in side.keys)
    time = f"F.col({column(side.time)})"
    if isinstance(join, IntervalJoin):
        return f"    return rows{keyed}.where({time} <= watermark)"
    late = f'.where(F.col("{WINDOW}.end") <= watermark)'
    if isinstance(join.window, Session):
        end = f"{time} + {interval(times.exact(join.window.gap))}"
        opened = f'F.struct({time}.alias("start"), ({end}).alias("end"))'
        return f'    return rows{keyed}.withColumn("{WINDOW}", {opened}){late}'
    _, calls = window_calls(join.window, column(side.time), WINDOW, side.delay)
    return f"    windows = (\n        rows{keyed}\n{calls}\n    )\n    return windows{late}"
