"""`tune`: one recording under many settings, computed by the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any, Literal

import pandas as pd

from workbench import fixes, model, spark_versions, times
from workbench.errors import wrong
from workbench.joins import Join
from workbench.kinds import kind_of
from workbench.literals import Policy, Setting
from workbench.model import Shared, Simulation, key_codes
from workbench.runs.arguments import check
from workbench.streams import Stream
from workbench.tuning import _grid
from workbench.tuning._figures import Complete, figures, is_pareto
from workbench.tuning._result import Tuning
from workbench.tuning._sample import Sample, draw

MOST_SETTINGS = 5_000


def tune(
    join: Join,
    left: Stream,
    right: Stream,
    *,
    over: Mapping[str, Iterable[Any]] | Literal["auto"] = "auto",
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
        ``"auto"``: for each side the present delay, none, and those that keep certain shares of its rows; with the
        present trigger interval and, where that makes from 10 to 10,000 micro-batches, ten times and a tenth of it; of
        an `AsOfJoin` the tolerances within which certain shares of the partners lie.

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


def tuned(simulation: Simulation, *, over: Mapping[str, Iterable[Any]] | Literal["auto"] = "auto") -> Tuning:
    """As `tune`, of a run, a preview or a job, with what is known of its rows beside their keys and times."""
    join, left, right, policy = simulation.join, simulation.left, simulation.right, simulation.policy
    keys, facts = key_codes(left, right), simulation.facts
    if not kind_of(join).drops_late:
        remedy = "in this join nothing is late and nothing waits, so there is nothing to tune; tune it by event time"
        raise wrong("join", join, remedy)
    present = _grid.present(join, left, right, policy)
    automatic = isinstance(over, str) and over == "auto"
    grid = (
        _grid.automatic(join, left, right, policy, Shared(left, right, keys, facts))
        if automatic
        else _grid.checked(over, present)
    )
    names = list(grid)
    chosen = list(dict.fromkeys([tuple(present[name] for name in names), *product(*grid.values())]))
    if len(chosen) > MOST_SETTINGS:
        raise wrong("over", f"{len(chosen):,} settings", f"use at most {MOST_SETTINGS:,}: fewer values of each")
    # by trigger interval, as rows are cut and drawn once for each
    cuts: dict[str | None, tuple[Stream, Stream]] = {None: (left, right)}
    samples: dict[str | None, Sample] = {}
    widest = _widest(join, grid, present)
    complete: dict[tuple[Join, str | None], Complete] = {}
    rows, spark = [], spark_versions.here()
    for values in chosen:
        setting = dict(zip(names, values, strict=True))
        trigger = setting.get("trigger")
        if trigger is not None and trigger not in cuts:
            cuts[trigger] = fixes.apply("trigger", trigger, join, left, right, finish=True)[1:3]
        if trigger not in samples:
            samples[trigger] = draw(join, *cuts[trigger], keys, len(chosen), facts=facts)
        others: dict[Setting, str] = {name: value for name, value in setting.items() if name != "trigger"}
        changed, one, other, chosen_policy = fixes.apply_all(others, join, *cuts[trigger], policy)
        sample = samples[trigger]
        whole = fixes.apply_all(widest, changed, one, other, policy)[0]
        if (whole, trigger) not in complete:
            complete[whole, trigger] = Complete(whole, sample)
        # the watermark follows all rows, whichever are looked at
        if simulation.logged is None:
            marks = model.watermarks(changed, one, other, keys, True, chosen_policy)
        else:
            marks = simulation.logged.watermarks(changed, one, other, keys, finish=True, policy=chosen_policy)
        outcome = model.replay(changed, marks, sample.shared, spark)
        row = setting | figures(changed, outcome, complete[whole, trigger], sample)
        rows.append(row | {"now": values == chosen[0]})
    table = pd.DataFrame(rows)
    share = next(iter(samples.values())).share
    most = max(each.pairs for each in complete.values())
    return Tuning(join, left, right, policy, table.assign(pareto=is_pareto(table)), share, most)


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
