"""The form of a pattern: its cards and its text say the same, and conditions are written short."""

from __future__ import annotations

import html
import random

import ipywidgets as widgets
import pytest
from page import Page
from pattern_cases import Drawing

import generators
import workbench as wb
from workbench.app import close_all
from workbench.builtin_kinds.pattern import builder
from workbench.conditions import shorthand
from workbench.patterns import read_steps

FRAUD = (
    "wb.step('sign_in', side='left', where=wb.col('action') == 'sign_in'), "
    "wb.followed_by('small', side='right', where=(wb.col('status') == 'declined') & (wb.col('amount') < 5))"
    ".one_or_more().greedy(), "
    "wb.not_followed_by('out', side='left', where=wb.col('action') == 'sign_out'), "
    "wb.next('large', side='right', where=wb.col('amount') > (wb.row('small').amount * 100), within='5 minutes')"
)


@pytest.mark.parametrize(
    ("short", "condition"),
    [
        ("amount > 5", wb.col("amount") > 5),
        ("status == 'a' and amount < 5", (wb.col("status") == "a") & (wb.col("amount") < 5)),
        ("a > 1 or (b < 2 and c != 3)", (wb.col("a") > 1) | ((wb.col("b") < 2) & (wb.col("c") != 3))),
        ("not a == 1", ~(wb.col("a") == 1)),
        ("a in ('x', 'y')", wb.col("a").isin("x", "y")),
        ("amount > order.amount * 2", wb.col("amount") > wb.row("order").amount * 2),
        ("a.is_null()", wb.col("a").is_null()),
        ("name.like('a%')", wb.col("name").like("a%")),
        ("wb.col('a b') > 5", wb.col("a b") > 5),
    ],
)
def test_a_condition_is_written_short_and_read_again(short, condition):
    assert repr(shorthand.read(short)) == repr(condition)
    assert repr(shorthand.read(shorthand.short(condition))) == repr(condition)


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("0 < amount <= 5", (wb.col("amount") > 0) & (wb.col("amount") <= 5)),
        ("a not in ['x']", ~wb.col("a").isin("x")),
        ("wb.col('a') == 1", wb.col("a") == 1),
        ("col('a') == 1", wb.col("a") == 1),
    ],
)
def test_other_ways_of_writing_are_read(text, condition):
    assert repr(shorthand.read(text)) == repr(condition)


@pytest.mark.parametrize(
    "text",
    [
        "amount >",
        "amount",
        "amount = 5",
        "x.y.z > 1",
        "__import__('os')",
        "open('f') > 1",
        "lambda: 1",
        "[a > 1]",
        "a > b if c else d",
    ],
)
def test_what_is_no_condition_is_refused_in_a_line(text):
    with pytest.raises(wb.ArgumentError, match=r"^where: got .*; ") as raised:
        shorthand.read(text)
    assert "\n" not in str(raised.value)


def test_nothing_is_a_condition_on_nothing():
    assert shorthand.read("  ") is None
    assert shorthand.short(None) == ""


def drawn(seed):
    """A pattern that is drawn, as the cases that Flink is asked."""
    chance = random.Random(seed)
    while True:
        try:
            return Drawing(chance).pattern()
        except wb.ArgumentError:
            continue


@pytest.mark.parametrize("seed", range(40))
def test_the_form_shows_any_pattern_and_leaves_its_text_alone(seed):
    pattern = drawn(seed)
    text = ", ".join(map(repr, pattern.steps))
    form = builder.PatternBuilder(text)
    assert form.value == text
    for each in inputs(form, widgets.Text):
        if each.tooltip.startswith("Which rows fit"):
            each.value = f"{each.value} "  # typed in, and the same
    assert form.value == text
    for each in inputs(form, widgets.Text):
        each.value = each.value.strip()
    assert form.value == text


def inputs(form, kind):
    """The inputs of a kind in a form, in order."""
    found = []
    for each in form.children:
        found += [each] if isinstance(each, kind) else []
        found += inputs(each, kind) if hasattr(each, "children") else []
    return found


def named(form, tooltip, number):
    """The input with a tooltip, of the step with a number."""
    cards = form.children[0].children
    found = [each for each in inputs(cards[number], widgets.DOMWidget) if (each.tooltip or "").startswith(tooltip)]
    return found[0]


