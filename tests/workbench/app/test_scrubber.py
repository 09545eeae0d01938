"""The slider over micro-batches."""

from __future__ import annotations

import pandas as pd
import pytest

import workbench as wb
from workbench import model
from workbench.app.scrubber import Scrubber


def test_a_run_that_only_spark_can_do_has_no_words_for_a_moment(spark, monkeypatch):
    monkeypatch.setitem(model.check_size.__globals__, "MOST", 10)
    at = pd.Timestamp("2026-01-01 10:00")
    frames = [pd.DataFrame({"k": ["hot"] * rows, "t": [at] * rows}) for rows in (4, 5)]
    sides = [wb.Stream.from_pandas(frame, name, "k", "t") for frame, name in zip(frames, "ab", strict=True)]
    with pytest.warns(UserWarning, match="has no reasons: this join makes 20 pairs"):
        run = wb.run(wb.IntervalJoin("0 s", "5 s"), *sides)
    scrubber = Scrubber(lambda: None)
    scrubber.fit(run)
    scrubber.describe(run)
    assert scrubber.text.value.startswith("the whole run")
    scrubber.step(-1)
    scrubber.describe(run)
    assert "this join makes 20 pairs" in scrubber.text.value
