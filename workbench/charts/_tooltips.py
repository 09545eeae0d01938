"""Lines of tooltips: what several charts show is called and written in one way, as the schema of the tables has it."""

from __future__ import annotations

import altair as alt

from workbench import schema
from workbench.schema import Column

__all__ = ["BATCH", "BEHIND", "EVENT_TIME", "FATE", "KEY", "REASON", "ROWS", "STREAM", "WATERMARK", "of"]

_FORMATS = {"integer": ",", "timedelta": ",.6~f"}


def of(column: Column, field: str = "", title: str = "") -> alt.Tooltip:
    """The line of a column of the tables.

    Parameters
    ----------
    column
        The column.
    field
        What the chart's table calls it, if not by its name; spans are in seconds there.
    title
        What the chart calls it, if it shows but some of it.
    """
    numbers = column.type in _FORMATS
    named = title or column.title or column.name
    shown = f"{named} (s)" if column.type == "timedelta" else named
    line = alt.Tooltip(f"{field or column.name}:{'Q' if numbers else 'N'}", title=shown)
    return line.format(_FORMATS[column.type]) if numbers and column is not schema.BATCH else line


BATCH, FATE, REASON, BEHIND = (of(each) for each in (schema.BATCH, schema.FATE, schema.REASON, schema.BEHIND))
STREAM, KEY = alt.Tooltip("stream:N"), alt.Tooltip("key:N")
EVENT_TIME, WATERMARK = alt.Tooltip("at:N", title="event time"), alt.Tooltip("at:N", title="watermark")
ROWS = alt.Tooltip("rows:Q", format=",")
