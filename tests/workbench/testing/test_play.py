"""Streaming code, run for exactly these micro-batches."""

import logging
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest
import shop_streams as shop
from pyspark.logger import PySparkLogger
from pyspark.sql import functions as F

import workbench as wb
from workbench.testing import micro_batches, play

ORDERS = micro_batches(shop.ORDERS, [("o-1", "10:00:00")], [], [("o-2", "10:05:00")])
PAYMENTS = micro_batches(shop.PAYMENTS, [], [("o-1", "10:00:20", 5)], [("o-2", "10:05:03", 7)])


def test_a_payment_after_the_bound_is_padded(spark):
    job = play(shop.unpaid_orders, orders=ORDERS, payments=PAYMENTS)
    assert job.output[job.output.batch == 1].empty
    assert job.late.empty
    assert job.fate(orders="o-1") == "unmatched"
    assert job.fate(payments="o-2") == "matched"
    job.expect(unmatched=1, late=0)
    assert job.output["id"].tolist() == ["o-2", "o-1"]
    assert job.output["batch"].tolist() == [2, 3]
    assert job.mismatches.empty
    assert job.fate(orders="o-1").story == job.why(0).text
    assert "5 s beyond the upper bound" in job.fate(orders="o-1").story
    assert repr(job) == "<Played: orders, payments, 4 micro-batches, 2 rows of output>"


def test_the_end_of_input_closes_everything(spark):
    orders = micro_batches(shop.ORDERS, [("o-1", "10:00:00"), ("o-2", "10:00:01")])
    payments = micro_batches(shop.PAYMENTS, [("o-1", "10:00:05", 1)])
    open_end = play(shop.unpaid_orders, orders=orders, payments=payments)
    open_end.expect(pending=1, matched=1, unmatched=0)
    ended = play(shop.unpaid_orders, orders=orders, payments=payments, finish=True)
    ended.expect(pending=0, matched=1, unmatched=1)
    assert ended.output["id"].tolist() == ["o-1", "o-2"]
    assert len(ended.state(int(ended.batches["batch"].max()))) == 0
    assert ended.mismatches.empty


@pytest.mark.parametrize("after", [0, 1, (0, 1)])
def test_a_restart_between_micro_batches_changes_no_row(spark, after):
    plain = play(shop.unpaid_orders, orders=ORDERS, payments=PAYMENTS)
    job = play(shop.unpaid_orders, orders=ORDERS, payments=PAYMENTS, restart_after=after)
    pd.testing.assert_frame_equal(plain.output, job.output)
    assert job.rows["fate"].tolist() == plain.rows["fate"].tolist()
    assert job.mismatches.empty


def test_after_a_restart_spark_has_forgotten_how_far_an_idle_side_was(spark):
    """The watermark of the query stays where it was, until the idle side has rows again."""
    orders = micro_batches(shop.ORDERS, [("o-1", "10:00:00")], [("o-2", "10:10:00")], [("o-3", "10:20:00")], [])
    payments = micro_batches(shop.PAYMENTS, [("o-1", "10:00:05", 1)])
    kept = play(shop.paid_orders, orders=orders, payments=payments)
    again = play(shop.paid_orders, orders=orders, payments=payments, restart_after=0)
    assert kept.batches["watermark"].max() == pd.Timestamp("2026-01-01 09:59:55", tz="UTC")
    assert again.batches["watermark"].max() == pd.Timestamp("2026-01-01 09:59:50", tz="UTC")
    assert again.mismatches.empty


def test_micro_batches_without_data_are_as_in_the_settings(spark):
    without = {"spark.sql.streaming.noDataMicroBatches.enabled": "false"}
    job = play(shop.unpaid_orders, orders=ORDERS, payments=PAYMENTS, settings=without)
    assert job.batches["batch"].tolist() == [0, 1, 2]
    assert job.output["id"].tolist() == ["o-2"]
    assert job.fate(orders="o-1") == "pending"
    assert spark.conf.get("spark.sql.streaming.noDataMicroBatches.enabled", "true") == "true"


def test_the_policy_of_the_settings_decides_who_is_late(spark):
    orders = micro_batches(shop.ORDERS, [("o-1", "10:10:00")], [], [])
    payments = micro_batches(shop.PAYMENTS, [("o-1", "10:00:00", 1)], [], [("o-2", "10:00:00", 1)])
    play(shop.paid_orders, orders=orders, payments=payments).expect(late=0)
    most = {"spark.sql.streaming.multipleWatermarkPolicy": "max"}
    play(shop.paid_orders, orders=orders, payments=payments, settings=most).expect(late=1, payments={"late": 1})


