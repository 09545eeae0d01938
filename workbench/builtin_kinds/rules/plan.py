"""Rules on Spark: a processor that gives each row the rules in force, and a filter that keeps those it meets."""

from __future__ import annotations

from workbench.builtin_kinds.rules.fields import compared
from workbench.joins import RulesJoin
from workbench.plan.names import Names, fill
from workbench.plan.processors import PLACED
from workbench.quoting import column, literal
from workbench.sources.arrow import AFTER_ALL
from workbench.untyped import Record

__all__ = ["render"]

_BOTH = (
    PLACED
    + """
{% macro sides() %}
{% for side in (left, right) %}
{% call prepare(side) %}
{% if not join.copies %}
        .where({% for key in side.prefixed_keys %}F.col({{ key }}).isNotNull(){{ " & " if not loop.last }}{% endfor %})
{% endif %}
{% endcall %}
{% endfor %}
{% if join.copies %}
    # each task sees every rule: rules are copied, and rows are spread over the copies by their key
    copy = F.pmod(F.xxhash64({% for key in left.prefixed_keys %}{{ key }}{{ ", " if not loop.last }}{% endfor %}), F.lit({{ join.copies }}))
    copies = F.explode(F.sequence(F.lit(0).cast("long"), F.lit({{ join.copies - 1 }}).cast("long")))
{% endif %}
{% for side in (left, right) %}
    {{ side.prefix }}rows, {{ side.prefix }}named, {{ side.prefix }}schema = placed(
        {{ side.var }}, [{% if join.copies %}{{ "copy" if side == left else "copies" }}{% else %}{% for key in side.prefixed_keys %}{{ key }}{{ ", " if not loop.last }}{% endfor %}{% endif %}], {{ side.prefixed_time }}, {{ side == left }}
    )
{% endfor %}
    rule = "right_" + str({{ right.var }}.columns.index({{ rule_text }}))
{% if withdrawn %}
    withdrawn = {{ right.var }}.columns.index({{ withdrawn_text }})
{% endif %}
{% endmacro %}
{% macro joined(mode) %}
    joined_row = Row(*left_schema.names, *right_schema.names)
    output = StructType([*left_schema, *right_schema])
{% set groups = ["key_0"] if join.copies else key_names %}
    grouped = left_rows.unionByName(right_rows, allowMissingColumns=True).groupBy({% for key in groups %}"{{ key }}"{{ ", " if not loop.last }}{% endfor %})
    in_force = grouped.transformWithState(RulesInForce(), output, "append", "{{ mode }}").select(*left_named, *right_named)
    field, op, value = F.col({{ field }}), F.col({{ op }}), F.col({{ value }}){{ '.cast("double")' if numbers }}
    compared = F.coalesce(
{% for name, text in columns %}
        F.when(field == {{ text }}, F.col({{ name }}){{ '.cast("double")' if numbers }}),
{% endfor %}
    )
    meets = (
        ((op == "<") & (compared < value))
        | ((op == "<=") & (compared <= value))
        | ((op == ">") & (compared > value))
        | ((op == ">=") & (compared >= value))
        | (op.isin("=", "==") & (compared == value))
        | (op.isin("!=", "<>") & (compared != value))
    )
    return in_force.where(meets)
{% endmacro %}
"""
)

