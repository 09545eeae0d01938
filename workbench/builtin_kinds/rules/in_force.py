"""Which versions of rules are in force for which rows, and until when they are of use."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.arrays import Flags, RowNumbers, Times
from workbench.builtin_kinds.rules.fields import compared
from workbench.joins import RulesJoin
from workbench.kinds import NEVER
from workbench.model.keys_and_pairs import check_pairs
from workbench.model.ordering import along_keys, order, stretches

__all__ = ["compared", "covered", "in_force", "retained"]


def in_force(join: RulesJoin, left: pd.DataFrame, right: pd.DataFrame) -> tuple[RowNumbers, RowNumbers]:
    """Each left row with each version of a rule that is in force for it, whether it meets it or not.

    Parameters
    ----------
    join
        The join.
    left, right
        Columns ``key`` (code, below 0 for none), ``start`` (the event time, in microseconds), ``batch`` (its arrival);
        on the right ``rule`` (a number for each rule, below 0 without a name), ``withdrawn`` (whether the version
        withdraws it). In order of arrival.

    Returns
    -------
    tuple of numpy.ndarray
        The pairs, as places in the two frames, in order of left rows.

    Raises
    ------
    TooLargeError
        If there are more than the model makes.
    """
    places, begin, end = covered(join, right)
    rows = np.flatnonzero((left["key"] >= 0).to_numpy())
    none = np.array([], dtype=np.int64)
    if not (len(places) and len(rows)):
        return none, none
    key, at = left["key"].to_numpy()[rows], left[_axis(join)].to_numpy()[rows]
    of_rule = right["key"].to_numpy()[places]
    end = np.minimum(end, max(int(at.max()), int(begin.max())) + 1)
    axis, first, last = along_keys((key, at), (of_rule, begin), (of_rule, end))
    found = order(axis)
    low, high = (np.searchsorted(axis[found], each) for each in (first, last))
    count = high - low
    check_pairs(of_rule, count, lambda code: f"number {code}")
    one, other = rows[found[stretches(low, count)]], np.repeat(places, count)
    by_left = order(one)
    return one[by_left], other[by_left]


def covered(join: RulesJoin, right: pd.DataFrame) -> tuple[RowNumbers, Times, Times]:
    """The versions that are in force for some rows, and from when until when.

    Parameters
    ----------
    join, right
        As in `in_force`.

    Returns
    -------
    places
        Of versions that have a key and a name, withdraw nothing, and are the last of their rule at an instant.
    begin, end
        Event times in microseconds, by arrival micro-batches; the end is not within; 2**62 without one.
    """
    places, begin, end = _spans(join, right)
    shown = ~right["withdrawn"].to_numpy()[places] & (right[["key", "rule"]].to_numpy()[places] >= 0).all(axis=1)
    return places[shown], begin[shown], end[shown]


def retained(join: RulesJoin, right: pd.DataFrame) -> tuple[Times, Times]:
    """Until when a version of a rule is of use.

    Parameters
    ----------
    join, right
        As in `in_force`.

    Returns
    -------
    until
        By event time: for each right row the watermark, in microseconds, from which on it is in force for no row that
        can still come; 2**62: never. By arrival: the micro-batch in which it is replaced, or comes if it withdraws.
    replaced_by
        The place of the right row that replaces it, at the same event time or in the same micro-batch, when that
        arrives; -1 where there is none.
    """
    places, begin, end = _spans(join, right)
    until, replaced_by = np.empty(len(right), dtype=np.int64), np.full(len(right), -1)
    until[places] = np.where(right["withdrawn"].to_numpy()[places], begin, end)
    ordered, same = _instants(join, right)
    again = np.flatnonzero(same)
    replaced_by[ordered[again - 1]] = ordered[again]
    for place in ordered[again - 1][::-1].tolist():
        until[place] = until[replaced_by[place]]
    return until, replaced_by


def _axis(join: RulesJoin) -> str:
    """Along what versions follow each other."""
    return "batch" if join.as_of == "arrival" else "start"


def _instants(join: RulesJoin, right: pd.DataFrame) -> tuple[RowNumbers, Flags]:
    """The places of versions in order of key, rule, instant and arrival; which follow one of the same instant."""
    columns = [right[name].to_numpy() for name in ("key", "rule", _axis(join))]
    places = np.lexsort([right["start"].to_numpy(), *columns[::-1]])  # in a micro-batch in order of event time
    same = np.zeros(len(places), dtype=bool)
    same[1:] = np.all([each[places][1:] == each[places][:-1] for each in columns], axis=0)
    return places, same


def _spans(join: RulesJoin, right: pd.DataFrame) -> tuple[RowNumbers, Times, Times]:
    """The last version of each rule at an instant, from when until when it is the latest; 2**62 without an end."""
    places, same = _instants(join, right)
    last = places[~np.append(same[1:], False)] if len(places) else places
    rule, begin = (right[name].to_numpy()[last] for name in ("rule", _axis(join)))
    key, end = right["key"].to_numpy()[last], np.full(len(last), NEVER)
    if len(last):
        follows = (key[1:] == key[:-1]) & (rule[1:] == rule[:-1])
        end[:-1] = np.where(follows, begin[1:], NEVER)
    return last, begin, end