def test_an_aggregation_above_the_join(spark):
    job = play(shop.paid_per_minute, orders=ORDERS, payments=PAYMENTS, finish=True)
    assert job.output["amount"].tolist() == [7]
    assert job.fate(orders="o-2") == "matched"


def test_an_aggregation_in_update_mode(spark):
    orders = micro_batches("at timestamp", [("10:00:05",)], [("10:00:20",), ("10:01:30",)])
    assert play(shop.per_minute, orders=orders, mode="update").output["count"].tolist() == [1, 2, 1]
    assert play(shop.per_minute, orders=orders, mode="complete").output["count"].tolist()[:1] == [1]
    job = play(shop.per_minute, orders=orders)
    assert job.output[["count", "batch"]].to_numpy().tolist() == [[2, 2]]
    assert job.batches.columns.tolist() == ["batch", "rows", "dropped", "output_rows"]
    with pytest.raises(
        wb.WorkbenchError, match="rows: the query joins no two streams; its output and batches are known"
    ):
        _ = job.rows


def test_a_stream_joined_with_itself(spark):
    orders = micro_batches(shop.ORDERS, [("c-1", "10:00:00")], [("c-1", "10:00:30"), ("c-2", "10:00:40")])
    job = play(shop.again, orders=orders)
    assert len(job.output) == 1
    assert job.output.columns.tolist() == ["id", "at", "id", "at", "batch"]
    assert job.fate(left={"at": "2026-01-01 10:00:00"}) == "matched"
    assert job.fate(right={"at": "2026-01-01 10:00:30"}) == "matched"
    with pytest.raises(wb.ArgumentError, match="its 4 rows fared differently"):
        job.fate(orders="c-1")


def test_a_chain_of_joins(spark):
    shipments = micro_batches(shop.ORDERS, [], [], [("o-2", "10:30:00"), ("o-9", "10:31:00")])
    job = play(shop.shipped, orders=ORDERS, payments=PAYMENTS, shipments=shipments, finish=True)
    assert len(job.joins) == 2
    assert job.fate(orders="o-2") == "matched"
    assert job.fate(shipments="o-9") == "unmatched"
    job.expect(shipments={"matched": 1, "unmatched": 1})
    assert job.mismatches.empty


def test_functions_of_python_and_batch_tables(spark):
    from pyspark.sql import functions as F

    twice = F.udf(lambda number: number * 2, "int")

    def build(orders, payments, prices):
        paid = shop.paid_orders(orders, payments).select("o.id", twice("amount").alias("amount"))
        return paid.join(prices, "id", "left")

    for prices in (
        pd.DataFrame({"id": ["o-2"], "price": [3]}),
        spark.createDataFrame([("o-2", 3)], "id string, price long"),
    ):
        job = play(build, orders=ORDERS, payments=PAYMENTS, prices=prices)
        assert job.output[["id", "amount", "price"]].to_numpy().tolist() == [["o-2", 14, 3]]


def test_a_column_named_batch_stays(spark):
    job = play(lambda rows: rows, rows=micro_batches("Batch int", [(5,)], [(6,)]))
    assert job.output.to_dict("list") == {"Batch": [5, 6], "micro_batch": [0, 1]}


def per_minute_of_both(orders, payments):
    """The rows of both streams counted by minute, and the counts joined."""
    counted = [
        each.withWatermark("at", "0 seconds").groupBy(F.window("at", "1 minute").alias(f"w{name}"), "id").count()
        for name, each in {"o": orders, "p": payments}.items()
    ]
    o, p = (each.alias(name) for name, each in zip("op", counted, strict=True))
    return o.join(p, F.expr("o.id = p.id AND wo = wp")).select("o.id", "o.count")


def named_as_in_tables(orders, payments):
    """A join on columns that `rows` and `state` have themselves."""
    o, p = (each.withWatermark("at", "10 seconds") for each in (orders, payments))
    on = F.expr("o.batch = p.batch AND o.side = p.side AND p.at BETWEEN o.at AND o.at + INTERVAL 20 SECONDS")
    return o.alias("o").join(p.alias("p"), on, "left")


def chain_named_as_in_tables(orders, payments, shipments):
    """A chain on columns that only `Chain.rows` has itself."""
    first = orders.withWatermark("at", "10 seconds")
    others = [
        each.withWatermark("at", "10 seconds").selectExpr(f"stream AS key_{name}", f"at AS at_{name}")
        for name, each in {"p": payments, "s": shipments}.items()
    ]
    near = [
        F.expr(f"stream = key_{name} AND at_{name} BETWEEN {at} AND {at} + INTERVAL 20 SECONDS")
        for name, at in {"p": "at", "s": "at_p"}.items()
    ]
    return first.join(others[0], near[0]).drop("at").join(others[1], near[1])


