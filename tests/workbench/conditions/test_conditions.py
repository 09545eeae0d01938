"""Conditions: SQL's logic in the model, in Spark's SQL, in Flink's SQL and in Java, held to each other."""

from __future__ import annotations

import datetime
import enum
import functools
import json
import math
import operator
import os
import re
import subprocess
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import workbench as wb
from workbench import conditions
from workbench.conditions import col
from workbench.flink.conditions import flink_sql, java, java_helpers
from workbench.flink.syntax import java_text
from workbench.model.conditions import is_true, truth
from workbench.plan.conditions import spark_sql
from workbench.quoting import backticks

UTC = datetime.UTC
WORDS = ["", "a", "ab", "a%b", "A_b", "it's", 'a"b', "c\\d", "c\nd", "ü", "\ue000", "😀", "a``b", "${env:HOME}", "😀\n"]
TYPES = {
    "whole": pa.int64(),
    "small": pa.int32(),
    "real": pa.float64(),
    "single": pa.float32(),
    "exact": pa.decimal128(10, 2),
    "word": pa.string(),
    "an odd `name`": pa.string(),
    "flag": pa.bool_(),
    "at": pa.timestamp("us", tz="UTC"),
}
VALUES = {
    "whole": [0, 1, -1, 7, 16_777_217, 2**53 + 1, -(2**63), 2**63 - 1],
    "small": [0, 1, -3, 16_777_217],
    "real": [0.0, -0.0, 0.1, 1.0, 7.5, -3.0, 1e300, math.inf, -math.inf, math.nan],
    "single": [0.0, 0.5, 0.1, 16_777_216.0, math.nan],
    "exact": [
        Decimal("0.00"),
        Decimal("0.10"),
        Decimal("7.00"),
        Decimal("-3.25"),
        Decimal("799.30"),
        Decimal("0.30"),
        Decimal("99999999.99"),
    ],
    "word": WORDS,
    "an odd `name`": WORDS,
    "flag": [True, False],
    "at": [datetime.datetime(2026, 1, 1, tzinfo=UTC), datetime.datetime(2026, 1, 1, 0, 0, 0, 1, tzinfo=UTC)],
}
NUMBERS = ("whole", "small", "real", "single", "exact")
TEXTS = ("word", "an odd `name`")


def columns_of(*names):
    return st.sampled_from(names).map(col)


constants = st.one_of(
    st.sampled_from(
        [0, 1, -3, 7, 2**53 + 1, -(2**63), 2**40, 0.1, 0.5, 7.5, 1e300, -0.0, Decimal("7"), Decimal("0.10"), 799.3, 0.3]
    )
)
numbers = st.recursive(
    columns_of(*NUMBERS),
    lambda inner: st.one_of(
        st.builds(lambda sign, one, other: SIGNS[sign](one, other), st.sampled_from("+-*/"), inner, inner | constants),
        st.builds(lambda one, other: other / one, inner, constants),
    ),
    max_leaves=3,
)
SIGNS = {
    "+": lambda one, other: one + other,
    "-": lambda one, other: one - other,
    "*": lambda one, other: one * other,
    "/": lambda one, other: one / other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
    "==": lambda one, other: one == other,
    "!=": lambda one, other: one != other,
}
ORDERS = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])


def compared(signs, one, other):
    return st.builds(lambda sign, *sides: SIGNS[sign](*sides), signs, one, other)


