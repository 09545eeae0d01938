"""Reports of what a page shows, written into the notebook's folder."""

from __future__ import annotations

import itertools
from pathlib import Path

from workbench.app._page_state import PageState
from workbench.app.html import html
from workbench.errors import WorkbenchError


class Reports:
    """Writes reports.

    Parameters
    ----------
    page
        The page.
    """

    def __init__(self, page: PageState) -> None:
        self._page = page

    def write(self) -> None:
        """Write a report of what is shown, under a name that no file has, and say where."""
        page = self._page
        page.head.note.value = "writing a report …"
        page.worker.submit("report", self._write)

    def _write(self) -> None:
        page = self._page
        run = page.shown.results.run
        if run is None:
            return
        try:
            written = run.report(_free(Path.cwd()), page.shown.results.tune.of(run))
        except WorkbenchError:
            page.head.note.value = ""
            raise
        page.head.note.value = html('the report is in <a data-file="{}">{}</a>', written.as_posix(), written)


def _free(folder: Path) -> Path:
    """A name for a report that no file of a folder has."""
    names = itertools.chain(["report.html"], (f"report-{number}.html" for number in itertools.count(2)))
    return next(folder / name for name in names if not (folder / name).exists())
