"""One Spark session for the whole test run."""

from __future__ import annotations

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


@pytest.fixture(scope="session")
def connectors():
    """The folder of Spark's connectors: Kafka, Avro, PostgreSQL."""
    return parts.real(lambda: parts.jars("spark"))


@pytest.fixture(scope="session")
def broker(connectors):
    parts.real(lambda: parts.jars("kafka"))
    with parts.broker() as made:
        yield made


@pytest.fixture(scope="session")
def database():
    parts.real(parts.check_database)
    with parts.database() as address:
        yield address


@pytest.fixture(scope="session")
def delta():
    """A Python with the PySpark that Delta is built for, and the folder of Delta's jars."""
    return parts.real(lambda: (parts.pyspark_of_delta(), parts.jars("delta")))


@pytest.fixture(scope="session")
def pyflink():
    """A Python of its own with PyFlink."""
    return parts.real(parts.pyflink)


@pytest.fixture(scope="session")
def javac():
    return parts.real(lambda: parts.program("javac"))
