"""The session window join: both sides together make the sessions, then the pairs are taken out of each."""

from __future__ import annotations

from workbench import times
from workbench.joins import How
from workbench.plan.names import Names, fill
from workbench.times import Span

__all__ = ["render"]

_TEMPLATE = '''
{{ signature() }}
    """Pair rows of one key in the same session (sessions end after {{ gap }} of silence on both sides)."""
{% for side in (left, right) %}
{% call prepare(side) %}
        .select(
{% for key in side.prefixed_keys %}
            F.col({{ key }}).alias("key_{{ loop.index }}"),
{% endfor %}
{% if padded %}
            # a null key equals nothing: such a row is a session of its own
            F.when({% for key in side.prefixed_keys %}F.col({{ key }}).isNull(){{ " | " if not loop.last }}{% endfor %}, F.struct(F.lit({{ side.prefix | literal }}).alias("side"), F.col({{ side.prefixed_time }}).alias("time"))).alias("null_key"),
{% endif %}
            F.col({{ side.prefixed_time }}).alias("event_time"),
            F.struct("*").alias({{ (side.prefix + "row") | literal }}),
        )
{% if not padded %}
        .where({% for key in side.prefixed_keys %}F.col("key_{{ loop.index }}").isNotNull(){{ " & " if not loop.last }}{% endfor %})
{% endif %}
{% endcall %}
{% endfor %}
    sessions = (
        {{ left.var }}.unionByName({{ right.var }}, allowMissingColumns=True)
        .groupBy({% for key in keys %}"key_{{ loop.index }}", {% endfor %}{% if padded %}"null_key", {% endif %}F.session_window("event_time", {{ gap | literal }}).alias("window"))
        .agg(F.collect_list("left_row").alias("left_rows"), F.collect_list("right_row").alias("right_rows"))
    )
{% if how == "semi" %}
    sessions = sessions.where(F.size("right_rows") > 0)
{% elif how == "anti" %}
    sessions = sessions.where(F.size("right_rows") == 0)
{% endif %}
    return (
        sessions.withColumn("left_row", F.{{ explode_left }}("left_rows"))
{% if how not in ("semi", "anti") %}
        .withColumn("right_row", F.{{ explode_right }}("right_rows"))
        .select("left_row.*", "right_row.*", F.col("window.start").alias("window_start"), F.col("window.end").alias("window_end"))
{% else %}
        .select("left_row.*", F.col("window.start").alias("window_start"), F.col("window.end").alias("window_end"))
{% endif %}
    )
'''


def render(gap: Span, how: How, names: Names, finish: bool) -> str:
    """The text of a session window join."""
    return fill(
        _TEMPLATE,
        names,
        finish,
        gap=times.text(gap),
        how=how,
        padded=how in ("left", "right", "full", "anti"),
        explode_left="explode_outer" if how in ("right", "full") else "explode",
        explode_right="explode_outer" if how in ("left", "full") else "explode",
    )
