"""What the texts of all stateful processors in Python begin with."""

from __future__ import annotations

__all__ = ["PLACED"]

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
