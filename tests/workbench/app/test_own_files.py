"""Own files: repaired as DataFrames are, a folder or one of them, or uploaded; the cell reads what the page reads."""

from __future__ import annotations

import ast
import datetime
import gzip

import numpy as np
import pandas as pd
import pytest
from page import Page

import generators
import workbench as wb

ORDERS, PAYMENTS = (
    each.to_pandas().drop(columns="batch").assign(order_id=lambda rows: range(len(rows)))
    for each in generators.generate("orders_payments", events=40, seed=3)
)
MOMENTS = ORDERS["ordered_at"].astype("datetime64[s]")
SECONDS = MOMENTS.astype("int64")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def folder(here, name, frame, files=2):
    """A folder of CSV files, each a micro-batch."""
    (here / name).mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), files)):
        frame.iloc[rows].to_csv(here / name / f"{number}.csv", index=False)


def opened(left="o", right="p"):
    page = Page()
    page.set({"From": "files", "Left files": left, "Right files": right})
    return page


def same_rows(page):
    """The streams of the cell, which are those that the page shows."""
    made = page.meant()
    assert page.tables_match(made, "lanes")
    return made


def utc(times):
    return list(times.astype("datetime64[us]").astype("int64"))


FORMS = {
    "seconds": (SECONDS, "Read as s since 1970"),
    "milliseconds": (SECONDS * 1000, "Read as ms since 1970"),
    "microseconds": (SECONDS * 10**6, "Read as us since 1970"),
    "a month's name": (MOMENTS.dt.strftime("%b %d %Y %H:%M:%S"), "Read times as MMM d yyyy H:mm:ss"),
    "an offset": (
        (MOMENTS + pd.Timedelta("1 h")).dt.strftime("%d/%m/%Y %H:%M:%S +0100"),
        "Read times as d/M/yyyy H:mm:ss [XXX][XX]",
    ),
    "a weekday": (MOMENTS.dt.strftime("%a, %d %b %Y %H:%M:%S +0000"), "Parse as in Sat, 31 Jan 2026 09:05:07 +0000"),
}


def test_times_of_files_are_read_however_they_are_written(here, spark):
    folder(here, "p", PAYMENTS)
    for place, (written, _) in enumerate(FORMS.values()):
        folder(here, f"o{place}", ORDERS.assign(ordered_at=written))
    page = opened("o0")
    for place, (_, label) in enumerate(FORMS.values()):
        page.set({"Left files": f"o{place}", "Left files / Key": "order_id", "Left files / Event time": "ordered_at"})
        assert page.mark("Left files / Event time"), label
        page.click(label)
        assert page.marks() == [], label
        made = same_rows(page)
        assert utc(pd.Series(made.left.event_times.astype("datetime64[us]"))) == utc(MOMENTS), label
        assert made.left.batch_count == 2  # each file is one


def _numbered(frame, form):
    return [form.format(1 + number) for number in range(len(frame))]


def test_a_repair_of_files_is_code_and_is_taken_back(here, spark):
    folder(here, "o", ORDERS.assign(ordered_at=SECONDS, order_id=_numbered(ORDERS, "{:05}x")))
    folder(here, "p", PAYMENTS.assign(order_id=_numbered(PAYMENTS, "{}X")))
    page = opened()
    page.click("Read as s since 1970")
    assert page.warnings()
    first = next(each for each in page.buttons() if each.startswith("Write"))
    assert first.startswith("Write order_id without leading zeros, order_id of p in lower case: ")
    page.click(first)
    assert page.warnings() == []
    made = same_rows(page)
    assert list(made.left.to_pandas()["order_id"]) == _numbered(ORDERS, "{}x")
    cell = page.cell()
    assert 'wb.frames.from_files("o", "csv", time="ordered_at", batch="batch")' in cell
    assert 'pd.to_datetime(left_rows["ordered_at"],unit="s"' in "".join(cell.split())
    page.click("Take back: ordered_at is read as seconds since 1970, UTC.")
    assert page.mark("Left files / Event time")


def separated(here, name, frame, by, files=2):
    """The same folder, its columns separated by something else."""
    (here / name).mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), files)):
        frame.iloc[rows].to_csv(here / name / f"{number}.csv", index=False, sep=by)


