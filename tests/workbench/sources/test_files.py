"""A file means the same to the workbench and to an exported script, whoever wrote it; what cannot be read is reported."""

from __future__ import annotations

import json
import os

import duckdb
import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scripts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import workbench as wb

AT = pd.Timestamp("2026-01-01 10:00:00.123456")
SCHEMA = {"k": "string", "t": "timestamp[us]", "price": "float64"}


def read(folder, kind, **more):
    return wb.Stream.from_files(folder, name="orders", key="k", time="t", format=kind, **more)


def put(folder, name, text):
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    number = len(list(folder.iterdir()))
    os.utime(folder / name, (1000 + number, 1000 + number))
    return folder


def values(table, names):
    """Rows as texts that can be sorted; NaN equals NaN, and -0.0, whose sign some writers leave out, 0.0."""
    rows = table.select(names).to_pylist()
    for row in rows:
        row.update({name: each + 0.0 for name, each in row.items() if isinstance(each, float)})
    return sorted(
        repr([each.timestamp() if hasattr(each, "timestamp") else each for each in row.values()]) for row in rows
    )


def by_script(spark, folder, stream):
    """The rows that the exported script reads of the files, and how many records it leaves out."""
    folder = folder.parent / f"{folder.name} exported"
    folder.mkdir(exist_ok=True)
    folder = folder / str(len(list(folder.iterdir())))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("black.format_str", lambda text, mode: text)  # most of the time, and no difference to Python
        made = scripts.module(scripts.job(wb.preview(wb.IntervalJoin("0 s", "1 s"), stream, stream), folder))
    given = made.LEFT_ORDERS
    found = made.parsed(given, made.files(spark.read, given).load([made.escaped(stream.source.path)]))
    bad = made.is_malformed(given, found)
    rows = made.prepared(given, found.where(~bad).drop("__corrupt"))
    return rows.toArrow(), found.where(bad).count()


# ---- generated files: what the workbench reads is what the script reads, and what was written

texts = st.one_of(
    st.none(),
    st.sampled_from(["", " ", "a", "NA", "nan", "null", '"', '5" pipe', "a,b", "a\nb", "\\", '\\"', "é", "1", "01", "#x", "{}", "'", "a\tb", " x "]),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=5),
)  # fmt: skip
prices = st.one_of(st.none(), st.sampled_from([0.0, -0.0, 1.5, 1e300, 123456789.25]))
rows = st.lists(st.tuples(texts, st.integers(-10, 10_000_000), prices), min_size=1, max_size=6)


def framed(some):
    return pd.DataFrame(
        {
            "k": pd.Series([row[0] for row in some], dtype=object),
            "t": (AT + pd.to_timedelta([row[1] for row in some], unit="us")).astype("datetime64[us]"),
            "price": pd.Series([row[2] for row in some], dtype="float64"),
        }
    )


def as_arrow(frame, unit="us"):
    kinds = [("k", pa.string()), ("t", pa.timestamp(unit)), ("price", pa.float64())]
    return pa.Table.from_pandas(frame, pa.schema(kinds), preserve_index=False, safe=False)


def spark_writes(frame, file, kind):
    spark = wb.spark().newSession()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    folder = file.parent.parent / f"{file.name} of spark"
    made = spark.createDataFrame(as_arrow(frame)).selectExpr("k", "cast(t as timestamp) as t", "price")
    whole = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}  # Spark itself leaves microseconds and spaces out
    whole |= {"ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false"}
    made.coalesce(1).write.options(header=True, escape='"', **whole).format(kind).save(str(folder))
    next(folder.glob(f"part-*.{kind}*")).rename(file)


def duckdb_writes(frame, file, kind):
    held = as_arrow(frame)
    options = {"parquet": "FORMAT parquet", "csv": "FORMAT csv, HEADER", "json": "FORMAT json"}[kind]
    duckdb.sql(f"COPY (SELECT * FROM held) TO '{file}' ({options})")
    del held


