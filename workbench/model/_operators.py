"""What the model knows of each of Spark's operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd

from workbench.joins import Join
from workbench.kinds import AGGREGATION, CLOSEST_PAIR, HASH_JOIN, PATTERN, PROCESSOR, RULES, RULES_ON_ARRIVAL, Operator
from workbench.literals import Side
from workbench.model import _aggregation, _closest, _hash_join, _patterns, _rules
from workbench.model._outcome import Outcome
from workbench.model._shared import Shared
from workbench.model._watermarks import Watermarks
from workbench.spark_versions import SparkFacts


@dataclass(frozen=True)
class OperatorModel:
    """One of Spark's operators.

    Attributes
    ----------
    replay
        What comes out of a join under watermarks, of its sides (the assignments with ``filtered``, ``watermark`` and
        ``late``), what they share, and the facts of the version of Spark.
    dropped
        Of a join's late assignments (``batch``, ``side``, ``key``, ``start``) those that Spark counts in
        ``numRowsDroppedByWatermark``.
    """

    replay: Callable[[Join, Watermarks, dict[Side, pd.DataFrame], Shared, SparkFacts], Outcome]
    dropped: Callable[[Join, pd.DataFrame], pd.DataFrame]


MODELS: Mapping[Operator, OperatorModel] = {
    HASH_JOIN: OperatorModel(_hash_join.replay, _hash_join.dropped),
    AGGREGATION: OperatorModel(_aggregation.replay, _aggregation.dropped),
    CLOSEST_PAIR: OperatorModel(_closest.by_pairs, _hash_join.dropped),
    PROCESSOR: OperatorModel(_closest.by_processor, _hash_join.dropped),
    RULES: OperatorModel(_rules.by_event_time, _rules.dropped),
    PATTERN: OperatorModel(_patterns.replay, _hash_join.dropped),
    RULES_ON_ARRIVAL: OperatorModel(_rules.by_arrival, _rules.dropped),
}
