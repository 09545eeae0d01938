"""The templates of scripts, and the texts that places give them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import jinja2

from workbench.plan.names import ENVIRONMENT
from workbench.untyped import Value

_FOLDERS = [jinja2.PackageLoader("workbench", folder) for folder in ("script/templates", "script")]
_ENVIRONMENT = ENVIRONMENT.overlay(loader=jinja2.ChoiceLoader(_FOLDERS))


def fill(name: str, given: Mapping[str, Value]) -> str:
    """The text of a template of ``templates``."""
    return _ENVIRONMENT.get_template(name).render(given)


def fill_text(text: str, given: Mapping[str, Value]) -> str:
    """The text that a place's own template gives."""
    return _template(text).render(given)


def helpers(given: Mapping[str, Value]) -> str:
    """The functions that any module of a script may use: general ones, and those of the connectors."""
    connectors = [fill_text(each.template, given) for each in given["connectors"] if each.template]
    return "\n\n\n".join([fill("helpers.py.jinja", given), *connectors])


def macros(text: str, given: Mapping[str, Value]) -> Any:
    """The macros of a place's own template, as functions that give text."""
    return _template(text).make_module(dict(given))


@cache
def _template(text: str) -> jinja2.Template:
    return _ENVIRONMENT.from_string(text)
