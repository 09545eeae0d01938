"""What must become of every row, computed from the recorded micro-batches with NumPy and pandas, without Spark.

`simulate` follows what Spark does with an order of arrival: watermarks, late rows, state, and the micro-batch in which
each row of the output appears. `matches` is the definition alone, with nothing late.
"""

from __future__ import annotations

from workbench.model._ahead import Ahead, ahead
from workbench.model._fates import NO_MICRO_BATCH
from workbench.model._flink import FlinkRules, in_sql
from workbench.model._glibc_malloc import keep_freed
from workbench.model._kept_by_delays import KeptByDelays, kept_results, kept_rows
from workbench.model._lateness import complete, drop_counts, judge_and_join, simulate
from workbench.model._logged import Logged
from workbench.model._outcome import Outcome, keys_present, on_time, present
from workbench.model._outputs import Outputs, members
from workbench.model._sessions import close_sessions
from workbench.model._shared import Above, Gone, Numbers, RowFacts, Shared
from workbench.model._simulation import Simulation, checked_batch, is_index
from workbench.model._watermarks import (
    DATA,
    FINISH,
    LONG_AGO,
    NO_DATA,
    Watermarks,
    end_of_input_is_enough,
    query_watermark,
    watermarks,
)
from workbench.model.conditions import is_true
from workbench.model.keys_and_pairs import MOST, at_most, check_size, common_type, key_codes, matches
from workbench.model.operators import OperatorModel
from workbench.model.own_meeting import Condition, Failed, Meeting, value_in_words
from workbench.streams import NOTHING

__all__ = [
    "DATA",
    "FINISH",
    "LONG_AGO",
    "MOST",
    "NOTHING",
    "NO_DATA",
    "NO_MICRO_BATCH",
    "Above",
    "Ahead",
    "Condition",
    "Failed",
    "FlinkRules",
    "Gone",
    "KeptByDelays",
    "Logged",
    "Meeting",
    "Numbers",
    "OperatorModel",
    "Outcome",
    "Outputs",
    "RowFacts",
    "Shared",
    "Simulation",
    "Watermarks",
    "ahead",
    "at_most",
    "check_size",
    "checked_batch",
    "close_sessions",
    "common_type",
    "complete",
    "drop_counts",
    "end_of_input_is_enough",
    "in_sql",
    "is_index",
    "is_true",
    "judge_and_join",
    "kept_results",
    "kept_rows",
    "key_codes",
    "keys_present",
    "matches",
    "members",
    "on_time",
    "present",
    "query_watermark",
    "simulate",
    "value_in_words",
    "watermarks",
]

keep_freed()
