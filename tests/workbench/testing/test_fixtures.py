"""A job's rows as a folder with a test: the same fates under the same code, others under other code."""

import inspect
import json
import random
import shutil
from pathlib import Path

import jobs
import pytest
import shop_streams as shop
from pyspark.sql import functions as F

import workbench as wb
from workbench.jobs import source_rows
from workbench.testing import load, micro_batches, play
from workbench.testing.fixtures import fates

ROWS = "id string, email string, at timestamp"
NAMES = {(0, "left"): "orders", (0, "right"): "payments"}


@pytest.fixture(scope="module")
def job(spark):
    orders = micro_batches(
        ROWS,
        [("o-1", "a@x.de", "10:00:00"), ("o-5", "b@x.de", "10:00:00")],
        [],
        [("o-2", "c@x.de", "10:05:00")],
        [("o-3", "a@x.de", "09:00:00"), ("o-4", None, "10:05:10")],
    )
    payments = micro_batches(
        shop.PAYMENTS,
        [],
        [("o-1", "10:00:20", 5)],
        [("o-2", "10:05:03", 7)],
        [("o-3", "09:00:01", 7), ("o-4", "10:05:12", 1)],
    )
    return play(shop.unpaid_orders, orders=orders, payments=payments, finish=True, restart_after=1)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "unpaid"


def test_the_same_code_fares_the_same(job, path):
    assert job.fixture(path) == path
    assert sorted(each.name for each in path.iterdir() if each.name[0] != ".") == [
        "fixture.json", "orders.jsonl", "payments.jsonl", "test_unpaid.py",
    ]  # fmt: skip
    fixture = load(path)
    assert repr(fixture).startswith("<Fixture ")
    assert fixture.finish
    again = fixture.play(shop.unpaid_orders)
    assert fates(again.opened, NAMES).drop(columns="lost").equals(fixture.fates)
    assert again.output.equals(job.output)
    again.fixture(path)  # what nobody has edited is replaced
    assert load(path).fates.equals(fixture.fates)


SHAPES = (
    shop.unpaid_orders,
    shop.paid_orders,
    shop.paid_per_minute,
    shop.again,
    shop.shipped,
    shop.averages,
    shop.in_windows,
    shop.by_key_alone,
)


def drawn(generator, schema):
    """Rows of a few keys, somewhat out of order, in four micro-batches, some of them empty."""
    amounts = "amount" in schema
    batches = []
    for number in range(4):
        rows = []
        for _ in range(generator.randrange(6)):
            second = number * 40 + generator.randrange(-60, 40)
            at = f"2026-01-01 10:{max(0, second + 120) // 60:02}:{max(0, second + 120) % 60:02}"
            rows.append((generator.choice("abc"), at, *([generator.randrange(9)] if amounts else [])))
        batches.append(rows)
    return micro_batches(schema, *batches, [("z", "2026-01-01 10:00:00", *([1] if amounts else []))])


@pytest.mark.drawn(3)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_what_was_played_is_what_spark_did_and_so_is_its_fixture(spark, path, shape, seed):
    generator = random.Random(f"{shape.__name__} {seed}")
    names = inspect.signature(shape).parameters
    streams = {name: drawn(generator, shop.PAYMENTS if name == "payments" else shop.ORDERS) for name in names}
    job = play(shape, **streams)
    assert job.mismatches.empty
    job.fixture(path)
    again = load(path).play(shape).opened
    table = fates(again, source_rows.names_of_sides(again))[["stream", "batch", "key", "time", "fate"]]
    assert sorted(map(str, table.to_numpy().tolist())) == sorted(map(str, load(path).fates.to_numpy().tolist()))


def test_the_test_fails_as_the_job_did_and_passes_with_mended_code(job, path, monkeypatch):
    job.fixture(path)
    text = (path / "test_unpaid.py").read_text(encoding="utf-8")
    assert text.startswith(
        '"""2 rows of these were lost in production. It fails as production did, and passes where the'
    )
    assert "from shop_streams import unpaid_orders as build" in text
    names = {"__file__": str(path / "test_unpaid.py")}
    exec(text, names)
    with pytest.raises(AssertionError, match="0 late keys expected, 1 found"):
        names["test_unpaid"](None)

    def mended(orders, payments):
        o, p = orders.withWatermark("at", "2 hours").alias("o"), payments.withWatermark("at", "2 hours").alias("p")
        return o.join(p, F.expr("o.id = p.id AND p.at BETWEEN o.at AND o.at + INTERVAL 15 SECONDS"), "left")

    names["build"] = mended
    names["test_unpaid"](None)