WRITERS = {
    ("pandas", "parquet"): lambda frame, file: frame.astype({"k": "string"}).to_parquet(file),
    ("pandas", "csv"): lambda frame, file: frame.to_csv(file, index=False),
    ("pandas", "json"): lambda frame, file: frame.to_json(file, orient="records", lines=True, date_format="iso", date_unit="us"),
    ("arrow us", "parquet"): lambda frame, file: pq.write_table(as_arrow(frame), file),
    ("arrow ns", "parquet"): lambda frame, file: pq.write_table(as_arrow(frame, "ns"), file),
    ("arrow ms", "parquet"): lambda frame, file: pq.write_table(as_arrow(frame.assign(t=frame["t"].dt.floor("ms")), "ms"), file),
    ("arrow INT96", "parquet"): lambda frame, file: pq.write_table(as_arrow(frame), file, use_deprecated_int96_timestamps=True),
    ("polars", "parquet"): lambda frame, file: polars.from_arrow(as_arrow(frame)).write_parquet(file),
    ("polars", "csv"): lambda frame, file: polars.from_arrow(as_arrow(frame)).write_csv(file),
    ("polars", "json"): lambda frame, file: polars.from_arrow(as_arrow(frame)).write_ndjson(file),
    ("duckdb", "parquet"): lambda frame, file: duckdb_writes(frame, file, "parquet"),
    ("duckdb", "csv"): lambda frame, file: duckdb_writes(frame, file, "csv"),
    ("duckdb", "json"): lambda frame, file: duckdb_writes(frame, file, "json"),
    ("spark", "parquet"): lambda frame, file: spark_writes(frame, file, "parquet"),
    ("spark", "csv"): lambda frame, file: spark_writes(frame, file, "csv"),
    ("spark", "json"): lambda frame, file: spark_writes(frame, file, "json"),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["parquet", "csv", "json"])
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), parts=st.lists(rows, min_size=1, max_size=2), typed=st.booleans())
def test_one_meaning_of_a_file(spark, tmp_path_factory, kind, data, parts, typed):
    writer = data.draw(st.sampled_from(sorted(each for each in WRITERS if each[1] == kind)))
    folder = tmp_path_factory.mktemp("files")
    place = folder / "in [1]"
    place.mkdir()
    frames = [framed(some) for some in parts]
    for number, frame in enumerate(frames):
        WRITERS[writer](frame, place / f"{number}.{kind}")
    try:
        found = read(place, kind, schema=SCHEMA if typed else None)
    except wb.WorkbenchError as error:  # one sentence: a column without a value may be in no file
        assert not typed, error
        assert "\n" not in str(error)
        return
    columns = [name for name in SCHEMA if name in found.columns]  # JSON has no column without a value
    script, left_out = by_script(spark, folder, found)
    assert left_out == 0
    assert values(script, columns) == values(found.table, columns)
    if not typed:
        return
    written = pd.concat(frames)
    if writer[0] == "arrow ms":
        written["t"] = written["t"].dt.floor("ms")
    if kind == "csv":
        written["k"] = written["k"].where(written["k"] != "", None)  # an empty field is none
    wanted = as_arrow(written).set_column(1, "t", as_arrow(written).column("t").cast(pa.timestamp("us", "UTC")))
    assert values(found.table, columns) == values(wanted, columns)


# ---- the bugs that were found


def test_times_of_spark_in_96_bits(spark, tmp_path):
    frame = framed([("a", 0, 1.0), ("b", 1, 2.0)])
    (tmp_path / "in").mkdir()
    WRITERS["arrow INT96", "parquet"](frame, tmp_path / "in" / "0.parquet")
    found = read(tmp_path / "in", "parquet")
    assert found.source.nanos == ()
    assert values(by_script(spark, tmp_path, found)[0], ["k", "t"]) == values(found.table, ["k", "t"])


def test_files_in_nanoseconds_and_microseconds_are_refused(tmp_path):
    frame = framed([("a", 0, 1.0)])
    (tmp_path / "in").mkdir()
    for unit in ("us", "ns"):
        WRITERS[f"arrow {unit}", "parquet"](frame, tmp_path / "in" / f"{unit}.parquet")
    with pytest.raises(
        wb.DataError, match=r"path: column 't' is in nanoseconds in .*ns.parquet and coarser in .*us.parquet"
    ):
        read(tmp_path / "in", "parquet")


