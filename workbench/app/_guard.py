"""What the browser does for the page as a whole: names for assistive technology, keys, and word of a lost kernel."""

from __future__ import annotations

from pathlib import Path

import anywidget


class Guard(anywidget.AnyWidget):  # type: ignore[misc]
    """An invisible part of a page.

    It gives ipywidgets' tabs and sliders the roles and names that they lack, keeps JupyterLab's shortcuts from acting
    on keys that are pressed in the page, and says so when the kernel that the page belongs to is gone.
    """

    _esm = Path(__file__).with_name("guard.js")
