"""The interval join: a stream-stream join on the key and the two time bounds."""

from __future__ import annotations

from datetime import timedelta

from workbench import times
from workbench.joins import IntervalJoin
from workbench.plan.conditions import of_pairs
from workbench.plan.how import spark_how
from workbench.plan.names import Names, fill, shift

__all__ = ["render"]

_TEMPLATE = '''
{{ signature() }}
    """Pair rows of one key{{ reach }}."""
{% call prepare(left) %}
{% endcall %}
{% call prepare(right) %}
{% endcall %}
    matches = (
        {{ same_keys() }}
{% if join.lower is not none %}
        & (F.col({{ right.prefixed_time }}) {{ ">" if join.lower_exclusive else ">=" }} F.col({{ left.prefixed_time }}){{ lower }})
{% endif %}
{% if join.upper is not none %}
        & (F.col({{ right.prefixed_time }}) {{ "<" if join.upper_exclusive else "<=" }} F.col({{ left.prefixed_time }}){{ upper }})
{% endif %}
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
    return fill(
        _TEMPLATE,
        names,
        finish,
        join=join,
        lower="" if join.lower is None else shift(times.exact(join.lower)),
        upper="" if join.upper is None else shift(times.exact(join.upper)),
        reach=_reach(join),
        how=join.how,
        spark_how=spark_how(join.how),
        where=of_pairs(join.where, names),
    )


def _reach(join: IntervalJoin) -> str:
    """Between which times the right row of a pair lies, in words."""
    lower, upper = (None if each is None else _described(times.exact(each)) for each in (join.lower, join.upper))
    if lower is None and upper is None:
        return ", whatever their times"
    if lower is not None and upper is not None:
        return f" whose right time lies from {lower} to {upper} the left time"
    return f" whose right time lies {f'at most {upper}' if lower is None else f'at least {lower}'} the left time"


def _described(bound: timedelta) -> str:
    return f"{times.text(abs(bound))} {'before' if bound < times.ZERO else 'after'}"
