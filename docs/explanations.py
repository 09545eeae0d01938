"""What the explorable pages show: for every position of their controls, what the workbench says of some rows.

Nothing is interpolated: a page's controls have these positions only, and each is a preview of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

import workbench as wb

START = pd.Timestamp("2026-01-01 10:00")
"""The time from which the seconds of all rows are counted."""
SIDES = ("left", "right")
FATES = ("matched", "unmatched", "late", "pending", "null_key")
View = Literal["arrival", "lanes", "lifetimes"]
Value = float | str
Row = tuple[str, float, int]
"""A row's key, event time in seconds from `START` on, and micro-batch."""
Drawn = dict[str, Any]
"""A position as the page's script reads it; see `drawn`."""


@dataclass(frozen=True)
class Control:
    """What a reader moves.

    Attributes
    ----------
    name
        Its name in the texts of a page.
    label
        What it sets, in words.
    values
        The positions that it has, in order: seconds, or words.
    start
        The value at which the page begins.
    unit
        What stands after a value that is a number.
    """

    name: str
    label: str
    values: tuple[Value, ...]
    start: Value
    unit: str = " s"

    def shown(self, value: Value) -> str:
        """A value in words."""
        return value if isinstance(value, str) else f"{value:g}{self.unit}"


@dataclass(frozen=True)
class Handle:
    """Where in the chart a control is dragged: its value is so far from an origin.

    Attributes
    ----------
    control
        The control's name.
    origin
        The event time at which its value is 0, in seconds.
    sign
        1 if greater values are later, -1 if earlier.
    at
        Beside what it is drawn: a lane (0, 1), a place among the micro-batches, or the first row of a key.
    """

    control: str
    origin: float
    sign: int
    at: float | str


@dataclass(frozen=True)
class Shown:
    """A position: rows and what became of them, what is marked, and the figures of the page's text.

    Attributes
    ----------
    rows
        As `drawn` gives them.
    figures
        By the names in the page's text.
    lines
        Watermarks by micro-batch, by what they are called; None where there is none yet.
    spans
        Stretches of event time behind a lane: begin, end, lane.
    marked
        Places of rows that stand out.
    breaks
        The micro-batch before which the query is started again.
    """

    rows: Drawn
    figures: Mapping[str, object]
    handles: Sequence[Handle] = ()
    lines: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    spans: Sequence[tuple[float, float, float]] = ()
    marked: Sequence[int] = ()
    breaks: int | None = None


@dataclass(frozen=True)
class Explanation:
    """A page's chart.

    Attributes
    ----------
    view
        How rows are drawn: by micro-batch and event time, in a lane for each side, or as long as they are in state.
    controls
        What the reader moves.
    at
        Gives a position, for the values of all controls.
    sides
        What the two streams are called.
    """

    view: View
    controls: tuple[Control, ...]
    at: Callable[..., Shown]
    sides: tuple[str, str] = ("orders", "payments")

    def start(self) -> tuple[Value, ...]:
        """The position at which the page begins."""
        return tuple(each.start for each in self.controls)

    def positions(self) -> list[tuple[Value, ...]]:
        """All of them, in the order in which they are kept: the last control moves first."""
        return list(itertools.product(*(each.values for each in self.controls)))


ORDERS: tuple[Row, ...] = (
    ("a", 2, 0), ("b", 9, 0), ("c", 6, 1), ("d", 18, 1), ("e", 24, 2), ("f", 15, 3), ("g", 33, 3), ("h", 41, 4),
)  # fmt: skip
PAYMENTS: tuple[Row, ...] = (
    ("a", 5, 0), ("b", 14, 1), ("c", 12, 1), ("d", 21, 2), ("e", 38, 3), ("f", 19, 3), ("h", 46, 4),
)  # fmt: skip
PAID = wb.IntervalJoin("0 s", "10 s", how="left")
VIEWS: tuple[Row, ...] = (
    ("u", 2, 0), ("u", 8, 0), ("v", 11, 1), ("u", 14, 1), ("v", 19, 2), ("u", 31, 3), ("v", 34, 3), ("u", 39, 4),
)  # fmt: skip
CLICKS: tuple[Row, ...] = (("u", 4, 0), ("v", 13, 1), ("u", 12, 1), ("v", 22, 2), ("u", 33, 3), ("v", 45, 4))


def seconds(first: int, last: int, step: int = 1) -> tuple[int, ...]:
    """The whole numbers from the first to the last."""
    return tuple(range(first, last + (1 if step > 0 else -1), step))


