"""`Run.charts`: the tables of a run, made ready for the charts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from workbench import _arrow, _tables, charts, model
from workbench._words import key_words
from workbench.joins import CoGroup, IntervalJoin
from workbench.streams import SIDES
from workbench.times import exact
from workbench.windows import Session

if TYPE_CHECKING:
    import altair as alt

    from workbench.results import Run


class RunCharts:
    """The charts of a run: one call a view."""

    def __init__(self, run: Run) -> None:
        self._run = run
        _show_without_network()

    def timeline(self) -> alt.LayerChart:
        """Both sides as lanes on event time: windows or intervals behind, matched pairs joined, fate by colour."""
        run = self._run
        names = (run.left.name, run.right.name)
        return charts.timeline(self._rows(), self._pairs(), self._spans(), names, f"{_kind(run)} on event time")

    def arrival(self) -> alt.LayerChart:
        """Event time against arrival, with the watermark as a staircase; late rows lie below it."""
        run = self._run
        data = run.batches[run.batches["kind"] == "data"].copy()
        data["late_watermark"] = _utc(data["late_watermark"])
        names = (run.left.name, run.right.name)
        return charts.arrival(self._rows(), data, names, "Arrival and watermark")

    def of_key(self, side: str, row: int) -> alt.LayerChart:
        """The timeline of all rows of one row's key."""
        run = self._run
        rows = self._rows()
        key = rows.loc[rows["row_id"] == f"{side}-{row}", "key"].iloc[0]
        shown = rows[rows["key"] == key]
        pairs, spans = self._pairs(), self._spans()
        pairs = pairs[pairs["left"].isin(shown["row_id"]) & pairs["right"].isin(shown["row_id"])]
        spans = spans[(spans["key"].isna() | (spans["key"] == key)) & (spans["start"] <= shown["time"].max())]
        spans = spans[spans["end"] >= shown["time"].min()]
        names = (run.left.name, run.right.name)
        return charts.timeline(shown, pairs, spans, names, f"Key {key}").properties(height=180)

    def _rows(self) -> pd.DataFrame:
        run = self._run
        told = run.rows
        parts = []
        for side in SIDES:
            stream = run.side(side)
            mine = told[told["side"] == side]
            parts.append(
                pd.DataFrame(
                    {
                        "row_id": [f"{side}-{row}" for row in range(len(stream))],
                        "side": side,
                        "key": key_words(stream),
                        "time": stream.event_times.astype("datetime64[us]"),
                        "batch": stream.arrival,
                        "fate": mine["fate"].to_numpy(),
                        "reason": mine["reason"].to_numpy(),
                    }
                )
            )
        rows = pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)
        together = rows.groupby(["batch", "side"])["batch"]
        rows["arrived"] = rows["batch"] + (together.cumcount() + 0.5) / together.transform("size")
        return rows

    def _pairs(self) -> pd.DataFrame:
        found = _tables.pairs(self._run)
        return pd.DataFrame({side: [f"{side}-{row}" for row in found[side]] for side in SIDES})

    def _spans(self) -> pd.DataFrame:
        run = self._run
        if isinstance(run.join, IntervalJoin):
            moments = run.left.event_times.astype("datetime64[us]")
            lower, upper = (np.timedelta64(exact(bound)) for bound in (run.join.lower, run.join.upper))
            rows = [f"left-{row}" for row in range(len(moments))]
            return pd.DataFrame({"row_id": rows, "key": None, "start": moments + lower, "end": moments + upper})
        spans = model.windows(run.join, run.left, run.right)
        times = {name: spans[name].to_numpy(dtype=np.int64).astype("datetime64[us]") for name in ("start", "end")}
        if isinstance(run.join.window, Session):
            words = np.concatenate([key_words(run.side(side)) for side in SIDES])
            times["key"] = words[spans["first"]]
            return pd.DataFrame({"row_id": None, **times})
        return pd.DataFrame({"row_id": None, "key": None, **times})


def _show_without_network() -> None:
    """Where nobody chose how charts are shown: as widgets, which need no network, unlike Altair's own default."""
    import altair as alt

    if alt.renderers.active == "default":
        alt.renderers.enable("jupyter", offline=True)


def _utc(moments: pd.Series) -> pd.Series:
    return _arrow.in_zone(moments, None) if moments.dt.tz is None else moments.dt.tz_convert("UTC").dt.tz_localize(None)


def _kind(run: Run) -> str:
    if isinstance(run.join, IntervalJoin):
        return "Interval join"
    words = {"Tumbling": "Tumbling window", "Sliding": "Sliding window", "Session": "Session window"}
    window = words[type(run.join.window).__name__]
    return f"coGroup, {window.lower()}s" if isinstance(run.join, CoGroup) else f"{window} join"
