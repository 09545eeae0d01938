"""The app in real JupyterLab, in Debian's chromium: what a user does from the first cell on."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from lab import CHROMIUM, chromium, come, lab, page, run_all, saved, settings, view
from page import GROUP_OF
from playwright.sync_api import expect

from workbench.kinds import kinds

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium"),
]

CELLS = ("%load_ext workbench", "%workbench", "threads = 0", "print('the kernel is', 'free')")


FRESH = """
from workbench.app import close_all
close_all()
get_ipython().run_line_magic('reset', '-f')
"""
"""Takes what the test before has left in the kernel."""
SIZE = {"width": 1440, "height": 1100}
VIEWS = [each for each in GROUP_OF if each not in ("Throughput", "Windows")]
"""The views of an interval join that does not run: a live query brings its throughput, a join of windows those."""


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory):
    """JupyterLab: its address, and the folder of its notebooks."""
    home = tmp_path_factory.mktemp("lab")
    root = home / "root"
    root.mkdir()
    with lab(home, root) as address:
        yield address, root


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def window(jupyter, browser):
    """A window of a browser with a notebook."""
    address, root = jupyter
    with page(address, saved(root, "shared.ipynb", *CELLS), browser=browser) as opened:
        yield opened


@pytest.fixture
def opened(window):
    """The app, just opened: of the tests before there is only the browser, and the kernel with Spark in it."""
    ask_kernel(window, FRESH)
    window.evaluate("void window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    window.wait_for_function("() => !document.querySelector('.sjw')")
    window.mouse.move(0, 0)
    show_app(window)
    return window


@pytest.fixture
def own(jupyter, browser, request):
    """The app in a window, a notebook and a kernel of its own, for what does not leave them as they were."""
    address, root = jupyter
    with page(address, saved(root, f"{request.node.name}.ipynb", *CELLS), browser=browser) as opened:
        show_app(opened)
        yield opened


def show_app(opened):
    """Run the notebook, and wait until the app shows what it does."""
    run_all(opened, lambda: arrived(opened))
    ask_kernel(opened, "pass")  # comes after all that the opening page has sent
    settings(opened)
    opened.evaluate("() => document.querySelector('.sjw').scrollIntoView()")


def arrived(opened):
    """Wait for the page and its first chart."""
    badge(opened, "Preview (simulated)")
    opened.wait_for_selector(".sjw-chart canvas:visible", timeout=60_000)


def came_back(opened):
    """Wait for the page of a kernel that was restarted, beside what its kernel before had shown."""
    opened.wait_for_selector(".sjw:not(.sjw-gone) .sjw-badge:has-text('Preview (simulated)')", timeout=120_000)


@pytest.fixture
def ran(opened):
    """The app after a first run on Spark."""
    button(opened, "Run on Spark").click()
    badge(opened, "run 1, on Spark in")
    return opened


def field(opened, label):
    return opened.locator(f".sjw .widget-inline-hbox:has(.widget-label:text-is('{label}')) input:visible").first


def choose(opened, label, option):
    row = opened.locator(f".sjw .widget-inline-hbox:has(.widget-label:text-is('{label}')) select:visible").first
    row.select_option(label=option)


def button(opened, words):
    return opened.locator(f".sjw button:has-text('{words}'):visible:enabled").first


def badge(opened, words, timeout=120_000):
    opened.wait_for_selector(f".sjw-badge:has-text('{words}')", timeout=timeout)


def title(opened, words):
    opened.wait_for_selector(f".sjw-chart-title:has-text('{words}'):visible", timeout=30_000)


def shown(opened, table):
    """The rows of a table that the chart on the page has been given."""
    return opened.evaluate(
        "name => [...document.querySelectorAll('.sjw-chart div')].find(each => each.view).view.data(name).length", table
    )


def signalled(opened, name, value):
    """Wait until a signal of the chart has a value."""
    opened.wait_for_function(
        """([name, value]) => {
            const box = [...document.querySelectorAll('.sjw-chart div')].find(each => each.view);
            return box && JSON.stringify(box.view.signal(name)) === value;
        }""",
        arg=[name, json.dumps(value, separators=(",", ":"))],
    )


def execute(opened, number):
    """Run a cell."""
    script = """number => {
        window.jupyterapp.shell.currentWidget.content.activeCellIndex = number;
        void window.jupyterapp.commands.execute('notebook:run-cell');
    }"""
    opened.evaluate(script, number)


def ask_kernel(opened, code):
    """What a piece of Python prints in the notebook's kernel, configuration beside the notebook."""
    script = """async code => {
        const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
        const future = kernel.requestExecute({ code, store_history: false });
        let text = '';
        future.onIOPub = message => { if (message.header.msg_type === 'stream') text += message.content.text; };
        const late = new Promise((_, fail) => setTimeout(() => fail(new Error('the kernel does not answer')), 90_000));
        await Promise.race([future.done, late]);
        return text.trim();
    }"""
    return opened.evaluate(script, code)


def wait_for(found, seconds=30):
    """Wait until the kernel, or the page, says what is expected; gives it."""
    deadline = time.monotonic() + seconds
    while not (it := found()):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    return it


def test_it_opens_with_a_preview_of_what_the_join_does(opened):
    badge(opened, "Preview (simulated)")
    title(opened, "Interval join on event time")
    assert shown(opened, "rows") > 200
    expect(opened.locator(".sjw-band")).to_contain_text("matched")


def test_a_browser_that_shows_the_page_changes_no_setting(opened):
    time.sleep(2)
    assert not opened.locator(".sjw-head button:has(.fa-undo):enabled").count()


def test_each_kind_of_join_is_set_and_previewed(opened):
    for kind in kinds().values():
        choose(opened, "Scenario", kind.scenario)
        choose(opened, "Kind", kind.label)
        words = kind.label.replace("Interval join", "Interval join on").replace(" window join", " window join on")
        title(opened, words)
        for each in kind.fields:
            expect(field(opened, each.label)).to_be_visible()
    expect(opened.locator(".sjw select:disabled")).not_to_have_count(0)  # a coGroup has no join type
    choose(opened, "Scenario", "impressions_clicks")
    title(opened, "Interval join on event time")


