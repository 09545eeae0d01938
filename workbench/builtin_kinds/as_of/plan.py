"""The as-of join on Spark: with a tolerance an interval join and an aggregation, without one a stateful processor."""

from __future__ import annotations

from typing import cast

from workbench import times
from workbench.builtin_kinds.as_of import partner_choice
from workbench.joins import AsOfJoin, IntervalJoin
from workbench.plan.names import Names, fill, shift
from workbench.plan.processors import KEPT, PLACED
from workbench.sources.arrow import AFTER_ALL
from workbench.times import Span

__all__ = ["processor", "within"]

_WITHIN = '''
{% macro needed(side) -%}
{% for name in side.prefixed_keys %}{% if name != side.prefixed_time %}{{ name }}, {% endif %}{% endfor %}{{ side.prefixed_time }}
{%- endmacro %}
{{ signature() }}
    """Give each row the {{ words }}."""
{% call prepare(left) %}
{% if join.how == "inner" %}
        .where({% for key in left.prefixed_keys %}F.col({{ key }}).isNotNull(){{ " & " if not loop.last }}{% endfor %})
{% endif %}
        .select({{ needed(left) }}, F.struct("*").alias("left"), F.expr("uuid()").alias("row_id"))  # a group each, equal rows too
{% endcall %}
{% call prepare(right) %}
        .where({% for key in right.prefixed_keys %}F.col({{ key }}).isNotNull(){{ " & " if not loop.last }}{% endfor %})
        .select(
            {{ needed(right) }},
            F.struct("*").alias("right"),
            # of several at the same time the one that was read last is meant, by the clocks of the machines that read
            F.current_timestamp().alias("micro_batch"),
            F.expr("java_method('java.lang.System', 'nanoTime')").cast("long").alias("read_at"),
        )
{% endcall %}
    in_reach = (
        {{ same_keys() }}
        & (F.col({{ right.prefixed_time }}) {{ ">" if bounds.lower_exclusive else ">=" }} F.col({{ left.prefixed_time }}){{ lower }})
        & (F.col({{ right.prefixed_time }}) {{ "<" if bounds.upper_exclusive else "<=" }} F.col({{ left.prefixed_time }}){{ upper }})
{% if join.direction == "nearest" and not join.allow_exact %}
        & (F.col({{ right.prefixed_time }}) != F.col({{ left.prefixed_time }}))
{% endif %}
    )
    apart = F.unix_micros({{ right.prefixed_time }}) - F.unix_micros({{ left.prefixed_time }})
    nearest = F.struct(-F.abs(apart), apart <= 0, "micro_batch", "read_at")
    # every pair within the bounds goes into the aggregation, which keeps the best until the watermark has passed the left row
    best = (
        {{ left.var }}.join({{ right.var }}, in_reach, {{ join.how | literal }})
        .groupBy({{ left.prefixed_time }}, "row_id")
        .agg(F.first("left").alias("left"), F.max_by("right", nearest).alias("right"))
    )
    return best.select("left.*", "right.*")
'''

