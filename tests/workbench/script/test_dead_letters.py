"""What an exported script says was dropped is what the run called late; so are records that cannot be read."""

from __future__ import annotations

import json
import os
import shutil

import pytest
import scripts
from helpers import stream
from scripts import dead_letters, late_in, late_of, run_here

import generators
import workbench as wb

JOINS = [
    wb.IntervalJoin("-2 seconds", "5 seconds", how="full"),
    wb.IntervalJoin("-2 seconds", "5 seconds"),
    wb.WindowJoin(wb.Tumbling("10 seconds"), how="left"),
    wb.WindowJoin(wb.Sliding("10 seconds", "4 seconds", offset="1 second"), how="full"),
    wb.WindowJoin(wb.Sliding("4 seconds", "6 seconds")),
    wb.WindowJoin(wb.Session("3 seconds"), how="left"),
    wb.CoGroup(wb.Tumbling("10 seconds")),
]


def streams():
    left, right = generators.generate("orders_payments", events=120, seed=5, late=0.2, batches=6)
    keyless = left.to_pandas()
    keyless.loc[::9, "order_id"] = None
    again = wb.Stream.from_pandas(
        keyless, "orders", key="order_id", time="ordered_at", watermark="1 second", batch="batch"
    )
    return again, right.with_watermark("1 second")


@pytest.mark.family("dead letters of a script")
@pytest.mark.slow
@pytest.mark.drawn(4)
@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_late_rows_are_those_of_the_run(spark, tmp_path, join):
    run = wb.run(join, *streams(), finish=join.how != "left" if hasattr(join, "how") else True)
    assert len(run.late) > 5
    own = run_here(spark, run, tmp_path)
    assert late_in(dead_letters(own, tmp_path)) == late_of(run)


@pytest.mark.family("dead letters of a script")
@pytest.mark.slow
def test_a_second_start_writes_nothing_twice(spark, tmp_path):
    run = wb.run(JOINS[0], *streams(), finish=False)
    own = run_here(spark, run, tmp_path)
    before = late_in(dead_letters(own, tmp_path))
    assert before
    run_here(spark, run, tmp_path)
    assert late_in(dead_letters(own, tmp_path)) == before


@pytest.mark.family("dead letters of a script")
@pytest.mark.slow
def test_a_project_that_is_copied_with_its_checkpoint_goes_on(spark, tmp_path):
    """Its checkpoint is a relative folder, whose commits Spark knows by their whole address."""
    run = wb.run(JOINS[0], *streams(), finish=False)
    home = tmp_path / "first"
    home.mkdir()
    file = scripts.job(run, home, dead_letters="parquet")
    data = {side.name: str(file.parent / "main_data" / side.name) for side in (run.left, run.right)}
    words = ["--dead-letters", "dead_letters", *(word for name, at in data.items() for word in (f"--{name}", at))]
    scripts.run(file, "--trigger", "available-now", *words)
    before = late_in(spark.read.parquet(str(home / "dead_letters")).toPandas())
    assert before
    copy = tmp_path / "second"
    shutil.copytree(home, copy)
    scripts.run(copy / file.relative_to(home), "--trigger", "available-now", *words)
    after = late_in(spark.read.parquet(str(copy / "dead_letters")).toPandas())
    assert all(each in before for each in after)
    assert all(each in after for each in before)


def test_broken_records_and_files_do_not_stop_the_query(spark, tmp_path, capfd):
    rows = [("a", 100, 0), ("a", 105, 0), ("b", 110, 1)]
    folders = {}
    for name, kind in (("orders", "json"), ("payments", "parquet")):
        folders[name] = folder = tmp_path / "in" / name
        folder.mkdir(parents=True)
        frame = stream(rows, name).to_pandas().drop(columns="batch")
        for number in range(2):
            part = frame.iloc[number * 2 : number * 2 + 2]
            if kind == "json":
                part.to_json(folder / f"{number}.json", orient="records", lines=True, date_format="iso", date_unit="us")
            else:
                part.to_parquet(folder / f"{number}.parquet", coerce_timestamps="us")
            os.utime(next(folder.glob(f"{number}.*")), (1000 + number, 1000 + number))
    sides = [
        wb.Stream.from_files(folders[name], name=name, key="key", time="t", format=kind)
        for name, kind in (("orders", "json"), ("payments", "parquet"))
    ]
    run = wb.run(JOINS[1], *sides, finish=False)
    with (folders["orders"] / "0.json").open("a") as file:
        file.write('{"key": "a", "t": "not a time"}\nnot JSON\n{"key": "c"}\n')
    os.utime(folders["orders"] / "0.json", (1000, 1000))
    whole = (folders["payments"] / "1.parquet").read_bytes()
    cut = folders["payments"] / "2.parquet"
    cut.write_bytes(whole[: len(whole) // 2])
    os.utime(cut, (1002, 1002))
    own = run_here(spark, run, tmp_path)
    found = dead_letters(own, tmp_path)
    malformed = found[found["why"] == "malformed"]
    assert [json.loads(row).get("__corrupt") for row in sorted(malformed["row"])] == [
        "not JSON",
        '{"key": "a", "t": "not a time"}',
        None,
    ]
    assert set(malformed["stream"]) == {"orders"}
    (unreadable,) = found[found["why"] == "unreadable"].to_dict("records")
    assert json.loads(unreadable["row"])["path"].endswith("/payments/2.parquet")
    assert unreadable["stream"] == "payments"
    logged = [json.loads(line) for line in capfd.readouterr().out.splitlines() if line.startswith('{"at"')]
    counted = [
        each["inputs"]["orders"]
        for each in logged
        if each["event"] == "micro-batch" and "orders" in (each["inputs"] or {})
    ]
    assert sum(each["malformed"] for each in counted) == 3
    assert sum(each["rows"] for each in counted) == 6
    assert own.read.parquet(str(tmp_path / "output")).count() == len(run.output)