def test_a_wrong_field_is_told_beside_it_and_disables_run(opened):
    run = opened.locator(".sjw button:has-text('Run on Spark'):visible").first
    expect(run).to_be_enabled()
    field(opened, "Upper bound").fill("soon")
    opened.wait_for_selector(".sjw-mark:has-text('use a number with a unit')")
    expect(run).to_be_disabled()
    field(opened, "Upper bound").fill("20 seconds")
    opened.wait_for_selector(".sjw button:has-text('Run on Spark'):not([disabled])")


def test_a_long_condition_is_shown_whole(opened):
    where = opened.locator(".sjw-growing:has(.widget-label:text-is('Where')) textarea")
    one_line = where.bounding_box()["height"]
    where.fill(
        "right_clicked_at > left_shown_at and left_campaign != 'spring' and left_site != 'news' and right_cost < 3"
    )
    where.press("Tab")
    assert where.bounding_box()["height"] > 2 * one_line
    assert where.evaluate("each => each.scrollHeight <= each.clientHeight && each.scrollWidth <= each.clientWidth")
    choose(opened, "Kind", "Pattern")
    fits = opened.locator(".sjw-step .sjw-growing textarea:visible").first
    assert fits.get_attribute("title") == "Which rows fit; empty: all of this stream"
    fits.fill("campaign != 'spring' and site != 'news' and campaign != 'autumn' and site != 'weather'")
    assert fits.evaluate("each => each.scrollHeight <= each.clientHeight && each.scrollWidth <= each.clientWidth")


def test_undo_and_redo(opened):
    has = "text => [...document.querySelectorAll('.sjw input')].some(each => each.value === text)"
    assert opened.evaluate(has, "30 seconds")
    field(opened, "Upper bound").fill("25 seconds")
    time.sleep(2)  # a step that is undone while it is being drawn is another test's
    opened.click(".sjw-head button:has(.fa-undo):enabled")
    time.sleep(3)
    opened.wait_for_function(has, arg="30 seconds")
    opened.click(".sjw-head button:has(.fa-repeat):enabled")
    opened.wait_for_function(has, arg="25 seconds")


def test_a_run_is_seen_in_every_view(ran):
    for name, words in (
        ("Arrival", "Arrival and watermark"),
        ("Watermarks", "Watermarks"),
        ("Late", "late row"),
        ("State", "State"),
        ("Keys", "Keys in state"),
        ("Unmatched", "near misses"),
        ("Timeline", "Interval join on event time"),
    ):
        view(ran, name)
        title(ran, words)
    view(ran, "Output")
    ran.wait_for_selector(".sjw table.dataTable tbody tr:visible", timeout=60_000)
    expect(ran.locator(".sjw-tabs button:text-is('Windows')")).to_have_count(0)  # this join has none


def test_the_script_is_shown_copied_and_downloaded(opened):
    view(opened, "Script")
    opened.wait_for_selector(".sjw-code pre:has-text('def join_streams'):visible", timeout=90_000)
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button(opened, "Copy").click()
    opened.wait_for_selector(".sjw button:has-text('Copied')")
    copied = opened.evaluate("navigator.clipboard.readText()")
    assert "def join_streams" in copied
    assert "30 seconds" in copied
    with opened.expect_download() as download:
        button(opened, "Download").click()
    assert download.value.suggested_filename == "join.py"
    assert Path(download.value.path()).read_text() == copied
    button(opened, "Flink SQL").click()
    opened.wait_for_selector(".sjw-code pre:has-text('CREATE TABLE'):visible")
    with opened.expect_download() as download:
        button(opened, "Download").click()
    assert download.value.suggested_filename == "join.sql"
    button(opened, "Notebook cell").click()
    opened.wait_for_selector(".sjw-code pre:has-text('generators.generate'):visible")


def test_a_report_is_opened_by_a_link_and_a_picked_row_is_told_in_view(opened):
    button(opened, "Report").click()
    link = opened.locator(".sjw-note a[href]:has-text('report')")
    with opened.context.expect_page() as shown:
        link.click()
    report = shown.value
    report.set_viewport_size({"width": 1000, "height": 800})
    report.wait_for_selector("body[data-ready=yes]")
    report.locator("#rows tr").nth(30).click()
    assert report.locator("#story .verdict").is_visible()
    box, height = report.locator("#story .verdict").bounding_box(), report.evaluate("innerHeight")
    assert 0 <= box["y"] <= height - box["height"]
    report.get_by_role("button", name="Close the story").click()
    assert report.evaluate("getComputedStyle(document.querySelector('#story')).position") == "static"
    report.close()


def test_scrubbing_shows_the_run_come_about(opened):
    for _ in range(4):
        opened.click(".sjw-scrubber button:has(.fa-step-backward)")
    opened.wait_for_function(
        """() => {
            const words = document.querySelector('.sjw-moment').innerText;
            const told = words.match(/^micro-batch (\\d+): [\\d,]+ \\+ [\\d,]+ rows came.* in state/s);
            const box = [...document.querySelectorAll('.sjw-chart div')].find(each => each.view);
            return told && box && box.view.signal('moment') === Number(told[1]);
        }"""
    )
    button(opened, "Whole run").click()
    opened.wait_for_selector(".sjw-moment:has-text('the whole run'):visible")


def test_playing_moves_by_itself_and_ends(opened):
    for _ in range(3):
        opened.click(".sjw-scrubber button:has(.fa-step-backward)")
    opened.wait_for_selector(".sjw-moment:has-text('in state'):visible")
    opened.click(".sjw-scrubber button:has(.fa-play)")
    opened.wait_for_selector(".sjw-moment:has-text('the whole run'):visible")


PLACES = """() => {
    const box = [...document.querySelectorAll('.sjw-chart div')].find(each => each.view);
    const canvas = box.querySelector('canvas').getBoundingClientRect(), origin = box.view.origin();
    const found = [];
    const visit = (mark, x, y) => {
        for (const item of mark.items ?? []) {
            if (mark.marktype === 'group') {
                for (const each of item.items ?? []) visit(each, x + (item.x || 0), y + (item.y || 0));
            } else if (mark.marktype === 'symbol' && item.datum?.row_id) {
                found.push({ id: item.datum.row_id, fate: item.datum.fate, x: x + item.x, y: y + item.y });
            }
        }
    };
    visit(box.view.scenegraph().root, 0, 0);
    return found.map(each => ({ ...each, x: each.x + canvas.x + origin[0], y: each.y + canvas.y + origin[1] }));
}"""
"""Where each row is drawn, in the window."""


