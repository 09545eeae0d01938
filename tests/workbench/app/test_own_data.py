"""Own tables: columns in menus with their types, key overlap, repairs as buttons and as code, trigger intervals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from page import Page

import generators

ORDERS, PAYMENTS = (
    each.to_pandas().drop(columns="batch") for each in generators.generate("orders_payments", events=60, seed=3)
)
ORDERS = ORDERS.assign(order_id=range(len(ORDERS)))
PAYMENTS = PAYMENTS.assign(order_id=np.arange(len(PAYMENTS)))


def opened(orders=ORDERS, payments=PAYMENTS, **more):
    space = {"orders": orders, "payments": payments, **more}
    page = Page("orders", "payments", namespace=space)
    page.wait()
    return page, space


def same_rows(page, space):
    """Whether the cell gives the streams that the page shows, row by row; gives them."""
    made = page.meant(**space)
    assert page.tables_match(made, "lanes")
    page.open("Output")
    pd.testing.assert_frame_equal(page.table.df, made.output.head(len(page.table.df)))
    page.open("Tracks")
    return made


def repairs(page):
    return [each for each in page.buttons() if each.startswith(("Parse", "Leave", "Make", "Treat", "Read", "Take mid"))]


def test_columns_are_chosen_from_menus_with_types_the_likely_ones_first():
    page, _ = opened()
    labels = [text for text, _ in page.field("Left / Key").options]
    assert labels[0] == "order_id · integer"
    assert page.field("Left / Event time").options[0][0] == "ordered_at · time"
    assert page.field("Left / Arrival").options[0][0] == "not known"
    assert {name.split(" · ")[0] for name in labels} == set(ORDERS.columns)
    assert not page.trouble


def test_the_overlap_of_keys_is_shown_on_both_sides():
    page, _ = opened(payments=PAYMENTS.assign(order_id=np.arange(len(PAYMENTS)) + 15))
    count = len(set(ORDERS["order_id"]) & (set(PAYMENTS["order_id"] + 15)))
    notes = page.notes()
    assert notes[0] == f"{count / len(ORDERS) * 100:.0f} % of the keys of orders are on payments"
    assert notes[1] == f"{count / len(PAYMENTS) * 100:.0f} % of the keys of payments are on orders"


def test_a_key_that_is_nowhere_on_the_other_side_is_seen():
    page, _ = opened()
    page.set({"Right / Key": "payment_id", "Left / Key": "customer"})
    words = "no row meets another; choose other keys, or repair them"
    assert page.notes()[:2] == [
        f"0 % of the keys of orders are on payments: {words}",
        f"0 % of the keys of payments are on orders: {words}",
    ]
    assert page.warnings() == page.notes()[:2]
    assert page.usable("Run on Spark")
    page.set({"Right / Key": "order_id", "Left / Key": "order_id"})
    assert page.warnings() == []


def test_keys_that_are_written_otherwise_are_repaired_on_both_sides_by_one_button():
    names = [f"o-{number:02}" for number in range(60)]
    orders = ORDERS.assign(order_id=[name.upper() if place % 2 else name for place, name in enumerate(names)])
    payments = PAYMENTS.assign(order_id=[f"{name} " for name in names[: len(PAYMENTS)]])
    page, space = opened(orders, payments)
    page.set({"Left / Key": "order_id", "Right / Key": "order_id"})
    assert page.warnings()
    share = f"{len(PAYMENTS) / len(ORDERS):.0%}"
    first, second = (each for each in page.buttons() if each.startswith("Write"))
    assert first == (
        f"Write order_id in lower case, order_id of payments without blanks at the ends: {share} are on payments"
    )
    assert second.startswith("Write order_id of payments without blanks at the ends")
    page.click(first)
    assert not [each for each in page.buttons() if each.startswith("Write")]
    assert page.warnings() == []
    made = same_rows(page, space)
    assert set(made.right.to_pandas()["order_id"]) <= set(names)
    assert list(made.left.to_pandas()["order_id"]) == names
    assert ".str.lower()" in page.cell() and ".str.strip()" in page.cell()
    page.click("Undo the last change of a setting")  # one press is one step back
    assert page.warnings()
    page.click("Redo it")
    page.click("Take back: order_id is written in lower case.")
    assert len([each for each in page.buttons() if each.startswith("Write")]) == 1


def test_exact_duplicates_are_mentioned_and_left_out_on_demand():
    page, space = opened(pd.concat([ORDERS, ORDERS.head(3)]))
    words = "3 of 63 rows of orders are exact duplicates of a row before them"
    assert words in page.notes()
    assert len(same_rows(page, space).left) == 63
    page.click("Leave out 3 duplicates")
    assert words not in page.notes()
    assert len(same_rows(page, space).left) == 60
    page.click("Take back: rows that equal a row before them are left out.")
    assert words in page.notes()


def test_epochs_in_text_are_read_as_times():
    seconds = ORDERS["ordered_at"].astype("datetime64[s]").astype("int64")
    page, space = opened(ORDERS.assign(ordered_at=seconds.astype(str)))
    page.set({"Left / Event time": "ordered_at"})
    page.click("Read as s since 1970")
    assert list(same_rows(page, space).left.event_times) == list(seconds * 10**6)


def test_text_times_and_a_key_of_another_type_are_repaired_by_buttons_and_as_code():
    texts = ORDERS["ordered_at"].dt.strftime("%d.%m.%Y %H:%M:%S").where(ORDERS.index != 4, "soon")
    page, space = opened(ORDERS.assign(ordered_at=texts), PAYMENTS.assign(order_id=PAYMENTS["order_id"].astype(str)))
    assert page.mark("Left / Event time") == "ordered_at holds text; read it as times"
    assert not page.usable("Run on Spark")
    page.click("Parse as day.month.year hour:minute:second; not 1: 'soon'")
    assert page.mark("Left / Event time") == "1 of 60 rows have no event time in ordered_at"
    page.click("Leave out 1 row")
    assert page.mark("Right / Key") == "order_id of orders holds whole numbers, order_id of payments text"
    assert [each for each in repairs(page) if each.startswith("Make")]
    page.click(f"Make order_id whole numbers: {_of(PAYMENTS, ORDERS.drop(index=4))} are on orders")
    assert repairs(page) == []
    assert page.marks() == []
    made = same_rows(page, space)
    expected = ORDERS.drop(index=4)
    assert list(made.left.to_pandas()["order_id"]) == list(expected["order_id"])
    assert list(made.left.to_pandas()["ordered_at"]) == list(expected["ordered_at"].dt.floor("s"))
    assert "import pandas as pd" in page.cell()
    assert space["orders"]["ordered_at"].dtype == object  # the user's own frame stays as it is


def _of(mine, theirs):
    return f"{mine['order_id'].isin(theirs['order_id']).mean():.0%}"


def test_nothing_is_repaired_unless_asked_for_and_a_repair_is_taken_back():
    missing = ORDERS.assign(ordered_at=ORDERS["ordered_at"].where(ORDERS.index > 2))
    page, space = opened(missing)
    assert page.mark("Left / Event time") == "3 of 60 rows have no event time in ordered_at"
    page.click("Leave out 3 rows")
    assert len(same_rows(page, space).left) == 57
    page.click("Take back: rows without ordered_at are left out.")
    assert page.mark("Left / Event time") == "3 of 60 rows have no event time in ordered_at"


def test_another_variable_begins_without_repairs():
    missing = ORDERS.assign(ordered_at=ORDERS["ordered_at"].where(ORDERS.index > 2))
    page, space = opened(missing, good=ORDERS)
    page.click("Leave out 3 rows")
    page.set({"Streams / Left": "good"})
    assert len(same_rows(page, space).left) == 60
    assert "dropna" not in page.cell()


def test_a_zone_on_one_side_is_offered_to_the_other():
    zoned = ORDERS.assign(ordered_at=ORDERS["ordered_at"].dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin"))
    local = PAYMENTS.assign(paid_at=PAYMENTS["paid_at"] + pd.Timedelta("1 h"))
    page, space = opened(zoned, local)
    assert "orders has a time zone and payments none: it is taken as UTC" in page.notes()
    assert page.usable("Run on Spark")
    before = page.figures["matched"]
    page.click("Treat payments as Europe/Berlin")
    after = page.figures["matched"]
    assert after > before
    page.click("Undo the last change of a setting")
    assert page.figures["matched"] == before
    page.click("Redo it")
    assert page.figures["matched"] == after
    made = same_rows(page, space)
    assert list(made.right.event_times) == list(
        PAYMENTS["paid_at"].astype("int64") // (1 if PAYMENTS["paid_at"].dt.unit == "us" else 1000)
    )
    assert not [each for each in page.notes() if "zone" in each]


def arrived(frame, time, seconds):
    return frame.assign(received_at=frame[time] + pd.Timedelta(seconds=seconds))


def test_rows_with_a_time_of_arrival_are_cut_by_a_trigger_interval():
    page, space = opened(arrived(ORDERS, "ordered_at", 3), arrived(PAYMENTS, "paid_at", 5))
    assert page.value("Left / Arrival") == page.value("Right / Arrival") == "received_at"
    assert not page.usable("Micro-batches")
    page.set({"Trigger interval": "2 seconds"})
    made = same_rows(page, space)
    assert made.left.arrivals.trigger == pd.Timedelta("2 s")
    assert made.left.batch_count > 5
    assert "arrival='received_at'" in page.cell().replace('"', "'")
    page.set({"Trigger interval": "soon"})
    assert "such as" in page.mark("Trigger interval")
    page.set({"Trigger interval": "2 seconds", "Right / Arrival": "not known"})
    assert page.mark("Right / Arrival").startswith("orders has times of arrival: choose such a column here, too")
    page.set({"Left / Arrival": "not known"})
    assert page.usable("Micro-batches")
    assert not page.usable("Trigger interval")
    page.set({"Micro-batches": 4})
    assert same_rows(page, space).left.batch_count == 4


def test_a_time_of_arrival_in_text_is_parsed_and_rows_without_one_left_out():
    orders = arrived(ORDERS, "ordered_at", 3)
    texts = orders["received_at"].dt.strftime("%Y-%m-%d %H:%M:%S").where(orders.index != 1)
    page, space = opened(orders.assign(received_at=texts), arrived(PAYMENTS, "paid_at", 5))
    page.set({"Left / Arrival": "received_at"})
    assert page.mark("Left / Arrival") == "received_at holds text; read it as times"
    page.click("Parse as ISO 8601")
    page.click("Leave out 1 row")
    assert len(same_rows(page, space).left) == 59


def test_streams_with_times_of_arrival_take_another_trigger():
    left, right = generators.generate("orders_payments", events=60, trigger="4 seconds")
    page, space = opened(left, right)
    assert page.value("Trigger interval") == "4 seconds"
    assert not page.usable("Key")
    page.set({"Trigger interval": "9 seconds"})
    assert same_rows(page, space).left.arrivals.trigger == pd.Timedelta("9 s")
    assert 'orders.with_trigger("9 seconds")' in page.cell()


def test_several_key_columns():
    orders, payments = (each.assign(shop=np.arange(len(each)) % 3) for each in (ORDERS, PAYMENTS))
    page, space = opened(orders, payments)
    assert not page.usable("Key 3")
    page.set({"Left / Key": "order_id", "Right / Key": "order_id", "Left / Key 2": "shop"})
    assert "choose as many on both sides" in page.mark("Right / Key 2")
    page.set({"Right / Key 2": "shop"})
    assert same_rows(page, space).left.key == ("order_id", "shop")
    assert page.usable("Key 3")


def test_names_of_columns_are_text_whatever_they_hold():
    evil = "<b>x</b>'\"\\"
    orders = ORDERS.rename(columns={"ordered_at": evil})
    orders[evil] = orders[evil].dt.strftime("%Y-%m-%d %H:%M:%S").where(orders.index > 0)
    page, space = opened(orders)
    page.set({"Left / Event time": evil})
    page.click("Parse as ISO 8601")
    page.click("Leave out 1 row")
    assert len(same_rows(page, space).left) == 59


def far_apart(minutes):
    """Own tables whose payments come so many minutes after their orders, less the last half minute."""
    late = np.linspace(minutes - 0.5, minutes, len(PAYMENTS)) if minutes else np.zeros(len(PAYMENTS))
    start = pd.Timestamp("2026-03-02 10:00:00")
    orders = pd.DataFrame({"id": range(len(PAYMENTS)), "at": start + pd.to_timedelta(range(len(PAYMENTS)), unit="min")})
    return orders, orders.assign(at=orders["at"] + pd.to_timedelta(late, unit="min"))


def test_bounds_of_a_scenario_that_do_not_suit_own_rows_are_told_with_those_that_do():
    orders, payments = far_apart(45)
    page = Page(namespace={"orders": orders, "payments": payments})
    page.set({"Scenario": "orders_payments"})
    kept = page.value("Lower bound"), page.value("Upper bound")
    assert page.warnings() == []
    page.set({"From": "this notebook"})
    words = "100% of the nearest pairs of a key are farther apart than the bounds allow"
    assert page.warnings() == [f"{words}; the fields are still as for the scenario orders_payments"]
    assert (page.value("Lower bound"), page.value("Upper bound")) == kept  # nothing is changed unasked
    assert page.figures["matched"] == 0
    page.click("Set lower = 0 seconds and upper = 45 minutes")
    assert page.warnings() == []
    assert page.figures["matched"] == 2 * len(orders)
    page.click("Undo the last change of a setting")
    assert (page.value("Lower bound"), page.value("Upper bound")) == kept
    page.set({"Upper bound": "3 seconds"})
    assert page.warnings() == [words]
    page.set({"Upper bound": "2 days"})
    assert page.warnings() == ["the bounds are far wider than nearly all nearest rows of a key are apart"]
    page.set({"Kind": "Interval join", "Upper bound": "soon"})
    assert page.warnings() == []


def test_a_row_whose_partner_is_missing_widens_no_bounds():
    """Its nearest row is the partner of another one of its key."""
    hour = pd.Timestamp("2026-01-01 10:00") + pd.to_timedelta(np.arange(12) * 20, unit="min")
    orders = pd.DataFrame({"id": ["a"] * 12, "at": hour})
    payments = pd.DataFrame({"id": ["a"] * 6, "at": hour[::2] + pd.Timedelta("45s")})
    page = Page(namespace={"orders": orders, "payments": payments})
    page.set({"From": "this notebook", "Lower bound": "0 s", "Upper bound": "1 minute"})
    assert page.warnings() == []
    page.set({"Upper bound": "30 s"})
    page.click("Set lower = 0 seconds and upper = 45 seconds")


def test_rows_of_a_key_on_both_sides_of_a_time_give_both_bounds():
    orders, payments = far_apart(0)
    times = payments["at"] + pd.to_timedelta(np.where(payments.index % 2, 7.25, -90), unit="s")
    page = Page("orders", "payments", namespace={"orders": orders, "payments": payments.assign(at=times)})
    page.wait()
    assert page.usable("Set lower = -90 seconds and upper = 8 seconds")


@pytest.mark.parametrize(
    ("kind", "field", "word", "least"),
    [
        ("Tumbling window join", "Size", "size", "45 minutes"),
        ("Sliding window join", "Size", "size", "45 minutes"),
        ("Session window join", "Gap", "gap", "45 minutes"),
        ("coGroup, tumbling windows", "Size", "size", "45 minutes"),
        ("As-of join, within a tolerance", "Tolerance", "tolerance", "45 minutes"),
    ],
)
def test_time_spans_of_other_joins_that_do_not_suit_own_rows_are_told_with_those_that_do(kind, field, word, least):
    orders, payments = far_apart(45)
    page = Page("orders", "payments", namespace={"orders": orders, "payments": payments})
    page.wait()
    page.set({"Kind": kind})
    if word == "tolerance":
        page.set({"Direction": "forward", field: "2 minutes"})
    [warning] = page.warnings()
    assert "of the left rows" in warning
    before = page.figures["matched"]
    [offered] = [each for each in page.buttons() if each.startswith(f"Set {word} = ")]
    assert pd.Timedelta(offered.split(" = ")[1]) >= pd.Timedelta(least)
    page.click(offered)
    assert page.warnings() == []
    assert page.figures["matched"] > max(before, 0.8 * len(orders))
