"""All benchmarks, one after the other: ``python tests/benchmarks``. Writes their table into the README.

With names of benchmarks it runs these only, with ``--quick`` what takes three minutes; both leave the README alone.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import psutil

HERE = Path(__file__).parent
README = HERE.parents[1] / "README.md"
QUICK = ["--quick"] * ("--quick" in sys.argv)
ALL = (
    ("work", "against_flink")
    if QUICK
    else ("start", "live", "work", "growth", "against_defaults", "against_flink", "large_job", "aggregated_job")
)


def lines(name: str) -> Iterator[dict[str, object]]:
    """What one benchmark reports, in a process of its own."""
    with subprocess.Popen([sys.executable, HERE / f"{name}.py", *QUICK], stdout=subprocess.PIPE, text=True) as running:
        for line in running.stdout or ():
            if line.startswith("{"):
                yield json.loads(line)
    if running.returncode:
        sys.exit(f"{name} failed")


def row(figures: dict[str, object]) -> str:
    return f"| {figures['what']} | {figures['target']} | {figures['measured']}{'' if figures['reached'] else ' (not reached)'} |"


def main() -> None:
    begun = time.monotonic()
    rows = []
    for name in [each for each in sys.argv[1:] if each not in QUICK] or ALL:
        for figures in lines(name):
            rows.append(row(figures))
            print(rows[-1], flush=True)
    minutes = (time.monotonic() - begun) / 60
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr.split('"')[1]
    where = (
        f"{psutil.cpu_count()} cores of a shared machine, PySpark {version('pyspark')}, Java {java}, "
        f"Python {platform.python_version()}; all of it in {minutes:.0f} minutes."
    )
    print(where)
    if not sys.argv[1:]:
        table = "\n".join(["<!-- benchmarks -->", where, "", "| | target | measured |", "|---|---|---|", *rows])
        text = re.sub(r"<!-- benchmarks -->.*?(?=\n<!-- end -->)", lambda _: table, README.read_text(), flags=re.DOTALL)
        README.write_text(text)


if __name__ == "__main__":
    main()
