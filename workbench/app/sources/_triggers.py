"""What cuts rows into micro-batches: a trigger interval where it is known when they arrived, else a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ipywidgets as widgets
import pandas as pd

from workbench.app._form import Form, show
from workbench.app.sources._source import Control
from workbench.sources.profile import likely_trigger

__all__ = ["show_cut", "slices", "suggest", "trigger"]


def slices(name: str) -> Control:
    """The input with a number of micro-batches."""
    tip = "Micro-batches for a table without times of arrival, cut by event time; a column named batch is better."
    return Control(name, "Micro-batches", tip, lambda: widgets.BoundedIntText(10, min=1, max=500))


def trigger(name: str, first: str = "") -> Control:
    """The input with a trigger interval."""
    tip = "How often a micro-batch starts, such as 10 seconds."
    return Control(name, "Trigger interval", tip, lambda: widgets.Text(first))


def suggest(frame: pd.DataFrame, arrival: str) -> str:
    """A trigger interval for the rows of a frame; empty where a column tells no times."""
    values: Any = frame[arrival] if arrival in frame else pd.Series(dtype=object)
    if not pd.api.types.is_datetime64_any_dtype(values.dtype):
        values = pd.Series(dtype="datetime64[ns]")
    found = values.dropna()
    return likely_trigger((found.max() - found.min()).total_seconds()) if len(found) else "10 seconds"


def show_cut(form: Form, name: str, timed: Sequence[str]) -> None:
    """Show the trigger interval where it is known when rows arrived, and fill an empty one in.

    Parameters
    ----------
    form, name
        The input.
    timed
        Trigger intervals that suit the sides of which it is known when rows arrived.
    """
    box = form.inputs[name]
    if timed and not box.value.strip():
        box.value = timed[0]
    show(box, bool(timed))
