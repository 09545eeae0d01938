"""The names that a plan's text is made of, and the filling of its templates."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache, lru_cache
from importlib.resources import files
from textwrap import dedent
from textwrap import fill as filled
from typing import TYPE_CHECKING

import black
import jinja2

from workbench import times
from workbench.conditions import HELPERS
from workbench.literals import SIDES
from workbench.plan.processors import KEPT, PLACED
from workbench.quoting import column, in_docstring, literal, quoted
from workbench.streams import ROW, Stream, pair_types
from workbench.untyped import Value

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "ENVIRONMENT",
    "Names",
    "SideNames",
    "fill",
    "identifier",
    "interval",
    "option",
    "plain_name",
    "release",
    "reserve",
    "shift",
    "wrapped",
]

_NO_NAMES = re.compile(
    r"""
    \{\#.*?\#\} | \{%.*?%\} | \{\{.*?\}\}  # what Jinja fills in
    | \"\"\".*?\"\"\" | "(?:\\.|[^"\\\n])*"  # texts
    | \#[^\n]*
    """,
    re.VERBOSE | re.DOTALL,
)
_NAME = re.compile(r"(?<![.\w])[A-Za-z_]\w*")
_TEXT = re.compile(r"('''|\"\"\")(.*?)\1", re.DOTALL)
_PREFIX = "{{ side.prefix }}"
_OPTION = re.compile(r'"--([a-z-]+)"')


_SCRIPTS = ("templates", "templates/job", "sources", "sinks", "dead_letters", "connectors")
_reserved: dict[str, str] = {}


def reserve(owner: str, text: str) -> None:
    """Keep the names and arguments that a text uses from streams: the text of a sink that was registered, say."""
    _reserved[owner] = text
    _forget()


def release(owner: str) -> None:
    """Give the names of a text back."""
    _reserved.pop(owner, None)
    _forget()


def _forget() -> None:
    for each in (_templates, _taken, _options):
        each.cache_clear()


@cache
def _templates() -> str:
    """The texts that plans and scripts are rendered from."""
    package = files("workbench")
    packages = [each for each in package.joinpath("builtin_kinds").iterdir() if each.is_dir()]
    plans = [
        each.joinpath("plan.py").read_text(encoding="utf-8") for each in packages if each.joinpath("plan.py").is_file()
    ]
    texts = [text for plan in plans for _, text in _TEXT.findall(plan)]
    inner = [text for text in texts if "{%" in text or "{{" in text]
    inner += [text.replace(_PREFIX, f"{side}_") for text in inner if _PREFIX in text for side in SIDES]
    places = [each for folder in _SCRIPTS for each in package.joinpath("script", folder).iterdir()]
    scripts = [
        each.read_text(encoding="utf-8")
        for each in places
        if each.name.endswith(".jinja") and "_pipeline" not in each.name
    ]
    arguments = [
        f'"--{name}"'
        for each in places
        if each.name.endswith(".py")
        for name in _OPTION.findall(each.read_text(encoding="utf-8"))
    ]
    return "\n".join([*inner, _MACROS, PLACED, KEPT, HELPERS, *scripts, *arguments, *_reserved.values()])


@cache
def _taken() -> frozenset[str]:
    """The names that a plan or a script may use itself, which no stream may shadow."""
    names = {*_NAME.findall(_NO_NAMES.sub(" ", _templates())), *(each.replace("-", "_") for each in _options())}
    return frozenset(names | set(dir(builtins)) | set(keyword.kwlist))


@cache
def _options() -> frozenset[str]:
    """The arguments that a script may have beside those of the streams."""
    return frozenset({*_OPTION.findall(_templates()), "help"})


def _is_free(name: str, other: str = "") -> bool:
    """Whether neither a script nor the other stream uses a name, or one of those that are derived from it."""
    ours, theirs = _derived(name), _derived(other) if other else set()
    return not ours & (_taken() | theirs)


def _derived(name: str) -> set[str]:
    return {name, name.upper(), f"END_OF_{name.upper()}", f"late_{name}"}


def plain_name(name: str) -> str:
    """A stream's name in letters, digits and underscores."""
    plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower()
    return f"stream_{plain}".rstrip("_") if not plain or plain[0].isdigit() else plain


def identifier(name: str, other: str = "") -> str:
    """A Python identifier as near to a stream's name as can be, unlike that of the other stream."""
    plain = plain_name(name)
    while not _is_free(plain, other):
        plain += "_stream"
    return plain


def option(plain: str, var: str) -> str:
    """What follows ``--`` in the argument that names a stream's place."""
    name = plain.replace("_", "-")
    return var.replace("_", "-") if name in _options() else name


def interval(span: timedelta) -> str:
    """Python source of a positive time span as a column."""
    return f'F.expr("INTERVAL {times.text(span).upper()}")'


def shift(bound: timedelta) -> str:
    """What is added to a time to shift it, as Python source; empty for no shift."""
    if not bound:
        return ""
    return f" {'-' if bound < times.ZERO else '+'} {interval(abs(bound))}"


@dataclass(frozen=True)
class SideNames:
    """The names of one side, each as Python source; `option` is the script's argument, without its dashes.

    `sampled` says whether rows without number stand for the newest of those that are left out.
    """

    var: str
    option: str
    prefix: str
    keys: tuple[str, ...]
    time: str
    delay: timedelta
    sampled: bool = False

    @property
    def prefixed_keys(self) -> list[str]:
        """Key columns after the side's prefix."""
        return [column(self.prefix + key) for key in self.keys]

    @property
    def prefixed_time(self) -> str:
        """The event-time column after the side's prefix."""
        return column(self.prefix + self.time)


@dataclass(frozen=True)
class Names:
    """The names of both sides, and the types of the columns that a pair has."""

    left: SideNames
    right: SideNames
    types: Mapping[str, pa.DataType] = field(default_factory=dict)

    @classmethod
    def of(cls, left: Stream, right: Stream, recorded: bool = False) -> Names:
        """The names of two streams; streams of one name get their side's word in front."""
        plain = [plain_name(left.name), plain_name(right.name)]
        if plain[0] == plain[1]:
            plain = [f"left_{plain[0]}", f"right_{plain[1]}"]
        first = identifier(plain[0])
        names = [first, identifier(plain[1], first)]
        sides = [
            SideNames(
                var,
                option(given, var),
                prefix,
                side.key,
                side.time,
                side.watermark,
                recorded and side.newest is not None,
            )
            for given, var, prefix, side in zip(plain, names, ("left_", "right_"), (left, right), strict=True)
        ]
        return cls(sides[0], sides[1], pair_types(left, right))


def wrapped(text: str, width: int, lead: str = "") -> str:
    """A paragraph of lines that are no wider, each with the same lead."""
    return filled(" ".join(text.split()), width, initial_indent=lead, subsequent_indent=lead) + "\n"


ENVIRONMENT = jinja2.Environment(
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
    autoescape=False,  # noqa: S701 - no HTML
)
ENVIRONMENT.filters |= {
    "column": column,
    "in_docstring": in_docstring,
    "literal": literal,
    "quoted": quoted,
    "interval": interval,
    "span": times.text,
    "wrapped": wrapped,
}

_MACROS = """
{% macro seen_by_watermark(side, time, prefix) -%}
{% if finish %}
        .where(F.col({{ time }}) < END_OF_INPUT)
{%- endif %}
{% if side.sampled %}

        # rows without number only move the watermark; the time is named so that Spark filters after it has moved
        .where((F.col({{ (prefix ~ row_number) | column }}) >= 0) | F.col({{ time }}).isNull())
{%- endif %}
{%- endmacro %}
{% macro prepare(side, time="") %}
    {{ side.var }} = (
        {{ side.var }}.withColumnsRenamed({name: f"{{ side.prefix }}{name}" for name in {{ side.var }}.columns})
{% if time %}
        .withColumn({{ time }}, F.col({{ side.prefixed_time }}))
{% endif %}
        .withWatermark({{ time or side.prefixed_time }}, {{ side.delay | span | literal }})
{{ seen_by_watermark(side, time or side.prefixed_time, side.prefix) }}
{{ caller() }}    )
{% endmacro %}
{% macro same_keys() -%}
{% for mine, theirs in keys %}
{{ "        & " if not loop.first }}(F.col({{ mine }}) == F.col({{ theirs }})){{ "\n" if not loop.last }}
{%- endfor %}
{% if how == "full" %}

{% for mine, theirs in keys %}
        & F.col({{ mine }}).isNotNull(){{ "  # Spark's full outer join would pair two null keys" if loop.first }}{{ "\n" if not loop.last }}
{%- endfor %}
{%- endif %}
{%- endmacro %}
{% macro signature() -%}
def join_streams({{ left.var }}: DataFrame, {{ right.var }}: DataFrame) -> DataFrame:
{%- endmacro %}
"""


@cache
def _template(source: str) -> jinja2.Template:
    """A template that can use the macros above, compiled when it is first filled."""
    return ENVIRONMENT.from_string(_MACROS + dedent(source).lstrip("\n"))


def fill(source: str, names: Names, finish: bool, **more: Value) -> str:
    """The text of a template, which can use the macros above, for these names."""
    keys = list(zip(names.left.prefixed_keys, names.right.prefixed_keys, strict=False))  # rules may be for any key
    return _formatted(
        _template(source).render(left=names.left, right=names.right, keys=keys, finish=finish, row_number=ROW, **more)
    )


@lru_cache(maxsize=100)
def _formatted(text: str) -> str:
    return black.format_str(text, mode=black.Mode(line_length=120))
