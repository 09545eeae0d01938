"""A source of streams is registered once: the page has its entry, its fields, the preview and the notebook cell."""

from __future__ import annotations

import ipywidgets as widgets
import pandas as pd
import pytest
from page import Page

import workbench as wb
from workbench.app import close_all, sources

START = pd.Timestamp("2026-01-01 09:00")


def ticks(count, name):
    frame = pd.DataFrame({"k": range(count), "t": pd.date_range(START, periods=count, freq="1s")})
    return wb.Stream.from_pandas(frame, name, "k", "t")


def make(values, variables):
    """Clocks that tick once a second."""
    count, name = values["clock.ticks"], values["clock.name"]
    if name == values["clock.other"]:
        words = "use another name than the left one's"
        raise sources.WrongSettingsError(f"name: {words}", {"clock.other": words})
    text = "{} = wb.Stream.from_pandas(DataFrame({{'k': range({}), 't': times}}), {!r}, 'k', 't')"
    lines = [text.format(side, count, each) for side, each in (("left", name), ("right", values["clock.other"]))]
    times = f"times = date_range({START.isoformat()!r}, periods={count}, freq='1s')"
    code = ("from pandas import DataFrame, date_range", times, *lines)
    return sources.Streams(ticks(count, name), ticks(count, values["clock.other"]), code)


@pytest.fixture
def clocks():
    """A source that the workbench does not have."""
    controls = (
        sources.Control("clock.ticks", "Ticks", "How many rows.", lambda: widgets.IntSlider(7, min=1, max=60)),
        sources.Control("clock.name", "Left clock", "What the left one is called.", lambda: widgets.Text("tick")),
        sources.Control("clock.other", "Right clock", "And the right one.", lambda: widgets.Text("tock")),
    )
    source = sources.PageSource("clocks", "two clocks", "clocks that tick", controls, make)
    sources.register(source)
    yield source
    close_all()
    sources.unregister(source)


def test_a_strangers_source_has_its_entry_its_fields_the_preview_and_the_cell(clocks):
    page = Page()
    page.wait()
    assert "two clocks" in [label for label, _ in page.field("From").options]
    assert page.field("From").tooltip.endswith("or clocks that tick.")
    assert not page.usable("Ticks")
    page.set({"From": "two clocks", "Kind": "Interval join", "Lower bound": "0 s"})
    page.set({"Upper bound": "0 s", "How": "inner"})
    assert page.field("Ticks").tooltip == "How many rows."
    assert not page.usable("Events")
    assert page.field("Watermark / first").description == "tick"
    for count in (7, 12):
        page.set({"Ticks": count})
        assert page.figures["matched"] == 2 * count
        meant = page.meant()
        assert (meant.left.name, meant.right.name, len(meant.output)) == ("tick", "tock", count)
        assert meant.output["left_t"].tolist() == list(pd.date_range(START, periods=count, freq="1s"))
        assert page.tables_match(meant, "lanes")
    assert page.cell().startswith("from pandas import DataFrame, date_range\nimport workbench as wb\n")
    assert not page.usable("Go live")


def test_what_is_wrong_is_said_beside_the_field_of_a_strangers_source(clocks):
    page = Page()
    page.set({"From": "two clocks", "Right clock": "tick"})
    assert page.mark("Right clock") == "use another name than the left one's"
    assert page.stale
    page.set({"Right clock": "tock"})
    assert page.marks() == []
    assert not page.stale


def test_streams_are_made_again_only_where_a_field_of_their_source_changed(clocks, monkeypatch):
    made = []
    monkeypatch.setattr(f"{__name__}.ticks", lambda count, name, ticks=ticks: made.append(name) or ticks(count, name))
    page = Page()
    page.set({"From": "two clocks"})
    assert made == ["tick", "tock"]
    page.set({"Watermark / first": "3 seconds"})
    assert made == ["tick", "tock"]
    page.set({"Left clock": "tack"})
    assert made == ["tick", "tock", "tack", "tock"]


def test_a_source_lays_out_its_fields_looks_for_what_there_is_and_goes_live():
    def arrange(form, notebook):
        again = widgets.Button(description="Count again")
        again.on_click(lambda _: notebook.look_again())
        return [*form.row("clock.name"), again]

    def refresh(form, notebook):
        form.inputs["clock.name"].value = f"{len(notebook.variables)} variables"

    def make(values, variables):
        left, right = (ticks(3, name) for name in (values["clock.name"], "tock"))
        return sources.Streams(left, right, ())

    source = sources.PageSource(
        "live-clocks", "live clocks", "clocks", (sources.Control("clock.name", "Clock", "Its name.", widgets.Text),),
        make, arrange, refresh,
        live=sources.LiveFeed(("clock.name",), lambda values: None, lambda feed, values: None),
    )  # fmt: skip
    sources.register(source)
    try:
        space = {"one": 1}
        page = Page(namespace=space)
        page.set({"From": "live clocks"})
        assert page.value("Clock") == "1 variables"
        assert page.usable("Go live")
        space["two"] = 2
        page.click("Count again")
        assert page.value("Clock") == page.field("Watermark / first").description == "2 variables"
    finally:
        close_all()
        sources.unregister(source)


def test_a_name_that_is_taken_is_refused(clocks):
    with pytest.raises(wb.ArgumentError, match="source: got 'clocks'; one has that name already"):
        sources.register(clocks)
    for taken in ("clock.ticks", "events", "left.variable"):
        one = sources.Control(taken, "", "", widgets.Text)
        with pytest.raises(wb.ArgumentError, match=f"controls: got '{taken}'; another source"):
            sources.register(sources.PageSource("other", "", "", (one,), make))


def test_a_source_that_was_taken_back_is_gone(clocks):
    sources.unregister(clocks)
    page = Page()
    page.wait()
    assert [label for label, _ in page.field("From").options] == [
        "a scenario",
        "this notebook",
        "files",
        "Kafka topics",
        "tables of Spark",
        "a job that runs",
    ]


def test_a_scenario_is_cut_by_a_trigger_interval_in_place_of_a_number():
    page = Page()
    page.set({"Events": 60, "Late": 0.2, "Trigger interval": "2 seconds"})
    made = page.meant()
    assert made.left.arrivals.trigger == pd.Timedelta("2 s")
    assert made.left.batch_count > 10
    assert page.figures["late"] == int(made.rows["fate"].eq("late").sum()) > 0
    assert 'trigger="2 seconds"' in page.cell()
    assert "batches=" not in page.cell()
    page.set({"Trigger interval": "soon"})
    assert "such as" in page.mark("Trigger interval")
    page.set({"Trigger interval": ""})
    assert page.meant().left.batch_count == 10


def test_the_readout_of_a_slider_is_as_short_as_its_number():
    page = Page()
    page.wait()
    shown = [label for label, _ in page.field("Rate").options]
    assert shown[-1] == "1000/s"
    assert not any(".0/" in label for label in shown)
