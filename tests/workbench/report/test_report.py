"""The report of a run is one file, below 3 MB, that works without a network and runs nothing of the data's."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from lab import ARGUMENTS, CHROMIUM
from py4j.protocol import Py4JError

import generators
import workbench as wb
from workbench.charts.glyphs import GLYPHS

sys.path.insert(0, str(Path(__file__).parents[1] / "app"))
from test_escaping import EVIL, evil_frames

JOIN = wb.IntervalJoin("0 seconds", "15 seconds", how="left")
MOST = 3_000_000


def streams(events=300, rate=4, **settings):
    return generators.generate(
        "orders_payments",
        events=events,
        rate=rate,
        late=0.2,
        late_by="30 s",
        watermark="1 s",
        batches=5,
        seed=5,
        **settings,
    )


def inside(path):
    """What the report's script is given."""
    found = re.search(r'<script type="application/json" id="report">(.*?)</script>', path.read_text(), re.DOTALL)
    return json.loads(found[1])


def lost(run):
    """The rows of a run that were not matched."""
    return run.rows[run.rows["fate"] != "matched"]


def test_its_heading_is_what_became_of_the_rows(tmp_path):
    def head(run):
        text = run.report(tmp_path / "report.html").read_text()
        (title,), (heading,) = re.findall("<title>(.*?)</title>", text), re.findall("<h1>(.*?)</h1>", text)
        assert title == heading
        return heading, re.findall('<p class="cause">(.*?)</p>', text)

    run = wb.preview(JOIN, *streams())
    rows, late = lost(run), int((run.rows["fate"] == "late").sum())
    heading, (cause,) = head(run)
    of = f"{len(run.rows):,} rows of orders and payments"
    assert heading == f"{len(rows)} of {of} were not matched, {late} of them late"
    most = inside(tmp_path / "report.html")["groups"]
    top = max(most, key=lambda each: each["rows"])
    assert cause == f"Main cause: {top['label']} (<b>{top['rows']} of them</b>)"
    assert "Interval join of orders and payments · " in (tmp_path / "report.html").read_text()
    assert head(run.named("nightly"))[0] == f"nightly: {heading}"

    frame = pd.DataFrame({"key": ["a"], "at": pd.to_datetime(["2026-01-01"], utc=True)})
    orders, payments = (
        wb.Stream.from_pandas(frame, name=name, key="key", time="at") for name in ("orders", "payments")
    )
    assert head(wb.preview(JOIN, orders, payments)) == ("2 rows of orders and payments: all matched", [])
    other = wb.Stream.from_pandas(frame.assign(key="b"), name="payments", key="key", time="at")
    waiting = wb.preview(JOIN, orders, other, finish=False)
    assert head(waiting) == ("2 of 2 rows of orders and payments wait, and none was lost", [])


def test_its_causes_are_told_where_no_script_runs(tmp_path):
    path = wb.preview(JOIN, *streams()).report(tmp_path / "report.html")
    (listed,) = re.findall('<noscript><ul class="causes">(.*?)</ul></noscript>', path.read_text())
    expected = [f"<li><b>{each['rows']}</b> {each['label']}</li>" for each in inside(path)["groups"]]
    assert listed == "".join(expected)


def test_it_tells_of_every_row_that_was_not_matched(tmp_path):
    run = wb.preview(JOIN, *streams())
    told = inside(run.report(tmp_path / "report.html"))
    expected = lost(run)
    ids = [f"{row.side}-{place - (0 if row.side == 'left' else len(run.left))}" for place, row in expected.iterrows()]
    assert told["rows"]["id"] == ids
    assert told["rows"]["reason"] == list(expected["reason"])
    assert [told["stories"][each] for each in ids] == [run.why(int(place)).text for place in expected.index]
    by_fate = pd.DataFrame(told["groups"]).groupby("fate")["rows"].sum().to_dict()
    assert by_fate == expected["fate"].value_counts().to_dict()
    listed = pd.Series(told["rows"]["group"]).value_counts().sort_index()
    assert list(listed) == [each["rows"] for each in told["groups"]]


def test_a_group_is_a_cause(tmp_path):
    run = wb.preview(JOIN, *streams())
    told = inside(run.report(tmp_path / "report.html"))
    unmatched = run.rows["fate"] != "matched"
    names = run.rows["side"].map({"left": run.left.name, "right": run.right.name})
    expected = (names + ": " + run.causes)[unmatched].value_counts().to_dict()
    assert {each["label"]: each["rows"] for each in told["groups"]} == expected
    assert "orders: late, and would have matched a row of payments" in expected
    marks = {each["label"]: each["glyphs"] for each in told["groups"]}
    assert marks["orders: its key never arrived on payments"] == [GLYPHS["key"].path]
    assert marks["orders: late, and would have matched a row of payments"] == []


