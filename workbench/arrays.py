"""What NumPy arrays hold, as types: one value for each row, pair, window or micro-batch."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Batches", "Codes", "Counts", "Flags", "Integers", "Numbers", "Objects", "RowNumbers", "Texts", "Times"]

Times: TypeAlias = NDArray[np.int64]
"""Event times and watermarks in microseconds since 1970-01-01 UTC, or time spans in microseconds."""
Codes: TypeAlias = NDArray[np.int64]
"""Keys as numbers, equal where the keys are; below 0 for a key with a null."""
RowNumbers: TypeAlias = NDArray[np.int64]
"""Numbers of rows, pairs or outputs, or their places in a table, from 0; -1 for none."""
Batches: TypeAlias = NDArray[np.int64]
"""Numbers of micro-batches, from 0."""
Counts: TypeAlias = NDArray[np.int64]
"""How many there are."""
Flags: TypeAlias = NDArray[np.bool_]
"""Whether something holds."""
Numbers: TypeAlias = NDArray[np.float64]
"""Other numbers, NaN for none."""
Texts: TypeAlias = NDArray[np.object_]
"""Texts, as Python objects."""
Objects: TypeAlias = NDArray[np.object_]
"""Values of a user's columns, or other Python objects."""
Integers: TypeAlias = NDArray[np.int64]
"""Whole numbers of any meaning, for what sorts, compares and looks them up."""