words = st.sampled_from(WORDS)
patterns = st.sampled_from(["", "%", "a%", "_", "a_b", "%'%", "c%d", "c_d", '%"%', "a.b", "%😀", "_%_", "[a]%", "a``_"])
plain = st.one_of(
    compared(ORDERS, numbers, numbers | constants),
    compared(ORDERS, columns_of(*TEXTS), columns_of(*TEXTS) | words),
    compared(st.sampled_from(["==", "!="]), columns_of("flag"), columns_of("flag") | st.booleans()),
    compared(ORDERS, columns_of("at"), columns_of("at")),
    st.builds(lambda one, options: one.isin(*options), numbers, st.lists(constants, min_size=1, max_size=3)),
    st.builds(lambda one, options: one.isin(*options), columns_of(*TEXTS), st.lists(words, min_size=1, max_size=3)),
    st.builds(lambda one, pattern: one.like(pattern), columns_of(*TEXTS), patterns),
    st.builds(lambda one: one.is_null(), columns_of(*TYPES) | numbers),
)
anything = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.builds(lambda one, other: one & other, inner, inner),
        st.builds(lambda one, other: one | other, inner, inner),
        st.builds(lambda one: ~one, inner),
    ),
    max_leaves=4,
)
tables = st.lists(
    st.fixed_dictionaries({name: st.none() | st.sampled_from(values) for name, values in VALUES.items()}),
    min_size=1,
    max_size=12,
).map(lambda rows: pa.Table.from_pylist(rows, schema=pa.schema(TYPES)))


def slowly(examples):
    """A property with a query, or a Java, for each example, which has many conditions."""
    return settings(
        max_examples=examples,
        phases=[Phase.generate],  # the message names the condition, and each step to a smaller case would take a query
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )


def kinds_of(condition):
    return conditions.check(condition, TYPES, "where")


def expected(asked, table):
    rows = {name: table[name] for name in TYPES}
    return [truth(each, kinds_of(each), rows).to_pylist() for each in asked]


@slowly(8)
@given(asked=st.lists(anything, min_size=40, max_size=60), table=tables)
def test_spark_says_the_same(spark, tmp_path, asked, table):
    file = tmp_path / "rows.parquet"
    pq.write_table(table.append_column("n", pa.array(range(len(table)))), file)
    texts = [f"{spark_sql(each, kinds_of(each))} AS c{place}" for place, each in enumerate(asked)]
    rows = spark.read.parquet(str(file)).orderBy("n").selectExpr(*texts).collect()
    for place, mine in enumerate(expected(asked, table)):
        assert [row[place] for row in rows] == mine, (asked[place], texts[place])


def java_value(value):
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int():
            return f"{value}L"
        case float():
            named = {math.inf: "Double.POSITIVE_INFINITY", -math.inf: "Double.NEGATIVE_INFINITY"}
            return named.get(value, "Double.NaN" if math.isnan(value) else repr(value))
        case Decimal():
            return f'new BigDecimal("{value}")'
        case str():
            return java_text(value)
    return f'Instant.parse("{value:%Y-%m-%dT%H:%M:%S.%fZ}")'


@given(asked=st.lists(anything, min_size=5, max_size=10), table=tables)
def test_python_says_the_same(asked, table):
    """A condition as Python, row by row, as a processor on Spark asks it."""
    known = {"operator": operator, "re": re, "Decimal": Decimal}
    exec(conditions.HELPERS, known)
    whole = table.set_column(table.column_names.index("at"), "at", table["at"].cast(pa.int64()))
    for each, found in zip(asked, expected(asked, table), strict=True):
        text = conditions.python(each, kinds_of(each), lambda of: f"row[{of.name!r}]")
        assert [eval(text, known | {"row": row}) for row in whole.to_pylist()] == found, text