def test_a_near_miss_is_what_was_lost_where_nothing_was_late(spark, path):
    orders = micro_batches(shop.ORDERS, [("o-1", "10:00:00")])
    payments = micro_batches(shop.PAYMENTS, [("o-1", "10:00:20", 1)])
    play(shop.paid_orders, orders=orders, payments=payments, finish=True).fixture(path)
    text = (path / "test_unpaid.py").read_text(encoding="utf-8")
    assert 'assert job.fate(orders="o-1") == "matched"' in text
    assert "late" not in text.partition("def test")[2]


def test_where_nothing_was_lost_the_counts_are_expected(spark, path):
    orders = micro_batches(shop.ORDERS, [("o-1", "10:00:00"), ("o-2", "10:00:00")])
    payments = micro_batches(shop.PAYMENTS, [("o-1", "10:00:02", 1)])
    play(lambda orders, payments: shop.paid_orders(orders, payments), orders=orders, payments=payments).fixture(path)
    text = (path / "test_unpaid.py").read_text(encoding="utf-8")
    assert 'job.expect(orders={"matched": 1, "pending": 1})' in text
    assert "def build(orders, payments):\n    raise NotImplementedError(" in text


def test_chosen_keys_keep_their_watermarks(job, path):
    job.fixture(path, keys=["o-3"])
    fixture = load(path)
    assert set(fixture.fates["fate"]) == {"late"}
    again = fixture.play(shop.unpaid_orders)
    assert again.fate(orders="o-3") == again.fate(payments="o-3") == "late"
    text = (path / "orders.jsonl").read_text(encoding="utf-8")
    assert [text.count(each) for each in ("o-2", "o-3", "o-4")] == [1, 1, 1]  # the newest of each micro-batch, too
    assert text.count("o-1") + text.count("o-5") == 1
    job.fixture(path, sample=1.0)
    assert len(load(path).fates) == len(job.rows)
    with pytest.raises(wb.ArgumentError, match=r"^keys: got \[5\]; no row that enters the join has such a key"):
        job.fixture(path, keys=[5])


def test_values_are_told_in_other_words_and_stay_equal_where_they_were(job, path):
    job.fixture(path, anonymize={"id": "hash", "email": "fake", "amount": "drop"})
    told = [
        json.loads(line)
        for name in ("orders", "payments")
        for line in (path / f"{name}.jsonl").read_text().splitlines()
    ]
    text = "".join(each.read_text(encoding="utf-8") for each in path.iterdir())
    assert "o-1" not in text
    assert "x.de" not in text
    assert {row["amount"] for row in told if "amount" in row} == {None}
    before = [*job.rows["email"].dropna()]
    after = [row["email"] for row in told if row.get("email")]
    assert len(set(before)) == len(set(after)) == 3
    assert [one == other for one in before for other in before] == [one == other for one in after for other in after]
    again = load(path).play(shop.unpaid_orders)
    assert again.rows["fate"].tolist() == job.rows["fate"].tolist()
    assert set(again.rows["id"]) == {key for (key,) in load(path).fates["key"]}


def test_whole_numbers_fields_and_json_are_hashed_too(spark, path):
    def build(orders, payments):
        o = orders.selectExpr("who.id AS id", "at").withWatermark("at", "1 second").alias("o")
        p = payments.selectExpr("from_json(body, 'id int').id AS id", "at").withWatermark("at", "1 second").alias("p")
        return o.join(p, F.expr("o.id = p.id AND p.at BETWEEN o.at AND o.at + INTERVAL 15 SECONDS"))

    orders = micro_batches("who struct<id: int, name: string>, at timestamp", [({"id": 7, "name": "Ada"}, "10:00")])
    payments = micro_batches(
        "body string, at timestamp, raw binary", [('{"id": 7, "n": "Ada"}', "10:00:02", b"\xff\0")]
    )
    job = play(build, orders=orders, payments=payments)
    job.fixture(path, anonymize={"who.id": "hash", "who.name": "fake", "body.id": "hash", "body.n": "fake"})
    order = json.loads((path / "orders.jsonl").read_text(encoding="utf-8"))
    payment = json.loads((path / "payments.jsonl").read_text(encoding="utf-8"))
    assert order["who"]["id"] == json.loads(payment["body"])["id"] != 7
    assert order["who"]["name"] == json.loads(payment["body"])["n"] != "Ada"
    again = load(path).play(build)
    assert len(again.output) == 1
    assert json.loads((path / "payments.jsonl").read_text(encoding="utf-8"))["raw"] == {"base64": "/wA="}


