"""The app, driven through its widgets without a browser."""

from __future__ import annotations

import threading
import time

import pandas as pd
import pytest

import generators
import workbench as wb
from workbench.app import App, close_all, current
from workbench.app._fields import KINDS
from workbench.app._results import VIEWS
from workbench.app._worker import Latest


@pytest.fixture
def app():
    opened = App()
    opened.wait()
    yield opened
    close_all()


def put(app, **values):
    """Change settings, as a user does, and wait until the page shows what they do."""
    app._settings.form.set({name.replace("__", "."): value for name, value in values.items()})
    app.wait()


def view(app, name):
    app._results.view.value = name
    app.wait()


def asked(app):
    return app._settings.asked()


def badge(app):
    return app._words.value.split(">", 1)[1].split("<")[0]


def run(app):
    app.start()
    app.wait(120)


def test_it_opens_ready_with_a_preview(app):
    assert current() is app
    assert not app._go.disabled
    assert app._halt.disabled
    assert badge(app) == "a preview, worked out without Spark"
    assert app.run is None
    assert "<span>matched</span>" in app._figures.value
    assert asked(app).join == wb.IntervalJoin("0 seconds", "30 seconds", how="left")
    assert app._results.chart.shown.title == "Interval join on event time"
    for each in app._settings.form.inputs.values():
        assert each.tooltip


@pytest.mark.parametrize("scenario", generators.scenarios())
def test_each_scenario_brings_the_join_that_suits_it(app, scenario):
    put(app, scenario=scenario)
    join = asked(app).join
    assert type(join).__name__ in generators.scenarios()[scenario]
    view(app, "Script")
    assert asked(app).left.name in app._results.code.text


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_join_can_be_set(app, kind):
    put(app, kind=kind)
    form = app._settings.form
    for how in KINDS[kind].hows:
        put(app, how=how)
        assert asked(app).join.how == how
        assert not app._go.disabled
    name = type(asked(app).join).__name__
    assert name == {"i": "IntervalJoin", "c": "CoGroup"}.get(kind[0], "WindowJoin")
    shown = {
        field
        for field in ("size", "slide", "offset", "gap", "lower", "upper")
        if form.inputs[field].layout.display != "none"
    }
    assert shown == {field.argument for field in KINDS[kind].fields}
    assert form.inputs["how"].disabled == (not KINDS[kind].hows)
    assert ("it has no how" in form.marked("how")) == (not KINDS[kind].hows)


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("lower", "1 minute"),
        ("upper", "soon"),
        ("upper", ""),
        ("left.watermark", "-5 seconds"),
        ("keys", "many"),
        ("keys", "0"),
        ("unmatched", "7"),
    ],
)
def test_a_wrong_field_is_marked_and_run_waits(app, field, text):
    form = app._settings.form
    before = form.value(field)
    form.set({field: text})
    app.wait()
    assert app._go.disabled
    assert form.marked(field)
    assert app._trouble.value
    app.start()
    assert app._thread is None
    form.set({field: before})
    app.wait()
    assert not app._go.disabled
    assert form.marked(field) == app._trouble.value == ""


def test_a_run_fills_every_view(app, spark):
    put(app, events=30)
    app.start()
    assert app._go.disabled
    assert app._settings.form.inputs["upper"].disabled
    app.wait(120)
    assert badge(app).startswith("run 1, on Spark in")
    assert app._bar.value == app._bar.max > 0
    assert f"<b>{len(app.run.output):,}</b><span>rows out</span>" in app._figures.value
    view(app, "Output")
    assert list(app._results.table.df.columns) == list(app.run.output.columns)
    view(app, "Unmatched")
    assert list(app._results.table.df.columns)[:4] == ["side", "batch", "fate", "reason"]
    first, figures = app.run, app._figures.value
    assert wb.preview(first.join, first.left, first.right).rows.equals(first.rows)
    put(app, kind="tumbling")
    assert badge(app).startswith("a preview")
    assert app._figures.value != figures
    assert '<i class="sjw-' in app._figures.value
    assert app._since.value.startswith("since run 1: join Interval join → Tumbling window join")
    view(app, "Output")
    assert "preview" in app._results._note.value
    run(app)
    assert isinstance(app.run.join, wb.WindowJoin)


