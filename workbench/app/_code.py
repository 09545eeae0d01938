"""Text that can be copied and downloaded: the script, and the cell that does what the page does."""

from __future__ import annotations

import re
from pathlib import Path

import anywidget
import traitlets
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from workbench import times
from workbench.app._settings import Asked
from workbench.streams import SIDES


class CodeBox(anywidget.AnyWidget):  # type: ignore[misc]
    """Highlighted Python with buttons to copy and download it."""

    _esm = Path(__file__).with_name("code.js")
    text = traitlets.Unicode("").tag(sync=True)
    html = traitlets.Unicode("").tag(sync=True)
    file = traitlets.Unicode("join.py").tag(sync=True)

    def show(self, text: str, file: str) -> None:
        """Show a text, and the name under which it is downloaded."""
        with self.hold_sync():
            self.text, self.file = text, file
            self.html = highlight(text, PythonLexer(), HtmlFormatter(nowrap=False, cssclass="sjw-highlight"))


def highlight_style() -> str:
    """The colours of the text, in JupyterLab's own variables, so that they follow its theme."""
    colours = {
        "k": "keyword", "kn": "keyword", "ow": "keyword", "kc": "keyword", "s": "string", "s1": "string",
        "s2": "string", "sd": "string", "sa": "string", "sf": "string", "si": "string", "c1": "comment", "mi": "number",
        "mf": "number", "nf": "def", "nb": "builtin", "nd": "meta", "o": "operator",
    }  # fmt: skip
    rules = [
        f".sjw-highlight .{name} {{ color: var(--jp-mirror-editor-{colour}-color); }}"
        for name, colour in colours.items()
    ]
    return "\n".join(rules)


def cell(asked: Asked, source: list[str]) -> str:
    """The text of a cell that does what a page is set to.

    Parameters
    ----------
    asked
        What it is set to.
    source
        The lines that make ``left`` and ``right``.
    """
    import black

    sides = zip(SIDES, (asked.left, asked.right), strict=True)
    delays = ", ".join(f"{side}.with_watermark({times.text(stream.watermark)!r})" for side, stream in sides)
    join = re.sub(r"\b(WindowJoin|CoGroup|IntervalJoin|Tumbling|Sliding|Session)\(", r"wb.\1(", repr(asked.join))
    arguments = "" if asked.finish else ", finish=False"
    arguments += "" if asked.policy == "min" else f", policy={asked.policy!r}"
    imports = [line for line in source if line.startswith("import ")]
    lines = [
        *imports,
        "import workbench as wb",
        "",
        *(line for line in source if line not in imports),
        f"left, right = {delays}",
        f"join = {join}",
        f"run = wb.run(join, left, right{arguments})",
        "run.charts.timeline()",
    ]
    return black.format_str("\n".join(lines), mode=black.Mode(line_length=100))
