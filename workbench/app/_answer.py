"""The answer of a tuning: which setting does what is asked for, beside the present one and the next cheaper."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from markupsafe import Markup

from workbench import times
from workbench.app.html import html, table, together
from workbench.errors import read_whole, wrong
from workbench.literals import Setting
from workbench.reasons.labels import setting_name, setting_value
from workbench.tuning import Best, Tuning
from workbench.untyped import Series

__all__ = ["answer", "best_of", "changed", "present"]

_FIGURES = ("of the complete result", "rows in state, at most", "longest time in state")


def best_of(tuning: Tuning, asked: Mapping[str, str]) -> Best:
    """The setting that is recommended.

    Parameters
    ----------
    tuning
        The tuning.
    asked
        As the page asks it: ``keep`` in percent, ``rows`` and ``time`` (a number counts seconds), each a text that may
        be empty.

    Raises
    ------
    WorkbenchError
        If what is asked for cannot be read, or no setting does it.
    """
    keep, rows = asked["keep"].removesuffix("%"), asked["rows"]
    try:
        share = float(keep) / 100 if keep else None
    except ValueError:
        raise wrong("keep", asked["keep"], "write a share in percent, such as 99.9, or nothing") from None
    most = read_whole("rows in state", rows, "write a number of rows, such as 10000, or nothing") if rows else None
    span = _span(asked)
    time = times.positive(span, "time in state") if span else None
    return tuning.best(share, most_rows=most, most_time=time)


def _span(asked: Mapping[str, str]) -> str:
    """The longest time in state that is asked for, with its unit."""
    time = asked["time"]
    return f"{time} s" if time.replace(".", "", 1).isdecimal() else time


def present(tuning: Tuning) -> Series:
    """The row of the present setting in the table of a tuning."""
    return tuning.table[tuning.table["now"]].iloc[0]


def changed(tuning: Tuning, best: Best) -> dict[str, str]:
    """Those of the recommended settings that are others than now."""
    now = present(tuning)
    return {name: value for name, value in best.settings.items() if now[name] != value}


def answer(tuning: Tuning, best: Best, asked: Mapping[str, str], named: Callable[[Setting, str], str]) -> Markup:
    """What to set, what that keeps and costs, and how sure it is.

    Parameters
    ----------
    tuning, best, asked
        As `best_of` takes and gives them.
    named
        Gives a setting and its value in words.
    """
    words = ", ".join(named(name, value) for name, value in best.settings.items())
    names = (tuning.left.name, tuning.right.name)
    heads = ["", *(setting_name(tuning.join, names, name) for name in tuning.settings), *_FIGURES]
    now = present(tuning)
    lines = [("now", now), ("recommended", best.row)]
    if best.cheaper is not None and _figures(best.cheaper) != _figures(now):
        lines.append(("the next cheaper", best.cheaper))
    notes = [each for each in (best.without_effect, f"this rests on {best.basis}") if each]
    return html(
        '<p class="sjw-question">{}</p><p class="sjw-answer">{}</p><div class="sjw-beside">{}</div>{}'
        "<details><summary>Details</summary><ul>{}</ul></details>",
        _question(asked),
        words if changed(tuning, best) else f"as it is now, {words}",
        table(heads, ([name, *_cells(tuning, row)] for name, row in lines)),
        together(
            html('<p class="sjw-unsure">{}.</p>', _capital(each))
            for each in (best.under_short_trigger, best.warning)
            if each
        ),
        together(html("<li>{}.</li>", _capital(each)) for each in notes),
    )


def _cells(tuning: Tuning, row: Series) -> list[str]:
    return [*(setting_value(name, str(row[name])) for name in tuning.settings), *_figures(row)]


def _figures(row: Series) -> list[str]:
    """What a setting keeps and costs, as `_FIGURES` calls it."""
    return [f"{row['kept']:.3%}", f"{row['state_peak']:,}", times.short(row["state_time"].to_pytimedelta())]


def _question(asked: Mapping[str, str]) -> str:
    """What is asked for, in words."""
    keep = asked["keep"]  # advice and *Late* count rows in time
    kept = f"To keep {keep.removesuffix('%')} % of the complete result" if keep else "To keep as much as possible"
    rows = f"with at most {asked['rows']} rows in state" if asked["rows"] else ""
    time = f"holding no row longer than {_span(asked)}" if asked["time"] else ""
    return ", ".join(filter(None, (kept, rows, time))) + ":"


def _capital(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}"
