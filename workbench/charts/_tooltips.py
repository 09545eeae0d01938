"""Lines of tooltips: what several charts show is called and written in one way, as the schema of the tables has it."""

from __future__ import annotations

import altair as alt

from workbench import schema
from workbench.schema import Column

__all__ = ["BATCH", "BEHIND", "EVENT_TIME", "FATE", "KEY", "REASON", "ROWS", "STREAM", "WATERMARK", "of"]


def of(column: Column, field: str = "") -> alt.Tooltip:
    """The line of a column of the tables.

    Parameters
    ----------
    column
        The column.
    field
        What the chart's table calls it, if not by its name; spans are in seconds there.
    """
    field, title = field or column.name, column.title or column.name
    if column.type == "timedelta":
        return alt.Tooltip(f"{field}:Q", title=f"{title} (s)", format=",.6~f")
    return alt.Tooltip(f"{field}:{'Q' if column.type == 'integer' else 'N'}", title=title)


BATCH, FATE, REASON, BEHIND = (of(each) for each in (schema.BATCH, schema.FATE, schema.REASON, schema.BEHIND))
STREAM, KEY = alt.Tooltip("stream:N"), alt.Tooltip("key:N")
EVENT_TIME, WATERMARK = alt.Tooltip("at:N", title="event time"), alt.Tooltip("at:N", title="watermark")
ROWS = alt.Tooltip("rows:Q", format=",")
