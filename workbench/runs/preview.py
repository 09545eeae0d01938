"""`Preview`: the expected result of a run, simulated without Spark."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from workbench.runs.result import Result

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Preview"]


@dataclass(frozen=True, eq=False, repr=False)
class Preview(Result):
    """The expected result of a run, simulated. Made by `workbench.preview`.

    As a `Run`, without what only Spark knows: its state, sizes, durations and counters.
    """

    def __repr__(self) -> str:
        return f"<Preview{self._called()} of {self.join} on {self.left.name} and {self.right.name}>"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            from workbench.runs.run import Run

            if name in {*dir(Run), *Run.__dataclass_fields__} - {*dir(type(self))}:
                raise AttributeError(f"a preview has no {name}; only Spark knows it: run the join with workbench.run")
            return super().__getattribute__(name)  # raises what was raised at first

    @cached_property
    def raw_output(self) -> pa.Table:
        """The output that Spark is expected to write."""
        from workbench.runs import output

        return output.simulated(self.simulation)
