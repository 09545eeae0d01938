"""Jobs that Hypothesis writes, of the kinds that people report, run on Spark and held to what Spark did with them.

A module of its own, as `check` runs in processes with other versions of Spark, too.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from hypothesis import strategies as st
from pyspark.sql import functions as F

import workbench as wb

SIDES = ("l", "r")
ASKED = {
    "l.amount > 20": lambda left, right: left.amount > 20,
    "r.amount >= 30": lambda left, right: right.amount >= 30,
    "l.amount + 0 <= 30": lambda left, right: left.amount <= 30,
    "l.amount <= r.amount": lambda left, right: left.amount <= right.amount,
    "r.amount = 30": lambda left, right: right.amount == 30,
    "l.id <> 'b'": lambda left, right: left.key != "b",
}
"""What a condition may ask for beside keys and times, as SQL, and as Python."""
KEPT = {"amount > 20": lambda row: row.amount > 20, "id = 'a'": lambda row: row.key == "a"}
"""Filters of one side."""
NO_PARTNER = re.compile(
    "no partner: key|no partner within|near miss|no row of its key|\\d+ rows? of . within .*but none"
)
PARTED = re.compile(
    "had left the state|came too late and was dropped|it came too late for the window it shares|same micro"
)
"""Reasons that say that there is no partner, and that there is one which the row did not meet."""
KINDS = ("bounded", "bounded", "numbered", "windowed", "grouped", "unbounded", "unmarked")
WAYS = (("id",), ("id", "at"), ("within", "id"))
OUTER = {"l": ("left", "full"), "r": ("right", "full")}


@dataclass(frozen=True)
class Drawn:
    """A job; its repr can be pasted into a test.

    Attributes
    ----------
    rows
        Of each side a tuple for each file, of rows: key, time in units since the begin, amount. Keys and times may be
        None.
    unit, zone
        Of times and bounds, ``SECOND`` or ``HOUR``; the session's time zone.
    bounds
        The lower and the upper bound, each None if there is none; None: the join is one of windows.
    window
        The size and the slide.
    grouped
        Whether rows are aggregated by their windows before the join.
    delays
        The watermark delay of each side; None: it has no watermark.
    more
        What the condition asks for beside.
    distinct
        The columns of each side that ``dropDuplicates`` compares, or ``("within", "id")``; None: duplicates stay.
    filters
        A condition for each side that the job takes rows out by, before the watermark; None: none.
    nested
        Whether the amount is a field of a struct.
    times_selected
        Whether the job selects the event times.
    restart
        After how many files the query is started again; None: it never is.
    numbered
        Whether the condition compares the times as whole seconds, of which they have fractions then.
    """

    how: str
    rows: tuple
    unit: str
    zone: str
    bounds: tuple | None
    window: tuple | None
    grouped: bool
    delays: tuple
    more: tuple
    filters: tuple
    distinct: tuple
    nested: bool
    times_selected: bool
    restart: int | None
    policy: str
    numbered: bool = False


@st.composite
def drawn_jobs(draw, kinds=KINDS):
    by_clock = draw(st.booleans())
    unit, zone = ("HOUR", "America/New_York") if by_clock else ("SECOND", draw(st.sampled_from(["UTC", "Asia/Tokyo"])))
    kind = draw(st.sampled_from(kinds))
    windowed = not by_clock and kind in ("windowed", "grouped")
    grouped = windowed and kind == "grouped"
    files = draw(st.integers(2, 5))

    def file(place):
        size = draw(st.integers(0 if place else 1, 4))
        moments = st.one_of(st.integers(-6, 12), st.just(None)) if draw(st.integers(0, 3)) == 0 else st.integers(-6, 12)
        return tuple(
            (
                draw(st.sampled_from(["a", "a", "b", None])),
                None if (moment := draw(moments)) is None else 12 * place + moment,
                draw(st.sampled_from([10, 30, 60])),
            )
            for _ in range(size)
        )

    rows = tuple(tuple(file(place) for place in range(files)) for _ in SIDES)
    lower = draw(st.integers(-8, 4))
    bounds = [lower, lower + draw(st.sampled_from([0, 3, 10, 24, 30]))]
    delays = [draw(st.integers(0, 12)), draw(st.integers(0, 12))]
    if kind == "unbounded":  # Spark takes inner joins only without a bound, or without a watermark
        for place in draw(st.sampled_from([(0,), (1,), (0, 1)])):
            bounds[place] = None
    if kind in ("unbounded", "unmarked"):
        for place in draw(st.sampled_from([(0,), (1,), (0, 1)] if kind == "unmarked" else [(), (), (0,), (0, 1)])):
            delays[place] = None
    free = kind in ("unbounded", "unmarked")
    return Drawn(
        "inner" if free else draw(st.sampled_from(["inner", "left", "right", "full", *["semi"] * (not grouped)])),
        rows,
        unit,
        zone,
        None if windowed else tuple(bounds),
        draw(st.sampled_from([(10, 10), (10, 5), (7, 7)])) if windowed else None,
        grouped,
        tuple(delays),
        () if grouped else tuple(draw(st.lists(st.sampled_from(list(ASKED)), max_size=2, unique=True))),
        tuple(draw(st.sampled_from([None, None, *KEPT])) for _ in SIDES),
        tuple(draw(st.sampled_from([None, None, None, *WAYS])) if not grouped else None for _ in SIDES),
        not grouped and draw(st.booleans()),
        draw(st.booleans()),
        None if grouped else draw(st.one_of(st.none(), st.integers(1, files - 1))),
        draw(st.sampled_from(["min", "min", "max"])),
        kind == "numbered" and not by_clock,
    )


def joined(spark, drawn, folder):
    """The streaming DataFrame of a job."""
    amount = "box struct<amount: int>" if drawn.nested else "amount int"
    sides = []
    for side, delay, kept in zip(SIDES, drawn.delays, drawn.filters, strict=True):
        reader = spark.readStream.schema(f"id string, at timestamp, row string, {amount}")
        rows = reader.option("maxFilesPerTrigger", 1).json(f"{folder}/{side}")
        if kept is not None:
            rows = rows.where(kept.replace("amount", "box.amount") if drawn.nested else kept)
        if delay is not None:
            words = f"{delay} {drawn.unit}S"
            rows = rows.withWatermark("at", words.replace("HOURS", "hours").replace("SECONDS", "seconds"))
        if (columns := drawn.distinct[SIDES.index(side)]) is not None:
            within = columns[0] == "within" and delay is not None
            names = [each for each in columns if each != "within"]
            rows = rows.dropDuplicatesWithinWatermark(names) if within else rows.dropDuplicates(names)
        if drawn.window is not None:
            size, slide = (f"{each} seconds" for each in drawn.window)
            rows = rows.withColumn("w", F.window("at", size, slide))
        if drawn.grouped:
            names = F.array_join(F.sort_array(F.collect_list("row")), " ").alias("row")
            rows = rows.groupBy("w", "id").agg(names, F.count("*").alias("many"))
        sides.append(rows.alias(side))
    words = ["l.id = r.id"]
    if drawn.window is not None:
        words.append("l.w = r.w")
    else:
        limits = zip((">=", "<="), drawn.bounds, strict=True)
        template = "r.at {} l.at + INTERVAL '{}' {}"
        if drawn.numbered:
            template = "CAST(r.at AS LONG) - CAST(l.at AS LONG) {} {}"
        words += [template.format(sign, each, drawn.unit) for sign, each in limits if each is not None]
    words += [each.replace(".amount", ".box.amount") if drawn.nested else each for each in drawn.more]
    pairs = sides[0].join(sides[1], F.expr(" AND ".join(words)), drawn.how)
    shown = SIDES[:1] if drawn.how == "semi" else SIDES
    columns = [F.col(f"{side}.row").alias(f"{side}_row") for side in shown]
    if drawn.nested:
        columns += [F.col(f"{side}.box.amount").alias(f"{side}_amount") for side in shown]
    if drawn.times_selected and drawn.window is None:
        columns += [F.col(f"{side}.at").alias(f"{side}_at") for side in shown]
    return pairs.select(*columns)


@dataclass(frozen=True)
class Row:
    """A row of a side, as it is written."""

    name: str
    key: str | None
    at: datetime | None
    amount: int


def rows_of(drawn, side):
    """The rows of a side, a list for each file."""
    begin = datetime(2026, 3, 7 if drawn.unit == "HOUR" else 1, 12, tzinfo=UTC)
    step = timedelta(**{f"{drawn.unit.lower()}s": 0.7 if drawn.numbered else 1})
    names = itertools.count()
    return [
        [
            Row(
                f"{side}{next(names)}",
                key,
                None if moment is None else begin + moment * step,
                amount,
            )
            for key, moment, amount in part
        ]
        for part in drawn.rows[SIDES.index(side)]
    ]


def write(drawn, folder, files):
    """Some of the files of both sides."""
    for side in SIDES:
        (folder / side).mkdir(parents=True, exist_ok=True)
        for place, part in enumerate(rows_of(drawn, side)):
            lines = []
            for each in part:
                at = None if each.at is None else each.at.isoformat()
                more = {"box": {"amount": each.amount}} if drawn.nested else {"amount": each.amount}
                lines.append(json.dumps({"id": each.key, "at": at, "row": each.name, **more}))
            file = folder / side / f"{place}.json"
            if place in files and not file.exists():
                file.write_text("\n".join(lines))
                os.utime(file, (place + 1, place + 1))


def run(spark, drawn, folder):
    """Run a job to the end of its input; gives its DataFrame, its output and what Spark reported."""
    out, reports, count = [], [], len(drawn.rows[0])
    parts = [range(count)] if drawn.restart is None else [range(drawn.restart), range(count)]
    for part in parts:
        write(drawn, folder, part)
        made = joined(spark, drawn, folder)

        def keep(rows, number):
            out.extend((number, *each) for each in rows.collect())

        writer = made.writeStream.foreachBatch(keep).option("checkpointLocation", str(folder / "checkpoint"))
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        reports += query.recentProgress
    return made, out, reports


def partnered(drawn, removed):
    """The names of the rows that have a partner, whenever it came: by the condition alone, in plain Python."""
    sides = [
        [
            each
            for part in rows_of(drawn, side)
            for each in part
            if each.name not in removed and each.at is not None and (kept is None or KEPT[kept](each))
        ]
        for side, kept in zip(SIDES, drawn.filters, strict=True)
    ]
    zone = ZoneInfo(drawn.zone)

    def within(left, right):
        if drawn.window is not None:
            size, slide = drawn.window
            times = [int(each.at.timestamp()) for each in (left, right)]
            starts = [{time // slide * slide - back * slide for back in range(size // slide)} for time in times]
            return bool(starts[0] & starts[1])
        if drawn.numbered:
            apart = int(right.at.timestamp()) - int(left.at.timestamp())
            return drawn.bounds[0] <= apart <= drawn.bounds[1]
        low, high = (None if each is None else _later(left.at, each, drawn.unit, zone) for each in drawn.bounds)
        return (low is None or right.at >= low) and (high is None or right.at <= high)

    return {
        each.name
        for left, right in itertools.product(*sides)
        if left.key == right.key is not None
        and within(left, right)
        and all(ASKED[words](left, right) for words in drawn.more)
        for each in (left, right)
    }


def _later(moment, count, unit, zone):
    """A time and a count of units: Spark counts whole days by the clock of a zone, and the rest as it elapses."""
    if unit == "SECOND":
        return moment + timedelta(seconds=count)
    days = int(count / 24)
    by_clock = (moment.astimezone(zone).replace(tzinfo=None) + timedelta(days=days)).replace(tzinfo=zone)
    return by_clock.astimezone(UTC) + timedelta(hours=count - 24 * days)


def false_reasons(drawn, job):
    """Reasons of unmatched rows that say that there is no partner where there is one, or the other way round."""
    if drawn.grouped:
        return []
    removed = set(job.rows.row[job.rows.reason.str.contains("removes it|to which it came late")])
    met = partnered(drawn, removed)
    asked = job.rows[(job.rows.fate == "unmatched") & ~job.rows.row.isin(removed)]
    if drawn.how == "semi":
        asked = asked[asked.side == "left"]
    return [
        f"{each.row}: {each.reason}; {'a' if each.row in met else 'no'} row satisfies the condition with it"
        for each in asked.itertuples()
        if (NO_PARTNER.match(each.reason) if each.row in met else PARTED.search(each.reason))
    ]


def check(spark, drawn, folder):
    """Hold what the workbench says of a job to what Spark did; gives what differs, a sentence each."""
    folder = Path(folder)
    for name, value in {
        "sql.session.timeZone": drawn.zone,
        "sql.shuffle.partitions": "1",
        "sql.streaming.multipleWatermarkPolicy": drawn.policy,
    }.items():
        spark.conf.set(f"spark.{name}", value)
    made, out, reports = run(spark, drawn, folder)
    schema = f"batch_id long, {', '.join(f'`{each.name}` {each.dataType.simpleString()}' for each in made.schema)}"
    job = wb.open_job(made, folder / "checkpoint", progress=reports, output=spark.createDataFrame(out, schema))
    if drawn.bounds == (None, None) and any(each[1] is None for side in drawn.rows for file in side for each in file):
        return []  # a row without a time meets others then, and is not listed: `Job.missing` says so
    untimed = any("no event time" in each for each in job.missing)  # such rows are not listed, and may come out padded
    found = [
        f"{each.what}: {each.examples}"
        for each in job.mismatches.itertuples()
        if not (untimed and each.what.startswith("rows that the job put out"))
    ]
    if not job.is_understood:
        return [*found, f"not understood: {'; '.join(job.unknown)}"]
    if len(job.comparison) < 4:
        found.append(f"compared are only {list(job.comparison.what)}")
    counters = [json.loads(each.json)["stateOperators"] for each in reports]
    dropped = sum(each["numRowsDroppedByWatermark"] for operators in counters for each in operators)
    # a join that drops none may stand above dropDuplicates, which does
    late = len(job.late) + int(job.rows["reason"].str.contains("to which it came late").sum())
    if late != dropped:
        found.append(f"{late} late rows, and Spark dropped {dropped}")
    named = {side: {each[1 + place] for each in out if len(each) > 1 + place} for place, side in enumerate(SIDES)}
    met = {
        side: {each[1 + place] for each in out if drawn.how == "semi" or None not in each[1:3]}
        for place, side in enumerate(SIDES[:1] if drawn.how == "semi" else SIDES)
    }
    # of aggregates a row is told by the rows that it is made of, which several sliding windows may have in common
    alike = drawn.grouped and drawn.window is not None and drawn.window[0] != drawn.window[1]
    matched = {(each.side, each.row) for each in job.rows.itertuples() if each.fate == "matched"}
    for each in job.rows.itertuples():
        side = each.side[0]
        is_matched = (each.side, each.row) in matched if alike else each.fate == "matched"
        padded = drawn.how in OUTER[side] and each.row in named[side] - met[side]
        padded &= drawn.window is None or drawn.window[0] == drawn.window[1]  # else a row is padded window by window
        if side in met and is_matched != (each.row in met[side]):
            found.append(f"{each.row} is {each.fate}: {each.reason}; Spark joined {sorted(met[side])}")
        if padded and each.fate not in ("unmatched", "null_key"):
            found.append(f"{each.row} is {each.fate}: {each.reason}; Spark padded it")
        taken_out = "removes it" in each.reason or each.fate == "null_key"
        if drawn.how in OUTER[side] and each.fate == "unmatched" and each.row not in named[side] and not taken_out:
            found.append(f"{each.row} is unmatched: {each.reason}; Spark did not let it come out")
    return [*found, *false_reasons(drawn, job)]
