"""Longer gaps and delays, and the end of input, in session joins and coGroups over sessions."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from workbench import times
from workbench.arrays import RowNumbers, Times
from workbench.fixes.search import COLUMNS, NEVER, Search
from workbench.literals import DELAYS, RowId, Setting, Side, other_side
from workbench.model import NOTHING, query_watermark
from workbench.streams import SIDES
from workbench.untyped import Value
from workbench.windows import Session

__all__ = ["Member", "sessions"]

_MOST_REPLAYED = 2_000  # keys that are simulated again
_MEMBERS = 40  # rows of a key around a row, whose times give the settings that are tried


class Member(NamedTuple):
    """A row of a key, with its event time and the micro-batch in which it arrives."""

    time: int
    batch: int
    id: RowId


def sessions(search: Search, window: Session) -> pd.DataFrame:
    """Longer gaps and delays, and the end of input, for sessions: each key is simulated through again."""
    gap = times.micros(window.gap)
    frames = []
    for number, side in enumerate(SIDES):
        late = np.zeros(len(search.time[side]), dtype=bool)
        assignments = search.outcome.assignments[side]
        late[assignments["row"]] = assignments["late"]
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
            value=mine["wider"].to_numpy(),
            change=mine["wider"].to_numpy() - gap,
            partner=mine["partner"].to_numpy(),
        )
        for number, side in enumerate(SIDES)
        if len(mine := simple[simple["side"] == number])
    ]
    simulated = []
    asking = lost.loc[~lost.index.isin(simple.index), "key"].unique()
    both = rows.groupby("key")["side"].nunique()
    asking = asking[(both.reindex(asking) == 2).to_numpy()][:_MOST_REPLAYED]
    for _, members in rows[rows["key"].isin(asking)].groupby("key"):
        simulated += _key_sessions(search, members, gap)
    return pd.concat([*parts, pd.DataFrame(simulated, columns=COLUMNS)] if simulated or not parts else parts)


def _wider_gaps(search: Search, rows: pd.DataFrame, gap: int) -> tuple[Times, RowNumbers]:
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


def _key_sessions(search: Search, rows: pd.DataFrame, gap: int) -> list[list[Value]]:
    found = []
    columns = (rows[name].tolist() for name in ("time", "batch", "side", "row"))
    members = [Member(time, batch, RowId(SIDES[side], row)) for time, batch, side, row in zip(*columns, strict=True)]
    for place, matched in enumerate(rows["matched"]):
        if matched:
            continue
        near = members[max(0, place - _MEMBERS // 2) : place + _MEMBERS // 2]
        best, least = None, int(NEVER)
        for setting, value, change in _session_settings(search, near, gap):
            if change >= least:
                break
            met = _meets(search, members, members[place], setting, value, gap)
            if met is not None:
                best, least = [*members[place].id, setting, value, change, met], change
        if best is not None:
            found.append(best)
    return found


def _session_settings(search: Search, near: list[Member], gap: int) -> list[tuple[Setting, int, int]]:
    """The settings at which something changes for these rows, smallest change first."""
    marks = search.outcome.marks
    instants = sorted({each.time for each in near})
    late = {int(marks.late[each.batch]) for each in near}
    gaps = {after - before for before, after in combinations(instants, 2)}
    gaps |= {mark - moment + 1 for mark in late for moment in instants}
    tried: list[tuple[Setting, int, int]] = [("gap", value, value - gap) for value in gaps if value > gap]
    deadline = np.array([moment + gap for moment in instants])
    for side in SIDES:
        for batch in {each.batch for each in near}:
            needed = marks.needed_delays(search.policy, side, np.full(len(deadline), batch - 1), deadline)
            tried += [
                (DELAYS[side], int(value), int(value) - search.delay[side])
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
    setting: Setting,
    value: int,
    gap: int,
) -> int | None:
    """A partner of a row under another setting, None if it has none."""
    eviction = search.outcome.marks.eviction
    for side in SIDES:
        if setting == DELAYS[side]:
            eviction = _marks_with(search, side, value)
    gap = value if setting == "gap" else gap
    session = _session_of(members, one, gap, eviction)
    if session is None:
        return None
    if not (search.finish or setting == "finish") and session[1] > eviction[-1]:
        return None
    partners = [each for each in session[2] if each.id.side != one.id.side]
    return min(partners, key=lambda each: abs(each.time - one.time)).id.row if partners else None


def _marks_with(search: Search, side: Side, delay: int) -> Times:
    marks = search.outcome.marks
    newest = marks.newest[side]
    mine = np.where(newest == NOTHING, 0, np.maximum(newest, -(2**61)) - delay)
    other = marks.own[other_side(side)]
    return np.maximum.accumulate(np.maximum(query_watermark(search.policy, mine, other), 0))


def _session_of(members: list[Member], one: Member, gap: int, eviction: Times) -> tuple[int, int, list[Member]] | None:
    """The session a row ends up in, as start, end and members, when the rows of its key arrive; None if it is late."""
    live: list[tuple[int, int, list[Member]]] = []
    for each in sorted(members, key=lambda member: member.batch):
        mark = int(eviction[each.batch - 1]) if each.batch else 0
        if each.time + gap <= mark:
            if each == one:
                return None
            continue
        start, end, rows = each.time, each.time + gap, [each]
        apart = []
        for session in live:
            if session[1] > mark and session[0] <= end and start <= session[1]:
                start, end, rows = min(start, session[0]), max(end, session[1]), session[2] + rows
            else:
                apart.append(session)
        live = [*apart, (start, end, rows)]
    return next(session for session in live if one in session[2])