def test_late_rows_are_told_first_and_of_how_many_rows(tmp_path):
    run = wb.preview(JOIN, *streams())
    groups = inside(run.report(tmp_path / "report.html"))["groups"]
    fates = [each["fate"] for each in groups]
    assert fates.count("late") > 0
    assert set(fates[: fates.count("late")]) == {"late"}
    sizes = {run.left.name: len(run.left), run.right.name: len(run.right)}
    assert all(each["of"] == sizes[each["label"].partition(":")[0]] for each in groups)


def test_settings_and_fixes_are_told_in_words(tmp_path):
    rules = wb.preview(wb.RulesJoin(), *generators.generate("readings_thresholds", events=60))
    path = rules.report(tmp_path / "rules.html", wb.tune(rules.join, rules.left, rules.right))
    text = path.read_text()
    assert "<tr><th>copies</th><td>by key</td></tr>" in text
    assert "<th>as_of</th>" not in text
    assert "<td>None</td>" not in text
    assert "<th>delay of readings</th><th>delay of thresholds</th>" in text
    run = wb.preview(JOIN, *streams())
    stories = inside(run.report(tmp_path / "report.html"))["stories"].values()
    fixes = [line for story in stories for line in story.splitlines() if line.startswith("  fix ")]
    assert any(re.fullmatch(r"  fix +a watermark delay of [\d.]+ s on (orders|payments)", line) for line in fixes)
    assert not [line for line in fixes if ".watermark = " in line]


NARROW = wb.IntervalJoin("0 seconds", "100 milliseconds", how="left")


@pytest.mark.parametrize(
    ("join", "events", "rate"),
    [
        pytest.param(JOIN, 10_000, 20, id="5 x 2,000 a side"),
        pytest.param(NARROW, 10_000, 20, id="most of 5 x 2,000 a side without a partner"),
        pytest.param(JOIN, 53_000, 50, id="100,000 rows"),
        pytest.param(NARROW, 53_000, 50, id="most of 100,000 rows without a partner", marks=pytest.mark.slow),
    ],
)
def test_it_is_small_and_says_what_is_left_out(tmp_path, join, events, rate):
    run = wb.preview(join, *streams(events, rate))
    path = run.report(tmp_path / "report.html")
    assert path.stat().st_size < MOST
    told, words = inside(path), path.read_text()
    total = sum((run.fates[side]["fate"] != "matched").sum() for side in ("left", "right"))
    listed, stories = len(told["rows"]["id"]), len(told["stories"])
    assert f"{total:,} rows were not matched" in words
    assert sum(each["rows"] for each in told["groups"]) == total
    assert set(told["rows"]["group"]) == set(range(len(told["groups"])))
    assert 0 < stories <= listed <= total
    assert stories >= 500
    left_out = f"{listed:,} of them are listed, some of each kind; {total - listed:,} are left out"
    assert (left_out in words) == (listed < total)
    assert (f"{stories:,} have their story, {listed - stories:,} only their reason" in words) == (stories < listed)
    if join is NARROW:
        assert listed < total


def test_long_values_do_not_make_it_large(tmp_path):
    left, right = (
        wb.Stream.from_pandas(
            pd.DataFrame({"k": [f"{n}{'x' * 5_000}" for n in range(700)], "t": pd.Timestamp("2026-01-01")}),
            name,
            "k",
            "t",
        )
        for name in ("one", "other")
    )
    path = wb.preview(wb.IntervalJoin("1 s", "2 s"), left, right).report(tmp_path / "report.html")
    assert path.stat().st_size < MOST


@pytest.mark.parametrize(
    "join",
    [
        wb.WindowJoin(wb.Tumbling("10 s"), "full"),
        wb.WindowJoin(wb.Sliding("10 s", "4 s")),
        wb.WindowJoin(wb.Session("3 s"), "left"),
        wb.CoGroup(wb.Tumbling("10 s")),
        wb.WindowJoin(wb.Tumbling("10 s"), "anti"),
    ],
    ids=repr,
)
def test_every_kind_of_join_has_one_with_its_tuning(ran, tmp_path, join):
    run = ran(join).named("for the review")
    path = run.report(tmp_path / "report.html", wb.tune(join, run.left, run.right))
    text = path.read_text()
    assert "<h1>for the review: " in text
    assert "Run on Spark" in text
    assert "<h2>Tuning</h2>" in text
    assert len(inside(path)["rows"]["id"]) == len(lost(run))
    assert "tuning" in inside(path)["charts"]


