"""Fault injection: an exported script is killed at the steps of the micro-batch protocol, and started again.

``python tests/fault_lab.py --kills 20 --seed 1`` kills one that writes Parquet files, twenty times, and says what its
sink holds in the end; ``--join as-of`` another join. The tests use it for every sink: at steps that the commit draws, or at all (``--every-kill``).
"""

from __future__ import annotations

import argparse
import itertools
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import scripts

import workbench as wb
from workbench.kinds import kind_of

STEPS = ("offsets written", "in the sink", "state written", "sink written", "committed", "some time")
JOINS = {
    "interval": wb.IntervalJoin("-5 s", "5 s", how="left"),
    "as-of": wb.AsOfJoin("backward", "5 s", how="left"),
}
"""Joins with state of two kinds: that of Spark's own join, and that of a processor, which only RocksDB keeps."""
SINK_STEPS = ("state written", "sink written", "some time")
"""Those that can be seen of a sink that is no folder of files."""


def streams(batches: int, rows: int = 6, seed: int = 1) -> tuple[wb.Stream, wb.Stream]:
    """Small micro-batches, so many."""
    import pandas as pd

    draw = random.Random(seed)
    sides = []
    for name in ("orders", "payments"):
        count = batches * rows
        frame = pd.DataFrame(
            {
                "id": [draw.randrange(4 * rows) for _ in range(count)],
                "at": pd.Timestamp("2026-01-01")
                + pd.to_timedelta([n + draw.random() * 9 for n in range(count)], unit="s"),
                "batch": [n // rows for n in range(count)],
            }
        )
        sides.append(wb.Stream.from_pandas(frame, name, key="id", time="at", watermark="3 s", batch="batch"))
    return sides[0], sides[1]


def numbers(folder: Path) -> set[int]:
    return {int(file.name) for file in folder.glob("*") if file.name.isdigit()}


def until(step: str, folder: Path, written: Callable[[], int], running, draw: random.Random) -> str:
    """Wait until a script reaches a step of a micro-batch that is new; what it really was killed at."""
    checkpoint = folder / "checkpoint"
    begun = numbers(checkpoint / "offsets")
    before = written()
    parts = set((folder / "output").glob("part-*"))

    def reached() -> str:
        if running.poll() is not None:
            return "ended"
        new = numbers(checkpoint / "offsets") - begun
        if not new:
            return ""
        last = max(new)
        done = last in numbers(checkpoint / "commits")
        if step == "state written":
            files = checkpoint.glob(f"state/0/*/**/{last + 1}[._]*")
            return step if not done and any(files) else ""
        if step == "in the sink":
            return step if not done and set((folder / "output").glob("part-*")) - parts else ""
        if step == "sink written":
            return step if not done and written() > before + (len(new) - 1) else ""
        if step == "committed":
            return step if done else ""
        return step if not done else ""

    found = scripts.wait_for(reached, 120)
    if step == "some time" and found == step:
        time.sleep(draw.random())
    return found


def torment(
    file: Path, steps: Iterable[str], seed: int, written: Callable[[], int], start: Callable[[], object]
) -> None:
    """Kill a script at each of these steps, and let it end at last."""
    draw = random.Random(seed)
    for step in steps:
        running = start()
        found = until(step, scripts.beside(file), written, running, draw)
        assert not running.poll(), Path(f"{file}.err").read_text()[-3000:]
        scripts.kill(running)
        assert found == step, f"it ended before it could be killed at this step: {step}"
    code = scripts.ended(start(), 240)
    assert code == 0, Path(f"{file}.err").read_text()[-3000:]


@dataclass(frozen=True)
class Kills:
    """Where scripts are killed: at every step, or at some that the seed draws."""

    seed: int
    every: bool

    def of(self, steps: tuple[str, ...], few: int, many: int) -> list[str]:
        """All steps in turn, so `many`, or a `few` different ones."""
        if self.every:
            return list(itertools.islice(itertools.cycle(steps), many))
        return random.Random(self.seed).sample(steps, few)


def seed_of_commit() -> int:
    """A number that changes with the commit; 1 where there is no history."""
    command = ["git", "rev-parse", "--short=8", "HEAD"]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    return int(done.stdout[:8] or "1", 16)


def files_written(folder: Path) -> Callable[[], int]:
    """How many micro-batches Spark's file sink has noted in its log."""
    return lambda: len(numbers(folder / "output" / "_spark_metadata"))


def rows_of(run: wb.Run) -> list[dict[str, object]]:
    """What a sink must hold: a run's rows, without the workbench's own columns."""
    wanted = [name for name in run.execution.raw_output.column_names if name != "batch" and not name.endswith("__row")]
    return plain(run.execution.raw_output.select(wanted).to_pylist())


def plain(rows: Iterable[dict[str, object]]) -> list[dict[str, object]]:
    """Rows to compare: times as JSON has them, nulls left out, in an order of their own."""
    return sorted(({k: text(v) for k, v in each.items() if v is not None} for each in rows), key=repr)


def text(value: object) -> object:
    return value.strftime(scripts.JSON_TIMES) if hasattr(value, "strftime") else value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--join", choices=list(JOINS), default="interval")
    args = parser.parse_args()
    run = wb.run(JOINS[args.join], *streams(args.kills + 6), finish=False)
    expected = rows_of(run)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        file = scripts.job(run, Path(folder))
        written = files_written(Path(folder))
        steps = Kills(args.seed, every=True).of(STEPS, 0, args.kills)
        random.Random(args.seed).shuffle(steps)
        torment(file, steps, args.seed, written, lambda: started(file, store=store_of(run.join)))
        rows = plain(wb.spark().read.parquet(f"{folder}/output").toArrow().to_pylist())
    print(
        f"{args.join}, seed {args.seed}, killed at: {dict(Counter(steps))}; rows: {len(rows)} of {len(expected)}, the same: {rows == expected}"
    )
    sys.exit(rows != expected)


def store_of(join: wb.Join) -> str:
    """The quicker of the state stores that a join can have."""
    return "rocksdb" if kind_of(join).operator.is_processor else "memory"


def started(file: Path, *words: object, store: str = "memory", **more: object):
    """An exported script with one small state store."""
    small = ("--trigger", "available-now", "--state-store", store, "--shuffle-partitions", 1)
    return scripts.start(file, *small, *words, **more)


if __name__ == "__main__":
    main()