def alone(opened, fate):
    """The row of a fate that is drawn furthest from all others."""
    places = opened.evaluate(PLACES)

    def nearest(one):
        return min(abs(one["x"] - each["x"]) + abs(one["y"] - each["y"]) for each in places if each["id"] != one["id"])

    return max((each for each in places if each["fate"] == fate), key=nearest)


def stretch(opened):
    return opened.locator(".sjw-stretch-text").inner_text()


def drag(opened, begin=0.3, end=0.6, height=0.5):
    """Drag over a part of the chart."""
    box = opened.locator(".sjw-chart canvas").first.bounding_box()
    x, y = box["x"] + 70, box["y"] + box["height"] * height
    width = box["width"] - 120
    opened.mouse.move(x + width * begin, y)
    opened.mouse.down()
    opened.mouse.move(x + width * (begin + end) / 2, y, steps=4)
    expect(opened.locator(".sjw-stretch")).to_be_visible()
    opened.mouse.move(x + width * end, y, steps=4)
    opened.mouse.up()


def noted(opened, words, there=True):
    script = """([words, there]) => [...document.querySelectorAll('.sjw-table')].some(
        each => each.offsetParent && each.innerText.includes(words)) === there"""
    opened.wait_for_function(script, arg=[words, there], timeout=30_000)


def test_a_drag_shows_a_stretch_and_a_double_click_all(opened):
    opened.evaluate("() => document.querySelector('.sjw').scrollIntoView()")
    all_rows = shown(opened, "rows")
    drag(opened)
    noted(opened, "in this stretch")
    assert stretch(opened).startswith("from 2026-01-01 ")
    fewer = shown(opened, "rows")
    assert 0 < fewer < all_rows
    drag(opened, height=0.93)  # the same in another track, and in a chart that is zoomed
    opened.wait_for_function(
        """before => [...document.querySelectorAll('.sjw-chart div')].find(each => each.view)
            .view.data('rows').length < before""",
        arg=fewer,
    )
    box = opened.locator(".sjw-chart canvas").first.bounding_box()
    opened.mouse.dblclick(box["x"] + 300, box["y"] + 200)
    noted(opened, "in this stretch", there=False)
    assert shown(opened, "rows") == all_rows
    choose(opened, "Along", "micro-batch")
    title(opened, "by micro-batch")
    drag(opened)
    opened.wait_for_selector(".sjw-stretch-text:has-text('micro-batches ')")


def test_the_wheel_scrolls_the_page_and_zooms_with_ctrl(opened):
    opened.evaluate("() => document.querySelector('.sjw').scrollIntoView()")
    chart = opened.locator(".sjw-chart canvas").first
    before, box = stretch(opened), chart.bounding_box()
    opened.mouse.move(box["x"] + 300, box["y"] + 200)
    opened.mouse.wheel(0, 100)
    opened.wait_for_function(
        "top => document.querySelector('.sjw-chart').getBoundingClientRect().top < top", arg=box["y"]
    )
    assert stretch(opened) == before
    opened.keyboard.down("Control")
    opened.mouse.wheel(0, -300)
    opened.keyboard.up("Control")
    opened.wait_for_selector(".sjw-stretch-text:has-text('from 2026')")


def test_a_click_picks_the_nearest_row_within_twenty_pixels(opened):
    opened.evaluate("() => document.querySelector('.sjw').scrollIntoView()")
    place = alone(opened, "matched")
    opened.mouse.click(place["x"] + 6, place["y"] - 4)
    signalled(opened, "picked", [place["id"]])
    box = opened.locator(".sjw-chart canvas").first.bounding_box()
    opened.mouse.click(box["x"] + 5, box["y"] + 5)
    signalled(opened, "picked", [])


def test_details_lead_from_row_to_row(opened):
    opened.evaluate("() => document.querySelector('.sjw').scrollIntoView()")
    place = alone(opened, "matched")
    opened.mouse.click(place["x"], place["y"])
    opened.wait_for_selector(".sjw-details .sjw-fate-matched:visible")
    story, chart = (opened.locator(each).first.bounding_box() for each in (".sjw-details", ".sjw-chart"))
    assert story["y"] >= chart["y"] + chart["height"]  # below it, and the chart stays where it is
    heading = opened.locator(".sjw-story h4").inner_text()
    opened.locator(".sjw-candidates button:has-text('met')").first.click()
    opened.wait_for_function("before => document.querySelector('.sjw-story h4').innerText !== before", arg=heading)
    button(opened, "All rows of this key").click()
    opened.wait_for_selector(".sjw-story h4:has-text('Key ')")


def test_the_settings_fold_away(opened):
    width = opened.locator(".sjw-chart").first.bounding_box()["width"]
    button(opened, "Settings").click()
    opened.wait_for_function("before => document.querySelector('.sjw-chart').clientWidth > before + 150", arg=width)
    expect(opened.locator(".sjw-settings")).to_be_hidden()
    button(opened, "Settings").click()
    opened.wait_for_selector(".sjw-settings:visible")


def test_the_chart_has_room_and_begins_high_on_the_page(own):
    """At 1440 pixels with the file browser open; the settings are folded away until they are asked for."""
    own.set_viewport_size({"width": 1440, "height": 900})
    button(own, "Settings").click()
    place = own.wait_for_function(
        """() => { const page = document.querySelector('.sjw').getBoundingClientRect();
            const canvas = document.querySelector('.sjw-chart canvas').getBoundingClientRect();
            return canvas.width >= 800 && { down: canvas.top - page.top, across: canvas.width, page: page.width }; }"""
    ).json_value()
    assert place["page"] < 1160
    assert place["down"] <= 220


def test_a_cause_in_the_band_filters_all_views(opened):
    band = opened.locator(".sjw-cause").first
    band.click()
    count = int(band.locator("b").inner_text())
    opened.wait_for_selector(".sjw-cause[aria-pressed=true]")
    opened.wait_for_selector(f".sjw-table:has-text('{count} of ')")
    opened.wait_for_selector(f".sjw-story:has-text('{count} of ')")
    opened.locator(".sjw table.dataTable tbody tr:visible").first.click()
    opened.wait_for_selector(".sjw-story .sjw-fate:visible")
    view(opened, "Unmatched")
    opened.wait_for_selector(f".sjw-table:visible:has-text('{count} of ')")
    band.click()
    opened.wait_for_selector(".sjw-cause[aria-pressed=false]")


