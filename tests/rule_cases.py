"""Generated rules and rows: rules joins around every boundary."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
from hypothesis import strategies as st

import workbench as wb
from workbench.joins import AS_OF

START = pd.Timestamp("2026-01-01 10:00")
JOINS = [wb.RulesJoin(as_of=as_of, copies=copies) for as_of in AS_OF for copies in (None, 3)]
OPS = ["<", "<=", ">", ">=", "=", "==", "!=", "<>", "?", None]


@dataclass(frozen=True)
class Case:
    """Rows of both sides as tuples, the last the micro-batch, and what the values of rules are."""

    join: wb.RulesJoin
    texts: bool
    left: tuple
    right: tuple
    delay: str

    def run(self):
        """The case on Spark."""
        return wb.run(self.join, *self.streams())

    def streams(self):
        kind = "string" if self.texts else "float64"
        left = pd.DataFrame(self.left, columns=["key", "t", "a", "b", "batch"]).sort_values("batch", kind="stable")
        right = pd.DataFrame(
            self.right, columns=["key", "t", "rule_id", "field", "op", "value", "withdrawn", "batch"]
        ).sort_values("batch", kind="stable")
        for frame, names in ((left, ("a", "b")), (right, ("value",))):
            frame["t"] = START + pd.to_timedelta(frame["t"].astype("int64"), unit="ms")
            frame["key"] = frame["key"].astype("string")
            frame["batch"] = frame["batch"].astype("int64")
            for name in names:
                frame[name] = frame[name].astype(kind)
        right = right.astype({"rule_id": "string", "field": "string", "op": "string", "withdrawn": "boolean"})
        if not self.texts:
            left["b"] = left["b"].fillna(0).astype("int64")
        return (
            wb.Stream.from_pandas(left, "readings", "key", "t", self.delay, batch="batch"),
            wb.Stream.from_pandas(right, "rules", "key", "t", self.delay, batch="batch"),
        )


keys, moments, batches = (
    st.sampled_from(["a", "a", "b", None]),
    st.integers(0, 12).map(lambda at: 1000 * at),
    st.integers(0, 3),
)


@st.composite
def cases(draw, delay="1 day", joins=JOINS):
    texts = draw(st.booleans())
    values = st.sampled_from(["", "x", "y", "é", None]) if texts else st.sampled_from([0.0, -0.0, 1.5, 2.0, 70.0, None])
    left = st.tuples(keys, moments, values, values, batches)
    fields = st.sampled_from(["a", "a", "b", "c", None])
    right = st.tuples(
        keys, moments, st.sampled_from(["r1", "r1", "r2", None]), fields, st.sampled_from(OPS), values,
        st.sampled_from([False, False, True, None]), batches,
    )  # fmt: skip
    rows = [tuple(draw(st.lists(each, max_size=9))) for each in (left, right)]
    return Case(draw(st.sampled_from(joins)), texts, *rows, delay)
