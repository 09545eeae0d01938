"""Tumbling and sliding window joins: a stream-stream join on the key and the window."""

from __future__ import annotations

from workbench.joins import WindowJoin
from workbench.plan._assign import window_calls
from workbench.plan._how import spark_how
from workbench.plan._names import Names, fill, template

_TEMPLATE = template('''
{{ signature() }}
    """Pair rows of one key in the same window ({{ words }})."""
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
    )
    joined = {{ left.var }}.join({{ right.var }}, matches, {{ spark_how }})
{% if how == "anti" %}
    joined = joined.where(F.col({{ right.prefixed_time }}).isNull()).drop(*{{ right.var }}.columns)
{% endif %}
{% if how in ("right", "full") %}
    window = F.coalesce("window", "other_window")
{% else %}
    window = F.col("window")
{% endif %}
    return joined.withColumns({"window_start": window["start"], "window_end": window["end"]}).drop("window", "other_window")
''')


def render(join: WindowJoin, names: Names, finish: bool) -> str:
    """The text of a tumbling or sliding window join."""
    words, left = window_calls(join.window, '"event_time"', "window", names.left.delay)
    _, right = window_calls(join.window, '"event_time"', "other_window", names.right.delay)
    return fill(
        _TEMPLATE,
        names,
        finish,
        words=words,
        left_window=left,
        right_window=right,
        how=join.how,
        spark_how=spark_how(join.how),
    )
