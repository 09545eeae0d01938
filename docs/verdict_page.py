"""The page of all verdicts, ``docs/verdicts.md``: their sentences, a recording that gives each, and what to do."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from verdict_examples import EXAMPLES, START, TABLES, Example  # noqa: E402 - the tests' recordings

PAGE = ROOT / "docs" / "verdicts.md"
HEAD = """# Verdicts

The workbench gives every row one verdict: why it has its fate. `run.verdicts` has the verdicts; the `reason` in
`run.rows`, `run.causes`, `run.why`, the page, reports and advice follow from them. To find a sentence that you have
read, search this page for a few of its words.

Each verdict is listed with its cause, which `run.causes` counts, the template of its reason, and a recording that
produces it: rows as *key, event time, values, micro-batch*, the row in question in bold. A name in braces stands for
a value, or for a clause that is left out where it does not apply.
"""


def text() -> str:
    """The page."""
    given = {example.verdict: example for example in EXAMPLES}
    parts = [HEAD]
    for title, table in TABLES.items():
        parts.append(f"## {title}\n")
        for verdict in table:
            parts.append(_section(given[verdict]))
    return "\n".join(parts)


def _section(example: Example) -> str:
    verdict, cause, reason = example.told()
    sides = "\n".join(_side(example, side) for side in ("left", "right"))
    return f"""### {verdict}

*{verdict.fate.replace("_", " ")}*: {_plain(cause)}

> {_plain(reason)}

{_setting(example)}

{sides}

Template: `{verdict.sentence}`

What to do: {verdict.remedy}
"""


def _setting(example: Example) -> str:
    words = [f"`{example.join!r}`"]
    words += [f"`{name}={value!r}`" for name, value in example.settings.items()]
    if example.facts is not None:
        words.append("a job of which the plan, or an earlier micro-batch, says more than the rows")
    return ", ".join(words)


def _side(example: Example, side: str) -> str:
    rows = example.orders if side == "left" else example.payments
    shown = []
    for number, (key, seconds, *values, batch) in enumerate(rows):
        words = " ".join([str(key), _clock(seconds), *map(str, values), f"in {batch}"])
        shown.append(f"**{words}**" if (side, number) == example.row else words)
    return f"* {'orders' if side == 'left' else 'payments'}: {', '.join(shown)}"


def _clock(seconds: float) -> str:
    moment = START + timedelta(seconds=seconds)
    return f"{moment:%H:%M:%S}" if moment.date() == START.date() else f"{moment:%Y-%m-%d %H:%M:%S}"


def _plain(words: str) -> str:
    """Text in Markdown: what has a meaning there is escaped."""
    return words.replace("\\", "\\\\").replace("*", "\\*").replace("_", "\\_").replace("<", "\\<")


def write() -> None:
    """Write the page."""
    PAGE.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    write()