@slowly(4)
@given(asked=st.lists(anything, min_size=60, max_size=80), table=tables)
def test_java_says_the_same(javac, tmp_path, asked, table):
    def read(name):
        return f"row.get({java_text(name)})"

    texts = [java(each, kinds_of(each), read) for each in asked]
    methods = "\n".join(
        f"    static Boolean c{place}(Map<String, Object> row) {{ return {text}; }}" for place, text in enumerate(texts)
    )
    put = "\n".join(
        "        rows.add(new HashMap<>());\n"
        + "\n".join(
            f"        rows.get({number}).put({java_text(name)}, {java_value(value)});" for name, value in row.items()
        )
        for number, row in enumerate(table.to_pylist())
    )
    printed = "\n".join(f'            System.out.print(c{place}(row) + " ");' for place in range(len(texts)))
    (tmp_path / "Conditions.java").write_text(
        "import java.math.BigDecimal;\nimport java.nio.ByteBuffer;\nimport java.nio.charset.StandardCharsets;\n"
        "import java.time.*;\nimport java.util.*;\nimport java.util.function.*;\n"
        f"final class Conditions {{\n{methods}\n{java_helpers(methods)}\n"
        f"    public static void main(String[] words) {{\n        List<Map<String, Object>> rows = new ArrayList<>();\n{put}\n"
        f"        for (Map<String, Object> row : rows) {{\n{printed}\n            System.out.println();\n        }}\n    }}\n}}\n"
    )
    target = tmp_path / "classes"
    command = [javac, "-Xlint:all", "-Werror", "-d", target, tmp_path / "Conditions.java"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    done = subprocess.run(["java", "-cp", target, "Conditions"], capture_output=True, text=True, check=True)
    words = {"true": True, "false": False, "null": None}
    found = [[words[each] for each in line.split()] for line in done.stdout.splitlines()]
    for place, mine in enumerate(expected(asked, table)):
        assert [row[place] for row in found] == mine, (asked[place], texts[place])


@pytest.fixture(scope="module")
def in_flink(pyflink):
    """Statements through PyFlink, and what the last of them gives."""

    def run(cases):
        script = Path(__file__).parents[1] / "flink" / "flink_sql.py"
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            [pyflink, script], input=json.dumps(cases), capture_output=True, text=True, check=False, env=environment
        )
        assert done.returncode == 0, [line for line in done.stderr.splitlines() if "java.lang" in line][:2]
        return [each["rows"] for each in json.loads(done.stdout.splitlines()[-1])]

    return run


@slowly(2)
@given(asked=st.lists(anything, min_size=30, max_size=40), table=tables)
def test_flink_sql_says_the_same(in_flink, tmp_path, asked, table):
    """But of NaN, which equals nothing there, and of line breaks, which are like no ``_``; JSON has no infinity."""
    for name in TEXTS:
        values = [None if value is None else value.replace("\n", " ") for value in table[name].to_pylist()]
        table = table.set_column(table.schema.get_field_index(name), name, pa.array(values, TYPES[name]))
    for name in ("real", "single"):
        values = [None if value is None or not math.isfinite(value) else value for value in table[name].to_pylist()]
        table = table.set_column(table.schema.get_field_index(name), name, pa.array(values, TYPES[name]))
    folder = tmp_path / f"rows{len(list(tmp_path.iterdir()))}"
    folder.mkdir()
    rows = [{"n": number, **row} for number, row in enumerate(table.to_pylist())]
    (folder / "rows.json").write_text("\n".join(json.dumps(row, default=str) for row in rows))
    kinds = {pa.int64(): "BIGINT", pa.int32(): "INT", pa.float64(): "DOUBLE", pa.float32(): "FLOAT"}
    kinds |= {pa.decimal128(10, 2): "DECIMAL(10, 2)", pa.string(): "STRING", pa.bool_(): "BOOLEAN"}
    kinds |= {pa.timestamp("us", tz="UTC"): "STRING"}
    columns = ", ".join(f"{backticks(name)} {kinds[kind]}" for name, kind in TYPES.items())
    given_rows = f"""CREATE TABLE given_rows (n INT, {columns})
        WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json')"""
    texts = [flink_sql(each, kinds_of(each)) for each in asked]
    (changes,) = in_flink([[given_rows, f"SELECT n, {', '.join(texts)} FROM given_rows"]])
    found = [row[2:] for row in sorted(changes, key=lambda row: row[1])]
    for place, mine in enumerate(expected(asked, table)):
        assert [row[place] for row in found] == mine, (asked[place], texts[place])


