"""Longer gaps and delays, and the end of input, in session joins and coGroups over sessions."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from workbench import times
from workbench.fixes._search import COLUMNS, NEVER, Search, needed_delay
from workbench.joins import IntervalJoin
from workbench.model import NOTHING, Micros
from workbench.streams import SIDES
from workbench.windows import Session

_MOST_PLAYED = 2_000  # keys that are played through again
_MEMBERS = 40  # rows of a key around a row, whose times give the settings that are tried

Member = tuple[int, int, int, int]
"""A row of a key: its time, micro-batch, side (0 or 1) and number."""


def sessions(search: Search) -> pd.DataFrame:
    """Longer gaps and delays, and the end of input, for sessions: each key is played through again."""
    join = search.join
    assert not isinstance(join, IntervalJoin)  # noqa: S101 - narrows the type
    assert isinstance(join.window, Session)  # noqa: S101 - narrows the type
    gap = times.micros(join.window.gap)
    frames = []
    for number, side in enumerate(SIDES):
        late = np.zeros(len(search.time[side]), dtype=bool)
        copies = search.outcome.copies[side]
        late[copies["row"]] = copies["late"]
        frame = {"key": search.key[side], "time": search.time[side], "batch": search.batch[side], "late": late}
        frame |= {"side": np.full(len(late), number), "row": np.arange(len(late)), "matched": search.matched[side]}
        frames.append(pd.DataFrame(frame))
    rows = pd.concat(frames, ignore_index=True)
    rows = rows[rows["key"] >= 0].sort_values(["key", "time"], ignore_index=True)
    rows["wider"], rows["partner"] = _wider_gaps(search, rows, gap)
    lost = rows[~rows["matched"]]
    simple = lost[(lost["wider"] < NEVER) & search.finish]
    parts = [
        search.candidates(
            side,
            mine["row"].to_numpy(),
            "gap",
            mine["wider"].to_numpy(),
            mine["wider"].to_numpy() - gap,
            mine["partner"].to_numpy(),
        )
        for number, side in enumerate(SIDES)
        if len(mine := simple[simple["side"] == number])
    ]
    played = []
    asking = lost.loc[~lost.index.isin(simple.index), "key"].unique()
    both = rows.groupby("key")["side"].nunique()
    asking = asking[(both.reindex(asking) == 2).to_numpy()][:_MOST_PLAYED]
    for _, members in rows[rows["key"].isin(asking)].groupby("key"):
        played += _key_sessions(search, members, gap)
    return pd.concat([*parts, pd.DataFrame(played, columns=COLUMNS)] if played or not parts else parts)


def _wider_gaps(search: Search, rows: pd.DataFrame, gap: int) -> tuple[Micros, Micros]:
    """The gap that reaches each row's nearest partner, and that partner, where no order of arrival interferes."""
    count = len(rows)
    key, time, side = (rows[name].to_numpy() for name in ("key", "time", "side"))
    first, batch = time.copy(), rows["batch"].to_numpy()
    wider, partner = np.full(count, NEVER), np.full(count, -1)
    late = rows.groupby("key")["late"].transform("any").to_numpy()
    for places, step in ((range(count - 2, -1, -1), 1), (range(1, count), -1)):
        reach, met = [int(NEVER)] * count, [-1] * count
        last, early = batch.tolist(), first.tolist()
        for place in places:
            near = place + step
            if key[near] != key[place]:
                continue
            if side[near] != side[place]:
                reach[place], met[place] = abs(int(time[near] - time[place])), near
            else:
                reach[place], met[place] = max(abs(int(time[near] - time[place])), reach[near]), met[near]
            last[place] = max(last[place], last[near] if side[near] == side[place] else int(batch[near]))
            early[place] = min(early[place], early[near] if side[near] == side[place] else int(time[near]))
        mine = np.array(reach, dtype=np.int64)
        calm = search.outcome.marks.late[np.array(last, dtype=np.int64)] < np.array(early) + mine
        better = calm & ~late & (mine < wider) & (mine > gap)
        wider = np.where(better, mine, wider)
        partner = np.where(better, rows["row"].to_numpy()[np.array(met, dtype=np.int64)], partner)
    return wider, partner


