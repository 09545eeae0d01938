"""How long a moved setting takes to be seen, at 2,000 rows a side, and how long the run that confirms it takes.

``python tests/benchmarks/preview.py`` prints a table; with ``--browser`` it measures in JupyterLab too, from the key
press to the painted chart. Ratios within one table hold; single times depend on the machine.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import generators
import workbench as wb
from workbench import charts

sys.path.insert(0, str(Path(__file__).parents[1]))
from page import Page

EVENTS, MOVES = 2_000, 9
CHARTS = [*(view.tab for view in charts.views() if view.tab), "Tune"]
JOINS = {
    "interval": {"Kind": "Interval join"},
    "tumbling": {"Kind": "Tumbling window join", "Size": "10 seconds"},
    "sliding": {"Kind": "Sliding window join", "Size": "10 seconds", "Slide": "5 seconds"},
    "session": {"Kind": "Session window join", "Gap": "5 seconds"},
    "coGroup": {"Kind": "coGroup, tumbling windows", "Size": "10 seconds"},
}
BROWSER = """() => {
    window.moved = null;
    window.times = [];
    new MutationObserver(() => {
        if (window.moved !== null) window.times.push(performance.now() - window.moved);
        window.moved = null;
    }).observe(document.querySelector('.sjw-chart'), { attributes: true, attributeFilter: ['data-painted'] });
    document.addEventListener('input', () => { window.moved = performance.now(); }, true);
}"""


def table(title: str, rows: dict[str, list[float]]) -> None:
    print(f"\n{title}\n{'':28}{'median':>9}{'worst':>9}")
    for name, seconds in rows.items():
        print(f"{name:28}{statistics.median(seconds) * 1000:6.0f} ms{max(seconds) * 1000:6.0f} ms", flush=True)


def in_the_kernel() -> None:
    page = Page(*generators.generate("orders_payments", events=EVENTS, rate=4, late=0.05, seed=7))
    page.wait()
    found = {}
    for name, settings in JOINS.items():
        page.set(settings)
        for view in CHARTS if name == "tumbling" else CHARTS[:1]:
            page.open(view)
            found[f"{name}, {view}"] = [moved(page, f"{8 + move} seconds") for move in range(MOVES)]
        page.open(CHARTS[0])
    table(f"from a moved setting to the chart sent, {EVENTS:,} rows a side", found)
    page.close()


def moved(page: Page, delay: str) -> float:
    return until_sent(page, lambda: page.set({"Watermark / first": delay}))


def brushed(page: Page, stretch: list[float]) -> float:
    def brush() -> None:
        page.chart.brushed = stretch
        page.wait()

    return until_sent(page, brush)


def until_sent(page: Page, act: Callable[[], None]) -> float:
    """Seconds until the page has sent the last chart that something leads to."""
    sent: list[float] = []
    page.chart.observe(lambda _: sent.append(time.perf_counter()), "drawing")
    begun = time.perf_counter()
    act()
    page.chart.unobserve_all("drawing")
    return sent[-1] - begun


def a_million() -> None:
    """How long a brush over a million rows a side takes, to counts and to single rows."""
    page = Page(*generators.generate("orders_payments", events=1_000_000, rate=1000, trigger="30 seconds", seed=7))
    low, high = (page.chart.shown.params[each] for each in ("low", "high"))
    middle = (low + high) / 2
    found: dict[str, list[float]] = {}
    for move in range(MOVES):
        for name, length in (("counts of 10 minutes", 600_000), ("single rows of 1 s", 1_000)):
            stretch = [middle + move * 1_000, middle + move * 1_000 + length]
            found.setdefault(name, []).append(brushed(page, stretch))
        found.setdefault("all again", []).append(brushed(page, []))
    table("from a brush to the chart sent, 1,000,000 rows a side", found)
    page.close()


def in_the_browser() -> None:
    from lab import lab, page, run_all, saved, settings
    from lab import view as show_view

    cells = [
        "%load_ext workbench\nimport generators",
        f"left, right = generators.generate('orders_payments', events={EVENTS}, rate=4, late=0.05, seed=7)",
        "%workbench left right",
    ]
    home = Path(tempfile.mkdtemp())
    (home / "root").mkdir()
    saved(home / "root", "n.ipynb", *cells)
    found = {}
    with lab(home, home / "root") as address, page(address, "n.ipynb") as opened:
        run_all(opened, lambda: opened.wait_for_selector(".sjw-chart canvas", timeout=90_000))
        opened.wait_for_timeout(2_000)
        settings(opened)
        opened.evaluate(BROWSER)
        field = opened.locator(".sjw .widget-inline-hbox:has(.widget-label:text-is('Upper bound')) input")
        for view in [each for each in CHARTS if each != "Windows"]:
            show_view(opened, view)
            opened.wait_for_timeout(1_500)
            opened.evaluate("window.times = []")
            for move in range(MOVES):
                field.fill(f"{12 + move} seconds")
                opened.wait_for_timeout(600)
            found[f"interval, {view}"] = [each / 1000 for each in opened.evaluate("window.times")]
    table(f"from the key press to the painted chart, {EVENTS:,} rows a side", found)


def on_spark() -> None:
    found = {}
    for name, events in (("200 rows a side", 200), (f"{EVENTS:,} rows a side", EVENTS)):
        sides = generators.generate("orders_payments", events=events, rate=4, late=0.05, seed=7)
        join = wb.IntervalJoin("0 seconds", "15 seconds", how="left")
        wb.run(join, *sides)
        found[name] = []
        for _ in range(3):
            begun = time.perf_counter()
            wb.run(join, *sides)
            found[name].append(time.perf_counter() - begun)
    table("a run on Spark in a warm session, 10 micro-batches", found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--browser", action="store_true", help="measure in JupyterLab, too (needs chromium)")
    arguments = parser.parse_args()
    in_the_kernel()
    a_million()
    if arguments.browser:
        in_the_browser()
    on_spark()
