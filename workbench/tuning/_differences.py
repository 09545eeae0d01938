"""Time differences of the rows of one key, and the bounds of an interval join that they suggest."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pandas as pd

from workbench import model, times
from workbench.joins import IntervalJoin
from workbench.streams import Stream
from workbench.tuning import limits


def differences(left: Stream, right: Stream) -> pd.DataFrame:
    keys = model.key_codes(left, right)
    count = 1 + max((int(each.max()) for each in keys if len(each)), default=0)
    sizes = [np.bincount(each[each >= 0], minlength=count) for each in keys]
    pairs = sizes[0] * sizes[1]
    if pairs.sum() > limits.MOST_PAIRS:
        pairs = np.where(pairs > limits.MOST_PAIRS, 0, pairs)
        keys = tuple(np.where((each >= 0) & (pairs[each] > 0), each, -1) for each in keys)  # type: ignore[assignment]
        order = np.random.default_rng(0).permutation(count)
        taken = np.zeros(count, dtype=bool)
        taken[order[: max(1, int(np.searchsorted(np.cumsum(pairs[order]), limits.MOST_PAIRS)))]] = True
        keys = tuple(np.where((each >= 0) & taken[each], each, -1) for each in keys)  # type: ignore[assignment]
    ever = IntervalJoin("-36500 days", "36500 days")
    sides = [
        pd.DataFrame({"key": key, "start": stream.event_times})[key >= 0].reset_index(names="row")
        for key, stream in zip(keys, (left, right), strict=True)
    ]
    one, other = model.matches(ever, *sides)
    seconds = (sides[1]["start"].to_numpy()[other] - sides[0]["start"].to_numpy()[one]) / 1e6
    left_row, right_row = (each["row"].to_numpy()[place] for each, place in zip(sides, (one, other), strict=True))
    return pd.DataFrame({"left": left_row, "right": right_row, "seconds": seconds})


def bounds(found: pd.DataFrame) -> pd.DataFrame:
    seconds = found["seconds"].to_numpy()
    before, after = np.sort(-seconds[seconds < 0]), np.sort(seconds[seconds >= 0])
    rows = []
    for share in (0.5, 0.9, 0.95, 0.99, 0.999, 1.0):
        reach = [each[int(np.ceil(share * len(each))) - 1] if len(each) else 0.0 for each in (before, after)]
        within = (seconds >= -reach[0]) & (seconds <= reach[1])
        partners = np.bincount(found["left"].to_numpy()[within]) if within.any() else np.array([0])
        texts = [times.text(timedelta(seconds=float(each))) for each in (-reach[0], reach[1])]
        rows.append(
            {
                "share": share,
                "lower": texts[0],
                "upper": texts[1],
                "pairs": float(within.mean()) if len(seconds) else 0.0,
                "one_to_many": int((partners > 1).sum()) / max(1, int((partners > 0).sum())),
            }
        )
    return pd.DataFrame(rows)
