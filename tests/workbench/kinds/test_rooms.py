"""A kind of join is one package: the rest of the code asks its `Kind`, and a kind from elsewhere works as well as ours."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from helpers import stream
from page import Page
from same_day import SameDay, SameDayJoin
from scripts import run_here

import workbench as wb
from workbench import charts, joins, patterns, times, windows
from workbench.app import close_all
from workbench.joins import HOWS, Join
from workbench.kinds import (
    Execution,
    Field,
    Flag,
    FlinkTexts,
    Form,
    Kind,
    Semantics,
    Settings,
    Words,
    kind_of,
    kinds,
    register,
    unregister,
)

PACKAGE = Path(wb.__file__).parent
CLASSES = {
    each.__name__
    for module in (joins, windows, patterns)
    for each in vars(module).values()
    if isinstance(each, type) and issubclass(each, Join | windows.Described) and each not in (Join, windows.Described)
}
HOMES = {"joins.py", "windows.py"}
HOUR = 3_600


def outside():
    """The syntax trees of all modules but those of kinds and descriptions."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if not {"kinds", "builtin_kinds"} & set(path.relative_to(PACKAGE).parts) and path.name not in HOMES:
            yield path, ast.parse(path.read_text())


def names_in(tree):
    return {each.id if isinstance(each, ast.Name) else each.attr for each in ast.walk(tree) if isinstance(each, ast.Name | ast.Attribute)}  # fmt: skip


def asks_what_kind(node):
    """Whether a piece of code asks what kind a join or window is."""
    asks = ("isinstance", "issubclass", "cast")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in asks:
        texts = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
        return bool((names_in(node) | texts) & CLASSES)
    if isinstance(node, ast.MatchClass):
        return bool(names_in(node.cls) & CLASSES)
    if isinstance(node, ast.Compare):
        texts = {
            each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)
        }
        of_a_kind = any(isinstance(each, ast.Attribute) and each.attr in ("name", "label") for each in ast.walk(node))
        return bool(names_in(node) & CLASSES) or (of_a_kind and bool(texts & {*kinds(), *CLASSES}))
    return False


@pytest.mark.parametrize(
    "code",
    [
        "isinstance(join, CoGroup)",
        "isinstance(join, wb.IntervalJoin | wb.CoGroup)",
        "type(join) is WindowJoin",
        "isinstance(join, AsOfJoin)",
        "cast(RulesJoin, join)",
        "cast('Pattern', join)",
        "kind.name == 'interval'",
        "match join:\n    case CoGroup():\n        pass",
        "type(join.window).__name__ == Session.__name__",
    ],
)
def test_the_gate_sees_what_it_is_to_keep_out(code):
    assert any(asks_what_kind(node) for node in ast.walk(ast.parse(code)))


def test_nobody_outside_the_rooms_asks_what_kind_a_join_is():
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path, tree in outside()
        for node in ast.walk(tree)
        if asks_what_kind(node)
    ]
    assert not found


def test_what_comes_out_for_a_how_is_said_once():
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path, tree in outside()
        if "plan" not in path.parts and path.parent.name != "flink"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value in ("semi", "anti")
    ]
    assert not found


@pytest.mark.parametrize("protocol", [Form, Settings, Semantics, Words, Execution, FlinkTexts])
def test_a_protocol_has_a_dozen_members_at_most_and_says_who_calls_it(protocol):
    members = {name for name in (*vars(protocol), *protocol.__annotations__) if not name.startswith("_")}
    assert 1 < len(members) <= 12
    assert re.search(r"\bask|\bcall", protocol.__doc__)


def test_a_kind_has_no_member_of_its_own():
    assert not [name for name in vars(Kind) if not name.startswith("_")]


@pytest.mark.parametrize("name", kinds())
def test_a_room_knows_its_own(name):
    kind = kinds()[name]
    example = kind.example()
    assert kind_of(example) is kind
    assert [each.name for each in kinds().values() if each.describes(example)] == [name]
    spans = kind.settings(example)
    assert set(spans) == {each.argument for each in kind.fields}
    assert kind.changed(example, **spans) == example
    for each in spans:
        longer = kind.changed(example, **{each: spans[each] + pd.Timedelta("1 s").to_pytimedelta()})
        assert kind_of(longer) is kind
        assert kind.settings(longer)[each] != spans[each]


@pytest.fixture
def same_day():
    kind = SameDay()
    register(kind)
    yield kind
    unregister(kind.name)