def test_every_view_is_drawn_when_it_is_chosen(app):
    titles = set()
    results = app._results
    for each in VIEWS:
        view(app, each.name)
        if each.name in ("Windows", "Live"):
            assert results.remark.value
        else:
            assert results.remark.value == ""
            if each.chart:
                titles.add(results.chart.shown.title)
    assert len(titles) == 7
    view(app, "Windows")
    put(app, kind="sliding")
    assert results.remark.value == ""
    assert "Sliding window join" in results.chart.shown.title


def test_moving_a_slider_sends_no_new_layout(app):
    put(app, upper="20 seconds")
    sent, spec = app._results.chart.sent, app._results.chart.spec
    put(app, upper="25 seconds", disorder=0.3)
    assert app._results.chart.sent == sent + 1
    assert app._results.chart.spec is spec


def test_undo_and_redo(app):
    assert app._undo.disabled
    assert app._redo.disabled
    put(app, upper="20 seconds")
    put(app, kind="sliding", size="8 seconds")
    put(app, left__watermark="3 seconds")
    for join, delay in (
        (wb.WindowJoin(wb.Sliding("8 s", "5 s"), how="left"), "10 seconds"),
        (wb.IntervalJoin("0 s", "20 s", how="left"), "10 seconds"),
        (wb.IntervalJoin("0 s", "30 s", how="left"), "10 seconds"),
    ):
        app._undo.click()
        app.wait()
        assert asked(app).join == join
        assert app._settings.form.value("left.watermark") == delay
    assert app._undo.disabled
    for _ in range(3):
        app._redo.click()
        app.wait()
    assert app._redo.disabled
    assert app._settings.form.value("left.watermark") == "3 seconds"
    app._undo.click()
    app.wait()
    put(app, upper="40 seconds")
    assert app._redo.disabled


def test_of_waiting_jobs_the_last_is_done_and_those_that_must_be():
    begun, go, done = threading.Event(), threading.Event(), []
    failures = []
    worker = Latest(failures.append)
    worker.submit(lambda: (begun.set(), go.wait(10), done.append("first")))
    assert begun.wait(10)
    for name in ("dropped", "dropped too", "last"):
        worker.submit(lambda name=name: done.append(name))
    worker.insist(lambda: done.append("kept"))
    worker.insist(lambda: 1 / 0)
    go.set()
    assert worker.settle()
    assert done == ["first", "kept", "last"]
    assert [type(each) for each in failures] == [ZeroDivisionError]
    worker.close()
    worker.submit(lambda: done.append("after"))
    assert worker.settle()
    assert "after" not in done


def test_quick_moves_of_one_slider_are_one_step(app, monkeypatch):
    monkeypatch.setattr("workbench.app._history._TOGETHER", 60)
    put(app, how="inner")
    for late in (0.1, 0.2, 0.3):
        put(app, late=late)
    app._undo.click()
    app.wait()
    assert app._settings.form.value("late") == 0.03
    assert app._settings.form.value("how") == "inner"


def test_a_wrong_value_is_no_step_of_undo(app, monkeypatch):
    monkeypatch.setattr("workbench.app._history._TOGETHER", 0)
    put(app, upper="20 seconds")
    put(app, upper="soon")
    put(app, upper="25 seconds")
    app._undo.click()
    app.wait()
    assert app._settings.form.value("upper") == "20 seconds"