def test_a_step_is_changed_in_the_form():
    form = builder.PatternBuilder(FRAUD)
    named(form, "What its rows", 1).value = "tiny"
    named(form, "How often", 1).value = "so many times"
    named(form, "How many", 1).value = 3
    named(form, "Which rows", 1).value = "amount < 2"
    assert repr(read_steps(form.value, "steps")[1]) == (
        "wb.followed_by('tiny', side='right', where=wb.col('amount') < 2).times(3)"
    )
    named(form, "How the step", 3).value = "followed_by_any"
    named(form, "How long", 3).value = ""
    assert repr(read_steps(form.value, "steps")[3]).startswith("wb.followed_by_any('large', side='right', where=")
    assert "within" not in form.value


def test_steps_are_added_and_left_out():
    form = builder.PatternBuilder("wb.step('a', side='left')")
    [add] = [each for each in inputs(form, widgets.Button) if each.description == "Add a step"]
    add.click()
    named(form, "What its rows", 1).value = "b"
    assert form.value == "wb.step('a', side='left'), wb.followed_by('b', side='right')"
    assert all(each.comm is not None for each in inputs(form.children[0], widgets.Text))  # none is closed
    named(form, "Insert", 0).click()
    assert form.value == (
        "wb.step('a', side='left'), wb.followed_by('step_2', side='right'), wb.followed_by('b', side='right')"
    )
    named(form, "Leave out", 1).click()
    named(form, "Leave out", 0).click()
    assert form.value == "wb.step('b', side='right')"
    named(form, "Leave out", 0).click()
    assert form.value == ""
    add.click()
    assert read_steps(form.value, "steps")[0].contiguity == "begin"


def test_what_cannot_be_made_is_said_in_its_card_and_by_the_page():
    form = builder.PatternBuilder(FRAUD)
    named(form, "Which rows", 1).value = "amount <"
    with pytest.raises(wb.ArgumentError):
        read_steps(form.value, "steps")
    [note] = [each for each in inputs(form.children[0].children[1], widgets.HTML) if each.value]
    assert "compare columns, such as amount &gt; 5" in note.value
    named(form, "Which rows", 1).value = "amount < 5"
    assert not note.value
    assert len(read_steps(form.value, "steps")) == 4


def test_text_that_is_no_pattern_is_shown_as_text():
    form = builder.PatternBuilder(FRAUD)
    form.value = "wb.step('a', <b>"
    assert not form.children[0].children
    assert "<b>" in inputs(form, widgets.Textarea)[0].value
    form.value = FRAUD
    assert len(form.children[0].children) == 4


def test_a_group_is_told_and_stays():
    text = "wb.step('a', side='left'), wb.followed_by(wb.group(wb.step('<b>', side='left'), wb.next('c', side='right'))).times(2)"
    form = builder.PatternBuilder(text)
    assert "&lt;b&gt;" in form.children[0].children[1].children[-1].value
    named(form, "What its rows", 0).value = "z"
    assert form.value == text.replace("'a'", "'z'")


def test_the_page_makes_a_pattern_in_the_form():
    page = Page()
    try:
        page.set({"Scenario": "user_actions", "Kind": "Pattern", "Events": 60})
        page.wait()
        before = page.figures["matched"]
        form = next(each for each in page.widgets() if isinstance(each, builder.PatternBuilder))
        named(form, "Which rows", 2).value = "status == 'accepted'"
        page.wait()
        assert not page.trouble
        made = page.meant()
        assert repr(made.join.steps[2].where) == "wb.col('status') == 'accepted'"
        assert page.figures["matched"] == (made.rows["fate"] == "matched").sum() >= before
        named(form, "Which rows", 2).value = "nothing >"
        page.wait()
        assert page.stale
        assert "compare columns" in page.trouble or "steps" in page.trouble
        page.press("Undo the last change of a setting")
        page.wait()
        assert not page.stale
        assert len(form.children[0].children) == 3
    finally:
        close_all()


@pytest.fixture
def page():
    opened = Page()
    opened.set({"Scenario": "user_actions", "Kind": "Pattern", "Events": 60})
    opened.wait()
    yield opened
    close_all()


def notes(form):
    """What is said at each step."""
    said = []
    for card in form.children[0].children:
        [note] = inputs(card, widgets.HTML)
        said.append(html.unescape(note.value))
    return said