def test_a_script_for_nanoseconds_refuses_microseconds(spark, tmp_path):
    frame = framed([("a", 0, 1.0)])
    (tmp_path / "in").mkdir()
    WRITERS["arrow ns", "parquet"](frame, tmp_path / "in" / "0.parquet")
    found = read(tmp_path / "in", "parquet")
    assert found.source.nanos == ("t",)
    made = scripts.module(scripts.job(wb.preview(wb.IntervalJoin("0 s", "1 s"), found, found), tmp_path))
    own = scripts.own_session(spark, **{"spark.sql.legacy.parquet.nanosAsLong": "true"})
    made.check_nanoseconds(own, made.LEFT_ORDERS, str(tmp_path / "in"))
    WRITERS["arrow us", "parquet"](frame, tmp_path / "in" / "1.parquet")
    with pytest.raises(SystemExit, match="differ in their columns"):
        made.check_nanoseconds(own, made.LEFT_ORDERS, str(tmp_path / "in"))


CSV = "k,t,price\na,2026-01-01 10:00:00,1.5\n"


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ("t,k,price\n2026-01-01 10:00:00,b,1\n", "CSV header does not conform to the schema|header"),
        ("k,t,price,more\nb,2026-01-01 10:00:00,1,2\n", "header|Number of column"),
        ("k,t\nb,2026-01-01 10:00:00\n", "header|Number of column|have no column 'price'"),
        ("k,t,price\nb,2026-01-01 10:00:00,1,2\n", "1 of 2 records in .* cannot be read as their columns' types"),
        ("k,t,price\nb,2026-01-01 10:00:00,nan\n", "1 of 2 records"),
        ("k,t,price\nb,2026-01-01 10:00:00,NA\n", "1 of 2 records"),
        ("k,t,price\nb,not a time,1\n", "1 of 2 records"),
    ],
)
def test_csv_that_does_not_fit_is_refused(tmp_path, second, words):
    put(tmp_path / "in", "0.csv", CSV)
    put(tmp_path / "in", "1.csv", second)
    with pytest.raises(wb.DataError, match=words) as raised:
        read(tmp_path / "in", "csv", schema=SCHEMA)
    assert str(raised.value).startswith(("path: ", "schema: "))
    assert "\n" not in str(raised.value)


def test_options_are_those_of_spark_and_of_the_script(spark, tmp_path):
    put(tmp_path / "in", "0.csv", "k;t;price\na;2026-01-01 10:00:00;NA\nb;2026-01-01 10:00:00;nan\n")
    given = {"sep": ";", "nullValue": "NA", "nanValue": "nan"}
    found = read(tmp_path / "in", "csv", schema=SCHEMA, options=given)
    prices = found.table.column("price").to_pylist()
    assert prices[0] is None
    assert np.isnan(prices[1])
    assert values(by_script(spark, tmp_path, found)[0], list(SCHEMA)) == values(found.table, list(SCHEMA))
    for wrong in (
        {"header": "false"},
        {"mode": "FAILFAST"},
        {"maxFilesPerTrigger": "2"},
        {"sep": 1},
        "sep=;",
        {1: "x"},
    ):
        with pytest.raises(wb.ArgumentError, match="options: got"):
            read(tmp_path / "in", "csv", options=wrong)


