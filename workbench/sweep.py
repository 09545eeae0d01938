"""`tune`: the same recording under many settings: what each keeps, loses, delays and costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from workbench import fixes, model, times
from workbench.errors import WorkbenchError, wrong
from workbench.joins import CoGroup, IntervalJoin, Join
from workbench.model import DATA, NOTHING, Micros, Outcome, Shared
from workbench.query import POLICIES, check, run
from workbench.streams import SIDES, Stream
from workbench.windows import Session

if TYPE_CHECKING:
    from workbench._views._tuning import TuningCharts

MOST_SETTINGS = 5_000
_MOST_PAIRS = 5_000_000
_MOST_WORK = 50_000_000
"""Rows times settings that are worked through; a quarter of it in sessions and coGroups, which take longer."""
_LEAST_KEYS = 1_000
BYTES_ERROR = 0.4
"""How far predicted bytes of state may be from what Spark's in-memory state store says, as a share of that."""
_BYTES = {"join": 720, "session": 1_090, "group": 630}
"""Bytes that Spark 4.3's in-memory state store takes for a row or group beside its values: measured at the peak of runs
of five kinds of join over three scenarios, 300 and 2,000 rows a side; none was off by more than a third."""
_SHARES = (0.5, 0.9, 0.95, 0.99, 0.995, 0.999, 1.0)
"""The shares of a side's rows that ``over="auto"`` tries a delay for, beside no delay at all."""
_STEP = 100_000
"""Those delays are rounded up to tenths of a second; in microseconds."""