def stream(name: str, rows: Sequence[Row], delay: float) -> wb.Stream:
    """A stream of rows with ``key``, ``at`` and ``batch``."""
    frame = pd.DataFrame(list(rows), columns=["key", "at", "batch"])
    frame["at"] = START + pd.to_timedelta(frame["at"], unit="s")
    return wb.Stream.from_pandas(frame, name, key="key", time="at", watermark=f"{delay} s", batch="batch")


def joined(join: wb.Join, delays: tuple[float, float] = (10, 10), **more: Any) -> wb.Preview:
    """A preview of the join of orders and payments."""
    rows = more.pop("rows", (ORDERS, PAYMENTS))
    return wb.preview(join, stream("orders", rows[0], delays[0]), stream("payments", rows[1], delays[1]), **more)


def drawn(result: Any, first: int = 0) -> Drawn:
    """A result's rows, pairs and state.

    ``rows``: side, key, event time, micro-batch, fate (its place in `FATES`), the micro-batch after which it is no
    longer in state, that in which it first comes out (-1: in none), the reason. ``pairs``: places of rows. ``state``:
    rows in state after each micro-batch. Micro-batches are counted on from `first`.
    """
    table, rows = result.rows, []
    leaves = {side: result.outcome.assignments[side].groupby("row")["evicted_in"].max() for side in SIDES}
    came = _came_out(result)
    for place, (_, each) in enumerate(table.iterrows()):
        number = place if each["side"] == "left" else place - int((table["side"] == "left").sum())
        rows.append(
            [
                SIDES.index(each["side"]),
                each["key"],
                _since(each["at"]),
                int(each["batch"]) + first,
                FATES.index(each["fate"]),
                int(leaves[each["side"]].get(number, each["batch"])) + first,
                came.get(place, -1 - first) + first,
                each["reason"],
            ]
        )
    state = [int(each) for each in result.batches.get("state_rows", [])]
    return {"rows": rows, "pairs": _pairs(result), "state": state}


def _pairs(result: Any) -> list[tuple[int, int]]:
    """The pairs that come out, as places among all rows, each once."""
    cut = int((result.rows["side"] == "left").sum())
    emitted = result.outcome.outputs.emitted()
    both = emitted[(emitted["left"] >= 0) & (emitted["right"] >= 0)]
    return sorted({(int(one), int(other) + cut) for one, other in zip(both["left"], both["right"], strict=True)})


def _came_out(result: Any) -> dict[int, int]:
    """In which micro-batch each row first comes out."""
    cut = int((result.rows["side"] == "left").sum())
    emitted = result.outcome.outputs.emitted()
    found: dict[int, int] = {}
    for side, shift in zip(SIDES, (0, cut), strict=True):
        some = emitted[emitted[side] >= 0]
        for row, batch in zip(some[side], some["batch"], strict=True):
            place = int(row) + shift
            found[place] = min(found.get(place, int(batch)), int(batch))
    return found


def _since(time: Any) -> float:
    return round((time - START).total_seconds(), 3)


def marks(result: wb.Preview, column: str) -> list[float | None]:
    """A watermark by micro-batch, of those that have rows: None where there is none yet."""
    table = result.batches[result.batches["kind"] == "data"]
    return [None if each.year < 2000 else _since(each) for each in table[column]]


def own(result: wb.Preview, side: str) -> list[float | None]:
    """A side's own watermark, by which the query's is made, in each micro-batch that has rows."""
    count = int((result.batches["kind"] == "data").sum())
    found = np.asarray(result.outcome.marks.own[side][:count])
    return [None if each < 10**15 else _since(pd.Timestamp(int(each), unit="us")) for each in found]


def clock(time: float | None) -> str:
    """A time of day, as the text has it."""
    return "none yet" if time is None else f"{START + pd.Timedelta(time, 's'):%H:%M:%S}"


def moved(rows: Sequence[Row], key: str, time: float) -> tuple[Row, ...]:
    """The rows, one of them at another time."""
    return tuple((name, time if name == key else at, batch) for name, at, batch in rows)


def newest(rows: Sequence[Row], until: int) -> float:
    """The newest event time of the rows up to a micro-batch."""
    return max(time for _, time, batch in rows if batch <= until)


def row_of(shown: Drawn, side: int, key: str) -> list[Any]:
    """A row by its side and key."""
    return next(each for each in shown["rows"] if each[0] == side and each[1] == key)


