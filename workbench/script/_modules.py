"""Modules from their own texts: each gets the helpers, constants and imports that it names, each of them once in all."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

import black

from workbench.script import _imports

WIDTH = 120


def assemble(
    docstrings: Mapping[str, str], bodies: Mapping[str, str], helpers: str, imports: Iterable[str], future: str = ""
) -> dict[str, str]:
    """The text of each module.

    Parameters
    ----------
    docstrings, bodies
        Of each module what it is, and its own text; in an order in which each uses what is in those before it.
    helpers
        Functions that any module may use: the first that does gets it.
    imports
        Import statements that a text may need.
    future
        What stands before all imports.
    """
    known, found = dict(_functions(helpers)), {}
    where: dict[str, str] = {}
    for module, body in bodies.items():
        used, mine = _imports.names(body), []
        while more := [name for name in known if name in used and name not in where]:
            for name in more:
                where[name] = module
                mine.append(known[name])
                used |= _imports.names(known[name])
        constants = {name: text for name, text in _imports.CONSTANTS.items() if name in used and name not in where}
        where |= dict.fromkeys(constants, module)
        where |= dict.fromkeys(_defined(body), module)
        foreign = sorted(name for name in used if where.get(name, module) != module)
        own = [f"from {each} import {name}" for name in foreign for each in [where[name]]]
        statements = _imports.imports(used, imports, own)
        parts = [
            "\n\n".join(filter(None, [_docstring(docstrings[module]), future, statements])),
            "\n".join(f"{name} = {text}" for name, text in constants.items()),
            *mine,
            body,
        ]
        text = "\n\n\n".join(part.strip("\n") for part in parts if part.strip())
        found[module] = black.format_str(text, mode=black.Mode(line_length=WIDTH))
    return found


def _docstring(text: str) -> str:
    return f'"""{text}\n"""' if "\n" in text else f'"""{text}"""'


def _functions(text: str) -> Iterator[tuple[str, str]]:
    """The functions of a text by name, each with its decorators."""
    lines = text.splitlines()
    for each in ast.parse(text).body:
        if isinstance(each, ast.FunctionDef):
            first = min([each.lineno, *(part.lineno for part in each.decorator_list)])
            yield each.name, "\n".join(lines[first - 1 : each.end_lineno])


def _defined(body: str) -> Iterator[str]:
    """The names that a module defines."""
    for each in ast.parse(body).body:
        if isinstance(each, ast.FunctionDef | ast.ClassDef):
            yield each.name
        elif isinstance(each, ast.Assign | ast.AnnAssign):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))
