"""The store of large runs holds what Spark's own does, for any operations in any order, and says how much that takes."""

import json
import struct
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

import generators
import workbench as wb
from workbench.engine import pruning
from workbench.session import state_store

INTERVAL = wb.IntervalJoin("-2 seconds", "10 seconds", how="full")
KEYS = st.tuples(st.integers(0, 3), st.integers(0, 3)) | st.tuples(st.integers(0, 40))
VALUES = st.integers(0, 3)


@pytest.fixture
def large(monkeypatch):
    """Every run is one of many rows."""
    monkeypatch.setattr(pruning, "MOST_WHOLE", 0)


@pytest.fixture(scope="module")
def sides():
    return generators.generate("orders_payments", events=2_000, late=0.1, seed=3)


def offsets(run):
    folder = run.execution.at_hand()[1].path / "checkpoint" / "offsets"
    return [json.loads(each.read_text().splitlines()[1])["conf"][state_store.SETTING] for each in folder.glob("[0-9]*")]


def by_sparks_own(monkeypatch, *arguments):
    with monkeypatch.context() as patched:
        patched.setattr(state_store, "usable", lambda spark: False)
        run = wb.run(*arguments)
    assert set(offsets(run)) == {state_store.SPARKS_OWN}
    return run


@pytest.mark.parametrize("join", [INTERVAL, wb.WindowJoin(wb.Tumbling("10 seconds"), how="left")], ids=repr)
def test_a_large_run_is_as_with_sparks_own_store(join, sides, large, monkeypatch):
    run, other = wb.run(join, *sides), by_sparks_own(monkeypatch, join, *sides)
    assert set(offsets(run)) == {state_store.COMPACT}
    assert run.mismatches.empty
    assert run.output.equals(other.output)
    assert run.batches["state_rows"].equals(other.batches["state_rows"])
    for batch in (1, 5, len(run.batches) - 1):
        held, theirs = (each.state(batch).drop(columns="state_bytes") for each in (run, other))  # each store's estimate
        assert held.equals(theirs)


def test_its_bytes_are_about_those_of_sparks_own_store(sides, large, monkeypatch):
    ours, theirs = wb.run(INTERVAL, *sides).batches, by_sparks_own(monkeypatch, INTERVAL, *sides).batches
    most = theirs["state_rows"].idxmax()
    assert theirs["state_rows"][most] > 300
    # Spark's figure is an estimate: of a large table it looks at some entries
    assert ours["state_bytes"][most] == pytest.approx(theirs["state_bytes"][most], rel=0.25)


def test_a_small_run_has_sparks_own_store(sides):
    assert set(offsets(wb.run(INTERVAL, *sides))) == {state_store.SPARKS_OWN}


def test_a_savepoint_names_sparks_own_store(sides, large, tmp_path):
    saved = wb.run(INTERVAL, *sides).savepoint(tmp_path / "savepoint", 4)
    assert not [each for each in (saved / "checkpoint" / "offsets").iterdir() if "CompactState" in each.read_text()]


def test_a_run_that_goes_on_from_a_savepoint_has_the_store(sides, large, tmp_path):
    run = wb.run(INTERVAL, *sides)
    resumed = wb.run(INTERVAL, *sides, savepoint=run.savepoint(tmp_path / "savepoint", 4))
    assert set(offsets(resumed)) == {state_store.COMPACT}
    assert resumed.mismatches.empty
    assert resumed.output.equals(run.output)


@pytest.mark.parametrize("version", ["4.1.4", "4.4.0", "5.0.0"])
def test_an_older_spark_and_one_that_is_not_known_have_their_own_store(spark, version):
    assert state_store.usable(spark)
    assert not state_store.usable(SimpleNamespace(version=version, sparkContext=spark.sparkContext))


def test_a_spark_that_the_class_does_not_fit_has_its_own_store(spark, sides, large, monkeypatch):
    monkeypatch.setattr(state_store, "COMPACT", "org.apache.spark.sql.execution.streaming.state.OfALaterSpark")
    assert not state_store.usable(spark)
    assert set(offsets(wb.run(INTERVAL, *sides))) == {state_store.SPARKS_OWN}


def test_several_threads_define_the_class_once(spark):
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(state_store.usable, [spark] * 8))


