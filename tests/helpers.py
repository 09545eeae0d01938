"""Streams from short lists, and outputs as lists to compare."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import reference

import workbench as wb

SECOND = 1_000_000


def stream(rows, name="left", watermark="0 seconds", unit=SECOND, batches=None, key="key", time="t"):
    """A stream of (key, t) or (key, t, batch) rows; t in `unit` microseconds."""
    frame = pd.DataFrame(
        {
            key: pd.Series([row[0] for row in rows], dtype=object),
            time: pd.to_datetime([int(row[1] * unit) for row in rows], unit="us"),
            "n": pd.Series(range(len(rows)), dtype="int64"),
            "batch": pd.Series([row[2] if len(row) > 2 else 0 for row in rows], dtype="int64"),
        }
    )
    frame[key] = frame[key].astype("string")
    return wb.Stream.from_pandas(frame, name, key=key, time=time, watermark=watermark, batch="batch")


def loose(stream):
    """A stream's rows as the reference takes them."""
    keys = stream.table.select(list(stream.key)).to_pylist()
    return [
        {"key": None if None in row.values() else tuple(row.values()), "t": t}
        for row, t in zip(keys, stream.event_times.tolist(), strict=True)
    ]


def window_tuple(window):
    from workbench.times import micros

    if isinstance(window, wb.Tumbling):
        return ("tumbling", micros(window.size), micros(window.offset))
    if isinstance(window, wb.Sliding):
        return ("sliding", micros(window.size), micros(window.slide), micros(window.offset))
    return ("session", micros(window.gap))


def expected(join, left, right, satisfies=None):
    """What the reference says comes out; `satisfies` is the join's condition on the numbers ``n`` of a pair."""
    from workbench.times import micros

    if satisfies is not None:
        return _expected_where(join, left, right, satisfies)
    if isinstance(join, wb.RulesJoin):
        return _expected_rules(join, left, right)
    sides = loose(left), loose(right)
    if isinstance(join, wb.IntervalJoin):
        bounds = micros(join.lower), micros(join.upper), join.lower_exclusive, join.upper_exclusive
        return reference.interval_join(*bounds, join.how, *sides)
    if isinstance(join, wb.AsOfJoin):
        tolerance = None if join.tolerance is None else micros(join.tolerance)
        return reference.as_of_join(join.direction, tolerance, join.allow_exact, join.how, *sides)
    if isinstance(join, wb.CoGroup):
        return reference.cogroup(window_tuple(join.window), *sides)
    return reference.window_join(window_tuple(join.window), join.how, *sides)


def _expected_rules(join, left, right):
    sides = []
    for stream in (left, right):
        frame = stream.to_pandas().astype(object)
        rows = frame.where(frame.notna(), None).rename(columns={"rule_id": "rule"}).to_dict("records")
        places = zip(rows, loose(stream), stream.arrival.tolist(), strict=True)
        sides.append([row | key_and_time | {"batch": batch} for row, key_and_time, batch in places])
    return reference.rules_join(join.as_of, join.copies is None, *sides)


def _expected_where(join, left, right, satisfies):
    """The same of a join with a condition, from those of the join without it."""
    plain = replace(join, where=None)
    pairs = [each for each in expected(replace(plain, how="inner"), left, right) if satisfies(*each[:2])]
    met = [{(each[side], *each[2:]) for each in pairs} for side in (0, 1)]
    nobody = [replace(each, table=each.table.slice(0, 0), arrival=each.arrival[:0]) for each in (left, right)]
    every = [(each[0], None, *each[2:]) for each in expected(replace(plain, how="left"), left, nobody[1])]
    alone = [each for each in every if (each[0], *each[2:]) not in met[0]]
    others = [
        (None, *each[1:]) for each in expected(replace(plain, how="right"), nobody[0], right) if each[1:] not in met[1]
    ]
    found = {
        "inner": pairs,
        "left": pairs + alone,
        "right": pairs + others,
        "full": pairs + alone + others,
        "semi": [each for each in every if (each[0], *each[2:]) in met[0]],
        "anti": alone,
    }
    return reference.sort(found[join.how])


def micros_of(values):
    return [None if pd.isna(value) else int(pd.Timestamp(value).value // 1000) for value in values]


def actual(run):
    """A run's output in the reference's form; rows are known by their column ``n``."""
    out = run.output
    spans = [micros_of(out[name]) for name in ("window_start", "window_end")] if "window_start" in out else []
    if isinstance(run.join, wb.CoGroup):
        keys = [tuple(row) for row in out[list(run.left.key)].itertuples(index=False)]
        lists = [[sorted(row["n"] for row in rows) for rows in out[side]] for side in ("left", "right")]
        return sorted(zip(keys, *spans, *lists, strict=True))
    numbers = [
        [None if pd.isna(value) else int(value) for value in out[name]] if name in out else [None] * len(out)
        for name in ("left_n", "right_n")
    ]
    return reference.sort(zip(*numbers, *spans, strict=True))


def active(spark):
    """How many streaming queries run, in whichever session: ``spark.streams`` knows those of its own session only."""
    return spark._jsparkSession.sharedState().activeStreamingQueries().size()


def met(outcome):
    """The pairs of an outcome, whether emitted or not: `left`, `right`, `start`, `end`, `batch`."""
    table = outcome.outputs.table
    found = table[["start", "end", "batch"]].assign(
        **{side: outcome.outputs.of(side).set_index("output")["row"] for side in ("left", "right")}
    )
    return found[table["matched"]].astype(int).reset_index(drop=True)


def unmatched(outcome):
    """The rows that come out of an outcome without partner: `side`, `row`, `start`, `end`, `batch`."""
    table = outcome.outputs.table[~outcome.outputs.table["matched"]]
    parts = [outcome.outputs.of(side).assign(side=side) for side in ("left", "right")]
    members = pd.concat(parts)[["output", "side", "row"]]
    return table.merge(members, left_index=True, right_on="output").reset_index(drop=True)


def same_output(preview, run):
    one, other = preview.output, run.output
    assert one.dtypes.equals(other.dtypes)
    assert sorted(map(repr, one.itertuples(index=False))) == sorted(map(repr, other.itertuples(index=False)))