def test_what_is_picked_is_picked_everywhere(app, spark):
    put(app, events=40)
    run(app)
    results = app._results
    results.chart.clicked = {"row_id": "left-3", "window": None, "click": 1}
    app.wait()
    assert results.picked == ["left-3"]
    assert results.chart.params["picked"] == ["left-3"]
    assert app.run.why(3).text.splitlines()[0] in results.story.value
    unmatched = app.run.fates["left"].index[app.run.fates["left"]["fate"] == "unmatched"]
    view(app, "Unmatched")
    place = next(place for place, ids in enumerate(results._ids) if ids == [f"left-{unmatched[1]}"])
    results.table.selected_rows = [place]
    app.wait()
    assert results.picked == [f"left-{unmatched[1]}"]
    view(app, "Timeline")
    assert results.chart.params["picked"] == [f"left-{unmatched[1]}"]
    view(app, "Unmatched")
    assert results.table.selected_rows == [place]
    view(app, "Output")
    (out,) = results.table.selected_rows
    assert app.run.output["left_user_id"].iloc[out] == app.run.rows["user_id"].iloc[unmatched[1]]
    results.chart.clicked = {"row_id": None, "window": None, "click": 2}
    app.wait()
    assert results.picked == results.table.selected_rows == []


def test_a_picked_window_picks_its_rows(app):
    put(app, kind="tumbling", size="20 seconds")
    view(app, "Windows")
    rows = app._results.chart.shown.tables["rows"]
    app._results.chart.clicked = {"row_id": None, "window": 1, "click": 1}
    app.wait()
    assert sorted(app._results.picked) == sorted(rows.loc[rows["window"] == 1, "row_id"])
    assert "are picked" in app._results.story.value


def test_the_fix_of_a_picked_row_is_applied_by_a_click(app):
    rows = app._results.run.rows
    row = rows.index[(rows["fix_setting"] == "upper")][0]
    app._results.pick([f"left-{row}"])
    app.wait()
    app._results._fix.click()
    app.wait()
    again = app._results.run
    assert again.join.upper == wb.IntervalJoin("0 s", rows["fix_value"][row]).upper
    assert again.rows["fate"][row] == "matched"


def test_a_point_of_the_tuning_sets_the_page_to_it(app):
    put(app, scenario="orders_payments", events=100, late=0.2)
    view(app, "Tune")
    results = app._results
    assert results.chart.shown.title == "What is kept, and what it costs"
    assert "To keep 99.9 %" in results.tune.words.value
    tuning = wb.tune(results.run.join, results.run.left, results.run.right)
    points = results.chart.shown.tables["settings"]
    assert points["kept"].tolist() == tuning.table["kept"].tolist()
    place = int(points["kept"].argmax())
    results.chart.clicked = {"row_id": None, "window": None, "place": place, "click": 1}
    app.wait()
    assert app._settings.form.value("left.watermark") == tuning.table["left.watermark"][place]
    assert app._settings.form.value("right.watermark") == tuning.table["right.watermark"][place]
    assert results.tune._tuning.table["now"].sum() == 1
    assert (
        results.tune._tuning.table.loc[results.tune._tuning.table["now"], "kept"].iloc[0] == tuning.table["kept"][place]
    )
    for name in results.tune._views.options:
        results.tune._views.value = name
        app.wait()
        assert results.chart.shown is not None
    app._undo.click()
    app.wait()
    assert app._settings.form.value("left.watermark") == "10 seconds"


def test_advice_is_taken_by_a_click(app):
    put(app, scenario="orders_payments", kind="sliding", size="2 minutes", slide="5 seconds")
    view(app, "Tune")
    words = {line.children[0].value: line for line in app._results.tune.advice.children}
    (line,) = [line for text, line in words.items() if "each row is in 24 windows" in text]
    line.children[1].click()
    app.wait()
    assert asked(app).join.window == wb.Sliding("2 minutes", "30 seconds")
    assert not any("each row is in" in line.children[0].value for line in app._results.tune.advice.children)