@given(condition=anything)
def test_its_repr_is_the_call_that_makes_it(condition):
    for again in (
        conditions.read(repr(condition), "where"),
        eval(repr(condition), {"wb": conditions, "Decimal": Decimal}),
    ):
        assert again == condition
        assert hash(again) == hash(condition)
    assert condition != ~condition
    with pytest.raises(wb.ArgumentError, match=r"^condition: .* is neither true nor false without a row; use &"):
        bool(condition)


@pytest.mark.parametrize(
    "text",
    [
        "", "7", "col", "col('a')", "col('a') >", "col(7) > 1", "col('a', 'b') > 1", "1 < 2", "1 + 1 > 1", "not col('a') > 1",
        "col('a') > 1 and col('b') > 1", "1 < col('a') < 2", "col('a') > x", "col('a').name", "__import__('os').system('x')",
        "col('a').isin(*[1])", "col('a').isin()", "col('a').like(7)", "col('a') > [1]", "col('a') > None", "col('a') ** 2 > 1",
        "(col('a') > 1) + 1", "(col('a') > 1) > 1", "col('a') & True", "~col('a')", "Decimal('x') < col('a')", "lambda: col('a') > 1",
        "col('a') > 1; col('b')", "(" * 500 + "col('a') > 1" + ")" * 500, "~" * 5000 + "(col('a') > 1)", "col('a') > " + "9" * 5000, b"col", None,
    ],
)  # fmt: skip
def test_what_reads_as_no_condition_is_said_and_nothing_is_run(text):
    with pytest.raises(wb.ArgumentError, match=r"^where: got ") as raised:
        conditions.read(text, "where")
    assert "\n" not in str(raised.value)


def test_what_is_a_text_or_a_number_of_another_class_is_python_s():
    named = enum.StrEnum("Named", {"card": "card"})
    for one, expected in (
        (named.card, "'card'"),
        (np.str_("x"), "'x'"),
        (np.int64(3), "3"),
        (np.bool_(True), "True"),
    ):
        assert repr(col("a") == one) == f"wb.col('a') == {expected}"
    assert repr(-col("a") > 1) == "(0 - wb.col('a')) > 1"


def test_long_chains_are_flat():
    chain = functools.reduce(lambda one, other: one | other, [col("whole") == n for n in range(900)])
    assert conditions.read(repr(chain), "where") == chain
    kinds = conditions.check(chain, TYPES, "where")
    assert spark_sql(chain, kinds).count(" OR ") == 899
    assert truth(chain, kinds, {"whole": pa.array([899, 900])}).to_pylist() == [True, False]


def test_a_decimal_is_the_double_that_it_is_nearest_to():
    kinds = conditions.check(col("x") == 799.3, {"x": pa.decimal128(10, 1)}, "where")
    assert truth(col("x") == 799.3, kinds, {"x": pa.array([Decimal("799.3")])}).to_pylist() == [True]


def test_spark_finds_no_variable_in_a_text_and_none_in_a_name(spark):
    text = spark_sql(col("word") == "${env:HOME}", {"word": "text"})
    assert spark.createDataFrame([("${env:HOME}",)], "word string").where(text).count() == 1
    with pytest.raises(wb.ArgumentError, match=r"Spark reads \$\{ in a column's name as a variable"):
        spark_sql(col("a${b}") == 1, {"a${b}": "integer"})


