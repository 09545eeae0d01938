"""`tune`: one recording under many settings, computed by the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import product
from typing import Literal

import pandas as pd

from workbench import times
from workbench.errors import wrong
from workbench.joins import Join
from workbench.kinds import kind_of
from workbench.literals import DELAYS, Policy, Setting
from workbench.model import KeptByDelays, Simulation
from workbench.runs.arguments import check
from workbench.streams import Stream
from workbench.tuning import _grid
from workbench.tuning._figures import Limits, is_pareto
from workbench.tuning._result import Tuning
from workbench.tuning.trials import Trials
from workbench.untyped import Value

MOST_SETTINGS = 5_000


def tune(
    join: Join,
    left: Stream,
    right: Stream,
    *,
    over: Mapping[str, Iterable[Value]] | Literal["auto"] = "auto",
    policy: Policy = "min",
) -> Tuning:
    """What each of many settings keeps, loses, delays and costs, computed by the model from one recording.

    Parameters
    ----------
    join, left, right, policy
        As in `workbench.run`: the present setting, which is in the table too.
    over
        The values to try of each setting, every one with every other: ``left.watermark``, ``right.watermark``,
        ``policy``, ``trigger`` (where it is known when the rows arrived), and the fields of the join: ``lower``,
        ``upper``, ``size``, ``slide``, ``offset``, ``gap``, ``tolerance``, ``within``. Where bounds, the tolerance or
        ``within`` are tried, and no window, what is kept is a share of what the farthest of them gives; but of anti
        joins, and patterns that end with `not_followed_by`, of what the same setting gives with nothing late.
        ``"auto"``: the delays only, for each side the present one, none, those with which certain shares of the
        result are kept, and the cheapest that keep 99.9 % of it; of an `AsOfJoin` also the tolerances within which
        certain shares of the partners lie.

    Returns
    -------
    Tuning
        Its ``table`` has one row a setting.

    Raises
    ------
    ArgumentError
        If a setting or a value is wrong.

    Examples
    --------
    >>> import generators
    >>> import workbench as wb
    >>> streams = generators.generate("orders_payments", events=200, late=0.05, seed=7)
    >>> tuning = wb.tune(wb.IntervalJoin("0 s", "15 s"), *streams, over={"left.watermark": ["0 s", "30 s"]})
    >>> tuning.table[["left.watermark", "kept", "late_left", "late_right"]]
      left.watermark      kept  late_left  late_right
    0     10 seconds  0.955556          5           3
    1      0 seconds  0.927778          9           4
    2     30 seconds  1.000000          0           0
    """
    left, right = check(join, left, right, True, policy)
    return tuned(Simulation(join, left, right, policy=policy), over=over)


def tuned(simulation: Simulation, *, over: Mapping[str, Iterable[Value]] | Literal["auto"] = "auto") -> Tuning:
    """As `tune`, of a run, a preview or a job, with what is known of its rows beside their keys and times."""
    join, left, right, policy = simulation.join, simulation.left, simulation.right, simulation.policy
    if not kind_of(join).drops_late:
        remedy = "this join has no late or waiting rows, so there is nothing to tune; tune it by event time"
        raise wrong("join", join, remedy)
    present = _grid.present(join, left, right, policy)
    if isinstance(over, str) and over == "auto":
        return _by_delays(simulation, present)
    grid = _grid.checked(over, present)
    chosen = _product(grid, present)
    trials = Trials(simulation, _widest(join, grid, present), len(chosen))
    return _tuning(simulation, trials, chosen)


def _by_delays(simulation: Simulation, present: Mapping[Setting, str]) -> Tuning:
    """The delays with which certain shares are kept, and, where they are known, all that keep one."""
    trials = Trials(simulation, {}, _grid.MOST_DELAYS**2 + _grid.MOST_MINIMAL)
    kept = trials.kept()
    grid = _grid.automatic(simulation, kept, trials.of(present).shared)
    cheapest = None if kept is None or not trials.pairs else trials.cheapest(kept, _grid.KEPT, Limits())
    if cheapest is not None:
        for name in DELAYS.values():
            grid[name] = sorted({*grid[name], str(cheapest[name])}, key=lambda each: times.parse(each, "delay"))
    chosen = _product(grid, present)
    if set(grid) - set(DELAYS.values()):  # as of a tolerance, whose complete result is that of the longest
        trials = Trials(simulation, _widest(simulation.join, grid, present), len(chosen))
    return _tuning(simulation, trials, chosen, kept)


def _product(grid: Mapping[Setting, list[str]], present: Mapping[Setting, str]) -> list[dict[Setting, str]]:
    """Every value with every other, the present ones first."""
    found = dict.fromkeys([tuple(present[name] for name in grid), *product(*grid.values())])
    if len(found) > MOST_SETTINGS:
        raise wrong("over", f"{len(found):,} settings", f"use at most {MOST_SETTINGS:,}: fewer values of each")
    return [dict(zip(grid, values, strict=True)) for values in found]


def _tuning(
    simulation: Simulation, trials: Trials, chosen: list[dict[Setting, str]], kept: KeptByDelays | None = None
) -> Tuning:
    table = pd.DataFrame([trials.row(setting) | {"now": number == 0} for number, setting in enumerate(chosen)])
    table["pareto"] = is_pareto(table)
    answer = None if kept is None else partial(trials.answer, kept)
    join, left, right, policy = simulation.join, simulation.left, simulation.right, simulation.policy
    return Tuning(join, left, right, policy, table, trials.share, trials.pairs, kept, answer)


def _widest(join: Join, grid: Mapping[Setting, list[str]], present: Mapping[Setting, str]) -> dict[Setting, str]:
    """Of the settings that are tried those that only add results the farther they reach, at their farthest."""
    reaching = kind_of(join).reaching(join)
    if not set(grid) & set(kind_of(join).settings(join)) <= set(reaching):
        return {}
    farthest: dict[Setting, str] = {}
    for name in set(grid) & set(reaching):
        tried = [*grid[name], present[name]]
        farthest[name] = (min if reaching[name] < 0 else max)(tried, key=lambda each: times.parse(each, name))
    return farthest
