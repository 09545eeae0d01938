"""Text that can be copied and downloaded: the script, and the cell that does what the page does."""

from __future__ import annotations

import io
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING

import anywidget
import black
import traitlets
from pygments.lexers import JavaLexer, MarkdownLexer, PythonLexer, SqlLexer, TOMLLexer, YamlLexer

from workbench import flink, joins, patterns, times, windows
from workbench.app._snapshot import RunConfiguration
from workbench.app.html import coloured
from workbench.errors import ArgumentError
from workbench.streams import SIDES

if TYPE_CHECKING:
    from workbench.runs.result import Result

_LEXERS = {
    ".py": PythonLexer,
    ".sql": SqlLexer,
    ".java": JavaLexer,
    ".md": MarkdownLexer,
    ".toml": TOMLLexer,
    ".yml": YamlLexer,
}


class CodeBox(anywidget.AnyWidget):  # type: ignore[misc]
    """Highlighted text with buttons to copy and download it."""

    _esm = Path(__file__).with_name("code.js")
    text = traitlets.Unicode("").tag(sync=True)
    html = traitlets.Unicode("").tag(sync=True)
    file = traitlets.Unicode("join.py").tag(sync=True)

    def show(self, text: str, file: str) -> None:
        """Show a text, and the name under which it is downloaded."""
        with self.hold_sync():
            self.text, self.file = text, file
            lexer = _LEXERS[Path(file).suffix]()
            self.html = coloured(text, lexer)


def highlight_style() -> str:
    """The colours of the text, in JupyterLab's own variables, so that they follow its theme."""
    colours = {
        "k": "keyword", "kn": "keyword", "ow": "keyword", "kc": "keyword", "s": "string", "s1": "string",
        "s2": "string", "sd": "string", "sa": "string", "sf": "string", "si": "string", "c1": "comment",
        "cm": "comment", "mi": "number", "mf": "number", "nf": "def", "nc": "def", "nb": "builtin", "nd": "meta",
        "o": "operator", "kd": "keyword", "kt": "keyword", "kr": "keyword",
    }  # fmt: skip
    rules = [
        f".sjw-highlight .{name} {{ color: var(--jp-mirror-editor-{colour}-color); }}"
        for name, colour in colours.items()
    ]
    return "\n".join(rules)


def cell(configuration: RunConfiguration) -> str:
    """The text of a cell that does what a page is set to.

    Parameters
    ----------
    configuration
        What it is set to.
    """
    if configuration.job is None:
        return _formatted([*_making(configuration, "run"), "run.charts.timeline()"])
    name = configuration.job_name
    if configuration.is_as_it_ran:
        return _formatted([f"{name}.charts.timeline()"])
    return _formatted([*_changed_job(configuration, "changed"), f"changed.against({name})"])


def opening(configuration: RunConfiguration, *, ran: bool) -> str:
    """The lines of a cell that make what a page shows, as ``run``.

    Parameters
    ----------
    configuration
        What the page is set to.
    ran
        Whether it shows a run on Spark, and no preview.
    """
    if configuration.job is None:
        return _formatted(_making(configuration, "run" if ran else "preview"))
    if configuration.is_as_it_ran:
        return _formatted([f"run = {configuration.job_name}"])
    return _formatted(_changed_job(configuration, "run"))


def _making(configuration: RunConfiguration, call: str) -> list[str]:
    """The lines that make ``run`` by `workbench.run`, or by `workbench.preview`."""
    sides = zip(SIDES, (configuration.left, configuration.right), strict=True)
    delays = ", ".join(f"{side}.with_watermark({times.text(stream.watermark)!r})" for side, stream in sides)
    arguments = "" if configuration.finish else ", finish=False"
    arguments += "" if configuration.policy == "min" else f", policy={configuration.policy!r}"
    if call == "run" and configuration.folder is not None:
        arguments += f", folder={configuration.folder!r}"
    imports = [line for line in configuration.code if line.startswith(("import ", "from "))]
    return [
        *imports,
        "import workbench as wb",
        "",
        *(line for line in configuration.code if line not in imports),
        f"left, right = {delays}",
        f"join = {_public(repr(configuration.join))}",
        f"run = wb.{call}(join, left, right{arguments})",
    ]


def _changed_job(configuration: RunConfiguration, name: str) -> list[str]:
    """The lines that make a job under other settings, under a name."""
    streams = zip(SIDES, (configuration.left, configuration.right), strict=True)
    delays = ", ".join(f"{side}_watermark={times.text(stream.watermark)!r}" for side, stream in streams)
    others = f", policy={configuration.policy!r}, finish={configuration.finish!r}"
    return [
        "import workbench as wb",
        "",
        f"join = {_public(repr(configuration.join))}",
        f"{name} = {configuration.job_name}.under(join, {delays}{others})",
    ]


def together(first: str, then: str) -> str:
    """Two texts of a cell as one, what both import at its top."""
    lines = [*first.splitlines(), *then.splitlines()]
    imports = sorted({line for line in lines if line.startswith(("import ", "from "))})
    rest = "\n".join(line for line in lines if line not in imports).strip("\n")
    return "\n".join([*imports, "", rest] if imports else [rest])


def _formatted(lines: list[str]) -> str:
    """The lines of a cell as it is shown."""
    return black.format_str("\n".join(lines), mode=black.Mode(line_length=100))


def _public(text: str) -> str:
    """A join's text as a cell writes it: the names of classes that the workbench has behind ``wb.``."""
    found, before = [], ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        known = token.type == tokenize.NAME and before != "." and token.string[0].isupper()
        if known and any(hasattr(module, token.string) for module in (joins, patterns, windows)):
            found.append(token.start[1])
        before = token.string
    for place in reversed(found):
        text = f"{text[:place]}wb.{text[place:]}"
    return text


def flink_sql(run: Result) -> tuple[str, str]:
    """A run's join as Flink SQL, and a name for the file; where Flink has no such join, why."""
    try:
        return flink.sql(run.join, run.left, run.right), "join.sql"
    except ArgumentError as error:
        return f"-- {error}", "join.sql"


def flink_java(run: Result) -> tuple[str, str]:
    """A run's join as a job of Flink's DataStream API, and the name of its file; where there is none, why."""
    file = f"{flink.class_name(run.left, run.right)}.java"
    try:
        return flink.java(run.join, run.left, run.right), file
    except ArgumentError as error:
        return f"// {error}", file
