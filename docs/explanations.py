"""What the explorable pages show: for every position of their controls, what the workbench says of some rows.

Each position is a preview of its own; nothing is interpolated.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

import workbench as wb

START = pd.Timestamp("2026-01-01 10:00")
"""The time from which the seconds of all rows are counted."""
SIDES = ("left", "right")
FATES = ("matched", "unmatched", "late", "pending")
SHAPES = (
    "M-5,0A5,5 0 1,1 5,0A5,5 0 1,1 -5,0Z",
    "M0,-6.5L6.5,0L0,6.5L-6.5,0Z",
    "M-5.5,-3.5L-3.5,-5.5L0,-2L3.5,-5.5L5.5,-3.5L2,0L5.5,3.5L3.5,5.5L0,2L-3.5,5.5L-5.5,3.5L-2,0Z",
    "M0,-6L6,5L-6,5Z",
)
"""Of each fate, as an SVG path."""
View = Literal["arrival", "lanes", "lifetimes"]
Value = float | str
Row = tuple[str, float, int]
"""A row's key, event time in seconds from `START` on, and micro-batch."""


class DrawnRow(NamedTuple):
    """A row as the page's script reads it.

    Attributes
    ----------
    side, key, time, batch
        Its side (0, 1), key, event time and micro-batch.
    fate
        Its place in `FATES`.
    leaves
        The micro-batch in which it is evicted: `batch` if it is never in state.
    out
        The micro-batch in which it first comes out; -1: in none.
    reason
        The workbench's.
    """

    side: int
    key: str
    time: float
    batch: int
    fate: int
    leaves: float
    out: int
    reason: str


@dataclass(frozen=True)
class Drawn:
    """Rows, the pairs among them, as places of rows, and how many rows are in state after each micro-batch."""

    rows: tuple[DrawnRow, ...]
    pairs: tuple[tuple[int, int], ...]
    state: tuple[int, ...]

    def row(self, side: int, key: str) -> DrawnRow:
        """The first row of a key on a side."""
        return next(each for each in self.rows if each.side == side and each.key == key)

    def count(self, fate: str, side: int | None = None) -> int:
        """How many rows fare so, of a side or of both."""
        rows = self.rows if side is None else [each for each in self.rows if each.side == side]
        return sum(FATES[each.fate] == fate for each in rows)

    @property
    def late(self) -> str:
        """How many rows are late, in words."""
        return f"{self.count('late')} of {len(self.rows)} rows"

    @property
    def paid(self) -> str:
        """How many orders have a payment, in words."""
        return f"{self.count('matched', 0)} of {len(ORDERS)} orders"


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

    def code(self, value: Value) -> str:
        """A value as Spark reads it."""
        return self.shown(value).replace(" s", " seconds")


@dataclass(frozen=True)
class Handle:
    """A grip in the chart: the control's value is its distance from an origin.

    Attributes
    ----------
    control
        The control's name.
    origin
        The event time at which its value is 0, in seconds.
    sign
        1 if greater values are later, -1 if earlier.
    at
        What it is drawn beside: of `lanes` a lane (0, 1), of `arrival` a place among the micro-batches or the first
        row of a key.
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
        The rows.
    figures
        By the names in the page's text.
    lines
        Watermarks by micro-batch, by what they are called; None where there is none yet.
    spans
        Stretches of event time behind a lane, or behind both (0.5): begin, end, lane.
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
    ("a", 2, 0), ("b", 9, 0), ("c", 6, 1), ("g", 11, 1), ("d", 18, 1), ("e", 24, 2), ("f", 15, 3), ("j", 33, 3),
    ("h", 41, 4), ("i", 12, 4),
)  # fmt: skip
"""Order g is never paid, order i arrives long after it was placed."""
PAYMENTS: tuple[Row, ...] = (
    ("a", 5, 0), ("b", 14, 1), ("c", 12, 1), ("e", 20, 2), ("d", 30, 3), ("f", 19, 3), ("i", 17, 3),
    ("h", 46, 4), ("j", 36, 4),
)  # fmt: skip
"""The payment of e has an earlier time than its order, that of d is 12 s after it."""
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


def drawn(result: Any) -> Drawn:
    """A result's rows, pairs and state."""
    table, emitted = result.rows, result.outcome.outputs.emitted()
    cut = int((table["side"] == "left").sum())
    leaves = {side: result.outcome.assignments[side].groupby("row")["evicted_in"].max() for side in SIDES}
    came = {side: emitted[emitted[side] >= 0].groupby(side)["batch"].min() for side in SIDES}
    rows = []
    for place, each in enumerate(table.itertuples()):
        number = place if each.side == "left" else place - cut
        rows.append(
            DrawnRow(
                SIDES.index(each.side),
                each.key,
                _since(each.at),
                int(each.batch),
                FATES.index(each.fate),
                int(leaves[each.side].get(number, each.batch)),
                int(came[each.side].get(number, -1)),
                each.reason,
            )
        )
    both = emitted[(emitted["left"] >= 0) & (emitted["right"] >= 0)]
    pairs = {(int(one), int(other) + cut) for one, other in zip(both["left"], both["right"], strict=True)}
    state = result.batches.get("state_rows", ())  # of Flink's rules there is none by micro-batch
    return Drawn(tuple(rows), tuple(sorted(pairs)), tuple(int(each) for each in state))


