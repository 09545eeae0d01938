"""The interval join: a stream-stream join on the key and the two time bounds."""

from __future__ import annotations

from datetime import timedelta

from workbench import times
from workbench.joins import IntervalJoin
from workbench.plan.conditions import of_pairs
from workbench.plan.how import spark_how
from workbench.plan.names import Names, fill, interval

__all__ = ["render", "shift"]

_TEMPLATE = '''
{{ signature() }}
    """Pair rows of one key whose right time lies from {{ lower_text }} to {{ upper_text }} the left time."""
{% call prepare(left) %}
{% endcall %}
{% call prepare(right) %}
{% endcall %}
    matches = (
        {{ same_keys() }}
        & (F.col({{ right.prefixed_time }}) {{ ">" if join.lower_exclusive else ">=" }} F.col({{ left.prefixed_time }}){{ lower }})
        & (F.col({{ right.prefixed_time }}) {{ "<" if join.upper_exclusive else "<=" }} F.col({{ left.prefixed_time }}){{ upper }})
{% if where %}
        # both sides are named, so that rows that fail by themselves move the watermark all the same
        & {{ where }}
{% endif %}
    )
{% if how == "anti" %}
    joined = {{ left.var }}.join({{ right.var }}, matches, "left")
    return joined.where(F.col({{ right.prefixed_time }}).isNull()).drop(*{{ right.var }}.columns)
{% else %}
    return {{ left.var }}.join({{ right.var }}, matches, {{ spark_how }})
{% endif %}
'''


def render(join: IntervalJoin, names: Names, finish: bool) -> str:
    """The text of an interval join."""
    lower, upper = times.exact(join.lower), times.exact(join.upper)
    return fill(
        _TEMPLATE,
        names,
        finish,
        join=join,
        lower=shift(lower),
        upper=shift(upper),
        lower_text=_described(lower),
        upper_text=_described(upper),
        how=join.how,
        spark_how=spark_how(join.how),
        where=of_pairs(join.where, names),
    )


def shift(bound: timedelta) -> str:
    """What is added to a time to shift it, as Python source; empty for no shift."""
    if not bound:
        return ""
    return f" {'-' if bound < times.ZERO else '+'} {interval(abs(bound))}"


def _described(bound: timedelta) -> str:
    return f"{times.text(abs(bound))} {'before' if bound < times.ZERO else 'after'}"