def count(shown: Drawn, fate: str, side: int | None = None) -> int:
    """How many rows fare so, of a side or of both."""
    return sum(each[4] == FATES.index(fate) and side in (None, each[0]) for each in shown["rows"])


def times(number: int, noun: str, ending: str = "s") -> str:
    """A number of things, in words."""
    return f"{number} {noun}{'' if number == 1 else ending}"


def event_time(behind: float) -> Shown:
    """An order arrives after one that happened later."""
    rows = moved(ORDERS, "f", newest(ORDERS, 2) - behind)
    shown = drawn(joined(PAID, (40, 40), rows=(rows, PAYMENTS)))
    figures = {"time": clock(24 - behind), "newest": clock(24), "behind": f"{behind:g} s"}
    return Shown(shown, figures, (Handle("behind", 24, -1, "f"),))


def holder(orders: float, payments: float) -> Shown:
    """Two delays make two watermarks, and the slower of them is the query's."""
    result = joined(PAID, (orders, payments))
    shown, mine, theirs = drawn(result), own(result, "left"), own(result, "right")
    last = {"orders": mine[-1], "payments": theirs[-1]}
    slower = min(last, key=lambda name: -1000 if last[name] is None else last[name])
    figures = {
        "watermark": clock(min(last.values(), key=lambda time: -1000 if time is None else time)),
        "holder": "both streams alike" if mine[-1] == theirs[-1] else slower,
        "late": f"{count(shown, 'late')} of {len(shown['rows'])} rows",
    }
    at = (Handle("orders", newest(ORDERS, 3), -1, 4.25), Handle("payments", newest(PAYMENTS, 3), -1, 4.75))
    return Shown(shown, figures, at, {"watermark": marks(result, "watermark"), "orders": mine, "payments": theirs})


def late(time: float, delay: float) -> Shown:
    """Spark asks two watermarks: of the micro-batch before whether a row is late, of its own what leaves the state."""
    result = joined(PAID, (delay, delay), rows=(moved(ORDERS, "f", time), PAYMENTS))
    shown = drawn(result)
    judged, evicts = marks(result, "late_watermark"), marks(result, "watermark")
    figures = {
        "time": clock(time),
        "fate": FATES[row_of(shown, 0, "f")[4]],
        "judged": clock(judged[3]),
        "evicts": clock(evicts[3]),
    }
    lines = {"late_watermark": judged, "watermark": evicts}
    return Shown(shown, figures, (Handle("time", 0, 1, "f"),), lines)


def windows(kind: str, size: float) -> Shown:
    """Windows of each kind over the same rows."""
    window = {
        "tumbling": lambda: wb.Tumbling(f"{size:g} s"),
        "sliding": lambda: wb.Sliding(f"{size:g} s", f"{size / 2:g} s"),
        "session": lambda: wb.Session(f"{size:g} s"),
    }[kind]()
    result = wb.preview(wb.CoGroup(window), stream("views", VIEWS, 30), stream("clicks", CLICKS, 30))
    shown = drawn(result)
    edges = result.output[["window_start", "window_end"]].drop_duplicates()
    both = result.output[(result.output["left"].str.len() > 0) & (result.output["right"].str.len() > 0)]
    found = sorted((_since(one), _since(two)) for one, two in edges.itertuples(index=False))
    figures = {
        "windows": times(len(found), "window"),
        "groups": times(len(result.output), "group"),
        "both": len(both),
        "reach": {
            "tumbling": f"each row is in one window of {size:g} s",
            "sliding": f"each row is in two windows of {size:g} s, one of which begins every {size / 2:g} s",
            "session": f"a session ends where its key is silent for {size:g} s",
        }[kind],
    }
    return Shown(shown, figures, spans=[(one, two, 0.5) for one, two in found])


def interval(lower: float, upper: float) -> Shown:
    """An order meets the payments between its two bounds."""
    result = joined(wb.IntervalJoin(f"{lower:g} s", f"{upper:g} s", how="left"), (15, 15))
    shown, at = drawn(result), {key: time for key, time, _ in ORDERS}["d"]
    figures = {
        "matched": f"{count(shown, 'matched', 0)} of {len(ORDERS)} orders",
        "begin": clock(at + lower),
        "end": clock(at + upper),
        "peak": times(max(shown["state"]), "row"),
    }
    handles = (Handle("lower", at, 1, 1), Handle("upper", at, 1, 1))
    return Shown(shown, figures, handles, spans=[(at + lower, at + upper, 1)])