def test_columns_named_as_those_of_tables_are_found_by_their_names(spark):
    schema = "batch int, side string, at timestamp"
    given = {
        "orders": micro_batches(schema, [(1, "north", "10:00:00")], [(0, "left", "10:00:00")]),
        "payments": micro_batches(schema, [(1, "north", "10:00:01")], []),
    }
    job = play(named_as_in_tables, **given)
    assert job.fate(orders=(1, "north")) == job.fate(orders={"side": "north"}) == "matched"
    assert job.fate(orders={"row_batch": 0}) == job.fate(orders={"batch": 0}) == "pending"
    job.expect(matched=1, pending=1)
    state = job.state(1)
    assert sorted(zip(state["side"], state["row_side"], strict=True)) == [
        ("left", "left"), ("left", "north"), ("right", "north"),
    ]  # fmt: skip
    later = play(
        named_as_in_tables,
        **given | {"payments": micro_batches(schema, [(1, "north", "10:00:01")], [(0, "left", "10:00:01")])},
    )
    assert "1 of the 3 rows of both with another fate" in repr(job.changes(later))


def test_a_row_without_event_time_is_looked_for(spark):
    orders = micro_batches(shop.ORDERS, [("a", None), ("b", "10:00:00")])
    job = play(shop.unpaid_orders, orders=orders, payments=micro_batches(shop.ORDERS, [("b", "10:00:01")]))
    assert job.fate(orders="b") == "matched"
    with pytest.raises(wb.ArgumentError, match=r"job\.missing says which rows are not among them"):
        job.fate(orders="a")
    assert any("event time" in words for words in job.missing), job.missing


def test_a_stream_may_be_named_as_a_fate_is(spark):
    rows = micro_batches(shop.ORDERS, [("a", "10:00:00")])
    job = play(lambda late, paid: shop.paid_orders(late, paid), late=rows, paid=rows)
    job.expect(late=0, matched=1)
    job.expect(late={"matched": 1})


def test_columns_named_as_those_of_a_chain_are_kept(spark):
    rows = micro_batches("stream string, later string, out int, at timestamp", [("x", "y", 5, "10:00:00")])
    job = play(chain_named_as_in_tables, orders=rows, payments=rows, shipments=rows)
    assert job.rows.loc[0, ["row_stream", "row_later", "row_out"]].tolist() == ["x", "y", 5]
    assert job.fate(orders="x") == job.fate(orders={"out": 5}) == job.fate(shipments="x") == "matched"
    job.expect(matched=1)
    with pytest.raises(wb.ArgumentError, match=r"changes: .*compare them one by one, as in job\.joins\[0\]"):
        job.changes(job)


def followed(orders, payments, shipments):
    """Orders with or without payments, and what was shipped of them: a watermark of each stream."""
    o, p, s = (each.withWatermark("at", "1 second") for each in (orders, payments, shipments))
    near = "o.id = {0}.id AND {0}.at BETWEEN o.at AND o.at + INTERVAL 10 SECONDS"
    paid = o.alias("o").join(p.alias("p"), F.expr(near.format("p")), "left").select("o.id", "o.at")
    return paid.alias("o").join(s.alias("s"), F.expr(near.format("s")))


def test_of_a_chain_it_is_not_said_that_two_of_its_streams_move_the_watermark(spark):
    first, second = ([(key, at)] for key, at in (("k", "10:00:00"), ("w", "10:30:00")))
    given = {"orders": (first,), "payments": ([("x", "10:00:00")],), "shipments": ([("x", "10:00:00")],)}
    moved = {"orders": (first, second, []), "payments": (*given["payments"], second, [])}
    told = []
    for streams in (given, given | moved):
        job = play(followed, **{name: micro_batches(shop.ORDERS, *some) for name, some in streams.items()})
        assert job.mismatches.empty
        assert job.fate(orders="k") == "pending"  # the shipments have not moved
        told.append(job.fate(orders="k").story)
    assert "brings the watermark there" not in told[0]
    assert "the watermark stands at 09:59:59; another stream of the query holds it back" in told[1]


def test_micro_batches_whose_rows_wait_below_the_join_have_data(spark):
    rows = micro_batches(shop.ORDERS, [("a", "10:00:00")], [("a", "10:01:30")], [("a", "10:03:00")])
    job = play(per_minute_of_both, orders=rows, payments=rows)
    kinds = job.batches.set_index("batch")["kind"]
    with_rows = [number for number, each in job.opened.reports.items() if each["numInputRows"]]
    assert kinds[with_rows].tolist() == ["data"] * 3


