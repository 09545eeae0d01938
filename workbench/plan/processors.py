"""What the texts of all stateful processors in Python begin with."""

from __future__ import annotations

__all__ = ["KEPT", "PLACED"]

PLACED = '''
{% macro placed(fits=False) %}
    def is_time(column):
        return isinstance(column.dataType, TimestampType)

    def placed(rows, keys, event_time, is_left{{ ", fits" if fits }}):
        """The rows with their columns by place, as state takes no other names, how to name them again, their types.

        Times become numbers, as Python reads them in a time zone of its own.
        """
        fields = [(f"{'left' if is_left else 'right'}_{place}", each) for place, each in enumerate(rows.schema)]
        named = [(F.timestamp_micros(name) if is_time(each) else F.col(name)).alias(each.name) for name, each in fields]
        types = [StructField(name, LongType() if is_time(each) else each.dataType) for name, each in fields]
        key_names = [f"key_{n}" for n in range(len(keys))]
        all_names = [*key_names, "event_time", {{ '"fits", ' if fits }}*(name for name, _ in fields)]
        rows = rows.select(*keys, event_time, {{ "fits, " if fits }}"*").toDF(*all_names)
        numbers = {each.name: F.unix_micros(each.name) for each in rows.schema if is_time(each)}
        # -0.0 and 0.0 are one key
        floats = ("float", "double")
        numbers |= {name: F.col(name) + 0.0 for name in key_names if rows.schema[name].dataType.typeName() in floats}
        at = numbers.pop("event_time")
        return rows.withColumns(numbers | {"at": at, "is_left": F.lit(is_left)}), named, StructType(types)
{% endmacro %}
'''
"""A macro for the function ``placed``, which gives rows the names that state takes."""

KEPT = """
{% macro kept_rows(fits=False) %}
    kept_types = [StructType([StructField("at", LongType()), {{ 'StructField("number", LongType()), ' if fits }}*schema{{ ', StructField("fits", ArrayType(BooleanType()))' if fits }}]) for schema in (left_schema, right_schema)]
    kept_rows = [StructField(name, ArrayType(kept)) for name, kept in zip(("left_rows", "right_rows"), kept_types)]
{%- endmacro %}
{% macro kept_value(key="") %}
        def init(self, handle):
            self.handle = handle
            # all of a key in one value, as each question to the state takes Python as long as a dozen rows
            self.kept = handle.getValueState("kept", kept_schema)

        def handleInputRows(self, key, rows, timerValues):
            yield from self.advance({{ key }}rows, timerValues.getCurrentWatermarkInMs() * 1000)

        def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
            fired = expiredTimerInfo.getExpiryTimeInMs()
            yield from self.advance({{ key }}[], timerValues.getCurrentWatermarkInMs() * 1000, fired)

{% endmacro %}
{% macro one_timer() %}
            if woken is not None and woken not in (wake, fired):
                self.handle.deleteTimer(woken)
            if wake is not None and wake != woken:
                self.handle.registerTimer(wake)
{%- endmacro %}
"""
"""Macros for a processor that keeps all of a key in one value, and sets one timer for it.

``kept_rows`` gives the fields ``left_rows`` and ``right_rows`` of the value, ``kept_value`` the
methods that Spark calls, ``one_timer`` replaces the timer at ``woken`` by one at ``wake``, where
that is another time than the one that has fired.
"""
