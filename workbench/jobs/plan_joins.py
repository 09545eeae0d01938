"""Where the joins of two streams stand in a plan, and what filters follow one."""

from __future__ import annotations

from workbench.jobs import catalyst, conditions, sides
from workbench.jobs.catalyst import Node
from workbench.jobs.conditions import Conjunct
from workbench.untyped import SparkObject

__all__ = [
    "as_it_runs",
    "below",
    "branches",
    "filters_above",
    "in_order_of_run",
    "is_above",
    "join_in",
    "joins",
    "parts",
    "type_of",
]


_STEPS = 20
"""Operators through which a join is moved at most."""


def joins(plan: Node) -> list[Node]:
    """The joins of two streams in a plan, the last one first."""
    found = [node for node in plan.walk() if node.kind == "Join"]
    return [node for node in found if all(bool(child.java.isStreaming()) for child in node.children)]


def join_in(plan: Node) -> Node | None:
    """The last join of two streams in a plan; None if there is none."""
    return next(iter(joins(plan)), None)


def below(join: Node) -> list[Node]:
    """The inputs of a join in which streams are joined, too."""
    return [child for child in join.children if bool(child.java.isStreaming()) and joins(child)]


def branches(plan: Node) -> list[Node]:
    """The parts of a plan that have a last join of their own: the plan, or inputs of a union of several joins."""
    streams = [child for child in plan.children if joins(child)]
    if plan.kind == "Join" or not streams:
        return [plan]
    found = [branch for child in streams for branch in branches(child)]
    return found if len(found) > 1 else [plan]


def parts(plan: Node) -> list[Node]:
    """For each join of two streams in a plan the part of it that ends with this join, in the order that rows pass them.

    The last is the whole plan, or of a union of joins the last of its inputs.
    """
    found = []
    for branch in branches(plan):
        join = join_in(branch)
        found += [] if join is None else [part for child in below(join) for part in parts(child)]
        found.append(branch)
    return found


def in_order_of_run(spark: SparkObject, plan: Node) -> Node:
    """A plan with its joins in the order in which Spark runs them: a semi join may run before the join below it.

    Spark moves it there where its condition has columns of one side of that join only.
    """
    if not any(type_of(join) == "LeftSemi" and below(join) for join in joins(plan)):
        return plan
    java = spark._jvm.org.apache.spark.sql.catalyst
    moved = java.analysis.EliminateSubqueryAliases.apply(plan.java)
    for _ in range(_STEPS):
        before = moved
        for rule in (java.optimizer.PushDownLeftSemiAntiJoin, java.optimizer.PushLeftSemiLeftAntiThroughJoin):
            moved = rule.apply(moved)
        if moved.fastEquals(before):
            break
    found = catalyst.tree(spark, moved)
    before, now = ([str(each.java.condition()) for each in joins(one)] for one in (plan, found))
    return plan if now == before else found


def as_it_runs(join: Node, run: Node) -> Node | None:
    """A join in the plan that Spark runs, whose inputs have columns of the same; None where there is none such."""
    every = joins(run)
    if len(every) == 1:
        return every[0]
    ids = [set(child.ids) for child in join.children]
    same = (each for each in every if all(set(one.ids) <= other for one, other in zip(each.children, ids, strict=True)))
    return next(same, None)


def type_of(join: Node) -> str:
    """Spark's name of the type of a join, such as ``LeftOuter``."""
    return str(join.fields["joinType"]["object"]).rpartition(".")[2].rstrip("$")


def is_above(plan: Node, join: Node, kind: str) -> bool:
    """Whether there is an operator between a join and the end of a plan."""
    node = plan
    while node is not join:
        if node.kind == kind:
            return True
        below = [child for child in node.children if any(each is join for each in child.walk())]
        if not below:
            return False
        node = below[0]
    return False


def filters_above(plan: Node, join: Node) -> list[Conjunct]:
    """What the filters after a join say, in terms of the columns that the join gives."""
    nodes, node = [], plan
    while node is not join:
        if node.kind not in ("Filter", "Project", "SubqueryAlias", "View"):
            return []
        nodes.append(node)
        [node] = node.children
    meanings = {column: meaning for each in nodes for column, meaning in sides.defined(each)}
    found = [each for one in nodes if one.kind == "Filter" for each in catalyst.expressions(one, "condition")]
    parts = [each for one in found for each in conditions.conjuncts(one)]
    return [Conjunct(each.written, tuple(conditions.replaced(part, meanings) for part in each.parts)) for each in parts]
