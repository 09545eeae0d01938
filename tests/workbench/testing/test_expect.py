"""What a test says of rows: fates by key, counts, snapshots, and what a failure tells."""

import datetime as dt
import json

import pytest
import shop_streams as shop
from pyspark.sql import functions as F

import workbench as wb
from workbench.testing import micro_batches, play


@pytest.fixture(scope="module")
def job(spark):
    orders = micro_batches(
        shop.ORDERS, [("o-1", "10:00:00"), (None, "10:00:00")], [("o-2", "10:05:00")], [("o-3", "09:00:00")]
    )
    payments = micro_batches(
        shop.PAYMENTS,
        [("o-1", "10:00:20", 5)],
        [("o-2", "10:05:03", 7), ("o-2", "10:05:04", 8)],
        [("o-3", "09:00:01", 1)],
    )
    return play(shop.unpaid_orders, orders=orders, payments=payments, finish=True)


def test_a_row_is_found_by_its_key_or_its_columns(job):
    assert job.fate(orders="o-1") == "unmatched"
    assert job.fate(orders={"at": "2026-01-01 10:05:00"}) == "matched"
    assert job.fate(payments={"id": "o-2", "amount": 8}) == "matched"
    assert job.fate(payments=("o-3",)) == "late"
    assert job.fate(payments="o-2") == "matched"  # both of its rows
    assert job.fate(orders={"at": "10:05:00"}) == job.fate(orders={"at": dt.time(10, 5)}) == "matched"


def test_a_row_is_found_by_what_it_lacks(spark):
    orders = micro_batches(shop.ORDERS, [(None, "10:00:00"), ("o-1", "10:00:00")])
    payments = micro_batches("id string, at timestamp, n double", [("o-1", "10:00:01", float("nan"))])
    job = play(shop.paid_orders, orders=orders, payments=payments)
    assert job.fate(orders=None) == job.fate(orders=float("nan")) == "null_key"
    assert job.fate(payments={"n": None}) == "matched"


FATES_REFUSED = {
    "no such key": (
        lambda job: job.fate(orders="o-9"),
        "orders: got 'o-9'; no row that enters the join has these values",
    ),
    "no such stream": (lambda job: job.fate(shop="o-1"), "stream: got 'shop'; use one of 'orders', 'payments'"),
    "no such column": (lambda job: job.fate(orders={"name": "x"}), "its rows have no column name; there are id, at"),
    "two rows": (
        lambda job: job.fate(orders="o-1", payments="o-1"),
        "give the key of one row by its stream, such as orders=",
    ),
    "no column": (lambda job: job.fate(orders={}), "orders: got {}; give at least one column of the row"),
    "a time that is none": (lambda job: job.fate(orders={"at": "noon"}), "no row that enters the join has these"),
    "a wide key": (lambda job: job.fate(orders=("o-1", 5)), "its key has 1 column: id"),
    "nothing": (lambda job: job.expect(), "give a number for a fate, such as matched=1"),
    "no such fate": (
        lambda job: job.expect(lost=1),
        "expect: got 'lost'; use a fate (matched, unmatched, late, pending, null_key), or",
    ),
    "no number": (lambda job: job.expect(late="none"), "late: got 'none'; give a whole number, 0 or more"),
    "no fate of a stream": (lambda job: job.expect(orders={"lost": 1}), "use a fate (matched, unmatched"),
    "no column of a snapshot": (
        lambda job: job.matches("x.json", without=["lost"]),
        "without: got 'lost'; there is no such column",
    ),
    "a text of columns": (lambda job: job.matches("x.json", without="id"), "without: got 'id'; give a list of columns"),
}


@pytest.mark.parametrize("case", FATES_REFUSED)
def test_what_cannot_be_asked_is_one_sentence(job, case):
    ask, words = FATES_REFUSED[case]
    with pytest.raises(wb.ArgumentError) as raised:
        ask(job)
    assert words in str(raised.value)


def test_counts_are_of_keys_or_of_the_rows_of_a_stream(job):
    job.expect(matched=1, unmatched=1, late=1, pending=0, null_key=1)
    job.expect(orders={"matched": 1, "unmatched": 1, "late": 1, "null_key": 1}, payments={"matched": 2, "late": 1})


def test_keys_that_are_numbers_and_have_other_names_are_one_key(spark):
    def build(orders, payments):
        o, p = orders.withWatermark("at", "1 second"), payments.withWatermark("paid_at", "1 second")
        return o.join(p, F.expr("id = oid AND paid_at BETWEEN at AND at + INTERVAL 5 SECONDS"))

    orders = micro_batches("id int, at timestamp", [(1, "10:00"), (2, "10:00"), (None, "10:00")])
    payments = micro_batches("oid int, paid_at timestamp", [(1, "10:00:01"), (1, "10:00:02")])
    job = play(build, orders=orders, payments=payments, finish=True)
    job.expect(matched=1, unmatched=1, null_key=1)
    assert job.fate(payments=1) == "matched"


