"""Whatever is changed in whatever order, at rest the page shows what its fields say."""

from __future__ import annotations

import threading

import altair as alt
import pandas as pd
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from page import Page, offers

import generators
import workbench as wb
from workbench import charts, schema
from workbench.app import close_all, current
from workbench.kinds import kinds

ORDERS, PAYMENTS = generators.generate("orders_payments", events=40, seed=5, watermark="2 seconds")
FRAME = PAYMENTS.to_pandas().drop(columns="batch")
OTHER = FRAME.head(9)
MOST_TABLE_ROWS = 200
UNDO, REDO, RUN = "Undo the last change of a setting", "Redo it", "Run on Spark"
KINDS = {kind.label: name for name, kind in kinds().items()}
DELAYS = ("Watermark / first", "Watermark / second")


def join_of(page):
    kind = KINDS[page.value("Kind")]
    if kind == "interval":
        exclusive = page.value("lower bound exclusive"), page.value("upper bound exclusive")
        return wb.IntervalJoin(page.value("Lower bound"), page.value("Upper bound"), page.value("How"), *exclusive)
    if kind.startswith("as_of"):
        tolerance = page.value("Tolerance") if kind == "as_of" else None
        exact = page.value("a row at the same time counts")
        return wb.AsOfJoin(page.value("Direction"), tolerance, page.value("How"), exact)
    if kind.startswith("rules"):
        return wb.RulesJoin(as_of="arrival" if kind == "rules_on_arrival" else "event time")
    name = kind.removeprefix("cogroup_")
    if name == "session":
        window = wb.Session(page.value("Gap"))
    elif name == "tumbling":
        window = wb.Tumbling(page.value("Size"), page.value("Offset"))
    else:
        window = wb.Sliding(page.value("Size"), page.value("Slide"), page.value("Offset"))
    return wb.CoGroup(window) if kind.startswith("cogroup_") else wb.WindowJoin(window, page.value("How"))


def streams_of(page, space):
    if page.value("From") == "a scenario":
        names = ("Events", "Disorder", "Late", "Skew", "Micro-batches", "Seed")
        arguments = ("events", "disorder", "late", "skew", "batches", "seed")
        given = {argument: page.value(name) for argument, name in zip(arguments, names, strict=True)}
        if page.value("Trigger interval").strip():
            given.pop("batches")
            given["trigger"] = page.value("Trigger interval")
        given |= {"rate": round(page.value("Rate"), 2), "duplicates": page.value("Twice")}
        for argument, name, kind in (("keys", "Keys", int), ("unmatched", "No partner", float)):
            if page.value(name).strip():
                given[argument] = kind(page.value(name))
        if page.value("Idle") != "no side":
            side = page.value("Idle").split()[1]
            given["idle"] = (side, *(round(part, 2) for part in page.value("Idle from, to")))
        return generators.generate(page.value("Scenario"), **given)
    if page.value("From") == "files":
        raise wb.ArgumentError("no folder is named in this test")
    made = []
    for side in ("Left", "Right"):
        name = page.value(f"Streams / {side}")
        if name is None:
            raise wb.ArgumentError("the notebook has none")
        made.append(
            space[name]
            if isinstance(space[name], wb.Stream)
            else wb.frames.stream(space[name], name, [page.value(f"{side} / Key")], page.value(f"{side} / Event time"))
        )
    if all(each.batch_count == 1 for each in made):
        made = wb.frames.sliced(*made, page.value("Micro-batches"))
    return made


def expected(page, space):
    """What the values in the fields ask for; an error where they are wrong."""
    left, right = (
        each.with_watermark(page.value(delay)) for each, delay in zip(streams_of(page, space), DELAYS, strict=True)
    )
    policy = {"slower side (min)": "min", "faster side (max)": "max"}[page.value("Follows")]
    return wb.preview(join_of(page), left, right, finish=page.value("close every window at the end"), policy=policy)


