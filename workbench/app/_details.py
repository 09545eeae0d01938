"""What is picked, in detail: a row and its candidates, the rows of a key or of a window; else the micro-batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import ipywidgets as widgets
import numpy as np
import pandas as pd
from markupsafe import Markup

from workbench import charts
from workbench.app import _jobs
from workbench.app._effect import effect
from workbench.app._form import show
from workbench.app._picking import nearest
from workbench.app.html import HTML, html, table, together
from workbench.errors import TooLargeError
from workbench.jobs import Job
from workbench.literals import SIDES, RowId, Setting, Sides
from workbench.reasons.labels import Labels
from workbench.reasons.own import sentences
from workbench.runs.result import Result
from workbench.runs.why import Why
from workbench.untyped import Record

_MOST_ROWS, _MOST_BARS = 40, 60
_NONE_NEAR = {"nearest": "", "gap": ""}
_KEYS = html("<kbd>n</kbd> next row that was not matched, <kbd>p</kbd> the one before")
_KEYS_OF_FIX = html("{}, <kbd>f</kbd> apply the fix, <kbd>Ctrl+Z</kbd> take it back", _KEYS)
_NO_FIX = {
    "matched": "this row is matched: there is nothing to fix",
    "pending": "this row still waits: there is nothing to fix yet",
}
"""Why a row has no fix, by its fate."""
_NO_SETTING = "no change of one setting would have matched this row"
_OF_ONE = "a fix is of one row: pick one"
_FAILS = " · fails the condition"
_EMPTY = "Pick a row or a window in a chart or in the table to see its fate and the reason."


class DetailsPanel:
    """The details of what is picked, with buttons that lead on.

    Parameters
    ----------
    apply
        Called with the setting and its value that the fix changes.
    pick
        Called with the rows that are picked next.
    submit
        Does a job of a kind in the thread that draws, as `CoalescingWorker.submit` does.

    Attributes
    ----------
    widget
        The panel.
    nearest
        The nearest candidate of the row that is explained, as charts take it.
    """

    def __init__(
        self,
        apply: Callable[[Record], None],
        pick: Callable[[list[RowId]], None],
        submit: Callable[[str, Callable[[], None]], None],
    ) -> None:
        self._pick, self._submit = pick, submit
        self._story = HTML()
        self._story.add_class("sjw-story")
        self._candidates = widgets.VBox([])
        self._candidates.add_class("sjw-candidates")
        self._fix = widgets.Button(icon="check", button_style="primary", layout=widgets.Layout(width="auto"))
        self._fix.on_click(lambda _: apply(self._settings))
        self._of_key = widgets.Button(description="All rows of this key", icon="key")
        self._of_key.layout.width = "auto"
        self._of_key.on_click(lambda _: self._pick(self._same_key))
        self._made_of = widgets.Button(
            description="Rows it is made of", icon="list", layout=widgets.Layout(width="auto")
        )
        self._made_of.on_click(lambda _: self._show_parts())
        self._parts = HTML()
        self._parts.add_class("sjw-parts")
        self._asked: tuple[Job, int] | None = None
        self._settings: Record = {}
        self.nearest: Record = dict(_NONE_NEAR)
        self._same_key: list[RowId] = []
        self._effect = HTML()
        self._effect.add_class("sjw-effect")
        fix = widgets.HBox([self._fix, self._effect])
        fix.add_class("sjw-fix")
        self._keys = HTML(_KEYS)
        self._keys.add_class("sjw-keys")
        self._unfixed = _OF_ONE
        told = widgets.VBox([self._story, fix, self._keys])
        more = widgets.VBox([self._candidates, self._of_key, self._made_of, self._parts])
        self.widget = widgets.HBox([told, more])
        self.widget.add_class("sjw-details")

    def fix(self) -> None:
        """Apply the fix of the row that is explained; where there is none, say why."""
        if self._settings:
            self._fix.click()
            return
        self._effect.value = self._unfixed
        for each in (self._effect, self.widget):
            show(each, True)

    def explain(self, run: Result, picked: list[RowId], window: Markup | None, batch: int | None) -> None:
        """Explain what is picked; where nothing is, the micro-batch.

        Parameters
        ----------
        run, picked
            The run, and the rows of it.
        window
            What is to be said of the window whose rows they are; None: they are not picked as a window's.
        batch
            The micro-batch at whose end the run is shown; None: the whole run is.
        """
        self._settings, self.nearest = {}, dict(_NONE_NEAR)
        self._keys.value, self._unfixed = _KEYS, _OF_ONE
        for each in (self._fix, self._effect, self._candidates, self._of_key, self._made_of, self._parts):
            show(each, False)
        if len(picked) == 1:
            self._explain_row(run, picked[0])
        elif picked:
            counts = Counter(each.side for each in picked)
            words = " and ".join(f"{counts[side]:,} of {run.side(side).name}" for side in SIDES)
            heading = window if window is not None else _of_one_key(run, picked)
            held = _held(run, picked)
            self._story.value = html("{}<p>{} are picked</p>{}{}", heading, words, held, _rows(run, picked))
        else:
            self._story.value = _micro_batch(run, batch) if batch is not None else html("<p>{}</p>", _EMPTY)

    def _explain_row(self, run: Result, of: RowId) -> None:
        index = of.row + (len(run.left) if of.side == "right" else 0)
        why = run.why(index)
        self._story.value = _story(why)
        fate = run.simulation.fates[of.side]["fate"].iloc[of.row]
        self.nearest = nearest(why, fate, len(run.left))
        self._unfixed = _NO_FIX.get(fate, _NO_SETTING)
        self._same_key = _rows_of_key(run, of)
        self._asked = (run, index) if isinstance(run, Job) and of.side in run.aggregates else None
        show(self._made_of, self._asked is not None)
        show(self._of_key, len(self._same_key) > 1)
        buttons = []
        for each in why.candidates.itertuples():
            marks = {" · met": each.met, " · late": each.late, " · removed": each.removed, _FAILS: each.failed}
            mark = next((words for words, applies in marks.items() if applies), "")
            button = widgets.Button(description=f"{each.name}, {each.apart}{mark}", layout=widgets.Layout(width="auto"))
            removed = f" Removed before the join by {each.removed}." if each.removed else ""
            failed = f" It is in reach{each.failed}." if each.failed else ""
            button.tooltip = f"Pick this row.{removed}{failed}"
            row = RowId.at(each.row, len(run.left))
            button.on_click(lambda _, row=row: self._pick([row]))
            buttons.append(button)
        self._candidates.children = buttons
        show(self._candidates, bool(buttons))
        fix = _fix(run, of)
        if fix is not None:
            setting, value = fix
            self._settings = {setting: value}
            named = Labels(run.simulation, whole=False).setting(setting, value)
            self._fix.description = "Close every window" if value is True else f"Set {named}"
            self._effect.value, self._keys.value = "", _KEYS_OF_FIX
            show(self._fix, True)
            show(self._effect, True)
            asked = self._settings
            self._submit("effect", lambda: self._say_effect(run, setting, value, asked))

    def _say_effect(self, run: Result, setting: Setting, value: str | bool, asked: Record) -> None:
        """Say beside the button what else it does, unless another row is picked by now."""
        if self._settings is asked:
            words = effect(run, setting, value)
            if self._settings is asked:
                self._effect.value = words

    def _show_parts(self) -> None:
        if self._asked is not None:
            self._parts.value = _jobs.made_of(*self._asked)
            show(self._parts, True)


def _fix(run: Result, of: RowId) -> tuple[Setting, str | bool] | None:
    """The setting that would have matched a row, or kept a late one that nothing matches."""
    asked = {side: np.array([of.row] if side == of.side else [], dtype=np.int64) for side in SIDES}
    reasons = sentences(run.simulation, asked)
    explained = reasons.table[of.side].loc[of.row]
    if explained["fix_setting"] is not None:
        return explained["fix_setting"], explained["fix_value"]
    return reasons.keeps(of) if explained["fate"] == "late" else None


def _story(why: Why) -> Markup:
    """A row's explanation; its candidates, which are buttons, and its fix, which is one too, are left out."""
    (name, fate), *facts = why.facts
    are_all = not any(what == "" and words.startswith("and ") for what, words in facts)
    below = "" if are_all else f", the {len(why.candidates)} nearest of them below"
    lines = [
        (what, words + below if what == "candidates" else words)
        for what, words in facts
        if what not in ("", "fix", "verdict")
    ]
    verdict = next(words for what, words in facts if what == "verdict")
    told = together(html("<dt>{}</dt><dd>{}</dd>", what, words) for what, words in lines)
    chip = html('<span class="sjw-fate sjw-fate-{}">{}</span>', fate.replace(" ", "-"), fate)
    return html("<h4>{}: {}</h4><p>{}</p><dl>{}</dl>", name, chip, verdict, told)