def test_that_a_run_was_not_compared_is_told_without_spark_s_trace(ran, tmp_path, monkeypatch):
    def fails(*_, **__):
        raise Py4JError(
            "An error occurred while calling o1.toArrow.\n: java.io.IOException: no such place\n\tat x.y(Z.java:1)"
        )

    run = replace(ran(JOIN))  # which has not been compared yet
    monkeypatch.setattr("workbench.runs.verification.compare", fails)
    text = run.report(tmp_path / "report.html").read_text()
    assert re.findall("was not compared with the workbench&#39;s model: (.*?)</p>", text) == ["no such place"]


def test_what_somebody_else_wrote_stays(tmp_path):
    run = wb.preview(JOIN, *streams(30))
    mine = tmp_path / "mine.html"
    mine.write_text("<p>mine</p>")
    with pytest.raises(wb.ArgumentError, match="the workbench did not write that file"):
        run.report(mine)
    assert mine.read_text() == "<p>mine</p>"
    path = run.report(tmp_path / "report.html")
    assert run.report(path) == path
    path.write_text(path.read_text().replace("<h1>", "<h1>Mine: "))
    with pytest.raises(wb.ArgumentError, match="that file was edited"):
        run.report(path)


def test_wrong_arguments_are_said(tmp_path):
    run = wb.preview(JOIN, *streams(30))
    with pytest.raises(wb.ArgumentError, match=r"path: got .*report\.pdf.*; a report is a file for a browser"):
        run.report(tmp_path / "report.pdf")
    with pytest.raises(wb.ArgumentError, match=r"tuning: got 'str'; give what workbench\.tune returned"):
        run.report(tmp_path / "report.html", "best")


@pytest.fixture(scope="module")
def chromium():
    if CHROMIUM is None:
        pytest.skip("no chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium):
    """Opens a report from its file, without a network; what it asks for besides is noted, and so is what goes wrong."""
    context = chromium.new_context(viewport={"width": 1440, "height": 1000})
    context.route("**/*", lambda route: route.continue_() if route.request.url.startswith("file:") else route.abort())
    asked, wrong = [], []

    def open_report(path):
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-ready]")
        return page

    open_report.asked, open_report.wrong = asked, wrong
    yield open_report
    context.close()


def count(page):
    """How many rows the list says it has."""
    return int(re.findall(r"([\d,]+) rows", page.inner_text("#shown"))[0].replace(",", ""))


def place_of(page, row):
    """Where a row's mark is on the screen."""
    return page.evaluate(
        """id => {
            const box = [...document.querySelectorAll("#timeline div")].find(each => each.view);
            const find = item => {
                if (item.datum?.row_id === id && item.shape !== undefined) return [item.x, item.y];
                for (const each of item.items ?? []) { const found = find(each); if (found) return found; }
            };
            const [x, y] = find(box.view.scenegraph().root);
            const canvas = box.querySelector("canvas").getBoundingClientRect();
            const [left, top] = box.view.origin(), padding = box.view.padding();
            return [canvas.left + left + padding.left + x, canvas.top + top + padding.top + y];
        }""",
        row,
    )


@pytest.mark.browser
def test_rows_are_brushed_picked_filtered_and_told(opened, tmp_path):
    run = wb.preview(JOIN, *streams())
    path = run.report(tmp_path / "report.html", wb.tune(JOIN, run.left, run.right))
    page, told = opened(path), inside(path)
    total = len(lost(run))
    assert count(page) == total
    # a group
    first = page.locator("#groups button").first
    first.click()
    assert count(page) == told["groups"][0]["rows"] == int(first.locator("b").inner_text())
    first.click()
    assert count(page) == total
    # words
    key = told["rows"]["key"][5]
    page.fill("#search", key)
    assert count(page) == sum(
        key in " ".join(each) for each in zip(told["rows"]["key"], told["rows"]["reason"], strict=True)
    )
    page.click("#all")
    assert count(page) == total
    # a row of the table
    page.click("#rows tr:nth-child(3)")
    row = told["rows"]["id"][2]
    for line in told["stories"][row].splitlines()[1:]:
        assert line[14:].split(";")[0] in page.inner_text("#story")
    marked = "() => [...document.querySelectorAll('#timeline div')].find(each => each.view).view.signal('picked')"
    assert page.evaluate(marked) == [row]
    # a mark of the chart
    page.locator("#timeline").scroll_into_view_if_needed()
    late = told["rows"]["id"][-4]
    page.mouse.click(*place_of(page, late))
    page.wait_for_function(
        "key => document.querySelector('#story h3').textContent.endsWith(key)", arg=told["rows"]["key"][-4]
    )
    assert page.evaluate(marked) == [late]
    # a stretch of time
    box = page.locator("#timeline canvas").bounding_box()
    middle = box["y"] + box["height"] * 0.6
    page.mouse.move(box["x"] + box["width"] * 0.45, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.7, middle, steps=8)
    page.mouse.up()
    page.wait_for_function("!document.getElementById('all').hidden")
    low, high = (page.evaluate(marked.replace("picked", name)) for name in ("low", "high"))
    assert count(page) == sum(low <= time <= high for time in told["rows"]["time"]) < total
    page.click("#all")
    assert count(page) == total
    assert page.locator("#tuning canvas").count() == 1
    assert opened.wrong == []
    assert [each for each in opened.asked if not each.startswith(("file:", "data:", "blob:"))] == []


