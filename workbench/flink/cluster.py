"""Runs recordings through joins of Flink on a mini cluster of its own, in lock-step: see `LockStep.java`."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from importlib import metadata, resources
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, cast

import pandas as pd

from workbench import times
from workbench.errors import JavaError, QueryError, WorkbenchError, wrong
from workbench.joins import how_of
from workbench.kinds import MS, kind_of
from workbench.literals import SIDES
from workbench.model import Simulation, in_sql
from workbench.session import check_java
from workbench.spark_io.cause import cause
from workbench.spark_io.scratch import Scratch

__all__ = ["Cluster", "case_lines", "find_jars"]

_OPENED = [f"--add-opens=java.base/java.{each}=ALL-UNNAMED" for each in ("util", "lang", "time")]
_SERVICE = "META-INF/services/org.apache.flink.metrics.reporter.MetricReporterFactory"
_INSTALL = 'pip install "stream-join-workbench[flink]" brings them, or set FLINK_HOME to where Flink 2.3 is unpacked'


def find_jars(jars: object = None) -> Path:
    """The folder of Flink's jars.

    Parameters
    ----------
    jars
        The ``lib`` folder of a Flink; None: that of ``FLINK_HOME``, or of the Python package of Flink's jars.

    Raises
    ------
    ArgumentError
        If it has no jars of Flink in it.
    WorkbenchError
        If none is given, and there is none.
    """
    if jars is not None:
        if not isinstance(jars, str | os.PathLike) or not _has_flink(jars):
            raise wrong("jars", jars, "give the folder lib of Flink 2.3, in which its flink-dist jar is")
        return Path(jars).absolute()
    home = os.environ.get("FLINK_HOME")
    if home and _has_flink(Path(home) / "lib"):
        return (Path(home) / "lib").absolute()
    with suppress(metadata.PackageNotFoundError):
        place = Path(str(metadata.distribution("apache-flink-libraries").locate_file("pyflink/lib")))
        if _has_flink(place):
            return place
    where = f"FLINK_HOME is {home}, where lib has no jars of Flink" if home else "Flink's jars are not installed"
    raise WorkbenchError(f"{where}: {_INSTALL}")


def _has_flink(folder: str | os.PathLike[str]) -> bool:
    with suppress(OSError, TypeError, ValueError):  # what is no path that there could be
        return any(Path(folder).glob("flink-dist*.jar"))
    return False


def _programs() -> tuple[str, str]:
    """The Java that Spark would run on, and its compiler."""
    check_java()
    found = []
    for name in ("java", "javac"):
        home = os.environ.get("JAVA_HOME", "")
        mine = shutil.which(name, path=str(Path(home) / "bin")) if home else None
        program = mine or shutil.which(name)
        if program is None:
            raise JavaError(f"there is a Java, but not its {name}: wb.flink.run needs a whole JDK, 17 or 21")
        found.append(program)
    return found[0], found[1]


class Cluster:
    """A Java with Flink in it, which runs one recording after the other. It ends with this process at the latest.

    Parameters
    ----------
    folder
        The folder of Flink's jars.

    Raises
    ------
    JavaError
        If there is no Java with a compiler.
    QueryError
        If these jars are of another version.
    """

    def __init__(self, folder: Path) -> None:
        java, compiler = _programs()
        self._scratch = Scratch()
        home = self._scratch.path
        with resources.as_file(resources.files("workbench.flink") / "LockStep.java") as source:
            command = [compiler, "-nowarn", "-encoding", "UTF-8", "-cp", f"{folder}/*", "-d", str(home), str(source)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            self._scratch.remove()
            raise QueryError(f"jars: got {str(folder)!r}; these are not of a Flink 2.3: {_INSTALL}", done.stderr)
        service = home / _SERVICE
        service.parent.mkdir(parents=True)
        service.write_text("LockStep$Counters\n", encoding="utf-8")
        self._errors: IO[str] = (home / "errors").open("w+")
        command = [java, "-Xmx1g", *_OPENED, "-cp", f"{home}{os.pathsep}{folder}/*", "LockStep"]
        self._java = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, cwd=home
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the Java, and remove its files."""
        self._java.kill()
        self._java.communicate()
        self._errors.close()
        self._scratch.remove()

    def run(self, lines: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Run a case.

        Parameters
        ----------
        lines
            As `case_lines` gives them.

        Returns
        -------
        output
            ``step``, ``time`` (of the row, in milliseconds; of a window its last), ``left``, ``right`` (numbers of
            rows, as text with commas between; ``-`` for none), in the order in which they came out.
        late
            ``side``, ``row``.

        Raises
        ------
        QueryError
            If Flink fails.
        """
        stdin, stdout = cast("IO[str]", self._java.stdin), cast("IO[str]", self._java.stdout)
        try:
            stdin.write("\n".join([*lines, "run", ""]))
            stdin.flush()
        except BrokenPipeError:
            raise self._failure() from None
        out, late = [], []
        for line in stdout:
            word, *rest = line.split()
            if word == "done":
                break
            if word == "out":
                out.append((int(rest[0]), int(rest[1]), rest[2], rest[3]))
            elif word == "late":
                late.append((SIDES[int(rest[0])], int(rest[1])))
        else:
            raise self._failure()
        return (
            pd.DataFrame(out, columns=["step", "time", "left", "right"]),
            pd.DataFrame(late, columns=["side", "row"]),
        )

    def _failure(self) -> QueryError:
        self._java.wait()
        self._errors.seek(0)
        text = self._errors.read()
        return QueryError(f"Flink failed: {cause(Exception(text)) if text else 'its Java has ended'}", text)


def case_lines(simulation: Simulation) -> list[str]:
    """A recording and its join, as `LockStep.java` reads them.

    Parameters
    ----------
    simulation
        Under Flink's rules.
    """
    idle = simulation.flink.idle if simulation.flink is not None else None
    delays = [times.micros(stream.watermark) // MS for stream in (simulation.left, simulation.right)]
    lines = [_case(simulation), f"delay {delays[0]} {delays[1]}"]
    events: list[list[str]] = [[] for _ in range(simulation.micro_batches)]
    keys = simulation.outcome.keys
    for number, stream in enumerate((simulation.left, simulation.right)):
        rows = zip(stream.arrival.tolist(), keys[number].tolist(), (stream.event_times // MS).tolist(), strict=True)
        for row, (batch, key, time) in enumerate(rows):
            if key >= 0 or in_sql(simulation.join):
                events[batch].append(f"row {number} {row} {key} {time}")
    for batch, each in enumerate(events):
        lines += each
        for number, side in enumerate(SIDES):
            if idle is not None and idle[side][batch]:
                lines.append(f"idle {number}")
        lines.append("step")
    return lines


def _case(simulation: Simulation) -> str:
    join, rules = simulation.join, simulation.flink
    kind = kind_of(join)
    interval = kind.interval(join)
    if interval is not None and in_sql(join):
        low, high = kind.bounds(join)
        return f"case sql {-(-low // MS)} {high // MS} {'LEFT' if how_of(join) == 'anti' else how_of(join).upper()}"
    if interval is not None:
        bounds = cast(Any, join)
        ends = (*(each // MS for each in interval), bounds.lower_exclusive, bounds.upper_exclusive)
        return f"case interval {' '.join(str(each).lower() for each in ends)}"
    lateness = (rules.allowed_lateness if rules else 0) // MS
    spans = {name: times.micros(span) // MS for name, span in kind.settings(join).items()}
    if kind.merging:
        return f"case session {lateness} {spans['gap']}"
    if "slide" in spans:
        return f"case sliding {lateness} {spans['size']} {spans['slide']} {spans['offset'] % spans['slide']}"
    return f"case tumbling {lateness} {spans['size']} {spans['offset'] % spans['size']}"