def test_columns_that_no_comma_separates_are_separated_on_demand(here, spark):
    separated(here, "o", ORDERS, ";")
    separated(here, "p", PAYMENTS, "\t")
    page = opened()
    assert "o has one column" in page.mark("Left files / Key")
    page.click("Separate columns by semicolons")
    page.click("Separate columns by tabs")
    page.set({"Left files / Key": "order_id", "Left files / Event time": "ordered_at"})
    page.set({"Right files / Key": "order_id", "Right files / Event time": "paid_at"})
    assert page.marks() == []
    made = same_rows(page)
    assert list(made.left.columns) == list(ORDERS.columns)
    assert (len(made.left), len(made.right)) == (len(ORDERS), len(PAYMENTS))
    assert 'options={"sep": ";"}' in page.cell()
    assert 'option("sep", ";")' in made.script
    page.click("Take back: columns are separated by semicolons.")
    assert page.mark("Left files / Key")


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_times_of_files_without_a_zone_are_of_the_zone_that_is_chosen(here, spark, kind):
    zoned = PAYMENTS.assign(paid_at=PAYMENTS["paid_at"].dt.strftime("%Y-%m-%dT%H:%M:%S+02:00"))
    plain = ORDERS.assign(ordered_at=MOMENTS.dt.strftime("%Y-%m-%dT%H:%M:%S"))
    for name, frame in (("o", plain), ("p", zoned)):
        (here / name).mkdir()
        if kind == "csv":
            frame.to_csv(here / name / "0.csv", index=False)
        else:
            frame.to_json(here / name / "0.json", orient="records", lines=True)
    page = opened()
    page.set({"Left files / Key": "order_id", "Left files / Event time": "ordered_at"})
    page.set({"Right files / Key": "order_id", "Right files / Event time": "paid_at"})
    assert "p has a time zone and o none: it is taken as UTC" in page.notes()
    page.click("Treat o as +02:00")
    assert not any("time zone" in each for each in page.notes())
    made = same_rows(page)
    assert utc(pd.Series(made.left.event_times.astype("datetime64[us]"))) == utc(MOMENTS - pd.Timedelta("2 h"))
    assert 'options={"timeZone": "+02:00"}' in page.cell()


def test_a_single_file_is_separated_on_demand(here):
    ORDERS.to_csv(here / "o.csv", index=False, sep=";")
    PAYMENTS.to_csv(here / "p.csv", index=False)
    page = opened("o.csv", "p.csv")
    page.click("Separate columns by semicolons")
    page.set({"Left files / Key": "order_id", "Left files / Event time": "ordered_at"})
    for label in (each for each in page.buttons() if each.startswith("Parse as")):
        page.click(label)
    assert 'sep=";"' in page.cell()
    assert list(same_rows(page).left.columns)[: len(ORDERS.columns)] == list(ORDERS.columns)


def test_rows_of_files_without_a_time_and_exact_duplicates_are_left_out_on_demand(here, spark):
    missing = pd.concat([ORDERS.assign(ordered_at=ORDERS["ordered_at"].where(ORDERS.index > 1)), ORDERS.tail(1)])
    folder(here, "o", missing.assign(batch="b"))  # a column of that name is an ordinary one
    folder(here, "p", PAYMENTS)
    page = opened()
    page.click("Leave out 2 rows")
    words = f"1 of {len(missing) - 2} rows of o is an exact duplicate of a row before it"
    assert words in page.notes()
    assert len(same_rows(page).left) == len(missing) - 2
    page.click("Leave out 1 duplicate")
    made = same_rows(page)
    assert len(made.left) == len(ORDERS) - 2
    assert "batch" in made.left.columns and 'batch="file"' in page.cell()


def test_a_row_that_is_in_two_files_is_a_duplicate(here, spark):
    folder(here, "o", pd.concat([ORDERS, ORDERS.head(2)]))
    folder(here, "p", PAYMENTS)
    page = opened()
    page.click("Leave out 2 duplicates")
    assert not [each for each in page.buttons() if "duplicate" in each]
    made = same_rows(page)
    assert (len(made.left), made.left.batch_count) == (len(ORDERS), 2)
    assert "batch" not in made.left.columns


def test_files_with_a_zone_offer_it_to_those_without(here, spark):
    for name, frame, zone in (("o", ORDERS, "Europe/Berlin"), ("p", PAYMENTS, None)):
        (here / name).mkdir()
        time = "ordered_at" if name == "o" else "paid_at"
        times = frame[time] + pd.Timedelta("1 h")
        times = times if zone is None else times.dt.tz_localize(zone)
        frame.assign(**{time: times}).to_parquet(here / name / "0.parquet")
    page = opened()
    page.click("Treat p as Europe/Berlin")
    made = same_rows(page)
    assert utc(pd.Series(made.right.event_times.astype("datetime64[us]"))) == utc(PAYMENTS["paid_at"])


