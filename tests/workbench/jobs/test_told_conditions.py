"""What a join asks for beside keys and bounds is told of each row: which part fails, with which values."""

from __future__ import annotations

import jobs
import pytest
from pyspark.sql import functions as F
from test_reports import SCHEMA, WITHIN, Desk, reason

import workbench as wb

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


# --- event times that are compared as numbers -------------------------------------------------------------------------

KEY = "orders.id = payments.id"
ON_EITHER_SIDE = "payments.at BETWEEN orders.at - INTERVAL 60 SECONDS AND orders.at + INTERVAL 60 SECONDS"
AFTER = "payments.at BETWEEN orders.at AND orders.at + INTERVAL 60 SECONDS"
BOUNDS = {
    "abs(unix_timestamp(orders.at) - unix_timestamp(payments.at)) <= 60": ("61 s", ON_EITHER_SIDE),
    "60 >= abs(cast(payments.at AS long) - cast(orders.at AS long))": ("61 s", ON_EITHER_SIDE),
    "abs(unix_seconds(orders.at) - unix_seconds(payments.at)) < 60": (
        "60 s",
        "payments.at > orders.at - INTERVAL 60 SECONDS AND payments.at < orders.at + INTERVAL 60 SECONDS",
    ),
    "to_unix_timestamp(payments.at) - to_unix_timestamp(orders.at) BETWEEN 0 AND 60": ("61 s", AFTER),
    "unix_millis(payments.at) >= unix_millis(orders.at) AND unix_millis(payments.at) - 60000 <= unix_millis(orders.at)": (
        "60.001 s",
        AFTER,
    ),
    "unix_timestamp(payments.at) >= unix_timestamp(orders.at) AND unix_timestamp(payments.at - INTERVAL 1 MINUTE) "
    "<= unix_timestamp(orders.at)": ("61 s", AFTER),
}
EXACT = {
    "abs(unix_micros(orders.at) - unix_micros(payments.at)) <= 60000000": wb.IntervalJoin("-60 s", "60 s"),
    "abs(orders.at - payments.at) < INTERVAL '60' SECOND": wb.IntervalJoin(
        "-60 s", "60 s", lower_exclusive=True, upper_exclusive=True
    ),
}


def apart(desk):
    """Rows of each key a little less or more than a minute apart, on either side of a whole second; and a late one."""
    times = {
        "a": ("10:00:00.900", "10:01:00.100"), "b": ("10:00:00.100", "10:01:00.900"), "c": ("10:00:00.999", "10:01:01"),
        "d": ("10:00:00", "10:01:00"), "e": ("10:01:00.500", "10:00:00"), "f": ("10:00:30.500", "10:00:30.100"),
        "g": ("10:00:10", "10:01:10.000500"), "h": ("10:00:00.500", "10:05:00"),
    }  # fmt: skip
    desk.arrive(0, orders=[(key, first, f"o{key}") for key, (first, _) in times.items()])
    desk.arrive(0, payments=[(key, second, f"p{key}") for key, (_, second) in times.items()])
    for number, at in enumerate(("10:10:00", "10:20:00"), 1):
        desk.arrive(number, orders=[("z", at, f"oz{number}")], payments=[("z", at, f"pz{number}")])
    desk.arrive(3, orders=[("h", "10:04:30", "late")], payments=[("y", "10:20:01", "py")])


def rows_out(desk):
    return sorted((row[3], row[6]) for row in desk.out)


def pairs_of(job):
    return sorted(zip(job.output.left_row, job.output.right_row, strict=True))


@pytest.mark.parametrize("condition", BOUNDS)
def test_bounds_of_times_as_numbers_are_bounds_of_the_join(desk, condition):
    apart(desk)
    upper, interval = BOUNDS[condition]
    job = desk.opened(desk.read("orders").join(desk.read("payments"), F.expr(f"{KEY} AND {condition}")))
    assert pairs_of(job) == rows_out(desk)
    assert desk.dropped == len(job.late) == 1
    assert job.batches.state_rows.tolist() == desk.state
    assert (job.join.upper, job.join.upper_exclusive) == (wb.IntervalJoin(None, upper).upper, True)
    [note] = [each for each in job.description.notes if "compares event times as whole numbers" in each]
    assert f"write {interval}" in note
    assert job.unknown == ()
    kept = job.known.retention == {}
    assert kept == ("no state watermark for the left and the right side" in note)
    last = reason(job, "oh")
    if kept:
        assert set(job.rows.fate[job.rows.row.isin(["oh", "ph"])]) == {"pending"}
        assert last.startswith("never evicted from state: ")
        assert f"written as {interval}, it would let Spark evict the row" in last
    where = "from 10:00:00 to 10:01:00" if interval == AFTER else "from 09:59:00 to 10:01:00"
    if upper == "61 s":
        assert f"payments {where}, compared as whole numbers of seconds" in job.why(0).text