def test_nothing_is_left_behind(spark):
    before = dict(spark.conf.getAll)
    folder = play(shop.paid_orders, orders=ORDERS, payments=PAYMENTS).joined.sparkSession.streams.active
    assert folder == []
    assert dict(spark.conf.getAll) == before
    with pytest.raises(wb.QueryError):
        play(lambda rows: rows.selectExpr("raise_error(id)"), rows=micro_batches("id string", [("x",)]))
    assert spark.streams.active == []
    assert dict(spark.conf.getAll) == before


def batch(orders, payments):
    return orders.sparkSession.range(3)


def two(orders, payments):
    return orders, payments


def one_of_them(orders, payments):
    return orders


@pytest.fixture
def traces():
    """What PySpark logs of errors of queries: Java's traces."""
    found, handler = [], logging.Handler()
    handler.emit = found.append
    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    logger.addHandler(handler)
    yield found
    logger.removeHandler(handler)


def two_event_times(orders, payments, shipments):
    first, second, third = (each.withWatermark("at", "1 minute") for each in (orders, payments, shipments))
    both = first.join(second.withColumnRenamed("at", "paid_at"), "id")
    return both.join(third.withColumnRenamed("at", "sent_at"), "id")


def failing(text):
    raise ValueError(f"of {text}")