def _since(time: Any) -> float:
    return round((time - START).total_seconds(), 3)


def marks(result: wb.Preview, column: str) -> list[float | None]:
    """A watermark by micro-batch, of those that have rows: None where there is none yet."""
    table = result.batches[result.batches["kind"] == "data"]
    return [None if each.year < START.year else _since(each) for each in table[column]]


def own(result: wb.Preview, side: str) -> list[float | None]:
    """A side's own watermark, by which the query's is made, in each micro-batch that has rows."""
    count = int((result.batches["kind"] == "data").sum())
    found = pd.to_datetime(np.asarray(result.outcome.marks.own[side][:count]), unit="us")
    return [None if each.year < START.year else _since(each) for each in found]


def clock(time: float) -> str:
    """A time of day, as the text has it."""
    return f"{START + pd.Timedelta(time, 's'):%H:%M:%S}"


def moved(rows: Sequence[Row], key: str, time: float) -> tuple[Row, ...]:
    """The rows, one of them at another time."""
    return tuple((name, time if name == key else at, batch) for name, at, batch in rows)


def newest(rows: Sequence[Row], until: int) -> float:
    """The newest event time of the rows up to a micro-batch."""
    return max(time for _, time, batch in rows if batch <= until)


def times(number: int, noun: str, ending: str = "s") -> str:
    """A number of things, in words."""
    return f"{number} {noun}{'' if number == 1 else ending}"


def event_time(behind: float) -> Shown:
    """An order arrives after one that happened later."""
    shown = drawn(joined(PAID, (40, 40), rows=(moved(ORDERS, "f", newest(ORDERS, 2) - behind), PAYMENTS)))
    return Shown(shown, {"time": clock(24 - behind)}, (Handle("behind", 24, -1, "f"),))