_BY_EVENT_TIME = (
    _BOTH
    + '''
{{ signature() }}
    """Give each row the rules in force at its time that it meets."""

{{ placed() }}
{{ sides() }}
    AFTER_ALL = {{ ended }}  # in the year 2161: only the end of the input is later

    class RulesInForce(StatefulProcessor):
        """Holds the versions of rules that are in force or will be, and the rows that the watermark has not passed.

        Times are in microseconds since 1970-01-01 UTC.
        """

        def init(self, handle):
            self.handle = handle
            version = StructType([StructField("rule", right_schema[rule].dataType), StructField("at", LongType())])
            self.versions = handle.getMapState("versions", version, right_schema)
            self.waiting = handle.getMapState("waiting", "at BIGINT, number INT", left_schema)

        def handleInputRows(self, key, rows, timerValues):
            yield from self.advance(rows, timerValues.getCurrentWatermarkInMs() * 1000)

        def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
            yield from self.advance([], timerValues.getCurrentWatermarkInMs() * 1000)

        def advance(self, rows, watermark):
            stored, fresh = {tuple(key): row for key, row in self.versions.iterator()}, {}
            waiting = {tuple(key): row for key, row in self.waiting.iterator()}
            waited, numbers = set(waiting), Counter(at for at, _ in waiting)
            for row in rows:
                if row["is_left"]:
                    number = numbers[row["at"]]
                    numbers[row["at"]] += 1
                    waiting[row["at"], number] = tuple(row[name] for name in left_schema.names)
                elif row[rule] is not None:  # of several at the same time the last one stays
                    fresh[row[rule], row["at"]] = tuple(row[name] for name in right_schema.names)
            versions, times = stored | fresh, {}
            for each, at in versions:
                times.setdefault(each, []).append(at)
            for of_rule in times.values():
                of_rule.sort()
            ended = watermark >= AFTER_ALL
            for (at, number), row in sorted(waiting.items(), key=lambda each: each[0]):
                if at > watermark and not ended:
                    break
                del waiting[at, number]
                for each, of_rule in times.items():
                    place = bisect_right(of_rule, at) - 1
                    if place >= 0{{ " and not versions[each, of_rule[place]][withdrawn]" if withdrawn }}:
                        yield joined_row(*row, *versions[each, of_rule[place]])
            kept = set()
            for each, of_rule in times.items():
                passed = max(bisect_right(of_rule, watermark) - 1, 0)
{% if withdrawn %}
                passed += of_rule[passed] <= watermark and bool(versions[each, of_rule[passed]][withdrawn])
{% endif %}
                kept.update((each, at) for at in of_rule[passed:] if not ended)
            for each in set(stored) - kept:
                self.versions.removeKey(each)
            for each in set(fresh) & kept:
                self.versions.updateValue(each, fresh[each])
            for each in waited - set(waiting):
                self.waiting.removeKey(each)
            for each in set(waiting) - waited:
                self.waiting.updateValue(each, waiting[each])
            if kept or waiting:
                wakes = [at for at, _ in waiting] + [at for _, at in kept if at > watermark]
                wake = -(-min(wakes, default=AFTER_ALL) // 1000)
                if wake not in self.handle.listTimers():
                    self.handle.registerTimer(wake)

        def close(self):
            pass

{{ joined("eventTime") }}
'''
)

_BY_ARRIVAL = (
    _BOTH
    + '''
{{ signature() }}
    """Give each row the rules that have arrived and that it meets."""

{{ placed() }}
{{ sides() }}
    class RulesInForce(StatefulProcessor):
        """Holds the version of each rule that arrived last."""

        def init(self, handle):
            version = StructType([StructField("rule", right_schema[rule].dataType)])
            self.versions = handle.getMapState("versions", version, right_schema)

        def handleInputRows(self, key, rows, timerValues):
            stored = {key[0]: row for key, row in self.versions.iterator()}
            versions, fresh, left_rows, right_rows = dict(stored), set(), [], []
            for row in rows:
                (left_rows if row["is_left"] else right_rows).append(row)
            for row in sorted(right_rows, key=lambda row: row["at"]):  # a micro-batch has no other order
                if row[rule] is None:
                    continue
                version = tuple(row[name] for name in right_schema.names)
                fresh.add(row[rule])
{% if withdrawn %}
                if version[withdrawn]:
                    versions.pop(row[rule], None)
                    continue
{% endif %}
                versions[row[rule]] = version
            for row in left_rows:  # after the rules of the micro-batch, whatever the order in it
                left_row = tuple(row[name] for name in left_schema.names)
                for version in versions.values():
                    yield joined_row(*left_row, *version)
            for each in fresh & set(versions):
                self.versions.updateValue((each,), versions[each])
            for each in set(stored) - set(versions):
                self.versions.removeKey((each,))

        def close(self):
            pass

{{ joined("none") }}
'''
)


def render(join: RulesJoin, names: Names, finish: bool) -> str:
    """The text of a rules join; arguments as in `workbench.kinds.plan_of`."""
    numbers, columns = compared(join, names.types)
    prefixed: Record = {name: column(f"right_{getattr(join, name)}") for name in ("field", "op", "value", "rule")}
    return fill(
        _BY_ARRIVAL if join.as_of == "arrival" else _BY_EVENT_TIME,
        names,
        finish,
        join=join,
        how="inner",
        key_names=[f"key_{place}" for place in range(len(names.left.keys))],
        withdrawn=join.withdrawn is not None,
        withdrawn_text=literal(f"right_{join.withdrawn}"),
        rule_text=literal(f"right_{join.rule}"),
        numbers=numbers,
        columns=[(column(f"left_{name}"), literal(name)) for name in columns],
        ended=f"{AFTER_ALL.value // 1000:_}",
        **prefixed,
    )
