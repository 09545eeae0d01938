"""From a join and two streams to the PySpark code that does it.

The text is what is shown, what is run, and what is exported: there is no second implementation.
"""

from __future__ import annotations

from workbench.joins import Join
from workbench.kinds._registry import kind_of
from workbench.plan import Names
from workbench.streams import Stream


def plan_of(join: Join, left: Stream, right: Stream, finish: bool = False, recorded: bool = False) -> str:
    """The function ``join_streams`` as Python text: two streaming DataFrames in, the joined one out.

    Parameters
    ----------
    join
        What to render.
    left, right
        Whose names, keys, time columns and watermark delays to use.
    finish
        Take out the rows of the end of input (event time ``END_OF_INPUT``), once the watermark has seen them.
    recorded
        Take out the rows that stand for the newest of those that a sample leaves out, too; they have no row number.
    """
    return kind_of(join).plan(join, Names.of(left, right, recorded), finish)
