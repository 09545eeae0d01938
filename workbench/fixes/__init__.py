"""The smallest change of one setting that would have matched a row.

A partner that the definition gives a row, and that only lateness kept from it, asks for a longer watermark delay. A row
without such a partner asks for other bounds, windows or gaps, so that its nearest partner is in reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from workbench.fixes._bounds import bounds
from workbench.fixes._delays import delays
from workbench.fixes._search import COLUMNS, NEVER, Search, needed_delay
from workbench.fixes._sessions import sessions
from workbench.fixes._windows import windows
from workbench.joins import IntervalJoin, Join
from workbench.model import Micros, Outcome
from workbench.streams import Stream
from workbench.windows import Session

__all__ = ["NEVER", "apply", "apply_all", "fixes", "needed_delay"]


def fixes(
    join: Join,
    streams: tuple[Stream, Stream],
    finish: bool,
    policy: str,
    outcome: Outcome,
    asked: dict[str, Micros] | None = None,
) -> pd.DataFrame:
    """For each row that is not matched, the fixes found; the best is the first of its row.

    Parameters
    ----------
    join, streams, finish, policy, outcome
        The run, and what came of it.
    asked
        Per side the rows that fixes are asked for; None: all.

    Returns
    -------
    pandas.DataFrame
        Columns ``side``, ``row``; ``setting`` (``left.watermark``, ``right.watermark``, ``lower``, ``upper``, ``size``,
        ``offset``, ``gap`` or ``finish``); ``value`` (what to set it to, in microseconds); ``change`` (by how much that
        differs, in microseconds); ``partner`` (the row of the other side that it would meet).
    """
    search = Search(join, streams, finish, policy, outcome, asked)
    if not isinstance(join, IntervalJoin) and isinstance(join.window, Session):
        parts = [sessions(search)]
    else:
        parts = [delays(search), bounds(search) if isinstance(join, IntervalJoin) else windows(search, join)]
    every = [part.assign(rank=rank) for rank, part in enumerate(parts) if len(part)]
    if not every:
        return pd.DataFrame(columns=COLUMNS)
    best = pd.concat(every, ignore_index=True).sort_values(["side", "row", "rank", "change"], kind="stable")
    return best[COLUMNS].reset_index(drop=True)


def apply(
    setting: str, value: str | bool, join: Join, left: Stream, right: Stream, finish: bool
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
    changed: Any = {setting: value}
    if isinstance(join, IntervalJoin):
        return replace(join, **changed), left, right, finish
    window: Any = join.window
    return replace(join, window=replace(window, **changed)), left, right, finish


def apply_all(
    settings: Mapping[str, str], join: Join, left: Stream, right: Stream, policy: str
) -> tuple[Join, Stream, Stream, str]:
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
            policy = value
        else:
            join, left, right, _ = apply(setting, value, join, left, right, True)
    return join, left, right, policy
