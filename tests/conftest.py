"""One Spark session for the whole test run; which tests a quick run leaves out."""

from __future__ import annotations

import functools
import random

import fault_lab
import parts
import pytest
from hypothesis import settings

import generators
import workbench as wb
from workbench import session

# the same examples in every run; `tests/hunt.py` looks for new ones
settings.register_profile("steady", derandomize=True, print_blob=True, deadline=None)
settings.load_profile("steady")
# runs of a few rows end before Java's second compiler has paid for itself
session.SETTINGS["spark.driver.extraJavaOptions"] += " -XX:TieredStopAtLevel=1"


NEEDS = {
    "server": {"broker", "database"},
    "engine": {"connectors", "delta", "pyflink", "javac", "cluster"},
    "slow": {"site", "dockerfile", "binder"},
}
"""The fixtures of parts beside Spark and a Python, by the marker of the tests that use them."""


def pytest_addoption(parser):
    parser.addoption(
        "--kill-seed", type=int, help="draws the steps at which exported scripts are killed; else the commit"
    )
    parser.addoption(
        "--every-kill",
        action="store_true",
        help="kill exported scripts at every step, not at some that the commit draws",
    )
    parser.addoption(
        "--every-case", action="store_true", help="run every case of the tests of which the commit draws some"
    )
    parser.addoption("--every-version", action="store_true", help="run what needs many versions of Spark, too")


def pytest_report_header(config):
    return f"exported scripts are killed at {'every step' if config.option.every_kill else 'some steps'}, seed {_seed(config)}"


def _seed(config):
    asked = config.option.kill_seed
    return fault_lab.seed_of_commit() if asked is None else asked


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark tests by what they need, and cases that a quick run leaves out of many."""
    for item in items:
        for marker, fixtures in NEEDS.items():
            if fixtures & set(getattr(item, "fixturenames", ())):
                item.add_marker(marker)
    for item in _beyond("sampled", items, config.getoption("randomly_seed", 0)):
        item.add_marker("slow")
    left_out = set()
    if not config.option.every_case and not _named(config):
        left_out.update(_beyond("drawn", items, _seed(config)))
    if not config.option.every_version:
        left_out.update(item for item in items if item.get_closest_marker("many_versions"))
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


def _beyond(marker, items, seed):
    """Of the tests with a marker, the cases beyond as many as it says, drawn by a seed."""
    many = {}
    for item in items:
        if found := item.get_closest_marker(marker):
            many.setdefault((item.path, item.originalname, *found.args), []).append(item)
    for (*_, count), cases in many.items():
        cases.sort(key=lambda item: item.nodeid)
        yield from random.Random(seed).sample(cases, max(0, len(cases) - count))


def _named(config):
    """Whether one test or one case is asked for, by its name."""
    return any("::" in argument for argument in config.args)


@pytest.fixture(scope="session")
def shell():
    """IPython in this process, of which there can be one."""
    from IPython.testing.globalipapp import start_ipython

    return start_ipython()


@pytest.fixture(scope="session")
def spark():
    made = wb.spark()
    yield made
    made.stop()


@pytest.fixture(scope="session")
def ran(spark):
    """Runs of one recording on Spark, each join once: for tests that only look."""
    sides = generators.generate(
        "orders_payments", events=60, rate=4, late=0.2, late_by="30 s", watermark="1 s", batches=6, seed=5
    )
    return functools.cache(lambda join: wb.run(join, *sides))


@pytest.fixture(scope="session")
def kills(pytestconfig):
    """Where the fault lab kills exported scripts."""
    return fault_lab.Kills(_seed(pytestconfig), pytestconfig.option.every_kill)


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


@pytest.fixture
def connect_port():
    """The port of local Spark Connect servers, 15002, for one test at a time: a client cannot be told another."""
    with parts.only_one("spark-connect"):
        yield


@pytest.fixture(scope="session")
def javac():
    return parts.real(lambda: parts.program("javac"))