_PROCESSOR = (
    PLACED
    + KEPT
    + '''
{{ signature() }}
    """Give each row the {{ words }}."""

{{ placed() }}
{% for side in (left, right) %}
{% call prepare(side) %}
{% if side == right or join.how == "inner" %}
        .where({% for key in side.prefixed_keys %}F.col({{ key }}).isNotNull(){{ " & " if not loop.last }}{% endfor %})
{% endif %}
{% endcall %}
    {{ side.prefix }}rows, {{ side.prefix }}named, {{ side.prefix }}schema = placed(
        {{ side.var }}, [{% for key in side.prefixed_keys %}{{ key }}{{ ", " if not loop.last }}{% endfor %}], {{ side.prefixed_time }}, {{ side == left }}
    )
{% endfor %}
    nothing = [None] * len(right_schema)
{{ kept_rows() }}
    kept_schema = StructType([StructField("wake", LongType()), *kept_rows])

    AFTER_ALL = {{ ended }}  # in the year 2161: only the end of the input is later

    class LatestVersion(StatefulProcessor):
        """Holds the right rows of a key that may still be a partner, and the left rows whose partner is not yet known.

        Times are in microseconds since 1970-01-01 UTC.
        """

{{ kept_value() }}
        def advance(self, rows, watermark, fired=None):
            woken, *stored = self.kept.get() or (None, [], [])
            waiting, versions = ([(at, tuple(row)) for at, *row in each] for each in stored)
            versions, changed = dict(versions), False
            for row in rows:
                changed = True
                if row["is_left"]:
                    waiting.append((row["at"], tuple(row[name] for name in left_schema.names)))
                else:  # of several at the same time the last one stays
                    versions[row["at"]] = tuple(row[name] for name in right_schema.names)
            times = sorted(versions)
            ended = watermark >= AFTER_ALL
            wakes, still = [], []
            for at, row in sorted(waiting, key=lambda each: each[0]):
                partner, known_at = self.partner(at, times)
                if (known_at is None or known_at > watermark) and not ended:
                    wakes += [] if known_at is None else [known_at]
                    still.append((at, row))
                    continue
{% if join.how == "inner" %}
                if partner is not None:
                    yield joined_row(*row, *versions[partner])
{% else %}
                yield joined_row(*row, *(nothing if partner is None else versions[partner]))
{% endif %}
{% if join.direction == "forward" %}
            kept = [] if ended else times[bisect_right(times, watermark) :]
            wakes += kept[:1]
{% else %}
            passed = bisect_right(times, watermark)
            kept = [] if ended else times[max(passed - {{ kept }}, 0) :]
            wakes += kept[{{ kept }}:{{ kept + 1 }}]  # when the watermark passes it, the first one can go
{% endif %}
            wake = -(-min(wakes, default=AFTER_ALL) // 1000) if kept or still else None
{{ one_timer() }}
            if wake is None:
                if woken is not None:
                    self.kept.clear()
            elif changed or wake != woken or (len(still), len(kept)) != (len(stored[0]), len(stored[1])):
                self.kept.update((wake, [(at, *row) for at, row in still], [(at, *versions[at]) for at in kept]))

        def partner(self, at, times):
            """The time of a left row's partner, and the watermark from which on no other can come; None: never."""
{% if join.direction != "forward" %}
            before = bisect_{{ "right" if join.allow_exact else "left" }}(times, at) - 1
            earlier = times[before] if before >= 0 else None
{% endif %}
{% if join.direction == "backward" %}
            return earlier, at
{% else %}
            after = bisect_{{ "left" if join.allow_exact else "right" }}(times, at)
            later = times[after] if after < len(times) else None
{% if join.direction == "forward" %}
            return later, later
{% else %}
            known_at = [each for each in (later, None if earlier is None else 2 * at - earlier) if each is not None]
            if earlier is None or (later is not None and later - at < at - earlier):
                earlier = later
            return earlier, max(at, min(known_at)) if known_at else None
{% endif %}
{% endif %}

        def close(self):
            pass

    joined_row = Row(*left_schema.names, *right_schema.names)
    output = StructType([*left_schema, *right_schema])
    by_key = left_rows.unionByName(right_rows, allowMissingColumns=True).groupBy({% for key in keys %}"key_{{ loop.index0 }}"{{ ", " if not loop.last }}{% endfor %})
    joined = by_key.transformWithState(LatestVersion(), output, "append", "eventTime")
    return joined.select(*left_named, *right_named)
'''
)


def within(join: AsOfJoin, bounds: IntervalJoin, names: Names, finish: bool) -> str:
    """The text of a join with a tolerance.

    Parameters
    ----------
    join
        The join.
    bounds
        The interval that its tolerance makes.
    names, finish
        As in `workbench.plan.render`.
    """
    lower, upper = (times.exact(cast(Span, each)) for each in (bounds.lower, bounds.upper))
    more = {"bounds": bounds, "lower": shift(lower), "upper": shift(upper), "how": join.how}
    return fill(_WITHIN, names, finish, join=join, words=_words(join), **more)


def processor(join: AsOfJoin, names: Names, finish: bool) -> str:
    """The text of a join without a tolerance; arguments as in `within`."""
    return fill(
        _PROCESSOR,
        names,
        finish,
        join=join,
        words=_words(join),
        how=join.how,
        kept=partner_choice.rows_kept(join),
        ended=f"{AFTER_ALL.value // 1000:_}",
    )


def _words(join: AsOfJoin) -> str:
    which = {
        "backward": "last right row of its key at or before its time",
        "forward": "first right row of its key at or after its time",
        "nearest": "right row of its key that is nearest to its time",
    }[join.direction]
    which = (
        which
        if join.allow_exact
        else which.replace("at or ", "").replace("nearest to its", "nearest to, and not at, its")
    )
    return which if join.tolerance is None else f"{which}, at most {times.text(times.exact(join.tolerance))} apart"