@dataclass(frozen=True, eq=False, repr=False)
class Tuning:
    """What many settings do to one recording. Made by `workbench.tune`.

    Attributes
    ----------
    join, left, right, policy
        What was tuned, as it is set now.
    table
        One row a setting. First the settings that were varied, as text; then:

        ``kept`` (share of the complete result that comes out: of the same join with nothing dropped as late; a coGroup
        is kept if all its rows are in it); ``kept_error`` (0, but where keys were sampled: at most so far from what all
        rows would give, at 95 % confidence); ``late_left``, ``late_right`` (rows that were late for at least one
        window); ``pairs_lost``; ``wait_median``, ``wait_99`` (event time, as the newest row tells it, from the arrival
        of a pair's second row to the pair's coming out) and the same in micro-batches, ``wait_batches_median``,
        ``wait_batches_99``; ``end_wait_median``, ``end_wait_99`` and ``end_wait_batches_median``,
        ``end_wait_batches_99`` (for rows without partner and groups, from the end of their window or interval); what
        comes out only because the input ends is not in the waits, but counted in ``at_the_end``; ``state_peak``,
        ``state_mean`` (rows in state after a micro-batch, as Spark counts them); ``bytes_peak``, ``bytes_mean``
        (about what Spark's in-memory state store says they take: within `BYTES_ERROR`); ``front`` (no other setting
        keeps at least as much, holds no more state and makes wait no longer); ``now`` (the present setting).
    sampled
        The share of the rows that were looked at: 1, or whole keys drawn at random where there are too many rows. The
        watermarks are those of all rows, and counts are scaled to all rows.
    """

    join: Join
    left: Stream
    right: Stream
    policy: str
    table: pd.DataFrame
    sampled: float = 1.0

    @property
    def charts(self) -> TuningCharts:
        """The tuning's charts: ``.front()``, ``.delays()``, ``.waits()``, ``.heat()``, ``.differences()``."""
        from workbench._views._tuning import TuningCharts

        return TuningCharts(self)

    @cached_property
    def differences(self) -> pd.DataFrame:
        """Time differences of the rows of one key: what bounds of an interval join could be chosen on.

        Columns: ``left``, ``right`` (rows), ``seconds`` (right time less left time). Of more than five million pairs,
        those of some keys, drawn at random, whole keys at a time.
        """
        return _differences(self.left, self.right)

    @cached_property
    def bounds(self) -> pd.DataFrame:
        """What bounds of an interval join would bring.

        Columns: ``share`` (of all pairs of one key); ``lower``, ``upper`` (the closest bounds with that share of the
        pairs before, and after, the left row's time); ``pairs`` (share of all pairs of one key that lie within);
        ``one_to_many`` (share of the left rows with a partner that have more than one).
        """
        return _bounds(self.differences)

    def __repr__(self) -> str:
        front = int(self.table["front"].sum())
        part = f", from the keys of {self.sampled:.1%} of the rows" if self.sampled < 1 else ""
        return f"<Tuning of {self.join}: {len(self.table):,} settings, {front:,} of them on the front{part}>"

    def confirm(self, n: int = 5) -> pd.DataFrame:
        """Run some of the settings on Spark, and put what it did beside what was predicted.

        Parameters
        ----------
        n
            How many: the present one, and the others from the front, evenly spread over what they keep.

        Returns
        -------
        pandas.DataFrame
            Columns: the settings; ``rows``, ``state_peak``, ``bytes_peak`` as predicted, and ``spark_rows``,
            ``spark_state_peak``, ``spark_bytes_peak`` as Spark had them (rows out; most rows, and bytes, in state after
            a micro-batch with data); ``agrees`` (whether every row that came out, the late rows of every micro-batch
            and every state count were as predicted).

        Raises
        ------
        ArgumentError
            If `n` is not 1 or more.
        """
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise wrong("n", n, "use a whole number of settings, 1 or more")
        return pd.DataFrame([self._confirmed(place) for place in self._spread(n)])

    def _spread(self, n: int) -> list[int]:
        """The rows of the present setting and of others on the front, evenly spread over what they keep."""
        now = int(np.flatnonzero(self.table["now"])[0])
        front = self.table[self.table["front"] & ~self.table["now"]].sort_values("kept", kind="stable").index
        if n == 1 or not len(front):
            return [now]
        return [now, *front[np.unique(np.linspace(0, len(front) - 1, n - 1).astype(int))]]

    def _confirmed(self, place: int) -> dict[str, Any]:
        setting = {name: str(self.table[name].iloc[place]) for name in self.settings}
        join, left, right, policy = fixes.apply_all(setting, self.join, self.left, self.right, self.policy)
        done = run(join, left, right, policy=policy)
        outcome, data = done.outcome, done.batches[done.batches["kind"] == "data"]
        return setting | {
            "rows": int(outcome.output_rows(join).sum()),
            "spark_rows": len(done.output),
            "state_peak": int(outcome.state_counts()[: len(data)].max()),
            "spark_state_peak": int(data["state_rows"].max()),
            "bytes_peak": int(self.table["bytes_peak"].iloc[place]),
            "spark_bytes_peak": int(data["state_bytes"].max()),
            "agrees": done.fault == "",
        }

    @property
    def settings(self) -> list[str]:
        """The names of the settings that were varied."""
        return list(self.table.columns[: self.table.columns.get_loc("kept")])

    def best(self, keep: float = 0.999) -> Best:
        """The cheapest setting that keeps a share of the complete result.

        Parameters
        ----------
        keep
            The share, from 0 to 1.

        Returns
        -------
        Best
            Prints as a sentence or two.

        Raises
        ------
        ArgumentError
            If `keep` is no share.
        WorkbenchError
            If no setting keeps as much; it says how much the best keeps.
        """
        if isinstance(keep, bool) or not isinstance(keep, int | float) or not 0 <= keep <= 1:
            raise wrong("keep", keep, "use a share from 0 to 1, such as 0.999")
        ranked = self.table.sort_values(
            ["state_peak", "end_wait_99", "wait_99", "kept"], ascending=[True] * 3 + [False]
        )
        good = ranked[ranked["kept"] >= keep]
        if good.empty:
            most = self.table["kept"].max()
            raise WorkbenchError(f"no setting keeps {keep:.2%}; the best of these keeps {most:.2%}: try longer delays")
        cheaper = ranked[(ranked["kept"] < keep) & (ranked["state_peak"] < good.iloc[0]["state_peak"])]
        return Best(
            {name: str(good.iloc[0][name]) for name in self.settings},
            good.iloc[0],
            cheaper.sort_values("kept").iloc[-1] if len(cheaper) else None,
            self._unseen(keep),
        )

    def _unseen(self, keep: float) -> str:
        """What the recording is too short to tell."""
        rows = min(len(self.left), len(self.right))
        share = min(1.0, 3 / max(rows, 1))
        if 1 - keep >= share:
            return ""
        return (
            f"the recording is too short to tell {keep:.3%} from {1 - share:.3%}: with {rows:,} rows a side, lateness "
            f"that befalls fewer than one row in {max(1, int(1 / share)):,} may not have been seen (at 95 % confidence)"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Best:
    """A recommended setting.

    Attributes
    ----------
    settings
        The settings by name, as text.
    row
        Its row of `Tuning.table`.
    cheaper
        The row of the setting that keeps most of those that cost less and keep too little; None: there is none.
    warning
        What the recording is too short to tell; empty if it is long enough.
    """

    settings: dict[str, str]
    row: pd.Series[Any]
    cheaper: pd.Series[Any] | None
    warning: str

    def __repr__(self) -> str:
        words = ", ".join(f"{name} = {value}" for name, value in self.settings.items())
        text = f"{words}: keeps {self.row['kept']:.3%} and holds at most {self.row['state_peak']:,} rows in state"
        if self.cheaper is not None:
            other = ", ".join(f"{name} = {self.cheaper[name]}" for name in self.settings)
            peak = self.cheaper["state_peak"]
            text += f"; the next cheaper, {other}, holds {peak:,} and keeps {self.cheaper['kept']:.3%}"
        return f"{text}. {self.warning[:1].upper()}{self.warning[1:]}".strip(" .") + "."


def tune(
    join: Join,
    left: Stream,
    right: Stream,
    over: Mapping[str, Iterable[Any]] | Literal["auto"] = "auto",
    policy: str = "min",
) -> Tuning:
    """What each of many settings keeps, loses, delays and costs, worked out by the model from one recorded arrival.

    Parameters
    ----------
    join, left, right, policy
        As in `workbench.run`: the present setting, which is in the table too.
    over
        The values to try of each setting, every one with every other: ``left.watermark``, ``right.watermark``,
        ``policy``, and the fields of the join: ``lower``, ``upper``, ``size``, ``slide``, ``offset``, ``gap``.
        ``"auto"``: for each side the present delay, none, and those that keep certain shares of its rows.

    Returns
    -------
    Tuning
        Its ``table`` has one row a setting.

    Raises
    ------
    ArgumentError
        If a setting or a value is wrong.

    Examples
    --------
    >>> import generators
    >>> import workbench as wb
    >>> streams = generators.generate("orders_payments", events=200, late=0.05, seed=7)
    >>> tuning = wb.tune(wb.IntervalJoin("0 s", "15 s"), *streams, over={"left.watermark": ["0 s", "30 s"]})
    >>> tuning.table[["left.watermark", "kept", "late_left", "late_right"]]
      left.watermark      kept  late_left  late_right
    0     10 seconds  0.955556          5           3
    1      0 seconds  0.927778          9           4
    2     30 seconds  1.000000          0           0
    """
    check(join, left, right, True, policy)
    shared = Shared(left, right)
    present = _present(join, left, right, policy)
    automatic = isinstance(over, str) and over == "auto"
    grid = _auto(join, left, right, policy, shared) if automatic else _checked(over, present)
    names = list(grid)
    chosen = list(dict.fromkeys([tuple(present[name] for name in names), *product(*grid.values())]))
    if len(chosen) > MOST_SETTINGS:
        raise wrong("over", f"{len(chosen):,} settings", f"use at most {MOST_SETTINGS:,}: fewer values of each")
    sample = _sample(join, left, right, shared.keys, len(chosen))
    complete: dict[Join, _Complete] = {}
    rows = []
    for values in chosen:
        setting = dict(zip(names, values, strict=True))
        changed, one, other, chosen_policy = fixes.apply_all(setting, join, left, right, policy)
        if changed not in complete:
            complete[changed] = _Complete(changed, sample)
        # the watermark follows all rows, whichever are looked at
        marks = model.watermarks(changed, one, other, shared.keys, True, chosen_policy)
        outcome = model.play(changed, marks, sample.shared)
        rows.append(setting | _figures(changed, outcome, complete[changed], sample) | {"now": values == chosen[0]})
    table = pd.DataFrame(rows)
    return Tuning(join, left, right, policy, table.assign(front=_front(table)), sample.share)


def _present(join: Join, left: Stream, right: Stream, policy: str) -> dict[str, str]:
    """All settings as they are."""
    fields: dict[str, Any] = {"left.watermark": left.watermark, "right.watermark": right.watermark}
    described: Any = join if isinstance(join, IntervalJoin) else join.window
    fields |= {
        name: getattr(described, name)
        for name in ("lower", "upper", "size", "slide", "offset", "gap")
        if hasattr(described, name)
    }
    return {name: times.text(value) if not isinstance(value, str) else value for name, value in fields.items()} | {
        "policy": policy
    }


def _checked(over: object, present: dict[str, str]) -> dict[str, list[str]]:
    if not isinstance(over, Mapping) or not over:
        raise wrong("over", over, 'use "auto", or values by setting such as {"left.watermark": ["0 s", "5 s"]}')
    grid = {}
    for name, values in over.items():
        if name not in present:
            raise wrong("over", name, f"this join has no such setting; it has {', '.join(present)}")
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise wrong(f"over[{name!r}]", values, "give a list of values")
        grid[name] = [_value(name, value) for value in values]
        if not grid[name]:
            raise wrong(f"over[{name!r}]", values, "give at least one value")
    return grid


def _value(name: str, value: Any) -> str:
    if name == "policy":
        if value not in POLICIES:
            raise wrong("over['policy']", value, "use 'min' or 'max'")
        return str(value)
    return times.text(times.parse(value, f"over[{name!r}]"))


def _auto(join: Join, left: Stream, right: Stream, policy: str, shared: Shared) -> dict[str, list[str]]:
    """For each side the present delay, and those with which certain shares of its rows are not late."""
    outcome = model.work_out(join, left, right, True, policy, shared=shared)
    grid = {}
    for side, stream in zip(SIDES, (left, right), strict=True):
        copies = outcome.copies[side].drop_duplicates("row", keep="last")
        index, end = copies["batch"].to_numpy() - 1, copies["end"].to_numpy()
        newest = np.where(index >= 0, outcome.marks.newest[side][np.maximum(index, 0)], NOTHING)
        need = np.where(newest > NOTHING, newest, end) - (end - 1) // 1000 * 1000
        values = np.quantile(np.maximum(need, 0), _SHARES, method="inverted_cdf") if len(need) else []
        steps = sorted({0, times.micros(stream.watermark), *(-(-int(each) // _STEP) * _STEP for each in values)})
        texts = [times.text(timedelta(microseconds=each)) for each in steps]
        grid[f"{side}.watermark"] = texts
    return grid


@dataclass(frozen=True)
class _Sample:
    """The rows that are looked at: all, or those of some keys.

    Attributes
    ----------
    left, right, shared
        The rows.
    share
        How large a part of all rows they are.
    keys
        How many keys they have.
    bytes_a_row
        What a row takes in state, about.
    """

    left: Stream
    right: Stream
    shared: Shared
    share: float
    keys: int
    bytes_a_row: float


def _sample(join: Join, left: Stream, right: Stream, keys: tuple[Micros, Micros], settings: int) -> _Sample:
    """Whole keys, drawn at random, where all rows under all settings would take too long."""
    both = np.concatenate(keys)
    count = 1 + int(both.max(initial=-1))
    kind = _kind(join)
    grouped = kind != "join"
    width = sum(each.table.nbytes for each in (left, right)) / max(1, len(both))
    size = _BYTES[kind] + width
    wanted = (_MOST_WORK // (4 if grouped else 1)) / max(1, len(both) * settings)
    if wanted >= 1 or count < _LEAST_KEYS:
        return _Sample(left, right, Shared(left, right), 1.0, count, size)
    taken = np.zeros(count, dtype=bool)
    taken[np.random.default_rng(0).permutation(count)[: max(_LEAST_KEYS, round(wanted * count))]] = True
    sides = []
    for stream, key in zip((left, right), keys, strict=True):
        mine = np.flatnonzero((key >= 0) & taken[key])
        sides.append(replace(stream, table=stream.table.take(mine), arrival=stream.arrival[mine]))
    share = sum(len(each) for each in sides) / len(both)
    return _Sample(sides[0], sides[1], Shared(*sides), share, int(taken.sum()), size)


def _kind(join: Join) -> str:
    """What Spark holds in state: rows, sessions, or groups."""
    if not isinstance(join, IntervalJoin) and isinstance(join.window, Session):
        return "session"
    return "group" if isinstance(join, CoGroup) else "join"


class _Complete:
    """What comes out of a join with nothing dropped as late."""

    def __init__(self, join: Join, sample: _Sample) -> None:
        self.outcome = model.complete(join, sample.left, sample.right, sample.shared)
        self.pairs = _pairs(join, self.outcome)
        self.rows = _out(join, self.outcome, self)


def _pairs(join: Join, outcome: Outcome) -> int:
    """How many pairs meet; in a coGroup each row with each of the other side."""
    if isinstance(join, CoGroup):
        groups = outcome.groups[outcome.groups["key"] >= 0]
        return int((groups["left"] * groups["right"]).sum())
    return len(outcome.pairs)


def _out(join: Join, outcome: Outcome, complete: _Complete) -> int:
    """How many rows come out that come out of the complete join, too."""
    whole = complete.outcome
    if isinstance(join, CoGroup):
        first = {side: mine[mine["group"] >= 0].drop_duplicates("group") for side, mine in outcome.copies.items()}
        kept = np.zeros(len(outcome.groups), dtype=bool)
        for side, mine in first.items():
            then = whole.groups.iloc[whole.copies[side]["group"].to_numpy()[mine.index]]
            now = outcome.groups.iloc[mine["group"]]
            kept[mine["group"]] = (now[list(SIDES)].to_numpy() == then[list(SIDES)].to_numpy()).all(axis=1)
        return int(kept.sum())
    count = 0 if join.how in ("semi", "anti") else len(outcome.pairs)
    if join.how == "semi":
        count = int(outcome.copies["left"]["matched"].sum())
    for side in model.PADDED.get(join.how, ()):
        now, then = outcome.copies[side], whole.copies[side]
        alone = ~(now["late"] | now["filtered"] | now["matched"]).to_numpy()
        count += int((alone & ~then["matched"].to_numpy()).sum())
    return count


def _figures(join: Join, outcome: Outcome, complete: _Complete, sample: _Sample) -> dict[str, Any]:
    late = {side: mine.loc[mine["late"], "row"].nunique() for side, mine in outcome.copies.items()}
    waits, ends, at_the_end = _waits(join, outcome)
    held = outcome.state_counts()[: outcome.marks.kinds.count(DATA)]
    kept = _out(join, outcome, complete) / complete.rows if complete.rows else 1.0

    def all_of(count: float) -> int:
        return round(count / sample.share)

    peak = all_of(held.max()) if len(held) else 0
    mean = float(held.mean()) / sample.share if len(held) else 0.0
    # at most: if all rows of a key shared their fate
    error = 1.96 * float(np.sqrt(kept * (1 - kept) / max(1, sample.keys))) if sample.share < 1 else 0.0
    return {
        "kept": kept,
        "kept_error": error,
        "late_left": all_of(late["left"]),
        "late_right": all_of(late["right"]),
        "pairs_lost": all_of(complete.pairs - _pairs(join, outcome)),
        **_quantiles("wait", *waits),
        **_quantiles("end_wait", *ends),
        "at_the_end": all_of(at_the_end),
        "state_peak": peak,
        "state_mean": mean,
        "bytes_peak": round(peak * sample.bytes_a_row),
        "bytes_mean": round(mean * sample.bytes_a_row),
    }


def _quantiles(name: str, spans: Micros, batches: Micros) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for word, share in (("median", 0.5), ("99", 0.99)):
        some = len(spans) > 0
        span = int(np.quantile(spans, share, method="inverted_cdf")) if some else 0
        told[f"{name}_{word}"] = pd.Timedelta(span, unit="us")
        told[f"{name}_batches_{word}"] = int(np.quantile(batches, share, method="inverted_cdf")) if some else 0
    return told


def _waits(join: Join, outcome: Outcome) -> tuple[tuple[Micros, Micros], tuple[Micros, Micros], int]:
    """Waits of pairs, waits of padded rows and groups, in event time and micro-batches; what the end brought out."""
    data = outcome.marks.kinds.count(DATA)
    clock = np.maximum(*(outcome.marks.newest[side][1 : data + 1] for side in SIDES))
    clock = np.where(clock == NOTHING, clock[clock > NOTHING].min(initial=0), clock)
    late_on = 0
    pairs = np.zeros((2, 0), dtype=np.int64)
    if not isinstance(join, CoGroup):
        came = np.maximum(*(outcome.copies[side]["batch"].to_numpy()[outcome.pairs[f"{side}_copy"]] for side in SIDES))
        out = outcome.pairs["batch"].to_numpy()
        seen = out < data
        late_on += int((~seen).sum())
        pairs = np.array([clock[out[seen]] - clock[came[seen]], out[seen] - came[seen]])
    end, out = _ends(join, outcome)
    seen = out < data
    late_on += int((~seen).sum())
    end, out = end[seen], out[seen]
    due = np.minimum(np.searchsorted(clock, end), out)
    ends = np.maximum(clock[out] - end, 0), out - due
    return (pairs[0], pairs[1]), ends, late_on


def _ends(join: Join, outcome: Outcome) -> tuple[Micros, Micros]:
    """Of each padded row or group the end of its window or interval, and the micro-batch in which it comes out."""
    if isinstance(join, CoGroup):
        return outcome.groups["end"].to_numpy(), outcome.groups["batch"].to_numpy()
    padded = outcome.padded
    end = padded["end"].to_numpy(dtype=np.int64)
    if isinstance(join, IntervalJoin):
        patience = np.where(padded["side"] == "left", times.micros(join.upper), -times.micros(join.lower))
        moments = np.zeros(len(padded), dtype=np.int64)
        for side in SIDES:
            mine = (padded["side"] == side).to_numpy()
            moments[mine] = outcome.copies[side]["end"].to_numpy()[padded.loc[mine, "row"].to_numpy(dtype=np.int64)]
        end = moments + patience
    return end, padded["batch"].to_numpy(dtype=np.int64)


def _differences(left: Stream, right: Stream) -> pd.DataFrame:
    keys = model.key_codes(left, right)
    count = 1 + max((int(each.max()) for each in keys if len(each)), default=0)
    sizes = [np.bincount(each[each >= 0], minlength=count) for each in keys]
    pairs = sizes[0] * sizes[1]
    if pairs.sum() > _MOST_PAIRS:
        order = np.random.default_rng(0).permutation(count)
        taken = np.zeros(count, dtype=bool)
        taken[order[: max(1, int(np.searchsorted(np.cumsum(pairs[order]), _MOST_PAIRS)))]] = True
        keys = tuple(np.where((each >= 0) & taken[each], each, -1) for each in keys)  # type: ignore[assignment]
    ever = IntervalJoin("-36500 days", "36500 days")
    sides = [
        pd.DataFrame({"key": key, "start": stream.event_times})[key >= 0].reset_index(names="row")
        for key, stream in zip(keys, (left, right), strict=True)
    ]
    one, other = model.matches(ever, *sides)
    seconds = (sides[1]["start"].to_numpy()[other] - sides[0]["start"].to_numpy()[one]) / 1e6
    rows = {side: each["row"].to_numpy()[place] for side, each, place in zip(SIDES, sides, (one, other), strict=True)}
    return pd.DataFrame({**rows, "seconds": seconds})


def _bounds(found: pd.DataFrame) -> pd.DataFrame:
    seconds = found["seconds"].to_numpy()
    before, after = np.sort(-seconds[seconds < 0]), np.sort(seconds[seconds >= 0])
    rows = []
    for share in (0.5, 0.9, 0.95, 0.99, 0.999, 1.0):
        reach = [each[int(np.ceil(share * len(each))) - 1] if len(each) else 0.0 for each in (before, after)]
        within = (seconds >= -reach[0]) & (seconds <= reach[1])
        partners = np.bincount(found["left"].to_numpy()[within]) if within.any() else np.array([0])
        texts = [times.text(timedelta(seconds=float(each))) for each in (-reach[0], reach[1])]
        rows.append(
            {
                "share": share,
                "lower": texts[0],
                "upper": texts[1],
                "pairs": float(within.mean()) if len(seconds) else 0.0,
                "one_to_many": float((partners > 1).sum() / max(1, (partners > 0).sum())),
            }
        )
    return pd.DataFrame(rows)


def _front(table: pd.DataFrame) -> Micros:
    """Which settings no other beats: in what they keep, hold in state, and make wait."""
    wait = table["end_wait_99"].dt.total_seconds() + table["wait_99"].dt.total_seconds()
    cost = np.stack([-table["kept"], table["state_peak"], wait]).T
    beaten = [bool(((cost <= each).all(axis=1) & (cost < each).any(axis=1)).any()) for each in cost]
    return ~np.array(beaten)