def test_a_column_that_there_is_not_is_said_at_its_step(page):
    form = next(each for each in page.widgets() if isinstance(each, builder.PatternBuilder))
    named(form, "Which rows", 1).value = "nothing > 5"
    page.wait()
    first, at_step, third = notes(form)
    assert (first, third) == ("", "")
    assert "there is no column 'nothing'" in at_step
    assert page.said().count(at_step) == 1
    assert "there is no column 'nothing'" in page.trouble
    named(form, "What its rows", 0).value = "begun"  # something else is changed: it is said still
    page.wait()
    assert "there is no column 'nothing'" in notes(form)[1]
    named(form, "Which rows", 1).value = ""
    page.wait()
    assert notes(form) == ["", "", ""]
    assert not page.trouble


def test_a_step_named_as_a_column_of_the_key_is_told_of_there(page):
    form = next(each for each in page.widgets() if isinstance(each, builder.PatternBuilder))
    named(form, "What its rows", 2).value = page.meant().left.key[0]
    page.wait()
    assert "is a column of the key" in notes(form)[2]


def test_a_column_of_a_group_is_said_at_the_group(page):
    form = next(each for each in page.widgets() if isinstance(each, builder.PatternBuilder))
    form.value = (
        "wb.step('a', side='left'), wb.followed_by(wb.group(wb.step('b', side='left', where=wb.col('nothing') > 5), "
        "wb.next('c', side='right'))).times(2)"
    )
    page.wait()
    assert "there is no column 'nothing'" in notes(form)[1]
    form.value = form.value.replace(", where=wb.col('nothing') > 5", "")
    page.wait()
    assert notes(form)[1].startswith("A group of steps")


def form_of(page):
    return next(each for each in page.widgets() if isinstance(each, builder.PatternBuilder))


@pytest.fixture
def shop():
    opened = Page()
    opened.set({"Scenario": "orders_payments", "Events": 60})
    opened.wait()
    yield opened
    close_all()


def test_the_first_steps_suit_the_streams_there_are(shop):
    shop.set({"Kind": "Pattern"})
    shop.wait()
    assert not shop.trouble
    assert not shop.stale
    assert [(each.name, each.side, each.where) for each in shop.meant().join.steps] == [
        ("orders", "left", None),
        ("payments", "right", None),
    ]


def test_steps_for_the_streams_there_are_stay(page):
    assert form_of(page).value.replace('"', "'").startswith("wb.step('sign_in', side='left'")


def test_what_somebody_typed_stays_although_the_streams_do_not_have_it(shop):
    shop.set({"Kind": "Pattern"})
    named(form_of(shop), "Which rows", 0).value = "nothing > 5"
    shop.wait()
    typed = form_of(shop).value
    shop.set({"Events": 70})
    assert form_of(shop).value == typed
    assert "there is no column 'nothing'" in shop.trouble


def test_undo_leads_back_over_the_first_steps(shop):
    before = shop.value("Kind")
    shop.set({"Kind": "Pattern"})
    shop.press("Undo the last change of a setting")
    shop.wait()
    assert shop.value("Kind") == before
    assert not shop.trouble


def test_steps_name_the_streams_and_columns_that_there_are(shop):
    shop.set({"Kind": "Pattern"})
    form = form_of(shop)
    side, where = named(form, "The stream of", 0), named(form, "Which rows", 0)
    assert [words for words, _ in side.options] == ["orders", "payments"]
    assert side.value == "left"
    streams = shop.meant()
    for value, stream in (("left", streams.left), ("right", streams.right)):
        side.value = value
        condition = where.placeholder.removeprefix("any row, or ")
        assert condition.split()[0] in stream.columns, condition
        where.value = condition
        shop.wait()
        assert not shop.trouble
        where.value = ""
    assert len(form.children[0].children) == 2


def test_a_condition_that_cannot_be_read_is_told_once_and_in_its_own_words(shop):
    shop.set({"Kind": "Pattern"})
    form = form_of(shop)
    named(form, "Which rows", 1).value = "method = card"
    shop.wait()
    assert shop.stale
    first, at_step = notes(form)
    assert first == ""
    assert "(== for equal)" in at_step
    assert shop.trouble == f"steps: {at_step}"
    assert shop.said().count(at_step) == 1
    assert not [each for each in shop.said() if "steps with commas between" in each]
    named(form, "Which rows", 1).value = "method == 'card'"
    shop.wait()
    assert not shop.trouble


def test_a_form_of_streams_called_alike_has_their_sides():
    form = builder.PatternBuilder(FRAUD)
    left = wb.preview(wb.IntervalJoin("0 s", "5 s"), *generators.generate("orders_payments", events=20)).left
    form.know(left, left)
    assert [words for words, _ in named(form, "The stream of", 0).options] == ["left", "right"]
    assert [each.side for each in read_steps(form.value, "steps")] == ["left", "right"]