CONTENT = {
    "csv": lambda frame: frame.to_csv(index=False).encode(),
    "jsonl": lambda frame: frame.to_json(orient="records", lines=True, date_format="iso").encode(),
    "parquet": lambda frame: frame.to_parquet(),
    "csv.gz": lambda frame: gzip.compress(frame.to_csv(index=False).encode()),
}


def uploaded(name, content):
    moment = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    found = {"name": name, "type": "", "size": len(content), "content": memoryview(content), "last_modified": moment}
    return (found,)


def parsed(page):
    """Repair the times of both sides where they are text."""
    for _ in range(2):
        if "Parse as ISO 8601" in page.buttons():
            page.click("Parse as ISO 8601")


@pytest.mark.parametrize("ending", CONTENT)
def test_a_single_file_is_a_table(here, ending):
    for name, frame in (("orders", ORDERS), ("payments", PAYMENTS)):
        (here / f"{name}.{ending}").write_bytes(CONTENT[ending](frame))
    page = opened(f"orders.{ending}", f"payments.{ending}")
    parsed(page)
    assert page.marks() == []
    page.set({"Micro-batches": 4})
    made = same_rows(page)
    assert (made.left.name, len(made.left), made.left.batch_count) == ("orders", len(ORDERS), 4)
    assert utc(pd.Series(made.left.event_times.astype("datetime64[us]"))) == utc(
        ORDERS["ordered_at"].dt.floor("ms")
    ) or (utc(pd.Series(made.left.event_times.astype("datetime64[us]"))) == utc(ORDERS["ordered_at"]))


def test_whole_numbers_of_a_single_file_stay_whole_where_some_are_missing(here):
    large = 2**60 + 1
    (here / "o.csv").write_text(f"order_id,at,note\n{large},2026-01-01 10:00:00,NA\n,2026-01-01 10:00:01,\n")
    (here / "p.jsonl").write_text(
        f'{{"order_id": {large}, "at": "2026-01-01 10:00:00"}}\n{{"order_id": null, "at": "2026-01-01 10:00:01"}}\n'
    )
    page = opened("o.csv", "p.jsonl")
    page.set({"Left files / Key": "order_id", "Right files / Key": "order_id"})
    page.set({"Left files / Event time": "at", "Right files / Event time": "at"})
    parsed(page)
    made = same_rows(page)
    assert [each.table.column("order_id").to_pylist() for each in (made.left, made.right)] == [[large, None]] * 2
    assert made.left.table.column("note").to_pylist() == ["NA", None]


def test_an_upload_is_read_and_the_cell_says_where_to_save_it(here):
    page = Page()
    page.set({"From": "files"})
    assert page.marks() == ["Left files", "Right files"]
    page.set({"Left files / Upload": uploaded("my orders.csv", CONTENT["csv"](ORDERS))})
    page.set({"Right files / Upload": uploaded("payments.parquet", CONTENT["parquet"](PAYMENTS))})
    parsed(page)
    assert page.marks() == []
    note = "my orders.csv is in the page's memory only; the cell reads a file of that name: save it beside the notebook"
    assert note in page.notes()
    cell = page.cell()
    assert "# my orders.csv was uploaded to the page: save it beside this notebook" in cell
    assert 'pd.read_csv("my orders.csv"' in "".join(cell.split("\n")).replace("(    ", "(")
    assert list(here.iterdir()) == []  # the page writes nothing
    (here / "my orders.csv").write_bytes(CONTENT["csv"](ORDERS))
    (here / "payments.parquet").write_bytes(CONTENT["parquet"](PAYMENTS))
    made = same_rows(page)
    assert (made.left.name, len(made.left), len(made.right)) == ("my orders", len(ORDERS), len(PAYMENTS))


