"""One Spark session for the whole test run."""

from __future__ import annotations

import pytest
from hypothesis import settings

import workbench as wb

# the same examples in every run; `tests/hunt.py` looks for new ones
settings.register_profile("steady", derandomize=True, print_blob=True)
settings.load_profile("steady")


@pytest.fixture(scope="session")
def spark():
    session = wb.spark()
    yield session
    session.stop()
