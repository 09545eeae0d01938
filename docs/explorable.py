"""A Sphinx directive for a chart that a reader drags, and roles for the numbers in the text that follow it.

```` ```{explorable} watermark ```` puts the explanation of that name (`explanations`) on a page; what stands in the
directive is the sentence below the chart. ``{figure}`late` `` in it, and after it on the page, is a figure of the
position, ``{set}`delay` `` the value of a control. The page has the figures of its first position where no script runs.
"""

from __future__ import annotations

import concurrent.futures
import functools
import html
import json
import re
from pathlib import Path
from typing import Any, ClassVar

import explanations
from docutils import nodes
from earlier_builds import kept
from explanations import EXPLANATIONS, FATES, SHAPES, Control
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective, SphinxRole

_MARKED = {"engines": "another fate in the other engine"}
"""What rows have in common that stand out."""


class Explorable(SphinxDirective):
    """The chart, its controls, the sentence below it, and its rows as a table."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Put the chart on the page."""
        name = self.arguments[0]
        self.env.temp_data["explanation"] = name
        says = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, says)
        return [
            nodes.raw("", _opening(name), format="html"),
            nodes.raw("", '<div class="explore-says" aria-live="polite">', format="html"),
            *says.children,
            nodes.raw("", f"</div>{_rest(name)}</figure>", format="html"),
        ]


class Figure(SphinxRole):
    """A figure of the position, or the value of a control."""

    of: ClassVar[str] = "figure"

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Put the value of the first position there."""
        shown = self._values(self.env.temp_data["explanation"])[self.text]
        text = f'<span class="explore-figure" data-{self.of}="{html.escape(self.text)}">{html.escape(shown)}</span>'
        return [nodes.raw("", text, format="html")], []

    def _values(self, name: str) -> dict[str, str]:
        explanation = EXPLANATIONS[name]
        figures: dict[str, str] = _data(name)["positions"][explanation.positions().index(explanation.start())][
            "figures"
        ]
        return figures


class Set(Figure):
    """The value of a control."""

    of = "control"

    def _values(self, name: str) -> dict[str, str]:
        return {each.name: each.shown(each.start) for each in EXPLANATIONS[name].controls}


class Code(SphinxDirective):
    """Code in which the values of controls are those of the position: ``{delay}``."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Put the code on the page."""
        controls = {each.name: each for each in EXPLANATIONS[self.env.temp_data["explanation"]].controls}

        def value(found: re.Match[str]) -> str:
            control = controls[found[1]]
            return f'<b data-code="{html.escape(control.name)}">{html.escape(control.code(control.start))}</b>'

        code = re.sub(r"\{(\w+)\}", value, html.escape("\n".join(self.content), quote=False))
        return [nodes.raw("", f'<div class="highlight explore-code"><pre>{code}</pre></div>', format="html")]


def _opening(name: str) -> str:
    explanation = EXPLANATIONS[name]
    controls = "".join(map(_control, explanation.controls))
    return (
        f'<figure class="explore"><div class="explore-controls">{controls}</div>'
        '<svg role="img" aria-label="The rows, drawn; the table below has each with its reason."></svg>'
        f'<ul class="explore-legend">{_legend(name)}</ul>'
    )


def _control(control: Control) -> str:
    name, label = html.escape(control.name), html.escape(control.label)
    start = control.values.index(control.start)
    if all(isinstance(each, str) for each in control.values):
        choices = "".join(
            f'<label><input type="radio" name="{name}" value="{place}"{" checked" if place == start else ""}> '
            f"{html.escape(str(each))}</label> "
            for place, each in enumerate(control.values)
        )
        return f'<fieldset class="explore-choice"><legend>{label}</legend>{choices}</fieldset>'
    shown = html.escape(control.shown(control.start))
    return (
        f'<label class="explore-label">{label} <b data-control="{name}">{shown}</b>'
        f'<input type="range" name="{name}" min="0" max="{len(control.values) - 1}" value="{start}" '
        f'aria-valuetext="{shown}"></label>'
    )


def _legend(name: str) -> str:
    explanation, found = EXPLANATIONS[name], {row[4] for each in _data(name)["positions"] for row in each["rows"]}
    fates = "".join(
        f'<li><svg viewBox="-7 -7 14 14" class="fate-{each}"><path class="glyph" d="{SHAPES[place]}"/></svg>{each}</li>'
        for place, each in enumerate(FATES)
        if place in found
    )
    sides = "".join(
        f'<li class="side-{place}"><i></i>{html.escape(side)}</li>' for place, side in enumerate(explanation.sides)
    )
    marked = (
        f'<li><svg viewBox="-7 -7 14 14"><circle class="marked" r="5.5"/></svg>{_MARKED[name]}</li>'
        if name in _MARKED
        else ""
    )
    return fates + marked + sides


def _rest(name: str) -> str:
    heads = "".join(f"<th>{each}</th>" for each in ("stream", "key", "event time", "micro-batch", "fate", "reason"))
    data = json.dumps(_data(name), separators=(",", ":")).replace("<", "\\u003c")
    return (
        f"<details><summary>Every row with its reason</summary><table><thead><tr>{heads}</tr></thead><tbody></tbody>"
        f'</table></details><script type="application/json">{data}</script>'
    )


@functools.cache
def _data(name: str) -> dict[str, Any]:
    return json.loads(_made(name).read_text())


def _made(name: str) -> Path:
    """The file of an explanation's data."""
    return kept(f"{name}.json", lambda file: file.write_text(json.dumps(explanations.data(EXPLANATIONS[name]))))


def _prepare(_: Sphinx) -> None:
    """Make what is not there yet, two at a time."""
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        list(pool.map(_made, EXPLANATIONS))


def _outdated(app: Sphinx, env: BuildEnvironment, *_: object) -> list[str]:
    """All pages with a chart: they are made of more than Sphinx knows."""
    return [each for each in env.found_docs if each == "index" or each.startswith("explore/")]


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_directive("explorable", Explorable)
    app.add_directive("explorable-code", Code)
    app.add_role("figure", Figure())
    app.add_role("set", Set())
    app.connect("builder-inited", _prepare)
    app.connect("env-get-outdated", _outdated)
    app.add_js_file("explore.js", defer="defer")
    app.add_css_file("explore.css")
    return {"parallel_read_safe": True}