@pytest.mark.parametrize("width", [1440, 1000])
def test_the_causes_that_the_band_shows_are_shown_whole(opened, width):
    opened.set_viewport_size({"width": width, "height": 1100})
    cut = """() => [...document.querySelectorAll('.sjw-cause-words')]
        .filter((each) => each.scrollWidth > each.clientWidth || each.getBoundingClientRect().right > each.closest('.sjw-band').getBoundingClientRect().right)
        .map((each) => each.textContent)"""
    opened.wait_for_selector(".sjw-cause")
    opened.wait_for_function(f"() => !({cut})().length")
    opened.set_viewport_size(SIZE)


def test_all_causes_of_a_side_are_shown_on_demand(opened):
    more = opened.locator("button.sjw-more").first
    hidden = int(more.inner_text().split()[1])
    side = opened.locator(".sjw-side:has(button.sjw-more)").first
    before = side.locator(".sjw-cause b").all_inner_texts()
    more.click()
    after = side.locator(".sjw-cause b").all_inner_texts()
    assert sum(map(int, after[len(before) :])) == hidden
    assert after[: len(before)] == before
    expect(more).to_have_attribute("aria-expanded", "true")
    expect(more).to_be_focused()
    more.click()
    assert side.locator(".sjw-cause").count() == len(before)


def test_a_fix_says_what_else_it_does_and_a_key_takes_it_back(opened):
    opened.locator("button.sjw-more").first.click()
    cause = opened.locator(".sjw-cause:has-text('lower bound')").first
    cause.click()
    opened.wait_for_selector(f".sjw-table:has-text('{cause.locator('b').inner_text()} of ')")
    opened.locator(".sjw table.dataTable tbody tr:visible").first.click()
    opened.wait_for_selector(".sjw-effect:has-text('matched')")
    bound = field(opened, "Lower bound")
    assert bound.input_value() == "0 seconds"
    opened.locator(".sjw-fix button:visible").click()
    expect(bound).not_to_have_value("0 seconds")
    opened.wait_for_timeout(2_000)  # a step that is undone while it is being drawn is another test's
    opened.keyboard.press("Control+z")  # the button that was clicked is gone, and the focus is in the page still
    expect(bound).to_have_value("0 seconds")


def test_jupyterlabs_shortcuts_do_not_act_on_the_page(opened):
    script = "() => window.jupyterapp.shell.currentWidget.content.widgets.length"
    cells = opened.evaluate(script)
    opened.locator(".sjw .noUi-handle:visible").first.focus()
    for key in "xbd":
        opened.keyboard.press(key)
    opened.keyboard.press("d")
    opened.wait_for_timeout(500)
    assert opened.evaluate(script) == cells
    assert opened.locator(".sjw").is_visible()


def test_a_restarted_kernel_is_told(own):
    own.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    own.wait_for_selector(".sjw-gone-note:has-text('was restarted or shut down')", timeout=60_000)
    assert own.locator(".sjw-gone > .sjw-body").evaluate("each => getComputedStyle(each).pointerEvents") == "none"
    own.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'", timeout=60_000
    )
    run_all(own, lambda: came_back(own))
    expect(own.locator(".sjw-gone")).to_have_count(0)


def test_after_save_and_restart_the_page_comes_back_as_it_was(own):
    choose(own, "Scenario", "orders_payments")
    expect(field(own, "Upper bound")).to_have_value("15 seconds")  # that of the scenario has come
    field(own, "Upper bound").fill("4 seconds")
    own.keyboard.press("Tab")
    view(own, "Late")
    own.wait_for_selector(".sjw-tabs .mod-active:text-is('Late')")
    title(own, "late")
    own.wait_for_timeout(2_000)  # until its table is there
    own.locator(".sjw table.dataTable tbody tr:visible").first.click()
    own.wait_for_selector(".sjw-details:visible .sjw-fate-late")
    told = own.locator(".sjw-story:visible h4").first.inner_text()
    kept = "get_ipython() and [len(each.kept().picked) for each in __import__('workbench').process.pages]"
    wait_for(lambda: "[1]" in ask_kernel(own, f"print({kept})"))
    own.wait_for_timeout(3000)  # it is saved with the notebook a second after it has come to rest
    own.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    own.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    own.wait_for_selector(".sjw-gone-note:has-text('was restarted or shut down')", timeout=60_000)
    own.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'", timeout=60_000
    )
    run_all(own, lambda: came_back(own))
    own.wait_for_selector(".sjw-tabs .mod-active:text-is('Late')")
    expect(own.locator(".sjw-story:visible h4").first).to_have_text(told)
    settings(own)
    expect(field(own, "Upper bound")).to_have_value("4 seconds")


def test_after_a_reload_of_the_browser_the_page_is_there_and_saved_with_the_notebook(own):
    """Its cell was run twice: what is left of the first page must not keep the second from coming back."""
    one = lambda: wait_for(lambda: ask_kernel(own, "print(len(__import__('workbench').process.pages))") == "1")  # noqa: E731
    run_all(own, one)
    badge(own, "Preview (simulated)")
    own.wait_for_timeout(3000)  # it is saved with the notebook a second after it has come to rest
    own.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    wait_for(lambda: not own.evaluate("() => window.jupyterapp.shell.currentWidget.context.model.dirty"))
    own.reload()
    own.wait_for_selector(".sjw-badge:has-text('Preview (simulated)')", timeout=120_000)
    whole = "() => JSON.stringify(window.jupyterapp.shell.currentWidget.context.model.toJSON())"
    assert '"view":"Tracks"' in own.evaluate(whole)
    view(own, "Late")
    wait_for(lambda: '"view":"Late"' in own.evaluate(whole))
    assert own.evaluate("() => window.jupyterapp.shell.currentWidget.context.model.dirty")
    expect(own.locator(".sjw")).to_have_count(1)


