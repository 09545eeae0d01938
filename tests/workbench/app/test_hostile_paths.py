"""Whatever is typed where the page asks for folders and servers: a sentence beside the field, and nothing else is touched."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import fault_lab
import pytest
from page import Page
from test_hostile_texts import LONG, TEXTS

from workbench.app.sources import sources
from workbench.sources import FORMATS, kafka

OWN = [
    ".", "..", "/", "//", "./.", " ", "*", "?", "[a]", "{a,b}", "a*", "/etc/*", "/etc", "/dev", "/dev/null",
    "/proc/self/environ", "/proc/self/fdinfo", "/proc/self/mem", "/root/.ssh", "secret/../../secret", "s3:/x", "s3://x", "hdfs://x/y",
    "jar:file:/x!/y", "http://127.0.0.1:1/", "link", "loop", "a file", "empty", "pipe", "hidden", "broken", "broken delta", "\u00e4 \u2603",
]  # fmt: skip
DRAWN = fault_lab.seed_of_commit()


def drawn(texts, count):
    """So many of them, by the commit."""
    begin = DRAWN % len(texts)
    return (texts[begin:] + texts[:begin])[:count]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with what is no folder of rows."""
    home = tmp_path / "home"
    for each in ("empty", "pipe", "hidden", "broken", "s3:/x", "broken delta/_delta_log"):
        (home / each).mkdir(parents=True)
    (home / "a file").write_text("a,b\n1,2\n")
    (home / "link").symlink_to("nowhere")
    (home / "loop").symlink_to("loop")
    os.mkfifo(home / "pipe" / "rows.csv")
    (home / "hidden" / ".rows.csv").write_text("a,b\n1,2\n")
    (home / "broken" / "rows.parquet").write_bytes(b"\xff\xfe no rows")
    (home / "broken delta" / "_delta_log" / "00000000000000000000.json").write_text("no JSON")
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def opened():
    """The files that Python opens meanwhile."""
    found, on = [], [True]

    def hook(event, arguments):
        if on and event == "open" and isinstance(arguments[0], str | bytes):
            found.append(os.fsdecode(arguments[0]))

    sys.addaudithook(hook)
    yield found
    on.clear()


def check(said, text):
    assert said, text[:60]
    assert "\n" not in said
    assert "Traceback" not in said
    assert "the workbench failed" not in said, (text[:60], said[:600])
    assert len(said) < 1_200, (text[:60], said[:200])


@pytest.mark.parametrize("kind", FORMATS)
def test_a_wrong_folder_is_told_beside_its_field(spark, folder, opened, kind):
    before = sorted(map(str, folder.rglob("*")))
    page = Page()
    page.set({"From": "files"})
    for text in [*OWN, *drawn([*TEXTS, *LONG[:4]], 12)]:
        page.set({"Left files": text, "Left files / Format": kind})
        of_left, *of_right = page.said()  # of the left below its path, or below its key where it has one column only
        assert of_right, text[:60]
        check(of_left, text)
        check(page.trouble, text)
        assert not page.usable("Run on Spark"), text[:60]
    assert sorted(map(str, folder.rglob("*"))) == before
    secrets = ("/etc/passwd", "/proc/self/environ", "/proc/self/mem", str(folder / "a file"))
    assert not set(opened) & set(secrets)


def test_wrong_servers_are_told_below_the_button(folder, opened, monkeypatch):
    monkeypatch.setattr(kafka, "SECONDS", 1.0)
    before = sorted(map(str, folder.rglob("*")))
    page = Page()
    page.set({"From": "Kafka topics"})
    for text in drawn([*TEXTS, *LONG[:4], *OWN], 12):
        page.set({"Servers": text})
        check(page.mark("Servers") or page.mark("Left topic"), text)
        page.click("List topics")
        check(page.said()[-1], text)
        assert not page.usable("Run on Spark"), text[:60]
    assert sorted(map(str, folder.rglob("*"))) == before
    assert not {each for each in opened if Path(each).name in ("passwd", "environ", "mem")}
    assert "kafka" in sources()
