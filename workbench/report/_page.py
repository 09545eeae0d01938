"""The report's file: HTML, styles and scripts, and what they show."""

from __future__ import annotations

import os
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from pygments.lexers import PythonLexer

from workbench import markup, safe_files, times
from workbench.cache import bundled
from workbench.charts import Drawing
from workbench.counts import counted
from workbench.engine.execution import versions
from workbench.errors import QueryError, TooLargeError, WorkbenchError, wrong
from workbench.jobs import Job
from workbench.kinds import kind_of
from workbench.literals import DELAYS, FATES, SIDES
from workbench.markup import html, together
from workbench.reasons.labels import Labels, setting_name
from workbench.report._rows import Unmatched, shortened, unmatched
from workbench.runs import summary
from workbench.runs.result import Result
from workbench.runs.run import Run
from workbench.spark_io.cause import spark_errors_as
from workbench.tuning import Advice, Tuning, advised
from workbench.untyped import Record, Value

__all__ = ["LIMIT", "write"]

LIMIT = 2_900_000
"""Bytes that a report has at most."""
_HERE = Path(__file__).parent
_APP = _HERE.parent / "app"
_SCRIPTS = (_APP / "chart.js", _APP / "glyph.js", _HERE / "report.js")
"""What draws a chart and the glyphs of causes as the page does, and what a report does with them."""
_SPARE = 40_000  # bytes, for what is counted when the rows are chosen
_MOST_SETTINGS = 15
_TUNED = ("kept", "late_left", "late_right", "pairs_lost", "wait_99", "state_peak", "bytes_peak")
_WITHOUT_SCRIPTS = (  # JupyterLab shows files of HTML in a frame without scripts, until they are trusted
    "Charts and lists need scripts: press Trust HTML above, or open the file in a browser."
)
_NO_FRAMES = ".scripted { display: none; }"
_POLICY = (
    "default-src 'none'; script-src {scripts} 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)


def write(result: Result, path: str | os.PathLike[str], tuning: Tuning | None = None) -> Path:
    """Write the report of a run, or preview; see `Result.report`."""
    if tuning is not None and not isinstance(tuning, Tuning):
        raise wrong("tuning", type(tuning).__name__, "give what workbench.tune returned, or None")
    target = safe_files.place(path, 'give a path, such as "report.html"')
    if target.suffix.lower() != ".html":
        raise wrong("path", str(path), 'a report is a file for a browser: use a name such as "report.html"')
    safe_files.check_script(target)
    safe_files.write_script(target, safe_files.noted(str(_whole(result, tuning)), target.suffix))
    return target


def _whole(result: Result, tuning: Tuning | None) -> Markup:
    code = bundled("\n".join(each.read_text(encoding="utf-8") for each in _SCRIPTS))
    charts = {"timeline": _sent(result.charts.drawing("timeline"))}
    if tuning is not None:
        charts["tuning"] = _sent(tuning.charts.drawing("pareto"))
    parts = _parts(result, tuning)
    about: Record = {"names": [result.left.name, result.right.name], "charts": charts}
    fixed = len(code.encode()) + len(str(parts).encode()) + len(str(markup.data("x", about)).encode())
    rows = unmatched(result, max(0, LIMIT - fixed - _SPARE))
    about |= {"groups": rows.groups, "rows": rows.listed, "stories": rows.stories}
    policy = _POLICY.format(scripts=markup.script_hash(code))
    return html(
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="{}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer"><title>{}</title>{}<noscript>{}</noscript></head>'
        "<body><main>{}<noscript><p class=trouble>{}</p></noscript>{}{}</main>{}{}</body></html>\n",
        policy,
        _title(result, rows),
        markup.stylesheet((_HERE / "report.css").read_text(encoding="utf-8")),
        markup.stylesheet(_NO_FRAMES),
        _head(result, rows),
        _WITHOUT_SCRIPTS,
        _why(rows),
        parts,
        markup.data("report", about),
        markup.script(code),
    )


def _sent(drawing: Drawing) -> Record:
    """A drawing as the chart's script takes it, its texts not long."""
    spec = drawing.layout.to_dict(validate=False)
    tables = {
        name: {column: [shortened(value) for value in values] for column, values in table.items()}
        for name, table in drawing.columns.items()
    }
    # of counts, the last words say how to see single rows, which a report does not hold
    subtitle = drawing.subtitle.rpartition("; ")[0] if drawing.aggregated else drawing.subtitle
    words = {"title": drawing.title, "subtitle": subtitle, "along": drawing.along}
    return {"spec": spec, "drawing": {"number": 1, "layout": 1, **words, "tables": tables, "params": drawing.params}}


def _title(result: Result, rows: Unmatched) -> str:
    """What became of the rows: the name of a ticket or of a tab says what was lost before which join lost it."""
    of = f"{counted(len(result.left) + len(result.right), 'row')} of {result.left.name} and {result.right.name}"
    counts: Counter[str] = Counter()
    for each in rows.groups:
        counts[each["fate"]] += each["rows"]
    late, waiting = counts["late"], counts["pending"]
    lost = counts.total() - waiting
    if lost:
        words = f"{lost:,} of {of} {'was' if lost == 1 else 'were'} not matched"
        words += f", {late:,} of them late" if late else ""
    elif waiting:
        words = f"{waiting:,} of {of} {'waits' if waiting == 1 else 'wait'}, and none was lost"
    else:
        words = f"{of}: all matched"
    return f"{result.name}: {words}" if result.name else words


def _main_cause(rows: Unmatched) -> Markup:
    """The cause that most rows have, of those whose fate is no longer open."""
    lost = [each for each in rows.groups if each["fate"] != "pending"]
    if not lost:
        return html("")
    most, total = max(lost, key=lambda each: each["rows"]), sum(each["rows"] for each in lost)
    words = f"{most['rows']:,} of them" if most["rows"] < total else "all of them"
    return html('<p class="cause">Main cause: {} (<b>{}</b>)</p>', most["label"], words)


def _head(result: Result, rows: Unmatched) -> Markup:
    used = result.execution.versions if isinstance(result, Run) else versions(result.simulation.spark_version)
    match result:
        case Run():
            looks, words, by = "ran", "Run on Spark", f"Spark {used.get('pyspark', '')}"
        case Job():
            looks, words, by = "ran", "Job", f"read by Spark {result.simulation.spark_version}"
        case _:
            looks, words, by = "preview", "Preview", "simulated, without Spark"
    facts = [
        f"{kind_of(result.join).label} of {result.left.name} and {result.right.name}",
        f"{counted(len(result.left) + len(result.right), 'row')} in {counted(result.micro_batches, 'micro-batch')}",
        by,
        f"workbench {used.get('workbench', '')}",
        f"written {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
    ]
    return html(
        "<header><p>{}</p><h1>{}</h1>{}<p class=quiet>{}</p>{}{}</header><section>{}{}</section>",
        html('<span class="badge {}">{}</span>', looks, words),
        _title(result, rows),
        _main_cause(rows),
        " · ".join(facts),
        _of_job(result) if isinstance(result, Job) else html(""),
        _mismatch(result),
        together(_bar(result, side) for side in SIDES),
        _figures(result),
    )


def _of_job(job: Job) -> Markup:
    """Which job it is, as far as it is known, and whether it was verified."""
    numbers = job.checkpoint.batches[0].number, job.checkpoint.batches[-1].number
    lines = [f"checkpoint {job.checkpoint.address}, micro-batches {numbers[0]:,} to {numbers[1]:,}"]
    lines += [f"its condition asks for {job.where} too"] if job.where else []
    lines += [] if job.choice.takes_all else ["some of its keys"]
    lines += [] if job.mismatch else [f"verified: {'; '.join(job.comparison.what)}"]
    return together(html("<p class=quiet>{}</p>", line) for line in (*lines, *job.missing, *job.description.notes))


def _mismatch(result: Result) -> Markup:
    """What to say where the reasons may be wrong."""
    if not isinstance(result, Run | Job):
        return html("")
    try:
        with spark_errors_as(QueryError):
            words = result.mismatch
    except WorkbenchError as error:  # a report is written all the same, and says so
        words = f"this run was not compared with the workbench's model: {error}"
    return html("<p class=trouble>{}</p>", words) if words else html("")


def _bar(result: Result, side: Any) -> Markup:
    """How many rows of a side had which fate, as a bar and in words."""
    counts = result.simulation.fates[side]["fate"].value_counts()
    total = max(1, len(result.side(side)))
    found = [(each, int(counts.get(each, 0))) for each in FATES if counts.get(each, 0)]
    pieces = together(
        html('<i class="fate-{}" style="flex-grow:{}" title="{:,} {}"></i>', fate, count, count, fate.replace("_", " "))
        for fate, count in found
    )
    words = together(
        html('<span><i class="dot fate-{}"></i><b>{:,}</b> {}</span>', fate, count, fate.replace("_", " "))
        for fate, count in found
    )
    return html(
        '<div class="side"><h2>{}</h2><p class="share"><b>{}</b> matched</p><div class="bar">{}</div>'
        '<p class="counts">{}</p></div>',
        result.side(side).name,
        _percent(int(counts.get("matched", 0)), total),
        pieces,
        words,
    )


def _percent(part: int, whole: int) -> str:
    """A share, which is 100 % or 0 % only where it is exactly that."""
    share = 100 * part / whole
    if part and share < 0.1:
        return "<0.1 %"
    if part < whole and share > 99.9:
        return ">99.9 %"
    return f"{share:.0f} %" if part in (0, whole) else f"{share:.1f} %"


def _figures(result: Result) -> Markup:
    found = summary.figures(result)
    shown = {name: count for name, count in found.items() if name in ("rows out", "peak state")}
    given = {
        name.replace("peak state", f"{summary.held(result, found)} in state at most"): shown[name] for name in shown
    }
    words = together(html("<span><b>{:,}</b> {}</span>", count, name) for name, count in given.items())
    return html('<p class="figures">{}</p>', words)


def _why(rows: Unmatched) -> Markup:
    """The part that the script fills: why rows were not matched, the chart, the table, and a row's story."""
    if not rows.total:
        why = html('<p class="quiet">Every row was matched.</p>')
    else:
        listed, told = len(rows.listed["id"]), len(rows.stories)
        left_out = [f"{counted(rows.total, 'row')} {'was' if rows.total == 1 else 'were'} not matched"]
        if listed < rows.total:
            left_out.append(f"{listed:,} of them are listed, some of each kind; {rows.total - listed:,} are left out")
        if told < listed:
            left_out.append(f"{told:,} have their story, {listed - told:,} only their reason")
        why = html(
            '<p class="quiet">{}.</p><noscript><ul class="causes">{}</ul></noscript>'
            '<div class="scripted" id="groups" role="group" aria-label="Why"></div>',
            "; ".join(left_out),
            together(html("<li><b>{:,}</b> {}</li>", each["rows"], each["label"]) for each in rows.groups),
        )
    return html(
        "<section><h2>Why rows were not matched</h2>{}</section>"
        '<section class="scripted"><h2>On event time</h2><p class="quiet">Drag over a stretch of time to look into it; '
        'click a row for its story.</p><div class="wide" id="timeline"></div></section>'
        '<section class="scripted" id="list"><div class="tools"><h2>Rows that were not matched</h2><input id="search" '
        'type="search" placeholder="Search key or reason" aria-label="Search"><button id="all" hidden></button></div>'
        '<div class="columns"><div class="table"><table><thead></thead><tbody id="rows"></tbody></table>'
        '<p class="quiet" id="shown"></p><button id="more" hidden>Show more</button></div>'
        '<aside id="story" aria-live="polite"><p class="quiet">Click a row, here or in the chart: '
        "its whole story is told here.</p></aside></div></section>",
        why,
    )


def _parts(result: Result, tuning: Tuning | None) -> Markup:
    given = summary.settings(result.join, result.left, result.right, finish=result.finish, policy=result.policy)
    more = {f"{side} key": ", ".join(result.side(side).key) for side in SIDES}
    more |= {f"{side} event time": result.side(side).time for side in SIDES}
    rows = together(html("<tr><th>{}</th><td>{}</td></tr>", *each) for each in (given | more).items())
    call = html("<p><code>{!r}</code></p>", result.join)
    script = html(
        "<section><details><summary><h2>The PySpark script of this join</h2></summary>{}</details></section>",
        markup.coloured(result.script, PythonLexer()),
    )
    settings = html("<section><h2>Settings</h2>{}<table class=settings>{}</table></section>", call, rows)
    return together([_advice(result), settings, _tuning(result, tuning), script])


def _advice(result: Result) -> Markup:
    try:
        found: list[Advice] = advised(result.simulation)
    except TooLargeError:
        return html("")
    if not found:
        return html(
            '<section><h2>Advice</h2><p class="quiet">Nothing stands out in these rows and settings.</p></section>'
        )
    lines = together(html("<li><b>{}</b><br>{}</li>", each.problem, each.remedy) for each in found)
    return html('<section><h2>Advice</h2><ul class="advice">{}</ul></section>', lines)


def _tuning(result: Result, tuning: Tuning | None) -> Markup:
    if tuning is None:
        return html("")
    named = Labels(result.simulation, whole=False).setting
    try:
        best = tuning.best(0.999).text(named)
    except WorkbenchError as error:
        best = str(error)
    table = tuning.table
    shown = table[table["pareto"] | table["now"]].sort_values(["kept", "now"], ascending=False)
    shown = shown.drop_duplicates([name for name in _TUNED if name in shown])  # settings that do the same
    shown = shown[shown["now"] | (np.arange(len(shown)) < _MOST_SETTINGS)]
    columns = [*tuning.settings, *(name for name in _TUNED if name in shown)]
    names = (tuning.left.name, tuning.right.name)
    heads = [setting_name(tuning.join, names, name) for name in tuning.settings]
    head = together(html("<th>{}</th>", name.replace("_", " ")) for name in (*heads, *columns[len(heads) :]))
    body = together(
        html(
            '<tr class="{}">{}</tr>',
            "now" if row["now"] else "",
            together(html("<td>{}</td>", _cell(name, row[name])) for name in columns),
        )
        for row in shown.to_dict("records")
    )
    return html(
        "<section><h2>Tuning</h2><p><b>To keep 99.9 % of the complete result</b>: {}</p>"
        '<div class="wide scripted" id="tuning"></div>'
        '<p class="quiet">{:,} of {:,} settings that were tried, from the Pareto front; the present one is marked.</p>'
        '<div class="scroll"><table class="tuned"><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div></section>',
        best,
        len(shown),
        len(table),
        head,
        body,
    )


def _cell(name: str, value: Value) -> str:
    if name == "kept":
        return f"{value:.3%}"
    if isinstance(value, timedelta):
        return times.short(value) if value == value else "–"
    if name in DELAYS.values():
        return times.short(times.parse(str(value), name))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,.0f}" if value == value else "–"
    return str(value)
