"""The names and literals that a plan's text is made of. User text enters it only through here."""

from __future__ import annotations

import builtins
import json
import keyword
import re
from dataclasses import dataclass
from datetime import timedelta
from textwrap import dedent
from typing import Any

import black
import jinja2

from workbench import times
from workbench.streams import Stream

_TAKEN = {"F", "spark", "DataFrame", "SparkSession", "END_OF_INPUT", "args", "joined", "window", "matches", "sessions"}
_TAKEN |= {"groups", "argparse", "Path", "main", "parse_args", "join_streams", "read", "write", "start", "null_key"}
_TAKEN |= set(dir(builtins))


def literal(value: str) -> str:
    """Python source of a text literal, in double quotes, in ASCII where the text is not printable."""
    if value.isprintable():
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return json.dumps(value)


def column(name: str) -> str:
    """Python source of a column reference, as ``F.col`` and its like read it."""
    return literal(quoted(name))


def quoted(name: str) -> str:
    """A column's name as Spark reads it: in backticks where they are needed."""
    return name if is_plain(name) else backticks(name)


def backticks(name: str) -> str:
    """A name in backticks, whatever is in it, as Spark and Flink SQL read it."""
    return "`" + name.replace("`", "``") + "`"


def is_plain(name: str) -> bool:
    """Whether a name is letters, digits and underscores, and begins with no digit."""
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is not None


def identifier(name: str) -> str:
    """A Python identifier as near to a stream's name as can be."""
    plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower()
    if not plain or plain[0].isdigit():
        plain = f"stream_{plain}".rstrip("_")
    return f"{plain}_stream" if keyword.iskeyword(plain) or plain in _TAKEN else plain


def interval(span: timedelta) -> str:
    """Python source of a positive time span as a column."""
    return f'F.expr("INTERVAL {times.text(span).upper()}")'


@dataclass(frozen=True)
class Side:
    """The names of one side, each as Python source."""

    var: str
    prefix: str
    keys: tuple[str, ...]
    time: str
    delay: timedelta

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
    """The names of both sides."""

    left: Side
    right: Side

    @classmethod
    def of(cls, left: Stream, right: Stream) -> Names:
        """The names of two streams; streams of one name get their side's word in front."""
        names = [identifier(left.name), identifier(right.name)]
        if names[0] == names[1]:
            names = [f"left_{names[0]}", f"right_{names[1]}"]
        sides = [
            Side(var, prefix, side.key, side.time, side.watermark)
            for var, prefix, side in zip(names, ("left_", "right_"), (left, right), strict=True)
        ]
        return cls(*sides)


ENVIRONMENT = jinja2.Environment(
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
    autoescape=False,  # noqa: S701 - no HTML
)
ENVIRONMENT.filters |= {"column": column, "literal": literal, "interval": interval, "span": times.text}

_MACROS = """
{% macro prepare(side, time="") %}
    {{ side.var }} = (
        {{ side.var }}.withColumnsRenamed({name: f"{{ side.prefix }}{name}" for name in {{ side.var }}.columns})
{% if time %}
        .withColumn({{ time }}, F.col({{ side.prefixed_time }}))
{% endif %}
        .withWatermark({{ time or side.prefixed_time }}, {{ side.delay | span | literal }})
{% if finish %}
        .where(F.col({{ time or side.prefixed_time }}) < END_OF_INPUT)
{% endif %}
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


def template(source: str) -> jinja2.Template:
    """A template that can use the macros above."""
    return ENVIRONMENT.from_string(_MACROS + dedent(source).lstrip("\n"))


def fill(source: jinja2.Template, names: Names, finish: bool, **more: Any) -> str:
    """The text of a template for these names."""
    keys = list(zip(names.left.prefixed_keys, names.right.prefixed_keys, strict=True))
    text = source.render(left=names.left, right=names.right, keys=keys, finish=finish, **more)
    return black.format_str(text, mode=black.Mode(line_length=100))
