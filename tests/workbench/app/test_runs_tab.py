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
    assert "disorder 25 %" in newest
    assert "disorder 10 %" in oldest
    assert newest.endswith(" s on Spark")
    beside = page.html("compared")
    assert '<tr class="sjw-differs"><th>disorder</th><td>25 %</td><td>10 %</td></tr>' in beside
    assert "late</th><td>3 %" not in beside  # the same in both
    page.set({"Late": 0.22, "More about the streams / No partner": "0.4"})
    assert page.since == "run 2 is of other rows: late 3 % → 22 %; no partner as suits the scenario → 40 %"


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


def test_runs_of_other_rows_are_not_compared_and_the_last_that_can_be_is_chosen(page, kept):
    other = generators.generate("orders_payments", events=50)
    kept(page, "a")
    kept(page, "b", left=other[0], right=other[1])
    assert page.note == (
        "run 2 has other rows than run 1: press Go back to it on one, change a setting, and run again."
    )
    assert not kinds(page)
    kept(page, "c", wb.IntervalJoin("-2 seconds", "3 seconds", how="left"))
    assert page.value("against").startswith("1 · ")
    assert "another fate in run 3 than in run 1" in page.note


def test_rows_that_differ_are_listed_old_before_new_with_nothing_where_there_is_nothing(page, kept):
    kept(page, "a")
    kept(page, "b", wb.IntervalJoin("-2 seconds", "3 seconds", how="left"))
    shown = page.table.df
    assert shown.columns[:3].tolist() == ["stream", "fate in run 1", "fate in run 2"]
    assert [each for each in shown.columns[:6] if each.startswith("why")] == ["why in run 1", "why in run 2"]
    assert set(shown["stream"]) == {"orders"}  # the first 200 rows, without the columns that only payments have
    assert not shown.isna().any(axis=None)


def test_a_pattern_is_listed_with_its_steps_in_words(page, kept):
    steps = (
        wb.step("order", side="left", where=wb.col("amount") > 5),
        wb.followed_by("payment", side="right").one_or_more(),
        wb.not_followed_by("refund", side="right"),
    )
    kept(page, "a", wb.Pattern(*steps, within="20 seconds"))
    [title] = titles(page)
    assert "steps order where amount > 5, then payment once or more, then no refund" in title
    assert "wb." not in title + page.text("compared")