def test_some_columns_of_a_csv_file(spark, tmp_path):
    put(tmp_path / "in", "0.csv", "note,t,k\nfirst,2026-01-01 10:00:00,01\n")
    found = read(tmp_path / "in", "csv", schema={"k": "string", "t": "timestamp[us]"})
    assert found.columns == ["k", "t"]
    script, _ = by_script(spark, tmp_path, found)
    assert script.column_names == ["k", "t"]
    assert script.column("k").to_pylist() == ["01"]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('{"k":"a","t":"2026-01-01T10:00:00Z"} {"k":"b","t":"2026-01-01T10:00:00Z"}\n', 1),
        ('{"k":"a","t":"2026-01-01T10:00:00Z"},{"k":"b","t":"2026-01-01T10:00:00Z"}\n', 1),
        ('{"k":"a","t":"2026-01-01T10:00:00Z"}x\n', 1),
        ('{\n "k": "a",\n "t": "2026-01-01T10:00:00Z"\n}\n', 4),
    ],
)
def test_json_lines_that_are_not_one_object_are_reported(tmp_path, text, count):
    put(tmp_path / "in", "0.json", '{"k":"z","t":"2026-01-01T10:00:00Z"}\n' + text)
    with pytest.raises(wb.DataError, match=f"{count} of {count + 1} records"):
        read(tmp_path / "in", "json", schema={"k": "string", "t": "timestamp[us]"})
    with pytest.warns(UserWarning, match=f"{count} of {count + 1} records .*; they are left out"):
        found = read(tmp_path / "in", "json", schema={"k": "string", "t": "timestamp[us]"}, malformed="drop")
    assert found.to_pandas()["k"].tolist() == ["z"]
    preview = wb.preview(wb.IntervalJoin("0 s", "1 s"), found, found)
    assert '"--malformed", default="drop"' in " ".join(scripts.job(preview, tmp_path).read_text().split())
    assert '.option("mode", "DROPMALFORMED")' in preview.script


def test_large_ids_in_json_stay_whole(tmp_path):
    ids = [2**63 - 1, 2**63, 2**63 + 1]
    put(tmp_path / "in", "0.json", "".join(json.dumps({"k": each, "t": "2026-01-01T10:00:00Z"}) + "\n" for each in ids))
    found = read(tmp_path / "in", "json")
    assert [int(each) for each in found.table.column("k").to_pylist()] == ids
    seen = wb.preview(wb.IntervalJoin("0 s", "1 s"), found, found)
    assert seen.outcome.outputs.pairs() == 3


def test_text_that_is_not_utf8_is_refused(tmp_path):
    put(tmp_path / "in", "0.json", '{"k":"caf\xe9","t":"2026-01-01T10:00:00Z"}\n'.encode("latin-1"))
    with pytest.raises(wb.DataError, match=r"path: .*0\.json is not UTF-8"):
        read(tmp_path / "in", "json")


def test_paths_are_no_patterns(spark, tmp_path):
    for name in ("a[b]", "ab", "a{b,c}", "a*", "a\\b", "a b%20c"):
        put(tmp_path / name, "0.csv", CSV.replace("a,", f"{name.replace(',', ';')},"))
    for name in ("a[b]", "ab", "a{b,c}", "a*", "a\\b", "a b%20c"):
        found = read(tmp_path / name, "csv")
        assert found.to_pandas()["k"].tolist() == [name.replace(",", ";")]
        assert by_script(spark, tmp_path / name, found)[0].column("k").to_pylist() == [name.replace(",", ";")]


def test_folders_in_a_folder_are_refused(tmp_path):
    put(tmp_path / "in", "0.csv", CSV)
    put(tmp_path / "in" / "day=1", "0.csv", CSV)
    with pytest.raises(wb.ArgumentError, match="it holds folders"):
        read(tmp_path / "in", "csv")


def test_the_log_of_sparks_sink_says_which_files_count(spark, tmp_path):
    place = tmp_path / "in"
    put(tmp_path / "source", "0.csv", CSV)
    source = (
        spark.readStream.schema("k string, t timestamp, price double")
        .option("header", True)
        .csv(str(tmp_path / "source"))
    )
    written = (
        source.writeStream.format("parquet")
        .option("path", str(place))
        .option("checkpointLocation", str(tmp_path / "c"))
    )
    written.trigger(availableNow=True).start().awaitTermination()
    (file,) = place.glob("*.parquet")
    (place / "not-committed.parquet").write_bytes(file.read_bytes())
    assert len(read(place, "parquet")) == 1


