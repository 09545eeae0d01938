"""What an exported script says was dropped is what the run called late; records that cannot be read are told of too."""

from __future__ import annotations

import json
import os

import pandas as pd
import pytest
import scripts
from helpers import stream

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


def run_here(spark, run, folder, **given):
    """The script's own functions, in the tests' session."""
    made = scripts.module(wb.export(run, folder / "join.py", late="parquet"))
    places = {name: str(folder / name) for name in ("output", "checkpoint", "late")}
    extra = {} if run.finish else {"trigger": "available-now"}
    own = scripts.own_session(spark, **{"spark.sql.files.ignoreCorruptFiles": "true"})
    made.run(own, scripts.arguments(made, **places | extra | given))
    return own


def letters(spark, folder):
    return spark.read.parquet(str(folder / "late")).toPandas()


def late_of(run):
    """A run's late rows as (stream, batch, window end, watermark, row)."""
    named = {"left": "orders", "right": "payments"}
    found = []
    for each in run.late.to_dict("records"):
        side = run.left if each["side"] == "left" else run.right
        row = {name: _text(each[name]) for name in side.columns if not pd.isna(each[name])}
        found.append((named[each["side"]], each["batch"], _text(each.get("window_end")), _text(each["watermark"]), row))
    return sorted(found, key=repr)


def told_of(found):
    return sorted(
        (
            (
                each["stream"],
                each["batch"],
                _text(each["window"] and each["window"]["end"]),
                _text(each["watermark"]),
                json.loads(each["row"]),
            )
            for each in found[found["why"] == "late"].to_dict("records")
        ),
        key=repr,
    )


def _text(value):
    if value is None or value is pd.NaT:
        return None
    if hasattr(value, "year"):
        moment = pd.Timestamp(value)
        moment = moment.tz_convert("UTC").tz_localize(None) if moment.tz is not None else moment
        return moment.strftime(scripts.JSON_TIMES)
    return value


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_late_rows_are_those_of_the_run(spark, tmp_path, join):
    run = wb.run(join, *streams(), finish=join.how != "left" if hasattr(join, "how") else True)
    assert len(run.late) > 5
    own = run_here(spark, run, tmp_path)
    assert told_of(letters(own, tmp_path)) == late_of(run)


def test_a_second_start_writes_nothing_twice(spark, tmp_path):
    run = wb.run(JOINS[0], *streams(), finish=False)
    own = run_here(spark, run, tmp_path)
    before = told_of(letters(own, tmp_path))
    run_here(spark, run, tmp_path)
    assert told_of(letters(own, tmp_path)) == before


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
    found = letters(own, tmp_path)
    poison = found[found["why"] == "poison"]
    assert [json.loads(row).get("__corrupt") for row in sorted(poison["row"])] == [
        "not JSON",
        '{"key": "a", "t": "not a time"}',
        None,
    ]
    assert set(poison["stream"]) == {"orders"}
    (unreadable,) = found[found["why"] == "unreadable"].to_dict("records")
    assert json.loads(unreadable["row"])["path"].endswith("/payments/2.parquet")
    assert unreadable["stream"] == "payments"
    told = [json.loads(line) for line in capfd.readouterr().out.splitlines() if line.startswith('{"at"')]
    counted = [
        each["inputs"]["orders"]
        for each in told
        if each["event"] == "micro-batch" and "orders" in (each["inputs"] or {})
    ]
    assert sum(each["poison"] for each in counted) == 3
    assert sum(each["rows"] for each in counted) == 6
    assert own.read.parquet(str(tmp_path / "output")).count() == len(run.output)
