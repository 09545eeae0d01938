"""What changed between two runs, in words and as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from markupsafe import Markup

from workbench.app.html import html, together

__all__ = ["changed", "differing", "side_by_side"]


def changed(now: Mapping[str, str], before: Mapping[str, str] | None) -> str:
    """Which settings differ, in words; both as `describe` gives them."""
    if before is None:
        return ""
    moved = [f"{name} {before.get(name, '–')} → {now.get(name, '–')}" for name in differing(before, now)]
    return "; ".join(moved) or "the same settings"


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """The names of settings whose values differ, in order."""
    return [name for name in dict.fromkeys([*one, *other]) if one.get(name) != other.get(name)]


def side_by_side(titles: Iterable[str], *columns: Mapping[str, object]) -> Markup:
    """Columns of settings and figures as an HTML table, what differs in bold."""
    rows = []
    for name in dict.fromkeys([name for each in columns for name in each]):
        values = [_text(each.get(name)) for each in columns]
        mark = html(' class="sjw-differs"') if len(set(values)) > 1 else ""
        cells = together(html("<td>{}</td>", value) for value in values)
        rows.append(html("<tr{}><th>{}</th>{}</tr>", mark, name, cells))
    head = together(html("<th>{}</th>", title) for title in titles)
    return html('<table class="sjw-compare"><tr><th></th>{}</tr>{}</table>', head, together(rows))


def _text(value: object) -> str:
    return "–" if value is None else (f"{value:,}" if isinstance(value, int) else str(value))
