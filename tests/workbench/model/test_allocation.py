"""Arrays that come and go take no new memory each time."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource
import generators
import workbench as wb

sides = generators.generate("orders_payments", events=100_000, rate=1_000, seed=1)
taken = []
for _ in range(4):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    _ = wb.preview(wb.IntervalJoin("0 s", "15 s"), *sides).simulation.fates
    taken.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(min(taken))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="what other C libraries keep is up to them")
def test_a_second_preview_has_the_memory_of_the_first():
    pages = subprocess.check_output([sys.executable, "-c", FAULTS], text=True)
    assert int(pages) < 1_000  # 4 MB; more than 5,000 pages where it is returned and fetched again
