"""Keys with rows in state after each micro-batch, against counting them one by one."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from workbench.model import keys_present

COUNT = 5
ROWS = st.lists(st.tuples(st.integers(-2, 3), st.integers(0, COUNT - 1), st.integers(0, COUNT)), max_size=12)


@given(ROWS)
def test_a_key_is_there_while_one_of_its_rows_is(rows):
    frame = pd.DataFrame(rows, columns=["key", "batch", "evicted_in"], dtype=np.int64)
    there = [{key for key, begin, end in rows if begin <= batch < end} for batch in range(COUNT)]
    assert keys_present(frame, COUNT).tolist() == [len(each) for each in there]
