"""How an exported script grows on a standalone cluster: with workers, state, keys and skew.

``python tests/benchmarks/cluster.py`` starts a master and workers of one core each on this machine, every worker with the
same share of the machine's cores (a control group, where the system lets one be made), so that rates are comparable among
themselves. Prints a table.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyspark
import streams

import workbench as wb

HOME = Path(pyspark.__file__).parent
GROUPS = Path("/sys/fs/cgroup/cpu")
SHARE, MOST_WORKERS, PARTITIONS = 0.25, 4, 4  # the driver needs the rest of two cores
PROVIDER, FORMAT = "spark.sql.streaming.stateStore.providerClass", "spark.sql.streaming.join.stateFormatVersion"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
STORES = {
    "memory": {},  # the default
    "RocksDB": {PROVIDER: ROCKSDB},
    "RocksDB, format 4": {PROVIDER: ROCKSDB, FORMAT: 4},
}
WARM = 4
"""First micro-batches that are not counted: Java compiles while they run."""


@dataclass(frozen=True)
class Load:
    """Two streams: so many rows a micro-batch and side, keys, rows a second of event time, the share of one key."""

    rows: int = 20_000
    batches: int = 10
    keys: int = 100_000
    rate: int = 1_000
    hot: float = 0.0

    def side(self, name: str, seed: int) -> wb.Stream:
        draw = np.random.default_rng(seed)
        count = self.rows * self.batches
        moments = np.arange(count) * 1_000_000 // self.rate + draw.integers(0, 2_000_000, count)
        keys = np.where(draw.random(count) < self.hot, 0, draw.integers(0, self.keys, count))
        times = pa.array(streams.START + moments, pa.timestamp("us", "UTC"))
        table = pa.table({"key": keys, "t": times, "value": draw.random(count)})
        arrival = np.arange(count) // self.rows
        return wb.Stream.from_arrow(
            table, name, key="key", time="t", watermark="5 seconds", arrival=arrival, batch_count=self.batches
        )


def exported(join: wb.IntervalJoin, load: Load, folder: Path) -> Path:
    """The script of a join of two folders of files, as a user exports it, with a partition for each of most workers."""
    sides = []
    for seed, name in enumerate(("left", "right")):
        load.side(name, seed).write(folder / name)
        sides.append(wb.Stream.from_files(folder / name, name, key="key", time="t", watermark="5 seconds", max_files=1))
    script = folder / "job.py"
    wb.export(wb.preview(join, *sides), script)
    setting = '"spark.sql.shuffle.partitions": "'
    before, after = script.read_text().split(setting)
    script.write_text(f'{before}{setting}{PARTITIONS}"{after.split(chr(34), 1)[1]}')
    return script


@contextmanager
def cluster(workers: int, folder: Path) -> Iterator[str]:
    """A master and workers of one core, as processes of this machine; gives the master's address."""
    running = []
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"spark://127.0.0.1:{port}"
    environment = os.environ | {"SPARK_HOME": str(HOME), "SPARK_LOCAL_DIRS": str(folder / "local")}

    def launched(*words: object) -> subprocess.Popen[bytes]:
        words = [str(HOME / "bin" / "spark-class"), *map(str, words), "--webui-port", "0", "--host", "127.0.0.1"]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        running.append(subprocess.Popen(words, env=environment, start_new_session=True, **silent))
        return running[-1]

    groups = [GROUPS / f"workbench-{number}" for number in range(workers)]
    try:
        launched("org.apache.spark.deploy.master.Master", "--port", port)
        _wait_for(port)
        for number, group in enumerate(groups):
            words = ["--cores", 1, "--memory", "4g", "--work-dir", folder / f"worker-{number}", address]
            worker = launched("org.apache.spark.deploy.worker.Worker", *words)
            _limit(worker, group)
        yield address
    finally:
        for each in reversed(running):
            os.killpg(each.pid, 9)
            each.wait()
        for group in groups:
            _remove(group)