def blank(column):
    """A column as a table shows it: with nothing where there is no value."""
    return column.astype(object).where(column.notna(), "") if column.isna().any() else column


def rows_match(page, reference):
    """Whether each row that is shown one by one has the values, the fate and the reason that it should have."""
    page.open("Timeline")
    assert page.tables_match(reference, "tracks")
    page.open("Output")
    pd.testing.assert_frame_equal(page.table.df, reference.output.head(MOST_TABLE_ROWS))
    page.open("Unmatched")
    rows = reference.rows.sort_values("batch", kind="stable")  # as they arrived
    index = rows.index[rows["fate"].isin(("unmatched", "pending", "null_key"))][:MOST_TABLE_ROWS]
    wanted, shown = reference.explain(index.tolist()).loc[index], page.table.df
    own = list(schema.ROWS.without(wanted))
    pd.testing.assert_frame_equal(shown[[*own, "reason"]], wanted[[*own, "reason"]].apply(blank))
    assert shown["fate"].tolist() == [fate.replace("_", " ") for fate in wanted["fate"]]
    assert shown["stream"].tolist() == [reference.side(side).name for side in wanted["side"]]


def check(page, space):
    """The page, at rest, shows what its fields say, or that they are wrong."""
    page.wait()
    try:
        reference = expected(page, space)
    except (wb.WorkbenchError, ValueError):
        assert page.trouble
        assert page.button(RUN).disabled
        assert page.button("Go live").disabled
        assert page.stale or not page.tabs
        return
    assert page.trouble == ""
    assert not page.stale
    assert not page.button(RUN).disabled
    assert page.button("Go live").disabled == (page.value("From") != "a scenario")
    fates = reference.rows["fate"].value_counts()
    for fate in ("matched", "unmatched", "late", "pending"):
        assert page.figures[fate] == fates.get(fate, 0)
    assert page.figures["rows out"] == reference.batches["output_rows"].sum()
    tab = page.tab
    if tab in ("Timeline", "State"):
        assert page.tables_match(reference, {"Timeline": "tracks", "State": "state"}[tab])
    rows_match(page, reference)
    page.open("Script")
    assert page.code.text == reference.script
    made = page.meant(**space)
    assert (made.join, made.finish, made.policy) == (reference.join, reference.finish, reference.policy)
    pd.testing.assert_frame_equal(made.rows, reference.rows)
    page.open(tab)


def test_a_scenario_after_another_is_shown_with_the_join_that_suits_it(page):
    for _ in range(3):
        page.set({"Scenario": "transfers"})
        page.set({"Scenario": "orders_payments"})
        assert page.value("Upper bound") == "15 seconds"
        assert (page.value("How"), page.value("Kind")) == ("left", "Interval join")
        assert page.figures["matched"] == 342
        assert page.figures["unmatched"] == 29
        check(page, {})


def test_undo_goes_back_to_what_was_shown_only(page):
    page.set({"Scenario": "transfers"})
    page.set({"Scenario": "orders_payments"})
    page.click(UNDO)
    assert page.value("Scenario") == "transfers"
    assert (KINDS[page.value("Kind")], page.value("Size")) == ("cogroup_tumbling", "1 minute")
    check(page, {})
    page.click(UNDO)
    assert (page.value("Scenario"), page.value("Kind")) == ("impressions_clicks", "Interval join")
    assert page.button(UNDO).disabled
    check(page, {})


def test_undo_leads_out_of_a_wrong_value(page):
    page.set({"Upper bound": "soon"})
    assert page.stale
    assert not page.button(UNDO).disabled
    page.press(UNDO)
    assert page.value("Upper bound") == "30 seconds"
    check(page, {})


def test_undo_after_a_wrong_value_gives_the_last_right_one(page):
    page.set({"Upper bound": "20 seconds"})
    page.set({"Upper bound": "soon"})
    page.press(UNDO)
    assert page.value("Upper bound") == "20 seconds"
    check(page, {})


