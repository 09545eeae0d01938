"""A run that was saved and loaded answers as the run does, value by value, for every kind of join; without Spark."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import subprocess
import sys

import pandas as pd
import pytest
import same_day
from helpers import stream
from page import wait_for

import generators
import workbench as wb
from workbench import charts, kinds
from workbench.joins import HOWS

JOINS = [
    *(wb.IntervalJoin("-2 seconds", "5500 us", how=how, upper_exclusive=True) for how in HOWS),
    *(wb.WindowJoin(wb.Tumbling("10 seconds", "1 second"), how=how) for how in HOWS),
    wb.WindowJoin(wb.Sliding("10 seconds", "4 seconds"), how="full"),
    wb.WindowJoin(wb.Session("3 seconds"), how="left"),
    wb.CoGroup(wb.Tumbling("10 seconds")),
    wb.CoGroup(wb.Session("3 seconds")),
]


def assert_same(loaded, run):
    """All that a run or preview says, value by value."""
    assert loaded.name == run.name
    assert (loaded.join, loaded.finish, loaded.policy) == (run.join, run.finish, run.policy)
    for side in ("left", "right"):
        one, other = loaded.side(side), run.side(side)
        assert one.table.equals(other.table)
        assert repr(one) == repr(other)
        assert (one.zones, one.source) == (other.zones, other.source)
        assert (one.arrival == other.arrival).all()
        pd.testing.assert_frame_equal(loaded.fates[side], run.fates[side])
    for name in ("rows", "output", "late", "batches"):
        pd.testing.assert_frame_equal(getattr(loaded, name), getattr(run, name))
    assert loaded.script == run.script
    assert [loaded.why(row).text for row in range(0, len(run.rows), 17)] == [
        run.why(row).text for row in range(0, len(run.rows), 17)
    ]
    assert repr(loaded.at(1)) == repr(run.at(1))
    for view in charts.views():
        if view.name == "windows" and not run.windowed:
            continue
        one, other = (each.charts.drawing(view.name) for each in (loaded, run))
        assert (one.columns, one.params, one.title, one.subtitle) == (
            other.columns,
            other.params,
            other.title,
            other.subtitle,
        )
    assert len(loaded.against(run)) == 0


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_a_loaded_run_answers_as_the_run(ran, tmp_path, join):
    run = ran(join).named("baseline")
    loaded = wb.load(run.save(tmp_path / "kept"))
    assert isinstance(loaded, wb.Run)
    assert_same(loaded, run)
    pd.testing.assert_frame_equal(loaded.comparison, run.comparison)
    assert loaded.mismatch == run.mismatch == ""
    assert list(loaded.execution.progress) == list(run.execution.progress)
    assert loaded.execution.output_counts == run.execution.output_counts
    assert loaded.execution.versions == run.execution.versions
    assert loaded.raw_output.equals(run.raw_output)


@pytest.mark.parametrize("join", [JOINS[3], JOINS[-2]], ids=repr)
@pytest.mark.parametrize("finish", [True, False])
def test_a_loaded_preview_answers_as_the_preview(tmp_path, join, finish):
    sides = generators.generate("orders_payments", events=60, late=0.2, seed=5, trigger="2 seconds")
    seen = wb.preview(join, *sides, finish=finish, policy="max")
    loaded = wb.load(seen.save(tmp_path / "kept"))
    assert isinstance(loaded, wb.Preview)
    assert loaded.left.arrivals.trigger == seen.left.arrivals.trigger
    assert_same(loaded, seen)


def test_what_needs_the_checkpoint_says_so(ran, tmp_path):
    loaded = wb.load(ran(JOINS[1]).save(tmp_path / "kept"))
    needs = [
        lambda: loaded.state(1),
        lambda: loaded.savepoint(tmp_path / "savepoint", 1),
        lambda: loaded.compare(),
    ]
    for call in needs:
        with pytest.raises(wb.WorkbenchError, match="a saved run has no checkpoint, so it has no state to read"):
            call()
    assert not (tmp_path / "savepoint").exists()
    assert len(loaded.compare(every_state=False)) == len(ran(JOINS[1]).comparison)
    again = wb.load(loaded.save(tmp_path / "again"))  # a loaded run can be saved, too
    pd.testing.assert_frame_equal(again.comparison, loaded.comparison)


def test_a_difference_from_spark_is_found_in_a_loaded_run(ran, tmp_path):
    """The output is compared anew: where the model says something else, a loaded run says so as the run would."""
    place = ran(JOINS[1]).save(tmp_path / "kept")
    about = json.loads((place / "run.json").read_text())
    about["execution"]["progress"][3]["eventTime"]["watermark"] = "2020-01-01T00:00:00.000Z"
    del about["digest"]  # as a run of the first format
    (place / "run.json").write_text(json.dumps(about))
    assert list(wb.load(place).mismatches["what"]) == ["watermark of each micro-batch"]


def test_a_live_run_is_saved_as_it_ended(spark, tmp_path):
    live = wb.live(JOINS[1], generators.Feed("orders_payments", rate=40, seed=3), speed=10, spark=spark)
    wait_for(lambda: live.done > 2)
    run = live.stop()
    assert_same(wb.load(run.save(tmp_path / "kept")), run)


def test_the_files_that_a_stream_came_from_are_kept_for_its_script(spark, tmp_path):
    (tmp_path / "in").mkdir()
    rows = pd.DataFrame({"k": ["a", "b"], "t": ["2026-01-01 10:00:00", "2026-01-01 10:00:03"], "v": [float("nan"), 1]})
    rows.to_csv(tmp_path / "in" / "one.csv", index=False, sep=";")
    left, right = (
        wb.Stream.from_files(
            tmp_path / "in",
            name,
            "k",
            "t",
            "1 s",
            format="csv",
            options={"sep": ";"},
            schema={"k": "string", "t": "timestamp[us]"},
        )
        for name in ("one", "other")
    )
    seen = wb.preview(wb.IntervalJoin("0 s", "1 s"), left, right)
    loaded = wb.load(seen.save(tmp_path / "kept"))
    assert loaded.left.source == left.source
    assert loaded.script == seen.script


def test_rows_with_nan_are_the_same_rows(tmp_path):
    table = stream([("a", 0), ("b", 1)]).table.append_column("v", [[float("nan"), 1.0]])
    left, right = (wb.Stream.from_arrow(table, name, "key", "t") for name in ("one", "other"))
    seen = wb.preview(JOINS[0], left, right)
    assert len(wb.load(seen.save(tmp_path / "kept")).against(seen)) == 0


def test_a_kind_of_join_of_ones_own_is_saved(tmp_path):
    left, right = stream([("a", 0), ("b", 1, 1)]), stream([("a", 3)], "right")
    kinds.register(same_day.SameDay())
    try:
        seen = wb.preview(same_day.SameDayJoin(), left, right)
        place = seen.save(tmp_path / "kept")
        assert_same(wb.load(place), seen)
    finally:
        kinds.unregister("same_day")
    with pytest.raises(wb.DataError, match=r"is of a kind .* not known here; register it"):
        wb.load(place)


def test_another_session_loads_it_without_spark(ran, tmp_path):
    run = ran(JOINS[-1])
    place = run.save(tmp_path / "kept")
    code = (
        "import sys, workbench as wb; run = wb.load(sys.argv[1]); "
        "print(run.output.shape, len(run.rows), run.mismatch == '', 'pyspark' in sys.modules and "
        "__import__('pyspark').SparkContext._active_spark_context is not None)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(place)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{run.output.shape} {len(run.rows)} True False"


def test_a_name_is_kept_and_shown(tmp_path):
    seen = wb.preview(JOINS[0], stream([("a", 0)]), stream([("a", 0)], "right"))
    named = seen.named("before the fix")
    assert seen.name == ""
    assert repr(named).startswith("<Preview 'before the fix' of IntervalJoin(")
    assert named.simulation is seen.simulation
    with pytest.raises(wb.ArgumentError, match=r"name: got 'a\\nb'; give a short text of one line"):
        seen.named("a\nb")


def test_only_what_was_saved_is_replaced(tmp_path):
    seen = wb.preview(JOINS[0], stream([("a", 0)]), stream([("a", 0)], "right"))
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "notes.txt").write_text("mine")
    with pytest.raises(wb.ArgumentError, match="that folder holds other files"):
        seen.save(mine)
    assert [each.name for each in mine.iterdir()] == ["notes.txt"]
    place = seen.save(tmp_path / "kept")
    seen.named("again").save(place)
    assert wb.load(place).name == "again"
    (place / "run.json").write_text("{}")
    with pytest.raises(wb.ArgumentError, match="was edited since it was written"):
        seen.save(place)


def spoiled(place, change):
    about = json.loads((place / "run.json").read_text())
    change(about)
    (place / "run.json").write_text(json.dumps(about))


DAMAGES = {
    "no file at all": (lambda place: (place / "run.json").unlink(), wb.ArgumentError, "there is no run.json in it"),
    "no JSON": (lambda place: (place / "run.json").write_text("{"), wb.DataError, "does not describe a run"),
    "half": (
        lambda place: (place / "run.json").write_text((place / "run.json").read_text()[:300]),
        wb.DataError,
        "does not describe a run",
    ),
    "deep": (lambda place: (place / "run.json").write_text("[" * 100_000), wb.DataError, "does not describe a run"),
    "another's": (
        lambda place: (place / "run.json").write_text('{"kind": "training run", "version": 1}'),
        wb.DataError,
        "its kind is 'training run'",
    ),
    "newer": (
        lambda place: spoiled(place, lambda about: about.update(version=3, versions={"workbench": "9.0"})),
        wb.DataError,
        r"a newer workbench \(9.0\), in format 3, and this one reads format 2; update the workbench",
    ),
    "odd version": (
        lambda place: spoiled(place, lambda about: about.update(version=True)),
        wb.DataError,
        "version is True",
    ),
    "no output": (
        lambda place: (place / "output.parquet").unlink(),
        wb.DataError,
        "output.parquet is missing or changed",
    ),
    "another output": (
        lambda place: (place / "output.parquet").write_bytes(b"PAR1"),
        wb.DataError,
        "is damaged, output.parquet is missing or changed",
    ),
    "no recording": (
        lambda place: shutil.rmtree(place / "recording"),
        wb.DataError,
        "are missing or changed; save the run again",
    ),
    "code in place of a join": (
        lambda place: spoiled(place, lambda about: about["join"]["arguments"].update(lower="__import__('os')")),
        wb.DataError,
        "does not describe a run",
    ),
    "odd policy": (lambda place: spoiled(place, lambda about: about.update(policy=3)), wb.DataError, "policy: got 3"),
    "another setting": (
        lambda place: spoiled(place, lambda about: about.update(finish=not about["finish"])),
        wb.DataError,
        "was changed since it was written",
    ),
    "no progress": (
        lambda place: spoiled(place, lambda about: about["execution"].update(progress=[])),
        wb.DataError,
        "its progress is no list",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_foreign_or_newer_is_said_in_one_sentence(ran, tmp_path, damage):
    spoil, error, words = DAMAGES[damage]
    place = ran(JOINS[1]).save(tmp_path / "kept")
    spoil(place)
    with pytest.raises(error, match=words) as raised:
        wb.load(place)
    assert "\n" not in str(raised.value)


def test_a_recording_is_no_run(tmp_path):
    generators.save(tmp_path / "recording", stream([("a", 0)]), stream([("a", 0)], "right"))
    with pytest.raises(wb.ArgumentError, match=r"it is a recording: load it with generators\.load"):
        wb.load(tmp_path / "recording")


def leaves(value, place=()):
    """The places of all values within lists and mappings."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    return [place] if inner is None else [each for key, item in inner for each in leaves(item, (*place, key))]


