"""What Spark runs for a join of a kind."""

from __future__ import annotations

from typing import Generic

from workbench.joins import emission
from workbench.kinds._inputs import J
from workbench.kinds._operator import HASH_JOIN, Operator
from workbench.literals import Side
from workbench.plan.names import Names, SideNames
from workbench.sources.name_checks import LATE_WINDOW

ENDED = f'.where(F.col("{LATE_WINDOW}.end") <= watermark)'
"""What follows a script's rows and their windows: those that are late, as their window has ended."""


class Execution(Generic[J]):
    """What Spark runs.

    `workbench.plan` and `workbench.script` ask for the texts, once a run or export; the model, the engine and the runs
    ask for the rest.

    Attributes
    ----------
    operator
        How Spark executes it: `HASH_JOIN`, `AGGREGATION`, `CLOSEST_PAIR`, or a processor that the kind brings along.
    without_processor
        Of a kind that is a processor, where a version of Spark has none: how the sentence begins that says so ("it
        needs"), and how it ends, with what to do instead (": give it a tolerance").
    no_ttl
        Why a time to live of its rows in state cannot be asked for, in words.
    parts
        What it brings along for the packages above, each of a class that the package which calls it defines:
        `workbench.model.OperatorModel`, `workbench.model.Meeting`, `workbench.reasons.own.OwnReasons`,
        `workbench.runs.expiry.Expiring`, `PanelOf`; at most one of each class.
    state_bytes
        Bytes that Spark 4.3's in-memory state store takes for a row or group beside its values: measured at the peak
        of runs of five kinds over three scenarios, 300 and 2,000 rows a side; none was off by more than a third.
    reserved
        Names of columns, in lower case, that its output has itself, so that no key may have them.
    """

    operator: Operator = HASH_JOIN
    without_processor: tuple[str, str] = ("it needs", "")
    no_ttl: str = "which needs no time to live, because the watermark evicts all its rows"
    parts: tuple[object, ...] = ()
    state_bytes: int = 720
    reserved: frozenset[str] = frozenset()

    def right_copies(self, join: J) -> int | None:
        """Into how many groups left rows of all keys are spread, each with a copy of all right rows; None: by key."""
        return None

    def match_columns(self, join: J) -> tuple[tuple[str, Side], ...]:
        """Of a join whose output is matches, the list columns of these: each step that takes rows, and their side."""
        return ()

    def plan(self, join: J, names: Names, finish: bool) -> str:
        """The function ``join_streams`` as Python text; see `plan_of`."""
        raise NotImplementedError

    def late_rows(self, join: J, side: SideNames, rows: str) -> str:
        """The body of a script's function of ``rows`` and ``watermark`` that gives the late rows of one side.

        It is written into a project with dead letters; of a kind that drops no late rows it gives none.
        Where the kind has windows it gives a row for each window that it is late for, which is in the column
        `workbench.sources.name_checks.LATE_WINDOW`.

        Parameters
        ----------
        join, side
            The join, and the `SideNames` of the side.
        rows
            Python source of the rows to look among: those whose key the join takes.
        """
        raise NotImplementedError

    def drops_null_keys(self, join: J) -> tuple[bool, bool]:
        """Whether rows with a null key are filtered out before the watermark sees them, on the left and on the right.

        Spark pushes "key is not null" below the watermark wherever a row without key cannot be in the result.
        """
        emitted = emission(join)
        if not emitted.padded:
            return True, True
        return "left" not in emitted.padded, "right" not in emitted.padded
