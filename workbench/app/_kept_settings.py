"""What a page was set to, as its notebook keeps it: read when the cell is run again after a restart of the kernel.

It is part of the cell's output, so that it is saved, copied and cleared with it. Only names and values of settings are
in it, and the numbers of picked rows: no row of a stream.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from workbench.literals import FATES, RowId, Side
from workbench.streams import SIDES
from workbench.untyped import Record, Value

__all__ = ["MIME", "Filter", "Kept", "KeptRun", "kept", "kept_in_notebook"]

MIME = "application/vnd.stream-join-workbench.page+json"
"""The type of the part of the output; front ends show none of a type that they do not know."""
_SECRET = re.compile(r"://[^/\s]*:[^/\s]*@|\b(?:password|passwd|secret|token)\s*=", re.IGNORECASE)
_MOST = 50_000_000  # bytes of a notebook that is read


class Filter(TypedDict):
    """What all views are filtered by: rows of one side, of one fate, and of one cause; an empty cause is any."""

    side: Side
    fate: str
    cause: str


@dataclass(frozen=True)
class KeptRun:
    """A run that a page had: what it was of, without its rows.

    Attributes
    ----------
    number, title
        Its number on the page, and its line in the list of runs.
    settings, repairs
        What the page was set to, as of `Kept`; empty where its streams are none that a setting makes.
    """

    number: int
    title: str
    settings: Mapping[str, Value]
    repairs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Kept:
    """What a page was set to.

    Attributes
    ----------
    streams
        The names that the page was opened with.
    settings
        The values of its inputs, by name.
    view
        The view that was open.
    picked
        The rows that were picked; those that the filter picks are not among them.
    repairs
        The repairs of rows by the name of their input, each as its ``repr``: only one that is offered again is done.
    runs
        Its runs, and those of kernels before that it came back with; the last of them last.
    filter
        What the views were filtered by; None: nothing.
    tune
        What *Tune* was asked, and the chart that was open there, by name.
    """

    streams: tuple[str, ...]
    settings: Mapping[str, Value]
    view: str
    picked: tuple[RowId, ...]
    repairs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    runs: tuple[KeptRun, ...] = ()
    filter: Filter | None = None
    tune: Mapping[str, str] = field(default_factory=dict)

    def bundle(self) -> Record:
        """As it stands in the notebook, without texts that have a password in them."""
        found = {
            "streams": list(self.streams),
            "settings": _open(self.settings),
            "view": self.view,
            "picked": [list(each) for each in self.picked],
            "filter": self.filter,
            "tune": _open(self.tune),
            "repairs": _lists(self.repairs),
            "runs": [
                {
                    "number": each.number,
                    "title": each.title,
                    "settings": _open(each.settings),
                    "repairs": _lists(each.repairs),
                }
                for each in self.runs
                if not _SECRET.search(each.title)
            ],
        }
        return {MIME: json.loads(json.dumps(found))}


def kept(bundle: object) -> Kept | None:
    """What stands in a notebook; None: it is none of ours, or somebody has changed it."""
    found = bundle.get(MIME) if isinstance(bundle, dict) else None
    if not isinstance(found, dict):
        return None
    streams, settings, view, picked = (found.get(name) for name in ("streams", "settings", "view", "picked"))
    if not (isinstance(streams, list) and isinstance(settings, dict) and isinstance(view, str)):
        return None
    rows = [each for each in picked if _is_row(each)] if isinstance(picked, list) else []
    picked_rows = tuple(RowId(side, number) for side, number in rows)
    runs = tuple(filter(None, map(_run, _list(found.get("runs")))))
    repairs, chosen = _repairs(found.get("repairs")), _filter(found.get("filter"))
    tune = _texts(found.get("tune"))
    return Kept(tuple(map(str, streams)), _settings(settings), view, picked_rows, repairs, runs, chosen, tune)


def _filter(found: object) -> Filter | None:
    """A filter that stands in a notebook; None: it is none."""
    if not isinstance(found, dict):
        return None
    side, fate, cause = (found.get(name) for name in ("side", "fate", "cause"))
    if side not in SIDES or fate not in FATES or not isinstance(cause, str):
        return None
    return {"side": side, "fate": fate, "cause": cause}


def _texts(found: object) -> dict[str, str]:
    """Texts by name that stand in a notebook; what is none is left out."""
    pairs = found.items() if isinstance(found, dict) else ()
    return {name: text for name, text in pairs if isinstance(text, str)}


def _run(found: object) -> KeptRun | None:
    """A run that stands in a notebook; None: it is none."""
    if not isinstance(found, dict):
        return None
    number, title, settings = (found.get(name) for name in ("number", "title", "settings"))
    if type(number) is not int or not isinstance(title, str) or not isinstance(settings, dict):
        return None
    return KeptRun(number, title, _settings(settings), _repairs(found.get("repairs")))


def _list(found: object) -> list[Any]:
    return found if isinstance(found, list) else []


def _settings(found: Record) -> Record:
    """Settings as inputs hold them: JSON has no tuples."""
    return {name: tuple(each) if isinstance(each, list) else each for name, each in found.items()}


def _repairs(found: object) -> dict[str, tuple[str, ...]]:
    lists = found.items() if isinstance(found, dict) else ()
    return {name: tuple(map(str, each)) for name, each in lists if isinstance(each, list)}


def _open(settings: Mapping[str, Value]) -> Record:
    """Settings as they stand in a notebook: those that are no texts with a password in them, and no files."""
    kept = {name: each for name, each in settings.items() if _is_plain(each) and not _SECRET.search(str(each))}
    return {name: list(each) if isinstance(each, tuple) else each for name, each in kept.items()}


def _lists(repairs: Mapping[str, tuple[str, ...]]) -> Record:
    return {name: list(each) for name, each in repairs.items()}


def _is_plain(value: object) -> bool:
    """Whether a value is a text, a number, a flag or nothing, or several of them: uploaded files are not."""
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float | bool)


def _is_row(found: object) -> bool:
    return isinstance(found, list) and len(found) == 2 and found[0] in SIDES and type(found[1]) is int


def kept_in_notebook(cell: str | None) -> Kept | None:
    """What the notebook that this kernel belongs to keeps of the page in a cell, as it was saved last.

    Parameters
    ----------
    cell
        The id of the cell; None: the front end does not tell it.
    """
    path = os.environ.get("JPY_SESSION_NAME")  # Jupyter's server names the notebook of a kernel so
    if cell is None or not path:
        return None
    try:
        file = Path(path)
        if file.suffix != ".ipynb" or file.stat().st_size > _MOST:
            return None
        cells: Any = json.loads(file.read_text(encoding="utf-8"))["cells"]
        return _of_cell(each for each in cells if each.get("id") == cell)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # it is no notebook, or not there any more
        return None


def _of_cell(cells: Iterable[Any]) -> Kept | None:
    outputs = (output for each in cells for output in each.get("outputs", ()))
    return next((found for each in outputs if (found := kept(each.get("data"))) is not None), None)
