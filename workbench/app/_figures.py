"""The figures that matter of a run, and what changed since another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from markupsafe import Markup

from workbench.app.html import html, together
from workbench.runs.summary import FIGURES, figures

__all__ = ["changed", "figures", "head", "side_by_side"]

_GOOD_UP, _GOOD_DOWN = {"matched", "rows out"}, {"unmatched", "late", "pending", "peak state"}


def head(now: dict[str, int], before: dict[str, int] | None) -> Markup:
    """The figures as HTML, with their changes.

    Parameters
    ----------
    now
        The figures shown.
    before
        Those of the last run; None: there is none to compare with.
    """
    parts = []
    for name, count in now.items():
        change = count - before.get(name, 0) if before is not None else 0
        tone = "better" if (change > 0) == (name in _GOOD_UP) else "worse"
        if name not in _GOOD_UP | _GOOD_DOWN:
            tone = "other"
        moved = html('<i class="sjw-{}">{:+,}</i>', tone, change) if change else ""
        parts.append(html('<div title="{}"><b>{:,}</b>{}<span>{}</span></div>', FIGURES[name], count, moved, name))
    return together(parts)


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