# ---- the whole script


def exported(tmp_path, text, kind="json", **more):
    put(tmp_path / "orders", f"0.{kind}", text)
    found = wb.Stream.from_files(tmp_path / "orders", name="orders", key="k", time="t", format=kind, **more)
    return scripts.job(wb.preview(wb.IntervalJoin("0 s", "1 s"), found, found), tmp_path)


GOOD = '{"k":"a","t":"2026-01-01T10:00:00Z"}\n'


def ended(file, *words):
    running = scripts.start(file, "--drain", *words)
    return running.wait(240), file.with_name("main.py.err").read_text()


@pytest.mark.family("a script meets files that it cannot read")
@pytest.mark.slow
def test_a_script_that_could_not_read_records_says_so(spark, tmp_path):
    file = exported(tmp_path, GOOD)
    put(tmp_path / "orders", "1.json", GOOD.strip() + GOOD + "no JSON\n")
    code, message = ended(file)
    assert code == 1
    assert "4 records could not be read and were left out" in message  # two on each side
    assert ended(file, "--checkpoint", "c2", "--output", "o2", "--malformed", "drop")[0] == 0


@pytest.mark.family("a script meets files that it cannot read")
@pytest.mark.slow
def test_a_script_that_read_nothing_is_no_success(spark, tmp_path):
    file = exported(tmp_path, GOOD)
    (tmp_path / "empty").mkdir()
    places = ["--left-orders", str(tmp_path / "empty"), "--right-orders", str(tmp_path / "empty")]
    code, message = ended(file, *places)
    assert code == 1
    assert "no row was read" in message


@pytest.mark.family("a script meets files that it cannot read")
@pytest.mark.slow
@pytest.mark.parametrize("fault", ["truncated", "stale checksum"])
def test_a_script_stops_at_a_file_that_cannot_be_read(spark, tmp_path, fault):
    (tmp_path / "orders").mkdir()
    WRITERS["arrow us", "parquet"](framed([("a", 0, 1.0)]), tmp_path / "orders" / "0.parquet")
    found = wb.Stream.from_files(tmp_path / "orders", name="orders", key="k", time="t")
    file = scripts.job(wb.preview(wb.IntervalJoin("0 s", "1 s"), found, found), tmp_path)
    bad = tmp_path / "orders" / "1.parquet"
    whole = (tmp_path / "orders" / "0.parquet").read_bytes()
    bad.write_bytes(whole[: len(whole) // 2] if fault == "truncated" else whole)
    if fault != "truncated":
        (tmp_path / "orders" / ".1.parquet.crc").write_bytes(b"crc\0\0\0\2\0\1\2\3\4")
    code, message = ended(file)
    assert code == 1
    assert "1.parquet" in message


def test_columns_of_json_stay_in_their_order(tmp_path):
    put(
        tmp_path / "in",
        "0.json",
        '{"z":1,"k":"a","t":"2026-01-01T10:00:00Z","b":2}\n{"k":"a","t":"2026-01-01T10:00:00Z","a":3}\n',
    )
    assert read(tmp_path / "in", "json").columns == ["z", "k", "t", "b", "a"]


@pytest.mark.parametrize("argument", [{"max_files": 2}, {"options": {"sep": ";"}}, {"malformed": "drop"}])
def test_arguments_that_say_nothing_of_a_delta_table_are_refused(tmp_path, argument):
    name = next(iter(argument))
    with pytest.raises(wb.ArgumentError, match=rf"^{name}: got .*; leave it out for a Delta table"):
        read(tmp_path, "delta", **argument)


@pytest.mark.parametrize("name", ["__file", "__BLOCK"])
def test_columns_that_the_reading_of_files_adds_are_refused(tmp_path, name):
    put(tmp_path / "in", "0.json", json.dumps({"k": "a", "t": "2026-01-01T10:00:00Z", name: 1}) + "\n")
    with pytest.raises(wb.DataError, match=rf"a column named '{name}', which the workbench uses itself; rename it"):
        read(tmp_path / "in", "json")
