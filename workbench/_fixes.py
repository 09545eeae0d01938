"""The smallest change of one setting that would have matched a row.

A partner that the definition gives a row, and that only lateness kept from it, asks for a longer watermark delay. A row
without such a partner asks for other bounds, windows or gaps, so that its nearest partner is in reach.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd

from workbench import times
from workbench.joins import CoGroup, IntervalJoin, Join, WindowJoin
from workbench.model import Outcome, Watermarks, matches
from workbench.model._definition import Micros
from workbench.streams import SIDES, Stream
from workbench.windows import Session, Sliding

_NEVER = np.int64(2**62)
_MS = 1000
_NEAREST = 4  # partners on each side of a row that are looked at
_SIZES = 20_000  # whole milliseconds above a tumbling window's size that are tried
_MOST_PLAYED = 2_000  # keys of a session join that are played through again
_MEMBERS = 40  # rows of a key around a row, whose times give the settings that are tried in a session join

COLUMNS = ["side", "row", "setting", "value", "change", "partner"]


def fixes(join: Join, streams: tuple[Stream, Stream], finish: bool, policy: str, outcome: Outcome) -> pd.DataFrame:
    """For each row that is not matched, the fixes found; the best is the first of its row.

    Returns
    -------
    pandas.DataFrame
        Columns ``side``, ``row``; ``setting`` (``left.watermark``, ``right.watermark``, ``lower``, ``upper``, ``size``,
        ``offset``, ``gap`` or ``finish``); ``value`` (what to set it to, in microseconds); ``change`` (by how much that
        differs, in microseconds); ``partner`` (the row of the other side that it would meet).
    """
    found = _Fixes(join, streams, finish, policy, outcome)
    if not isinstance(join, IntervalJoin) and isinstance(join.window, Session):
        parts = [found.sessions()]
    else:
        parts = [found.delays(), found.bounds() if isinstance(join, IntervalJoin) else found.windows(join)]
    every = [part.assign(rank=rank) for rank, part in enumerate(parts) if len(part)]
    if not every:
        return pd.DataFrame(columns=COLUMNS)
    best = pd.concat(every, ignore_index=True).sort_values(["side", "row", "rank", "change"], kind="stable")
    return best[COLUMNS].reset_index(drop=True)


def needed_delay(marks: Watermarks, policy: str, side: str, index: Micros, deadline: Micros) -> Micros:
    """The least delay of a side with which the watermark before a micro-batch stays below a deadline.

    Parameters
    ----------
    marks, policy
        The watermarks as they were, and the policy.
    side
        The side whose delay may change.
    index
        Micro-batches; -1 is the time before the first, when the watermark is 1970-01-01.
    deadline
        Times in microseconds.

    Returns
    -------
    numpy.ndarray
        Microseconds, whole milliseconds; 0 where any delay does; 2**62 where none does.
    """
    at = np.maximum(index, 0)
    mark = np.where(index >= 0, marks.eviction[at], 0)
    other = marks.own[SIDES[1 - SIDES.index(side)]][at]
    needed = marks.newest[side][at] - (deadline - 1) // _MS * _MS
    possible = (deadline > 0) & ((other < deadline) | (policy == "min"))
    return np.where(mark < deadline, 0, np.where(possible, needed, _NEVER))


class _Fixes:
    """What the searches for fixes share: the rows of a run, and what became of them."""

    def __init__(self, join: Join, streams: tuple[Stream, Stream], finish: bool, policy: str, outcome: Outcome) -> None:
        self.join, self.finish, self.policy, self.outcome = join, finish, policy, outcome
        self.time = {side: stream.event_times for side, stream in zip(SIDES, streams, strict=True)}
        self.batch = {side: stream.arrival for side, stream in zip(SIDES, streams, strict=True)}
        self.key = dict(zip(SIDES, outcome.keys, strict=True))
        self.delay = {side: times.micros(stream.watermark) for side, stream in zip(SIDES, streams, strict=True)}
        self.matched = {
            side: np.bincount(mine["row"], mine["matched"], minlength=len(self.time[side])) > 0
            for side, mine in outcome.copies.items()
        }
        self.semi = not isinstance(join, CoGroup) and join.how == "semi"
        self.waits = isinstance(join, CoGroup) and not finish
        """Whether what is open at the end never comes out."""

    def candidates(
        self, side: str, row: Micros, setting: str, value: Micros, change: Micros, partner: Micros
    ) -> pd.DataFrame:
        good = (value < _NEVER) & (change > 0)
        found = {"row": row, "value": value, "change": change, "partner": partner}
        return pd.DataFrame({name: each[good] for name, each in found.items()}).assign(side=side, setting=setting)[
            COLUMNS
        ]

    def last_mark(self, side: str, delay: Micros) -> Micros:
        """The last watermark, were a side's delay another."""
        own = self.outcome.marks.own
        other = own[SIDES[1 - SIDES.index(side)]][-1]
        mine = self.outcome.marks.newest[side][-1] - delay
        chosen = np.minimum(mine, other) if self.policy == "min" else np.maximum(mine, other)
        return np.maximum(chosen, 0)

    def delays(self) -> pd.DataFrame:
        """Longer delays, for rows whose partner by definition was late, or that were late themselves."""
        outcome, join = self.outcome, self.join
        kind = WindowJoin(join.window) if isinstance(join, CoGroup) else join
        one, other = matches(kind, outcome.copies["left"], outcome.copies["right"])
        left, right = (outcome.copies[side].iloc[place] for side, place in zip(SIDES, (one, other), strict=True))
        rows = {"left": left["row"].to_numpy(), "right": right["row"].to_numpy()}
        wanted = ~(self.matched["left"][rows["left"]] & self.matched["right"][rows["right"]])
        left, right = left[wanted], right[wanted]
        rows = {side: each[wanted] for side, each in rows.items()}
        parts = []
        for setting in SIDES:
            value = np.maximum(*(self._on_time(setting, each) for each in (left, right)))
            if self.semi:
                value = np.maximum(value, self._kept_by_semi(setting, left, right))
            if self.waits:
                value = np.where(self.last_mark(setting, value) >= left["end"], value, _NEVER)
            change = value - self.delay[setting]
            for side, partner in (SIDES, SIDES[::-1]):
                lost = ~self.matched[side][rows[side]]
                mine = (rows[side][lost], f"{setting}.watermark", value[lost], change[lost], rows[partner][lost])
                parts.append(self.candidates(side, *mine))
        if self.waits:
            met = ~(left["late"].to_numpy() | right["late"].to_numpy())
            for side, partner in (SIDES, SIDES[::-1]):
                open_still = met & ~self.matched[side][rows[side]]
                one = np.ones(int(open_still.sum()), dtype=np.int64)
                parts.append(
                    self.candidates(side, rows[side][open_still], "finish", one, one, rows[partner][open_still])
                )
        return pd.concat(parts, ignore_index=True)

    def _on_time(self, setting: str, copies: pd.DataFrame) -> Micros:
        batch, end = copies["batch"].to_numpy(), copies["end"].to_numpy()
        return needed_delay(self.outcome.marks, self.policy, setting, batch - 1, end)

    def _kept_by_semi(self, setting: str, left: pd.DataFrame, right: pd.DataFrame) -> Micros:
        """A semi join keeps a left row for its own micro-batch only if that leaves it in state."""
        batch = left["batch"].to_numpy()
        stays = left["end"].to_numpy() + self._patience()
        needed = needed_delay(self.outcome.marks, self.policy, setting, batch, stays)
        return np.where(batch == right["batch"].to_numpy(), needed, 0)

    def _patience(self) -> int:
        """How long after its event time, or window end, a left row stays in state."""
        if not isinstance(self.join, IntervalJoin):
            return 0
        return (-(-times.micros(self.join.upper) // _MS) + (not self.join.upper_exclusive)) * _MS

    def bounds(self) -> pd.DataFrame:
        """Wider bounds, for rows that were on time and whose nearest partner on time is out of reach."""
        join = self.join
        assert isinstance(join, IntervalJoin)  # noqa: S101 - narrows the type
        low, high = times.micros(join.lower), times.micros(join.upper)
        alive = {}
        for side in SIDES:
            copies = self.outcome.copies[side]
            alive[side] = ~(copies["late"] | copies["filtered"]).to_numpy() & (self.key[side] >= 0)
        parts = []
        for side, partner in (SIDES, SIDES[::-1]):
            rows = np.flatnonzero(alive[side] & ~self.matched[side])
            for ahead, skip in product((True, False), range(_NEAREST if self.semi else 1)):
                beyond_upper = ahead == (side == "left")
                reach = (high if beyond_upper else low) * (1 if side == "left" else -1)
                near = self.nearest(side, rows, np.flatnonzero(alive[partner]), reach, ahead, skip)
                mine, theirs = rows[near >= 0], near[near >= 0]
                one, other = (mine, theirs) if side == "left" else (theirs, mine)
                distance = self.time["right"][other] - self.time["left"][one]
                if beyond_upper:
                    value = distance + join.upper_exclusive
                    parts.append(self._bound(side, mine, "upper", value, value - high, theirs))
                else:
                    value = distance - join.lower_exclusive
                    parts.append(self._bound(side, mine, "lower", value, low - value, theirs))
        return pd.concat(parts, ignore_index=True)

    def _bound(
        self, side: str, rows: Micros, setting: str, value: Micros, change: Micros, partner: Micros
    ) -> pd.DataFrame:
        if self.semi:
            one, other = (rows, partner) if side == "left" else (partner, rows)
            batch = self.batch["left"][one]
            mark = np.where(batch == self.batch["right"][other], self.outcome.marks.eviction[batch], 0)
            held = self._patience() if setting == "lower" else -(-value // _MS) * _MS
            lost = mark >= self.time["left"][one] + held
            value = np.where(lost, _NEVER, value)
        return self.candidates(side, rows, setting, value, change, partner)

    def nearest(self, side: str, rows: Micros, partners: Micros, reach: int, ahead: bool, skip: int = 0) -> Micros:
        """For each row the nearest of the partners of its key strictly beyond ``time + reach``, or -1."""
        other = SIDES[1 - SIDES.index(side)]
        order = partners[np.lexsort((self.time[other][partners], self.key[other][partners]))]
        instants, rank = np.unique(self.time[other][order], return_inverse=True)
        width = len(instants) + 1
        axis = self.key[other][order] * width + rank
        key, beyond = self.key[side][rows], self.time[side][rows] + reach
        place = np.searchsorted(axis, key * width + np.searchsorted(instants, beyond, "right" if ahead else "left"))
        place = place + skip if ahead else place - 1 - skip
        inside = (place >= 0) & (place < len(order))
        found = order[np.where(inside, place, 0)] if len(order) else np.zeros(len(rows), dtype=np.int64)
        good = inside & (self.key[other][found] == key) if len(order) else inside
        return np.where(good, found, -1)

    def _neighbours(self) -> Iterator[tuple[str, Micros, Micros, bool]]:
        """Rows without partner with near rows of their key on the other side, and whether these are the nearest."""
        for side, partner in (SIDES, SIDES[::-1]):
            rows = np.flatnonzero(~self.matched[side] & (self.key[side] >= 0))
            partners = np.flatnonzero(self.key[partner] >= 0)
            for ahead in (True, False):
                for skip in range(_NEAREST):
                    near = self.nearest(side, rows, partners, -1 if ahead else 0, ahead, skip)
                    yield side, rows[near >= 0], near[near >= 0], skip == 0

    def windows(self, join: WindowJoin | CoGroup) -> pd.DataFrame:
        """Other windows, for rows whose nearest partner is in none of theirs."""
        window = join.window
        assert not isinstance(window, Session)  # noqa: S101 - sessions have a search of their own
        marks = self.outcome.marks
        offset = times.micros(window.offset)
        parts = []
        for side, rows, partner, nearest in self._neighbours():
            other = SIDES[1 - SIDES.index(side)]
            moments = self.time[side][rows], self.time[other][partner]
            first, last = np.minimum(*moments), np.maximum(*moments)
            came = self.batch[side][rows], self.batch[other][partner]
            mark = np.maximum(*(marks.late[each] for each in came))
            if self.semi:
                mark = np.where(came[0] == came[1], marks.eviction[came[0]], mark)
            closing = np.full(len(rows), marks.eviction[-1] if self.waits else _NEVER)
            if isinstance(window, Sliding):
                start = first - (first - offset) % times.micros(window.slide)
                least = np.maximum(last - start + 1, mark - start + 1)
                size = -(-least // _MS) * _MS
                value = np.where(start + size <= closing, size, _NEVER)
                parts.append(self.candidates(side, rows, "size", value, value - times.micros(window.size), partner))
                continue
            size = times.micros(window.size)
            edge = last - (last - offset) % size  # the start of the later one's window
            shifts = _shifts(first, last, edge, size, mark, closing)
            for shift in shifts:
                apart = (edge > first) & (shift < _NEVER) & (shift > -_NEVER)
                value = np.where(apart, offset + shift, _NEVER)
                parts.append(self.candidates(side, rows, "offset", value, np.abs(shift), partner))
            if nearest:
                sizes = _sizes(first - offset, last - offset, size, mark - offset, closing - offset)
                parts.append(self.candidates(side, rows, "size", sizes, sizes - size, partner))
        found = pd.concat(parts, ignore_index=True)
        # shifting every window is the smaller change in kind, too: a size is asked for where no shift does
        shifted = found.loc[found["setting"] == "offset", ["side", "row"]].drop_duplicates().assign(shifted=True)
        found = found.merge(shifted, on=["side", "row"], how="left")
        return found[(found["setting"] != "size") | found["shifted"].isna() | isinstance(window, Sliding)][COLUMNS]

    def sessions(self) -> pd.DataFrame:
        """Longer gaps and delays, and the end of input, for sessions: each key is played through again."""
        join = self.join
        assert not isinstance(join, IntervalJoin)  # noqa: S101 - narrows the type
        assert isinstance(join.window, Session)  # noqa: S101 - narrows the type
        gap = times.micros(join.window.gap)
        frames = []
        for number, side in enumerate(SIDES):
            late = np.zeros(len(self.time[side]), dtype=bool)
            copies = self.outcome.copies[side]
            late[copies["row"]] = copies["late"]
            frame = {"key": self.key[side], "time": self.time[side], "batch": self.batch[side], "late": late}
            frame |= {"side": np.full(len(late), number), "row": np.arange(len(late)), "matched": self.matched[side]}
            frames.append(pd.DataFrame(frame))
        rows = pd.concat(frames, ignore_index=True)
        rows = rows[rows["key"] >= 0].sort_values(["key", "time"], ignore_index=True)
        rows["wider"], rows["partner"] = self._wider_gaps(rows, gap)
        lost = rows[~rows["matched"]]
        simple = lost[(lost["wider"] < _NEVER) & self.finish]
        parts = [
            self.candidates(
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
            played += self._key_sessions(members, gap)
        return pd.concat([*parts, pd.DataFrame(played, columns=COLUMNS)] if played or not parts else parts)

    def _wider_gaps(self, rows: pd.DataFrame, gap: int) -> tuple[Micros, Micros]:
        """The gap that reaches each row's nearest partner, and that partner, where no order of arrival interferes."""
        count = len(rows)
        key, time, side = (rows[name].to_numpy() for name in ("key", "time", "side"))
        first, batch = time.copy(), rows["batch"].to_numpy()
        wider, partner = np.full(count, _NEVER), np.full(count, -1)
        late = rows.groupby("key")["late"].transform("any").to_numpy()
        for places, step in ((range(count - 2, -1, -1), 1), (range(1, count), -1)):
            reach, met = [int(_NEVER)] * count, [-1] * count
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
            calm = self.outcome.marks.late[np.array(last, dtype=np.int64)] < np.array(early) + mine
            better = calm & ~late & (mine < wider) & (mine > gap)
            wider = np.where(better, mine, wider)
            partner = np.where(better, rows["row"].to_numpy()[np.array(met, dtype=np.int64)], partner)
        return wider, partner

    def _key_sessions(self, rows: pd.DataFrame, gap: int) -> list[list[Any]]:
        found = []
        members = list(rows[["time", "batch", "side", "row"]].itertuples(index=False, name=None))
        for place, matched in enumerate(rows["matched"]):
            if matched:
                continue
            near = members[max(0, place - _MEMBERS // 2) : place + _MEMBERS // 2]
            best = None
            for setting, value, change in self._session_settings(near, gap):
                if best is not None and change >= best[4]:
                    break
                met = self._meets(members, members[place], setting, value, gap)
                if met is not None:
                    best = [SIDES[members[place][2]], members[place][3], setting, value, change, met]
            if best is not None:
                found.append(best)
        return found

    def _session_settings(self, near: list[tuple[int, int, int, int]], gap: int) -> list[tuple[str, int, int]]:
        """The settings at which something changes for these rows, smallest change first."""
        marks = self.outcome.marks
        instants = sorted({each[0] for each in near})
        late = {int(marks.late[each[1]]) for each in near}
        gaps = {after - before for before, after in combinations(instants, 2)}
        gaps |= {mark - moment + 1 for mark in late for moment in instants}
        tried = [("gap", value, value - gap) for value in gaps if value > gap]
        deadline = np.array([moment + gap for moment in instants])
        for side in SIDES:
            for batch in {each[1] for each in near}:
                needed = needed_delay(marks, self.policy, side, np.full(len(deadline), batch - 1), deadline)
                tried += [
                    (f"{side}.watermark", int(value), int(value) - self.delay[side])
                    for value in set(needed[needed < _NEVER])
                    if value > self.delay[side]
                ]
        if not self.finish:
            tried.append(("finish", 1, 1))
        return sorted(tried, key=lambda each: each[2])

    def _meets(
        self,
        members: list[tuple[int, int, int, int]],
        one: tuple[int, int, int, int],
        setting: str,
        value: int,
        gap: int,
    ) -> int | None:
        """A partner of a row under another setting, None if it has none."""
        eviction = self.outcome.marks.eviction
        if setting.endswith(".watermark"):
            eviction = self._marks_with(setting.split(".")[0], value)
        gap = value if setting == "gap" else gap
        session = _session_of(members, one, gap, eviction)
        if session is None:
            return None
        if not (self.finish or setting == "finish") and session[1] > eviction[-1]:
            return None
        partners = [each for each in session[2] if each[2] != one[2]]
        return min(partners, key=lambda each: abs(each[0] - one[0]))[3] if partners else None

    def _marks_with(self, side: str, delay: int) -> Micros:
        marks = self.outcome.marks
        newest = marks.newest[side]
        mine = np.where(newest == np.iinfo(np.int64).min, 0, np.maximum(newest, -(2**61)) - delay)
        other = marks.own[SIDES[1 - SIDES.index(side)]]
        chosen = np.minimum(mine, other) if self.policy == "min" else np.maximum(mine, other)
        return np.maximum.accumulate(np.maximum(chosen, 0))


def _session_of(
    members: list[tuple[int, int, int, int]], one: tuple[int, int, int, int], gap: int, eviction: Micros
) -> tuple[int, int, list[tuple[int, int, int, int]]] | None:
    """The session a row ends up in, as start, end and members, when the rows of its key arrive; None if it is late."""
    live: list[tuple[int, int, list[tuple[int, int, int, int]]]] = []
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


def _shifts(
    first: Micros, last: Micros, edge: Micros, size: int, mark: Micros, closing: Micros
) -> tuple[Micros, Micros]:
    """How far to shift tumbling windows, to the right and to the left, so that both times share one still open."""
    right = np.maximum(last - edge + 1, mark - edge + 1)
    rounded = -(-right // _MS) * _MS
    most = first - edge + size
    right = np.where(rounded <= most, rounded, right)
    right = np.where((right <= most) & (right > 0) & (edge + right <= closing), right, _NEVER)
    left = edge - first
    inside = (first + size > last) & (first + size > mark) & (first + size <= closing)
    return right, np.where(inside, -left, -_NEVER)


def _sizes(first: Micros, last: Micros, size: int, mark: Micros, closing: Micros) -> Micros:
    """The least size in whole milliseconds with which both times share a tumbling window still open."""
    found = np.full(len(first), _NEVER)
    left = np.arange(len(first))
    tried = np.maximum(np.maximum(last, mark - 1) - first, size) // _MS * _MS + _MS
    for _ in range(_SIZES):
        start = first // tried * tried
        good = (last < start + tried) & (start + tried > mark) & (start + tried <= closing)
        found[left[good]] = tried[good]
        left, tried, first, last, mark, closing = (
            each[~good] for each in (left, tried + _MS, first, last, mark, closing)
        )
        if not len(left):
            break
    return found


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
