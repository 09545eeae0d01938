"""How tables of rows look on the page: all that they are given, in full, sentences over several lines."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from workbench.untyped import Record

__all__ = ["IN_LINES", "LOOKS", "PAGE", "wrapped"]

PAGE = 200
"""How many rows are shown at a time."""
LOOKS: Record = {
    "layout": dict.fromkeys(("topStart", "topEnd", "bottomStart", "bottomEnd")),
    "paging": False,
    "ordering": False,
    "scrollY": "320px",
    "scrollCollapse": True,
    "maxBytes": 0,
    "select": True,
}
"""The table shows all that it is given: what is sorted, searched and paged is done in the kernel, on all rows."""

IN_LINES: Record = {name: value for name, value in LOOKS.items() if not name.startswith("scroll")} | {
    "select": False,
    "autoWidth": False,
    "showIndex": True,
    "columnDefs": [{"className": "sjw-line", "targets": "_all"}],
}
"""As `LOOKS`, each row in one line. The page scrolls it, not DataTables, whose header is a table of its own: that gets
other widths than the columns where the table is filled before it is seen."""


def wrapped(frame: pd.DataFrame, sentences: Sequence[str]) -> Record:
    """What lets columns of sentences run over several lines, in a table that has some; its index comes first."""
    words = [1 + frame.columns.get_loc(name) for name in sentences if name in frame]
    classes = ["sjw-words sjw-longest", *["sjw-words"] * len(words)]  # the first of them says most
    looks: Record = {
        "columnDefs": [{"className": name, "targets": [at]} for name, at in zip(classes, words, strict=False)]
    }
    return looks | {"showIndex": True if words else "auto"}
