"""What the model gives under each setting that *Tune* tries, and the cheapest delays that keep what is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import pandas as pd

from workbench import fixes, model, spark_versions, times
from workbench.joins import Join
from workbench.literals import DELAYS, Policy, Setting, Side
from workbench.model import KeptByDelays, Outcome, Simulation, Watermarks, key_codes
from workbench.streams import Stream
from workbench.tuning._figures import Complete, Limits, costs_no_more, figures, ranked
from workbench.tuning._grid import MOST_MINIMAL, present
from workbench.tuning._sample import Sample, draw
from workbench.untyped import Record

__all__ = ["Trials"]


class Trials:
    """What settings give, of all rows, or of those of some keys where all would take too long.

    Parameters
    ----------
    simulation
        The rows, and the settings as they are.
    widest
        Settings at which the result is complete, beside those that are tried.
    count
        How many settings will be tried, about.
    """

    def __init__(self, simulation: Simulation, widest: Mapping[Setting, str], count: int) -> None:
        self._simulation, self._widest, self._count = simulation, widest, count
        self._keys, self._spark = key_codes(simulation.left, simulation.right), spark_versions.here()
        # by trigger interval, as rows are cut and drawn once for each
        self._cuts: dict[str | None, tuple[Stream, Stream]] = {None: (simulation.left, simulation.right)}
        self._samples: dict[str | None, Sample] = {}
        self._complete: dict[tuple[Join, str | None], Complete] = {}
        self._rows: dict[tuple[tuple[Setting, str], ...], Record] = {}

    @property
    def share(self) -> float:
        """The share of the rows that are looked at."""
        return next(iter(self._samples.values())).share

    @property
    def pairs(self) -> int:
        """How many pairs there are with nothing late, under the join that has most of them."""
        return max((each.pairs for each in self._complete.values()), default=0)

    def of(self, setting: Mapping[Setting, str]) -> Sample:
        """The rows that are looked at under a setting: its trigger interval cuts them into micro-batches."""
        trigger, simulation = setting.get("trigger"), self._simulation
        if trigger is not None and trigger not in self._cuts:
            self._cuts[trigger] = fixes.apply(
                "trigger", trigger, simulation.join, simulation.left, simulation.right, finish=True
            )[1:3]
        if trigger not in self._samples:
            cut = self._cuts[trigger]
            self._samples[trigger] = draw(simulation.join, *cut, self._keys, self._count, facts=simulation.facts)
        return self._samples[trigger]

    def row(self, setting: Mapping[Setting, str]) -> Record:
        """A row of `Tuning.table`."""
        known = tuple(setting.items())
        if known not in self._rows:
            self._rows[known] = self._tried(setting)
        return dict(self._rows[known])

    def _tried(self, setting: Mapping[Setting, str]) -> Record:
        simulation, sample, trigger = self._simulation, self.of(setting), setting.get("trigger")
        others: dict[Setting, str] = {name: value for name, value in setting.items() if name != "trigger"}
        join, left, right, policy = fixes.apply_all(others, simulation.join, *self._cuts[trigger], simulation.policy)
        complete = self._complete_of(join, left, right, trigger)
        marks = self._marks(join, left, right, policy)
        outcome = model.judge_and_join(join, marks, sample.shared, self._spark)
        tried: Record = dict(setting.items())
        return tried | figures(join, outcome, complete, sample)

    def _marks(self, join: Join, left: Stream, right: Stream, policy: Policy) -> Watermarks:
        """The watermarks, which follow all rows, whichever are looked at."""
        logged = self._simulation.logged
        if logged is None:
            return model.watermarks(join, left, right, self._keys, True, policy)
        return logged.watermarks(join, left, right, self._keys, finish=True, policy=policy)

    def _complete_of(self, join: Join, left: Stream, right: Stream, trigger: str | None) -> Complete:
        whole = fixes.apply_all(dict(self._widest), join, left, right, self._simulation.policy)[0]
        if (whole, trigger) not in self._complete:
            self._complete[whole, trigger] = Complete(whole, _completed(whole, self._samples[trigger]))
        return self._complete[whole, trigger]

    def kept(self) -> KeptByDelays | None:
        """What each pair of delays keeps, all else as it is; None where that is not known but by trying."""
        simulation, sample = self._simulation, self.of({})
        join, policy = simulation.join, simulation.policy
        outcome = _completed(join, sample)
        self._complete[join, None] = Complete(join, outcome)
        if simulation.logged is not None and simulation.logged.first:
            return None  # watermarks that are not of these rows
        marks = self._marks(join, simulation.left, simulation.right, policy)
        return model.kept_results(join, outcome, marks, policy, sample.shared.rows)

    def answer(self, kept: KeptByDelays, keep: float | None, limits: Limits) -> Record | None:
        """The row of the cheapest delays that keep a share within limits, or, without one, of those that keep most.

        A delay is left as it is where another one is no better.
        """
        found = self.most(kept, limits) if keep is None else self.cheapest(kept, keep, limits)
        return None if found is None else self._with_less_changed(found)

    def _with_less_changed(self, found: Record) -> Record:
        """The row of delays, each as it is where that keeps as much and costs no more."""
        simulation = self._simulation
        now = present(simulation.join, simulation.left, simulation.right, simulation.policy)
        for name in DELAYS.values():
            tried = self.row({each: found[each] for each in DELAYS.values()} | {name: now[name]})
            if costs_no_more(tried, found):
                found = tried
        return found

    def cheapest(self, kept: KeptByDelays, keep: float, limits: Limits) -> Record | None:
        """The row of the delays that hold the fewest rows in state of all that keep a share; None: no delays keep it.

        A longer delay of either side costs no less, so only the pairs need be tried of which neither can be shorter.
        """
        tried = pd.DataFrame([self.row(_texts(each)) for each in kept.minimal(keep, MOST_MINIMAL)])
        fine = tried[limits.hold(tried)] if len(tried) else tried
        return ranked(fine).iloc[0].to_dict() if len(fine) else None

    def most(self, kept: KeptByDelays, limits: Limits) -> Record | None:
        """The row of the delays that keep most of all within limits, and of these the cheapest; None: none is.

        What keeps more costs no less, so the number of results that can be kept is searched for by halves.
        """
        found, low, high = self.cheapest(kept, 0.0, limits), 0, kept.count + 1
        while found is not None and high - low > 1:
            half = (low + high) // 2
            tried = self.cheapest(kept, half / kept.count, limits)
            if tried is None:
                high = half
            else:
                found, low = tried, half
        return found


def _completed(join: Join, sample: Sample) -> Outcome:
    """What comes out of the rows that are looked at with nothing late."""
    return model.complete(join, sample.left, sample.right, sample.shared)


def _texts(delays: Mapping[Side, int]) -> dict[Setting, str]:
    return {DELAYS[side]: times.text(timedelta(microseconds=delay)) for side, delay in delays.items()}
