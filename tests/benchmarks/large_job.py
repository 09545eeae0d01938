"""From `wb.open_job` to the first chart of a job with 20,000,000 rows a side, of which a thousandth of the keys is taken.

``python tests/benchmarks/large_job.py [rows] [folder]`` makes the files, runs the job and measures; a folder is kept, and
measured again as it is the next time. Peaks of memory are what the processes held (RSS) from the call on.
"""

from __future__ import annotations

import multiprocessing
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import plain_job
import psutil
from _report import report
from growth import Peak

import generators

ROWS, FILES, SAMPLE = 20_000_000, 20, 0.001
MEMORY = "1g"  # of the session that opens the job: PySpark's default


def main(rows: int, folder: Path) -> None:
    if not (folder / "checkpoint").exists():
        with multiprocessing.get_context("spawn").Pool(1) as pool:  # so that its memory is not counted below
            pool.apply(files, (rows, folder))
        command = [sys.executable, plain_job.__file__, str(folder)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    spark = plain_job.session(MEMORY)
    me = psutil.Process()
    (java,) = (each for each in me.children(recursive=True) if each.name() == "java")
    peaks = [Peak(each) for each in (me, java)]
    for each in peaks:
        each.start()
    import workbench as wb

    joined = plain_job.join(spark, folder)
    begun = time.perf_counter()
    job = wb.open_job(joined, checkpoint=folder / "checkpoint", sample=SAMPLE)
    opened = time.perf_counter() - begun
    job.charts.tracks()
    took = time.perf_counter() - begun
    heap = _heap(spark)
    verified = job.comparison
    compared = time.perf_counter() - begun - took
    for each in peaks:
        each.done.set()
    assert not verified.differences.sum(), verified.to_string()
    taken = len(job.left) + len(job.right)
    report(
        f"open_job: {rows:,} rows a side, sample={SAMPLE}, to the first chart",
        "60 s",
        f"{took:.0f} s ({opened:.0f} s to the job of {taken:,} rows; to verify it {compared:.0f} s more)",
        took < 60,
    )
    most = sum(each.gigabytes for each in peaks)
    report(
        f"open_job: memory at {rows:,} rows a side, verified, too",
        "the driver, Python and its JVM, below 2 GB",
        f"peak RSS Python {peaks[0].gigabytes:.1f} GB, JVM {peaks[1].gigabytes:.1f} GB; heap used after a collection "
        f"{heap:.2f} GB",
        most < 2,
    )
    spark.stop()


def files(rows: int, folder: Path) -> None:
    """The files of the job."""
    settings = {"unmatched": 0.0, "late": 0.01, "late_by": "5 minutes", "seed": 1}
    generators.write(folder, "orders_payments", files=FILES, events=rows, rate=rows // 2_000, **settings)


def _heap(spark) -> float:
    """The JVM's heap in use after a collection, in GB."""
    java = spark._jvm.java.lang
    java.System.gc()
    runtime = java.Runtime.getRuntime()
    return (runtime.totalMemory() - runtime.freeMemory()) / 2**30


if __name__ == "__main__":
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    place = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(tempfile.mkdtemp(dir="/dev/shm"))
    try:
        main(asked, place)
    finally:
        if len(sys.argv) <= 2:
            shutil.rmtree(place)
