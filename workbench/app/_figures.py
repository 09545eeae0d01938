"""The figures that matter of a run, and what changed since another."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from workbench.results import Run
from workbench.streams import SIDES

_FATES = ("matched", "unmatched", "late", "pending", "null_key")
_GOOD_UP, _GOOD_DOWN = {"matched", "rows out"}, {"unmatched", "late", "pending", "peak state"}


def figures(run: Run) -> dict[str, int]:
    """Rows by fate, rows out, and the most rows that were in state."""
    fates = pd.concat([run.fates[side]["fate"] for side in SIDES]).value_counts()
    told = {fate.replace("_", " "): int(fates.get(fate, 0)) for fate in _FATES}
    if not told["null key"]:
        del told["null key"]
    batches = run.batches
    return told | {"rows out": int(batches["output_rows"].sum()), "peak state": int(batches["state_rows"].max())}


def head(now: dict[str, int], before: dict[str, int] | None) -> str:
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
        moved = f'<i class="sjw-{tone}">{change:+,}</i>' if change else ""
        parts.append(f"<div><b>{count:,}</b>{moved}<span>{name}</span></div>")
    return "".join(parts)


def changed(now: dict[str, str], before: dict[str, str] | None) -> str:
    """Which settings differ, in words; both as `describe` gives them."""
    if before is None:
        return ""
    names = dict.fromkeys([*before, *now])
    moved = [
        f"{name} {before.get(name, '–')} → {now.get(name, '–')}" for name in names if before.get(name) != now.get(name)
    ]
    return "; ".join(moved) or "the same settings"


def side_by_side(titles: Iterable[str], *columns: dict[str, object]) -> str:
    """Columns of settings and figures as an HTML table, what differs in bold."""
    rows = []
    for name in dict.fromkeys([name for each in columns for name in each]):
        values = [_text(each.get(name)) for each in columns]
        mark = ' class="sjw-differs"' if len(set(values)) > 1 else ""
        rows.append(f"<tr{mark}><th>{name}</th>{''.join(f'<td>{value}</td>' for value in values)}</tr>")
    head = "".join(f"<th>{title}</th>" for title in titles)
    return f'<table class="sjw-compare"><tr><th></th>{head}</tr>{"".join(rows)}</table>'


def _text(value: object) -> str:
    return "–" if value is None else (f"{value:,}" if isinstance(value, int) else str(value))
