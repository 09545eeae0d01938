"""A run on Spark beside what Flink makes of the same rows: what differs, of which kind, why, and what comes nearest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workbench import charts, schema, times
from workbench.arrays import RowNumbers, Times
from workbench.errors import one_of, wrong
from workbench.fixes.search import kept_until
from workbench.flink._kinds import DIFFERENCES, FLINK_DROPS, SPARK_DROPS, differing, kinds
from workbench.flink._result import FlinkPreview
from workbench.kinds import MS, kind_of
from workbench.literals import DELAYS, SIDES, Policy, Side, Sides, row_ids
from workbench.model import FlinkRules, Simulation
from workbench.reasons import tables
from workbench.reasons.labels import key_words
from workbench.runs.preview import Preview
from workbench.runs.result import Result
from workbench.streams import same_rows
from workbench.untyped import Value

if TYPE_CHECKING:
    from workbench.charts import Drawing

__all__ = ["Comparison", "Nearest", "compare"]

_OURS = ("difference", "flink_fate", "flink_reason")
_NUMBERS = "micro-batches", 0
_STEPS = (0.9, 0.99, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """A run on Spark beside what Flink makes of the same rows. Made by `workbench.flink.compare`.

    Attributes
    ----------
    here
        The run, or preview, on Spark.
    there
        The preview, or run, on Flink.
    """

    here: Result
    there: FlinkPreview

    def __repr__(self) -> str:
        count, rows = int(self._counts["rows"].sum()), len(self.here.left) + len(self.here.right)
        return f"<Comparison of Spark and Flink on {self.here.join}: {count:,} of {rows:,} rows differ>"

    @property
    def rows(self) -> pd.DataFrame:
        """The rows that fare differently, with both stories.

        Columns: ``side``, ``batch``, the row's columns, ``difference`` (one of `DIFFERENCES`), ``fate``, ``reason`` (on
        Spark), ``flink_fate``, ``flink_reason``. Its index is that of ``here.rows``.
        """
        places = np.flatnonzero(self.kinds >= 0).tolist()
        mine = self.here.explain(places).drop(columns=schema.FIX_NAMES)
        theirs = self.there.explain(places)
        named = np.array(DIFFERENCES, dtype=object)[self.kinds[places]]
        mine = mine.rename(columns=tables.renamed(list(mine), _OURS))
        mine.insert(mine.columns.get_loc("fate"), "difference", named)
        return mine.assign(flink_fate=theirs["fate"], flink_reason=theirs["reason"])

    @property
    def counts(self) -> pd.DataFrame:
        """How many rows there are of each kind of difference that there is: ``difference``, ``side``, ``rows``."""
        return self._counts.copy()

    @cached_property
    def _counts(self) -> pd.DataFrame:
        found = []
        for side, mine in Sides(*self._by_side).items():
            counted = np.bincount(mine[mine >= 0], minlength=len(DIFFERENCES))
            found.append(pd.DataFrame({"difference": DIFFERENCES, "side": side, "rows": counted}))
        table = pd.concat(found)
        return table[table["rows"] > 0].sort_index(kind="stable").reset_index(drop=True)

    @cached_property
    def kinds(self) -> RowNumbers:
        """For each row of ``here.rows`` the place of its difference in `DIFFERENCES`; -1 where it fares alike."""
        return np.concatenate(self._by_side)

    @cached_property
    def _by_side(self) -> list[RowNumbers]:
        found = kinds(self.here.simulation, self.there.simulation)
        return [found[side] for side in SIDES]

    def drawing(self, between: Value = None) -> Drawing:
        """The chart as layout and tables: what a page needs that redraws it; `between` as in `chart`."""
        cut = charts.Cut.of(between)
        parts = []
        for side, mine in Sides(*self._by_side).items():
            stream = self.here.side(side)
            inside = (stream.event_times >= cut.low) & (stream.event_times <= cut.high)
            rows = np.flatnonzero((mine >= 0) & inside)
            some = (
                rows
                if len(rows) <= charts.MOST_ROWS
                else rows[np.linspace(0, len(rows) - 1, charts.MOST_ROWS).astype(int)]
            )
            fates = [each.simulation.fates[side]["fate"].to_numpy()[some] for each in (self.here, self.there)]
            columns = {"row_id": row_ids(side, some.tolist()), "stream": stream.name, "key": key_words(stream, some)}
            parts.append(
                pd.DataFrame(
                    columns
                    | {
                        "time": stream.event_times[some].astype("datetime64[us]"),
                        "difference": np.array(DIFFERENCES, dtype=object)[mine[some]],
                        "spark": fates[0],
                        "flink": fates[1],
                        "batch": self.here.simulation.first + stream.arrival[some],
                    }
                )
            )
        every = np.concatenate([self.here.side(side).event_times for side in SIDES])
        ends = cut.low, cut.high
        if cut.whole:
            ends = (int(every.min()), int(every.max())) if len(every) else (0, 0)
        return charts.engines(
            pd.concat(parts, ignore_index=True),
            self._counts.groupby("difference", sort=False)["rows"].sum(),
            (pd.Timestamp(ends[0], unit="us"), pd.Timestamp(ends[1], unit="us")),
            self.here.simulation.names,
            DIFFERENCES,
        )

    def chart(self, between: Value = None) -> Any:
        """The rows that fare differently on event time, coloured by kind of difference: an Altair chart.

        Parameters
        ----------
        between
            Two event times, of which those between are drawn; None: all.
        """
        return self.drawing(between).chart()

    def why(self, row: int) -> pd.DataFrame:
        """A row's two stories side by side.

        Parameters
        ----------
        row
            An index of ``here.rows``.

        Returns
        -------
        pandas.DataFrame
            ``about`` (what each step is about), ``spark``, ``flink`` (what it says there; empty where it says nothing).
        """
        here, there = (_steps(each.why(row).facts) for each in (self.here, self.there))
        steps = list(dict.fromkeys([*here, *there]))
        if self.there.left.batch_count > self.here.left.batch_count:  # the watermark moves after each row
            steps.append(_NUMBERS)
            here[_NUMBERS], there[_NUMBERS] = "as recorded", "one row each, the left ones of a micro-batch first"
        words = {name: [facts.get(each, "") for each in steps] for name, facts in (("spark", here), ("flink", there))}
        return pd.DataFrame({"about": [about for about, _ in steps]} | words)

    def nearest(self, on: str = "spark") -> Nearest:
        """The settings of one engine with which the fewest rows have another fate than on the other, as that is set.

        Tried are for each side the present delay, none, half of it, and those with which 90 %, 99 % and all of the rows
        that only this engine drops would come in time: on ``spark`` under ``min`` and ``max``, and, of a recording that
        was not finished, with ``finish`` too; on ``flink`` with the present allowed lateness; and there, for joins with
        windows, as many allowed latenesses.

        Parameters
        ----------
        on
            Whose settings may change: ``spark`` or ``flink``.
        """
        one_of("on", on, ("spark", "flink"))
        return _nearest_on_spark(self) if on == "spark" else _nearest_on_flink(self)


@dataclass(frozen=True, eq=False, repr=False)
class Nearest:
    """The settings of one engine that come nearest to the other. Made by `Comparison.nearest`.

    Attributes
    ----------
    on
        Whose settings these are: ``spark`` or ``flink``.
    settings
        The settings by name, as text.
    table
        All that were tried: the settings, ``other_fate`` (how many rows have another fate), ``differ`` (how many fare
        differently in any way, such as a pair that comes out again); the best first.
    now
        How many rows have another fate with the present settings.
    remains
        With these settings: as `Comparison.counts`.
    comparison
        The two engines with these settings.
    """

    on: str
    settings: dict[str, str]
    table: pd.DataFrame
    now: int
    remains: pd.DataFrame
    comparison: Comparison

    def __repr__(self) -> str:
        words = ", ".join(f"{name} = {value}" for name, value in self.settings.items())
        counted = self.remains.groupby("difference", sort=False)["rows"].sum()
        rest = "; ".join(f"{rows:,}: {kind}" for kind, rows in counted.items())
        count = len(self.comparison.here.left) + len(self.comparison.here.right)
        engine = {"spark": "Spark", "flink": "Flink"}[self.on]
        left = f"{int(counted.sum()):,} of {count:,} rows still differ ({rest})" if rest else "no row differs"
        return f"nearest on {engine}: {words}; {left}"


def compare(here: Result, there: FlinkPreview) -> Comparison:
    """Hold a run on Spark against what Flink makes of the same rows, by kind of difference.

    Parameters
    ----------
    here
        What `workbench.run` or `workbench.preview` returned.
    there
        What `workbench.flink.preview` or `workbench.flink.run` returned, of the same rows.

    Returns
    -------
    Comparison
        Rows, counts by kind, a chart, two stories side by side, and the settings that come nearest.

    Raises
    ------
    ArgumentError
        If one is not of that engine, or the rows are others.

    Examples
    --------
    >>> import generators
    >>> import workbench as wb
    >>> sides = generators.generate("orders_payments", events=200, batches=25, late=0.1, late_by="10 s", seed=5)
    >>> sides = [each.with_watermark("3 seconds") for each in sides]
    >>> join = wb.WindowJoin(wb.Tumbling("10 seconds"))
    >>> there = wb.flink.preview(join, *sides, allowed_lateness="5 seconds")
    >>> wb.flink.compare(wb.preview(join, *sides), there)
    <Comparison of Spark and Flink on WindowJoin(window=Tumbling(size='10 seconds')): 11 of 380 rows differ>
    """
    if not isinstance(here, Result) or isinstance(here, FlinkPreview):
        raise wrong("here", here, "give what workbench.run or workbench.preview returned")
    if not isinstance(there, FlinkPreview):
        raise wrong("there", there, "give what workbench.flink.preview or workbench.flink.run returned")
    for side in SIDES:
        one, two = here.side(side), there.side(side)
        if not same_rows(one, two) or (one.key, one.time) != (two.key, two.time):
            raise wrong("there", there, f"its {side} rows are not those of here; give two of the same streams")
    if here.join != there.join:
        raise wrong("there", there, f"here is of another join, {here.join}; give two of the same join")
    return Comparison(here, there)


def _steps(facts: tuple[tuple[str, str], ...]) -> dict[tuple[str, int], str]:
    """The steps of a story by what they are about, and the how many-th of these each is."""
    seen: Counter[str] = Counter()
    found = {}
    for about, words in facts:
        found[about, seen[about]] = words
        seen[about] += 1
    return found


def _nearest_on_spark(comparison: Comparison) -> Nearest:
    here, there = comparison.here.simulation, comparison.there.simulation
    tried: list[tuple[dict[str, str], Simulation]] = []
    policies: list[Policy] = ["min", "max"] if here.policy == "min" else ["max", "min"]
    ends = [here.finish] if here.finish or here.logged is not None else [False, True]
    delayed = list(product(*(_delays(here, side, comparison) for side in SIDES)))
    for finish, policy, delays in product(ends, policies, delayed):
        settings = _named(delays) | {"policy": policy} | ({"finish": str(finish)} if len(ends) > 1 else {})
        tried.append((settings, replace(_delayed(here, delays), policy=policy, finish=finish)))
    counted = [differing(simulation, there) for _, simulation in tried]
    return _best("spark", tried, counted, lambda best: Comparison(Preview(best), comparison.there))


def _nearest_on_flink(comparison: Comparison) -> Nearest:
    here, there = comparison.here.simulation, comparison.there.simulation
    rules, windowed = there.flink or FlinkRules(), kind_of(there.join).windowed
    present = {"allowed_lateness": _text(rules.allowed_lateness)} if windowed else {}
    tried: list[tuple[dict[str, str], Simulation]] = []
    for delays in product(*(_delays(there, side, comparison) for side in SIDES)):
        tried.append((_named(delays) | present, _delayed(there, delays)))
    if windowed:
        now = tried[0][0]
        for value in _spans(rules.allowed_lateness, _behind(comparison, FLINK_DROPS, there))[1:]:
            changed = replace(rules, allowed_lateness=times.micros(value))
            tried.append((now | {"allowed_lateness": value}, replace(there, flink=changed)))
    counted = [differing(here, simulation) for _, simulation in tried]
    return _best("flink", tried, counted, lambda best: Comparison(comparison.here, FlinkPreview(best)))


def _named(delays: tuple[str, ...]) -> dict[str, str]:
    return {DELAYS[side]: value for side, value in Sides(*delays).items()}


def _delayed(simulation: Simulation, delays: tuple[str, ...]) -> Simulation:
    """The same with other watermark delays."""
    left, right = (simulation.side(side).with_watermark(value) for side, value in Sides(*delays).items())
    return replace(simulation, left=left, right=right)


def _best(
    on: str,
    tried: list[tuple[dict[str, str], Simulation]],
    counted: list[tuple[int, int]],
    of: Callable[[Simulation], Comparison],
) -> Nearest:
    """What comes nearest; the present settings, which come first, of several that are alike."""
    ranked = sorted(range(len(tried)), key=counted.__getitem__)
    columns = [dict(zip(("other_fate", "differ"), each, strict=True)) for each in counted]
    table = pd.DataFrame([tried[place][0] | columns[place] for place in ranked])
    settings, simulation = tried[ranked[0]]
    comparison = of(simulation)
    return Nearest(on, settings, table, counted[0][0], comparison.counts, comparison)


def _delays(simulation: Simulation, side: Side, comparison: Comparison) -> list[str]:
    """The present delay of a side, and longer ones, with which rows that this engine drops alone come in time."""
    dropped = SPARK_DROPS if simulation.flink is None else FLINK_DROPS
    return _spans(times.micros(simulation.side(side).watermark), _behind(comparison, dropped, simulation))


def _behind(comparison: Comparison, dropped: tuple[int, ...], simulation: Simulation) -> Times:
    """By how much the rows of some kinds of difference are late, in microseconds."""
    found = []
    for side, each in Sides(*(np.split(comparison.kinds, [len(comparison.here.left)]))).items():
        mine = simulation.outcome.assignments[side]
        late = mine["late"].to_numpy() & np.isin(each, dropped)[mine["row"]]
        found.append((mine["watermark"].to_numpy() - kept_until(mine))[late])
    return np.concatenate(found)


def _spans(now: int, more: RowNumbers) -> list[str]:
    """A span, none, half of it, and some so much longer ones, in whole milliseconds, as text."""
    shorter = [0, now // 2 // MS * MS]
    longer = []
    if len(more):
        reach = [int(np.quantile(more, share, method="inverted_cdf")) for share in _STEPS]
        longer = [now + (each // MS + 2) * MS for each in reach]
    return [_text(each) for each in dict.fromkeys([now, *shorter, *longer])]


def _text(micros: int) -> str:
    return times.text(pd.Timedelta(micros, unit="us").to_pytimedelta())
