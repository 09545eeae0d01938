"""A run in short: what it was set to, and what it gave, in figures."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from workbench.counts import counted
from workbench.errors import TooLargeError
from workbench.joins import Join
from workbench.kinds import kind_of
from workbench.literals import DELAYS, FATES, SIDES, Policy
from workbench.reasons.labels import setting_name, setting_value
from workbench.runs.result import Result
from workbench.runs.run import Run
from workbench.streams import Stream

__all__ = ["FIGURES", "figures", "held", "settings", "with_units"]

FIGURES = {
    "matched": "Rows, of both streams, that are in at least one pair that came out.",
    "unmatched": "Rows that came in time and found no partner by the time their state was evicted.",
    "late": "Rows that came behind the watermark: Spark dropped them before they were joined.",
    "pending": "Rows that are still in state: their fate is open.",
    "null key": "Rows whose key is null: a null key matches no key, so these rows have no partner.",
    "rows out": (
        "Rows that the join wrote: pairs, groups, rows without partner where the join keeps them, matches of a "
        "pattern, and partial matches that were given up."
    ),
    "peak state": "The most rows of both streams in state at the end of a micro-batch, as the view State has them.",
}
"""What each of the `figures` means, in one sentence."""


def figures(run: Result) -> dict[str, int]:
    """Rows by fate, rows out, and the most that was in state."""
    batches = run.batches
    try:
        fates = pd.concat([run.simulation.fates[side]["fate"] for side in SIDES]).value_counts()
    except TooLargeError:  # only Spark can do it
        if not isinstance(run, Run):
            raise
        return {"rows out": int(batches["output_rows"].sum()), "peak state": int(batches["state_rows"].max())}
    held = run.simulation.outcome.state_rows()
    counts = {fate.replace("_", " "): int(fates.get(fate, 0)) for fate in FATES}
    if not counts["null key"]:
        del counts["null key"]
    most = int((held["left"] + held["right"]).max(initial=0))
    return counts | {"rows out": int(batches["output_rows"].sum()), "peak state": most}


def with_units(run: Result, given: Mapping[str, int]) -> dict[str, int]:
    """The `figures` of a run, with what is counted where the name does not say it."""
    names = {"peak state": f"{held(run, given)} in state at most", "null key": "rows with a null key"}
    names |= {fate: f"rows {fate}" for fate in ("matched", "unmatched", "late", "pending")}
    return {names.get(name, name): value for name, value in given.items()}


def held(run: Result, given: Mapping[str, int]) -> str:
    """What the peak state of a run's `figures` counts: rows, or what Spark counts where only Spark can tell."""
    return "rows" if "matched" in given else kind_of(run.join).operator.holds.rstrip(",")


def settings(join: Join, left: Stream, right: Stream, *, finish: bool, policy: Policy) -> dict[str, str]:
    """What a run is set to, in words, by name of the setting."""

    def name(setting: str) -> str:
        return setting_name(join, (left.name, right.name), setting)

    delays = {DELAYS["left"]: left.watermark, DELAYS["right"]: right.watermark}
    kind = kind_of(join)
    unset = {each.argument: each.unset for each in kind.texts} | {"where": ""}  # where: it is told if there is one
    own = {
        setting: unset.get(setting, "") if value is None else value
        for setting, value in kind.shown(join).items()
        if setting not in kind.told_by_name
    }
    given = own | delays | {"policy": policy, "finish": finish}
    return {
        "streams": f"{left.name} ({counted(len(left), 'row')}), {right.name} ({counted(len(right), 'row')})",
        "join": kind.label,
        **{name(setting): setting_value(setting, value) for setting, value in given.items() if value != ""},
    }
