"""All HTML is made here. Names and values come from shared files and topics: they are shown, never read."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter

from workbench.untyped import Value

if TYPE_CHECKING:
    from pygments.lexer import Lexer

__all__ = ["coloured", "data", "html", "plain", "script", "script_hash", "stylesheet", "together"]


def html(template: str, *values: object, **named: object) -> Markup:
    """HTML with values filled in as text, or as what they are if they are HTML made here.

    Parameters
    ----------
    template
        HTML as `str.format` takes it, written out where it is used; a test asks.
    *values, **named
        What to fill in.
    """
    return Markup(template).format(*values, **named)  # noqa: S704 - the one place: templates are literals


def together(parts: Iterable[str]) -> Markup:
    """HTML of parts, one after the other; what is not HTML made here is text."""
    return Markup().join(parts)


def plain(value: str) -> str:
    """The text that HTML made here shows."""
    return Markup(value).striptags()  # noqa: S704 - what is left is text, and no longer HTML


def stylesheet(rules: str) -> Markup:
    """A style sheet of the package's own rules."""
    return Markup(f"<style>{rules}</style>")  # noqa: S704 - the package's own files


def coloured(text: str, lexer: Lexer) -> Markup:
    """A program in colours; Pygments escapes it."""
    return Markup(highlight(text, lexer, HtmlFormatter(cssclass="sjw-highlight")))  # noqa: S704 - escaped by Pygments


def script(text: str) -> Markup:
    """A script of the package's own, as a module; see `script_hash`."""
    return Markup(f'<script type="module">{_in_script(text)}</script>')  # noqa: S704 - the package's own files


def script_hash(text: str) -> str:
    """What a Content-Security-Policy calls a `script`, so that a browser runs it and no other."""
    digest = hashlib.sha256(_in_script(text).encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _in_script(text: str) -> str:
    """A script's text without what would end its element, or begin a comment in it."""
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def data(name: str, value: Value) -> Markup:
    """A value as JSON that a script finds by its name; nothing in it can end the element."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    for each in "<>&\u2028\u2029":
        text = text.replace(each, f"\\u{ord(each):04x}")
    return html('<script type="application/json" id="{}">{}</script>', name, Markup(text))  # noqa: S704 - escaped above
