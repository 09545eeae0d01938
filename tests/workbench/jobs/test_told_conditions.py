"""What a join asks for beside keys and bounds is told of each row: which part fails, with which values."""

from __future__ import annotations

import jobs
import pytest
from pyspark.sql import functions as F
from test_reports import SCHEMA, WITHIN, Desk

VALUES = f"{SCHEMA}, amount int, country string"
WHOLE = f"{WITHIN.format('15 SECONDS')} AND orders.amount > 10 AND orders.country <> payments.country"


@pytest.fixture
def desk(spark, tmp_path):
    return Desk(jobs.session(spark, session_timeZone="UTC"), tmp_path)


def with_values(desk):
    """Rows whose amount, country, or neither is the job's."""
    rows = [
        ("a", "10:00:00", "oa", 5, "DE"), ("b", "10:00:00", "ob", 60, "DE"), ("c", "10:00:00", "oc", 60, "DE"),
        ("d", "10:00:00", "od", None, "DE"), ("e", "10:00:00", "oe", 5, "FR"),
    ]  # fmt: skip
    others = [
        ("a", "10:00:05", "pa", 1, "FR"), ("b", "10:00:05", "pb", 1, "DE"), ("c", "10:00:05", "pc", 1, "FR"),
        ("d", "10:00:05", "pd", 1, "FR"), ("e", "10:00:05", "pe", 1, "FR"), ("b", "10:00:40", "far", 1, "FR"),
    ]  # fmt: skip
    for name, found in {"orders": rows, "payments": others}.items():
        names = ("id", "at", "row", "amount", "country")
        whole = [dict(zip(names, each, strict=True)) | {"at": f"2026-01-01T{each[1]}Z"} for each in found]
        desk.arrive(0, **{name: whole})
        desk.arrive(1, **{name: [{"id": "z", "at": "2026-01-01T10:30:00Z", "row": f"{name[0]}z", "amount": 1}]})


def candidates(job, row):
    return {each.row: each for each in _candidates(job, row)}


def _candidates(job, row):
    found = job.why(int(job.rows.index[job.rows.row == row][0])).candidates
    return found.assign(row=found.row.map(job.rows.row)).itertuples()


@pytest.mark.parametrize("how", ["left", "full"])
def test_which_part_of_the_condition_a_candidate_fails_is_told(desk, how):
    with_values(desk)
    orders, payments = (desk.read(name, schema=VALUES) for name in ("orders", "payments"))
    job = desk.opened(orders.join(payments, F.expr(WHOLE), how).select("orders.*", F.col("payments.row").alias("p")))
    assert {row[3] for row in desk.out if row[3] and row[-1]} == {"oc"}  # what Spark matched
    amount, country = "(orders.amount > 10)", "(NOT (orders.country = payments.country))"
    both = f"{amount} and {country}: orders.amount is 5, orders.country is 'FR', payments.country is 'FR'"
    expected = {
        "oa": {"pa": f", but fails {amount}: orders.amount is 5"},
        "ob": {"pb": f", but fails {country}: orders.country is 'DE', payments.country is 'DE'", "far": ""},
        "oc": {"pc": ""},
        "od": {"pd": f", but fails {amount}: orders.amount is null"},
        "oe": {"pe": f", but fails {both}"},
    }
    told = {row: {name: each.failed for name, each in candidates(job, row).items()} for row in expected}
    assert told == expected
    assert "5 s after it, but fails (orders.amount > 10): orders.amount is 5" in job.why(0).text


# --- a stream that is joined with itself ------------------------------------------------------------------------------

LATER = "a.id = b.id AND b.at > a.at AND b.at <= a.at + INTERVAL 5 SECONDS"
RENAMED = "a.id = b.other_id AND b.other_at > a.at AND b.other_at <= a.at + INTERVAL 5 SECONDS"


@pytest.mark.parametrize(("condition", "columns"), [(LATER, "*"), (RENAMED, None)], ids=["as it is", "renamed"])
def test_the_mirrored_pair_of_a_self_join_is_no_fix(desk, condition, columns):
    """Of a pair that is too far apart the upper bound is to blame, and no lower one, on either side."""
    rows = [("a", "10:00:00", "r1"), ("a", "10:00:03", "r2"), ("b", "10:00:07", "r3"), ("b", "10:00:20", "r4")]
    desk.arrive(0, clicks=rows)
    desk.arrive(1, clicks=[("z", "10:10:00", "rz")])
    renamed = [columns] if columns else ["id AS other_id", "at AS other_at", "row AS other"]
    others = desk.read("clicks").selectExpr(*renamed)
    job = desk.opened(desk.read("clicks").alias("a").join(others.alias("b"), F.expr(condition), "left"))
    fixes = job.rows.fix_setting.where(job.rows.fix_setting.notna(), None).tolist()
    assert fixes == [None, None, "upper", None, None, None, None, None, "upper", None]
    assert {row[3] for row in desk.out} == {"r1", "r2", "r3", "r4"}
    assert not job.rows.reason.str.contains("beyond the lower bound").any()