def test_the_scrubber_steps_through_the_run(app):
    scrubber, chart = app._results.scrubber, app._results.chart
    assert scrubber.batch is None
    assert scrubber.play.value == scrubber.slider.value == scrubber.play.max
    count = len(app._results.run.outcome.marks)
    sent = chart.sent
    scrubber.step(-count)
    for batch in range(count):
        app.wait()
        assert chart.params["moment"] == scrubber.batch == batch
        assert scrubber.words.value == str(app._results.run.at(batch))
        scrubber.step(1)
    app.wait()
    assert scrubber.batch is None
    assert chart.params["moment"] == 10**9
    assert chart.sent == sent
    view(app, "Unmatched")
    everything = len(app._results.table.df)
    scrubber.step(-count)
    app.wait()
    assert len(app._results.table.df) < everything
    put(app, batches=3)
    assert scrubber.batch == 0
    assert scrubber.slider.max == len(app._results.run.outcome.marks)


def test_past_runs_are_kept_gone_back_to_and_compared(app, spark):
    put(app, events=40)
    run(app)
    put(app, upper="3 seconds", left__watermark="0 seconds")
    run(app)
    panel = app._runs
    assert [past.number for past in panel.past] == [1, 2]
    assert "<th>run 2</th><th>run 1</th>" in panel.words.value
    assert '<tr class="sjw-differs"><th>upper</th><td>3 seconds</td><td>30 seconds</td></tr>' in panel.words.value
    one, other = panel.past[1].run, panel.past[0].run
    moved = one.against(other)
    assert len(moved) == (one.rows["fate"] != other.rows["fate"]).sum() > 0
    assert panel.note.value.startswith(f"{len(moved)} rows have another fate in run 2 than in run 1")
    assert list(panel.table.df["other_fate"]) == list(moved["other_fate"])
    panel.one.value = 1
    panel.go.click()
    app.wait()
    assert badge(app).startswith("run 1, on Spark")
    assert asked(app).join == wb.IntervalJoin("0 s", "30 s", how="left")
    assert app._results.run is panel.past[0].run
    put(app, events=50)
    run(app)
    panel.one.value, panel.other.value = 3, 1
    app.wait()
    assert "compare runs of the same streams" in panel.note.value


def test_show_code_does_what_the_page_does(app):
    put(
        app,
        scenario="orders_payments",
        events=60,
        idle="right",
        keys="20",
        unmatched="0.3",
        kind="sliding",
        how="full",
        size="8 seconds",
        slide="3 seconds",
        policy="max",
        finish=False,
        left__watermark="4 seconds",
    )
    view(app, "Script")
    app._results._text.value = "Notebook cell"
    app.wait()
    text = app._results.code.text
    space = {}
    exec(text.replace("wb.run(", "wb.preview(").replace("run.charts.timeline()", ""), space)
    made, shown = space["run"], app._results.run
    assert (made.join, made.finish, made.policy) == (shown.join, shown.finish, shown.policy)
    assert made.left.table.equals(shown.left.table)
    assert made.rows.equals(shown.rows)


def test_the_join_is_shown_in_flinks_words_too(app):
    put(app, events=20, kind="interval", lower="-2 seconds", upper="5 seconds")
    view(app, "Script")
    code = app._results.code
    app._results._text.value = "Flink SQL"
    app.wait()
    shown = app._results.run
    assert (code.text, code.file) == (wb.flink.sql(shown.join, shown.left, shown.right), "join.sql")
    assert '<span class="k">SELECT</span>' in code.html
    app._results._text.value = "Flink DataStream"
    app.wait()
    assert (code.text, code.file) == (wb.flink.java(shown.join, shown.left, shown.right), "ImpressionsWithClicks.java")
    put(app, upper="5000001 us")
    assert code.text.startswith("// upper: got '5000001 microseconds'; Flink's event times have milliseconds")
    app._results._text.value = "Flink SQL"
    app.wait()
    assert code.text.startswith("-- upper: got")


def test_stop_ends_the_run_and_the_next_one_works(app, spark):
    put(app, events=500)
    app.start()
    app._halt.click()
    app.wait(120)
    assert badge(app) == "stopped"
    assert app.run is None
    assert not app._go.disabled
    assert not app._settings.form.inputs["upper"].disabled
    assert not spark.streams.active
    put(app, events=20)
    run(app)
    assert app.run is not None