def _rows_of_key(run: Result, of: RowId) -> list[RowId]:
    """All rows of a row's key, those with a null key left out."""
    codes = Sides(*run.outcome.keys)
    code = codes[of.side][of.row]
    if code < 0:
        return [of]
    return [RowId(side, int(row)) for side in SIDES for row in (codes[side] == code).nonzero()[0]]


def _of_one_key(run: Result, picked: list[RowId]) -> Markup:
    """The heading of rows that all have one key; nothing where they have several."""
    codes = Sides(*run.outcome.keys)
    if len({int(codes[each.side][each.row]) for each in picked}) != 1:
        return html("")
    first = picked[0]
    return html("<h4>Key {}</h4>", Labels(run.simulation, whole=False).key(*first))


def _held(run: Result, picked: list[RowId]) -> Markup:
    """How many of some rows are in state after each micro-batch, as bars; nothing where none ever is."""
    last = len(run.outcome.marks) - 1
    change = np.zeros(last + 2, dtype=int)
    for side in SIDES:
        of_side = run.outcome.assignments[side]
        rows = [each.row for each in picked if each.side == side]
        held = of_side[of_side["held"] & of_side["row"].isin(rows)]
        np.add.at(change, held["batch"].to_numpy(), 1)
        np.add.at(change, np.minimum(held["evicted_in"].to_numpy(), last + 1), -1)
    count = np.cumsum(change)[: last + 1]
    if not count.any():
        return html("")
    some, first = np.flatnonzero(count), run.simulation.first
    span = np.arange(max(0, some[0] - 1), min(last, some[-1] + 1) + 1)
    shown = charts.thin(pd.DataFrame({"at": span}), _MOST_BARS)["at"].to_numpy()
    most = int(count.max())
    bars = together(
        html(
            '<i style="height:{}%" title="{} after micro-batch {}"></i>',
            100 * int(count[at]) // most,
            count[at],
            first + at,
        )
        for at in shown.tolist()
    )
    words = html(
        "in state after micro-batches {} to {}, at most {:,}", int(first + some[0]), int(first + some[-1]), most
    )
    return html('<div class="sjw-held" role="img" aria-label="{}">{}</div><p>{}</p>', words, bars, words)


