"""The axes that a run's charts share: event time, the time of arrival, micro-batches.

A place on an axis is a whole number: of microseconds since 1970-01-01 UTC, or of millionths of a micro-batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import altair as alt
import numpy as np
import pandas as pd

from workbench.arrays import Batches, Numbers, Times
from workbench.charts._style import time_axis
from workbench.errors import one_of, wrong
from workbench.literals import SIDES, Side
from workbench.model import Simulation
from workbench.untyped import AltairChart, Value

AxisName = Literal["event time", "arrival time", "micro-batch"]
AXES: tuple[AxisName, ...] = get_args(AxisName)
_UNIT = 1_000_000


@dataclass(frozen=True)
class Axis:
    """One of the axes.

    Attributes
    ----------
    name
        Which.
    """

    name: AxisName

    @property
    def of_times(self) -> bool:
        """Whether its places are times."""
        return self.name != "micro-batch"

    @property
    def title(self) -> str:
        """What is written on it."""
        return f"{self.name} (UTC)" if self.of_times else self.name

    def shown(self, places: Any) -> AltairChart:
        """Places as a chart has them: in milliseconds, or micro-batches."""
        return np.asarray(places) / (1_000 if self.of_times else _UNIT)

    def place(self, shown: float) -> int:
        """The place of what a chart has."""
        return round(shown * (1_000 if self.of_times else _UNIT))

    def x(self, field: str, ends: tuple[str, str] = ("low", "high"), hidden: bool = False, **options: Value) -> alt.X:
        """The encoding of a field with what `shown` gives, between two parameters.

        Parameters
        ----------
        field
            The field.
        ends
            The parameters.
        hidden
            Whether the axis is left out.
        **options
            Of the axis.
        """
        scale = alt.Scale(
            type="utc" if self.of_times else "linear",
            domain=alt.ExprRef(f"[{ends[0]}, {ends[1]}]"),
            nice=False,
            zero=alt.Undefined if self.of_times else False,
        )
        made = time_axis(**options) if self.of_times else alt.Axis(tickCount=10, tickMinStep=1, **options)
        axis = None if hidden else made
        return alt.X(f"{field}:{'T' if self.of_times else 'Q'}", scale=scale, axis=axis, title=None)

    def words(self, shown: float) -> str:
        """A place as text."""
        if not self.of_times:
            return f"{shown:.6g}"
        moment = pd.Timestamp(round(shown * 1_000), unit="us")
        return f"{moment:%Y-%m-%d %H:%M:%S.%f}"[:-3].removesuffix(".000")


EVENT_TIME = Axis("event time")


def axes(simulation: Simulation) -> tuple[AxisName, ...]:
    """The axes that a run has: times of arrival are known of streams that are cut by a trigger interval."""
    known = all(simulation.side(side).arrivals is not None for side in SIDES)
    return tuple(name for name in AXES if known or name != "arrival time")


def axis_of(simulation: Simulation, name: object) -> Axis:
    """An axis by its name.

    Raises
    ------
    ArgumentError
        If there is none of that name, or the run's streams have no times of arrival.
    """
    one_of("axis", name, AXES)
    if name not in axes(simulation):
        remedy = (
            'these streams have no times of arrival; give them some with arrival=… and trigger=…, or use "event time"'
        )
        raise wrong("axis", name, remedy)
    return Axis(name)


def places(simulation: Simulation, side: Side, axis: Axis) -> Times:
    """The place of every row of a side."""
    stream = simulation.side(side)
    if axis.name == "event time":
        return stream.event_times
    if axis.name == "arrival time" and stream.arrivals is not None:
        return stream.arrivals.at
    return np.rint(arrived(stream.arrival) * _UNIT).astype(np.int64)


def ends_of_batches(simulation: Simulation, axis: Axis) -> Times:
    """How far each micro-batch of a run had come: the newest row of either side; before one the least number."""
    count = len(simulation.outcome.marks)
    if not axis.of_times:
        return (np.arange(count) + 1) * _UNIT
    newest = np.full(count, np.iinfo(np.int64).min)
    for side in SIDES:
        np.maximum.at(newest, simulation.side(side).arrival, places(simulation, side, axis))
    return np.maximum.accumulate(newest)


def arrived(batch: Batches) -> Numbers:
    """Each row's place in the order of arrival, in micro-batches: 3.5 is half-way through micro-batch 3."""
    sizes = np.bincount(batch)
    first = np.cumsum(sizes) - sizes
    place: Numbers = batch + (np.arange(len(batch)) - first[batch] + 0.5) / np.maximum(sizes[batch], 1)
    return place
