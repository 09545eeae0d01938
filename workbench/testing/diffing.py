"""``python -m workbench diff``: which rows of a fixture fare otherwise under changed code, for a review."""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

import pandas as pd

from workbench import markup, process
from workbench.counts import counted, number_or_text
from workbench.errors import ArgumentError, WorkbenchError, wrong
from workbench.jobs import commands, source_rows
from workbench.spark_io.cause import spark_errors_as
from workbench.testing.fixtures import Fixture, fates, load

__all__ = ["Difference", "add_arguments", "diff", "differences", "markdown", "text"]

_SHOWN = 3
"""How many rows of a kind of difference are named."""
_ROW = ["stream", "batch", "key", "time"]
_OPTIONS = {"job": "CODE", "path": "FIXTURE", "revisions": "--revisions", "threshold": "--threshold"}


@dataclass(frozen=True)
class Difference:
    """Rows that fared in one way, and now fare in another.

    Attributes
    ----------
    was, now
        Their fates; ``gone`` where a row no longer enters the join, ``new`` where it did not before.
    rows
        How many they are.
    examples
        The first of them, in words.
    """

    was: str
    now: str
    rows: int
    examples: tuple[str, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give a parser the arguments of the command, as text: `diff` says what is wrong with them."""
    parser.add_argument("fixture", metavar="FIXTURE", help="the folder that job.fixture wrote")
    parser.add_argument(
        "code",
        metavar="CODE",
        help="the function to play, as module:function or file.py:function; modules of the current folder are found",
    )
    parser.add_argument(
        "--revisions",
        metavar="A..B",
        help="compare two revisions of git, in place of production and the working tree; without B the working tree",
    )
    parser.add_argument("--markdown", action="store_true", help="print a table for a pull request")
    parser.add_argument(
        "--threshold", metavar="N", default="0", help="exit code 1 where more rows fare otherwise; else 0"
    )
    parser.add_argument("--fates", action="store_true", help=argparse.SUPPRESS)  # for a process of its own


def diff(given: argparse.Namespace) -> int:
    """Do what the command is asked for.

    Returns
    -------
    int
        The exit code: 0 at most as many rows as the threshold fare otherwise; 1 more do; 2 wrong arguments, or the code
        cannot be played.
    """
    try:
        threshold = number_or_text(given.threshold)
        if not isinstance(threshold, int) or threshold < 0:
            raise wrong("threshold", given.threshold, "give how many rows may fare otherwise, 0 or more")
        fixture = load(given.fixture)
        if given.fates:
            print(_played(fixture, given.code).to_json(orient="records"))
            return commands.FINE
        was, now = _compared(fixture, given.code, given.revisions)
        found = differences(was, now)
    except WorkbenchError as error:
        return commands.failed(error, _OPTIONS)
    about = f"{given.fixture} under {given.code}" + (f", {given.revisions}" if given.revisions else "")
    print(commands.printable((markdown if given.markdown else text)(about, found, len(was))))
    return commands.CROSSED if sum(each.rows for each in found) > threshold else commands.FINE


def _compared(fixture: Fixture, code: str, revisions: str | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The fates before and after the change."""
    if revisions is None:
        return fixture.fates, _played(fixture, code)
    first, dots, second = revisions.partition("..")
    if not first or not dots or first.startswith("-") or second.startswith("-"):
        raise wrong("revisions", revisions, 'give two revisions of git, such as "main..HEAD", or "main.."')
    was = _of_revision(fixture, code, first)
    return was, _of_revision(fixture, code, second) if second else _played(fixture, code)


def _played(fixture: Fixture, code: str) -> pd.DataFrame:
    """The fates of the fixture's rows under code of the current folder."""
    with spark_errors_as("the code cannot be played"), process.with_modules_of_the_folder():
        build = commands.function(code)
        with commands.spark_session(), redirect_stdout(sys.stderr):  # what the code prints is no part of the table
            opened = fixture.play(build).opened
            return fates(opened, source_rows.names_of_sides(opened))


def _of_revision(fixture: Fixture, code: str, revision: str) -> pd.DataFrame:
    """The same under the code of a revision: in a process of its own, as both have modules of the same names."""
    archive = _git("archive", "--format=tar", revision, "--", ".")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        command = [sys.executable, "-m", "workbench", "diff", "--fates", str(fixture.path.resolve()), code]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ArgumentError(
            f"revisions: {revision}: {done.stderr.strip().splitlines()[-1] if done.stderr else 'failed'}"
        )
    return pd.DataFrame(json.loads(done.stdout.splitlines()[-1]), columns=[*_ROW, "fate"]).astype({"batch": "int64"})


def _git(*arguments: str) -> bytes:
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, check=False)
    except OSError as error:
        raise ArgumentError(f"revisions: git cannot be run ({error.strerror})") from None
    if done.returncode:
        raise ArgumentError(f"revisions: {done.stderr.decode(errors='replace').strip().splitlines()[-1]}")
    return done.stdout


