"""Whatever is typed into a text field of the page: a sentence or a result, never a trace, and the page goes on."""

from __future__ import annotations

import itertools

import fault_lab
import ipywidgets as widgets
import pytest
from lab import CHROMIUM, chromium, lab, run_all, saved, settings, view
from lab import page as page_of
from page import Page

import generators
from workbench import charts
from workbench.kinds import kinds

TEXTS = [
    '<img src=x onerror="window.__ran=1">', '"><script>window.__ran=1</script>', "'; DROP TABLE x; --", "${7*7}", "{{7*7}}",
    "{% for x in y %}", "%s%n%d", "../../etc/passwd", "/etc/passwd", "~root/.ssh", "\\0", "a\x00b", "x" * 100_000, "1" * 5_000,
    "\u202eabc\u202c", "\U0001f469\u200d\U0001f680", "\t", "null", "NaN", "1e999", "1e5", "-1", "0", "99999999999999999999 days",
    "0 s", "\uff11\uff12 s", "\u0661", "-5 s", "javascript:window.__ran=1", "file:///etc/passwd", "y" * 300, "\u200b", "`id`",
    "$(id)", "\u2028", '"""', "'''", "\\", "#", ";", "--", "/*", "*/", "\ud800", '__import__("os").system("id")',
    "spark._jvm.System.exit(1)", "[[1,2],[3", "s3a://nowhere/x",
]  # fmt: skip
TABS = [view.tab for view in charts.views() if view.tab] + ["Output", "Script", "Tune", "Flink", "Runs"]


def text_fields(page):
    return [each for each in page.widgets() if isinstance(each, widgets.Text | widgets.Textarea) and not each.disabled]


def attack(page, field, texts):
    """Type texts into a field, then what was there."""
    before = field.value
    for text in texts:
        field.value = text
        page.wait()
        failed = "the workbench failed" in page.trouble or "Traceback" in page.trouble
        assert not failed, (field.description, text[:60], page.trouble[:600])
    field.value = before
    page.wait()


@pytest.mark.parametrize("kind", kinds())
def test_texts_in_the_settings_of_each_kind(page, kind):
    page.set({"Kind": kinds()[kind].label})
    before = page.trouble  # some kinds do not fit the scenario
    cycle = itertools.islice(itertools.cycle(TEXTS), fault_lab.seed_of_commit() % len(TEXTS), None)
    fields = text_fields(page)
    for field in fields:
        attack(page, field, itertools.islice(cycle, 5))
    assert page.trouble == before


@pytest.mark.parametrize("tab", TABS)
def test_texts_in_the_fields_of_each_tab(page, tab):
    if tab == "Windows":
        page.set({"Kind": "Tumbling window join"})
    settings = {id(each) for each in text_fields(page)}
    page.open(tab)
    cycle = itertools.islice(itertools.cycle(TEXTS), fault_lab.seed_of_commit() % len(TEXTS), None)
    for field in text_fields(page):
        if id(field) not in settings:
            attack(page, field, itertools.islice(cycle, len(TEXTS)))
    assert page.trouble == ""


N = 10_000
LONG = [
    "x" * N, "1" * N, "ab " * N, "(" * N, "x" * N + "(1)", "5 " + "s" * N, "left_a < '" + "y" * N + "'",
    "wb.col('" + "c" * N + "') > 1", "wb.col('" + "c" * N + "') > wb.col('" + "d" * N + "')", "col('a') > '" + "z" * N + "'",
    "wb.col('a').like('" + "p" * N + "')", "wb.col('a').isin(" + "'a'," * N + ")", "wb.row('" + "r" * N + "').a > 1",
    "wb.step('" + "s" * N + "', side='left')", "wb.step('a', " + "d" * N + "='left')",
    "wb.step('a', side='" + "l" * N + "')", "wb.step('a', side='left', where=wb.col('" + "c" * N + "') > 1)",
    "wb.step('a', side='left').times(" + "9" * 4000 + ")", "wb.step('a', side='left'), wb.step('b', side='right')," * 40,
    "wb.step('a', side='left'), wb.followed_by('" + "b" * N + "', side='right')",
    "wb.step('a', side='left'), wb.followed_by('" + "b" * N + "', side='right', where=wb.col('x') > wb.row('" + "a" * N + "').x)",
    "wb.step('a', side='left'), wb.followed_by('b', side='right', where=wb.row('a')['" + "e" * N + "'] > wb.col('f'))",
]  # fmt: skip


@pytest.mark.parametrize("kind", kinds())
def test_what_is_said_of_a_long_text_is_short(kind):
    page = Page(*generators.generate(kinds()[kind].scenario, events=20, seed=1))
    try:
        page.wait()
        page.set({"Kind": kinds()[kind].label})
        for field in text_fields(page):
            before = field.value
            for text in LONG:
                field.value = text
                page.wait()
                for said in (page.trouble, *page.said(), *(page.mark(path) for path in page.marks() if path)):
                    assert len(said) < 1_200, (field.description, text[:60], len(said), said[:200])
            field.value = before
    finally:
        page.close()


CELLS = ("%load_ext workbench", "%workbench")


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
def test_texts_that_are_typed_in_the_browser(tmp_path):
    """As above, by key strokes: what the browser makes of a text is among it."""
    root = tmp_path / "root"
    root.mkdir()
    cycle = itertools.islice(itertools.cycle(TEXTS), fault_lab.seed_of_commit() % len(TEXTS), None)
    with (
        lab(tmp_path, root) as address,
        chromium() as browser,
        page_of(address, saved(root, "h.ipynb", *CELLS), browser=browser) as opened,
    ):
        shown = lambda: opened.wait_for_selector(".sjw-chart canvas:visible", timeout=60_000)  # noqa: E731
        run_all(opened, shown)
        settings(opened)
        boxes = opened.locator(".sjw input[type=text]:visible:enabled, .sjw textarea:visible:enabled")
        filled = 0
        for tab in ("Timeline", "Script", "Tune", "Runs"):
            view(opened, tab)
            place = 0
            while place < boxes.count():  # a setting may show others
                box = boxes.nth(place)
                was, place = box.input_value(), place + 1
                for text in itertools.islice(cycle, 2):
                    box.fill(text.replace("\x00", "").encode(errors="replace").decode())
                    filled += 1
                box.fill(was)
                box.press("Tab")
                opened.wait_for_timeout(200)
                assert opened.evaluate("window.__ran") is None
        assert filled > 40
        assert [each.name for each in root.iterdir() if each.name[0] != "."] == ["h.ipynb"]
        assert opened.locator(".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']").count() == 0
        opened.wait_for_selector(".sjw button:has-text('Run on Spark'):not([disabled])", timeout=60_000)
        opened.locator(".sjw button:has-text('Run on Spark')").click()
        opened.wait_for_selector(".sjw-badge:has-text('on Spark in')", timeout=120_000)


def test_numbers_that_are_none_are_told_where_they_are_typed(page):
    page.open("Tune")
    for text in ("1" * 5_000, "-1", "1e5", "\u0661"):
        page.set({"Rows in state, at most": text})
        assert "write a number of rows, such as 10000, or nothing" in page.text("tuned")
        assert page.trouble == ""