def outer(upper: float, delay: float) -> Shown:
    """An order without payment comes out when no payment can come for it any more."""
    result = joined(wb.IntervalJoin("0 s", f"{upper:g} s", how="left"), (delay, delay))
    shown = drawn(result)
    alone = row_of(shown, 0, "g")
    padded = [each for each in shown["rows"] if each[0] == 0 and FATES[each[4]] == "unmatched"]
    waits = [each[6] - each[3] for each in padded]
    figures = {
        "alone": f"{len(padded)} of {len(ORDERS)} orders",
        "order": alone[1],
        "came": alone[3],
        "out": alone[6],
        "waits": times(max(waits, default=0), "micro-batch", "es"),
    }
    return Shown(shown, figures)


def state(upper: float, delay: float) -> Shown:
    """Rows leave the state when the watermark says that nothing can come for them."""
    result = joined(wb.IntervalJoin("0 s", f"{upper:g} s", how="left"), (delay, delay))
    shown = drawn(result)
    held = [each[5] - each[3] for each in shown["rows"]]
    figures = {
        "peak": times(max(shown["state"]), "row"),
        "longest": times(max(held), "micro-batch", "es"),
        "late": f"{count(shown, 'late')} of {len(shown['rows'])} rows",
    }
    return Shown(shown, figures)


def policy(choice: str, silent: float) -> Shown:
    """One stream falls silent: under ``min`` the watermark stands, under ``max`` it goes on without it."""
    payments = tuple(each for each in PAYMENTS if each[2] <= silent)
    result = joined(PAID, rows=(ORDERS, payments), policy=choice, finish=False)
    shown, mine, theirs = drawn(result), own(result, "left"), own(result, "right")
    figures = {
        "watermark": clock(marks(result, "watermark")[-1]),
        "late": f"{count(shown, 'late')} of {len(shown['rows'])} rows",
        "held": times(shown["state"][-1], "row"),
    }
    return Shown(shown, figures, lines={"watermark": marks(result, "watermark"), "orders": mine, "payments": theirs})


def restart(before: float, checkpoint: str) -> Shown:
    """A query goes on from its checkpoint; with a new one it has forgotten what it held."""
    whole = drawn(joined(PAID, finish=False))
    shown = whole
    if checkpoint == "a new checkpoint":
        first, second = (
            [tuple(each for each in rows if (each[2] < before) == is_first) for rows in (ORDERS, PAYMENTS)]
            for is_first in (True, False)
        )
        later = [tuple((key, time, batch - int(before)) for key, time, batch in rows) for rows in second]
        forgotten = drawn(joined(PAID, rows=first, finish=False))
        for each in forgotten["rows"]:
            each[5] = min(each[5], before - 0.5)  # as the query ends
        forgotten["state"] = forgotten["state"][: int(before)]
        shown = _one_after_the_other(forgotten, drawn(joined(PAID, rows=later, finish=False), int(before)))
    figures = {
        "matched": f"{count(shown, 'matched', 0)} of {len(ORDERS)} orders",
        "lost": times(count(whole, "matched", 0) - count(shown, "matched", 0), "pair"),
        "held": times(whole["state"][int(before) - 1], "row"),
    }
    return Shown(shown, figures, breaks=int(before))


def _one_after_the_other(first: Drawn, second: Drawn) -> Drawn:
    """Two results as one."""
    shift = len(first["rows"])
    pairs = [(one + shift, other + shift) for one, other in second["pairs"]]
    return {
        "rows": first["rows"] + second["rows"],
        "pairs": first["pairs"] + pairs,
        "state": first["state"] + second["state"],
    }


def engines(engine: str, delay: float) -> Shown:
    """The same rows in Spark and in Flink."""
    sides = stream("orders", moved(ORDERS, "f", 11), delay), stream("payments", PAYMENTS, delay)
    join = wb.IntervalJoin("0 s", "10 s")
    spark, flink = wb.preview(join, *sides), wb.flink.preview(join, *sides)
    results = {"Spark": drawn(spark), "Flink": drawn(flink)}
    fates = [[each[4] for each in shown["rows"]] for shown in results.values()]
    shown = results[engine]
    differ = [place for place, (one, other) in enumerate(zip(*fates, strict=True)) if one != other]
    figures = {
        "late": f"{count(shown, 'late')} of {len(shown['rows'])} rows",
        "matched": f"{count(shown, 'matched', 0)} of {len(ORDERS)} orders",
        "differ": len(differ),
    }
    line = marks(spark, "late_watermark" if engine == "Spark" else "watermark")
    return Shown(shown, figures, lines={"late_watermark": line}, marked=differ)


