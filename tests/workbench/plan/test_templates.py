"""The templates of plans are their own."""

from __future__ import annotations

import subprocess
import sys


def test_no_other_part_changes_the_filters_of_plans():
    code = (
        "from workbench.plan.names import ENVIRONMENT\n"
        "before = dict(ENVIRONMENT.filters)\n"
        "import workbench.flink, workbench.script\n"
        "print(ENVIRONMENT.filters == before)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "True\n", done.stderr
