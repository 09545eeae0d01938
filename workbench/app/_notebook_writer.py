"""The part of a page that writes into its notebook what the kernel no longer can: after a reload of the browser."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets

__all__ = ["NotebookWriter"]


class NotebookWriter(anywidget.AnyWidget):  # type: ignore[misc]
    """An invisible part of a page.

    Attributes
    ----------
    saved
        What the notebook should have: ``name`` of the page, ``version`` of what it shows, and, where this part writes
        it, the outputs ``summary`` and ``picture``.
    writes
        Whether the notebook did not have it, so that this part is to write it.
    """

    _esm = Path(__file__).with_name("notebook_writer.js")
    saved = traitlets.Dict().tag(sync=True)
    writes = traitlets.Bool(False).tag(sync=True)
