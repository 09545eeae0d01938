"""The lines of a plan in the text of an explanation, and the names in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

from workbench.quoting import backticks

__all__ = ["ANALYSED", "OPTIMISED", "RELATION", "BrokenError", "Line", "Names", "outline", "section"]

ANALYSED = "== Analyzed Logical Plan =="
OPTIMISED = "== Optimized Logical Plan =="
_ROOT = re.compile(r"~[A-Z]\w*\b|StreamingRelation\w*\b|View \(")
RELATION = re.compile(r"(~?StreamingRelation\w*) (.*?\]), \[(.*?#\d+L?(?:-T\d+ms)?)\](?:, .*)?", re.DOTALL)
_LETTER = "ʘ"
"""A letter around the numbers that stand for names which are not words: no name is likely to have it."""


class BrokenError(ValueError):
    """A plan whose lines are not all there, or that has lines of a string among its own."""


@dataclass(frozen=True)
class Names:
    """Names that are not words, such as ``the id`` or ``count(1)``, by words that stand for them in the text."""

    names: Mapping[str, str]

    @classmethod
    def of(cls, text: str, others: Iterable[str]) -> Names:
        lines = [line.lstrip(" :+-") for line in text.splitlines()]
        relations = (found for line in lines if (found := RELATION.fullmatch(line)))
        of_sources = (name for found in relations for name in re.findall(r"(.+?)#\d+L?(?:-T\d+ms)?(?:, |$)", found[3]))
        computed = (line for line in lines if not line.lstrip("~").startswith("StreamingRelation"))
        aliases = (name for line in computed for name in re.findall(r" AS ([^#\n]+?)#\d+", line))
        odd = {each for each in chain(others, of_sources, aliases) if not re.fullmatch(r"\w+", each)}
        ordered = sorted(odd, key=lambda each: (-len(each), each))
        return cls({f"{_LETTER}{place}{_LETTER}": each for place, each in enumerate(ordered)})

    def hidden(self, text: str) -> str:
        """A text with words for the names of columns that are none."""
        for word, name in self.names.items():
            text = re.sub(rf"{re.escape(name)}(?=#\d)", word, text)
        return text

    def name(self, word: str) -> str:
        """What a column is called."""
        return self.names.get(word, word)

    def quoted(self, word: str) -> str:
        """What a column is called in SQL."""
        return backticks(self.names[word]) if word in self.names else word


@dataclass
class Line:
    """A line of a plan, and those below it."""

    text: str
    below: list[Line] = field(default_factory=list)


def section(text: str, title: str) -> list[str]:
    """The lines of a plan in an explanation, by its heading; none where there is no plan, such as an error."""
    _, _, rest = text.partition(title + "\n")
    lines = re.split(r"^== .* ==$", rest, maxsplit=1, flags=re.MULTILINE)[0].rstrip().splitlines()
    first = 1 if title == ANALYSED else 0  # above it are the names of the columns
    start = next((place for place, each in enumerate(lines) if place >= first and _ROOT.match(each)), len(lines))
    return lines[start:]


def outline(lines: list[str]) -> Line:
    """The lines of a plan by their indentation; those of subqueries, which are indented twice, are left out."""
    root = last = Line(lines[0])
    above = [root]
    for line in lines[1:]:
        depth = len(found[0]) if (found := re.match(r"(?:[: ]  )*(?::- |\+- )", line)) else 0
        if not depth:
            last.text += "\n" + line  # a string with several lines
            continue
        last = Line(line[depth:])
        depth //= 3
        if depth <= len(above):
            del above[depth:]
            above[-1].below.append(last)
            above.append(last)
    return root
