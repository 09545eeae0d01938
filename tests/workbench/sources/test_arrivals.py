"""Times of arrival, cut into micro-batches by a trigger interval."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import generators
import workbench as wb
from workbench.sources import Files, Memory, arrivals

BEGIN = pd.Timestamp("2026-01-01 09:00:00")
JOIN = wb.IntervalJoin("0 seconds", "15 seconds", how="left")
seconds = st.lists(st.integers(0, 100).map(lambda tenth: tenth / 10), max_size=12).map(sorted)


def stream(arrived, trigger, name="orders", key=1):
    frame = pd.DataFrame(
        {
            "id": key,
            "at": BEGIN,
            "arrived_at": [BEGIN + pd.Timedelta(each, unit="s") for each in arrived],
            "n": range(len(arrived)),
        }
    ).astype({"at": "datetime64[us]", "arrived_at": "datetime64[us]"})
    return wb.Stream.from_pandas(frame, name, key="id", time="at", arrival="arrived_at", trigger=trigger)


def fired(sides, trigger):
    """A query's micro-batches, trigger by trigger: per side which rows each takes in."""
    taken, idle = [], True
    for tick in range(round(10 / trigger) + 1):
        due = [[n for n, each in enumerate(side) if round(each * 10) // round(trigger * 10) == tick] for side in sides]
        if any(due) or not idle:  # the first trigger without rows runs a micro-batch without data
            taken.append(due)
        idle = not any(due)
    return taken[:-1] if taken and not any(taken[-1]) else taken


@given(st.tuples(seconds, seconds), st.sampled_from([0.1, 0.5, 1, 2, 2.5, 10]))
def test_a_trigger_takes_in_what_has_arrived_on_either_side(sides, trigger):
    one, other = (stream(side, f"{trigger} s") for side in sides)
    one, other = (side for side in _together(one, other))
    expected = fired(sides, trigger)
    assert one.batch_count == other.batch_count == max(1, len(expected))
    for place, each in enumerate((one, other)):
        found = [np.flatnonzero(each.arrival == batch).tolist() for batch in range(each.batch_count)]
        assert found == [rows[place] for rows in expected] or not expected


def _together(one, other):
    shown = wb.preview(JOIN, one, other, finish=False)
    return shown.left, shown.right


def test_a_trigger_fires_at_multiples_of_its_interval_since_1970():
    times = np.array([BEGIN.value // 1000 + each for each in (-1, 0, 9_999_999, 10_000_000)])
    (batch,), count = arrivals.cut([arrivals.checked(times, "10 seconds", 4)])
    assert (batch.tolist(), count) == ([0, 1, 1, 2], 3)


def test_rows_are_put_in_order_of_arrival_and_keep_it_where_they_arrive_together():
    made = stream([4, 1, 4, 0], "2 s")
    assert made.table["n"].to_pylist() == [3, 1, 0, 2]
    assert made.arrival.tolist() == [0, 0, 2, 2]  # a pause is one empty micro-batch
    assert "arrived_at" in made.columns


def test_a_run_with_pauses_is_as_expected(spark):
    left, right = generators.generate(
        "orders_payments", events=80, rate=1, late=0.2, disorder=0.3, trigger="2 seconds", seed=5
    )
    assert left.batch_count > 30
    for join in (JOIN, wb.WindowJoin(wb.Session("4 seconds"), how="full")):
        run = wb.run(join, *(each.with_trigger("4 seconds") for each in (left, right)), spark=spark)
        assert run.mismatch == ""
        assert 15 < run.left.batch_count < left.batch_count
        assert run.rows["fate"].eq("late").sum() > 5


def test_generated_rows_are_the_same_however_they_are_cut():
    settings = {"events": 300, "late": 0.1, "seed": 3}
    numbered = generators.generate("orders_payments", **settings)
    triggered = generators.generate("orders_payments", **settings, trigger="500 ms")
    for one, other in zip(numbered, triggered, strict=True):
        assert one.table.equals(other.table)
        assert (np.diff(other.arrivals.at) >= 0).all()
    assert triggered[0].batch_count == triggered[1].batch_count > 30
    again = [each.with_trigger("1 hour") for each in triggered]
    assert wb.preview(JOIN, *again).left.batch_count <= 2


def test_a_shorter_trigger_shows_lateness_that_few_micro_batches_hide():
    streams = generators.generate("orders_payments", events=20_000, rate=20, late=0.05, seed=3)
    hidden = wb.tune(JOIN, *streams, over={"left.watermark": ["0 s"], "right.watermark": ["0 s"]})
    assert hidden.table["kept"].iloc[-1] > 0.999
    best = hidden.best(0.999)
    (note,) = best.notes
    assert note.startswith("a row is never late for rows of its own micro-batch, and micro-batches are long here")
    assert best.basis.endswith("numbered as 10 micro-batches")
    cut = generators.generate("orders_payments", events=20_000, rate=20, late=0.05, seed=3, trigger="1 second")
    shown = wb.tune(JOIN, *cut, over={"left.watermark": ["0 s"], "right.watermark": ["0 s"]})
    assert shown.table["kept"].iloc[-1] < 0.9
    assert "a trigger of 1 s" in wb.tune(JOIN, *cut).best(0.5).basis


def test_a_saved_recording_knows_when_its_rows_arrived(tmp_path):
    streams = generators.generate("orders_payments", events=100, trigger="1 second")
    generators.save(tmp_path / "recording", *streams)
    for one, other in zip(streams, generators.load(tmp_path / "recording"), strict=True):
        assert (one.arrivals.at == other.arrivals.at).all()
        assert one.arrivals.trigger == other.arrivals.trigger
        assert (one.arrival == other.arrival).all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"arrival": "arrived_at"}, "trigger: got None; with arrival='arrived_at' give the query's interval"),
        ({"trigger": "1 s"}, "trigger: got '1 s'; also name the column with the times of arrival"),
        ({"arrival": "id", "trigger": "1 s"}, "arrival: got 'id'; it holds int64 in orders"),
        ({"arrival": "none", "trigger": "1 s"}, "arrival: got 'none'; orders has no such column"),
        ({"arrival": "arrived_at", "trigger": "0 s"}, "trigger: got '0 s'; use a span longer than zero"),
        ({"arrival": "arrived_at", "trigger": "1 us"}, "trigger: got '1 us'; Spark's trigger has milliseconds"),
        (
            {"arrival": "arrived_at", "trigger": "1 s", "batch": "n"},
            "batch: got 'n'; a column numbers micro-batches, or",
        ),
        ({"arrival": "gone", "trigger": "1 s"}, "arrival: 1 row of orders has no time in 'gone'"),
    ],
)
def test_wrong_triggers(given, said):
    day = [BEGIN, BEGIN + pd.Timedelta("1 day")]
    frame = pd.DataFrame({"id": [1, 2], "at": BEGIN, "n": [0, 1], "arrived_at": day, "gone": [BEGIN, pd.NaT]})
    with pytest.raises(wb.WorkbenchError) as raised:
        wb.Stream.from_pandas(frame, "orders", key="id", time="at", **given)
    assert str(raised.value).startswith(said)