def unbounded(upper: Value) -> Shown:
    """Without an upper bound every row is held for good."""
    bound = None if upper == "none" else f"{upper:g} s"
    result = joined(wb.IntervalJoin("0 s", bound, how="inner"), finish=False)
    shown = drawn(result)
    figures = {
        "matched": f"{count(shown, 'matched', 0)} of {len(ORDERS)} orders",
        "held": f"{shown['state'][-1]} of {len(shown['rows'])} rows",
    }
    return Shown(shown, figures)


DELAY = Control("delay", "watermark delay of both streams", seconds(0, 30, 5), 10)
UPPER = Control("upper", "upper bound", seconds(0, 20, 2), 10)
EXPLANATIONS: dict[str, Explanation] = {
    "event-time": Explanation(
        "arrival", (Control("behind", "order f happened before the newest order", seconds(0, 24), 9),), event_time
    ),
    "watermark": Explanation(
        "arrival",
        (
            Control("orders", "watermark delay of orders", seconds(0, 24, 3), 9),
            Control("payments", "watermark delay of payments", seconds(0, 24, 3), 3),
        ),
        holder,
    ),
    "late": Explanation(
        "arrival",
        (
            Control("time", "event time of order f, after 10:00:00", seconds(0, 30, 2), 14),
            Control("delay", "watermark delay of both streams", seconds(0, 16, 4), 8),
        ),
        late,
    ),
    "windows": Explanation(
        "lanes",
        (
            Control("kind", "kind of window", ("tumbling", "sliding", "session"), "tumbling"),
            Control("size", "size, or gap of a session", seconds(2, 20, 2), 10),
        ),
        windows,
        ("views", "clicks"),
    ),
    "interval": Explanation(
        "lanes",
        (
            Control("lower", "lower bound", seconds(-12, 0, 2), 0),
            Control("upper", "upper bound", seconds(0, 20, 2), 10),
        ),
        interval,
    ),
    "outer": Explanation("lifetimes", (UPPER, DELAY), outer),
    "state": Explanation("lifetimes", (UPPER, DELAY), state),
    "policy": Explanation(
        "arrival",
        (
            Control("choice", "watermark policy", ("min", "max"), "min"),
            Control("silent", "the last micro-batch with payments", seconds(0, 4), 1, ""),
        ),
        policy,
    ),
    "restart": Explanation(
        "lifetimes",
        (
            Control("before", "started again before micro-batch", seconds(1, 4), 2, ""),
            Control(
                "checkpoint", "it is started with", ("the same checkpoint", "a new checkpoint"), "the same checkpoint"
            ),
        ),
        restart,
    ),
    "engines": Explanation(
        "arrival",
        (
            Control("engine", "engine", ("Spark", "Flink"), "Spark"),
            Control("delay", "watermark delay of both streams", seconds(0, 20, 2), 6),
        ),
        engines,
    ),
    "unbounded": Explanation(
        "lifetimes", (Control("upper", "upper bound", ("none", *seconds(30, 0, -5)), "none"),), unbounded
    ),
}


def data(explanation: Explanation) -> dict[str, Any]:
    """A page's data for its script: what is in force at each position, and each reason once."""
    reasons: dict[str, int] = {}
    positions = []
    for values in explanation.positions():
        shown = explanation.at(*values)
        rows = [[*each[:-1], reasons.setdefault(each[-1], len(reasons))] for each in shown.rows["rows"]]
        positions.append(
            {
                **shown.rows,
                "rows": rows,
                "lines": dict(shown.lines),
                "spans": shown.spans,
                "marked": shown.marked,
                "breaks": shown.breaks,
                "handles": [[each.control, each.origin, each.sign, each.at] for each in shown.handles],
                "figures": {name: str(value) for name, value in shown.figures.items()},
            }
        )
    return {
        "view": explanation.view,
        "sides": explanation.sides,
        "controls": [
            {"name": each.name, "values": each.values, "shown": [each.shown(value) for value in each.values]}
            for each in explanation.controls
        ],
        "reasons": list(reasons),
        "positions": positions,
    }
