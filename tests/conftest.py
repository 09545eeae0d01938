"""One Spark session for the whole test run."""

from __future__ import annotations

import os

import parts
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


def _real(part):
    """A real part, or the reason why there is none; on CI there has to be one."""
    try:
        return part()
    except parts.MissingError as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def connectors():
    """The folder of Spark's connectors: Kafka, Avro, PostgreSQL."""
    return _real(lambda: parts.jars("spark"))


@pytest.fixture(scope="session")
def broker(connectors):
    _real(lambda: parts.jars("kafka"))
    with parts.broker() as made:
        yield made


@pytest.fixture(scope="session")
def database():
    _real(parts.check_database)
    with parts.database() as address:
        yield address


@pytest.fixture(scope="session")
def delta():
    """A Python with the PySpark that Delta is built for, and the folder of Delta's jars."""
    return _real(lambda: (parts.pyspark_of_delta(), parts.jars("delta")))