def test_only_true_counts():
    rows = {"amount": pa.array([1, 200, None])}
    for condition, expected in (
        (col("amount") > 100, [False, True, False]),
        (~(col("amount") > 100), [True, False, False]),
    ):
        kinds = conditions.check(condition, {"amount": pa.int64()}, "where")
        assert is_true(condition, kinds, rows).tolist() == expected


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: col(""), "name: got ''; use the name of a column"),
        (lambda: col(7), "name: got 7; use the name of a column"),
        (lambda: col("a") > None, 'condition: got None; nothing equals null: use wb.col("…").is_null()'),
        (lambda: col("a") > [1], "condition: got [1]; use a boolean, a number, a text, or another column"),
        (lambda: col("a") > math.nan, "condition: got nan; use a finite number"),
        (lambda: col("a") > 2**63, "condition: got 9223372036854775808; use whole numbers of 64 bits, or a decimal.Decimal"),
        (lambda: col("a") > Decimal("1e99"), "condition: got Decimal('1E+99'); use a finite number of at most 38 digits"),
        (lambda: col("a").isin(), "options: got none; give the values that are looked for, such as isin('card', 'cash')"),
        (lambda: col("a").isin([1, 2]), "options: got [1, 2]; give the values one by one, isin('card', 'cash'), or isin(*values)"),
        (lambda: col("a") > Decimal("1e38"), "condition: got Decimal('1E+38'); use a finite number of at most 38 digits"),
        (lambda: col("a") == "\ud800", "condition: got '\\ud800'; half a surrogate pair is no character: use whole ones"),
        (lambda: col("a") > 1 & col("b") < 2, "condition: wb.col('b') is joined by & or |, which bind more than < and ==: use &, | and ~ in place of and, or and not, each condition in brackets"),
        (lambda: ~col("a"), "condition: wb.col('a') is a value, not a condition: compare it, as in wb.col('a') == True"),
        (lambda: True & (col("a") > 1), "condition: got True; & joins conditions, such as (wb.col('a') > 1) & (wb.col('b') < 2)"),
        (lambda: functools.reduce(lambda one, _: one + 1, range(99), col("a")), "condition: it is more than 60 deep in brackets: write it flatter"),
        (lambda: col("a").isin(None), 'options: got None; nothing equals null: use wb.col("…").is_null()'),
        (lambda: col("a").like("\\"), "pattern: got '\\\\'; use a text with % for any characters and _ for one, and no backslash"),
        (lambda: (col("a") > 1) & True, "condition: got True; & joins conditions, such as (wb.col('a') > 1) & (wb.col('b') < 2)"),
        (lambda: not col("a"), "condition: wb.col('a') is a value, not a condition: compare it, as in wb.col('a') == True"),
    ],
)  # fmt: skip
def test_what_is_no_condition_is_said(wrong, message):
    with pytest.raises(wb.ArgumentError) as raised:
        wrong()
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (7, 'where: got 7; use a condition, such as wb.col("amount") > 100'),
        (col("none") > 1, "where: got wb.col('none') > 1; there is no column 'none'; there are whole, word, flag, list"),
        (col("list") > 1, "where: got wb.col('list') > 1; column 'list' is of type list<item: int64>: use booleans, numbers, texts and times only"),
        (col("whole") > "x", "where: got wb.col('whole') > 'x'; wb.col('whole') is a number, and 'x' a text: compare what is alike"),
        (col("flag") > True, "where: got wb.col('flag') > True; wb.col('flag') > True has no order: compare a boolean by == or !="),
        (col("whole").like("a"), "where: got wb.col('whole').like('a'); wb.col('whole') is a number, and only a text is like a pattern"),
        (col("word") + 1 > 2, "where: got (wb.col('word') + 1) > 2; wb.col('word') is a text, and only numbers are computed with"),
        (~(col("word").isin("a", 1) & (col("flag") == False)), "where: got ~(wb.col('word').isin('a', 1) & (wb.col('flag') == False)); wb.col('word') is a text, and 1 a number: compare what is alike"),  # noqa: E712
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_said(condition, message):
    types = {"whole": pa.int64(), "word": pa.string(), "flag": pa.bool_(), "list": pa.list_(pa.int64())}
    with pytest.raises(wb.ArgumentError) as raised:
        conditions.check(condition, types, "where")
    assert str(raised.value) == message
