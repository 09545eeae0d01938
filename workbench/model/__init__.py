"""What must become of every row, worked out from the recorded micro-batches with NumPy and pandas, without Spark.

`work_out` follows what Spark does with an order of arrival: watermarks, late rows, state, and the micro-batch in which
each row of the output appears. `matches` and `windows` are the definition alone, with nothing late.
"""

from __future__ import annotations

from workbench.model._definition import Micros, copies, key_codes, matches, windows
from workbench.model._outcome import PADDED, Outcome, Shared, complete, first_matches, play, work_out
from workbench.model._watermarks import DATA, NOTHING, Watermarks, dropped_null_keys, watermarks

__all__ = [
    "DATA",
    "NOTHING",
    "PADDED",
    "Micros",
    "Outcome",
    "Shared",
    "Watermarks",
    "complete",
    "copies",
    "dropped_null_keys",
    "first_matches",
    "key_codes",
    "matches",
    "play",
    "watermarks",
    "windows",
    "work_out",
]
