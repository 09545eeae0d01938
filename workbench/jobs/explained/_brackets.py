"""Brackets in the text of a plan, and what stands between separators outside of them."""

from __future__ import annotations

import re
from bisect import bisect

from workbench.jobs.explained._types import TAG

__all__ = ["Depths", "UnbalancedError", "between", "listed", "outside", "parted", "split"]

_BRACKETS = re.compile(r"[()\[\]]|\bCASE WHEN |(?<= )END(?=$|[ ,)\]])")


class UnbalancedError(ValueError):
    """Brackets that do not match: those of a string or a name are among them."""


def listed(text: str) -> list[str]:
    """The arguments of a node that are lists."""
    return [each for each in split(text) if each.startswith("[") and each.endswith("]")]


def split(text: str) -> list[str]:
    """What is separated by commas, outside of brackets."""
    try:
        parts = parted(text, ", ")
    except UnbalancedError:  # each column ends with its number
        return re.sub(rf"({TAG}), ", r"\1\n", text).split("\n")
    return parts if parts[-1] else parts[:-1]


class Depths:
    """How deep in brackets each place of a text is; ``CASE`` and ``END`` are brackets, too.

    Raises
    ------
    UnbalancedError
        If brackets do not match.
    """

    def __init__(self, text: str) -> None:
        self._places = [0]
        self._depths = [0]
        open_: list[str] = []
        for found in _BRACKETS.finditer(text):
            word = found[0]
            if word in "([" or word.startswith("CASE"):
                open_.append({"(": ")", "[": "]"}.get(word, "END"))
            elif open_ and open_[-1] == word:
                open_.pop()
            elif word == "END":
                continue
            else:
                raise UnbalancedError(text)
            self._places.append(found.end() if open_ and len(open_) > self._depths[-1] else found.start())
            self._depths.append(len(open_))
        if open_:
            raise UnbalancedError(text)

    def at(self, place: int) -> int:
        """How many brackets are open before a place."""
        return self._depths[bisect(self._places, place) - 1]

    def closes(self) -> int:
        """Where the first bracket is closed."""
        return next((at for at, depth in zip(self._places[1:], self._depths[1:], strict=True) if not depth), -1)


def parted(text: str, words: str) -> list[str]:
    """The parts of a text between words outside of brackets."""
    return between(text, outside(re.compile(words), text))


def outside(words: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Where words are in a text, outside of brackets."""
    depths = Depths(text)
    return [each for each in words.finditer(text) if not depths.at(each.start())]


def between(text: str, found: list[re.Match[str]]) -> list[str]:
    """The parts of a text between what was found in it."""
    starts = [0, *(each.end() for each in found)]
    ends = [*(each.start() for each in found), len(text)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]
