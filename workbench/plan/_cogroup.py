"""CoGroup: both sides together, grouped by key and window, the rows of each side collected."""

from __future__ import annotations

from workbench import times
from workbench.joins import CoGroup
from workbench.plan._assign import window_calls
from workbench.plan._names import Names, fill, literal, template
from workbench.windows import Session

_TEMPLATE = template('''
{{ signature() }}
    """Collect the rows of both sides by key and window ({{ words }})."""
{% for side in (left, right) %}
    {{ side.var }} = (
        {{ side.var }}.withWatermark({{ side.time | column }}, {{ side.delay | span | literal }})
{% if finish %}
        .where(F.col({{ side.time | column }}) < END_OF_INPUT)
{% endif %}
        .where({% for key in side.keys %}F.col({{ key | column }}).isNotNull(){{ " & " if not loop.last }}{% endfor %})
        .select(
{% for key in side.keys %}
            F.col({{ key | column }}).alias("key_{{ loop.index }}"),
{% endfor %}
            F.col({{ side.time | column }}).alias("event_time"),
            F.struct("*").alias({{ (side.prefix + "row") | literal }}),
        )
{% if assign %}
{{ assign[loop.index0] }}
{% endif %}
    )
{% endfor %}
    groups = (
        {{ left.var }}.unionByName({{ right.var }}, allowMissingColumns=True)
        .groupBy({% for key in keys %}"key_{{ loop.index }}", {% endfor %}{{ window }})
        .agg(F.collect_list("left_row").alias("left"), F.collect_list("right_row").alias("right"))
    )
    return groups.select(
{% for key in left.keys %}
        F.col("key_{{ loop.index }}").alias({{ key | literal }}),
{% endfor %}
        F.col("window.start").alias("window_start"),
        F.col("window.end").alias("window_end"),
        "left",
        "right",
    )
''')


def render(join: CoGroup, names: Names, finish: bool) -> str:
    """The text of a coGroup."""
    time = literal("event_time")
    if isinstance(join.window, Session):
        gap = times.text(join.window.gap)
        words, assign, window = (
            f"sessions, {gap} gap",
            None,
            f'F.session_window("event_time", {literal(gap)}).alias("window")',
        )
    else:
        calls = [window_calls(join.window, time, "window", side.delay) for side in (names.left, names.right)]
        words, assign, window = calls[0][0], [call for _, call in calls], '"window"'
    return fill(_TEMPLATE, names, finish, words=words, assign=assign, window=window)