ALTERED = (None, -1, 0, 1, 2**70, 1e300, True, "", "x", "99999999999999999999 days", [], [2**70], {}, "9999-12-31")


def altered(about, rng):
    """A file's text with one value, or all of a branch, in place of another."""
    about = json.loads(json.dumps(about))
    place = rng.choice(leaves(about))
    place = place[: rng.randint(1, len(place))]
    inner = about
    for key in place[:-1]:
        inner = inner[key]
    if rng.random() < 0.2 and isinstance(inner, dict):
        del inner[place[-1]]
    else:
        inner[place[-1]] = rng.choice(ALTERED)
    return about


def but_for_the_digest(text):
    """What the first format said, which had none."""
    return {name: value for name, value in json.loads(text).items() if name != "digest"}


@pytest.mark.parametrize("part", range(8))
def test_an_altered_file_is_refused_in_a_sentence_or_answers_as_any_run(tmp_path, part):
    """Whatever value of ``run.json`` or of a recording's ``recording.json`` is another."""
    rng = random.Random(part)
    sides = generators.generate("orders_payments", events=40, batches=4, seed=1)
    place = wb.preview(JOINS[1], *sides).save(tmp_path / "kept")
    generators.save(tmp_path / "recording", *sides)
    for file, read in (
        (place / "run.json", lambda: wb.load(place)),
        (
            tmp_path / "recording" / "recording.json",
            lambda: wb.preview(JOINS[1], *generators.load(tmp_path / "recording")),
        ),
    ):
        was = file.read_text()
        for _ in range(25):
            file.write_text(json.dumps(altered(json.loads(was), rng)))
            try:
                run = read()
            except wb.WorkbenchError as error:
                assert "\n" not in str(error)
                continue
            assert file.name == "recording.json" or but_for_the_digest(file.read_text()) == but_for_the_digest(was)
            with contextlib.suppress(wb.WorkbenchError):
                _ = run.rows, run.output, run.why(3).text, run.charts.drawing("timeline")
        file.write_text(was)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [("batches", 3, "batches: 3, and there are files of more"), ("rows", 39, r"rows: 39, and")],
)
def test_a_recording_that_says_another_number_of_rows_or_micro_batches_is_refused(tmp_path, name, value, words):
    generators.save(tmp_path, *generators.generate("orders_payments", events=40, batches=4, seed=1))
    file = tmp_path / "recording.json"
    about = json.loads(file.read_text())
    about["right"][name] = value
    file.write_text(json.dumps(about))
    with pytest.raises(wb.DataError, match=rf"{words}.*save it again"):
        generators.load(tmp_path)