def _rows(run: Result, picked: list[RowId]) -> Markup:
    """Rows with their fate, and the micro-batches after which they are in state."""
    labels = Labels(run.simulation, whole=False)
    lines = []
    for of in sorted(picked, key=lambda each: run.side(each.side).event_times[each.row])[:_MOST_ROWS]:
        fates = run.simulation.fates[of.side]
        came, left = int(run.side(of.side).arrival[of.row]), int(fates["evicted_in"].iloc[of.row])
        held = "never" if left <= came else f"{came} to {left - 1}" if left < len(run.outcome.marks) else f"{came} on"
        stream = run.side(of.side)
        cells = (
            stream.name if stream.identity is None else f"{stream.name} {labels.label(*of)}",
            labels.moment(int(run.side(of.side).event_times[of.row])),
            fates["fate"].iloc[of.row].replace("_", " "),
            held,
        )
        lines.append(cells)
    more = html("<p>and {:,} more</p>", len(picked) - len(lines)) if len(picked) > len(lines) else ""
    names = ("row", "event time", "fate", "in state after")
    return html("{}{}", table(names, lines), more)


def _micro_batch(run: Result, batch: int) -> Markup:
    batch += run.simulation.first
    try:
        moment = run.at(batch)
    except TooLargeError as error:  # only Spark can do it
        return html("<h4>Micro-batch {}</h4><p>{}</p>", batch, error)
    words, *facts = str(moment).removeprefix(f"micro-batch {batch}: ").split(" · ")
    told = together(html("<li>{}</li>", each) for each in (words, *facts))
    return html("<h4>Micro-batch {}</h4><ul>{}</ul>", batch, told)
