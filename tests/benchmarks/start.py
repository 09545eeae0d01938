"""How long a user waits at first: for the import, the preview, and the first chart of a run on Spark."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping

from _report import report
from jupyter_client.manager import start_new_kernel

IMPORT = "import time; t = time.perf_counter(); import workbench; print(time.perf_counter() - t)"
STREAMS = "import generators; left, right = generators.generate('orders_payments', events=200, seed=7)"
PREVIEW = "from workbench.app import current\n%workbench left right\ncurrent().wait()"
RUN = "import workbench as wb\nrun = wb.run(wb.IntervalJoin('0 seconds', '15 seconds', how='left'), left, right)"


def main() -> None:
    took = [float(subprocess.check_output([sys.executable, "-c", IMPORT])) for _ in range(5)]
    report("`import workbench`", "0.3 s", f"{statistics.median(took):.2f} s", statistics.median(took) < 0.3)
    with tempfile.TemporaryDirectory() as empty:
        *_, without = first_chart(os.environ | {"XDG_CACHE_HOME": empty})
    subprocess.run([sys.executable, "-m", "workbench.prepare"], check=True, stdout=subprocess.DEVNULL)
    loaded, preview, chart = (
        statistics.median(each) for each in zip(*(first_chart(os.environ) for _ in range(3)), strict=True)
    )
    report("`%load_ext workbench`, fresh kernel", "1 s", f"{loaded:.1f} s", loaded < 1)
    report("`%workbench` to the preview, fresh kernel", "0.5 s", f"{preview:.1f} s", preview < 0.5)
    report(
        "`%load_ext workbench` to the first chart of a run on Spark, fresh kernel",
        "6 s",
        f"{chart:.1f} s; before `python -m workbench.prepare` {without:.1f} s",
        chart < 6,
    )


def first_chart(environment: Mapping[str, str]) -> tuple[float, float, float]:
    """Seconds for the extension, to the preview, and to the first chart of a run."""
    manager, client = start_new_kernel(env=dict(environment))
    try:
        begun = time.perf_counter()
        run(client, "%load_ext workbench")
        loaded = time.perf_counter() - begun
        run(client, STREAMS)
        asked = time.perf_counter()
        run(client, PREVIEW)
        seen = time.perf_counter()
        run(client, RUN)
        run(client, "run.charts.timeline()")
        return loaded, seen - asked, time.perf_counter() - begun
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def run(client, code: str) -> None:
    reply = client.execute_interactive(code, timeout=120, output_hook=lambda message: None)
    if reply["content"]["status"] != "ok":
        sys.exit("\n".join(reply["content"]["traceback"]))


if __name__ == "__main__":
    main()
