"""`Run.charts`: the tables of a run, made ready for the charts."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from workbench import _arrow, _tables, charts, model
from workbench._words import key_words
from workbench.errors import wrong
from workbench.joins import CoGroup, IntervalJoin
from workbench.model import DATA, Micros, Outcome
from workbench.streams import SIDES
from workbench.times import exact, short
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
        return charts.timeline(self._rows(), self._pairs(), self._spans(), self._names, f"{_kind(run)} on event time")

    def arrival(self) -> alt.LayerChart:
        """Event time against arrival, with the watermark as a staircase; late rows lie below it."""
        run = self._run
        data = run.batches[run.batches["kind"] == "data"].copy()
        data["late_watermark"] = _utc(data["late_watermark"])
        return charts.arrival(self._rows(), data, self._names, "Arrival and watermark")

    def late(self) -> alt.VConcatChart:
        """How late rows were, by side, over their arrival, and the share of rows that each watermark delay keeps."""
        run, names = self._run, self._names
        rows = self._rows()
        parts, kept, needs = [], [], []
        for side, name in zip(SIDES, names, strict=True):
            copies = run.outcome.copies[side]
            mine = copies[copies["late"]].drop_duplicates("row", keep="last")
            behind = (mine["watermark"] - mine["end"]).to_numpy() / 1e6
            told = rows[rows["side"] == side].iloc[mine["row"]][["arrived", "key", "batch"]]
            parts.append(told.assign(stream=name, behind=behind))
            need = np.sort(_common_delay(run.outcome, run.policy, side)) / 1e6
            needs.append(need)
            share = np.arange(1, len(need) + 1) / max(1, len(need))
            curve = pd.DataFrame({"stream": name, "delay": need, "share": share})
            kept.append(curve.drop_duplicates("delay", keep="last"))
        every = np.sort(np.concatenate(needs))
        marks = [(f"{name} now, {short(each)}", each.total_seconds()) for name, each in self._delays()]
        for part in (0.99, 1.0) if len(every) else ():
            least = float(every[int(np.ceil(part * len(every))) - 1])
            marks.append((f"{part:.0%} kept with {short(timedelta(seconds=least))}", least))
        marked = pd.DataFrame(marks, columns=["label", "delay"])
        marked["place"] = 0.1 + 0.12 * marked.index
        return charts.late(pd.concat(parts), pd.concat(kept), marked, names)

    def _delays(self) -> list[tuple[str, timedelta]]:
        run = self._run
        if run.left.watermark == run.right.watermark:
            return [("delay", run.left.watermark)]
        return [(f"delay of {stream.name}", stream.watermark) for stream in (run.left, run.right)]

    def watermarks(self) -> alt.LayerChart:
        """Each side's own watermark and the query's, over micro-batches, and who holds it back."""
        marks, names = self._run.outcome.marks, self._names
        count = sum(kind == DATA for kind in marks.kinds)
        batch = np.arange(count)
        own = [
            pd.DataFrame(
                {"batch": batch, "stream": name, "watermark": marks.own[side][:count].astype("datetime64[us]")}
            )
            for side, name in zip(SIDES, names, strict=True)
        ]
        behind = marks.own["left"] <= marks.own["right"]
        holder = np.where(behind == (self._run.policy == "min"), *names)[:count]
        held = pd.DataFrame(
            {"batch": batch, "watermark": marks.eviction[:count].astype("datetime64[us]"), "holder": holder}
        )
        return charts.watermarks(pd.concat(own, ignore_index=True), held, names)

    def windows(self) -> alt.LayerChart:
        """Which event is in which windows, with each window's opening, closing and content.

        Raises
        ------
        ArgumentError
            For an interval join, which has no windows.
        """
        run = self._run
        if isinstance(run.join, IntervalJoin):
            raise wrong("join", run.join, "an interval join has no windows; use charts.timeline()")
        outcome = run.outcome
        every = pd.concat([outcome.copies[side].assign(side=side) for side in SIDES], ignore_index=True)
        every = every[(every["key"] >= 0) & ~every["late"]]
        if isinstance(run.join.window, Session):
            groups = outcome.groups.rename(columns={"batch": "closed"})
            every = every.assign(window=every["group"])
            every = every.drop(columns=["start", "end"]).join(groups[["start", "end", "closed"]], on="group")
            words = {side: key_words(run.side(side)) for side in SIDES}
            every["name"] = [words[side][row] for side, row in zip(every["side"], every["row"], strict=True)]
        else:
            every["window"] = every.groupby("start").ngroup()
            every["closed"] = np.searchsorted(outcome.marks.eviction, every["end"])
            every["name"] = None
        spans = every.groupby("window").agg(
            start=("start", "first"),
            end=("end", "first"),
            left=("side", lambda side: (side == "left").sum()),
            right=("side", lambda side: (side == "right").sum()),
            opened=("batch", "min"),
            closed=("closed", "first"),
            key=("name", "first"),
        )
        spans["closed"] = spans["closed"].where(spans["closed"] < len(outcome.marks))
        for name in ("start", "end"):
            spans[name] = spans[name].to_numpy(dtype=np.int64).astype("datetime64[us]")
        ids = every["side"] + "-" + every["row"].astype(str)
        rows = self._rows().set_index("row_id").loc[ids].reset_index().assign(window=every["window"].to_numpy())
        return charts.windows(spans.reset_index(), rows, self._names, f"{_kind(run)}: what each window held")

    def misses(self) -> alt.LayerChart:
        """Near misses: time differences between rows without partner and the nearest of their key, with the bounds."""
        run, names = self._run, self._names
        parts = []
        for number, (side, name) in enumerate(zip(SIDES, names, strict=True)):
            lost = np.flatnonzero((run.story.told[side]["fate"] == "unmatched").to_numpy())
            other = 1 - number
            keys = run.outcome.keys[number], run.outcome.keys[other]
            moments = run.side(side).event_times, run.side(SIDES[other]).event_times
            away = _nearest_distance(keys, moments, lost)
            parts.append(pd.DataFrame({"stream": name, "seconds": away * (1 if side == "left" else -1) / 1e6}))
        join = run.join
        if isinstance(join, IntervalJoin):
            bounds = [("lower bound", exact(join.lower)), ("upper bound", exact(join.upper))]
        else:
            word, span = ("gap", join.window.gap) if isinstance(join.window, Session) else ("size", join.window.size)
            bounds = [(f"- {word}", -exact(span)), (word, exact(span))]
        drawn = pd.DataFrame([(label, each.total_seconds()) for label, each in bounds], columns=["label", "seconds"])
        return charts.misses(pd.concat(parts, ignore_index=True), drawn, names, f"{_kind(run)}: near misses")

    def state(self) -> alt.VConcatChart:
        """Rows in state by side, and bytes, over micro-batches, with what was added and evicted."""
        outcome, names = self._run.outcome, self._names
        count = len(outcome.marks)
        batch, in_state = np.arange(count), outcome.state_rows()
        held, moved = [], []
        for side, name in zip(SIDES, names, strict=True):
            held.append(pd.DataFrame({"batch": batch, "stream": name, "rows": in_state[side]}))
            mine = outcome.copies[side][outcome.copies[side]["held"]]
            for what, column, sign in (("added", "batch", 1), ("evicted", "leaves", -1)):
                rows = sign * np.bincount(mine[column], minlength=count + 1)[:count]
                moved.append(pd.DataFrame({"batch": batch, "stream": name, "rows": rows, "what": what}))
        size = self._run.batches[["batch", "state_bytes"]].rename(columns={"state_bytes": "bytes"})
        return charts.state(pd.concat(held), pd.concat(moved), size, names)

    @property
    def _names(self) -> tuple[str, str]:
        return self._run.left.name, self._run.right.name

    def of_key(self, side: str, row: int) -> alt.LayerChart:
        """The timeline of all rows of one row's key."""
        rows = self._rows()
        key = rows.loc[rows["row_id"] == f"{side}-{row}", "key"].iloc[0]
        shown = rows[rows["key"] == key]
        pairs, spans = self._pairs(), self._spans()
        pairs = pairs[pairs["left"].isin(shown["row_id"]) & pairs["right"].isin(shown["row_id"])]
        spans = spans[(spans["key"].isna() | (spans["key"] == key)) & (spans["start"] <= shown["time"].max())]
        spans = spans[spans["end"] >= shown["time"].min()]
        return charts.timeline(shown, pairs, spans, self._names, f"Key {key}").properties(height=180)

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
        if isinstance(run.join.window, Session):
            spans, words = _session_spans(run)
        else:
            spans, words = model.windows(run.join.window, run.left, run.right), None
        times = {name: spans[name].to_numpy(dtype=np.int64).astype("datetime64[us]") for name in ("start", "end")}
        return pd.DataFrame({"row_id": None, "key": words, **times})