def differences(was: pd.DataFrame, now: pd.DataFrame) -> list[Difference]:
    """The rows whose fates differ, by kind of difference, the most frequent first.

    Parameters
    ----------
    was, now
        Fates as `workbench.testing.fixtures.fates` gives them. Rows that were played for their times only, of keys that
        the fixture does not have, are left out.
    """
    both = [_numbered(each).set_index("row")["fate"] for each in (was, now)]
    table = pd.concat(both, axis=1, keys=["was", "now"])
    keys = {row[:1] + row[2:3] for row in both[0].index}
    table = table[[row[:1] + row[2:3] in keys for row in table.index]]
    table["was"], table["now"] = table["was"].fillna("new"), table["now"].fillna("gone")
    found = []
    for (before, after), rows in table[table["was"] != table["now"]].groupby(["was", "now"]):
        examples = tuple(_named(each) for each in rows.index[:_SHOWN])
        found.append(Difference(before, after, len(rows), examples))
    return sorted(found, key=lambda each: (-each.rows, each.was, each.now))


def _numbered(table: pd.DataFrame) -> pd.DataFrame:
    """Each row by its stream, micro-batch, key and time; rows that have all of these in common are numbered."""
    plain = table.assign(key=[json.dumps(each) for each in table["key"]])
    number = plain.groupby(_ROW, dropna=False).cumcount()
    rows = zip(*(plain[name] for name in _ROW), number, strict=True)
    return table.assign(row=[tuple(each) for each in rows])


def _named(row: Any) -> str:
    stream, batch, key, time, _ = row
    return f"{stream} {', '.join(map(str, json.loads(key)))} at {str(time).removesuffix('Z')}, micro-batch {batch}"


def text(about: str, found: list[Difference], count: int) -> str:
    """The differences, a line each, with examples."""
    return "\n".join(_lines(about, found, count))


def _lines(about: str, found: list[Difference], count: int) -> Iterator[str]:
    rows = sum(each.rows for each in found)
    yield f"{about}: {rows} of {counted(count, 'row')} fare otherwise" if rows else f"{about}: all rows fare as before"
    for each in found:
        yield f"  {each.was} -> {each.now}: {counted(each.rows, 'row')}"
        for example in each.examples:
            yield f"    {example}"
        if each.rows > len(each.examples):
            yield f"    and {each.rows - len(each.examples)} more"


def markdown(about: str, found: list[Difference], count: int) -> str:
    """The differences as a table for a pull request."""
    rows = sum(each.rows for each in found)
    heading = f"**{rows} of {counted(count, 'row')} fare otherwise**" if rows else "**All rows fare as before**"
    lines = [f"{heading}: {_cell(about)}"]
    if found:
        lines += ["", "| was | now | rows | such as |", "|---|---|---:|---|"]
        lines += [f"| {each.was} | {each.now} | {each.rows} | {_cell('; '.join(each.examples))} |" for each in found]
    return "\n".join(lines)


def _cell(words: str) -> str:
    """A text in a table of Markdown: nothing in it is markup."""
    return str(markup.html("{}", words)).replace("|", "\\|").replace("`", "\\`").replace("*", "\\*").replace("_", "\\_")