REFUSED = {
    "no function": (
        lambda: play(5, orders=ORDERS),
        "build: got 5; give the function that makes the streaming DataFrame",
    ),
    "another parameter": (
        lambda: play(shop.per_minute, payments=PAYMENTS),
        "build: per_minute cannot be called with payments (",
    ),
    "a parameter that is no stream": (
        lambda: play(shop.paid_within, orders=ORDERS, payments=PAYMENTS),
        "'seconds'); wrap it, as in lambda orders, payments: paid_within(…)",
    ),
    "a stream with the name of an option": (
        lambda: play(lambda mode: mode, mode=ORDERS),
        "mode: play has an argument of this name, too, which is no stream; wrap it, as in lambda rows, …: build(mode=rows",
    ),
    "a name that no argument has": (
        lambda: play(lambda **rows: rows["../orders"], **{"../orders": ORDERS}),
        "streams: got '../orders'; give a name that an argument of build can have, such as orders",
    ),
    "an empty table": (
        lambda: play(lambda orders, table: orders.join(table, "id"), orders=ORDERS, table=pd.DataFrame()),
        "that is no table ([CANNOT_INFER_EMPTY_SCHEMA]",
    ),
    "no stream": (
        lambda: play(shop.per_minute),
        "streams: there is none; give one by its name, such as orders=micro_batches(",
    ),
    "rows as a stream": (
        lambda: play(shop.per_minute, orders=[("o-1",)]),
        "orders: got [('o-1',)]; give micro_batches(…) for",
    ),
    "a batch DataFrame": (
        lambda: play(batch, orders=ORDERS, payments=PAYMENTS),
        "build: it returned a batch DataFrame; return the",
    ),
    "two outputs": (
        lambda: play(two, orders=ORDERS, payments=PAYMENTS),
        "build: it returned 2 values; return the streaming",
    ),
    "nothing": (
        lambda: play(lambda orders: None, orders=ORDERS),
        "build: it returned None; return the streaming DataFrame",
    ),
    "a stream that is not read": (
        lambda: play(one_of_them, orders=ORDERS, payments=PAYMENTS),
        "payments: build does not read it",
    ),
    "a number for a stream": (
        lambda: play(shop.paid_orders, orders=ORDERS, payments=PAYMENTS).expect(orders=1),
        "orders: got 1; give its rows by fate, such as orders={'matched': 1}",
    ),
    "a key that is an array": (
        lambda: play(
            lambda orders, payments: orders.join(payments, F.expr("items = paid")),
            orders=micro_batches("items array<string>, at timestamp", [(["a"], "10:00:00")]),
            payments=micro_batches("paid array<string>", [(["a"],)]),
        ).expect(matched=1),
        "joined: the key items of orders is an array, by which rows cannot be told; join on its text, as in to_json(items)",
    ),
    "a mode": (
        lambda: play(shop.per_minute, orders=ORDERS, mode="all"),
        "mode: got 'all'; use one of 'append', 'update'",
    ),
    "finish": (lambda: play(shop.per_minute, orders=ORDERS, finish="yes"), "finish: got 'yes'; use True or False"),
    "a restart": (
        lambda: play(shop.per_minute, orders=ORDERS, restart_after=3),
        "restart_after: got 3; give micro-batches, numbers from 0 to 2",
    ),
    "settings": (
        lambda: play(shop.per_minute, orders=ORDERS, settings={"a": 5}),
        "settings: got {'a': 5}; give texts by name",
    ),
    "a setting of another type": (
        lambda: play(shop.per_minute, orders=ORDERS, settings={"spark.sql.shuffle.partitions": "many"}),
        "settings: spark.sql.shuffle.partitions cannot be set: ",
    ),
    "a setting that is fixed": (
        lambda: play(shop.per_minute, orders=ORDERS, settings={"spark.sql.warehouse.dir": "x"}),
        "settings: spark.sql.warehouse.dir cannot be set: [CANNOT_MODIFY_STATIC_CONFIG]",
    ),
    "a query that Spark refuses": (
        lambda: play(lambda orders: orders.groupBy("id").count(), orders=ORDERS),
        "Spark refuses the query: an aggregation emits a group in append mode once the watermark has passed it",
    ),
    "two event times in a second join, which Spark refuses as it runs": (
        lambda: play(two_event_times, orders=ORDERS, payments=PAYMENTS, shipments=ORDERS),
        "(at,paid_at); drop all but one of them before it",
    ),
    "a query that fails": (
        lambda: play(
            lambda rows: rows.selectExpr("raise_error(id) AS x"), rows=micro_batches("id string", [("broken",)])
        ),
        "the query failed in Spark: ",
    ),
    "a query that divides by zero in any case": (
        lambda: play(lambda orders: orders.selectExpr("1 / 0 AS x"), orders=ORDERS),
        "the query failed in Spark: [DIVIDE_BY_ZERO] Division by zero.",
    ),
    "a fate where nothing is joined": (
        lambda: play(shop.per_minute, orders=ORDERS).fate(orders="o-1"),
        "fate and expect: the query joins no two streams; its output and batches are known",
    ),
    "a count of fates where nothing is joined": (
        lambda: play(shop.per_minute, orders=ORDERS).expect(late=0),
        "fate and expect: the query joins no two streams; its output and batches are known",
    ),
    "a text that is no number": (
        lambda: play(lambda rows: rows.selectExpr("CAST(id AS int)"), rows=micro_batches("id string", [("abc",)])),
        'the query failed in Spark: [CAST_INVALID_INPUT] The value \'abc\' of the type "STRING" cannot be cast to "INT"',
    ),
    "a query that divides by zero": (
        lambda: play(lambda rows: rows.selectExpr("1 / n AS x"), rows=micro_batches("n int", [(0,)])),
        "the query failed in Spark: [DIVIDE_BY_ZERO] Division by zero.",
    ),
    "a function of Python that fails": (
        lambda: play(lambda orders: orders.select(F.udf(failing, "string")("id")), orders=ORDERS),
        "the query failed in Spark: a Python worker of Spark's failed: ValueError: of o-1",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_played_is_one_sentence(spark, case, traces):
    make, words = REFUSED[case]
    with pytest.raises(wb.WorkbenchError) as raised:
        make()
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)
    assert traces == []


def test_streams_have_any_names_that_arguments_have(spark):
    def build(größe, **others):
        return shop.paid_orders(others["_Orders"], größe).join(others["class"], "amount")

    table = pd.DataFrame({"amount": [5], "name": ["Ada"]})
    payments = micro_batches(shop.PAYMENTS, [("o-1", "10:00:02", 5)])
    job = play(build, _Orders=ORDERS, größe=payments, **{"class": table})
    assert job.output["name"].tolist() == ["Ada"]
    assert job.fate(_Orders="o-1") == job.fate(größe="o-1") == "matched"


def test_threads_play_by_turns(spark):
    """Settings are those of the session."""
    before = spark.conf.get("spark.sql.shuffle.partitions")

    def late(policy):
        settings = {"spark.sql.streaming.multipleWatermarkPolicy": policy}
        orders = micro_batches(shop.ORDERS, [("o-1", "10:00")], [("o-2", "10:10")], [], [("o-3", "10:00")])
        payments = micro_batches(shop.PAYMENTS, [("o-1", "10:00", 1)])
        job = play(shop.paid_orders, orders=orders, payments=payments, settings=settings)
        return len(job.late)

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(late, ["min", "max"] * 2)) == [0, 1] * 2
    assert spark.conf.get("spark.sql.shuffle.partitions") == before


def test_errors_of_the_tested_code_are_its_own(spark):
    def build(orders):
        raise LookupError("of the user's")

    with pytest.raises(LookupError, match="of the user's"):
        play(build, orders=ORDERS)
