"""Where a page can take its two streams from: one module for each place, found through one registry.

The page's list, its inputs, the preview and the notebook cell iterate over these, and name none but where a variable of
the notebook is to be shown.
"""

from __future__ import annotations

from workbench.app.sources import files, job, kafka, notebook, scenario, spark_tables
from workbench.app.sources._source import (
    Control,
    LiveFeed,
    Notebook,
    PageSource,
    Streams,
    Values,
    WrongSettingsError,
)
from workbench.errors import wrong

__all__ = [
    "Control",
    "LiveFeed",
    "Notebook",
    "PageSource",
    "Streams",
    "Values",
    "WrongSettingsError",
    "register",
    "sources",
    "unregister",
]

_OWN = (scenario.SOURCE, notebook.SOURCE, files.SOURCE, kafka.SOURCE, spark_tables.SOURCE, job.SOURCE)
_sources: dict[str, PageSource] = {each.name: each for each in _OWN}


def sources() -> dict[str, PageSource]:
    """All sources by name, in the order of the page's list."""
    return dict(_sources)


def register(source: PageSource) -> None:
    """Make a source known to the pages that are opened from now on."""
    if source.name in _sources:
        raise wrong("source", source.name, "one has that name already; use another")
    taken = {name for each in _sources.values() for name in each.inputs}
    for name in source.inputs:
        if name in taken:
            raise wrong("controls", name, "another source has an input with that name; use another")
    _sources[source.name] = source


def unregister(source: PageSource) -> None:
    """Forget a source that was registered."""
    _sources.pop(source.name, None)
