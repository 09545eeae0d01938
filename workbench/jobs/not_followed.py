"""Operators below a join through which rows cannot be followed: which they are, and where in the plan they stand."""

from __future__ import annotations

from dataclasses import replace

from workbench.errors import ArgumentError
from workbench.jobs import replay
from workbench.jobs.catalyst import Node, expressions
from workbench.jobs.understanding import Understood
from workbench.literals import Side, Sides

__all__ = ["NotFollowedError", "has_all_times", "in_part", "in_the_way", "of_older"]


class NotFollowedError(ArgumentError):
    """A join above another one of which it is not known what comes to it, or which of that is late."""


def in_the_way(plan: Node, inner: tuple[Node, ...] = ()) -> str:
    """The operator of a side nearest to the join through which rows cannot be followed, with its place.

    Empty: there is none. Joins of streams whose pairs are known are given as `inner`, and not looked into.
    """
    if any(plan is each for each in inner) or not bool(plan.java.isStreaming()):
        return ""
    if called := replay.not_followed(plan):
        return f"{called}, between {_below(plan)} and the join"
    return next(filter(None, (in_the_way(child, inner) for child in plan.children)), "")


def _below(node: Node) -> str:
    """What is next below an operator: a watermark, an alias or a source."""
    for each in node.walk():
        if each is node:
            continue
        if each.kind == "EventTimeWatermark":
            [time] = expressions(each, "eventTime")
            return f"withWatermark on {time.name}"
        if each.kind == "SubqueryAlias":
            return f"the rows of {each.java.alias()}"
    return "its source"


def in_part(known: Understood, inner: tuple[Node, ...]) -> Understood:
    """A join as far as its rows can be followed.

    Of a join with a side whose rows are not known no fate is told, as it may rest on these.
    """
    if known.join.kind != "Join":
        return known
    found = [in_the_way(child, inner) for child in known.join.children]
    words = tuple(
        f"the rows of the {side} side cannot be followed through {each}" for side, each in Sides(*found).items() if each
    )
    if not words:
        return known
    about = replace(known.description, join=None, unknown=(*words, *known.description.unknown))
    return replace(known, description=about, rest=())


def of_older(plan: Node, side: Side, batch: int) -> list[str]:
    """What is not known of a side whose operators held rows before the first micro-batch that is kept."""
    kinds = dict.fromkeys(node.kind for node in plan.walk() if bool(node.java.isStreaming()))
    words = dict.fromkeys(replay.REPEATS, "duplicates of") | {"Aggregate": "in a group with"}
    return [
        f"what {replay.IN_THE_WAY[kind]} of the {side} side held after micro-batch {batch}, the first that is kept, is "
        f"not read: rows that are {words[kind]} older ones may differ from what the job had"
        for kind in kinds
        if kind in words
    ]


def has_all_times(plan: Node) -> bool:
    """Whether the rows come to each watermark of a plan through operators that can be followed."""
    marks = (node for node in plan.walk() if node.kind == "EventTimeWatermark")
    return not any(in_the_way(child) for node in marks for child in node.children)