def test_the_page_opens_in_a_tab_beside_the_notebook(jupyter, browser):
    address, root = jupyter
    with page(address, saved(root, "tab.ipynb", "%load_ext workbench\n%workbench --tab"), browser=browser) as opened:
        run_all(opened, lambda: arrived(opened))
        assert opened.locator(".jp-Notebook .sjw").count() == 0
        assert opened.locator(".sjw-chart canvas").first.bounding_box()["width"] > 900
        opened.click(".lm-TabBar-tabLabel:text-is('tab.ipynb')")
        words = opened.locator(".jp-OutputArea-output:visible").all_inner_texts()
        assert words == ["The stream-join workbench is in the tab “Workbench”, beside this notebook."]
        opened.click(".lm-TabBar-tab:has-text('Workbench') .lm-TabBar-tabCloseIcon")
        opened.wait_for_selector(".jp-OutputArea-output:visible:has-text('run this cell to open it')")


@pytest.mark.parametrize("how", ["sessionContext.shutdown()", "sessionContext.session.kernel.shutdown()"])
def test_a_kernel_that_is_shut_down_is_told(own, how):
    own.evaluate(f"() => window.jupyterapp.shell.currentWidget.{how}")
    own.wait_for_selector(".sjw-gone-note:has-text('was restarted or shut down')", timeout=60_000)
    assert own.locator(".sjw-gone > .sjw-body").evaluate("each => getComputedStyle(each).pointerEvents") == "none"


@pytest.mark.drawn(2)
@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_nothing_violates_wcag(opened, theme):
    change = "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })"
    opened.evaluate(change, theme)
    opened.wait_for_function("dark => (document.body.dataset.jpThemeLight === 'false') === dark", arg="Dark" in theme)
    found = {}
    for name in VIEWS:
        view(opened, name)
        opened.wait_for_timeout(1_500)
        rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
        result = Axe().run(opened, context=".sjw", options=rules).response
        assert len(result["passes"]) > 15
        faults = [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in result["violations"]]
        if faults:
            found[name] = faults
    opened.evaluate(change, "JupyterLab Light")
    assert not found


def test_a_click_on_an_event_picks_it_everywhere(opened):
    place = alone(opened, "unmatched")
    opened.mouse.click(place["x"], place["y"])
    opened.wait_for_selector(".sjw-story .sjw-fate-unmatched:visible")
    signalled(opened, "picked", [place["id"]])
    story = opened.locator(".sjw-story").inner_text()
    view(opened, "Unmatched")
    opened.wait_for_selector(".sjw table.dataTable:visible", timeout=30_000)
    assert opened.locator(".sjw-story").inner_text() == story
    view(opened, "Arrival")
    title(opened, "Arrival and watermark")
    signalled(opened, "picked", [place["id"]])
    view(opened, "Unmatched")
    other = opened.locator(".sjw table.dataTable tbody tr:visible:not(.selected)").first
    other.click()
    opened.wait_for_function("before => document.querySelector('.sjw-story').innerText !== before", arg=story)


def test_two_runs_are_compared(ran):
    field(ran, "Upper bound").fill("3 seconds")
    ran.wait_for_selector(".sjw-since:has-text('upper bound 30 s → 3 s')")
    expect(ran.locator(".sjw-count em").nth(1)).to_be_attached()
    button(ran, "Run on Spark").click()
    badge(ran, "run 2, on Spark in")
    view(ran, "Runs")
    ran.wait_for_selector(".sjw-compare tr.sjw-differs:has-text('upper'):visible")
    ran.wait_for_selector(".sjw-table:visible:has-text('rows have another fate')")
    ran.locator(".sjw-runs .widget-radio").first.locator("label:has-text('1 · Interval join')").click()
    button(ran, "Go back to it").click()
    badge(ran, "run 1, on Spark in")
    wait_for(lambda: field(ran, "Upper bound").input_value() == "30 seconds")


def test_going_live_pausing_and_stopping(opened):
    button(opened, "Go live").click()
    badge(opened, "backpressure")
    size = opened.viewport_size
    for width in (1440, 1000):  # what is said of the query has one line, whatever its figures
        opened.set_viewport_size({"width": width, "height": size["height"]})
        assert opened.locator(".sjw-head .sjw-text").bounding_box()["height"] < 36
        assert opened.locator(".sjw-head").bounding_box()["height"] < 76
    opened.set_viewport_size(size)
    before = shown(opened, "rows")
    opened.wait_for_function(
        "before => [...document.querySelectorAll('.sjw-chart div')].find(each => each.view).view.data('rows').length > before",
        arg=before, timeout=180_000,
    )  # fmt: skip
    view(opened, "Throughput")
    title(opened, "Live: impressions and clicks")
    execute(opened, 3)
    opened.wait_for_selector(".jp-OutputArea-output:has-text('the kernel is free')")
    badge(opened, "backpressure")  # it still runs
    button(opened, "Pause").click()
    badge(opened, "paused")
    button(opened, "Resume").click()
    badge(opened, "backpressure")
    button(opened, "Stop").click()
    badge(opened, "live, stopped")
    button(opened, "Keep as variables").click()
    badge(opened, "Preview")
    expect(opened.locator(".sjw-left")).to_contain_text("live_impressions")
    choose(opened, "From", "a scenario")
    badge(opened, "Preview")


def test_an_error_in_spark_is_one_sentence_and_the_page_recovers(opened):
    code = "import workbench.engine.query as q, workbench as wb; q.kept = q.compiled\ndef bad(code): raise RuntimeError('the state store is gone')\nq.compiled = bad"
    ask_kernel(opened, code)
    try:
        button(opened, "Run on Spark").click()
        badge(opened, "failed")
        expect(opened.locator(".sjw-trouble")).to_contain_text("the state store is gone")
    finally:
        ask_kernel(opened, "q.compiled = q.kept")
    button(opened, "Run on Spark").click()
    badge(opened, "run 1, on Spark in")
    expect(opened.locator(".sjw-trouble")).to_have_text("")


def test_a_click_on_a_point_of_the_tuning_takes_its_setting(ran):
    view(ran, "Tune")
    title(ran, "Share kept against cost")
    ran.wait_for_selector(".sjw-tuned:has-text('To keep 99.9 %'):visible")
    place = ran.evaluate(
        """() => {
            const box = [...document.querySelectorAll('.sjw-chart div')].find(each => each.view);
            const rows = box.view.data('settings');
            const best = rows.reduce((one, other) => (other.kept > one.kept ? other : one));
            const canvas = box.querySelector('canvas').getBoundingClientRect();
            return {
                x: canvas.x + box.view.padding().left + box.view.origin()[0] + box.view.scale('x')(best.state_peak),
                y: canvas.y + box.view.padding().top + box.view.origin()[1] + box.view.scale('y')(best.kept),
            };
        }"""
    )
    ran.mouse.click(place["x"], place["y"])
    ran.wait_for_selector(".sjw-since:has-text('delay of')")
    badge(ran, "Preview")


