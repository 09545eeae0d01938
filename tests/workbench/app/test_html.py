"""All HTML of the page is made in one module, where whatever is not HTML made there is text."""

from __future__ import annotations

import ast
from pathlib import Path

import workbench
from workbench.app.html import HTML, html, together

PACKAGE = Path(workbench.__file__).parent
HOMES = {PACKAGE / "app" / "html.py", PACKAGE / "markup.py"}
MADE_HERE = ("app", "report")
"""The packages that make HTML, of what these two give."""
EVIL = '<img src=x onerror="alert(1)">'


def test_what_is_not_marked_as_html_is_text():
    box = HTML(EVIL)
    assert "<" not in box.value
    box.value = html("<b>{}</b>{:,}{!r}", EVIL, 1000, EVIL)
    assert box.value.startswith("<b>&lt;img")
    assert box.value.count("<") == 2
    box.value = together([html("<i>{}</i>", "a"), EVIL])
    assert box.value.startswith("<i>a</i>&lt;img")


def sources():
    return [(path, ast.parse(path.read_text())) for path in sorted(PACKAGE.rglob("*.py")) if path not in HOMES]


def test_html_is_made_in_one_module_only():
    """Another widget that shows HTML, or text marked as HTML elsewhere, would pass it by."""
    raw = {"HTML", "HTMLMath", "Output", "display_html", "description_allow_html", "unsafe_allow_html"}
    for path, tree in sources():
        for node in ast.walk(tree):
            where = f"{path}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert not (node.value.id in ("widgets", "ipywidgets", "IPython") and node.attr in raw), where
            if isinstance(node, ast.ImportFrom) and node.module in ("ipywidgets", "IPython.display"):
                assert not raw & {each.name for each in node.names}, where
            if isinstance(node, ast.keyword):
                assert node.arg not in raw, where
                assert node.arg != "allow_html" or (isinstance(node.value, ast.Constant) and not node.value.value), (
                    where
                )
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "Markup", where


def test_templates_of_html_are_written_out():
    calls = [
        (path, node)
        for path, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "html"
    ]
    assert len(calls) > 10
    for path, call in calls:
        assert isinstance(call.args[0], ast.Constant), f"{path}:{call.lineno}"


def test_text_with_tags_in_it_is_made_by_html_only():
    """A string with a tag in it, other than a template or what is no HTML at all, is HTML made by hand."""
    for path, tree in sources():
        if path.parent.name not in MADE_HERE:
            continue
        templates = {
            id(node.args[0])
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "html"
        }
        for node in ast.walk(tree):
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
            assert "</" not in text or id(node) in templates, f"{path}:{node.lineno}"


def test_every_table_of_the_page_refuses_html():
    updates = [
        (path, node)
        for path, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "update"
        and "table" in ast.dump(node.func.value)
    ]
    assert updates
    for path, call in updates:
        assert "allow_html" in {each.arg for each in call.keywords}, f"{path}:{call.lineno}"


def test_scripts_of_the_page_set_html_in_one_place():
    found = [
        line.strip() for path in PACKAGE.rglob("*.js") for line in path.read_text().splitlines() if "innerHTML" in line
    ]
    assert found == ['const draw = () => { body.innerHTML = model.get("html"); };']
