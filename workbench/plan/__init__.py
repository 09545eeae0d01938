"""From a join and two streams to the PySpark code that does it.

The text is what is shown, what is run, and what is exported: there is no second implementation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.joins import CoGroup, IntervalJoin, Join, WindowJoin
from workbench.plan import _cogroup, _interval, _session, _window
from workbench.plan._names import Names, column
from workbench.streams import Stream
from workbench.windows import Session

__all__ = ["Names", "column", "render"]

_RENDERERS: dict[type, Callable[[Any, Names, bool], str]] = {
    IntervalJoin: _interval.render,
    CoGroup: _cogroup.render,
    WindowJoin: lambda join, names, finish: (_session if isinstance(join.window, Session) else _window).render(
        join, names, finish
    ),
}


def render(join: Join, left: Stream, right: Stream, finish: bool = False) -> str:
    """The function ``join_streams`` as Python text: two streaming DataFrames in, the joined one out.

    Parameters
    ----------
    join
        What to render.
    left, right
        Whose names, keys, time columns and watermark delays to use.
    finish
        Take out the rows of the end of input (event time ``END_OF_INPUT``), once the watermark has seen them.
    """
    return _RENDERERS[type(join)](join, Names.of(left, right), finish)