@pytest.fixture
def slow_view():
    """A view that is drawn only when it is let: until then the thread that draws does nothing else."""
    begun, go = threading.Event(), threading.Event()

    def draw(_):
        begun.set()
        go.wait(30)
        return charts.Drawing(alt.Chart(alt.NamedData("none")).mark_point(), {"none": pd.DataFrame()}, "Slow", "")

    view = charts.View("slow", "Slow", "Drawn late.", "Drawn late.", draw, of_rows=False, of_moment=False)
    charts.register(view)
    yield begun, go
    go.set()
    charts.unregister(view)


def test_a_look_at_another_view_takes_no_preview_away(slow_view):
    begun, go = slow_view
    page = Page()
    page.wait()
    page.look_at("Slow")
    assert begun.wait(30)
    page.change({"Upper bound": "3 seconds"})
    page.click_mark(row_id="left-1")
    page.look_at("State")
    go.set()
    check(page, {})


def test_a_change_on_its_way_when_a_run_begins_is_shown_after_it(page, spark):
    page.set({"Events": 20})
    bound = page.field("Upper bound")
    page.press(RUN)
    assert bound.disabled
    bound.value = "2 seconds"  # the browser had sent it before the field was closed
    page.wait(120)
    page.wait()
    assert page.app.run.join.upper == wb.IntervalJoin("0 s", "30 s").upper
    check(page, {})


def test_a_table_that_was_made_anew_is_seen_when_looked_for_again():
    space = {"orders": ORDERS, "paid": FRAME}
    page = Page("orders", "paid", namespace=space)
    check(page, space)
    before = page.figures
    space["paid"] = OTHER
    page.click("Look again")
    check(page, space)
    assert page.figures != before


def test_a_past_run_of_streams_that_are_gone_is_not_shown_for_those_that_are_there(spark):
    space = {"orders": ORDERS, "paid": FRAME}
    page = Page("orders", "paid", namespace=space)
    page.wait()
    page.run()
    run = page.app.run
    space["paid"] = OTHER
    page.open("Runs")
    page.click("Go back to it")
    assert "the streams of run 1 are no longer in this notebook" in page.note
    check(page, space)
    space["paid"] = FRAME
    page.click("Go back to it")
    assert page.badge.startswith("run 1, on Spark")
    assert page.app.run is run
    rows_match(page, run)


@pytest.mark.parametrize(
    "frame",
    [FRAME.assign(order_id=range(len(FRAME))), FRAME.assign(paid_at=pd.NaT), FRAME.drop(columns="paid_at")],
    ids=["keys of another type", "missing times", "no time"],
)
def test_a_page_that_opens_with_an_error_shows_just_that(frame):
    space = {"orders": ORDERS, "paid": frame, "whole": FRAME}
    page = Page("orders", "paid", namespace=space)
    check(page, space)
    assert page.parts == set()
    assert page.tabs == ()
    assert "nothing to show yet" in page.badge
    page.app.start()
    page.app.go_live()
    assert not page.app.busy
    assert "stream-join-workbench" not in {each.name for each in threading.enumerate()}
    page.set({"Streams / Right": "whole"})
    page.set({"Right / Event time": "paid_at", "Right / Key": "order_id"})
    check(page, space)
    page.open("Script")
    assert page.parts == {"code"}
    page.open("Timeline")
    assert page.parts == {"chart", "table"}


def test_the_parts_of_one_view_are_shown_while_the_page_opens():
    page = Page(namespace={})
    assert page.parts <= {"chart", "table"}
    assert page.button(RUN).disabled or page.figures
    page.wait()
    assert page.parts == {"chart", "table"}