def test_nothing_is_clipped(ran):
    for name in ("Timeline", "Unmatched", "Script", "Tune", "Flink", "Runs"):
        view(ran, name)
        ran.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        clipped = ran.evaluate(
            """() => {
                const seen = [...document.querySelectorAll(
                    '.sjw .widget-label, .sjw-groups button, .sjw-tabs button, .sjw-head button, .sjw-left button')].filter(e => e.clientWidth > 0);
                if (seen.length < 20) throw new Error('the page is not there');
                return seen.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent);
            }"""
        )
        assert clipped == [], name


def test_a_narrow_window_puts_the_settings_above(opened):
    opened.set_viewport_size({"width": 760, "height": 1000})
    try:
        opened.wait_for_function(
            """() => document.querySelector('.sjw-left').getBoundingClientRect().bottom
                <= document.querySelector('.sjw-right').getBoundingClientRect().top + 1"""
        )
        view(opened, "Timeline")
        opened.wait_for_function(
            """() => { const canvas = document.querySelector('.sjw-chart canvas').getBoundingClientRect();
                const right = document.querySelector('.sjw').getBoundingClientRect().right;
                return canvas.width > 250 && canvas.right <= right + 1; }"""
        )
    finally:
        opened.set_viewport_size(SIZE)


CUT_OFF = """() => {
    const page = document.querySelector('.sjw'), right = page.getBoundingClientRect().right, found = [];
    for (let box = page; box; box = box.parentElement)
        if (getComputedStyle(box).overflowX !== 'visible' && box.scrollWidth > box.clientWidth + 1)
            found.push(`${box.className} scrolls`);
    for (const each of page.querySelectorAll('*')) {
        const box = each.getBoundingClientRect();
        if (!box.width || !box.height || each.closest('.dt-scroll, .sjw-beside, .vega-actions, [style*="overflow-x: auto"]')) continue;
        if (box.right > right + 1) found.push(`${each.className} is beyond the page: ${each.textContent}`);
        if (each.matches('button, .widget-box, .widget-label, .widget-html-content, .sjw-badge') && each.scrollWidth > each.clientWidth + 1)
            found.push(`${each.className || each.title} is cut off: ${each.textContent}`);
    }
    return found.map(each => each.slice(0, 200));
}"""


def test_a_window_of_500_pixels_cuts_nothing_off(opened):
    opened.set_viewport_size({"width": 500, "height": 1000})
    opened.evaluate("void window.jupyterapp.shell.collapseLeft()")
    try:
        for name in VIEWS:
            view(opened, name)
            ask_kernel(opened, "pass")  # comes after all that the view has sent
            opened.evaluate("() => new Promise(done => setTimeout(() => requestAnimationFrame(done), 300))")
            assert opened.evaluate(CUT_OFF) == [], name
        view(opened, "Timeline")
        for source in ("this notebook", "files", "Kafka topics"):
            choose(opened, "From", source)
            badge(opened, "shown for the previous settings")
            assert opened.evaluate(CUT_OFF) == [], source
    finally:
        opened.set_viewport_size(SIZE)
        opened.evaluate("void window.jupyterapp.shell.expandLeft()")


def test_the_keyboard_is_enough(ran):
    button(ran, "Run on Spark").wait_for()  # the settings can be changed again
    expect(field(ran, "Upper bound")).to_be_enabled()
    field(ran, "Upper bound").focus()
    ran.keyboard.press("Control+A")
    ran.keyboard.type("12 seconds")
    ran.wait_for_selector(".sjw-since:has-text('→ 12 s')")
    button(ran, "Run on Spark").wait_for()
    reached = set()
    for _ in range(90):
        ran.keyboard.press("Tab")
        reached.add(ran.evaluate("document.activeElement.textContent.trim() || document.activeElement.title"))
    assert {"Run on Spark", "Rows", "Tracks", "Whole run"} <= reached
    ran.locator(".sjw-groups button:text-is('Rows')").focus()
    for _ in range(20):  # from tab to tab, as in every row of tabs
        if ran.evaluate("document.activeElement.textContent.trim()") == "Hand on":
            break
        ran.keyboard.press("ArrowRight")
    ran.wait_for_selector(".sjw-code pre:has-text('def join_streams'):visible")


def test_why_a_row_has_no_partner_and_its_fix_with_few_keys(opened):
    """From the notebook's cell: into the page, to a row that a setting would match, its fix, and back."""
    opened.evaluate("() => document.querySelector('.jp-Cell.jp-mod-active .jp-Editor, .jp-Notebook').focus()")
    opened.locator(".sjw-head button:has-text('Settings')").focus()  # the first of the page
    opened.keyboard.press("Shift+Tab")
    presses = 0

    def press(key):
        nonlocal presses
        opened.keyboard.press(key)
        presses += 1

    while not opened.evaluate("() => Boolean(document.activeElement.closest('.sjw'))"):
        press("Tab")
    story, heard = opened.locator(".sjw-details .sjw-story"), []
    fix = opened.locator(".sjw-fix button")
    while not (fix.is_visible() and "bound" in fix.inner_text()):
        press("n")
        expect(story.locator("h4")).not_to_have_text(heard[-1] if heard else "")
        heard.append(story.locator("h4").inner_text())
    assert story.get_attribute("aria-live") == "polite"
    assert "partner" in story.inner_text() or "bound" in story.inner_text()
    matched = opened.locator(".sjw-count:has-text('matched') b").first.inner_text()
    press("f")
    expect(opened.locator(".sjw-count:has-text('matched') b").first).not_to_have_text(matched)
    opened.wait_for_timeout(2_000)  # until the step can be undone
    press("Control+z")
    expect(opened.locator(".sjw-count:has-text('matched') b").first).to_have_text(matched)
    assert presses < 25


INTERACTIVE = {
    "button", "checkbox", "combobox", "link", "menuitem", "option", "radio", "searchbox", "slider", "spinbutton",
    "switch", "tab", "textbox", "DisclosureTriangle",
}  # fmt: skip