def test_an_upload_takes_the_place_of_a_path_and_is_taken_back(here):
    (here / "orders.csv").write_bytes(CONTENT["csv"](ORDERS.head(5)))
    (here / "payments.csv").write_bytes(CONTENT["csv"](PAYMENTS))
    page = opened("orders.csv", "payments.csv")
    parsed(page)
    assert len(same_rows(page).left) == 5
    page.set({"Left files / Upload": uploaded("orders.csv", CONTENT["csv"](ORDERS))})
    assert page.value("Left files") == ""
    assert page.field("Left files").placeholder == "orders.csv, uploaded"
    parsed(page)
    assert page.band["sides"][0]["rows"] == len(ORDERS)
    page.set({"Left files": "orders.csv"})
    assert page.value("Left files / Upload") == ()
    assert page.field("Left files").placeholder == "choose or type"
    parsed(page)
    assert len(same_rows(page).left) == 5


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("orders.xlsx", b"PK", "give a file that ends in .parquet"),
        ("orders", b"a,b", "give a file that ends in .parquet"),
        ("orders.parquet", b"a,b", "cannot be read as parquet"),
        ("orders.csv", b"", "cannot be read as csv"),
        ("orders.csv", b"\xff\xfe\x00", "cannot be read as csv"),
        ("orders.csv.gz", b"a,b", "cannot be read as csv"),
        ("orders.jsonl", b"{]", "cannot be read as json"),
    ],
)
def test_what_cannot_be_read_of_an_upload_is_one_sentence(here, name, content, words):
    page = Page()
    page.set({"From": "files", "Left files / Upload": uploaded(name, content)})
    said = page.mark("Left files / Upload")
    assert words in said
    assert "\n" not in said and said.count(";") >= 1


def test_a_name_that_is_code_or_html_stays_a_name(here):
    name = "<b>x'\"\n__import__('os')#.csv"
    page = Page()
    page.set({"From": "files", "Left files / Upload": uploaded(name, CONTENT["csv"](ORDERS))})
    page.set({"Right files / Upload": uploaded("../p.csv", CONTENT["csv"](PAYMENTS))})
    parsed(page)
    assert page.marks() == []
    called = {ast.unparse(each.func) for each in ast.walk(ast.parse(page.cell())) if isinstance(each, ast.Call)}
    assert not [each for each in called if "__import__" in each]
    assert 'pd.read_csv("p.csv"' in "".join(page.cell().split("\n")).replace("(    ", "(")


def test_rows_of_a_folder_as_a_frame(here, spark):
    folder(here, "o", ORDERS)
    rows = wb.frames.from_files("o", "csv", batch="part")
    assert list(rows["part"].value_counts().sort_index()) == [20, 20]
    assert list(rows["order_id"]) == list(ORDERS["order_id"])
    with pytest.raises(wb.ArgumentError, match="batch: got 'order_id'; the files have a column of that name"):
        wb.frames.from_files("o", "csv", batch="order_id")
    assert list(wb.frames.from_files("o", "csv").columns) == list(ORDERS.columns)
    stream = wb.frames.stream(rows, "o", "order_id", "ordered_at", batch="part")
    assert stream.batch_count == 2


def test_files_that_are_dropped_on_the_page_are_its_streams(here):
    page = Page()
    page.drop(("orders.csv", CONTENT["csv"](ORDERS)), ("payments.csv", CONTENT["csv"](PAYMENTS)))
    assert page.value("From") == "files"
    parsed(page)
    assert [each["rows"] for each in page.band["sides"]] == [len(ORDERS), len(PAYMENTS)]
    page.drop(("few.csv", CONTENT["csv"](PAYMENTS.head(7))), place=1)
    parsed(page)
    assert [each["rows"] for each in page.band["sides"]] == [len(ORDERS), 7]
    page.click("Undo the last change of a setting")
    assert [each["rows"] for each in page.band["sides"]] == [len(ORDERS), len(PAYMENTS)]


def test_one_file_after_the_other_is_dropped_for_the_side_that_has_none(here):
    page = Page()
    page.drop(("orders.csv", CONTENT["csv"](ORDERS)))
    assert page.marks() == ["Right files"]
    page.drop(("payments.csv", CONTENT["csv"](PAYMENTS)))
    parsed(page)
    assert [each["rows"] for each in page.band["sides"]] == [len(ORDERS), len(PAYMENTS)]


@pytest.mark.parametrize(
    ("files", "size", "words"),
    [
        ([("a.csv", b"")] * 3, 0, "files: got '3 files'; drop one for a side"),
        ([("a.csv", None)], 12_000_000, "files: 'a.csv' has 12 MB, and JupyterLab takes 10 at once; put it beside"),
        ([("a", None)], 4096, "files: 'a' is no file; put it beside the notebook"),
        ([("a.xlsx", b"PK")], 0, "files: got 'a.xlsx'; give a file that ends in"),
    ],
)
def test_what_is_dropped_and_cannot_be_taken_is_one_sentence(page, files, size, words):
    page.drop(*files, size=size)
    assert any(each.startswith(words) for each in page.notes())
    assert page.value("From") == "a scenario"
