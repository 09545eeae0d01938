"""Checks of the arguments of a run, a preview and a tuning, against each other too."""

from __future__ import annotations

from typing import Any

from workbench import conditions, model, spark_versions
from workbench.errors import ArgumentError, excerpt, one_of, wrong
from workbench.joins import Join, where_of
from workbench.kinds import kind_of
from workbench.literals import POLICIES
from workbench.sources.arrow import END_OF_INPUT
from workbench.streams import Stream, check_stream, on_one_clock, pair_types

__all__ = ["check", "check_operator", "check_session", "has_operator"]


def check(join: Any, left: Any, right: Any, finish: object = True, policy: object = "min") -> tuple[Stream, Stream]:
    """Check the arguments of a run against each other; gives the streams in the micro-batches of one query.

    Raises
    ------
    ArgumentError
        Naming the argument that is wrong.
    """
    kind = kind_of(join)
    check_stream("left", left)
    check_stream("right", right)
    if not isinstance(finish, bool):
        raise wrong("finish", finish, "use True or False")
    one_of("policy", policy, POLICIES)
    kind.check(join, left, right)
    if (where := where_of(join)) is not None:
        conditions.check(where, pair_types(left, right), "where")
    for name in left.key:
        if name.lower() in kind.reserved:
            raise wrong(
                "key", name, f"the output of this join has a column {excerpt(name)} of its own; rename the key column"
            )
    if finish and not model.end_of_input_is_enough(join, left, right):
        raise ArgumentError(
            f"finish: got True; the end of the input is at {END_OF_INPUT.date()}, and these event times, with their "
            "windows, bounds and delays, reach beyond; use earlier event times, or finish=False"
        )
    return on_one_clock(left, right)


def check_session(spark: object) -> None:
    """Check that an argument ``spark`` is a session, or None."""
    if spark is not None and (isinstance(spark, type) or not hasattr(spark, "newSession")):
        raise wrong("spark", spark, "give a SparkSession, or None for the workbench's own")


def has_operator(join: Join, version: str) -> bool:
    """Whether a version of Spark has the operator of a join."""
    return spark_versions.facts(version).has_processor or not kind_of(join).operator.is_processor


def check_operator(join: Join, version: str) -> None:
    """Refuse a join that a version of Spark has no operator for.

    Raises
    ------
    ArgumentError
        Saying which versions have one.
    """
    if not has_operator(join, version):
        needs, remedy = kind_of(join).without_processor
        raise wrong("join", join, f"{needs} Spark 4.1 or later, and this is {version}{remedy}")
