"""The tab Runs: what past runs are called, and what two of them are compared by. Saved previews are runs here."""

from __future__ import annotations

import re

import pytest

import generators
import workbench as wb

ORDERS, PAYMENTS = generators.generate("orders_payments", events=600, late=0.1, trigger="5 seconds")
JOIN = wb.IntervalJoin("-2 seconds", "15 seconds", how="left")
BATCHES = ORDERS.batch_count


@pytest.fixture
def kept(tmp_path):
    """A function that saves a preview and lists it on a page."""

    def keep(page, name, join=JOIN, left=ORDERS, right=PAYMENTS, **settings):
        run = wb.preview(join, left, right, **settings)
        run.save(tmp_path / name)
        page.open("Runs")
        page.set({"Folder": str(tmp_path / name)})
        page.click("Load")
        return run

    return keep


def titles(page):
    return [text for text, _ in page.field("Run").options]


def test_a_run_is_named_by_what_a_user_knows_in_full(page, kept):
    kept(page, "a", left=ORDERS.with_watermark("16.994 seconds"))
    kept(page, "b", wb.WindowJoin(wb.Tumbling("10 seconds")), policy="max", finish=False)
    kept(page, "c", wb.CoGroup(wb.Session("5 seconds")))
    rows = f"{len(ORDERS)} rows of orders and {len(PAYMENTS)} rows of payments"
    assert titles(page)[::-1] == [
        "1 · Interval join, lower bound -2 s, upper bound 15 s, left · delays: orders 16.994 s, payments 10 s"
        f" · {rows} · loaded",
        "2 · Tumbling window join, size 10 s, inner · delays: orders 10 s, payments 10 s"
        f" · watermark follows the faster side (max) · windows left open at the end · {rows} · loaded",
        f"3 · coGroup, session windows, gap 5 s · delays: orders 10 s, payments 10 s · {rows} · loaded",
    ]


def test_a_run_of_generated_streams_is_named_by_its_scenario_and_what_differs(page, spark):
    page.set({"Events": 40})
    page.run()
    assert "impressions_clicks: 40 rows of impressions and " in "".join(titles_of(page))
    assert "disorder" not in "".join(titles_of(page))
    page.set({"Disorder": 0.25})
    page.run()
    newest, oldest = titles_of(page)
    assert "disorder 0.25" in newest
    assert "disorder 0.1" in oldest
    assert newest.endswith(" s on Spark")


def titles_of(page):
    page.open("Runs")
    return titles(page)


def test_runs_with_other_ends_are_compared_with_both_closed(page, kept):
    closed, other = "compare with every window closed in both", JOIN
    kept(page, "open", other, finish=False)
    kept(page, "shut", wb.IntervalJoin("-2 seconds", "9 seconds", how="left"))
    shut = wb.preview(wb.IntervalJoin("-2 seconds", "9 seconds", how="left"), ORDERS, PAYMENTS)
    moved = shut.against(wb.preview(JOIN, ORDERS, PAYMENTS))
    assert "pending" not in set(moved["other_fate"])
    assert page.note.startswith(
        f"{len(moved):,} rows have another fate in run 2 than in run 1, with every window closed"
    )
    assert "run 1 left windows open" in page.note
    assert re.search(r"pending</th><td[^>]*>0[^<]*</td><td[^>]*>0", page.html("compared"))
    page.set({closed: False})
    assert not re.search(r"pending</th><td[^>]*>0[^<]*</td><td[^>]*>0", page.html("compared"))
    assert "where rows are pending" in page.note
    assert any(each.startswith("pending → ") for each in page.choice(kinds(page)[0]).options)
    kept(page, "open too", wb.IntervalJoin("-2 seconds", "5 seconds", how="left"), finish=False)
    page.choose_run("against", 1)
    assert not page.usable(closed)  # both ends are alike


def kinds(page):
    """The kinds of change that are offered."""
    rows = [each for each in page.widgets() if "sjw-kinds" in getattr(each, "_dom_classes", ())]
    return list(rows[0].options) if rows else []


def test_differences_are_counted_by_kind_of_change_and_one_is_chosen(page, kept):
    left = ORDERS.with_watermark("0 seconds")
    kept(page, "one", left=ORDERS.with_watermark("60 seconds"))
    kept(page, "two", wb.IntervalJoin("-2 seconds", "3 seconds", how="left"), left, PAYMENTS)
    one = wb.preview(JOIN, ORDERS.with_watermark("60 seconds"), PAYMENTS)
    two = wb.preview(wb.IntervalJoin("-2 seconds", "3 seconds", how="left"), left, PAYMENTS)
    moved = two.against(one)
    counts = (moved["other_fate"] + " → " + moved["fate"]).value_counts()
    assert len(counts) > 1
    assert len(moved) > 200
    assert kinds(page) == [f"all {len(moved):,}", *(f"{kind} {count:,}" for kind, count in counts.items())]
    assert len(page.table.df) == 200  # the rest is a click away, and nothing is left out on the way
    assert page.note.endswith(f"; rows 1 to 200 of {len(moved):,}")
    seen = [*page.table.df.index]
    while page.usable("The next 200 rows"):
        page.click("The next 200 rows")
        seen += [*page.table.df.index]
    assert seen == moved.index.tolist()
    kind, count = next(iter(counts.items()))
    page.open(f"{kind} {count:,}")
    assert set(page.table.df["fate in run 1"] + " → " + page.table.df["fate in run 2"]) == {kind}
    assert min(count, 200) == len(page.table.df)