def _limit(worker: subprocess.Popen[bytes], group: Path) -> None:
    """Give a worker, and the executors that it starts, a share of a core."""
    try:
        group.mkdir(exist_ok=True)
        (group / "cpu.cfs_period_us").write_text("100000")
        (group / "cpu.cfs_quota_us").write_text(str(int(SHARE * 100_000)))
        (group / "cgroup.procs").write_text(str(worker.pid))
    except OSError as error:
        print(f"the workers share the cores freely ({error})", file=sys.stderr)


def _remove(group: Path) -> None:
    for _ in range(50):
        if not group.exists():
            return
        with suppress(OSError):  # executors end a moment after their worker
            group.rmdir()
        time.sleep(0.2)


def _wait_for(port: int) -> None:
    for _ in range(300):
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    sys.exit("the master did not start")


def progress(script: Path, address: str, workers: int, store: str = "memory") -> list[dict[str, object]]:
    """Spark's progress of each micro-batch of a script, from its event log."""
    folder = Path(tempfile.mkdtemp(dir=script.parent))
    (folder / "events").mkdir()
    settings = {
        "spark.master": address,
        "spark.cores.max": workers,
        "spark.executor.memory": "3g",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": folder / "events",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
        **STORES[store],
    }
    words = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    places = ["--output", str(folder / "output"), "--checkpoint", str(folder / "checkpoint"), "--drain"]
    command = [str(HOME / "bin" / "spark-submit"), *words, str(script), *places]
    environment = os.environ | {"SPARK_HOME": str(HOME), "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr[-3_000:])
    found = {}
    for log in (each for each in (folder / "events").rglob("*") if each.is_file()):
        for line in log.read_text().splitlines():
            if "QueryProgressEvent" in line:
                event = json.loads(line)["progress"]
                event = json.loads(event) if isinstance(event, str) else event
                event["rows"] = sum(source["numInputRows"] for source in event["sources"])
                found.setdefault(int(event["batchId"]), event)
    shutil.rmtree(folder)
    return [found[number] for number in sorted(found)]


def rate(batches: list[dict[str, object]]) -> float:
    """Rows a second in micro-batches with rows, but for the first few."""
    counted = [each for each in batches if each["rows"] > 1_000][WARM:]
    return statistics.median(each["rows"] / each["durationMs"]["triggerExecution"] * 1_000 for each in counted)


def main() -> None:
    folder = Path(tempfile.mkdtemp(dir="/dev/shm"))
    near = wb.IntervalJoin("-5 seconds", "5 seconds")
    try:
        script = _made(near, Load(), folder / "workers")
        for workers in (1, 2, 4):
            with cluster(workers, folder) as address:
                for store in STORES:
                    _say("workers", workers, store, rate(progress(script, address, workers, store)))
        with cluster(MOST_WORKERS, folder) as address:
            for keys in (1_000, 10_000_000):
                script = _made(near, Load(keys=keys), folder / f"keys-{keys}")
                _say("keys", keys, "memory", rate(progress(script, address, MOST_WORKERS)))
            for hot in (0.0, 0.1):
                close = wb.IntervalJoin("-50 milliseconds", "50 milliseconds")
                script = _made(close, Load(hot=hot), folder / f"hot-{hot}")
                _say("share of one key", hot, "memory", rate(progress(script, address, MOST_WORKERS)))
            script = _made(wb.IntervalJoin("-1 day", "1 day"), Load(batches=26, keys=10_000_000), folder / "state")
            for store in STORES:
                for each in progress(script, address, MOST_WORKERS, store)[WARM:26:5]:
                    (state,) = each["stateOperators"]
                    rows, size = state["numRowsTotal"], state["memoryUsedBytes"] / 2**20
                    evicting = state["allRemovalsTimeMs"] * 1_000 / rows
                    words = f"{rows:,} rows | {size:,.0f} MB | {evicting:.2f} µs a row to look for what is evicted"
                    _say("state", words, store, each["rows"] / each["durationMs"]["triggerExecution"] * 1_000)
    finally:
        shutil.rmtree(folder)


def _made(join: wb.IntervalJoin, load: Load, folder: Path) -> Path:
    folder.mkdir()
    return exported(join, load, folder)


def _say(*cells: object) -> None:
    *names, measured = cells
    print("|", *(f"{each} |" for each in names), f"{measured:,.0f} rows/s |", flush=True)


if __name__ == "__main__":
    main()