def _key_sessions(search: Search, rows: pd.DataFrame, gap: int) -> list[list[Any]]:
    found = []
    members = list(rows[["time", "batch", "side", "row"]].itertuples(index=False, name=None))
    for place, matched in enumerate(rows["matched"]):
        if matched:
            continue
        near = members[max(0, place - _MEMBERS // 2) : place + _MEMBERS // 2]
        best = None
        for setting, value, change in _session_settings(search, near, gap):
            if best is not None and change >= best[4]:
                break
            met = _meets(search, members, members[place], setting, value, gap)
            if met is not None:
                best = [SIDES[members[place][2]], members[place][3], setting, value, change, met]
        if best is not None:
            found.append(best)
    return found


def _session_settings(search: Search, near: list[Member], gap: int) -> list[tuple[str, int, int]]:
    """The settings at which something changes for these rows, smallest change first."""
    marks = search.outcome.marks
    instants = sorted({each[0] for each in near})
    late = {int(marks.late[each[1]]) for each in near}
    gaps = {after - before for before, after in combinations(instants, 2)}
    gaps |= {mark - moment + 1 for mark in late for moment in instants}
    tried = [("gap", value, value - gap) for value in gaps if value > gap]
    deadline = np.array([moment + gap for moment in instants])
    for side in SIDES:
        for batch in {each[1] for each in near}:
            needed = needed_delay(marks, search.policy, side, np.full(len(deadline), batch - 1), deadline)
            tried += [
                (f"{side}.watermark", int(value), int(value) - search.delay[side])
                for value in set(needed[needed < NEVER])
                if value > search.delay[side]
            ]
    if not search.finish:
        tried.append(("finish", 1, 1))
    return sorted(tried, key=lambda each: each[2])


def _meets(
    search: Search,
    members: list[Member],
    one: Member,
    setting: str,
    value: int,
    gap: int,
) -> int | None:
    """A partner of a row under another setting, None if it has none."""
    eviction = search.outcome.marks.eviction
    if setting.endswith(".watermark"):
        eviction = _marks_with(search, setting.split(".")[0], value)
    gap = value if setting == "gap" else gap
    session = _session_of(members, one, gap, eviction)
    if session is None:
        return None
    if not (search.finish or setting == "finish") and session[1] > eviction[-1]:
        return None
    partners = [each for each in session[2] if each[2] != one[2]]
    return min(partners, key=lambda each: abs(each[0] - one[0]))[3] if partners else None


def _marks_with(search: Search, side: str, delay: int) -> Micros:
    marks = search.outcome.marks
    newest = marks.newest[side]
    mine = np.where(newest == NOTHING, 0, np.maximum(newest, -(2**61)) - delay)
    other = marks.own[SIDES[1 - SIDES.index(side)]]
    chosen = np.minimum(mine, other) if search.policy == "min" else np.maximum(mine, other)
    return np.maximum.accumulate(np.maximum(chosen, 0))


def _session_of(members: list[Member], one: Member, gap: int, eviction: Micros) -> tuple[int, int, list[Member]] | None:
    """The session a row ends up in, as start, end and members, when the rows of its key arrive; None if it is late."""
    live: list[tuple[int, int, list[Member]]] = []
    for each in sorted(members, key=lambda row: row[1]):
        moment, batch = each[0], each[1]
        mark = int(eviction[batch - 1]) if batch else 0
        if moment + gap <= mark:
            if each == one:
                return None
            continue
        start, end, rows = moment, moment + gap, [each]
        apart = []
        for session in live:
            if session[1] > mark and session[0] <= end and start <= session[1]:
                start, end, rows = min(start, session[0]), max(end, session[1]), session[2] + rows
            else:
                apart.append(session)
        live = [*apart, (start, end, rows)]
    return next(session for session in live if one in session[2])