def test_a_failure_is_one_sentence_and_keeps_the_last_run(app, spark, monkeypatch):
    put(app, events=20)
    run(app)
    before = app.run

    def broken(*_):
        raise wb.QueryError("the query failed in Spark: because <b>", "Trace\n\tat x")

    with monkeypatch.context() as patch:
        patch.setattr("workbench.query.start", broken)
        run(app)
    assert badge(app) == "failed"
    assert "because &lt;b&gt;<details>" in app._trouble.value
    assert app.run is before
    run(app)
    assert badge(app).startswith("run 2")
    assert app._trouble.value == ""


def test_own_streams_and_dataframes(spark):
    orders, payments = generators.generate("orders_payments", events=20, watermark="7 seconds")
    frame = payments.to_pandas().drop(columns="batch")
    app = App("orders", "paid", namespace={"orders": orders, "paid": frame, "n": 3, "_hidden": frame})
    app.wait()
    form = app._settings.form
    assert tuple(form.inputs["left.variable"].options) == ("orders", "paid")
    assert form.value("left.watermark") == "7 seconds"
    assert (form.value("right.key"), form.value("right.time")) == ("order_id", "paid_at")
    assert asked(app).left.table is orders.table
    assert len(asked(app).right) == len(frame)
    assert not app._go.disabled
    put(app, right__time="order_id")
    assert form.marked("right.time")
    assert app._go.disabled
    close_all()


def test_two_dataframes_arrive_by_event_time_in_micro_batches():
    orders, payments = (
        each.to_pandas().drop(columns="batch") for each in generators.generate("orders_payments", events=50)
    )
    app = App(orders, payments)
    app.wait()
    put(app, slices=6, left__key="order_id", right__key="order_id")
    made = asked(app)
    assert made.left.batch_count == made.right.batch_count == 6
    view(app, "Script")
    app._results._text.value = "Notebook cell"
    app.wait()
    assert "wb.frames.sliced(left, right, 6)" in app._results.code.text
    close_all()


def test_files(tmp_path):
    streams = generators.generate("orders_payments", events=50)
    for stream in streams:
        stream.write(tmp_path / stream.name)
    app = App()
    put(app, source="files", left__path=str(tmp_path / "orders"))
    assert app._go.disabled
    assert app._settings.form.marked("right.path") or app._settings.form.marked("left.file_key")
    put(
        app,
        left__file_key="order_id",
        left__file_time="ordered_at",
        right__path=str(tmp_path / "payments"),
        right__file_key="order_id",
        right__file_time="nope",
    )
    assert "no such column" in app._settings.form.marked("right.file_time")
    put(app, right__file_time="paid_at")
    assert not app._go.disabled
    assert asked(app).right.table.equals(streams[1].table)
    close_all()


def test_many_rows_are_counted_and_a_marked_stretch_shows_single_ones():
    sides = generators.generate("orders_payments", events=20_000, rate=100, seed=3)
    app = App(*sides)
    app.wait()
    results = app._results
    assert results.chart.shown.aggregated
    assert "drag" in results.remark.value
    assert len(results.chart.drawing) < 2_000_000
    low = pd.Timestamp("2026-01-01 09:01:00").value / 1e6
    results.chart.brushed = [low, low + 10_000]
    app.wait()
    assert not results.chart.shown.aggregated
    assert results._whole.layout.display is None
    results._whole.click()
    app.wait()
    assert results.chart.shown.aggregated
    app._results.scrubber.step(-4)
    app.wait()
    assert results.chart.shown.tables["counts"]["rows"].sum() < len(results.run.rows)
    close_all()


