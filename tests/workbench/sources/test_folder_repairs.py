"""Times in files that are written in other ways: Spark reads them as pandas does, in every way that is offered."""

from __future__ import annotations

import pandas as pd
import pytest

import workbench as wb
from workbench.sources import folder_repairs, time_formats
from workbench.sources.files import UnreadableRecordsError
from workbench.sources.findings import of_records

START = pd.Timestamp("2026-11-03 09:05:07.25", tz="UTC")
MOMENTS = pd.Series([START, START + pd.Timedelta("13 days"), START - pd.Timedelta("190 days 21 hours")])
MORE = ["%B %d, %Y %H:%M:%S", "%d %B %Y %H:%M", "%d/%m/%Y %H:%M:%S %z", "%b %d %Y %I:%M %p%z"]
FORMS = [form for form in time_formats.FORMATS if time_formats.in_sparks_words(form)]


def folder(tmp_path, texts):
    pd.DataFrame({"id": range(len(texts)), "at": texts}).to_csv(tmp_path / "0.csv", index=False)
    return str(tmp_path)


def read(path, *repairs):
    return wb.Stream.from_files(path, "orders", "id", "at", format="csv", **folder_repairs.arguments(repairs))


def test_the_ways_that_spark_has_no_pattern_for_are_not_offered():
    left = set(time_formats.FORMATS) - set(FORMS)
    assert left == {"ISO8601", "%a, %d %b %Y %H:%M:%S %z", "%a %b %d %H:%M:%S %Y", "%Y%m%d%H%M%S"}
    assert time_formats.in_sparks_words("%d.%m.%Y T%H") is None
    assert time_formats.in_sparks_words("%d.%m.%Y %Q") is None


@pytest.mark.engine
def test_spark_reads_each_pattern_as_pandas_reads_its_format(tmp_path, spark):
    for number, form in enumerate([*FORMS, *MORE]):
        texts = MOMENTS.dt.strftime(form)
        if form.startswith(("%d", "%m", "%b")) and "." in form[:4]:
            texts = texts.str.replace(r"\b0(\d)", r"\1", n=1, regex=True)  # strptime takes days of one digit, too
        wanted = pd.to_datetime(texts, format=form, utc=True)
        place = tmp_path / str(number)
        place.mkdir()
        stream = read(folder(place, texts), folder_repairs.TimesWritten(time_formats.in_sparks_words(form)))
        found = pd.Series(stream.event_times.astype("datetime64[us]")).dt.tz_localize("UTC")
        assert list(found.sort_values()) == list(wanted.sort_values()), form


@pytest.mark.engine
def test_what_cannot_be_read_offers_what_would_do(tmp_path, spark):
    texts = [*MOMENTS.dt.strftime("%d/%m/%Y %H:%M:%S"), "soon"]
    path = folder(tmp_path, texts)
    with pytest.raises(UnreadableRecordsError) as raised:
        read(path)
    found = of_records("left", raised.value.words, (raised.value.count, raised.value.total), pd.Series(texts), ())
    assert [each.label for each in found.offers] == ["Read times as d/M/yyyy H:mm:ss"]  # 4 of 4 cannot be read so
    chosen = [found.offers[0].repair]
    with pytest.raises(UnreadableRecordsError, match="1 of 4 records") as raised:
        read(path, *chosen)
    found = of_records("left", raised.value.words, (raised.value.count, raised.value.total), pd.Series(texts), chosen)
    assert [each.label for each in found.offers] == ["Leave out 1 record"]
    with pytest.warns(UserWarning, match="1 of 4 records .* left out"):
        assert len(read(path, *chosen, found.offers[0].repair)) == 3


def test_no_repair_is_offered_where_none_would_do():
    found = of_records("right", "2 of 2 records cannot be read", (2, 2), pd.Series(["soon", "later"]), ())
    assert (found.offers, found.words) == ((), "2 of 2 records cannot be read; correct them")
