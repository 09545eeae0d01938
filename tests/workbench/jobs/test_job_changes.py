"""What changed between two jobs: their rows are told apart by numbers that the jobs themselves know nothing of."""

from __future__ import annotations

import jobs
import pytest
import written
from pyspark.sql import functions as F

import workbench as wb


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return jobs.put(jobs.recorded(seed=3), tmp_path_factory.mktemp("changes"))


def opened(session, folder, home, delay, files=1, where="true", **choice):
    """A job with a watermark delay and so many files a micro-batch, that ran."""
    names = ("orders", "payments")
    orders, payments = (
        session.readStream.schema(ddl).option("maxFilesPerTrigger", files).parquet(f"{folder}/{name}")
        for name, ddl in zip(names, jobs.DDL, strict=True)
    )
    orders, payments = written.marked(orders.where(where), payments, delay, delay)
    within = F.expr(f"{written.SAME} AND {written.WITHIN}")
    joined = orders.alias("o").join(payments.alias("p"), within, "left")
    return wb.open_job(joined, jobs.run(joined, home).checkpoint, **choice)


def fates(job):
    return {
        (each.side, each.order_no if each.side == "left" else each.payment_no): (each.fate, each.reason, each.batch)
        for each in job.rows.itertuples()
    }


@pytest.fixture(scope="module")
def both(session, folder, tmp_path_factory):
    """A job, and the same with a longer delay, larger micro-batches and a filter."""
    home = tmp_path_factory.mktemp("jobs")
    return (
        opened(session, folder, home / "one", "1 second"),
        opened(session, folder, home / "other", "30 seconds", files=2, where="order_no <> 7"),
    )


def test_two_jobs(both):
    one, other = both
    changed = one.changes(other)
    before, after = fates(one), fates(other)
    assert changed.gone.empty  # what the filter takes out is listed, and says so
    assert changed.new.empty
    assert after["left", 7][1].endswith("removes it before it reaches the join")
    expected = {
        row: (before[row], after[row]) for row in before.keys() & after.keys() if before[row][0] != after[row][0]
    }
    assert len(expected) > 3
    found = {
        (each.side, each.order_no if each.side == "left" else each.payment_no): (
            (each.fate, each.reason, each.batch),
            (each.other_fate, each.other_reason, each.other_batch),
        )
        for each in changed.rows.itertuples()
    }
    assert found == expected
    counted = {(each.side, each.fate, each.other_fate): each.rows for each in changed.counts.itertuples(index=False)}
    assert sum(counted.values()) == len(before.keys() & after.keys())
    for (side, *change), count in counted.items():
        rows = [row for row in before.keys() & after.keys() if row[0] == side]
        assert count == sum([before[row][0], after[row][0]] == change for row in rows)
    assert changed.settings.setting.tolist() == ["delay of o", "delay of p"]
    assert changed.notes == ()
    assert repr(changed).startswith(f"<Changes: {len(expected)} of the 80 rows of both with another fate")


def test_a_job_and_a_run_of_its_rows(both):
    one, _ = both
    left, right = one.recording()
    run = wb.run(one.join, left, right.with_watermark("1 minute"), finish=False)
    changed = one.changes(run, by={"left": ["order_no"], "right": ["payment_no"]})
    assert changed.by == {"left": ("order_no",), "right": ("payment_no",)}
    against = one.against(run)
    assert list(changed.rows.index) == list(against.index)
    assert list(changed.rows.other_fate) == list(against.other_fate)
    assert changed.gone.empty
    assert changed.new.empty
    assert run.changes(one).rows.other_fate.tolist() == changed.rows.fate.tolist()


def test_jobs_of_some_keys(session, folder, tmp_path, both):
    some = opened(session, folder, tmp_path / "some", "30 seconds", keys=["a"])
    changed = both[0].changes(some)
    assert changed.notes == ("of the other one, only some of the keys were taken",)
    assert set(changed.rows.order_id.dropna()) | set(changed.rows.oid.dropna()) == {"a"}
    assert len(changed.gone) == len(both[0].rows) - len(some.rows)


def test_a_job_that_was_not_understood(session, folder, tmp_path, both):
    orders, payments = written.marked(*jobs.streams(session, folder))
    joined = orders.join(payments, F.expr(f"{written.SAME} AND {written.NEVER}"))
    job = wb.open_job(joined, jobs.run(joined, tmp_path).checkpoint)
    for one, other in ((job, both[0]), (both[0], job)):
        with pytest.raises(wb.WorkbenchError, match="the join of this job could not be analyzed"):
            one.changes(other)
