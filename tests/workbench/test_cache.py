"""The user's cache folder."""

from __future__ import annotations

import os

from workbench.cache import cached_file, drop_oldest, used


def test_the_oldest_archives_go_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    archives = [cached_file(f"spark-{number:016x}.jsa") for number in range(4)]
    others = [cached_file(name) for name in ("spark-mine.jsa", f"script-{0:016x}.js", f"spark-{0:016x}.part")]
    archives[0].parent.mkdir()
    for age, file in enumerate(archives + others):
        file.touch()
        os.utime(file, (1_000 - age, 1_000 - age))
    used(archives[3])
    drop_oldest("spark", ".jsa", 2)
    assert [file.exists() for file in archives] == [True, False, False, True]
    assert all(file.exists() for file in others)
    used(archives[1])  # is gone: nothing to remember


def test_a_cache_folder_that_there_is_not_has_nothing_to_drop(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "none"))
    drop_oldest("spark", ".jsa", 2)


def test_an_archive_that_cannot_be_removed_stays(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    file = cached_file(f"spark-{0:016x}.jsa")
    file.parent.mkdir()
    file.touch()

    def refuse(self, missing_ok=False):
        raise PermissionError(self)

    monkeypatch.setattr(type(file), "unlink", refuse)
    drop_oldest("spark", ".jsa", 0)
    assert file.exists()
