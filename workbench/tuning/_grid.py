"""Which settings are tried, with which values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta

import numpy as np

from workbench import model, times
from workbench.arrays import Numbers
from workbench.errors import excerpt, wrong
from workbench.joins import Join
from workbench.kinds import NEVER, kind_of
from workbench.literals import DELAYS, POLICIES, Policy, Setting
from workbench.model import KeptByDelays, Shared, Simulation
from workbench.streams import SIDES, Stream
from workbench.times import Span
from workbench.untyped import Value

_SHARES = (0.5, 0.9, 0.95, 0.99, 0.995, 0.999, 1.0)
"""The shares that ``over="auto"`` tries a delay of a side for, beside no delay at all."""
MOST_DELAYS = len(_SHARES) + 3
"""With none, the present one, and that of the cheapest pair."""
MOST_MINIMAL = 100
"""How many pairs of delays are tried of those that keep a share, of which neither can be shorter."""
KEPT = 0.999
"""The share that ``over="auto"`` tries the cheapest pair of delays for."""


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
            raise wrong("over", name, "the streams have no times of arrival; make both with trigger=…")
        if name not in present:
            raise wrong("over", name, f"this join has no such setting; it has {', '.join(present)}")
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise wrong(f"over[{excerpt(name)}]", values, "give a list of values")
        grid[name] = [_value(name, value) for value in values]
        if not grid[name]:
            raise wrong(f"over[{excerpt(name)}]", values, "give at least one value")
    return grid


def _value(name: str, value: Value) -> str:
    if name == "policy":
        if value not in POLICIES:
            raise wrong("over['policy']", value, "use 'min' or 'max'")
        return str(value)
    read = times.trigger if name == "trigger" else times.parse
    return times.text(read(value, f"over[{name!r}]"))


def automatic(simulation: Simulation, kept: KeptByDelays | None, shared: Shared) -> dict[Setting, list[str]]:
    """Delays, and what the kind would try.

    Parameters
    ----------
    simulation
        The rows, and the settings as they are.
    kept
        What each pair of delays keeps; None: it is not known, and for each side those are tried with which certain
        shares of its rows are on time.
    shared
        What is known of the assignments.
    """
    join, policy = simulation.join, simulation.policy
    grid: dict[Setting, list[str]] = {}
    for side in SIDES:
        known = kept or model.kept_rows(simulation.outcome, policy, (side,))
        needed = known.needed(side, 0 if policy == "min" else int(NEVER) - 1)
        needed = needed[needed < NEVER]
        values: Numbers | list[int] = np.quantile(needed, _SHARES, method="inverted_cdf") if len(needed) else []
        tried = sorted({0, times.micros(simulation.side(side).watermark), *map(int, values)})
        grid[DELAYS[side]] = [times.text(timedelta(microseconds=each)) for each in tried]
    for name, spans in kind_of(join).tries(join, shared).items():
        grid[name] = [times.text(timedelta(microseconds=each)) for each in spans]
    return grid
