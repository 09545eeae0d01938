"""Tumbling and sliding window joins: a stream-stream join on the key and the window."""

from __future__ import annotations

from workbench.conditions import Condition
from workbench.joins import How
from workbench.plan.conditions import of_pairs
from workbench.plan.how import spark_how
from workbench.plan.names import Names, fill

__all__ = ["render"]

_TEMPLATE = '''
{{ signature() }}
    """Pair rows of one key in the same window ({{ description }})."""
{% call prepare(left, '"event_time"') %}
{{ left_window }}
        .drop("event_time")
{% endcall %}
{% call prepare(right, '"event_time"') %}
{{ right_window }}
        .drop("event_time")
{% endcall %}
    matches = (
        {{ same_keys() }}
        & (F.col("window") == F.col("other_window"))
{% if where %}
        # both sides are named, so that rows that fail by themselves move the watermark all the same
        & {{ where }}
{% endif %}
    )
    joined = {{ left.var }}.join({{ right.var }}, matches, {{ spark_how }})
{% if how == "anti" %}
    joined = joined.where(F.col({{ right.prefixed_time }}).isNull()).drop(*{{ right.var }}.columns)
{% endif %}
{% if how in ("right", "full") %}
    window = F.coalesce("window", "other_window")
    edges = {"window_start": window["start"], "window_end": window["end"]}
{% else %}
    edges = {"window_start": F.col("window.start"), "window_end": F.col("window.end")}
{% endif %}
    return joined.withColumns(edges).drop("window", "other_window")
'''


def render(calls: list[tuple[str, str]], how: How, names: Names, finish: bool, where: Condition | None = None) -> str:
    """The text of a join of windows that each row is in by itself.

    Parameters
    ----------
    calls
        For each side the windows in words, and the method calls that add them as column ``window`` on the left and
        ``other_window`` on the right.
    how, names, finish, where
        As in the join, and in `workbench.kinds.plan_of`.
    """
    (description, left), (_, right) = calls
    return fill(
        _TEMPLATE,
        names,
        finish,
        description=description,
        left_window=left,
        right_window=right,
        how=how,
        spark_how=spark_how(how),
        where=of_pairs(where, names),
    )
