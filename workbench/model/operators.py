"""What the model knows of each of Spark's operators, and what the model of another one is written with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pandas as pd

from workbench.joins import Join
from workbench.kinds import AGGREGATION, HASH_JOIN, Operator, kind_of, part_of
from workbench.literals import Side
from workbench.model import _aggregation, _hash_join
from workbench.model._hash_join import dropped, evicted_up_to, met, no_groups
from workbench.model._outcome import Outcome, keys_present, on_time, present, rows_present
from workbench.model._outputs import Outputs, Placed, of_pairs
from workbench.model._shared import Shared
from workbench.model._watermarks import ENDED, Watermarks
from workbench.spark_versions import SparkFacts

__all__ = [
    "ENDED",
    "OperatorModel",
    "Outcome",
    "Outputs",
    "Placed",
    "Shared",
    "Watermarks",
    "dropped",
    "evicted_up_to",
    "keys_present",
    "met",
    "model_of",
    "no_groups",
    "of_pairs",
    "on_time",
    "present",
    "rows_present",
]


J = TypeVar("J", bound=Join)


@dataclass(frozen=True)
class OperatorModel(Generic[J]):
    """The simulation of one of Spark's operators, or of a processor that a kind of join brings along.

    Attributes
    ----------
    replay
        What comes out of a join under watermarks. It gets the sides, as assignments with ``filtered``, ``watermark``
        and ``late``, late and filtered rows among them; what is known of the streams whatever the settings; and the
        facts of the version of Spark. The frames are its own: it adds the other columns of `Outcome.assignments`
        (``evicted_in``, ``held``, ``matched``, ``waits``, ``group``, of a processor ``leaves_at``), and returns them.
    dropped
        Of a join's late assignments (``batch``, ``side``, ``key``, ``start``) those that Spark counts in
        ``numRowsDroppedByWatermark``; the hash join's, `dropped` of this module, gives one a row.
    """

    replay: Callable[[J, Watermarks, dict[Side, pd.DataFrame], Shared, SparkFacts], Outcome]
    dropped: Callable[[J, pd.DataFrame], pd.DataFrame]


_MODELS: Mapping[Operator, OperatorModel[Join]] = {
    HASH_JOIN: OperatorModel(_hash_join.replay, dropped),
    AGGREGATION: OperatorModel(_aggregation.replay, _aggregation.dropped),
}


def model_of(join: Join) -> OperatorModel[Any]:
    """The model of the operator that executes a join: what its kind brings along, or else that of Spark's own.

    Spark's own are the hash join and the aggregation; all else, pairs of both among it, comes with a kind.
    """
    return part_of(join, OperatorModel) or _MODELS[kind_of(join).operator]