KINDS_OF_KEYS = {
    "small numbers": lambda number: [number],
    "large numbers": lambda number: [1_767_225_600_000_000 + number * 1_000_000],
    "decimals": lambda number: [int.from_bytes(struct.pack("<d", float(number)), "little")],
    "texts": lambda number: [8 << 32 | 16, int.from_bytes(f"user{number:04d}".encode(), "little")],
    "windows": lambda number: [
        number % 50,
        16 << 32 | 16,
        (number // 50) * 10_000_000,
        (number // 50 + 1) * 10_000_000,
    ],
}


@pytest.mark.parametrize("kind", KINDS_OF_KEYS)
def test_keys_of_every_kind_lie_apart(spark, kind):
    state_store.usable(spark)
    jvm = spark.sparkContext._jvm
    of = jvm.java.lang.Class.forName(f"{state_store.COMPACT}$Rows")
    key = jvm.org.apache.spark.sql.catalyst.expressions.UnsafeRow(1)
    (hashed,) = [each for each in of.getDeclaredMethods() if each.getName() == "hash" and each.getParameterCount() == 1]
    hashed.setAccessible(True)
    arguments = spark.sparkContext._gateway.new_array(jvm.java.lang.Object, 1)
    places = set()
    for number in range(1_000):
        data = struct.pack(f"<{1 + len(KINDS_OF_KEYS[kind](number))}Q", 0, *KINDS_OF_KEYS[kind](number))
        key.pointTo(data, len(data))
        arguments[0] = key
        places.add(hashed.invoke(None, arguments) & 2_047)
    assert len(places) > 700  # of 1,000 at random 790 are expected


class Store(RuleBasedStateMachine):
    """The rows of a store beside a dict, through several versions."""

    spark = None

    def __init__(self):
        super().__init__()
        state_store.usable(self.spark)
        self.jvm = self.spark.sparkContext._jvm
        self.package = self.jvm.org.apache.spark.sql.execution.streaming.state
        self.rows = self.package.CompactState.Rows(16)
        self.expected = {}
        self.committed = []

    def row(self, *words):
        row = self.jvm.org.apache.spark.sql.catalyst.expressions.UnsafeRow(len(words))
        data = bytearray(8)
        for word in words:
            data += word.to_bytes(8, "little")
        row.pointTo(bytes(data), len(data))
        return row

    def words(self, row):
        data = bytes(row.getBytes())
        return tuple(int.from_bytes(data[place : place + 8], "little") for place in range(8, len(data), 8))

    def held(self, rows):
        found, entries = {}, rows.entryIterator()
        while entries.hasNext():
            entry = entries.next()
            key = self.words(entry.getKey())
            assert key not in found
            found[key] = self.words(entry.getValue().unsafeRow())
        return found

    @rule(key=KEYS, values=st.lists(VALUES, min_size=1, max_size=3))
    def put(self, key, values):
        before = self.rows.put(self.row(*key), self.package.StateStoreRow(self.row(*values)))
        assert (None if before is None else self.words(before.unsafeRow())) == self.expected.get(key)
        self.expected[key] = tuple(values)

    @rule(first=st.integers(0, 2_000), count=st.integers(1, 900))
    def put_many(self, first, count):  # in the way in which a version is taken over from Spark's own map
        other = self.package.NoPrefixHDFSBackedStateStoreMap(self.jvm.scala.Option.empty())
        for key in range(first, first + count, 7):
            other.put(self.row(key), self.package.StateStoreRow(self.row(key, key)))
            self.expected[(key,)] = (key, key)
        self.rows.putAll(other)

    @rule(key=KEYS)
    def remove(self, key):
        before = self.rows.remove(self.row(*key))
        assert (None if before is None else self.words(before.unsafeRow())) == self.expected.pop(key, None)

    @rule(every=st.integers(2, 5))
    def remove_while_iterating(self, every):
        entries = self.rows.iterator()
        number = 0
        while entries.hasNext():
            key = self.words(entries.next().key())
            number += 1
            if number % every:
                self.rows.remove(self.row(*key))
                del self.expected[key]

    @rule(key=KEYS)
    def get(self, key):
        found = self.rows.get(self.row(*key))
        assert (None if found is None else self.words(found)) == self.expected.get(key)

    @rule()
    def commit(self):
        self.committed = [(self.rows, dict(self.expected))]
        self.rows = self.rows.next()

    @precondition(lambda self: self.committed)
    @rule()
    def abort(self):
        rows, expected = self.committed[-1]
        self.rows, self.expected = rows.next(), dict(expected)

    @invariant()
    def as_expected(self):
        assert self.rows.size() == len(self.expected)
        assert self.held(self.rows) == self.expected
        assert self.rows.estimatedSize() >= 0
        for rows, expected in self.committed:
            assert self.held(rows) == expected


def test_any_operations_give_what_a_dict_gives(spark):
    Store.spark = spark
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large]
    run_state_machine_as_test(
        Store, settings=settings(max_examples=8, stateful_step_count=15, suppress_health_check=quiet)
    )
