"""What changed between two runs, in words and as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from markupsafe import Markup

from workbench.app.html import html, together
from workbench.runs.summary import figures

__all__ = ["changed", "figures", "side_by_side"]


def changed(now: dict[str, str], before: dict[str, str] | None) -> str:
    """Which settings differ, in words; both as `describe` gives them."""
    if before is None:
        return ""
    names = dict.fromkeys([*before, *now])
    moved = [
        f"{name} {before.get(name, '–')} → {now.get(name, '–')}" for name in names if before.get(name) != now.get(name)
    ]
    return "; ".join(moved) or "the same settings"


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
