"""What a change of one setting does to all rows, in words: for the button that makes the change."""

from __future__ import annotations

from workbench import fixes, times
from workbench.errors import WorkbenchError
from workbench.jobs import Job
from workbench.kinds import kind_of
from workbench.literals import DELAYS, Setting
from workbench.runs import running
from workbench.runs.result import Result
from workbench.runs.summary import figures, held
from workbench.untyped import Record

_TOLD = {"matched": "matched", "unmatched": "unmatched", "late": "late", "peak state": "{} in state at most"}


def effect(run: Result, setting: Setting, value: str | bool) -> str:
    """What else changes with a setting, such as ``+11 matched, −11 unmatched, +31 rows in state at most``.

    Parameters
    ----------
    run
        What is shown.
    setting, value
        As `fixes.apply` takes them.

    Returns
    -------
    str
        Empty where it cannot be simulated.
    """
    try:
        then = _under(run, setting, value)
    except WorkbenchError:
        return ""
    return f"{compared(run, then) or 'no other row changes'}{_beside(run, setting, value)}"


def compared(run: Result, other: Result) -> str:
    """How the figures of a run differ from those of one before, in words; empty where they are the same."""
    now, then = figures(run), figures(other)
    changes = {words.format(held(run, now)): then.get(name, 0) - now.get(name, 0) for name, words in _TOLD.items()}
    return ", ".join(f"{'+' if by > 0 else '−'}{abs(by):,} {words}" for words, by in changes.items() if by)


def _under(run: Result, setting: Setting, value: str | bool) -> Result:
    """A preview of the same rows with the setting changed."""
    join, left, right, finish = fixes.apply(setting, value, run.join, run.left, run.right, finish=run.finish)
    if isinstance(run, Job):
        given = {DELAYS["left"]: left.watermark, DELAYS["right"]: right.watermark}.get(setting)
        side = "left" if setting == DELAYS["left"] else "right"
        delay: Record = {} if given is None else {f"{side}_watermark": given}
        return run.under(join, **delay, finish=finish)
    return running.preview(join, left, right, finish=finish, policy=run.policy)


def _beside(run: Result, setting: Setting, value: str | bool) -> str:
    """A warning where a bound is set to the other side of a row's own time: partners come before their cause."""
    if setting != "lower" or not isinstance(value, str):
        return ""
    before = kind_of(run.join).arguments(run.join)["lower"]
    if times.parse(value, "lower").total_seconds() >= 0 or times.parse(before, "lower").total_seconds() < 0:
        return ""
    left, right = run.simulation.names
    return f"; rows of {right} from before a row of {left} would be its partners, too"