def test_too_many_micro_batches_are_refused():
    frame = pd.DataFrame({"id": 1, "at": pd.date_range(BEGIN, periods=60_000, freq="10ms")})
    with pytest.raises(wb.ArgumentError, match="it cuts these rows into 119,999 micro-batches, at most 100,000"):
        wb.Stream.from_pandas(frame, "orders", key="id", time="at", arrival="at", trigger="1 ms")


def test_a_query_has_one_trigger():
    one, other = stream([1, 2], "1 s"), stream([1, 2], "2 s", "payments")
    numbered = wb.Stream.from_arrow(pa.table({"id": [1], "at": pa.array([BEGIN])}), "payments", key="id", time="at")
    for mixed in (other, numbered):
        with pytest.raises(wb.ArgumentError, match="a query has one trigger: give both streams the same"):
            wb.preview(JOIN, one, mixed)
    with pytest.raises(wb.ArgumentError, match="payments has no times of arrival"):
        numbered.with_trigger("1 s")
    with pytest.raises(wb.ArgumentError, match="the streams have no times of arrival"):
        wb.tune(JOIN, numbered, numbered, over={"trigger": ["1 s"]})
    with pytest.raises(wb.ArgumentError, match=r"over\['trigger'\]: got '0 s'"):
        wb.tune(JOIN, one, one, over={"trigger": ["0 s"]})
    with pytest.raises(wb.ArgumentError, match="it cuts the rows, and so does batches"):
        generators.generate("orders_payments", batches=5, trigger="1 s")