REFUSED = {
    "a way": ({"anonymize": {"id": "mask"}}, 'give "hash", "fake" or "drop" by column, as in {"email": "hash"}'),
    "a column": ({"anonymize": {"name": "hash"}}, "no stream has this column; there are amount, at, email, id"),
    "a time": ({"anonymize": {"at": "hash"}}, "only texts and whole numbers are hashed or invented"),
    "no fields": ({"anonymize": {"amount.x": "hash"}}, "the column has no fields"),
    "no JSON": ({"anonymize": {"id.x": "hash"}}, "a value is no JSON"),
    "keys": ({"keys": "o-1"}, "keys: "),
    "a wide key": ({"keys": [("o-1", 5)]}, "the key has 1 column"),
    "keys of no row": ({"keys": ["o-9"]}, "keys: got ['o-9']; no row that enters the join has such a key"),
    "a mode": ({"mode": "all"}, "mode: got 'all'; use one of 'append'"),
    "a share": ({"sample": 2}, "sample: "),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_written_is_one_sentence(job, path, case):
    options, words = REFUSED[case]
    with pytest.raises(wb.ArgumentError) as raised:
        job.fixture(path, **options)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not path.exists()


def test_a_test_that_was_edited_is_not_lost(job, path):
    job.fixture(path)
    test = path / "test_unpaid.py"
    test.write_text("# mine\n", encoding="utf-8")
    with pytest.raises(wb.ArgumentError, match=r"test_unpaid\.py was edited"):
        job.fixture(path)
    assert test.read_text(encoding="utf-8") == "# mine\n"


CAPITAL = """
from pyspark.sql import functions as F

def unpaid(Orders, _payments):
    o, p = Orders.withWatermark("at", "10 seconds").alias("o"), _payments.withWatermark("at", "10 seconds").alias("p")
    return o.join(p, F.expr("o.id = p.id AND p.at BETWEEN o.at AND o.at + INTERVAL 15 SECONDS"), "left")
"""


def failure_of(path):
    """What the test of a fixture says: an error of its assertions, or None."""
    made = {"__file__": str(path / f"test_{path.name}.py")}
    exec(Path(made["__file__"]).read_text(encoding="utf-8"), made)
    try:
        made[f"test_{path.name}"](None)
    except AssertionError as error:
        return error


def test_streams_keep_their_names(spark, path, tmp_path, monkeypatch):
    (tmp_path / "capital_streams.py").write_text(CAPITAL, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    from capital_streams import unpaid

    orders = micro_batches(shop.ORDERS, [("o-1", "10:00:00")])
    job = play(unpaid, Orders=orders, _payments=micro_batches(shop.PAYMENTS, [("o-1", "10:00:20", 1)]), finish=True)
    job.fixture(path)
    assert sorted(load(path).streams) == ["Orders", "_payments"]
    assert isinstance(failure_of(path), AssertionError)


def test_streams_have_the_names_under_which_a_function_takes_them(spark, path):
    given = {"orders_v2": micro_batches(shop.ORDERS, [("o-1", "10:00:00")])}
    given["paid"] = micro_batches(shop.PAYMENTS, [("o-1", "10:00:02", 1)])
    job = play(lambda orders_v2, paid: shop.paid_orders(orders_v2, paid), **given)
    job.fixture(path, names={"orders_v2": "orders", "paid": "payments"}, build=shop.paid_orders)
    assert sorted(load(path).streams) == ["orders", "payments"]
    assert 'orders={"matched": 1}' in (path / "test_unpaid.py").read_text(encoding="utf-8")
    assert failure_of(path) is None


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (
            "orders",
            'names: got \'orders\'; give the name of an argument by that of a stream, such as {"orders": "rows"}',
        ),
        ({"order": "rows"}, "names: got 'order'; the job has no such stream; use orders, payments"),
        (
            {"orders": "class"},
            "names: got 'class'; the stream orders needs a name that an argument can have, such as rows",
        ),
        ({"orders": "Payments"}, "each of the streams orders, payments needs a name of its own"),
    ],
)
def test_wrong_names(job, path, names, words):
    with pytest.raises(wb.ArgumentError) as raised:
        job.fixture(path, names=names)
    assert str(raised.value).endswith(words)
    assert not path.exists()


