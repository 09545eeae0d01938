"""One Spark session for the whole test run."""

from __future__ import annotations

import pytest

import workbench as wb


@pytest.fixture(scope="session")
def spark():
    session = wb.spark()
    yield session
    session.stop()
