"""What several tests of the project share."""

from __future__ import annotations

import fcntl
import os

import pytest
from sites import sphinx


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The documentation's site, built once for all processes of a run."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    target = base / "site"
    with (base / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            built = sphinx("html", base / "site-making")
            assert built.returncode == 0, built.stderr
            (base / "site-making").rename(target)
    return target
