"""Files and folders that are written for the user: nothing that the workbench did not write is replaced.

What it writes bears a note with a checksum. Only what still agrees with its note is replaced, so neither a stranger's
file nor a script that its user has edited is lost. All is written beside its place first, then renamed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from workbench.errors import ArgumentError, excerpt, wrong

__all__ = [
    "NOTE",
    "check_folder",
    "check_script",
    "digest",
    "folder",
    "listed",
    "made",
    "noted",
    "place",
    "said",
    "write_script",
]

NOTE = ".stream-join-workbench.json"
"""The file in a folder that says which files the workbench wrote there; hidden, so Spark does not read it."""

_SHOWN = 3  # names of files in an error
_WORDS = "Written by the stream-join workbench; sha256 of the lines below: "
_COMMENTS = {".html": ("<!-- ", " -->")}
"""How a first line is marked as a comment, by the ending of the file's name; ``# `` in all others."""


def noted(text: str, ending: str = ".py") -> str:
    r"""A text with a first line by which `check_script` knows it again, a comment in files with this ending.

    Examples
    --------
    >>> noted("print()\n").splitlines()[0]
    '# Written by the stream-join workbench; sha256 of the lines below: d8594fa1268ecabc'
    """
    return f"{_first_line(text, ending)}\n{text}"


def _first_line(text: str, ending: str) -> str:
    before, after = _COMMENTS.get(ending.lower(), ("# ", ""))
    return f"{before}{_WORDS}{_short_hash(text)}{after}"


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def place(path: object, remedy: str = 'give a path, such as "join/"', argument: str = "path") -> Path:
    """A path as users give it: text or `os.PathLike`.

    Raises
    ------
    ArgumentError
        If it is none, or one that no file system has.
    """
    try:
        text = os.fspath(path)  # type: ignore[call-overload]
        text.encode()
        Path(text).exists()  # names that are too long, or hold NUL
        Path(text).resolve()  # links that lead to themselves
    except (TypeError, AttributeError, ValueError, OSError, RuntimeError):
        raise wrong(argument, path, remedy) from None
    if not isinstance(text, str) or "\0" in text:
        raise wrong(argument, path, remedy)
    return Path(text)


def check_script(path: Path) -> None:
    """Check that a script can be written: there is no such file, or one that is as `write_script` left it.

    Raises
    ------
    ArgumentError
        If there is something else.
    """
    _check_parent(path)
    _check_link(path)
    if not path.exists():
        return
    if not path.is_file():
        raise wrong("path", str(path), "that is no file; give another name")
    try:
        found = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        found = "unknown"
    first, _, rest = found.partition("\n")
    if found and _WORDS not in first:
        raise wrong("path", str(path), "the workbench did not write that file; give another name, or move it away")
    if found and first != _first_line(rest, path.suffix):
        raise wrong("path", str(path), "that file was edited since it was exported; give another name, or move it away")


def write_script(path: Path, text: str) -> None:
    """Write a `noted` text in place of a file that `check_script` has passed."""
    check_script(path)
    staged = _neighbour(path)
    try:
        with said(path):
            staged.write_text(text, encoding="utf-8", newline="\n")
            staged.replace(path)
    finally:
        with suppress(OSError):  # as where nothing could be written
            staged.unlink(missing_ok=True)


def check_folder(path: Path, holds: str | None) -> None:
    """Check that a folder can be written: there is none, an empty one, or one whose files are as they were written.

    Parameters
    ----------
    path
        The folder.
    holds
        What it is to hold, such as ``"a run"``: one that holds the same, and whose note and files agree, may be there.
        None: only an empty one may.

    Raises
    ------
    ArgumentError
        If there is something else.
    """
    _check_parent(path)
    _check_link(path)
    if not path.exists():
        return
    if not path.is_dir():
        raise wrong("path", str(path), "that is a file; give a new folder")
    with said(path):
        found = sorted(each.name for each in path.iterdir())
    if not found:
        return
    if holds is None:
        raise wrong("path", str(path), "that folder is not empty; give a new one")
    if NOTE not in found:
        raise wrong("path", str(path), f"that folder holds other files ({listed(found)}); give a new or empty one")
    note, before = _note(path)
    if before and before != holds:
        raise wrong("path", str(path), f"that folder holds {before}, which {holds} would replace; give a new folder")
    known = {name: sha for name, sha in note.items() if os.path.lexists(path / name)}
    changed = [name for name, sha in known.items() if digest(path / name) != sha]
    if changed:
        words = "was edited since it was written" if len(changed) == 1 else "were edited since they were written"
        raise wrong("path", str(path), f"{listed(changed)} {words}; give a new folder, or move them away")


