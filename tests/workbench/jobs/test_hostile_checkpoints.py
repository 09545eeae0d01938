"""Checkpoints that are damaged, or that somebody put something into: a sentence that names the file, and nothing else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jobs
import pytest
import written

import workbench as wb
from workbench.__main__ import main
from workbench.jobs import checkpoint as checkpoints
from workbench.jobs.health import figures


@pytest.fixture(scope="module")
def joined(session, folder):
    return written.enough(*jobs.streams(session, folder))


@pytest.fixture(scope="module")
def whole(joined, tmp_path_factory):
    return Path(jobs.run(joined, tmp_path_factory.mktemp("job")).checkpoint)


@pytest.fixture
def copy(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "checkpoint")
    return tmp_path / "checkpoint"


def line(file, number, text):
    """Put a line of a log in another's place; Spark's checksum of the file goes."""
    lines = file.read_text().split("\n")
    lines[number] = text
    file.write_text("\n".join(lines))
    (file.parent / f".{file.name}.crc").unlink(missing_ok=True)


@pytest.mark.parametrize(
    "about",
    [
        "[]", "null", "text", "{", '"x"', '{"batchWatermarkMs": null}', '{"batchWatermarkMs": [1]}',
        '{"batchWatermarkMs": -1e30}', f'{{"batchWatermarkMs": {-(10**30)}}}', f'{{"batchTimestampMs": {10**30}}}',
        '{"batchTimestampMs": 1e999}', '{"conf": [1]}', "[" * 100_000,
    ],
    ids=lambda about: about[:40],
)  # fmt: skip
def test_a_log_of_offsets_that_is_none_is_named(session, copy, about):
    line(copy / "offsets" / "1", 1, about)
    with pytest.raises(wb.DataError, match=r"offsets/1 is damaged: it is no log of Spark's$"):
        checkpoints.read(session, str(copy))


@pytest.mark.parametrize("text", ["", "\x00\x07", "v9\n{}"])
def test_a_log_of_another_version_is_named(session, copy, text):
    (copy / "offsets" / "1").write_text(text)
    (copy / "offsets" / ".1.crc").unlink(missing_ok=True)
    with pytest.raises(wb.DataError, match=r"(?s)has the version .* \(in .*offsets/1\)$"):
        checkpoints.read(session, str(copy))


@pytest.mark.parametrize("entry", ["[1]", "{}", '{"path": 5, "batchId": 0, "timestamp": 0}', "rubbish"])
def test_a_log_of_files_that_is_none_is_named(joined, copy, entry):
    line(copy / "sources" / "0" / "0", 1, entry)
    with pytest.raises(wb.DataError, match=r"sources/0/0 is damaged"):
        wb.open_job(joined, copy)


def test_an_offset_that_is_none_is_named(joined, copy):
    line(copy / "offsets" / "1", 2, "[1, 2]")
    with pytest.raises(wb.DataError, match=r"^checkpoint: its log of offsets is damaged: \[1, 2\] is no offset"):
        wb.open_job(joined, copy)


def test_an_offset_far_ahead_takes_no_memory(joined, copy):
    last = max(int(each.name) for each in (copy / "offsets").iterdir() if each.name.isdigit())
    line(copy / "offsets" / str(last), 2, json.dumps({"logOffset": 10**30}))
    job = wb.open_job(joined, copy)
    assert any("entries of the log of" in each for each in job.missing)


@pytest.mark.parametrize("name", ["1000000000000", "9" * 30, "007", "\u0663\u0664", "\u00b2", "x"])
def test_a_file_that_is_not_the_querys_is_left_alone(session, copy, whole, name):
    (copy / "offsets" / name).write_text("v1\n{}")
    read = checkpoints.read(session, str(copy))
    assert read.batches == checkpoints.read(session, str(whole)).batches
    assert not read.gap


def test_a_gap_in_the_log_is_told(joined, copy):
    (copy / "offsets" / "2").unlink()
    job = wb.open_job(joined, copy)
    assert any("offsets/2 is gone, so the job begins with micro-batch 3" in each for each in job.missing)


def test_of_rows_that_cannot_be_read_no_share_is_late(joined, copy):
    shutil.rmtree(copy / "sources")
    health = figures(wb.open_job(joined, copy))
    assert (health.left.rows, health.left.late_share, health.right.rows) == (None, None, None)


def test_the_command_prints_no_escapes(capsys):
    assert main(["check", "--job", "\x1b[2J\udcff:build", "--checkpoint", "nowhere"]) == 2
    printed = capsys.readouterr().err
    assert "\x1b" not in printed
    assert "there is no module \\x1b[2J\\udcff in" in printed