@pytest.mark.browser
def test_without_scripts_it_says_so_and_has_no_empty_frame(opened, chromium, tmp_path):
    """JupyterLab shows a file of HTML in a frame that runs no scripts, until it is trusted."""
    run = wb.preview(JOIN, *streams())
    path = run.report(tmp_path / "report.html", wb.tune(JOIN, run.left, run.right))
    words = "Charts and lists need scripts: press Trust HTML above, or open the file in a browser."
    context = chromium.new_context()
    page = context.new_page()
    page.set_content('<iframe sandbox="allow-same-origin" style="width: 1200px; height: 900px"></iframe>')
    page.eval_on_selector("iframe", "(frame, text) => { frame.srcdoc = text; }", path.read_text())
    inner = page.frame_locator("iframe")
    told = inner.locator("main noscript p")  # playwright finds no text in a noscript
    told.wait_for()
    assert told.inner_text() == words
    assert inner.locator("h1").is_visible()
    assert inner.get_by_text("To keep 99.9 %").is_visible()
    for each in ("#groups", "#timeline", "#list", "#story", "#tuning"):
        assert not inner.locator(each).is_visible(), each
    context.close()
    scripted = opened(path)
    assert words not in scripted.inner_text("body")
    assert all(scripted.locator(each).is_visible() for each in ("#groups", "#timeline", "#list", "#tuning"))


@pytest.mark.browser
def test_many_rows_are_counted_and_brushed(opened, tmp_path):
    run = wb.preview(JOIN, *streams(3_000, 20))
    page = opened(run.report(tmp_path / "report.html"))
    before = count(page)
    page.locator("#timeline canvas").scroll_into_view_if_needed()
    box = page.locator("#timeline canvas").bounding_box()
    middle = box["y"] + box["height"] * 0.6
    page.mouse.move(box["x"] + box["width"] * 0.45, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, middle, steps=8)
    page.mouse.up()
    page.wait_for_function("!document.getElementById('all').hidden")
    assert 0 < count(page) < before
    assert opened.wrong == []


@pytest.mark.browser
def test_hostile_names_and_values_are_shown_and_not_run(opened, tmp_path):
    left, right = evil_frames()
    end = "</script><script>window.__ran = 1</script>"
    left.iloc[3:5, 0] = [end, "<!--<script>"]
    one = wb.Stream.from_pandas(left, EVIL, f"key {EVIL}", f"at {EVIL}", "1 second", batch="batch")
    other = wb.Stream.from_pandas(right, end, f"key {EVIL}", f"then {EVIL}", "1 second", batch="batch")
    join = wb.IntervalJoin("0 seconds", "5 seconds")
    run = wb.preview(join, one, other).named(EVIL)
    page = opened(run.report(tmp_path / "report.html", wb.tune(join, one, other)))
    assert EVIL in page.inner_text("h1")
    rows = page.locator("#rows tr")
    for place in range(rows.count()):
        rows.nth(place).click()
        assert page.inner_text("#story h3")
    page.locator("#timeline canvas").scroll_into_view_if_needed()
    page.mouse.move(*place_of(page, "left-20"))
    page.wait_for_selector("#vg-tooltip-element.visible")
    page.wait_for_timeout(300)  # an image that fails to load tells of it a moment later
    assert page.evaluate("window.__ran") is None
    assert page.locator("img[onerror]").count() == 0
    assert opened.wrong == []
    # the policy stands behind the quoting: what is added to the document does not run either
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.__ran = 2'}))"
    )
    assert page.evaluate("window.__ran") is None


@pytest.mark.browser
def test_it_reaches_nothing(opened, tmp_path):
    page = opened(wb.preview(JOIN, *streams(30)).report(tmp_path / "report.html"))
    assert page.evaluate("fetch('https://example.org').then(() => 'reached', () => 'refused')") == "refused"
    assert [each for each in opened.asked if each.startswith("http")] == []
