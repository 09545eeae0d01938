"""What sets a page to a run whose streams it was not set to: one of a live query, or one that was loaded."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from workbench import times
from workbench.app._runs import RunRecord
from workbench.app._snapshot import RunConfiguration
from workbench.app._state import PageState
from workbench.app._variables import free_name
from workbench.joins import how_of
from workbench.kinds import kind_of
from workbench.literals import DELAYS
from workbench.streams import SIDES


class PastSettings:
    """Puts the streams of past runs into the notebook, once for each, and the page on them.

    Parameters
    ----------
    page
        The page.
    namespace
        The notebook's variables.
    """

    def __init__(self, page: PageState, namespace: dict[str, Any]) -> None:
        self._page, self._namespace = page, namespace

    def set(self, record: RunRecord) -> None:
        """Set all fields to what a run is of, without reporting a change."""
        settings, of = self._page.settings, record.configuration
        with settings.form.quietly():
            settings.take(*(self._variable(record, place) for place in range(len(SIDES))))
            settings.restore({"kind": kind_of(of.join).name, "how": how_of(of.join)})
            settings.apply(_settings(of))

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


def _settings(of: RunConfiguration) -> dict[str, Any]:
    """The inputs of a configuration, by the names that `SettingsPanel.apply` takes."""
    kind = kind_of(of.join)
    given = kind.arguments(of.join)
    names = [*(each.argument for each in kind.fields), *(each.argument for each in kind.flags)]
    inputs = {name: times.text(given[name]) if isinstance(given[name], timedelta) else given[name] for name in names}
    delays = {DELAYS[side]: times.text(getattr(of, side).watermark) for side in SIDES}
    return inputs | delays | {"policy": of.policy, "finish": of.finish}
