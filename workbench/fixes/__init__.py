"""The smallest change of one setting that would have matched a row.

A partner that the definition gives a row, and that only lateness kept from it, asks for a longer watermark delay. A row
without such a partner asks for other bounds, windows or gaps, so that its nearest partner is in reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
import pandas as pd

from workbench.arrays import RowNumbers
from workbench.fixes._by_trying import trials
from workbench.fixes._keeping_delays import keeping
from workbench.fixes._matching_delays import allowed_lateness, delays
from workbench.fixes.search import COLUMNS, NEVER, Search
from workbench.joins import Join
from workbench.kinds import kind_of
from workbench.literals import DELAYS, Policy, Setting, Side, Sides
from workbench.model import Simulation, in_sql
from workbench.streams import SIDES, Stream, on_one_clock

__all__ = ["NEVER", "SIDES", "apply", "apply_all", "delays", "fixes", "keeping", "settings"]


_WRONG = 10 * 365 * 86_400_000_000
"""The change of a setting, in microseconds, from which on an event time is wrong rather than the setting."""


def fixes(simulation: Simulation, asked: Mapping[Side, RowNumbers] | None = None) -> pd.DataFrame:
    """For each row that is not matched, the fixes found; the best is the first of its row.

    Parameters
    ----------
    simulation
        The run.
    asked
        Per side the rows that fixes are asked for; None: all.

    Returns
    -------
    pandas.DataFrame
        Columns ``side``, ``row``; ``setting`` (``left.watermark``, ``right.watermark``, ``lower``, ``upper``, ``size``,
        ``offset``, ``gap``, ``finish``, or Flink's ``allowed_lateness``); ``value`` (what to set it to, in
        microseconds); ``change`` (by how much that differs, in microseconds); ``partner`` (the row of the other side
        that it would meet; -1 where a match of a pattern has none).
    """
    if simulation.facts.aggregated:
        return pd.DataFrame(columns=COLUMNS)
    search = Search(simulation, asked)
    parts = kind_of(simulation.join).fixes(search) if simulation.flink is None else _in_flink(simulation, search)
    every = [part.assign(rank=rank) for rank, part in enumerate(parts) if len(part)]
    if not every:
        return pd.DataFrame(columns=COLUMNS)
    some = pd.concat(every, ignore_index=True)
    none = [DELAYS[side] for side in simulation.facts.undelayed]
    good = some[(some["change"] < _WRONG) & ~some["setting"].isin(none)]
    best = good.sort_values(["side", "row", "rank", "change"], kind="stable")
    return _joined(simulation, best[COLUMNS]).reset_index(drop=True)


def _in_flink(simulation: Simulation, search: Search) -> list[pd.DataFrame]:
    """Searches under Flink's rules."""
    kind, rules = kind_of(search.join), simulation.flink
    if kind.merging or in_sql(search.join):
        return trials(simulation, search)
    found = [allowed_lateness(search)] * kind.windowed + kind.fixes(search)
    if rules is None or rules.idle is None:
        return found
    # which side drives the watermark, and whether one is idle, has to be followed
    return trials(simulation, search) + [each[~each["setting"].isin(DELAYS.values())] for each in found]


def _joined(simulation: Simulation, found: pd.DataFrame) -> pd.DataFrame:
    """The fixes whose rows both come to the join, and satisfy what else it asks for."""
    where, gone, exact = simulation.where, simulation.facts.gone, simulation.facts.exact
    if where is None and gone is None and exact is None:
        return found
    is_left, row, partner = (found["side"] == "left").to_numpy(), found["row"].to_numpy(), found["partner"].to_numpy()
    pairs = [each.astype(np.int64) for each in (np.where(is_left, row, partner), np.where(is_left, partner, row))]
    good = np.ones(len(found), dtype=bool)
    if gone is not None:  # a row that the job takes out meets none under any setting
        for side, rows in Sides(*pairs).items():
            good &= ~gone[side].rows[rows]
    if where is not None:
        good &= np.asarray(where(*pairs))
    if exact is not None:  # within the bounds by the clock by which these are counted, a row misses none of them
        good &= ~found["setting"].isin(("lower", "upper")).to_numpy() | ~np.asarray(exact(*pairs))
    return found[good]


def apply(
    setting: Setting, value: str | bool, join: Join, left: Stream, right: Stream, *, finish: bool
) -> tuple[Join, Stream, Stream, bool]:
    """A run's arguments with one setting changed.

    Parameters
    ----------
    setting, value
        As in ``fix_setting`` and ``fix_value`` of `Run.rows`.
    join, left, right, finish
        As in `workbench.run`.
    """
    if setting == "finish":
        return join, left, right, bool(value)
    if setting == "left.watermark":
        return join, left.with_watermark(str(value)), right, finish
    if setting == "right.watermark":
        return join, left, right.with_watermark(str(value)), finish
    if setting == "trigger":
        return join, *on_one_clock(left.with_trigger(str(value)), right.with_trigger(str(value))), finish
    return kind_of(join).changed(join, **{setting: value}), left, right, finish


def settings(join: Join) -> tuple[Setting, ...]:
    """The names of what can be set on a join and its streams."""
    return ("left.watermark", "right.watermark", "trigger", "policy", *kind_of(join).settings(join))


def apply_all(
    settings: Mapping[Setting, str], join: Join, left: Stream, right: Stream, policy: Policy
) -> tuple[Join, Stream, Stream, Policy]:
    """A run's arguments with several settings changed, the ``policy`` perhaps among them.

    Parameters
    ----------
    settings
        Values by setting, as in `apply`.
    join, left, right, policy
        As in `workbench.run`.
    """
    for setting, value in settings.items():
        if setting == "policy":
            policy = cast(Policy, value)
        else:
            join, left, right, _ = apply(setting, value, join, left, right, finish=True)
    return join, left, right, policy