def walk(opened):
    """What a screen reader comes to on the page, in its order: role, name, what is inside, properties."""
    nodes = opened.context.new_cdp_session(opened).send("Accessibility.getFullAXTree")["nodes"]
    known = {each["nodeId"]: each for each in nodes}
    inside = {each["nodeId"]: each.get("childIds", []) for each in nodes}
    begin = next(each for each in nodes if said(each, "name").startswith("Stream-join workbench"))

    def steps(node):
        found = [one for each in inside[node["nodeId"]] if each in known for one in steps(known[each])]
        if node["ignored"]:
            return found
        more = {each["name"]: each["value"].get("value") for each in node.get("properties", [])}
        words = " ".join([said(node, "name")] + [each["words"] for each in found if each["role"] == "StaticText"])
        return [{"role": said(node, "role"), "name": said(node, "name"), "words": words, **more}, *found]

    return steps(begin)


def said(node, what):
    return str(node.get(what, {}).get("value", ""))


def of_role(steps, role, words=""):
    return [each for each in steps if each["role"] == role and words in each["name"]]


def test_a_screen_reader_is_led_from_a_cause_to_the_fix_of_a_row(opened):
    opened.wait_for_selector(".sjw-cause")
    steps = walk(opened)
    sides = [each["name"] for each in of_role(steps, "group") if each["name"].endswith(" rows")]
    assert len(sides) == 2
    for side in sides:  # each piece of a bar says how many, of how many, of which stream
        name, rows = side.removesuffix(" rows").split(": ")
        counts = [each["name"] for each in of_role(steps, "button", f" of {rows} rows of {name} ")]
        assert sum(int(each.split(" of ")[0].replace(",", "")) for each in counts) == int(rows.replace(",", ""))
    [chart] = of_role(steps, "group", "Chart: ")
    assert "unmatched" in chart["name"]
    assert chart["focusable"]
    opened.get_by_role("button", name="of other causes").first.press("Enter")
    causes = [
        each
        for each in of_role(walk(opened), "button")
        if re.match(r"[\d,]+ of \w+: .* excludes the nearest", each["name"])
    ]
    assert all("pressed" in each for each in causes)
    opened.get_by_role("button", name=causes[0]["name"], exact=True).press("Enter")
    opened.wait_for_selector(".sjw-cause[aria-pressed=true]")
    opened.get_by_role("group", name="Chart: ").press("n")
    opened.wait_for_selector(".sjw-story h4:has-text('unmatched')")
    opened.wait_for_selector(".sjw-fix button:visible")
    steps = walk(opened)
    [story] = of_role(steps, "region", "Story of the picked row")
    assert story["live"] == "polite"
    assert "bound" in story["words"]
    [heading] = [each for each in of_role(steps, "heading") if "unmatched" in each["words"]]
    table = steps.index(of_role(steps, "table", "Rows")[0])
    heads = [each["name"] for each in of_role(steps[table:], "columnheader")]
    assert {"stream", "fate", "reason", "would match with"} <= {*heads}
    assert len(of_role(steps[table:], "row")) > 2
    [fix] = [each for each in of_role(steps, "button", "Set ") if "bound" in each["name"]]
    assert steps.index(story) < steps.index(heading) < steps.index(fix) < table
    matched = of_role(steps, "button", "matched: show these")[0]["name"]
    opened.get_by_role("button", name=fix["name"], exact=True).press("Enter")
    expect(opened.get_by_role("button", name=matched, exact=True)).to_have_count(0)


def test_nothing_that_can_be_used_is_without_a_name(opened):
    for name in ("Tracks", "Late", "State", "Tune", "Script", "Runs"):
        view(opened, name)
        opened.wait_for_timeout(1_000)
        nameless = [
            each
            for each in walk(opened)
            if (each["role"] in INTERACTIVE or each.get("focusable")) and not each["name"].strip()
        ]
        assert not nameless, name
    header = opened.get_by_role("button", name="More about the streams")
    assert header.get_attribute("aria-expanded") == "false"
    header.press("Enter")
    expect(header).to_have_attribute("aria-expanded", "true")


def test_running_the_cell_again_leaves_nothing_of_the_page_before(opened):
    button(opened, "Go live").click()
    badge(opened, "backpressure")
    execute(opened, 1)
    opened.wait_for_function(
        """() => {
            const badges = [...document.querySelectorAll('.sjw-badge')];
            return badges.length && badges.every(each => each.innerText.includes('Preview'));
        }""",
        timeout=60_000,
    )
    code = (
        "import threading, json, workbench as wb; "
        "active = wb.spark()._jsparkSession.sharedState().activeStreamingQueries().size(); "
        "print(json.dumps([active, "
        "sorted({each.name for each in threading.enumerate() if each.name.startswith('stream-join')})]))"
    )
    wait_for(lambda: json.loads(ask_kernel(opened, code)) in ([0, []], [0, ["stream-join-workbench-drawing"]]))


def test_two_runs_stand_beside_each_other_and_their_changes_in_lines_below_their_headings(ran):
    field(ran, "Upper bound").fill("4 seconds")
    field(ran, "Upper bound").press("Enter")
    badge(ran, "Preview")
    button(ran, "Run on Spark").click()
    badge(ran, "run 2, on Spark in")
    view(ran, "Runs")
    ran.wait_for_selector(".sjw-changes tbody td.sjw-line:visible")
    found = ran.evaluate("""() => {
        const box = each => each.getBoundingClientRect(), all = query => [...document.querySelectorAll(query)];
        const changes = document.querySelector('.sjw-changes');
        const places = query => [...changes.querySelectorAll(query)].map(each => Math.round(box(each).left));
        return {
            heads: places('thead tr:first-child th'), cells: places('tbody tr:first-child > *'),
            heights: [...changes.querySelectorAll('tbody tr')].map(each => box(each).height),
            labels: all('.sjw-runs .widget-radio > .widget-label').map(each => box(each).top),
            lists: all('.sjw-runs .widget-radio').map(each => [box(each).top, box(each).bottom, box(each).left, box(each).right]),
            tools: box(document.querySelector('.sjw-runs + .sjw-tools')).top,
        };
    }""")
    assert found["heads"] == found["cells"]
    assert max(found["heights"]) < 40
    (top, bottom, _, right), (next_top, next_bottom, left, _) = found["lists"]
    assert bottom <= next_top or right <= left
    assert all(label >= start for label, start in zip(found["labels"], (top, next_top), strict=True))
    assert max(bottom, next_bottom) <= found["tools"]


