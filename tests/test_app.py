"""The app, driven through its widgets without a browser."""

from __future__ import annotations

import threading

import pytest

import generators
import workbench as wb
from workbench.app import App, close_all, current
from workbench.app._fields import KINDS


@pytest.fixture
def app():
    opened = App()
    yield opened
    close_all()


def settings(app):
    return app._settings


def test_it_opens_ready_with_a_script(app):
    assert current() is app
    assert not app._go.disabled
    assert app._halt.disabled
    assert "join_streams" in app._results._script.value
    assert app._words.value == "a preview, worked out without Spark"
    assert app.run is None
    assert "matched" in app._figures.value
    assert settings(app).join() == wb.IntervalJoin("0 seconds", "30 seconds", how="left")
    for each in settings(app)._texts.values():
        assert each.tooltip


@pytest.mark.parametrize("scenario", generators.scenarios())
def test_each_scenario_brings_the_join_that_suits_it(app, scenario):
    settings(app)._scenario.value = scenario
    words = generators.scenarios()[scenario]
    join = settings(app).join()
    assert type(join).__name__ in words
    left, _ = settings(app).streams()
    assert left.name in app._results._script.value


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_join_can_be_set(app, kind):
    settings(app)._kind.value = kind
    for how in KINDS[kind].hows:
        settings(app)._how.value = how
        assert settings(app).join().how == how
        assert not app._go.disabled
    name = type(settings(app).join()).__name__
    assert name == {"i": "IntervalJoin", "c": "CoGroup"}.get(kind[0], "WindowJoin")


@pytest.mark.parametrize(
    ("field", "text"), [("lower", "1 minute"), ("upper", "soon"), ("upper", ""), ("left.watermark", "-5 seconds")]
)
def test_a_wrong_field_is_marked_and_run_waits(app, field, text):
    panel = settings(app)
    mark = panel._delays[1] if field == "left.watermark" else panel._marks[field]
    widget = panel._delay["left"] if field == "left.watermark" else panel._texts[field]
    before = widget.value
    widget.value = text
    assert app._go.disabled
    assert mark.value
    assert app._trouble.value
    app.start()
    assert app._thread is None
    widget.value = before
    assert not app._go.disabled
    assert mark.value == app._trouble.value == ""


def test_a_run_fills_every_tab(app, spark):
    settings(app)._numbers["events"].value = 30
    app.start()
    assert app._go.disabled
    app.wait(120)
    assert app._words.value.startswith("run on Spark in")
    assert app._bar.value == app._bar.max > 0
    assert app.run is not None
    assert f"<b>{len(app.run.output):,}</b><span>rows out</span>" in app._figures.value
    (first,) = app._results._chart.children
    assert list(app._results._tables[1].df.columns)[:3] == ["side", "fate", "reason"]
    run, figures = app.run, app._figures.value
    assert wb.preview(run.join, run.left, run.right).rows.equals(run.rows)
    settings(app)._kind.value = "tumbling"
    assert app._words.value.startswith("a preview")
    assert app._figures.value != figures
    app.start()
    app.wait(120)
    assert app._results._chart.children == (first,)  # one widget, its chart swapped
    assert isinstance(app.run.join, wb.WindowJoin)


def test_every_view_is_drawn_when_it_is_chosen(app):
    results = app._results
    titles = set()
    for view in results._view.options:
        results._view.value = view
        if view == "Windows":
            assert "an interval join has no windows" in results._remark.value
        else:
            assert results._remark.value == ""
            titles.add(results._chart.children[0].chart.to_dict()["title"]["text"])
    assert len(titles) == len(results._view.options) - 1
    results._view.value = "Windows"
    settings(app)._kind.value = "sliding"
    assert results._remark.value == ""
    assert "Sliding window join" in results._chart.children[0].chart.to_dict()["title"]["text"]


def test_stop_ends_the_run_and_the_next_one_works(app, spark):
    settings(app)._numbers["events"].value = 500
    app.start()
    app._halt.click()
    app.wait(120)
    assert app._words.value == "stopped"
    assert app.run is None
    assert not app._go.disabled
    assert not spark.streams.active
    settings(app)._numbers["events"].value = 20
    app.start()
    app.wait(120)
    assert app.run is not None


def test_a_failure_is_one_sentence_and_keeps_the_last_run(app, spark, monkeypatch):
    settings(app)._numbers["events"].value = 20
    app.start()
    app.wait(120)
    before = app.run

    def broken(*_):
        raise wb.QueryError("the query failed in Spark: because <b>", "Trace\n\tat x")

    monkeypatch.setattr("workbench.query.start", broken)
    app.start()
    app.wait(120)
    assert app._words.value == "failed"
    assert "because &lt;b&gt;<details>" in app._trouble.value
    assert app.run is before


def test_own_streams(spark):
    orders, payments = generators.generate("orders_payments", events=20, watermark="7 seconds")
    app = App(orders, payments)
    assert settings(app)._delay["left"].value == "7 seconds"
    assert settings(app).streams()[0].table is orders.table
    close_all()


def test_closing_leaves_no_thread(spark):
    app = App()
    app.start()
    close_all()
    assert current() is None
    assert "stream-join-workbench" not in {each.name for each in threading.enumerate()}
    assert not spark.streams.active


def test_the_magic(capsys):
    from IPython.testing.globalipapp import get_ipython, start_ipython

    shell = start_ipython() or get_ipython()
    shell.run_line_magic("load_ext", "workbench")
    shell.run_line_magic("workbench", "")
    assert current() is not None
    shell.user_ns |= dict(zip(("orders", "payments"), generators.generate("orders_payments", events=5), strict=True))
    shell.run_line_magic("workbench", "orders payments")
    assert settings(current())._given[0] is shell.user_ns["orders"]
    with pytest.raises(wb.ArgumentError, match="%workbench: got 'nope'; the notebook's streams are: orders, payments"):
        shell.run_line_magic("workbench", "nope payments")
    with pytest.raises(wb.ArgumentError, match="right: got None"):
        shell.run_line_magic("workbench", "orders")
    capsys.readouterr()
    told = shell.run_cell("%workbench nope payments")
    assert not told.success
    assert capsys.readouterr().out.strip().splitlines() == [
        "ArgumentError: %workbench: got 'nope'; the notebook's streams are: orders, payments"
    ]
    shell.run_line_magic("pinfo", "%workbench")
    assert "Open the stream-join workbench" in capsys.readouterr().out
    shell.run_line_magic("reload_ext", "workbench")
    shell.run_line_magic("unload_ext", "workbench")
    assert current() is None
    assert "workbench" not in shell.magics_manager.magics["line"]
