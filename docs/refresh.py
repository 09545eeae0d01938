"""Draws the picture of each join's page, and writes the join's text beside it: ``python docs/refresh.py``.

A page's first block of Python makes the run. The blocks after it that begin with ``py``, ``java`` and ``sql`` are the
plan, the DataStream job's join and the SQL query that the workbench gives for that run. The page of all verdicts is
written as a whole.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import verdict_page

from workbench import flink
from workbench.errors import ArgumentError
from workbench.kinds import kind_of, plan_of

if TYPE_CHECKING:
    from workbench.runs.run import Run

PAGES = sorted((Path(__file__).parent / "joins").glob("*.md"))
_BLOCK = r"(?<=^```{word}\n)(.*?)(?=^```$)"


def block(page: str, word: str) -> str:
    """The first block of a page that begins with a word."""
    found = re.search(_BLOCK.format(word=word), page, re.M | re.S)
    if not found:
        raise ValueError(f"the page has no block that begins with {word}")
    return found[0]


def example(page: str) -> tuple[dict[str, Any], Any]:
    """The names that a page's example defines, its `Run` among them, and its chart: what its last line gives."""
    *lines, last = block(page, "python").rstrip().splitlines()
    space: dict[str, Any] = {}
    exec("\n".join(lines), space)
    return space, eval(last, space)


def texts(run: Run) -> dict[str, str]:
    """What stands in the page's other blocks."""
    java = flink.java(run.join, run.left, run.right)
    begins = "Pattern" if kind_of(run.join).match_columns(run.join) else "timedLeft"
    (body,) = re.findall(rf"^        return {begins}\b.*?;\n(?=    }}$)", java, re.M | re.S)
    found = {
        "py": plan_of(run.join, run.left, run.right),
        "java": "\n".join(line.removeprefix("        ") for line in body.splitlines()) + "\n",
    }
    try:
        sql = flink.sql(run.join, run.left, run.right)
    except ArgumentError:  # Flink SQL has no such join
        return found
    return found | {
        "sql": sql[sql.index("CREATE VIEW") if "CREATE VIEW" in sql else sql.rindex("SELECT\n") :].strip() + "\n"
    }


def refresh(file: Path) -> None:
    """Bring a page and its picture up to date."""
    page = file.read_text(encoding="utf-8")
    names, chart = example(page)
    run = names["run"]
    for word, text in texts(run).items():
        page = re.sub(_BLOCK.format(word=word), lambda _, text=text: text, page, count=1, flags=re.M | re.S)
    file.write_text(page, encoding="utf-8")
    chart.save(file.with_suffix(".png"), scale_factor=1.5)


if __name__ == "__main__":
    for each in PAGES:
        print(each.name, flush=True)
        refresh(each)
    verdict_page.write()
