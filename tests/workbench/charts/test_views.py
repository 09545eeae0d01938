"""A chart of a run or a tuning is registered once: `Run.charts` or `Tuning.charts`, and the page, have it."""

from __future__ import annotations

import inspect

import altair as alt
import pandas as pd
import pytest
from page import Page

import generators
import workbench as wb
from workbench import charts
from workbench.app import close_all

JOIN = wb.IntervalJoin("0 seconds", "15 seconds", how="left")


def draw(scene):
    """How many rows each fate has."""
    fates = pd.concat([scene.simulation.fates[side]["fate"] for side in ("left", "right")]).value_counts()
    layout = alt.Chart(alt.NamedData("fates")).mark_bar().encode(x="rows:Q", y="fate:N")
    return charts.Drawing(layout, {"fates": fates.rename("rows").rename_axis("fate").reset_index()}, "Fates", "")


@pytest.fixture
def fates():
    """A view that the workbench does not have."""
    view = charts.View(
        "fates", "Fates", "Rows by fate.", "How many rows each fate has.", draw, of_rows=False, of_moment=False,
        listed="fate == 'matched'",
    )  # fmt: skip
    charts.register(view)
    yield view
    charts.unregister(view)
    close_all()


def test_a_strangers_view_is_a_method_and_a_tab(fates):
    run = wb.preview(JOIN, *generators.generate("orders_payments", events=20, seed=3))
    assert run.charts.fates.__doc__ == "How many rows each fate has."
    (drawn,) = run.charts.fates().to_dict()["datasets"].values()
    assert {row["fate"]: row["rows"] for row in drawn} == run.rows["fate"].value_counts().to_dict()
    page = Page()
    page.wait()
    page.open("Fates")
    assert page.drawn["title"] == "Fates"
    assert set(page.table.df["fate"]) == {"matched"}


def test_a_view_that_was_taken_back_is_gone(fates):
    charts.unregister(fates)
    run = wb.preview(JOIN, *generators.generate("orders_payments", events=20, seed=3))
    assert not hasattr(run.charts, "fates")
    with pytest.raises(wb.ArgumentError, match="view: got 'fates'"):
        run.charts.drawing("fates")


@pytest.mark.parametrize("name", ["timeline", "drawing", "of_key"])
def test_a_name_that_is_taken_is_refused(name):
    with pytest.raises(wb.ArgumentError, match=f"view: got '{name}'"):
        charts.register(charts.View(name, "", "", "", draw))


def draw_settings(scene, best=1):
    """What the best settings of a tuning keep."""
    kept = scene.table.nlargest(best, "kept")[["kept", *scene.settings]]
    layout = alt.Chart(alt.NamedData("settings")).mark_bar().encode(x="kept:Q")
    return charts.Drawing(layout, {"settings": kept}, "The best settings", f"of {len(scene.table)}")


@pytest.fixture
def best():
    """A chart of a tuning that the workbench does not have."""
    view = charts.TuningView("kept_best", "The best", "Those that keep most.", "What the best keep.", draw_settings)
    charts.register(view)
    yield view
    charts.unregister(view)
    close_all()


def test_a_strangers_chart_of_a_tuning_is_a_method_and_a_button(best):
    tuning = wb.tune(JOIN, *generators.generate("orders_payments", events=20, seed=3))
    assert tuning.charts.kept_best.__doc__ == "What the best keep."
    assert list(inspect.signature(tuning.charts.kept_best).parameters) == ["best"]
    for asked, count in (({}, 1), ({"best": 3}, 3)):
        (drawn,) = tuning.charts.kept_best(**asked).to_dict()["datasets"].values()
        assert [row["kept"] for row in drawn] == tuning.table["kept"].nlargest(count).round(6).tolist()
    assert len(tuning.charts.kept_best(2).to_dict()["datasets"]["settings"]) == 2
    with pytest.raises(TypeError, match="unexpected keyword argument 'worst'"):
        tuning.charts.kept_best(worst=3)
    page = Page()
    page.wait()
    page.open("Tune")
    buttons = page.choice("The best")
    assert dict(zip(buttons.options, buttons.tooltips, strict=True))["The best"] == "Those that keep most."
    page.open("The best")
    assert page.drawn["title"] == "The best settings"
    assert len(page.drawn["tables"]["settings"]["kept"]) == 1


def test_a_chart_of_a_tuning_that_was_taken_back_is_gone(best):
    charts.unregister(best)
    tuning = wb.tune(JOIN, *generators.generate("orders_payments", events=20, seed=3))
    assert not hasattr(tuning.charts, "kept_best")
    with pytest.raises(wb.ArgumentError, match="view: got 'kept_best'"):
        tuning.charts.drawing("kept_best")


@pytest.mark.parametrize("name", ["pareto", "drawing", "labelled"])
def test_a_name_that_a_chart_of_a_tuning_has_is_refused(name):
    with pytest.raises(wb.ArgumentError, match=f"view: got '{name}'; TuningCharts has that name"):
        charts.register(charts.TuningView(name, "", "", "", draw_settings))


def test_what_is_no_view_is_refused():
    with pytest.raises(wb.ArgumentError, match="view: got 'str'; give a View or a TuningView"):
        charts.register("pareto")
