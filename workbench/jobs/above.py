"""The aggregation above a join, which drops pairs as late."""

from __future__ import annotations

import numpy as np

from workbench.arrays import Times
from workbench.jobs import chain_watermarks, sides
from workbench.jobs.catalyst import Node
from workbench.jobs.understanding import Understood
from workbench.literals import SIDES
from workbench.model import LONG_AGO, Above
from workbench.times import micros

__all__ = ["aggregation"]

_ON_THE_WAY = ("Filter", "Project", "SubqueryAlias", "View")


def aggregation(known: Understood, eviction: Times, *, from_start: bool) -> Above | None:
    """The aggregation by tumbling windows that a join's pairs come to next; None: there is none, or not all is known.

    Parameters
    ----------
    known
        The join.
    eviction
        For each micro-batch the watermark that evicts the join's state.
    from_start
        Whether the first micro-batch is the job's first.
    """
    node, retention = _next_above(known.plan, known.join), known.retention
    if node is None or known.description.join is None or (retention is not None and len(retention) == 1):
        return None
    passed = chain_watermarks.behind(retention, eviction)
    late = np.concatenate([[0 if from_start else LONG_AGO], (eviction if passed is None else passed)[:-1]])
    whole = sides.read(node)
    if whole.grouped is None:
        return None
    window, time = whole.windows[whole.grouped.window]
    size, offset = whole.grouped.size, getattr(window, "offset", None)
    if size is None or offset is None or hasattr(window, "slide"):
        return None
    for side, mine, own, mark in zip(SIDES, known.inputs, known.times, known.marks, strict=True):
        if own is not None and mark is not None and mine.origin(own) == whole.origin(time):
            return Above(side, size, micros(offset), late)
    return None


def _next_above(plan: Node, join: Node) -> Node | None:
    """The aggregation above a join with nothing between that keeps rows; None: there is none such."""
    found, node = None, plan
    while node is not join:
        if node.kind == "Aggregate":
            found = node
        elif node.kind not in _ON_THE_WAY:
            found = None
        if len(node.children) != 1:
            return None
        [node] = node.children
    return found
