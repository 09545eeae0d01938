"""What sets a page to a run whose streams it was not set to: one of a live query, or one that was loaded."""

from __future__ import annotations

import re

from workbench.app._page_state import PageState
from workbench.app._run_records import RunRecord
from workbench.app._variables import free_name
from workbench.streams import SIDES
from workbench.untyped import Namespace


class PastSettings:
    """Puts the streams of past runs into the notebook, once for each, and the page on them.

    Parameters
    ----------
    page
        The page.
    namespace
        The notebook's variables.
    """

    def __init__(self, page: PageState, namespace: Namespace) -> None:
        self._page, self._namespace = page, namespace

    def set(self, record: RunRecord) -> None:
        """Set all fields to what a run is of, without reporting a change."""
        settings = self._page.settings
        with settings.form.quietly():
            settings.take(*(self._variable(record, place) for place in range(len(SIDES))))
            settings.set_to(record.configuration)

    def _variable(self, record: RunRecord, place: int) -> str:
        """The variable that holds a stream of a run, made if there is none."""
        stream = (record.run.left, record.run.right)[place]
        known = [name for name, value in self._namespace.items() if value is stream and not name.startswith("_")]
        if known:
            return known[0]
        words = re.sub(r"\W", "_", f"{record.run.name or record.origin.split(' ')[0]}_{stream.name}")
        name = free_name(words if words.isidentifier() else f"run_{words}", self._namespace)
        self._namespace[name] = stream
        return name
