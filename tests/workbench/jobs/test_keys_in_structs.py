"""Joins on what a struct holds, as of a payload that was parsed: rows are told by what the join compares."""

import pytest
from pyspark.sql import functions as F

import workbench as wb
from workbench.jobs import conditions
from workbench.jobs.catalyst import Node
from workbench.testing import micro_batches, play

PAYLOAD = "d struct<id: string, amount: int>, at timestamp"
WITHIN = "p.at BETWEEN o.at AND o.at + INTERVAL 15 SECONDS"


def joined(on):
    def build(orders, payments):
        o, p = (each.withWatermark("at", "10 seconds") for each in (orders, payments))
        return o.alias("o").join(p.alias("p"), F.expr(f"{on} AND {WITHIN}"), "left").select("o.d.amount")

    return build


def rows(schema, *given):
    """At most one row a micro-batch; a partition, where the schema has one, is 7 of each row."""
    before = (7,) if schema.startswith("part") else ()
    of = (lambda row: row["id"]) if schema.startswith("id") else (lambda row: row)
    return micro_batches(schema, *[[(*before, of(row), at)] if row else [] for row, at in given])


ONE, TWO = {"id": "o-1", "amount": 3}, {"id": "o-2", "amount": 3}
NONE = (None, None)


def opened(build, left=PAYLOAD, right=PAYLOAD):
    return play(
        build,
        orders=rows(left, (ONE, "10:00:00"), NONE, (TWO, "10:05:00")),
        payments=rows(right, NONE, (ONE, "10:00:20"), (TWO, "10:05:03")),
    )


PARTED = f"part int, {PAYLOAD}"
CASES = {
    "nothing beside the struct": ("o.d.id = p.d.id", PAYLOAD, PAYLOAD, ("d.id",), "o-1"),
    "another column": ("o.d.id = p.d.id", PARTED, PARTED, ("d.id",), "o-1"),
    "a struct on one side": ("o.d.id = p.id", PAYLOAD, "id string, at timestamp", ("d.id",), "o-1"),
    "two fields": ("o.d.id = p.d.id AND o.d.amount <=> p.d.amount", PAYLOAD, PARTED, ("d.id",), "o-1"),
    "the whole struct": ("o.d = p.d", PAYLOAD, PARTED, ("d as text",), '{"id":"o-1","amount":3}'),
    "an expression": ("lower(o.d.id) = p.d.id", PARTED, PARTED, ("lower(o.d.id)",), "o-1"),
}


@pytest.mark.parametrize("case", CASES)
def test_rows_are_told_by_what_the_join_compares(spark, case):
    on, left, right, key, value = CASES[case]
    job = opened(joined(on), left, right)
    assert job.mismatches.empty, job.mismatches.to_string()
    assert job.left.key == key
    assert job.rows["fate"].tolist() == ["unmatched", "matched", "unmatched", "matched"]
    assert job.rows["verdict"][0] == "beyond_upper"
    assert job.rows[key[0]][0] == value
    assert f"key {value}" in str(job.why(0))


def test_a_key_that_never_came_is_that_of_the_struct(spark):
    """It was said of the first column that is no struct: "key 7 never arrived on p"."""
    job = opened(joined("upper(o.d.id) = p.d.id"), PARTED, PARTED)
    assert "key O-1 never arrived on p" in job.rows["reason"][0]


def test_keys_of_structs_cannot_be_chosen_by(spark, tmp_path):
    job = opened(joined("o.d.id = p.d.id"))
    words = "keys: got 'o-1'; key column 'd' holds struct values, of which none can be given: leave it out"
    with pytest.raises(wb.ArgumentError) as raised:
        job.fixture(tmp_path / "f", keys=["o-1"])
    assert str(raised.value) == words


def test_why_a_join_cannot_be_opened_is_said(spark):
    """It was said to join no two streams."""

    def on_times(orders, payments):
        o, p = (each.withWatermark("at", "10 seconds") for each in (orders, payments))
        return o.alias("o").join(p.alias("p"), F.expr("o.at = p.at"))

    job = play(
        on_times,
        orders=micro_batches("at timestamp", [("10:00:00",)]),
        payments=micro_batches("at timestamp", [("10:00:00",)]),
    )
    assert len(job.output) == 1
    assert job.batches["rows"].tolist()[0] == 2
    with pytest.raises(wb.ArgumentError, match="joined: its left side has no column beside the event time"):
        _ = job.rows


def test_the_first_column_of_a_session_is_a_column(spark):
    """Its id is 0: a key that was an expression of it was read as none."""
    java = spark.range(1).select(F.expr("upper(id)"))._jdf.queryExecution().analyzed().expressions().head()
    sides = [
        Node("Upper", {}, (Node("AttributeReference", {"exprId": {"id": number}}, (), java),), java)
        for number in (0, 7)
    ]
    found = conditions.compared(Node("EqualTo", {}, tuple(sides), java))
    assert found.columns == ((0,), (7,))