def test_a_failure_lists_the_rows_with_their_reasons(job):
    with pytest.raises(AssertionError) as raised:
        job.expect(late=0, payments={"unmatched": 0})
    heading, *rows = str(raised.value).splitlines()
    assert heading == "0 late keys expected, 1 found:"
    assert rows[0].startswith("  orders, micro-batch 2, id='o-3', at=2026-01-01 09:00:00: late, ")
    assert rows[1].startswith("  payments, micro-batch 2, id='o-3', at=2026-01-01 09:00:01, amount=1: late, ")
    assert rows[2] == "payments: 0 unmatched rows expected, 1 found:"
    assert "5 s beyond the upper bound" in rows[3]
    assert rows[3].endswith("(upper='20 seconds' would have matched it)")


def test_a_failure_lists_the_rows_that_fared_otherwise_where_some_are_lacking(job):
    with pytest.raises(AssertionError) as raised:
        job.expect(orders={"matched": 3})
    heading, *rows = str(raised.value).splitlines()
    assert heading == "orders: 3 matched rows expected, 1 found; these rows fared otherwise:"
    assert [row.split("id=")[-1].split(",")[0] for row in rows] == ["'o-3'", "'o-1'", "  orders"]


def test_the_story_of_a_fate_is_in_the_failure_of_an_assertion(job):
    from workbench import pytest_plugin

    fate = job.fate(orders="o-1")
    told = pytest_plugin.pytest_assertrepr_compare("==", fate, "matched")
    assert told[0] == "'unmatched' == 'matched'"
    assert "20 s" in told[-1]
    assert pytest_plugin.pytest_assertrepr_compare("==", "a", "b") is None


def test_a_snapshot_is_written_where_that_is_asked_for_and_compared_else(job, tmp_path, monkeypatch):
    place = tmp_path / "snapshots" / "unpaid.json"
    with pytest.raises(AssertionError, match="there is no snapshot"):
        job.matches(place)
    assert not place.parent.exists()
    monkeypatch.setenv("WORKBENCH_UPDATE", "1")
    job.matches(place)
    monkeypatch.delenv("WORKBENCH_UPDATE")
    job.matches(place)
    text = place.read_text(encoding="utf-8")
    found = json.loads(text)
    assert found["output"] == sorted(found["output"], key=lambda row: (row["batch"], row["id"] or ""))
    assert len(found["rows"]) == len(job.rows)
    assert '{"batch": 1, "id": "o-2", "ordered": "2026-01-01T10:05:00Z", "paid": "2026-01-01T10:05:03Z"},\n' in text
    place.write_text(text.replace('"fate": "late"', '"fate": "matched"', 1), encoding="utf-8")
    with pytest.raises(AssertionError) as raised:
        job.matches(place)
    lines = str(raised.value).splitlines()
    assert lines[0] == "output or fates differ from unpaid.json:"
    assert [line[0] for line in lines[-2:]] == ["-", "+"]
    with pytest.raises(AssertionError):
        job.matches(place, without=["at"])


def test_values_of_a_snapshot_are_those_of_a_test(spark, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_UPDATE", "1")
    schema = "text binary, bytes binary, most double, n decimal(5, 2), many array<int>"
    play(lambda rows: rows, rows=micro_batches(schema, [(b"a", b"\xff", "inf", "1.5", [1]), (None,) * 5])).matches(
        tmp_path / "values.json"
    )
    text = (tmp_path / "values.json").read_text(encoding="utf-8")
    missing, row = json.loads(text, parse_constant=pytest.fail)["output"]
    assert row == {
        "batch": 0, "text": "a", "bytes": {"base64": "/w=="}, "most": "inf", "n": "1.50", "many": [1],
    }  # fmt: skip
    assert set(missing.values()) == {0, None}


def test_a_file_of_somebody_else_is_not_overwritten(job, tmp_path, monkeypatch):
    place = tmp_path / "settings.json"
    place.write_text("{}", encoding="utf-8")
    monkeypatch.setenv("WORKBENCH_UPDATE", "1")
    with pytest.raises(wb.ArgumentError, match="that is no snapshot; give another name"):
        job.matches(place)
    assert place.read_text(encoding="utf-8") == "{}"


def test_a_join_that_is_not_understood_says_so(spark):
    def build(orders, payments):
        o, p = orders.withWatermark("at", "1 second").alias("o"), payments.withWatermark("at", "1 second").alias("p")
        return (
            o.join(p, "id", "left_anti")
            if False
            else o.join(p, "id").where("o.at + make_dt_interval(0, 0, 0, p.amount) > p.at")
        )

    rows = micro_batches(shop.ORDERS, [("a", "10:00")]), micro_batches(shop.PAYMENTS, [("a", "10:00", 1)])
    job = play(build, orders=rows[0], payments=rows[1])
    job.expect(late=0)
    assert len(job.output) == 1
