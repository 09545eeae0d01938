"""Which settings are tried, with which values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

import numpy as np

from workbench import fixes, model, times
from workbench.errors import wrong
from workbench.joins import Join
from workbench.kinds import kind_of
from workbench.literals import DELAYS, POLICIES, Policy, Setting
from workbench.model import NOTHING, Shared
from workbench.streams import SIDES, Stream
from workbench.times import Span

_SHARES = (0.5, 0.9, 0.95, 0.99, 0.995, 0.999, 1.0)
"""The shares of a side's rows that ``over="auto"`` tries a delay for, beside no delay at all."""
_TIMES, _LEAST_BATCHES, _MOST_BATCHES = 10, 10, 10_000
"""``over="auto"`` tries so many times the trigger interval, and its so manieth part, within so many micro-batches."""
_STEP = 100_000
"""Those delays are rounded up to tenths of a second; in microseconds."""


def present(join: Join, left: Stream, right: Stream, policy: Policy) -> dict[Setting, str]:
    """All settings as they are."""
    spans: dict[Setting, Span] = {"left.watermark": left.watermark, "right.watermark": right.watermark}
    spans |= kind_of(join).settings(join)
    if left.arrivals is not None:
        spans["trigger"] = left.arrivals.trigger
    texts: dict[Setting, str] = {name: times.text(times.exact(span)) for name, span in spans.items()}
    return texts | {"policy": policy}


def checked(over: object, present: dict[Setting, str]) -> dict[Setting, list[str]]:
    """The values to try that the user gave, as text."""
    if not isinstance(over, Mapping) or not over:
        raise wrong("over", over, 'use "auto", or values by setting such as {"left.watermark": ["0 s", "5 s"]}')
    grid: dict[Setting, list[str]] = {}
    for name, values in over.items():
        if name not in present and name == "trigger":
            raise wrong("over", name, "it is not known when the rows arrived; make both streams with trigger=…")
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
    read = times.trigger if name == "trigger" else times.parse
    return times.text(read(value, f"over[{name!r}]"))


def automatic(join: Join, left: Stream, right: Stream, policy: Policy, shared: Shared) -> dict[Setting, list[str]]:
    """Delays, trigger intervals and what the kind would try.

    For each side the present delay, and those with which certain shares of its rows are not late, under the shortest
    trigger interval; of these, where the arrival of the rows is known, the present one, a tenth of it and ten of it.
    What `shared` has of the assignments is of the present trigger interval.
    """
    triggers = _triggers(left, right)
    if triggers:
        join, left, right, _ = fixes.apply("trigger", triggers[-1], join, left, right, finish=True)
        shared = Shared(left, right, shared.keys, shared.rows)
    outcome = model.simulate(join, left, right, policy=policy, shared=shared)
    grid: dict[Setting, list[str]] = {}
    for side, stream in zip(SIDES, (left, right), strict=True):
        assignments = outcome.assignments[side].drop_duplicates("row", keep="last")
        index, end = assignments["batch"].to_numpy() - 1, assignments["end"].to_numpy()
        newest = np.where(index >= 0, outcome.marks.newest[side][np.maximum(index, 0)], NOTHING)
        need = np.where(newest > NOTHING, newest, end) - (end - 1) // 1000 * 1000
        values = np.quantile(np.maximum(need, 0), _SHARES, method="inverted_cdf") if len(need) else []
        steps = sorted({0, times.micros(stream.watermark), *(-(-int(each) // _STEP) * _STEP for each in values)})
        texts = [times.text(timedelta(microseconds=each)) for each in steps]
        grid[DELAYS[side]] = texts
    for name, spans in kind_of(join).tries(join, shared).items():
        grid[name] = [times.text(timedelta(microseconds=each)) for each in spans]
    return grid | ({"trigger": triggers} if triggers else {})


def _triggers(left: Stream, right: Stream) -> list[str]:
    """Trigger intervals to try, the shortest last; none where it is not known when the rows arrived."""
    if left.arrivals is None:
        return []
    now, count = left.arrivals.trigger, left.batch_count
    tried = [now]
    if count >= _TIMES * _LEAST_BATCHES:
        tried.insert(0, now * _TIMES)
    if count * _TIMES <= _MOST_BATCHES and times.micros(now) % (_TIMES * 1000) == 0:
        tried.append(now / _TIMES)
    return [times.text(each) for each in tried]
