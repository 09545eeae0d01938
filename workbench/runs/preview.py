"""`Preview`: the expected result of a run, simulated without Spark."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from workbench.errors import check_whole
from workbench.model import checked_batch
from workbench.reasons import output
from workbench.runs import holding
from workbench.runs.result import Result
from workbench.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["Preview"]


@dataclass(frozen=True, eq=False, repr=False)
class Preview(Result):
    """The expected result of a run, simulated. Made by `workbench.preview`.

    As a `Run`, without what only Spark knows: sizes, durations and counters.
    """

    def __repr__(self) -> str:
        return f"<Preview{self._called()} of {self.join} on {self.left.name} and {self.right.name}>"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            if name in {*dir(Run), *Run.__dataclass_fields__} - {*dir(type(self))}:
                raise AttributeError(f"a preview has no {name}; only Spark knows it: run the join with workbench.run")
            return super().__getattribute__(name)  # raises what was raised at first

    def state(self, batch: int, key: object = None) -> pd.DataFrame:
        """What is expected in state after a micro-batch, as `Run.state`; how many bytes it takes, only Spark knows.

        The window of a row in a session is the session that it is in at last, which may still have been shorter then.
        """
        return holding.of_rows(self.simulation, self._held(batch), None, None if key is None else self._rows_of(key))

    def state_by_key(self, batch: int, most: int = 10) -> pd.DataFrame:
        """The keys that take most of the state after a micro-batch, as `Run.state_by_key`."""
        check_whole("most", most)
        return holding.by_key(self.simulation, self._held(batch), None, most)

    def _held(self, batch: int) -> pd.DataFrame:
        return holding.simulated(self.simulation, checked_batch(batch, len(self.simulation.outcome.marks)))

    @cached_property
    def raw_output(self) -> pa.Table:
        """The output that Spark is expected to write."""
        return output.simulated(self.simulation)
