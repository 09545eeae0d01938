"""The row over the views: buttons, progress, what the page says it shows or does, and below it what is wrong."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass

import ipywidgets as widgets
from markupsafe import Markup

from workbench.app._form import show
from workbench.app.html import HTML, html, plain
from workbench.errors import WorkbenchError

_COVERS = {"drawing": ("table",)}  # a view is drawn anew with its table
_REPAINT = 0.25  # seconds between two paintings of the progress bar


@dataclass(frozen=True)
class Badge:
    """What is shown, in words, of which kind it is, which gives the colour, and what the words mean."""

    kind: str
    text: str
    tip: str = ""


class Head:
    """The head of the page.

    Parameters
    ----------
    first
        The buttons that stand first: of the settings.
    live_buttons
        The buttons of live queries, which stand between the others.

    Attributes
    ----------
    run, stop, record, report, anyway
        The buttons that start a run, stop what runs, keep a live query's rows, write a report of what is shown, and
        make a preview that takes long.
    widget
        The row.
    trouble, note
        What is wrong, and what was done beside, below the row.
    """

    def __init__(self, first: list[widgets.Widget], live_buttons: list[widgets.Widget]) -> None:
        narrow = widgets.Layout(width="auto")
        self.run = widgets.Button(description="Run on Spark", button_style="primary", icon="play", layout=narrow)
        self.run.disabled = True  # until something is shown that can be run
        self.stop = widgets.Button(description="Stop", icon="stop", disabled=True, layout=narrow)
        keep = "Its rows become variables of this notebook, so you can run them again under other settings."
        hidden = {"width": "auto", "display": "none"}
        self.record = widgets.Button(description="Keep as variables", icon="save", tooltip=keep, layout=hidden)
        words = "The preview takes long under these settings; compute it anyway."
        self.anyway = widgets.Button(description="Preview anyway", icon="hourglass-half", tooltip=words, layout=hidden)
        tip = "Write one file, which opens in any browser, into the notebook's folder."
        self.report = widgets.Button(
            description="Report", icon="file-text-o", tooltip=tip, disabled=True, layout=narrow
        )
        self._bar = widgets.IntProgress(0, layout=widgets.Layout(width="90px", display="none"))
        self._painted = 0.0
        self._text, self.trouble, self.note = HTML(), HTML(), HTML()
        self.note.add_class("sjw-note")
        self._text.add_class("sjw-text")
        self.trouble.add_class("sjw-trouble")
        self._badge = ""
        self._failed = "", ""  # the kind of job that failed last, and what was said of it
        said = [self._bar, self._text, self.anyway, self.record, self.report]
        self.widget = widgets.HBox([*first, self.run, *live_buttons, self.stop, *said])
        self.widget.add_class("sjw-head")

    def say(self, kind: str, text: str) -> None:
        """Say what is done, or has gone wrong; the kind gives the colour."""
        self.say_shown(Badge(kind, text))

    def say_shown(self, badge: Badge) -> None:
        """Say what is shown; with its figures, so that neither is ever beside those of something else."""
        self._badge = badge.text
        self._text.value = html(
            '<span class="sjw-badge sjw-{}" title="{}">{}</span>', badge.kind, badge.tip, badge.text
        )

    def say_live(self, text: Markup) -> None:
        """Say how a live query does."""
        self._text.value = text

    def fail(self, error: Exception) -> None:
        """Say what went wrong."""
        self.trouble.value = _folded(_as_workbench_error(error))

    def job_ended(self, kind: str, error: Exception | None) -> None:
        """Say what went wrong in the thread that draws, until it does the same kind of job without."""
        if error is not None:
            self.fail(error)
            self._failed = kind, self.trouble.value
        elif self._failed in [(each, self.trouble.value) for each in (kind, *_COVERS.get(kind, ()))]:
            self.trouble.value = ""

    def summary(self) -> str:
        """What is shown or done, and what is wrong, in a line of text."""
        return ": ".join(each for each in (self._badge, plain(self.trouble.value)) if each)

    def progress(self, done: int, expected: int) -> None:
        """Say how many micro-batches of a run are done."""
        now = time.monotonic()
        if done < expected and now - self._painted < _REPAINT:
            return
        self._painted = now
        self._bar.max, self._bar.value = expected, done
        self.say("busy", f"micro-batch {done} of {expected}")

    def occupy(self, busy: bool) -> None:
        """Show that something begins to run, or has ended."""
        self.stop.disabled = not busy
        self.show_progress(busy)
        if busy:
            self.trouble.value = self.note.value = ""
            self._bar.value = 0

    def show_progress(self, on: bool) -> None:
        """Show the progress bar, or hide it."""
        show(self._bar, on)

    def offer_preview(self, on: bool) -> None:
        """Offer to make a preview that takes long, or no longer."""
        show(self.anyway, on)

    def offer_recording(self, on: bool) -> None:
        """Offer to keep a live query's rows, or no longer."""
        show(self.record, on)


def _as_workbench_error(error: Exception) -> WorkbenchError:
    """What to say of an error: its own message, or that it is a bug of the workbench."""
    if isinstance(error, WorkbenchError):
        return error
    return WorkbenchError(f"the workbench failed: {error!r}", "".join(traceback.format_exception(error)))


def _folded(error: WorkbenchError) -> str:
    if not error.details:
        return str(error)
    return html("{}<details><summary>details</summary><pre>{}</pre></details>", error, error.details)
