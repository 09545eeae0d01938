"""A page comes back as its notebook keeps it: settings, view and picked rows."""

from __future__ import annotations

import json

import nbformat
import pytest
from page import Page

import generators
from workbench.app import App, close_all, kept_in_notebook

ORDERS, PAYMENTS = generators.generate("orders_payments", events=40, seed=3)
SPACE = {"orders": ORDERS, "payments": PAYMENTS}


@pytest.fixture(autouse=True)
def closed():
    yield
    close_all()


def page_of(*names):
    page = Page(App(*names, namespace=SPACE))
    page.wait()
    return page


def notebook_with(monkeypatch, folder, data, cell="one"):
    """A saved notebook of this kernel, with an output in a cell."""
    output = nbformat.v4.new_output("display_data", data)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("%workbench", id=cell, outputs=[output])])
    nbformat.write(book, folder / "a.ipynb")
    monkeypatch.setenv("JPY_SESSION_NAME", str(folder / "a.ipynb"))


def test_settings_view_and_picked_rows_come_back(monkeypatch, tmp_path):
    before = page_of()
    before.set(
        {"Scenario": "orders_payments", "Events": 80, "Rate": 3.0, "Kind": "Session window join", "Gap": "2 seconds"}
    )
    before.set({"Watermark / first": "7 seconds"})
    before.open("Late")
    before.pick(row_id="left-3")
    bundle = json.loads(json.dumps(before.app.kept().bundle()).replace("3.0", "3"))  # as JavaScript writes it
    notebook_with(monkeypatch, tmp_path, {**bundle, "text/html": "<p>shown</p>"})
    after = page_of()
    after.app.come_back(kept_in_notebook("one"))
    after.wait()
    assert after.meant().join == before.meant().join
    assert after.cell() == before.cell()
    assert after.tab == "Late"
    assert after.app.kept() == before.app.kept()
    assert after.app.kept().picked == (("left", 3),)


def test_another_cell_another_notebook_or_none_brings_nothing(monkeypatch, tmp_path):
    notebook_with(monkeypatch, tmp_path, page_of().app.kept().bundle())
    assert kept_in_notebook("one") is not None
    assert kept_in_notebook("two") is None
    assert kept_in_notebook(None) is None
    (tmp_path / "a.ipynb").write_text("no notebook")
    assert kept_in_notebook("one") is None
    (tmp_path / "a.ipynb").unlink()
    assert kept_in_notebook("one") is None


@pytest.mark.parametrize(
    "changed",
    [
        {"streams": None},
        {"settings": ["events"]},
        {"view": 5},
        {"view": "no such view"},
        {"picked": [["left"], ["up", 1], ["left", "1"], ["left", True], ["left", 10**9], ["left", -1], 7]},
        {"picked": None},
        {"settings": {"events": "many", "kind": "no kind", "how": 4, "rate": None, "idle_part": [1], "nothing": 1}},
        {"settings": {"left.watermark": "soon <b>"}},
    ],
)
def test_what_somebody_has_changed_does_no_harm(monkeypatch, tmp_path, changed):
    page = page_of()
    [(mime, found)] = page.app.kept().bundle().items()
    notebook_with(monkeypatch, tmp_path, {mime: found | changed})
    page.app.come_back(kept_in_notebook("one"))
    page.wait()
    assert page.tabs
    page.set({"Watermark / first": "5 seconds", "Events": 30})
    assert not page.trouble


def test_a_page_of_other_streams_begins_anew(monkeypatch, tmp_path):
    page = page_of()
    page.set({"Scenario": "orders_payments", "Upper bound": "3 seconds"})
    notebook_with(monkeypatch, tmp_path, page.app.kept().bundle())
    other = page_of("orders", "payments")
    assert other.app.kept().streams == ("orders", "payments")
    other.app.come_back(kept_in_notebook("one"))
    other.wait()
    assert other.value("Upper bound") == "15 seconds"


def test_variables_that_are_gone_leave_what_is_there(monkeypatch, tmp_path):
    page = page_of("orders", "payments")
    page.set({"Upper bound": "3 seconds"})
    [(mime, found)] = page.app.kept().bundle().items()
    settings = found["settings"] | {"left.variable": "gone"}
    notebook_with(monkeypatch, tmp_path, {mime: found | {"settings": settings}})
    again = page_of("orders", "payments")
    again.app.come_back(kept_in_notebook("one"))
    again.wait()
    assert again.value("Upper bound") == "3 seconds"
    assert again.meant(**SPACE).left.name == "orders"


@pytest.mark.parametrize("secret", ["s3a://me:pass@bucket/a", "jdbc:x?password=pass", "Token = pass"])
def test_no_secret_is_kept(secret):
    page = page_of()
    page.set({"Watermark / first": secret})
    assert "pass" not in json.dumps(page.app.kept().bundle())


def test_files_and_their_repairs_come_back(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    rows = ORDERS.to_pandas().drop(columns="batch")
    rows.assign(ordered_at=rows["ordered_at"].dt.strftime("%d/%m/%Y %H:%M:%S")).to_csv("orders.csv", index=False)
    PAYMENTS.to_pandas().drop(columns="batch").to_csv("payments.csv", index=False)
    before = page_of()
    before.set({"From": "files"})
    before.set({"Left files": "orders.csv", "Right files": "payments.csv"})
    before.wait()
    while offered := [each for each in before.buttons() if each.startswith("Parse")]:
        before.click(offered[0])
    assert not before.trouble
    notebook_with(monkeypatch, tmp_path, before.app.kept().bundle())
    after = page_of()
    after.app.come_back(kept_in_notebook("one"))
    after.wait()
    assert after.cell() == before.cell()
    assert after.figures == before.figures
    assert after.app.kept() == before.app.kept()