SPANS = st.sampled_from(["0 seconds", "2 seconds", "10 seconds", "1 minute", "-3 seconds", "soon", ""])
VALUES = {
    **dict.fromkeys(("Size", "Slide", "Gap", "Lower bound", "Upper bound", *DELAYS), SPANS),
    "Offset": st.sampled_from(["0 seconds", "1 second"]),
    "Keys": st.sampled_from(["", "12", "0"]),
    "No partner": st.sampled_from(["", "0.4", "7"]),
    "Events": st.sampled_from([10, 60, 150]),
    "Late": st.sampled_from([0.0, 0.2]),
    "Disorder": st.sampled_from([0.0, 0.5]),
    "Skew": st.sampled_from([0.0, 1.0]),
    "Trigger interval": st.sampled_from(["", "5 seconds"]),
    "Idle": st.sampled_from(["no side", "the left side", "the right side"]),
    "Micro-batches": st.sampled_from([1, 4, 5, 10]),
    "Follows": st.sampled_from(["slower side (min)", "faster side (max)"]),
    "close every window at the end": st.booleans(),
    "How": st.sampled_from(["inner", "left", "full", "anti"]),
    "lower bound exclusive": st.booleans(),
    "Left / Key": st.sampled_from(["order_id", "city"]),
    "Right / Event time": st.sampled_from(["paid_at", "order_id"]),
}


class Changes(RuleBasedStateMachine):
    """A user who changes anything in any order, now and then before the page has caught up."""

    @initialize(names=st.sampled_from([(), ("orders", "paid"), ("paid", "paid")]))
    def open(self, names):
        self.space = {"orders": ORDERS, "paid": FRAME, "payments": PAYMENTS}
        self.page = Page(*names, namespace=self.space)
        self.rested = [self.page.state()]

    def rest(self):
        self.rested.append(self.page.state())

    def put(self, field, value):
        self.page.change({field: value})
        self.rest()

    @rule(data=st.data())
    def change(self, data):
        field = data.draw(st.sampled_from([each for each in VALUES if self.page.usable(each)]))
        value = data.draw(VALUES[field])
        if offers(self.page.field(field), value):  # another table has other columns
            self.put(field, value)

    @rule(scenario=st.sampled_from(sorted(generators.scenarios())))
    def choose_scenario(self, scenario):
        if self.page.usable("Scenario"):
            self.put("Scenario", scenario)

    @rule(kind=st.sampled_from(list(KINDS)))
    def choose_kind(self, kind):
        self.put("Kind", kind)

    @rule(source=st.sampled_from(["a scenario", "a scenario", "this notebook", "this notebook", "files"]))
    def choose_source(self, source):
        self.put("From", source)

    @rule(side=st.sampled_from(["Left", "Right"]), name=st.sampled_from(["orders", "paid", "payments"]))
    def choose_variable(self, side, name):
        if self.page.usable("Look again"):
            self.put(f"Streams / {side}", name)

    @rule(frame=st.sampled_from([FRAME, OTHER]))
    def make_a_table_anew(self, frame):
        self.space["paid"] = frame
        if self.page.usable("Look again"):
            self.page.press("Look again")
            self.rest()

    def step(self, button):
        """Only states at rest are gone back to."""
        if self.page.usable(button):
            self.page.press(button)
            assert self.page.state() in self.rested

    @rule()
    def undo(self):
        self.step(UNDO)

    @rule()
    def redo(self):
        self.step(REDO)

    @rule(view=st.sampled_from(["Timeline", "State", "Unmatched", "Tune", "Flink"]))
    def look_at(self, view):
        if self.page.tabs:
            self.page.look_at(view)

    @rule()
    def wait(self):
        check(self.page, self.space)

    def teardown(self):
        if hasattr(self, "page"):
            check(self.page, self.space)
            for button in (REDO, UNDO):
                while self.page.usable(button):
                    self.step(button)
            check(self.page, self.space)
            close_all()
            assert current() is None


class TestChanges(Changes.TestCase):
    settings = settings(max_examples=6, stateful_step_count=14, deadline=None)


@pytest.mark.nightly
class TestChangesForLong(Changes.TestCase):
    settings = settings(max_examples=25, stateful_step_count=14, deadline=None)
