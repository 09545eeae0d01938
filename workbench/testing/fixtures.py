"""A job's rows as a folder with a test: what happened in production, to be run again under other code."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import black
import numpy as np
import pandas as pd

from workbench import safe_files
from workbench.counts import counted
from workbench.errors import DataError, one_of, wrong
from workbench.jobs import Chain, Job, catalyst, source_rows
from workbench.jobs.catalyst import Node
from workbench.jobs.checkpoint import LATEST
from workbench.jobs.sources import BATCH
from workbench.literals import SIDES, Side
from workbench.sources.key_choice import ALL, Choice, with_width
from workbench.sources.key_choice import checked as checked_choice
from workbench.testing import _anonymous
from workbench.testing._played import Played
from workbench.testing._playing import MODES, played
from workbench.testing.rows import MicroBatches
from workbench.testing.values import plain
from workbench.untyped import Argument, Build, Json, Record

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Fixture", "fates", "load", "write"]

_ABOUT = "fixture.json"
_VERSION = 1
_MOST_LOST = 20
"""How many rows that were lost the test names."""
_SETTINGS = (
    "spark.sql.session.timeZone",
    "spark.sql.streaming.statefulOperator.allowMultiple",
    "spark.sql.caseSensitive",
    "spark.sql.ansi.enabled",
)
"""The settings that decide which rows there are."""


@dataclass(frozen=True)
class Fixture:
    """Rows of a job in their micro-batches, and what became of them. Made by `load`.

    Attributes
    ----------
    path
        The folder.
    streams
        The rows, by the name of their stream.
    settings
        The settings of Spark's under which the job ran.
    mode
        Its output mode.
    finish
        Whether its input ended after the last micro-batch.
    restart_after
        The micro-batches after which it was stopped and started again, as far as its watermarks tell.
    watermarks
        Of a job that is told from a later micro-batch on: the watermark that followed from earlier rows, in
        milliseconds, by the micro-batch after which it was.
    delay
        The longest delay of its watermarks, in milliseconds.
    fates
        What became of each row that entered a join, as `fates` gives it.
    """

    path: Path
    streams: Mapping[str, MicroBatches]
    settings: Mapping[str, str]
    mode: str
    finish: bool
    restart_after: tuple[int, ...]
    watermarks: Mapping[int, int]
    delay: int
    fates: pd.DataFrame

    def __repr__(self) -> str:
        return f"<Fixture {str(self.path)!r}: {', '.join(self.streams)}, {len(self.fates)} rows that entered a join>"

    def play(self, build: Build, /, *, spark: SparkSession | None = None, **tables: DataFrame | pd.DataFrame) -> Played:
        """Run streaming code for the rows of the fixture.

        Parameters
        ----------
        build
            As in `play`; it takes the streams by their names.
        spark
            The session, as in `play`.
        **tables
            Batch tables that it takes, too.

        Raises
        ------
        ArgumentError
            As `play` does.
        """
        given: Record = {**self.streams, **tables}
        return played(
            build,
            given,
            mode=self.mode,
            finish=self.finish,
            settings=self.settings,
            restart_after=self.restart_after,
            watermarks=self._before,
            spark=spark,
        )

    def _before(self, joined: DataFrame) -> dict[int, int]:
        """The watermarks of earlier rows under the delays of the code that is played: a longer one keeps them back."""
        longer = max(0, _longest_delay(catalyst.analysed(joined)) - self.delay) if self.watermarks else 0
        return {number: max(mark - longer, 0) for number, mark in self.watermarks.items()}


def load(path: Argument) -> Fixture:
    """A fixture that `Job.fixture` wrote.

    Parameters
    ----------
    path
        Its folder.

    Raises
    ------
    ArgumentError
        If it is none.
    DataError
        If it is damaged.
    """
    folder = safe_files.place(path, 'give the folder of a fixture, such as "tests/unpaid"')
    if not (folder / _ABOUT).is_file():
        raise wrong("path", str(folder), f"there is no {_ABOUT} in it; give the folder that job.fixture wrote")
    try:
        about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
        if about["version"] != _VERSION:
            raise DataError(f"path: {folder} is a fixture of another version of the workbench ({about['version']!r})")
        streams = {name: _stream(folder, name, each) for name, each in about["streams"].items()}
        rows = _fates_of(about["fates"])
        restarts = tuple(map(int, about["restart_after"]))
        marks = {int(number): int(mark) for number, mark in about["watermarks"].items()}
        return Fixture(
            folder,
            streams,
            dict(about["settings"]),
            about["mode"],
            bool(about["finish"]),
            restarts,
            marks,
            int(about["delay"]),
            rows,
        )
    except DataError:
        raise
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise DataError(
            f"path: the fixture {folder} is damaged ({error!r}); write it again, or take it from git"
        ) from None


def _stream(folder: Path, name: str, about: Json) -> MicroBatches:
    lines = (folder / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")  # a value may have other ends of lines
    batches: list[list[Json]] = [[] for _ in range(int(about["batches"]))]
    for line in filter(None, lines):
        row = json.loads(line)
        batches[int(row.pop(BATCH))].append(row)
    return MicroBatches(str(about["schema"]), tuple(batches))


def _fates_of(listed: Sequence[Json]) -> pd.DataFrame:
    return pd.DataFrame(listed, columns=list(_FATES)).astype({"batch": "int64"})


_FATES = ("stream", "batch", "key", "time", "fate")


def fates(opened: Job | Chain, names: Mapping[tuple[int, Side], str], choice: Choice = ALL) -> pd.DataFrame:
    """What became of each row that entered a join.

    Returns
    -------
    pandas.DataFrame
        ``stream`` (by `names`; rows of a side without a name are left out), ``batch``, ``key`` (its values, as a list),
        ``time`` (text, UTC), ``fate``; and ``lost``: ``late`` where the row was late, or another delay would have
        matched it, ``near`` where another bound or window would have, else empty.
    """
    found = [pd.DataFrame(columns=[*_FATES, "lost"])]
    for number, job in enumerate(opened.joins if isinstance(opened, Chain) else (opened,)):
        for side in SIDES:
            if names.get((number, side)):
                stream = job.side(side)
                every = np.arange(len(stream))
                taken = every if choice.takes_all else choice.taken(job.spark, stream.table, stream.key)
                told = job.rows[job.rows["side"] == side].iloc[taken]
                keys = told[list(stream.key)].itertuples(index=False, name=None)
                times = pd.to_datetime(stream.event_times[taken], unit="us", utc=True)
                found.append(
                    pd.DataFrame(
                        {
                            "stream": names[number, side],
                            "batch": told["batch"].to_numpy(),
                            "key": [[plain(each) for each in row] for row in keys],
                            "time": list(map(plain, times)),
                            "fate": told["fate"].to_numpy(),
                            "lost": list(map(_lost, told["fate"], told["fix_setting"])),
                        }
                    )
                )
    return pd.concat(found, ignore_index=True).astype({"batch": "int64"})


def _lost(fate: str | None, setting: str | None) -> str:
    if fate == "late" or (setting or "").endswith("watermark"):
        return "late"
    return "near" if setting else ""


def write(
    job: Job | Chain,
    path: Argument,
    *,
    keys: Argument = None,
    sample: float | None = None,
    anonymize: Argument = None,
    names: Argument = None,
    build: Build | str | None = None,
    mode: str = "append",
) -> Path:
    """Write a fixture; see `Job.fixture`."""
    folder = safe_files.place(path, 'give a folder, such as "tests/unpaid"')
    safe_files.check_folder(folder, _HOLDS)
    one_of("mode", mode, MODES)
    choice = checked_choice(keys, 1.0 if sample is None else sample)
    hidden = _anonymous.Anonymous(_anonymous.checked(anonymize))
    imported = _import_of(build)
    called = _called(names, source_rows.names(job))
    last = job.joins[-1] if isinstance(job, Chain) else job
    choice = last.choice if choice.takes_all else with_width(choice, len(last.left.key))
    batches = [each for each in last.checkpoint.batches if each.watermark < LATEST]
    first = batches[0].number
    given = [replace(each, name=called[each.name]) for each in source_rows.of_job(job, choice)]
    hidden.check({each.name: each.rows.drop_columns([BATCH]) for each in given})
    sides = source_rows.names_of_sides(job)
    if len(called) > 1:  # else the rows of one stream, joined with itself, are told apart by their sides
        sides = {side: called.get(each, each) for side, each in sides.items()}
    told = fates(job, sides, choice)
    if told.empty and not choice.takes_all:
        argument, got = ("keys", keys) if keys is not None else ("sample", sample)
        raise wrong(argument, got, "no row that enters the join has such a key; job.rows lists those that do")
    told["batch"] = [_number(first, each) for each in told["batch"]]
    count = _number(first, batches[-1].number) + 1
    restarts = () if last.simulation.logged is None else last.simulation.logged.restarts
    about: Json = {
        "version": _VERSION,
        "streams": {each.name: {"schema": each.schema, "batches": count} for each in given},
        "mode": mode,
        "finish": len(batches) < len(last.checkpoint.batches),
        "restart_after": [_number(first, first + each) - 1 for each in restarts],
        "delay": _longest_delay(last.known.plan),
        "watermarks": {number: each.watermark // 1000 for number, each in enumerate(batches[:2] if first else ())},
        "settings": _settings(last),
        "missing": [words for each in given for words in each.missing],
    }
    for words in about["missing"]:
        warnings.warn(f"fixture: {words}", stacklevel=4)
    name = re.sub(r"\W+", "_", folder.name).strip("_").lower() or "job"
    files = {}
    for each in given:
        rows = (hidden.row(row, each.rows.schema) for row in each.rows.to_pylist())
        files[each.name] = "".join(f"{json.dumps(_of_row(row, first), ensure_ascii=False)}\n" for row in rows)
    written = "".join(files.values())
    told["key"] = [[hidden.value(value, written) for value in key] for key in told["key"]]
    with safe_files.folder(folder, _HOLDS) as place:
        for stream, text in files.items():
            (place / f"{stream}.jsonl").write_text(text, encoding="utf-8")
        listed = [json.dumps(row, ensure_ascii=False) for row in told[list(_FATES)].to_dict("records")]
        text = json.dumps(about, indent=1)[:-2] + ',\n "fates": [\n' + ",\n".join(listed) + "\n ]\n}\n"
        (place / _ABOUT).write_text(text, encoding="utf-8")
        test = _test(name, job, told, sides, imported=imported, streams=[*files], whole=choice.takes_all)
        (place / f"test_{name}.py").write_text(test, encoding="utf-8")
    return folder


def _called(names: Argument, known: Sequence[str]) -> dict[str, str]:
    """The name of each stream in the test, by that of its folder, topic or table."""
    listed = ", ".join(known)
    names = {} if names is None else names
    if not isinstance(names, Mapping) or not all(isinstance(each, str) for pair in names.items() for each in pair):
        raise wrong(
            "names", names, f'give the name of an argument by that of a stream, such as {{"{known[0]}": "rows"}}'
        )
    for old, new in names.items():
        if old not in known:
            raise wrong("names", old, f"the job has no such stream; use {listed}")
        if not source_rows.is_name(new):
            raise wrong("names", new, f"the stream {old} needs a name that an argument can have, such as rows")
    found = {each: names.get(each, each) for each in known}
    if len({each.lower() for each in found.values()}) < len(known):  # files have these names
        raise wrong("names", names, f"each of the streams {listed} needs a name of its own")
    return found


def _longest_delay(plan: Node) -> int:
    """The longest delay of the watermarks of a plan, in milliseconds."""
    marks = [catalyst.span(each.java.delay()) for each in plan.walk() if each.kind == "EventTimeWatermark"]
    return max((each // 1000 for each in marks if each is not None), default=0)


def _settings(job: Job) -> dict[str, str]:
    """The settings that decide which rows there are; micro-batches without data are written down as empty ones."""
    kept = {each: str(value) for each in _SETTINGS if (value := job.spark.conf.get(each, None)) is not None}
    return kept | {
        "spark.sql.streaming.multipleWatermarkPolicy": job.simulation.policy,
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    }


def _number(first: int, batch: int) -> int:
    """A micro-batch as the fixture counts it: before the second that is kept there is one without rows.

    It has the watermark by which rows of the next one are late.
    """
    if not first:
        return batch
    return batch - first + (batch > first)


def _of_row(row: Json, first: int) -> Json:
    """A row for a file, its micro-batch first."""
    return {BATCH: _number(first, row[BATCH])} | {name: plain(value) for name, value in row.items() if name != BATCH}


def _import_of(build: Any) -> str:
    """The line that imports the tested function; empty: it is not known where it is."""
    if build is None:
        return ""
    module, name = getattr(build, "__module__", ""), getattr(build, "__qualname__", "")
    if isinstance(build, str):
        module, _, name = build.partition(":")
        if not (all(each.isidentifier() for each in module.split(".")) and name.isidentifier()):
            raise wrong("build", build, 'name a function by its module, as in "shop.jobs:unpaid_orders"')
    elif not callable(build):
        raise wrong("build", build, 'give the function that makes the streaming DataFrame, or "module:function"')
    if module in ("", "__main__") or not name.isidentifier():
        return ""
    return f"from {module} import {name}" + f" as {_BUILD}" * (name != _BUILD)


def _test(
    name: str,
    job: Job | Chain,
    told: pd.DataFrame,
    names: Mapping[tuple[int, Side], str],
    *,
    imported: str,
    streams: Sequence[str],
    whole: bool,
) -> str:
    """The text of the test."""
    late = told["lost"] == "late"
    lost = told[late if late.any() else told["lost"] == "near"]
    lost = lost[[None not in key for key in lost["key"]]]
    checks = ["job.expect(late=0)"] if (told["fate"] == "late").any() else []
    checks += [
        f"assert job.fate({_named(job, told, names, row)}) == 'matched'" for row in lost.head(_MOST_LOST).itertuples()
    ]
    heading = f"{counted(len(lost), 'row')} of these {'was' if len(lost) == 1 else 'were'} lost in production"
    if lost.empty:
        heading = "No row of these was lost in production"
        counts = told.groupby("stream")["fate"].value_counts()
        for stream in dict.fromkeys(told["stream"]) if whole else ():
            by_fate = {str(fate): int(number) for fate, number in counts[stream].items()}
            checks.append(f"job.expect({stream}={by_fate!r})")
    if len(lost) > _MOST_LOST:
        checks.append(f"# and {len(lost) - _MOST_LOST} more: fixture.json has the fate of each row")
    missing = "" if imported else _PLACEHOLDER.format(parameters=", ".join(streams))
    text = _TEST.format(
        heading=heading,
        fails="It fails as production did, and passes where the code loses none of them." if len(lost) else "",
        imported=imported and f"{imported}\n\n",
        missing=missing,
        name=name,
        checks="\n    ".join(checks or ["job.expect(late=0)"]),
    )
    return black.format_str(text, mode=black.Mode(line_length=120))


def _named(job: Job | Chain, told: pd.DataFrame, names: Mapping[tuple[int, Side], str], row: Any) -> str:
    """The argument of `Played.fate` for a row: its key, and its time where others have the same."""
    alike = (told["stream"] == row.stream) & told["key"].map(lambda key: key == row.key)
    if alike.sum() == 1:
        key = row.key[0] if len(row.key) == 1 else tuple(row.key)
        return f"{row.stream}={key!r}"
    number, side = next(at for at, name in names.items() if name == row.stream)
    stream = (job.joins[number] if isinstance(job, Chain) else job).side(side)
    return f"{row.stream}={dict(zip(stream.key, row.key, strict=True)) | {stream.time: row.time}!r}"


_HOLDS = "a fixture"
_BUILD = "build"
_PLACEHOLDER = """

def build({parameters}):
    raise NotImplementedError("import your function here: it makes the job's streaming DataFrame of these streams")

"""
_TEST = '''"""{heading}. {fails}"""

from pathlib import Path

{imported}from workbench.testing import load
{missing}

def test_{name}(streams):
    job = load(Path(__file__).parent).play(build)
    {checks}
'''
