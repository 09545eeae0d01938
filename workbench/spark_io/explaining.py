"""``wb.explain``: what an error of Spark's about a streaming join means, and what to write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from workbench.errors import WorkbenchError, shortened, wrong
from workbench.spark_io.cause import cause
from workbench.spark_io.known_errors import KNOWN

__all__ = ["Explanation", "explain", "in_one"]

_CONDITION = re.compile(r"\[([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?:\.[A-Z0-9_]+)?)\] ")
_WRAPPER = "STREAM_FAILED"
"""The class of whatever ends a query, around the error that did."""
_PLACES = (
    re.compile(r"event time columns: \((.*?)\)"),
    re.compile(r"with name (.+?) cannot be resolved"),
    re.compile(r"Reference (\S+) is ambiguous"),
    re.compile(r"Column (.+?) are ambiguous"),
    re.compile(r"Resolved attribute\(s\) (\S+) missing"),
    re.compile(r"USING column (\S+) cannot be resolved"),
    re.compile(r";\s*\n[~'!]*(\w[^\n]*)"),  # the operator at the head of the plan that Spark prints
)
_IDS = re.compile(r"#\d+L?(?:-T\d+ms)?")
_UNKNOWN = "The workbench does not know this error."
_SAYS = "Spark says: "
_QUERY = "=== Streaming Query ==="
"""What follows are the offsets and the whole plan of a query."""


@dataclass(frozen=True)
class Explanation:
    """What an error of Spark's means; its text is one or two sentences. Made by `workbench.explain`.

    Attributes
    ----------
    rule
        Which rule of Spark's is broken.
    remedy
        What to write; what Spark says where the error is none that is known.
    where
        The column, or the operator of the plan, that breaks it; empty where Spark names none.
    condition
        Spark's name for the error, such as ``AMBIGUOUS_REFERENCE``; empty where it has none.
    known
        Whether it is an error that the workbench knows.
    """

    rule: str
    remedy: str
    where: str = ""
    condition: str = ""
    known: bool = True

    def __str__(self) -> str:
        place = f" ({self.where})" if self.where and self.known else ""
        return f"{self.rule.removesuffix('.')}{place}. {self.remedy}"


def explain(error: BaseException | str) -> Explanation:
    """What an exception of Spark's about a streaming join means, and what to write.

    Parameters
    ----------
    error
        What `join`, `select`, `start` or `awaitTermination` raised, what ``query.exception()`` gives, an error of the
        workbench's with Spark's below it, or the text of one of these.

    Returns
    -------
    Explanation
        Which rule of Spark's is broken, where, and what to write; of an error that is not known Spark's own sentence.

    Raises
    ------
    ArgumentError
        If it is neither an exception nor a text.

    Examples
    --------
    >>> import workbench as wb
    >>> print(wb.explain("Reference `id` is ambiguous, could be: [`a`.`id`, `b`.`id`]."))
    Both sides have a column of that name (`id`). Call .alias("a") and .alias("b") on the sides and write F.col("a.id"), or rename the column of one side before the join.
    """  # noqa: E501 - what is printed is one line
    if not isinstance(error, BaseException | str) or (isinstance(error, str) and not error.strip()):
        raise wrong("error", error, "give the exception that Spark raised, or its text")
    texts = [error] if isinstance(error, str) else list(_texts(error))
    for text in texts:
        line = " ".join(text.split())
        known = next((each for each in KNOWN if each.pattern.search(line)), None)
        if known is not None:
            return Explanation(_plain(known.rule), _plain(known.remedy), _where(text), _condition(error, text))
    return Explanation(_UNKNOWN, f"{_SAYS}{_said(error)}", "", _condition(error, texts[0]), known=False)


def _said(error: BaseException | str) -> str:
    """What an error says, in one line; the workbench's own have been told in a sentence already."""
    if isinstance(error, WorkbenchError):
        return str(error)
    return cause(Exception(error) if isinstance(error, str) else error)


def in_one(found: Explanation) -> str:
    """An explanation as one sentence that follows a colon; of an error that is not known what Spark says."""
    if not found.known:
        return found.remedy.removeprefix(_SAYS).rstrip(".;")
    where = f" ({found.where})" if found.where else ""
    return f"{_continued(found.rule)}{where}; {_continued(found.remedy)}"


def _continued(sentence: str) -> str:
    """A sentence as part of another: names keep their capitals."""
    said = sentence.removesuffix(".")
    is_name = said.startswith("Spark") or not (said[1:2].islower() or said[1:2] == " ")
    return said if is_name else said[:1].lower() + said[1:]


def _texts(error: BaseException) -> Iterator[str]:
    """What an error says, then what those say that it came from."""
    seen: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in seen:
        yield str(getattr(one, "details", "") or one)
        seen.append(one)
        one = one.__cause__ or one.__context__


def _condition(error: BaseException | str, text: str) -> str:
    """Spark's name for an error; of one that ended a query the name of that."""
    named = [each for each in _CONDITION.findall(text) if each != _WRAPPER]
    if named:
        return str(named[0])
    asked = getattr(error, "getCondition", None)
    try:
        found = str((asked() if asked else None) or "")
    except Exception:  # noqa: BLE001 - the session that raised it has ended
        return ""
    return "" if found == _WRAPPER else found


def _where(text: str) -> str:
    """The column or the operator of the plan that a message names."""
    text = text.partition(_QUERY)[0]
    found = next((found for each in _PLACES if (found := each.search(text))), None)
    return "" if found is None else shortened(_IDS.sub("", found[1]).strip())


def _plain(text: str) -> str:
    """A sentence of the page without its marks of code."""
    return text.replace("`", "")
