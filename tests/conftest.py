"""One Spark session for the whole test run; which tests a quick run leaves out."""

from __future__ import annotations

import functools
import os

import balance
import fault_lab
import parts
import pytest
import quick_java
import tiers
import timing
import touched
from hypothesis import settings
from pyspark import SparkContext
from pyspark.sql import SparkSession

import generators
import workbench as wb

# the same examples in every run; `tests/hunt.py` looks for new ones
settings.register_profile("steady", derandomize=True, print_blob=True, deadline=None)
settings.load_profile("steady")
# in every process that a test starts, too: an exported script's Spark is ready after 3.3 s in place of 6.5 s
os.environ |= quick_java.variable()


DURATIONS, CALIBRATION = pytest.StashKey[timing.Durations](), pytest.StashKey[float]()
WORDS = pytest.StashKey[list[str]]()
NEEDS = {
    "server": {"broker", "database"},
    "engine": {"connectors", "delta", "pyflink", "javac", "cluster"},
    "slow": {"site", "dockerfile", "binder"},
    "spark": tiers.SPARK,
}
"""The fixtures of parts beside a Python, by the marker of the tests that use them."""


def pytest_addoption(parser):
    add = parser.addoption
    add(
        "--tier",
        choices=list(tiers.TIERS),
        help="which tests to run (see dev.py); without it every case of what is named",
    )
    add("--since", help="the commit that a change is counted from; else the last that passed a whole run here")
    add("--record-durations", action="store_true", help="write what each test took into tests/durations.json")
    add("--calibrate", action="store_true", help="measure how fast the machine is just now, too")
    add("--minutes", type=float, help="end the run after so many minutes")
    add("--draw", type=int, default=tiers.DRAW, help="draws the cases that a run takes; tests/tiers.py has the number")
    add("--kill-seed", type=int, help="draws the steps at which exported scripts are killed; else the commit does")
    add(
        "--every-kill",
        action="store_true",
        help="kill exported scripts at every step, not at some that the commit draws",
    )


def pytest_configure(config):
    config.stash[DURATIONS] = timing.Durations.read()
    config.stash[WORDS], config.stash[balance.COLLECTED] = [], []
    if not hasattr(config, "workerinput"):
        clock = balance.Clock(config, config.stash[DURATIONS])
        config.pluginmanager.register(clock)
        config.stash[CALIBRATION] = clock.measured.calibration
    else:
        config.stash[CALIBRATION] = config.workerinput["calibration"]


def pytest_report_header(config):
    kills = "every step" if config.option.every_kill else "some steps"
    return f"cases are drawn with {config.option.draw}; exported scripts are killed at {kills}, drawn with {_kill_seed(config)}"


def pytest_xdist_make_scheduler(config, log):
    return balance.Balanced(config, log, config.stash[DURATIONS])


def _kill_seed(config):
    asked = config.option.kill_seed
    return fault_lab.seed_of_commit() if asked is None else asked


@pytest.hookimpl(trylast=True)  # after the pages' examples have been marked
def pytest_collection_modifyitems(config, items):
    """Mark tests by what they need, take those of the tier, the longest first."""
    for item in items:
        for marker, fixtures in NEEDS.items():
            if fixtures & set(getattr(item, "fixturenames", ())):
                item.add_marker(marker)
    chosen = config.option.keyword or config.option.markexpr or any("::" in each for each in config.args)
    if config.option.record_durations and not chosen:
        config.stash[balance.COLLECTED] = [item.nodeid for item in items]
    kept = items
    if config.option.tier:
        durations = config.stash[DURATIONS]
        if config.option.tier == "all":  # the run ends after so many minutes: on a slow machine it takes fewer cases
            durations = durations.on_machine(config.stash[CALIBRATION])
        choice = tiers.choose(items, config.option.tier, config.option.draw, durations, _distance(config))
        kept = [item for item in kept if item.nodeid in choice.taken]
        config.stash[WORDS] = choice.words
    taken = {item.nodeid for item in kept}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in taken])
    items[:] = balance.ordered(kept, config.stash[DURATIONS])


def _distance(config):
    """How far a test is from the change; asked for only where it matters."""
    if config.option.tier not in ("all", "changed"):
        return lambda file: None
    return touched.Touched(touched.changed(touched.base(config.option.since))).distance


def pytest_sessionfinish(session):
    """A process tells the first one what it took, since that does not collect."""
    stash = session.config.stash
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput |= {"words": stash[WORDS], "collected": stash[balance.COLLECTED]}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Leave the connection to Java of a test that was ended while it waited for an answer: the next would read it."""
    report = yield
    if call.excinfo is not None and "Timeout (>" in str(call.excinfo.value):
        context = SparkContext._active_spark_context
        connection = None if context is None else context._gateway._gateway_client.get_thread_connection()
        if connection is not None:
            connection.close()
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    if not error and not node.config.stash[WORDS]:
        node.config.stash[WORDS] = node.workeroutput["words"]
        node.config.stash[balance.COLLECTED] = node.workeroutput["collected"]


def pytest_terminal_summary(terminalreporter, config):
    for line in config.stash[WORDS]:
        terminalreporter.write_line(line)


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


@pytest.fixture(scope="module", autouse=True)
def nothing_left_in_spark():
    """Drop the temporary views of a module, its own and those of queries into memory; go back to the first session.

    `createDataFrame` makes its session the active one, so that a module would begin with the settings of another's.
    """
    yield
    session = SparkSession.getActiveSession()
    if session is None:
        return
    for table in session.catalog.listTables():
        if table.isTemporary:
            session.catalog.dropTempView(table.name)
    SparkSession.builder.getOrCreate().createDataFrame([], "id int")


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
    return fault_lab.Kills(_kill_seed(pytestconfig), pytestconfig.option.every_kill)


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
