"""Runs recordings through joins of Flink on a mini cluster of its own, in lock-step: see `LockStep.java`."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

import pandas as pd

from workbench import times
from workbench.joins import IntervalJoin, how_of
from workbench.kinds import MS, kind_of
from workbench.literals import SIDES
from workbench.model import Simulation, in_sql
from workbench.windows import Session, Sliding, Tumbling

_SOURCE = Path(__file__).parent / "LockStep.java"
_OPENED = [f"--add-opens=java.base/java.{each}=ALL-UNNAMED" for each in ("util", "lang", "time")]
_SERVICE = "META-INF/services/org.apache.flink.metrics.reporter.MetricReporterFactory"


class Cluster:
    """A Java with Flink in it, which runs one recording after the other.

    Parameters
    ----------
    folder
        The folder of Flink's jars.
    """

    def __init__(self, folder: Path) -> None:
        self._scratch = tempfile.TemporaryDirectory(prefix="workbench-flink-", ignore_cleanup_errors=True)
        home = Path(self._scratch.name)
        compiled = ["javac", "-nowarn", "-cp", f"{folder}/*", "-d", str(home), str(_SOURCE)]
        done = subprocess.run(compiled, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        service = home / _SERVICE
        service.parent.mkdir(parents=True)
        service.write_text("LockStep$Counters\n")
        self._errors: IO[str] = (home / "errors").open("w+")
        command = ["java", "-Xmx1g", *_OPENED, "-cp", f"{home}{os.pathsep}{folder}/*", "LockStep"]
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
        self._scratch.cleanup()

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

    def _failure(self) -> AssertionError:
        self._java.wait()
        self._errors.seek(0)
        text = self._errors.read()
        return AssertionError("Flink failed: " + text[-4000:])


def case_lines(simulation: Simulation) -> list[str]:
    """A recording and its join, as `LockStep.java` reads them."""
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
    if isinstance(join, IntervalJoin):
        if not in_sql(join):
            ends = [times.micros(each) // MS for each in (join.lower, join.upper)]
            words = [str(each).lower() for each in (*ends, join.lower_exclusive, join.upper_exclusive)]
            return f"case interval {' '.join(words)}"
        low, high = kind_of(join).bounds(join)
        return f"case sql {-(-low // MS)} {high // MS} {'LEFT' if how_of(join) == 'anti' else how_of(join).upper()}"
    lateness = (rules.allowed_lateness if rules else 0) // MS
    window = kind_of(join).spans_of(join)
    match window:
        case Session():
            return f"case session {lateness} {times.micros(window.gap) // MS}"
        case Sliding():
            spans = [times.micros(each) // MS for each in (window.size, window.slide, window.offset)]
            return f"case sliding {lateness} {spans[0]} {spans[1]} {spans[2] % spans[1]}"
        case Tumbling():
            size, offset = times.micros(window.size) // MS, times.micros(window.offset) // MS
            return f"case tumbling {lateness} {size} {offset % size}"
    raise AssertionError(join)
