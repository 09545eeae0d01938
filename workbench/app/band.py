"""The band over the views: how the rows of each side fared, why some were not matched, and figures of the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import anywidget
import pandas as pd
import traitlets

from workbench.app._kept_settings import Filter
from workbench.app._picking import same_rows
from workbench.charts.glyphs import paths
from workbench.errors import TooLargeError
from workbench.literals import FATES, SIDES, Side
from workbench.model import Simulation
from workbench.reasons.causes import lost_rows
from workbench.runs.result import Result
from workbench.runs.summary import FIGURES, figures, held
from workbench.untyped import Record

__all__ = ["Band", "comparable", "of_causes", "of_fates"]

_HERE = Path(__file__).parent
_MOST_CAUSES = 20
_GOOD = ("matched", "rows out")
_BAD = ("unmatched", "late", "peak state")


class Band(anywidget.AnyWidget):  # type: ignore[misc]
    """A bar of fates for each side, the causes of those not matched as bars below, and figures of the run.

    Parameters
    ----------
    choose
        Called with what is chosen to filter by; None: nothing any longer.

    Attributes
    ----------
    shown
        What it shows: ``sides``, ``figures``, ``since``, as `of_fates` and `of_causes` make them.
    chosen
        What is filtered by, a `Filter`; empty: nothing.
    """

    _esm = "\n".join((_HERE / name).read_text(encoding="utf-8") for name in ("glyph.js", "band.js"))
    shown = traitlets.Dict().tag(sync=True)
    chosen = traitlets.Dict().tag(sync=True)

    def __init__(self, choose: Callable[[Filter | None], None]) -> None:
        super().__init__()
        self._choose = choose
        self.observe(lambda change: self._choose(change["new"] or None), "chosen")

    def show(self, shown: Record) -> None:
        """Show other rows; a filter that they have no rows of is dropped."""
        self.shown = shown
        if self.chosen and not any(
            each["side"] == self.chosen["side"] and fate["fate"] == self.chosen["fate"]
            for each in shown["sides"]
            for fate in each["fates"]
        ):
            self.chosen = {}


def comparable(run: Result, before: Result | None) -> bool:
    """Whether figures of two runs tell what settings did: both are of the same rows, and of one kind of join."""
    return before is not None and type(before.join) is type(run.join) and same_rows(before, run)


def of_fates(run: Result, before: Result | None = None, since: str = "") -> Record:
    """What a band shows of a run, but for the causes, which take longer.

    Parameters
    ----------
    run
        The run.
    before
        The run that it is compared with; None: none is.
    since
        What changed since that, in words.
    """
    now, then = figures(run), {} if before is None else figures(before)
    units = {"rows out": "rows", "peak state": held(run, now)}
    listed = [_figure(name, unit, now[name], then.get(name)) for name, unit in units.items()]
    return {"sides": _sides(run, before), "figures": listed, "since": since}


def _sides(run: Result, before: Result | None) -> list[Record]:
    try:
        counts = _counts(run.simulation)
        earlier = None if before is None else _counts(before.simulation)
    except TooLargeError:  # only Spark can do it
        return []
    found = []
    for side in SIDES:
        fates = [
            {
                "fate": fate,
                "rows": count,
                "change": None if earlier is None else _change(fate, count - earlier[side].get(fate, 0)),
            }
            for fate in FATES
            if (count := counts[side].get(fate, 0))
        ]
        stream = run.side(side)
        found.append({"side": side, "name": stream.name, "rows": len(stream), "fates": fates, "causes": [], "more": 0})
    return found


def of_causes(simulation: Simulation, shown: Record) -> Record:
    """What a band shows, with the causes of the rows that were not matched: the most frequent ones of each side."""
    table = lost_rows(simulation)
    sides = []
    for each in shown["sides"]:
        mine = table[table["side"] == each["side"]]
        grouped = mine.groupby(["cause", "fate"], sort=False)
        counts = grouped.size().sort_values(ascending=False, kind="stable")
        first = counts.head(_MOST_CAUSES)
        obstacles = grouped["obstacle"].unique()
        causes = [
            {"cause": cause, "fate": fate, "rows": int(rows), "glyphs": paths(obstacles[cause, fate])}
            for (cause, fate), rows in zip(first.index.tolist(), first.tolist(), strict=True)
        ]
        sides.append({**each, "causes": causes, "more": int(counts.sum() - first.sum())})
    return {**shown, "sides": sides}


def _counts(simulation: Simulation) -> Mapping[Side, Mapping[str, int]]:
    return {side: _by_fate(simulation.fates[side]["fate"]) for side in SIDES}


def _by_fate(fates: pd.Series) -> dict[str, int]:
    return {str(fate): int(count) for fate, count in fates.value_counts().items()}


def _figure(name: str, unit: str, value: int, before: int | None) -> Record:
    words = "in state at most" if name == "peak state" else "out"
    change = None if before is None else _change(name, value - before)
    return {"name": words, "value": value, "unit": unit, "help": FIGURES[name], "change": change}


def _change(name: str, by: int) -> Record | None:
    if not by:
        return None
    tone = "other"
    if name in (*_GOOD, *_BAD):
        tone = "better" if (by > 0) == (name in _GOOD) else "worse"
    return {"by": by, "tone": tone}
