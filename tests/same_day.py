"""A kind of join that the workbench does not know: CONTRIBUTING's example of how one is added."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from workbench.builtin_kinds.window import OwnWindows
from workbench.joins import How, Join, check_how

DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True, repr=False)
class SameDayJoin(Join):
    """Every pair of rows with the same key on the same calendar day, in UTC."""

    how: How = "inner"

    def __post_init__(self):
        check_how(self.how)


class SameDay(OwnWindows[SameDayJoin]):
    """Its kind."""

    name = "same_day"
    label = "Same-day join"

    def describes(self, join):
        return isinstance(join, SameDayJoin)

    def make(self, texts, flags, how):
        return SameDayJoin(how)

    def assign(self, join, moments):
        start = moments - moments % DAY
        return pd.DataFrame({"row": np.arange(len(moments)), "start": start, "end": start + DAY})

    def window_calls(self, join, time, name, delay):
        return "a calendar day", f'        .withColumn("{name}", F.window({time}, "1 day"))'
