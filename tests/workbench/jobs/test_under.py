"""A job under other settings: what `Job.under`, `tune` and `advise` say is what the changed job does on Spark."""

from __future__ import annotations

from functools import partial

import jobs
import pytest
import written

import workbench as wb


def out(result):
    return jobs.pairs(
        {"order_no": each["left_order_no"], "payment_no": each["right_payment_no"]}
        for each in result.output.to_dict("records")
    )


CHANGES = [
    ({}, {}),
    ({"delay": "30 seconds"}, {"left_watermark": "30 seconds"}),
    ({"delay": "0 seconds"}, {"left_watermark": "0 seconds"}),
    ({"reach": "14"}, {"join": wb.IntervalJoin("0 s", "14 s")}),
    ({"how": "left"}, {"join": wb.IntervalJoin("0 s", "6 s", how="left")}),
]


@pytest.mark.parametrize(("written_anew", "set_anew"), CHANGES, ids=str)
def test_other_settings_are_what_the_changed_job_does(session, folder, tmp_path, job, written_anew, set_anew):
    ran = jobs.run(written.enough(*jobs.streams(session, folder), **written_anew), tmp_path / "checkpoint")
    expected = jobs.pairs(each for rows in ran.output.values() for each in rows)
    seen = job.under(**set_anew)
    assert out(seen) == expected
    if not set_anew:
        assert out(seen) == out(job)


def test_of_a_cut_log_the_job_s_own_settings_give_the_job(spark, folder, tmp_path):
    own = jobs.session(spark, streaming_minBatchesToRetain="4")
    for place, write in enumerate((written.enough, written.tumbling)):
        joined = write(*jobs.streams(own, folder))
        cut = wb.open_job(joined, jobs.run(joined, tmp_path / str(place)).checkpoint)
        assert cut.simulation.first > 0
        assert len(cut.late)
        assert cut.under().against(cut).empty
        assert cut.under(left_watermark="1 hour", right_watermark="1 hour").late.empty
        table = cut.tune(over={"left.watermark": ["1 hour"], "right.watermark": ["1 hour"]}).table
        now = table[table.now].iloc[0]
        for side, number in (("left", "order_no"), ("right", "payment_no")):
            assert now[f"late_{side}"] == cut.late[cut.late.side == side][number].nunique()


def test_the_rows_that_move_are_found(job):
    moved = job.under(left_watermark="30 seconds").against(job)
    assert set(moved.other_fate) >= {"late"}
    assert len(moved)


def test_a_row_that_another_condition_keeps_apart_is_not_late_with_a_partner(job):
    late = job.rows[(job.rows.fate == "late") & (job.causes.str.contains("partner"))]
    rows = job.rows
    for each in late.itertuples():
        others = rows[(rows.side != each.side)]
        if each.side == "left":
            mates = others[(others.oid == each.order_id) & (others.paid >= each.amount)]
            reach = (mates.paid_at - each.ordered_at).dt.total_seconds()
        else:
            mates = others[(others.order_id == each.oid) & (others.amount <= each.paid)]
            reach = (each.paid_at - mates.ordered_at).dt.total_seconds()
        has = bool(((reach >= 0) & (reach <= 6)).any())
        assert has is ("no partner" not in job.causes[each.Index]), each


def test_tuning_heeds_the_condition(job):
    table = job.tune(over={"left.watermark": ["0 s", "3 s", "30 s"]}).table
    whole = job.under(left_watermark="10 minutes", right_watermark="10 minutes")
    for each in table.itertuples():
        pairs = out(job.under(left_watermark=each._1))
        assert each.pairs_lost == sum(out(whole).values()) - sum(pairs.values())
    assert any("late" in each.problem for each in job.advise())


def test_wrong_arguments(job):
    for arguments, words in (
        ({"join": "interval"}, "join: got"),
        ({"left_watermark": "soon"}, "soon"),
        ({"policy": "mean"}, "policy: got 'mean'"),
        ({"finish": 1}, "finish: got 1"),
    ):
        with pytest.raises(wb.ArgumentError, match=words):
            job.under(**arguments)
    assert partial(job.under, finish=True)().rows.fate.ne("pending").all()
