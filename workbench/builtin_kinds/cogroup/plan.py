"""CoGroup: both sides together, grouped by key and window, the rows of each side collected."""

from __future__ import annotations

from workbench.plan.names import Names, fill

__all__ = ["render"]

_TEMPLATE = '''
{{ signature() }}
    """Collect the rows of both sides by key and window ({{ description }})."""
{% for side in (left, right) %}
    {{ side.var }} = (
        {{ side.var }}.withWatermark({{ side.time | column }}, {{ side.delay | span | literal }})
{{ seen_by_watermark(side, side.time | column, "") }}
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
'''


def render(description: str, assign: list[str] | None, window: str, names: Names, finish: bool) -> str:
    """The text of a coGroup.

    Parameters
    ----------
    description
        The windows in words.
    assign
        For each side the method calls that add its windows as column ``window``; None: `window` makes them.
    window
        The window to group by, as Python source.
    names, finish
        As in `workbench.plan.render`.
    """
    return fill(_TEMPLATE, names, finish, description=description, assign=assign, window=window)