def test_a_tuning_varies_the_trigger_as_a_preview_would(spark):
    streams = generators.generate("orders_payments", events=300, rate=5, late=0.1, trigger="1 second", seed=2)
    tuning = wb.tune(JOIN, *streams, over={"trigger": ["1 second", "10 seconds"], "right.watermark": ["0 s", "10 s"]})
    assert len(tuning.table) == 4
    for _, row in tuning.table.iterrows():
        one, other = (each.with_trigger(row["trigger"]) for each in streams)
        shown = wb.preview(JOIN, one, other.with_watermark(row["right.watermark"]))
        late = shown.late.groupby("side").size()
        assert (row["late_left"], row["late_right"]) == (late.get("left", 0), late.get("right", 0))
    assert tuning.table["late_left"].nunique() > 1
    assert tuning.confirm(2)["agrees"].all()
    assert wb.tune(JOIN, *streams).settings == ["left.watermark", "right.watermark"]  # no more than was asked for


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ([0, 1, 2], r"at: got \[0, 1, 2\]; give a NumPy array"),
        (np.array([0, 1]), "at: got '2 times'; there are 3 rows"),
        (np.array([2, 1, 0]), "at: got 'times that fall'"),
        (np.array([90, 30, 20], dtype="uint64"), "at: got 'times that fall'"),
        (np.array([0, 1, 2**64 - 1], dtype="uint64"), "at: got 18446744073709551615"),
        (np.array(["2026-01-01", "NaT", "2026-01-02"], dtype="datetime64[s]"), "at: got '1 missing times'"),
        (np.array([0.0, 1.0, 2.0]), "at: got array"),
    ],
)
def test_times_of_arrival_that_are_wrong(at, said):
    with pytest.raises(wb.ArgumentError, match=said):
        stream([1, 2, 3], "1 s").with_arrivals(at, "1 s")


def test_times_of_arrival_may_be_datetimes():
    at = np.array(["2026-01-01T09:00:01", "2026-01-01T09:00:02", "2026-01-01T09:00:40"], dtype="datetime64[s]")
    assert stream([1, 2, 3], "1 s").with_arrivals(at, "10 s").arrival.tolist() == [0, 0, 2]


def test_a_script_of_files_that_a_trigger_cuts_reads_a_recording(spark, tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    pd.DataFrame({"id": [1, 2], "at": [BEGIN, BEGIN]}).to_parquet(folder / "rows.parquet", coerce_timestamps="us")
    files = wb.Stream.from_files(folder, "orders", key="id", time="at")
    assert isinstance(files.source, Files)
    assert isinstance(files.with_arrivals(np.array([0, 10**7]), "1 s").source, Memory)
    with pytest.raises(wb.ArgumentError, match="max_files: got 2"):
        wb.Stream.from_files(folder, "orders", key="id", time="at", max_files=2, arrival="at", trigger="1 s")


def test_slices_replace_a_trigger():
    streams = generators.generate("orders_payments", events=100, trigger="10 s")
    sliced = wb.frames.sliced(*streams, batches=40)
    assert wb.preview(JOIN, *sliced).left.batch_count == 40


def test_pauses_of_a_few_triggers_are_no_idle_side():
    streams = generators.generate("orders_payments", events=200, trigger="50 ms", late=0.0, disorder=0.0)
    said = [each.problem for each in wb.advise(JOIN, *streams) if "sends nothing" in each.problem]
    after_the_last = f"from micro-batch {streams[0].arrival[-1] + 1} on"
    assert [after_the_last in each for each in said] == [True]  # orders end before payments do
    idle = generators.generate("orders_payments", events=200, trigger="50 ms", idle=("right", 0.4, 0.7))
    assert any("payments sends nothing" in each.problem for each in wb.advise(JOIN, *idle))


def test_a_recording_whose_arrivals_are_damaged_says_so(tmp_path):
    folder = tmp_path / "recording"
    generators.save(folder, *generators.generate("orders_payments", events=50, trigger="1 s"))
    about = folder / "recording.json"
    text = about.read_text()
    for wrong in ('"trigger": "10 seconds"', '"trigger": "xx"'):
        about.write_text(text.replace('"trigger": "1 second"', wrong))
        with pytest.raises(wb.DataError, match=r"path: .*recording.json does not describe a recording"):
            generators.load(folder)
    about.write_text(text)
    pd.DataFrame({"arrived_at": [1, 2]}).to_parquet(folder / "left-arrivals.parquet")
    with pytest.raises(wb.DataError, match=r"path: .*recording.json does not describe a recording"):
        generators.load(folder)


@pytest.mark.parametrize("trigger", ["1 hour", "1 minute", "20 seconds"])
def test_what_a_short_trigger_would_lose_is_what_it_loses(trigger):
    delays = {"left.watermark": ["10 s"], "right.watermark": ["10 s"]}
    long, short = (
        generators.generate("orders_payments", events=400, late=0.05, seed=3, trigger=each)
        for each in (trigger, "1 ms")
    )
    best = wb.tune(JOIN, *long, over=delays).best(0.5)
    late = wb.preview(JOIN, *short).late.groupby("side").size()
    words = f"{late['left']:,} of orders and {late['right']:,} of payments would be late"
    assert not best.notes  # half of the rows are kept either way
    assert words in wb.tune(JOIN, *long, over=delays).best(min(0.99, best.row["kept"])).notes[0]


def test_no_caveat_where_micro_batches_hide_nothing():
    streams = generators.generate("orders_payments", events=400, trigger="100 ms", late=0.05, seed=3)
    assert not any("never late" in each for each in wb.tune(JOIN, *streams).best(0.9).notes)