START = 1_767_225_600  # seconds: 2026-01-01
ORDERS = [("a", 10, 0), ("b", 11, 0), ("a", 34, 1), (None, 35, 1), ("z", 59, 2), ("c", 12, 3)]
PAYMENTS = [("a", 23, 0), ("a", 25, 1), ("c", 60, 2), ("b", 12, 3), ("d", 61, 3)]
"""Keys, hours, micro-batches; in the last one come rows of a day that the watermark has passed."""
LATE = {("left", 5), ("right", 3)}


def days():
    sides = (("orders", ORDERS), ("payments", PAYMENTS))
    return [
        stream([(key, START + hour * HOUR, batch) for key, hour, batch in rows], name, "1 hour") for name, rows in sides
    ]


def by_loops(how):
    """What comes out, as pairs of row numbers, None for none."""
    pairs = [
        (one, other)
        for one, (left, at, _) in enumerate(ORDERS)
        for other, (right, then, _) in enumerate(PAYMENTS)
        if left is not None
        and left == right
        and at // 24 == then // 24
        and not {("left", one), ("right", other)} & LATE
    ]
    met = [{pair[side] for pair in pairs} for side in (0, 1)]
    unmatched = [
        [row for row in range(len(rows)) if row not in met[side] and (("left", "right")[side], row) not in LATE]
        for side, rows in enumerate((ORDERS, PAYMENTS))
    ]
    if how == "semi":
        return sorted((row, None) for row in met[0])
    if how == "anti":
        return sorted((row, None) for row in unmatched[0])
    padded = [(row, None) for row in unmatched[0] if how in ("left", "full")]
    padded += [(None, row) for row in unmatched[1] if how in ("right", "full")]
    return sorted([*pairs, *padded], key=repr)


def test_an_unknown_kind_is_refused():
    with pytest.raises(wb.ArgumentError, match="join: got SameDayJoin"):
        wb.preview(SameDayJoin(), *days())


def test_a_name_is_taken_once(same_day):
    with pytest.raises(wb.ArgumentError, match="one has that name already"):
        register(same_day)


def test_a_kind_whose_joins_have_one_already_is_refused(same_day):
    again, narrow, wide = SameDay(), SameDay(), SameDay()
    again.name = "again"
    narrow.name, narrow.make = "narrow", lambda *_: wb.IntervalJoin("0 s", "1 s")
    narrow.describes = lambda join: join == wb.IntervalJoin("0 s", "1 s")
    wide.name, wide.make, wide.describes = "wide", lambda *_: AnyJoin(), lambda join: isinstance(join, Join)
    before = kinds().copy()
    for kind, other in ((again, "same_day"), (narrow, "interval"), (wide, "interval")):
        with pytest.raises(wb.ArgumentError, match=f"kind: got '{kind.name}'; .*'{other}'") as raised:
            register(kind)
        assert raised.value.argument == "kind"
        assert "\n" not in str(raised.value)
    assert kinds() == before


class AnyJoin(Join):
    """A join that no kind knows."""


@pytest.mark.parametrize("how", HOWS)
def test_a_strangers_kind_runs_on_spark_as_the_model_says(spark, same_day, how):
    run = wb.run(SameDayJoin(how), *days())
    assert run.mismatch == ""
    assert len(run.comparison) >= 5
    sides = [run.output.get(f"{side}_n") for side in ("left", "right")]
    numbers = [
        [None] * len(run.output) if each is None else [None if pd.isna(n) else int(n) for n in each] for each in sides
    ]
    assert sorted(zip(*numbers, strict=True), key=repr) == by_loops(how)
    late = run.rows[run.rows["fate"] == "late"]
    assert set(zip(late["side"], late["n"], strict=True)) == LATE
    assert run.rows.loc[run.rows["fate"] == "null_key", "n"].tolist() == [3]
    assert "right" in set(run.state(1)["side"])


def test_a_strangers_kind_is_explained(same_day):
    preview = wb.preview(SameDayJoin("left"), *days())
    reasons = preview.rows.set_index(["side", "n"])["reason"]
    assert "its window ended at" in reasons["left", 5]
    assert preview.rows["fix_setting"].dropna().isin(["left.watermark", "right.watermark"]).all()
    for row in range(len(preview.rows)):
        assert "verdict" in preview.why(row).text
    waits = wb.preview(SameDayJoin(), *days(), finish=False).rows
    assert waits.loc[waits["fate"] == "pending", "reason"].str.contains("its window ends at").all()
    assert (waits["fate"] == "pending").any()


@pytest.mark.parametrize("view", [view.name for view in charts.views()])
def test_a_strangers_kind_has_every_view(same_day, view):
    drawing = wb.preview(SameDayJoin("full"), *days()).charts.drawing(view)
    assert drawing.chart().to_dict()
    if view == "timeline":
        assert drawing.title == "Same-day join on event time"