@pytest.mark.parametrize("condition", EXACT)
def test_a_difference_whose_size_is_bounded_has_both_bounds(desk, condition):
    apart(desk)
    job = desk.opened(desk.read("orders").join(desk.read("payments"), F.expr(f"{KEY} AND {condition}")))
    assert (job.join, job.where) == (EXACT[condition], "")
    assert pairs_of(job) == rows_out(desk)
    assert job.batches.state_rows.tolist() == desk.state


def test_spark_bounds_the_state_of_times_that_are_cast(desk):
    """It derives a watermark from casts, and not from functions: rows leave, some before their last partner."""
    apart(desk)
    desk.arrive(1, payments=[("z", "10:00:12", "pz1")], orders=[("z", "10:01:10.950", "oz1")])
    desk.arrive(2, payments=[("z", "10:01:10.950", "pz2"), ("c", "10:01:11", "pc2")], orders=[("z", "10:02:00", "oz2")])
    seconds = "cast({}.at AS long)"
    left, right = seconds.format("orders"), seconds.format("payments")
    condition = F.expr(f"{KEY} AND {right} >= {left} AND {right} <= {left} + 60")
    job = desk.opened(desk.read("orders").join(desk.read("payments"), condition, "left"))
    assert job.known.retention == {"left": 60_001_000, "right": 1_000}
    assert job.join == wb.IntervalJoin("-1 s", "61 s", "left", lower_exclusive=True, upper_exclusive=True)
    assert job.batches.state_rows.tolist() == desk.state
    told = [
        (each.left_row, None if each.right_row != each.right_row else each.right_row)
        for each in job.output.itertuples()
    ]
    assert sorted(told, key=str) == sorted(((row[3], row[6]) for row in desk.out), key=str)


def test_a_row_that_leaves_the_state_before_its_partner_comes(desk):
    """15.9 s are 15 whole seconds, after which Spark has evicted the order, though its payment is not late."""
    orders = ("10:00:00", "10:00:25.5", "10:00:26", "10:00:27", "10:10:00")
    for number, at in enumerate(orders):
        desk.arrive(number, orders=[("ayyyz"[number], at, f"o{number}")])
    for number, at in enumerate(("10:00:25.5", "10:00:26", "10:00:15.9", "10:10:00"), 1):
        desk.arrive(number, payments=[("ayyaz"[number], at, f"p{number}")])
    desk.arrive(0, payments=[("x", "10:00:00", "p0")])
    condition = F.expr(f"{KEY} AND CAST(payments.at AS LONG) - CAST(orders.at AS LONG) BETWEEN 0 AND 15")

    def joined(delay):
        return desk.read("orders", delay).join(desk.read("payments"), condition, "left")

    job = desk.opened(joined("10 seconds"))
    assert pairs_of(job) == rows_out(desk)
    assert job.late.empty
    because = "as the condition compares whole numbers of seconds, and Spark evicts by the times themselves"
    both = "a watermark delay of 10.5 s on orders would have kept both"
    assert reason(job, "o0").startswith(f"it had left the state when its partner p3 arrived, {because}; {both}")
    assert reason(job, "p3").startswith(f"its partner o0 had left the state when it arrived, {because}; {both}")
    [mended] = job.rows.loc[job.rows.row == "o0", ["fix_setting", "fix_value"]].to_numpy().tolist()
    assert mended == ["left.watermark", "10.5 seconds"]
    supposed = job.under(left_watermark="10.5 seconds").rows
    assert dict(zip(supposed.row, supposed.fate, strict=True))["o0"] == "matched"
    desk.out.clear()
    desk.run(joined("10.5 seconds"))
    assert ("o0", "p3") in rows_out(desk)


def test_a_row_that_leaves_the_state_on_a_day_of_25_hours(desk):
    """A day by the clock has an hour more, in which Spark has evicted the order already."""
    desk.spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    desk.each(
        [[("a", "2026-10-31T16:00:00Z", "o1")], *[[("z", f"2026-11-01T{at}:00Z", "oz")] for at in ("17:20", "17:21")]],
        [[("y", "2026-10-31T16:00:00Z", "p0")], *[[("z", f"2026-11-01T{at}:00Z", "pz")] for at in ("17:20", "17:21")]],
    )
    desk.arrive(3, orders=[("z", "2026-11-01T17:22:00Z", "oz")], payments=[("a", "2026-11-01T16:30:00Z", "p1")])

    def joined(delay):
        on = F.expr(WITHIN.format("24 HOURS"))
        return desk.read("orders", delay).join(desk.read("payments", "1 hour"), on, "left")

    job = desk.opened(joined("1 hour"))
    assert ("o1", "p1") not in rows_out(desk)
    assert job.late.empty
    because = "as the condition counts by the clock of the time zone, and Spark evicts by elapsed hours"
    assert reason(job, "o1").startswith(
        f"it had left the state when its partner the row at 2026-11-01 16:30:00 arrived, {because}; "
    )
    [(setting, value)] = job.rows.loc[job.rows.row == "o1", ["fix_setting", "fix_value"]].to_numpy().tolist()
    assert setting == "left.watermark"
    desk.out.clear()
    desk.run(joined(value))
    assert ("o1", "p1") in rows_out(desk)


