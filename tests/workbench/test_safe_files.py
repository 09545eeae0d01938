"""Exports, recordings, reports and savepoints: a stranger's files, and what its user edited, stay as they are."""

from __future__ import annotations

import json
import os

import pytest
from helpers import stream

import generators
import workbench as wb

JOIN = wb.IntervalJoin("0 s", "5 s")
LEFT, RIGHT = [("a", 100), ("b", 101)], [("a", 102), ("b", 200)]
THEIRS = "nobody's business but mine\n"


@pytest.fixture(scope="module")
def run(spark):
    return wb.run(JOIN, stream(LEFT, "orders"), stream(RIGHT, "payments"))


@pytest.fixture(scope="module")
def preview():
    return wb.preview(JOIN, stream(LEFT, "orders"), stream(RIGHT, "payments"))


def everything(folder):
    return {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


STRANGERS = [
    "data/orders/2025.csv", "join_data/orders/2025.csv", "join_data/mine.txt", "join.py", "README.md", "pyproject.toml",
    "test_join.py", "fixture/orders/mine.parquet", "fixture/expected.parquet", "recording.json", "report.json",
    "left/batch-00000.parquet", "left/mine.parquet", "recording/left/batch-00000.parquet", "savepoint.json",
    "checkpoint/metadata", "pipeline/spark-pipeline.yml", "pipeline/transformations/join.py", ".stream-join-workbench.json",
]  # fmt: skip
WRITERS = {
    "script": lambda run, place: wb.export(run, place / "join.py"),
    "folder": wb.export,
    "recording": lambda run, place: generators.save(place, run.left, run.right),
    "report": lambda run, place: run.save_report(place),
    "savepoint": lambda run, place: run.savepoint(place, 0),
}


OTHERS = {
    "project": wb.export,
    "recording": WRITERS["recording"],
    "report of mismatches": WRITERS["report"],
    "run": lambda run, place: run.save(place),
}


@pytest.mark.parametrize("then", OTHERS)
@pytest.mark.parametrize("first", OTHERS)
def test_what_the_workbench_wrote_is_replaced_by_its_like_only(run, tmp_path, first, then):
    OTHERS[first](run, tmp_path / "it")
    before = everything(tmp_path)
    if first == then:
        OTHERS[then](run, tmp_path / "it")
        return
    with pytest.raises(
        wb.ArgumentError, match=f"that folder holds a {first}, which a {then} would replace; give a new"
    ):
        OTHERS[then](run, tmp_path / "it")
    assert everything(tmp_path) == before


def test_a_folder_of_an_older_workbench_is_replaced(preview, tmp_path):
    preview.save(tmp_path / "it")
    note = tmp_path / "it" / ".stream-join-workbench.json"
    note.write_text(json.dumps({name: each for name, each in json.loads(note.read_text()).items() if name != "holds"}))
    preview.save(tmp_path / "it")
    assert json.loads(note.read_text())["holds"] == "a run"


LINKED = {
    "script": (lambda run, place: wb.export(run, place), "join.py"),
    "run": (lambda run, place: run.save(place), "it"),
    "report": (lambda run, place: run.report(place), "it.html"),
    "recording": (WRITERS["recording"], "it"),
}


@pytest.mark.parametrize("leads", ["nowhere", "to itself"])
@pytest.mark.parametrize("writer", LINKED)
def test_a_link_that_leads_nowhere_stays(preview, tmp_path, writer, leads):
    write, name = LINKED[writer]
    (tmp_path / name).symlink_to(tmp_path / (name if leads == "to itself" else "gone"))
    with pytest.raises(wb.ArgumentError, match=r"^path: got "):
        write(preview, tmp_path / name)
    assert (tmp_path / name).is_symlink()


def test_a_name_that_leaves_no_room_for_another_beside_it_is_refused_in_a_sentence(preview, tmp_path):
    with pytest.raises(wb.ArgumentError, match=r"it cannot be written \(File name too long\)"):
        preview.report(tmp_path / ("x" * 230 + ".html"))
    assert not everything(tmp_path)


@pytest.mark.parametrize("place", ["/proc/it", "/proc/self/it", "/dev/null/it"])
def test_rows_that_cannot_be_written_are_refused_in_a_sentence(preview, place):
    with pytest.raises(wb.ArgumentError, match=r"^folder: got '/[a-z/]+'; it cannot be written \("):
        preview.left.write(place)


@pytest.mark.parametrize("stranger", STRANGERS)
@pytest.mark.parametrize("writer", WRITERS)
def test_a_strangers_file_is_never_touched(run, tmp_path, writer, stranger):
    file = tmp_path / stranger
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(THEIRS)
    os.utime(file, (1, 1))
    before = everything(tmp_path)
    refused = False
    try:
        WRITERS[writer](run, tmp_path)
    except wb.ArgumentError as error:
        refused = True
        assert str(error).startswith("path: got '")
        assert "\n" not in str(error)
    assert file.read_text() == THEIRS
    assert file.stat().st_mtime == 1
    if refused:  # nothing is half done
        assert everything(tmp_path) == before
    else:  # beside it, in places of its own
        assert writer == "script"
    assert not [each for each in tmp_path.iterdir() if each.name.count(".") >= 2 and each.name.startswith(".join")]


@pytest.mark.parametrize("writer", [name for name in WRITERS if name != "savepoint"])
def test_what_the_workbench_wrote_is_replaced(run, tmp_path, writer):
    place = tmp_path / "place"
    if writer == "script":
        place.mkdir()
    WRITERS[writer](run, place)
    first = everything(place)
    WRITERS[writer](run, place)
    assert everything(place).keys() == first.keys()


@pytest.mark.parametrize("writer", [name for name in WRITERS if name != "savepoint"])
def test_what_its_user_edited_is_not_replaced(run, tmp_path, writer):
    place = tmp_path / "place"
    if writer == "script":
        place.mkdir()
    WRITERS[writer](run, place)
    edited = place / ("recording.json" if writer == "recording" else "join.py")
    edited.write_text(edited.read_text() + "\n# a change of mine\n")
    before = everything(place)
    with pytest.raises(wb.ArgumentError, match="was edited since"):
        WRITERS[writer](run, place)
    assert everything(place) == before


def test_files_beside_an_export_stay(run, tmp_path):
    wb.export(run, tmp_path / "job")
    for name in ("output/part-0.parquet", "checkpoint/metadata", "notes.md"):
        (tmp_path / "job" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "job" / name).write_text(THEIRS)
    wb.export(run, tmp_path / "job")
    assert (tmp_path / "job" / "checkpoint" / "metadata").read_text() == THEIRS
    assert (tmp_path / "job" / "notes.md").read_text() == THEIRS


def test_two_scripts_side_by_side_have_their_own_data(preview, tmp_path):
    other = wb.preview(JOIN, stream([("z", 1)], "orders"), stream(RIGHT, "payments"))
    wb.export(preview, tmp_path / "one.py")
    before = everything(tmp_path)
    wb.export(other, tmp_path / "two.py")
    assert {name: each for name, each in everything(tmp_path).items() if name in before} == before
    assert (tmp_path / "two_data" / "orders").is_dir()


def test_what_is_no_longer_part_of_an_export_goes(run, tmp_path):
    wb.export(run, tmp_path / "job")
    assert (tmp_path / "job" / "pipeline").is_dir()
    anti = wb.run(wb.IntervalJoin("0 s", "5 s", how="anti"), run.left, run.right)
    wb.export(anti, tmp_path / "job")
    assert not (tmp_path / "job" / "pipeline").exists()  # there is no such pipeline of an anti join


def test_a_place_that_cannot_be_written_is_one_sentence(preview, tmp_path):
    for place in ("/proc/x.py", tmp_path / "none" / "join.py", tmp_path):
        with pytest.raises(wb.WorkbenchError) as raised:
            wb.export(preview, place)
        assert "\n" not in str(raised.value)


def test_an_empty_file_is_replaced(preview, tmp_path):
    (tmp_path / "join.py").touch()
    assert wb.export(preview, tmp_path / "join.py").read_text() == preview.script


def test_an_error_on_the_way_leaves_nothing(preview, tmp_path, monkeypatch):
    def full(self, folder, *more):
        folder.mkdir(parents=True)
        (folder / "half").write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(wb.Stream, "write", full)
    for write in (
        lambda: wb.export(preview, tmp_path / "join.py"),
        lambda: generators.save(tmp_path / "r", preview.left, preview.right),
    ):
        with pytest.raises(wb.ArgumentError, match="No space left on device"):
            write()
    assert not list(tmp_path.iterdir())
