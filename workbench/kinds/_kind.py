"""What the workbench asks of a kind of join."""

from __future__ import annotations

from typing import Any, TypeAlias

from workbench.kinds._execution import Execution
from workbench.kinds._flink import FlinkTexts
from workbench.kinds._inputs import J
from workbench.kinds._introduction import Introduction
from workbench.kinds._semantics import Semantics
from workbench.kinds._words import Words


class Kind(Introduction[J], Words[J], Semantics[J], Execution[J], FlinkTexts[J]):
    """One kind of join: all that the rest of the workbench asks about it.

    As it stands it answers for a join of two streams on their keys and a window that each row is in by itself, such as
    a tumbling one. A kind says what differs; `name`, `label`, `describes`, `make`, `plan`, `late_rows` and `assign` it
    must say. What it is asked stands in a small protocol for each caller: `Introduction`, `Form`, `Settings`,
    `Semantics`, `Words`, `Execution`, `FlinkTexts`.
    """


AnyKind: TypeAlias = Kind[Any]
"""A kind of whatever joins: a registry has kinds of several."""