def watermark(orders: float, payments: float) -> Shown:
    """Two delays make two watermarks, and the slower of them is the query's."""
    result = joined(PAID, (orders, payments))
    shown, mine, theirs = drawn(result), own(result, "left"), own(result, "right")
    last = {"orders": mine[-1] or 0, "payments": theirs[-1] or 0}
    figures = {
        "watermark": clock(min(last.values())),
        "holder": "both streams alike" if mine[-1] == theirs[-1] else min(last, key=last.__getitem__),
        "late": shown.late,
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
        "fate": FATES[shown.row(0, "f").fate],
        "judged": clock(judged[3] or 0),
        "evicts": clock(evicts[3] or 0),
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
    edges = result.output[["window_start", "window_end"]].drop_duplicates()
    both = result.output[(result.output["left"].str.len() > 0) & (result.output["right"].str.len() > 0)]
    found = sorted((_since(one), _since(two)) for one, two in edges.itertuples(index=False))
    figures = {
        "windows": times(len(found), "session" if kind == "session" else "window"),
        "groups": times(len(result.output), "group"),
        "both": len(both),
        "reach": {
            "tumbling": f"each row is in one window of {size:g} s",
            "sliding": f"each row is in two windows of {size:g} s; a window begins every {size / 2:g} s",
            "session": f"a session ends when no row of its key has come for more than {size:g} s",
        }[kind],
    }
    return Shown(drawn(result), figures, spans=[(one, two, 0.5) for one, two in found])


def interval(lower: float, upper: float) -> Shown:
    """An order meets the payments between its two bounds."""
    shown = drawn(joined(wb.IntervalJoin(f"{lower:g} s", f"{upper:g} s", how="left"), (15, 15)))
    at = {key: time for key, time, _ in ORDERS}["d"]
    figures = {
        "paid": shown.paid,
        "begin": clock(at + lower),
        "end": clock(at + upper),
        "peak": times(max(shown.state), "row"),
    }
    handles = (Handle("lower", at, 1, 1), Handle("upper", at, 1, 1))
    return Shown(shown, figures, handles, spans=[(at + lower, at + upper, 1)])


def outer(upper: float, delay: float) -> Shown:
    """An order without payment comes out when no payment can come for it any more."""
    shown = drawn(joined(wb.IntervalJoin("0 s", f"{upper:g} s", how="left"), (delay, delay)))
    alone = shown.row(0, "g")
    figures = {"alone": f"{shown.count('unmatched', 0)} of {len(ORDERS)} orders", "out": alone.out}
    return Shown(shown, figures)


def state(upper: float, delay: float) -> Shown:
    """Rows leave the state when the watermark says that nothing can come for them."""
    shown = drawn(joined(wb.IntervalJoin("0 s", f"{upper:g} s", how="left"), (delay, delay)))
    figures = {"peak": times(max(shown.state), "row"), "left": times(shown.state[4], "row"), "late": shown.late}
    return Shown(shown, figures)


def policy(choice: str, silent: float) -> Shown:
    """One stream falls silent: under ``min`` the watermark stands, under ``max`` it goes on without it."""
    payments = tuple(each for each in PAYMENTS if each[2] <= silent)
    result = joined(PAID, rows=(ORDERS, payments), policy=choice, finish=False)
    shown, found = drawn(result), marks(result, "watermark")
    lines = {"watermark": found, "orders": own(result, "left"), "payments": own(result, "right")}
    figures = {"watermark": clock(found[4] or 0), "late": shown.late, "held": times(shown.state[4], "row")}
    return Shown(shown, figures, lines=lines)


def restart(before: float, checkpoint: str) -> Shown:
    """A query goes on from its checkpoint; with a new one it has forgotten what it held."""
    whole = shown = drawn(joined(PAID, finish=False))
    if checkpoint == "a new checkpoint":
        shown = _started_anew(int(before))
    figures = {
        "paid": shown.paid,
        "lost": times(whole.count("matched", 0) - shown.count("matched", 0), "pair"),
        "held": times(whole.state[int(before) - 1], "row"),
    }
    return Shown(shown, figures, breaks=int(before))


def _started_anew(before: int) -> Drawn:
    """What two queries give, of which the second begins with this micro-batch, and with nothing else."""
    halves = []
    for is_first in (True, False):
        rows = [tuple(each for each in side if (each[2] < before) == is_first) for side in (ORDERS, PAYMENTS)]
        halves.append(drawn(joined(PAID, rows=rows, finish=False)))
    first, second = halves
    forgotten = [
        each._replace(
            leaves=min(each.leaves, before - 0.5),  # as the query ends
            reason=_FORGOTTEN if FATES[each.fate] == "pending" else each.reason,
        )
        for each in first.rows
    ]
    pairs = [(one + len(forgotten), other + len(forgotten)) for one, other in second.pairs]
    state = (*first.state[:before], *second.state[before:])
    return Drawn((*forgotten, *second.rows), (*first.pairs, *pairs), state)


_FORGOTTEN = "forgotten: it was in state as the query ended, and the new checkpoint does not have it"


def engines(engine: str, delay: float) -> Shown:
    """The same rows in Spark and in Flink."""
    sides = stream("orders", moved(ORDERS, "f", 11), delay), stream("payments", PAYMENTS, delay)
    join = wb.IntervalJoin("0 s", "10 s")
    spark, flink = wb.preview(join, *sides), wb.flink.preview(join, *sides)
    results = {"Spark": drawn(spark), "Flink": drawn(flink)}
    pairs = zip(results["Spark"].rows, results["Flink"].rows, strict=True)
    differ = [place for place, (one, other) in enumerate(pairs) if one.fate != other.fate]
    shown = results[engine]
    line = marks(spark, "late_watermark" if engine == "Spark" else "watermark")
    figures = {"late": shown.late, "paid": shown.paid, "differ": times(len(differ), "row")}
    return Shown(shown, figures, lines={"late_watermark": line}, marked=differ)


def unbounded(upper: Value) -> Shown:
    """Without an upper bound no order is ever evicted."""
    bound = None if upper == "none" else f"{upper:g} s"
    shown = drawn(joined(wb.IntervalJoin("0 s", bound), finish=False))
    return Shown(shown, {"paid": shown.paid, "held": f"{shown.state[4]} of {len(shown.rows)} rows"})


DELAY = Control("delay", "watermark delay of both streams", seconds(0, 30, 5), 10)
UPPER = Control("upper", "upper bound", seconds(0, 20, 2), 10)
EXPLANATIONS: dict[str, Explanation] = {
    "event-time": Explanation(
        "arrival", (Control("behind", "order f is behind the newest order by", seconds(0, 24), 9),), event_time
    ),
    "watermark": Explanation(
        "arrival",
        (
            Control("orders", "watermark delay of orders", seconds(0, 24, 3), 9),
            Control("payments", "watermark delay of payments", seconds(0, 24, 3), 3),
        ),
        watermark,
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
            Control("before", "started again before micro-batch", seconds(1, 4), 4, ""),
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
        "lifetimes", (Control("upper", "upper bound", ("none", *seconds(25, 0, -5)), "none"),), unbounded
    ),
}


def data(explanation: Explanation) -> dict[str, Any]:
    """A page's data for its script: what is in force at each position, and each reason once."""
    reasons: dict[str, int] = {}
    positions = []
    for values in explanation.positions():
        shown = explanation.at(*values)
        positions.append(
            {
                "rows": [[*each[:-1], reasons.setdefault(each.reason, len(reasons))] for each in shown.rows.rows],
                "pairs": shown.rows.pairs,
                "state": shown.rows.state,
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
        "fates": FATES,
        "shapes": SHAPES,
        "controls": [
            {
                "name": each.name,
                "values": each.values,
                "shown": [each.shown(value) for value in each.values],
                "code": [each.code(value) for value in each.values],
            }
            for each in explanation.controls
        ],
        "reasons": list(reasons),
        "positions": positions,
    }