def test_a_name_that_is_no_name_of_python(spark, path):
    rows = {"class": micro_batches(shop.ORDERS, [("o-1", "10:00:00")])}
    payments = micro_batches(shop.PAYMENTS, [("o-1", "10:00:02", 1)])
    play(lambda payments, **rows: shop.paid_orders(rows["class"], payments), payments=payments, **rows).fixture(path)
    assert 'job.expect(stream_class={"matched": 1})' in (path / "test_unpaid.py").read_text(encoding="utf-8")


def test_rows_that_are_joined_with_those_of_their_own_stream_are_told_by_their_side(spark, path):
    orders = micro_batches(shop.ORDERS, [("o-1", "10:00:00"), ("o-1", "10:00:30"), ("o-2", "10:00:00")])
    play(shop.again, orders=orders).fixture(path)
    text = (path / "test_unpaid.py").read_text(encoding="utf-8")
    assert "left=" in text
    assert "orders=" not in text
    assert load(path).fates["stream"].unique().tolist() == ["left", "right"]
    assert load(path).play(shop.again).fate(left={"id": "o-1", "at": "10:00:00"}) == "matched"


def test_odd_characters_stay(spark, path):
    odd = 'a\u2028b\x85c\r\n"d\\ \x00\ufeff\U0001f600'
    orders = micro_batches(shop.ORDERS, [(odd, "10:00:00")])
    payments = micro_batches(shop.PAYMENTS, [(odd, "10:00:02", 1)])
    play(shop.paid_orders, orders=orders, payments=payments).fixture(path)
    assert load(path).play(shop.paid_orders).output.iloc[0, 0] == odd


def test_what_is_no_fixture_is_said(tmp_path, job, path):
    with pytest.raises(
        wb.ArgumentError, match=r"there is no fixture\.json in it; give the folder that job\.fixture wrote"
    ):
        load(tmp_path)
    job.fixture(path)
    about = json.loads((path / "fixture.json").read_text(encoding="utf-8"))
    (path / "fixture.json").write_text(json.dumps(about | {"version": 99}), encoding="utf-8")
    with pytest.raises(wb.DataError, match=r"unpaid is a fixture of another version of the workbench \(99\)$"):
        load(path)
    (path / "fixture.json").write_text("{}", encoding="utf-8")
    with pytest.raises(wb.DataError, match="is damaged"):
        load(path)


def test_a_job_whose_first_micro_batches_are_gone(spark, tmp_path, path):
    """What was in state then comes first, and the watermark goes on from where it was."""
    session = spark.newSession()
    for name, value in {"minBatchesToRetain": "3", "noDataMicroBatches.enabled": "true"}.items():
        session.conf.set(f"spark.sql.streaming.{name}", value)
    session.conf.set("spark.sql.shuffle.partitions", "1")
    folder = jobs.put(jobs.recorded(seed=11, disorder=14.0), tmp_path / "rows")

    def build(orders, payments):
        orders, payments = (
            orders.withWatermark("ordered_at", "5 seconds"),
            payments.withWatermark("paid_at", "5 seconds"),
        )
        within = "order_id = oid AND paid_at BETWEEN ordered_at AND ordered_at + INTERVAL 10 SECONDS"
        return orders.join(payments, F.expr(within), "left")

    joined = build(*jobs.streams(session, folder))
    checkpoint = jobs.run(joined, tmp_path / "checkpoint").checkpoint
    opened = wb.open_job(joined, checkpoint)
    first = int(opened.batches["batch"].iloc[0])
    assert first > 0
    opened.fixture(path, build=build)
    fixture = load(path)
    assert json.loads((path / "fixture.json").read_text(encoding="utf-8"))["missing"] == []
    again = fates(fixture.play(build).opened, NAMES)
    later = [
        each[each["batch"] > 0].drop(columns="lost", errors="ignore").reset_index(drop=True)
        for each in (fixture.fates, again)
    ]
    assert len(later[0])
    assert later[0].equals(later[1])
    shutil.rmtree(folder / "orders")
    with pytest.warns(UserWarning, match="fixture: "):
        opened.fixture(tmp_path / "gone")
    assert json.loads((tmp_path / "gone" / "fixture.json").read_text(encoding="utf-8"))["missing"]