def wait_for(condition, seconds=90):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_going_live(app, spark):
    put(
        app,
        scenario="orders_payments",
        rate=10.0,
        upper="5 seconds",
        left__watermark="2 seconds",
        right__watermark="2 seconds",
    )
    app._live.go.click()
    wait_for(lambda: app._live.live is not None and len(app._live.live.rates) >= 4)
    form, live = app._settings.form, app._live.live
    assert form.inputs["upper"].disabled
    assert not form.inputs["disorder"].disabled
    assert app._go.disabled
    assert not app._halt.disabled
    wait_for(lambda: "backpressure" in app._words.value)
    assert "rows/s in" in app._words.value
    form.set({"disorder": 0.9, "idle": "right"})
    assert live.feed.settings["disorder"] == 0.9
    assert live.feed.idle == "right"
    app._results.view.value = "Live"
    wait_for(lambda: app._results.chart.shown.title == "Live")
    app._live.hold.click()
    assert live.paused
    assert app._live.hold.description == "Resume"
    app._live.hold.click()
    assert not live.paused
    begun = time.monotonic()
    app._halt.click()
    wait_for(lambda: not live.active and not spark.streams.active)
    assert time.monotonic() - begun < 2
    wait_for(lambda: badge(app) == "live, stopped")
    assert not app._go.disabled
    assert app._results.run.fault == ""
    space = app._space
    app._recorded.click()
    app.wait()
    assert {"live_orders", "live_payments"} <= set(space)
    assert asked(app).left.table is space["live_orders"].table
    assert badge(app).startswith("a preview")
    assert app._live.go.disabled
    put(app, upper="1 second")
    run(app)
    assert app.run.left.table is space["live_orders"].table


def test_a_page_that_is_taken_away_stops_its_query(app, spark, monkeypatch):
    monkeypatch.setattr("workbench.app._app._GONE", 0.1)
    app._results.chart.views = 1
    app._live.go.click()
    wait_for(lambda: app._live.active)
    app._results.chart.views = 0
    wait_for(lambda: not app._live.active and not spark.streams.active)


def test_closing_a_live_page_leaves_nothing(spark):
    app = App()
    app.wait()
    app._live.go.click()
    wait_for(lambda: app._live.active)
    close_all()
    assert not spark.streams.active
    wait_for(
        lambda: not {each.name for each in threading.enumerate() if each.name.startswith("stream-join-workbench")}, 5
    )


def test_a_feed_that_fails_is_told_on_the_page(app, spark):
    app._live.go.click()
    wait_for(lambda: app._live.active and len(app._live.live.rates))
    app._live.live.feed.step = lambda seconds: 1 / 0
    wait_for(lambda: badge(app) == "failed")
    assert "division by zero" in app._trouble.value
    put(app, upper="20 seconds")
    assert badge(app).startswith("a preview")
    assert app._trouble.value == ""


def test_closing_leaves_no_thread(spark):
    app = App()
    app.start()
    close_all()
    assert current() is None
    assert not {each.name for each in threading.enumerate() if each.name.startswith("stream-join-workbench")}
    assert not spark.streams.active


def test_the_magic(capsys):
    from IPython.testing.globalipapp import get_ipython, start_ipython

    shell = start_ipython() or get_ipython()
    shell.run_line_magic("load_ext", "workbench")
    shell.run_line_magic("workbench", "")
    assert current() is not None
    shell.user_ns |= dict(zip(("orders", "payments"), generators.generate("orders_payments", events=5), strict=True))
    shell.run_line_magic("workbench", "orders payments")
    current().wait()
    assert asked(current()).left.table is shell.user_ns["orders"].table
    known = "the notebook's streams and DataFrames are: orders, payments"
    with pytest.raises(wb.ArgumentError, match=f"%workbench: got 'nope'; {known}"):
        shell.run_line_magic("workbench", "nope payments")
    with pytest.raises(wb.ArgumentError, match="right: got None"):
        shell.run_line_magic("workbench", "orders")
    capsys.readouterr()
    told = shell.run_cell("%workbench nope payments")
    assert not told.success
    assert capsys.readouterr().out.strip().splitlines() == [f"ArgumentError: %workbench: got 'nope'; {known}"]
    shell.run_line_magic("pinfo", "%workbench")
    assert "Open the stream-join workbench" in capsys.readouterr().out
    shell.run_line_magic("reload_ext", "workbench")
    shell.run_line_magic("unload_ext", "workbench")
    assert current() is None
    assert "workbench" not in shell.magics_manager.magics["line"]