def test_a_second_page_leaves_the_first_alone(jupyter, browser):
    address, root = jupyter
    cells = ("%load_ext workbench", "%workbench", "%workbench")
    with page(address, saved(root, "two.ipynb", *cells), browser=browser) as opened:
        execute(opened, 0)
        ask_kernel(opened, "pass")
        execute(opened, 1)
        badge(opened, "Preview (simulated)")
        button(opened, "Run on Spark").click()
        badge(opened, "run 1, on Spark in")
        come(opened, lambda: execute(opened, 2), lambda: badge(opened, "Preview (simulated)", 60_000))
        first, second = (opened.locator(".sjw").nth(place) for place in range(2))
        expect(first.locator(".sjw-badge")).to_contain_text("run 1, on Spark in")
        expect(first.locator(".sjw-chart canvas:visible")).to_have_count(1)
        for each, words in ((first, "1 · Interval join"), (second, "page 1: 1 · Interval join")):
            each.locator(".sjw-groups button:text-is('Hand on')").click()
            each.locator(".sjw-tabs button:text-is('Runs')").click()
            each.locator(".sjw-runs label:visible").filter(has_text=words).first.wait_for()
        second.locator("button:has-text('Go back to it'):visible:enabled").click()
        second.locator(".sjw-badge:has-text('run 1, on Spark in')").wait_for()


def test_deleting_the_cell_stops_its_query(own):
    button(own, "Go live").click()
    badge(own, "backpressure")
    active = "import workbench as wb; print(wb.spark()._jsparkSession.sharedState().activeStreamingQueries().size())"
    assert ask_kernel(own, active) == "1"
    own.locator(".jp-Notebook .jp-Cell").nth(1).locator(".jp-InputArea-editor").click()
    own.keyboard.press("Escape")
    own.evaluate("void window.jupyterapp.commands.execute('notebook:delete-cell')")
    wait_for(lambda: ask_kernel(own, active) == "0")


OWN = """
import generators, numpy as np, pandas as pd
orders, payments = (each.to_pandas().drop(columns="batch") for each in generators.generate("orders_payments", events=80))
orders = orders.assign(order_id=range(len(orders)), ordered_at=orders["ordered_at"].dt.strftime("%d.%m.%Y %H:%M:%S"))
orders.loc[[3, 9], "ordered_at"] = ["soon", None]
payments = payments.assign(order_id=[str(n) for n in np.arange(len(payments)) + 12])
"""
OWN_CELLS = ("%load_ext workbench", OWN, "%workbench orders payments")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_two_dataframes_with_text_times_and_a_wrong_key_type_are_a_chart_in_a_few_clicks(
    jupyter, browser, dark, tmp_path
):
    address, root = jupyter
    book = saved(root, f"own-{dark}.ipynb", *OWN_CELLS)
    with page(address, book, size=(1440, 1700), dark=dark, browser=browser) as opened:
        run_all(opened, lambda: badge(opened, "nothing to show yet"))
        opened.wait_for_selector(f"body[data-jp-theme-light='{'false' if dark else 'true'}']", state="attached")
        ask_kernel(opened, "pass")  # comes after all that the opening page has sent
        clicks = (
            "Parse as day.month.year hour:minute:second; not 1",
            "Leave out 2 rows",
            "Make order_id whole numbers",
        )
        for number, words in enumerate(clicks):
            opened.screenshot(path=tmp_path / f"{number}.png")
            button(opened, words).click()
        badge(opened, "Preview (simulated)")
        opened.wait_for_selector(".sjw-chart canvas:visible")
        assert shown(opened, "rows") > 100
        notes = opened.locator(".sjw-note:visible").all_inner_texts()
        assert any("% of the keys of orders are on payments" in each for each in notes)
        opened.screenshot(path=tmp_path / "chart.png")
        cut = "each => each.scrollWidth > each.clientWidth + 1"
        for words in opened.locator(".sjw-left .widget-label:visible, .sjw-left button:visible").all():
            assert not words.evaluate(cut), words.inner_text()
        view(opened, "Script")
        opened.wait_for_selector(".sjw-export:visible")
        choose(opened, "Sink", "kafka")
        opened.wait_for_selector(".sjw-code:has-text('spark-sql-kafka')")
        opened.screenshot(path=tmp_path / "export.png")


DROP = """async ([files, where]) => {
    const data = new DataTransfer();
    for (const [name, text] of files) data.items.add(new File([text], name));
    const place = document.querySelector(where);
    const at = place.getBoundingClientRect();
    const how = { bubbles: true, cancelable: true, dataTransfer: data, clientX: at.x + 5, clientY: at.y + 5 };
    const over = place.dispatchEvent(new DragEvent('dragover', how));
    place.dispatchEvent(new DragEvent('drop', how));
    return over;
}"""


def test_a_file_is_dropped_on_the_page_or_chosen(opened):
    rows = "".join(f"{number},2026-01-05 10:00:{number:02}\n" for number in range(30))
    files = [["orders.csv", f"id,ordered_at\n{rows}"], ["payments.csv", f"id,paid_at\n{rows}"]]
    assert opened.evaluate(DROP, [files, ".sjw-right"]) is False  # the browser is not to open it
    for _ in range(2):
        button(opened, "Parse as ISO 8601").click()
        opened.wait_for_timeout(1_500)
    opened.wait_for_selector(".sjw-note:has-text('orders.csv is in the page'):visible")
    opened.wait_for_selector(".sjw-badge:has-text('Preview (simulated)')")
    uploads = opened.locator(".sjw button.sjw-upload:visible")
    expect(uploads.nth(0)).to_have_text("Upload (1)")
    with opened.expect_file_chooser() as chooser:
        uploads.nth(1).click()
    few = "".join(rows.splitlines(keepends=True)[:5]).encode()
    chooser.value.set_files([{"name": "few.csv", "mimeType": "text/csv", "buffer": b"id,paid_at\n" + few}])
    button(opened, "Parse as ISO 8601").click()
    opened.wait_for_selector(".sjw-note:has-text('few.csv is in the page'):visible")