def test_a_row_that_leaves_by_what_only_spark_derives_does_not_stay_forever(desk):
    apart(desk)
    numbers = "cast(payments.at AS double) {} cast(orders.at AS double) {}"
    condition = F.expr(f"{KEY} AND {numbers.format('>=', '')} AND {numbers.format('<=', '+ 60')}")
    job = desk.opened(desk.read("orders").join(desk.read("payments"), condition))
    assert job.batches.state_rows.tolist() == desk.state
    assert pairs_of(job) == rows_out(desk)
    assert desk.state[-1] < max(desk.state)
    assert not job.rows.reason.str.contains("forever").any()


def test_what_is_compared_of_times_that_are_numbers_before_the_join_is_told(desk):
    apart(desk)
    orders, payments = (
        desk.read(name).selectExpr("id", "cast(at AS long) AS ts", "row").alias(name) for name in ("orders", "payments")
    )
    on = F.expr(f"{KEY} AND payments.ts BETWEEN orders.ts AND orders.ts + 60")
    job = desk.opened(orders.join(payments, on))
    assert pairs_of(job) == sorted((row[3], row[6]) for row in desk.out)
    assert job.batches.state_rows.tolist() == desk.state
    assert len(job.late) == desk.dropped == 0
    assert job.join == wb.IntervalJoin(None, None)
    assert "payments from 10:00:00 to 10:01:00, compared as whole numbers of seconds" in job.why(0).text
    assert "whatever its event time" not in job.why(0).text
    [note] = [each for each in job.description.notes if "compares event times as whole numbers" in each]
    assert f"write {AFTER}, and select at before the join, too" in note
    assert reason(job, "oh").startswith("stays in state forever: as Spark derives no upper bound")
    assert f"written as {AFTER}, it would let Spark evict the row" in reason(job, "oh")


# --- what to write for rows to leave the state ------------------------------------------------------------------------

AS_INTERVALS = "write payments.at >= orders.at AND payments.at < orders.at + INTERVAL 15 SECONDS, which says the same"
UNDERIVED = {
    "payments.at >= orders.at AND payments.at < timestampadd(SECOND, 15, orders.at)": AS_INTERVALS,
    "payments.at - orders.at >= INTERVAL 0 SECONDS AND payments.at - orders.at < INTERVAL 15 SECONDS": AS_INTERVALS,
    "payments.at >= orders.at - INTERVAL 1 MONTH": "write its INTERVAL in days, as months are of no fixed length",
    "to_date(payments.at) = to_date(orders.at)": "compare one event time with the other plus or minus an INTERVAL",
}


@pytest.mark.parametrize("condition", UNDERIVED)
def test_a_note_of_state_that_grows_gives_another_condition_than_the_job_s(desk, condition):
    with_values(desk)
    joined = desk.read("orders").join(desk.read("payments"), F.expr(f"orders.id = payments.id AND {condition}"))
    notes = [each for each in wb.describe(joined).notes if "keeps its rows forever" in each]
    assert notes
    assert {each.split(" forever: ")[1] for each in notes} == {UNDERIVED[condition]}


def test_a_time_that_was_renamed_before_the_join_is_told_by_its_name(desk):
    with_values(desk)
    orders = desk.read("orders").withColumnRenamed("at", "ordered").alias("orders")
    within = "payments.at >= orders.ordered AND payments.at < timestampadd(SECOND, 15, orders.ordered)"
    joined = orders.join(desk.read("payments"), F.expr(f"orders.id = payments.id AND {within}"))
    notes = [each for each in wb.describe(joined).notes if "keeps its rows forever" in each]
    assert notes and all(
        each.split(" forever: ")[1] == AS_INTERVALS.replace("orders.at", "orders.ordered") for each in notes
    )


@pytest.mark.parametrize("time", ["w.end", "window_time(w)"])
def test_window_time_lets_aggregates_leave_the_state(desk, time):
    with_values(desk)
    counted = desk.read("orders").groupBy(F.window("at", "10 seconds").alias("w"), F.col("id").alias("who")).count()
    counted = counted.select("who", "count", F.expr(f"{time} AS ended"))
    joined = counted.join(desk.read("payments"), F.expr("who = id AND at BETWEEN ended AND ended + INTERVAL 1 MINUTE"))
    notes = [each for each in wb.describe(joined).notes if "keeps its rows forever" in each]
    remedy = (
        "compare window_time of the window, which has its watermark, rather than its start or end: make it with "
        'withColumn("time", F.window_time("window")) before the join'
    )
    assert {each.split(" forever: ")[1] for each in notes} == ({remedy} if time == "w.end" else set())