def _session_spans(run: Run) -> tuple[pd.DataFrame, Micros]:
    """The sessions as they came about, and the key of each in words."""
    groups = run.outcome.groups
    words = np.full(len(groups), None, dtype=object)
    for side in SIDES:
        members = run.outcome.copies[side]
        members = members[members["group"] >= 0]
        words[members["group"]] = key_words(run.side(side))[members["row"]]
    known = (groups["key"] >= 0).to_numpy()
    return groups[known], words[known]


def _common_delay(outcome: Outcome, policy: str, side: str) -> Micros:
    """Per row the least delay, the same on both sides, that keeps it for one of its windows, in microseconds."""
    copies = outcome.copies[side].drop_duplicates("row", keep="last")
    copies = copies[~copies["filtered"]]
    index = copies["batch"].to_numpy() - 1
    newest = [np.maximum(outcome.marks.newest[each], 0) for each in SIDES]
    mark = np.minimum(*newest) if policy == "min" else np.maximum(*newest)
    end = copies["end"].to_numpy()
    needed = np.where(index >= 0, mark[np.maximum(index, 0)], 0) - (end - 1) // 1000 * 1000
    return np.maximum(needed, 0)[end > 0]


def _nearest_distance(keys: tuple[Micros, Micros], moments: tuple[Micros, Micros], rows: Micros) -> Micros:
    """Signed time from each of the rows to the nearest of its key on the other side; rows without one are left out."""
    left = pd.DataFrame({"key": keys[0][rows], "time": moments[0][rows]}).sort_values("time", kind="stable")
    right = pd.DataFrame({"key": keys[1], "time": moments[1], "other": moments[1]}).sort_values("time", kind="stable")
    near = pd.merge_asof(left[left["key"] >= 0], right[right["key"] >= 0], on="time", by="key", direction="nearest")
    near = near.dropna(subset="other")
    away: Micros = (near["other"] - near["time"]).to_numpy(dtype=np.int64)
    return away


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