@contextmanager
def folder(path: Path, holds: str | None) -> Iterator[Path]:
    """A new folder beside `path` to write into, which takes its place at the end; after an error all is as it was.

    Files of `path` that the workbench did not write stay where they are.

    Parameters
    ----------
    path, holds
        As in `check_folder`.

    Raises
    ------
    ArgumentError
        As in `check_folder`; or if it cannot be written, or a stranger's file is in the place of a new one.
    """
    _check_link(path)
    target = path.resolve()
    check_folder(target, holds)
    staged = _neighbour(target)
    with said(path):
        staged.mkdir()
    try:
        with said(path):
            yield staged
            if holds is not None:
                _write_note(staged, holds)
            _put(staged, target)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


@contextmanager
def made(path: Path) -> Iterator[None]:
    """A folder for what is written in it, made if it is missing; after an error it is no longer there if it was not.

    Parameters
    ----------
    path
        The folder; the one that it is in must be there.

    Raises
    ------
    ArgumentError
        If it cannot be made, or is a file.
    """
    _check_parent(path)
    if path.exists() and not path.is_dir():
        raise wrong("path", str(path), "that is a file; give a folder")
    new = not path.exists()
    with said(path):
        path.mkdir(exist_ok=True)
    try:
        yield
    except BaseException:  # an interrupt, too, leaves no empty folder
        if new and not any(path.iterdir()):
            path.rmdir()
        raise


def _put(staged: Path, target: Path) -> None:
    """Move a staged folder, or where there is an older one its files, into place."""
    if not target.exists() or not any(target.iterdir()):
        if target.exists():
            target.rmdir()
        staged.rename(target)
        return
    (old, _), (new, _) = _note(target), _note(staged)
    strangers = [name for name in new if name not in old and os.path.lexists(target / name)]
    if strangers:
        raise wrong("path", str(target), f"it holds other files in the way ({listed(strangers)}); give a new folder")
    for name in new:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (staged / name).replace(target / name)
    for name in set(old) - set(new):
        (target / name).unlink(missing_ok=True)
        _remove_empty((target / name).parent, target)
    (staged / NOTE).replace(target / NOTE)


def _remove_empty(place: Path, root: Path) -> None:
    while place != root and place.is_dir() and not any(place.iterdir()):
        place.rmdir()
        place = place.parent


def _write_note(place: Path, holds: str) -> None:
    names = sorted(each.relative_to(place).as_posix() for each in place.rglob("*") if each.is_file())
    files = {name: digest(place / name) for name in names}
    note = {"written_by": "stream-join-workbench", "holds": holds, "files": files}
    (place / NOTE).write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")


def _note(place: Path) -> tuple[dict[str, str], str]:
    """The files that a folder's note names, and their checksums; what the folder holds, empty where it is not said."""
    try:
        note = json.loads((place / NOTE).read_text(encoding="utf-8"))
        files, holds = note["files"], note.get("holds", "")
        if isinstance(holds, str) and all(isinstance(sha, str) and _is_inside(name) for name, sha in files.items()):
            return dict(files), holds
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    raise wrong("path", str(place), f"its {NOTE} cannot be read; give a new folder")


def _is_inside(name: str) -> bool:
    return not Path(name).is_absolute() and ".." not in Path(name).parts


def digest(file: Path) -> str:
    """The checksum of a file; empty where there is none."""
    if not file.is_file():
        return ""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _neighbour(path: Path) -> Path:
    return path.parent / f".{path.name}.{uuid.uuid4().hex}"


def _check_link(path: Path) -> None:
    if path.is_symlink() and not path.exists():
        raise wrong("path", str(path), "that is a link that leads nowhere; give another name")


def _check_parent(path: Path) -> None:
    if not path.parent.is_dir():
        raise wrong("path", str(path), f"there is no folder {excerpt(str(path.parent))}; make it first")


def listed(names: list[str]) -> str:
    """The first names of several, and how many more there are."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


@contextmanager
def said(path: Path, argument: str = "path") -> Iterator[None]:
    """What the system says of a place that cannot be written, as an error of ours."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if isinstance(error, shutil.Error):  # of a whole folder, with a reason for each file
            reason = str(error.args[0][0][-1]).partition(": '")[0]
        raise ArgumentError(
            f"{argument}: got {excerpt(str(path))}; it cannot be written ({reason}); give another place"
        ) from None