def test_a_strangers_kind_is_tuned_and_advised(same_day):
    tuning = wb.tune(SameDayJoin(), *days(), over={"left.watermark": ["0 s", "1 hour", "3 days"]})
    assert tuning.table["kept"].max() == 1
    assert tuning.table["kept"].min() < 1
    assert any("late" in str(each) for each in wb.advise(SameDayJoin(), *days()))


def test_a_strangers_kind_is_exported(spark, same_day, tmp_path):
    run = wb.run(SameDayJoin("left"), *days(), finish=False)
    assert "a calendar day" in run.script
    own = run_here(spark, run, tmp_path)
    found = own.read.parquet(str(tmp_path / "output"))
    assert found.count() == len(run.output)
    found = own.read.parquet(str(tmp_path / "dead_letters")).toPandas()
    assert len(found) == len(run.late) == 2


def test_a_strangers_day_is_as_long_as_its_window(same_day):
    assert same_day.waits(SameDayJoin(), "left") == same_day.reach(SameDayJoin()) == 24 * HOUR * 1_000_000
    with pytest.raises(wb.ArgumentError, match="how: got 'outer'"):
        SameDayJoin("outer")


def test_flink_has_no_word_for_a_strangers_kind(same_day):
    with pytest.raises(wb.ArgumentError, match="Flink has no such join"):
        wb.flink.sql(SameDayJoin(), *days())


def test_a_strangers_kind_is_on_the_page(same_day):
    orders, payments = days()
    page = Page("orders", "payments", namespace={"orders": orders, "payments": payments})
    try:
        page.wait()
        page.set({"Kind": kinds()["same_day"].label, "How": "full"})
        page.set({"Watermark / first": "1 hour", "Watermark / second": "1 hour"})
        assert 'join = SameDayJoin(how="full")' in page.cell()
        shown = page.meant(orders=orders, payments=payments, SameDayJoin=SameDayJoin)
        assert shown.join == SameDayJoin("full")
        expected = wb.preview(SameDayJoin("full"), *days()).rows["fate"]
        assert shown.rows["fate"].tolist() == expected.tolist()
        assert page.figures["matched"] == (expected == "matched").sum()
    finally:
        close_all()


@dataclass(frozen=True, repr=False)
class LongDayJoin(SameDayJoin):
    """A same-day join whose settings are called like other fields of the page, or like another kind's."""

    late: Any = "1 hour"
    seed: Any = "2 hours"
    lower: Any = "3 hours"
    events: bool = False

    def __post_init__(self):
        super().__post_init__()
        for name in ("late", "seed", "lower"):
            object.__setattr__(self, name, times.positive(getattr(self, name), name))


class LongDay(SameDay):
    name = "long_day"
    label = "Long-day join"
    fields = (
        Field("late", "Evening", "1 hour", "Longer in the evening.", "an evening"),
        Field("seed", "Morning", "2 hours", "Longer in the morning.", "a morning"),
        Field("lower", "Night", "3 hours", "No lower bound.", "a night"),
    )
    flags = (Flag("events", "with holidays", "No number of events."),)

    def describes(self, join):
        return isinstance(join, LongDayJoin)

    def make(self, texts, flags, how):
        return LongDayJoin(how, **texts, **flags)


def test_the_page_tells_a_kinds_settings_from_its_own_and_from_other_kinds():
    register(LongDay())
    page = Page()
    try:
        page.set({"Events": 40, "Late": 0.2, "Seed": 3, "Kind": "Interval join", "Lower bound": "-4 seconds"})
        line = next(line for line in page.cell().splitlines() if "generate(" in line)
        page.set({"Kind": "Long-day join", "Evening": "4 hours", "Night": "5 hours", "with holidays": True})
        assert "join = LongDayJoin(" in page.cell()
        assert line in page.cell()
        run = page.meant(LongDayJoin=LongDayJoin)
        assert run.join == LongDayJoin("left", "4 hours", "2 hours", "5 hours", True)
        assert not page.trouble
        page.set({"Evening": "soon"})
        assert page.marks() == ["Evening"]
        page.set({"Evening": "6 hours"})
        assert (page.value("Late"), page.value("Seed"), page.value("Events")) == (0.2, 3, 40)
        page.set({"Kind": "Interval join"})
        assert page.value("Lower bound") == "-4 seconds"
        page.set({"Kind": "Long-day join"})
        assert page.value("Evening") == "6 hours"
    finally:
        close_all()
        unregister("long_day")
