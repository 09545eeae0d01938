"""Every public function with arguments that are wrong: it works, or says in one sentence of the workbench's what is.

The public names are found by looking, so a new one without an entry here fails. Each argument is replaced by
values of `hostile`, and Hypothesis replaces up to two at once by these and by what it makes.
"""

from __future__ import annotations

import datetime
import decimal
import inspect
import json
import warnings
from collections.abc import Callable, Iterator
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import generators
import workbench as wb
from workbench import session, testing
from workbench.charts import RunCharts, TuningCharts, tuning_views, views
from workbench.sources import kafka

START = pd.Timestamp("2026-01-01 10:00")


_SPARK = session.spark


class SparkTouchedError(Exception):
    """A call went on to Spark, or to a broker."""


class StreamingFrame:
    """A streaming DataFrame, as far as a check of arguments looks at it."""

    isStreaming = True  # noqa: N815 - Spark's own name

    @property
    def _jdf(self) -> Any:
        raise SparkTouchedError


@pytest.fixture(scope="module", autouse=True)
def _folder(tmp_path_factory):
    """A folder of its own for relative paths, and neither Spark nor a broker."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("here"))
        patch.setattr(session, "spark", _touched)
        patch.setattr(kafka, "newest_messages", _touched)
        yield


def _touched(*_: Any) -> None:
    raise SparkTouchedError


def _frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"k": [1, 2, 1], "t": [START, START + pd.Timedelta("3 s"), START], **columns})


def _stream(name: str = "orders", **given: Any) -> wb.Stream:
    return wb.Stream.from_pandas(_frame(v=[1.5, None, 3.0], batch=[0, 1, 3]), name, "k", "t", batch="batch", **given)


LEFT, RIGHT = _stream(watermark="1 s"), _stream("payments", watermark="2 s")
JOIN = wb.IntervalJoin("-5 s", "5 s", how="left")
WINDOWED = wb.WindowJoin(wb.Sliding("10 s", "5 s"), how="full")


@cache
def _preview(join: Any = WINDOWED, left: wb.Stream = LEFT, right: wb.Stream = RIGHT) -> wb.Preview:
    return wb.preview(join, left, right)


@cache
def _run(join: Any = JOIN) -> wb.Run:
    return wb.run(join, LEFT, RIGHT, spark=_SPARK())


@cache
def _flink_preview() -> wb.flink.FlinkPreview:
    return wb.flink.preview(WINDOWED, LEFT, RIGHT)


@cache
def _tuning() -> wb.Tuning:
    return wb.tune(JOIN, LEFT, RIGHT, over={"left.watermark": ["0 s", "1 s"], "upper": ["1 s", "5 s"]})


def _fixture() -> str:
    """The folder of a fixture, as `Job.fixture` writes it."""
    about = {"version": 1, "streams": {}, "mode": "append", "finish": False, "restart_after": [], "delay": 0, "watermarks": {},
             "settings": {}, "missing": [], "fates": []}  # fmt: skip
    Path("fixture").mkdir(exist_ok=True)
    (Path("fixture") / "fixture.json").write_text(json.dumps(about), encoding="utf-8")
    return "fixture"


@cache
def _feed() -> generators.Feed:
    return generators.Feed("orders_payments", rate=5)


# --- the public names, each with arguments that are right ------------------------------------------------------------

OWNERS: dict[type, Callable[[], Any]] = {
    wb.Stream: lambda: LEFT.with_arrivals(np.array([0, 1, 1]), "1 s"),
    wb.Preview: _preview,
    wb.Run: _run,
    RunCharts: lambda: _preview().charts,
    wb.Tuning: _tuning,
    TuningCharts: lambda: _tuning().charts,
    wb.Advice: lambda: wb.Advice("short", "lengthen it", "left.watermark", "5 seconds"),
    generators.Feed: _feed,
    wb.Step: lambda: wb.step("order", side="left"),
}
"""Classes whose methods are called, and what on."""

OF_ONE_KIND: dict[str, Callable[[], Any]] = {
    "Preview.expired": lambda: _preview(wb.AsOfJoin()),
    "Preview.time_to_live": lambda: _preview(wb.AsOfJoin()),
    "Run.timers": lambda: _run(wb.AsOfJoin()),
}
"""Methods that are for some joins only, and what they are called on."""

IN_A_LOOP = {
    f"Step.{name}": lambda: wb.step("order", side="left").one_or_more()
    for name in ("greedy", "consecutive", "allow_combinations", "until")
}
"""Methods that are for steps that repeat."""

STEPS: dict[str, tuple[Any, ...]] = {
    "testing.play": (lambda orders: orders,),
    "Pattern": (wb.step("order", side="left"),),
    "group": (wb.step("order", side="left"),),
}
"""Arguments without a name."""

BETWEEN = ("2026-01-01 09:00", "2026-01-01 11:00")
SIDES = {"join": JOIN, "left": LEFT, "right": RIGHT}
STREAM = {"name": "orders", "key": "k", "time": "t", "watermark": "1 s"}
GENERATED = {
    "events": 20, "keys": 5, "skew": 0.5, "rate": 5.0, "unmatched": 0.1, "disorder": 0.1, "disorder_spread": "3 s",
    "late": 0.1, "late_by": "5 s", "duplicates": 0.1, "idle": ("left", 0.1, 0.2), "start": "2026-01-01", "batches": 3,
    "watermark": "1 s", "seed": 1,
}  # fmt: skip
CHANGED = {name: GENERATED[name] for name in ("rate", "disorder", "disorder_spread", "late", "late_by", "duplicates")}

ARGUMENTS: dict[str, dict[str, Any]] = {
    "WorkbenchError": {"message": "it is wrong", "details": ""},
    "ArgumentError": {"message": "it is wrong", "details": ""},
    "DataError": {"message": "it is wrong", "details": ""},
    "JavaError": {"message": "it is wrong", "details": ""},
    "QueryError": {"message": "it is wrong", "details": ""},
    "TooLargeError": {"message": "it is wrong", "count": 3},
    "Tumbling": {"size": "10 s", "offset": "1 s"},
    "Sliding": {"size": "10 s", "slide": "5 s", "offset": "1 s"},
    "Session": {"gap": "5 s"},
    "WindowJoin": {"window": wb.Tumbling("10 s"), "how": "inner", "where": wb.col("left_v") > 1},
    "col": {"name": "left_v"},
    "row": {"step": "order"},
    "Pattern": {"within": "5 s", "skip": "to next", "most": 100},
    "group": {},
    **{
        name: {"name": "order", "side": "left", "where": wb.col("v") > 1, "within": "5 s"}
        for name in ("step", "next", "followed_by", "followed_by_any", "not_followed_by")
    },
    "not_next": {"name": "order", "side": "left", "where": wb.col("v") > 1},
    "Step.times": {"least": 1, "most": 2},
    "Step.times_or_more": {"least": 1},
    "Step.until": {"where": wb.col("v") > 1, "side": "right"},
    **{f"Step.{name}": {} for name in ("one_or_more", "optional", "greedy", "consecutive", "allow_combinations")},
    "CoGroup": {"window": wb.Tumbling("10 s")},
    "IntervalJoin": {
        "lower": "-1 s", "upper": "1 s", "how": "inner", "lower_exclusive": False, "upper_exclusive": False,
        "where": wb.col("left_v") > 1,
    },
    "AsOfJoin": {"direction": "backward", "tolerance": "1 s", "how": "inner", "allow_exact": True},
    "RulesJoin": {
        "field": "field", "op": "op", "value": "value", "rule": "rule_id", "withdrawn": None, "as_of": "arrival", "copies": 2,
    },
    "advise": SIDES | {"policy": "min", "spark_version": "3.5.3", "checkpoint": None},
    "backends": SIDES | {"finish": True, "spark": None, "folder": "files", "progress": None},
    "preview": SIDES | {"finish": True, "policy": "min", "spark_version": "4.1"},
    "run": SIDES | {
        "finish": True, "spark": None, "policy": "min", "progress": None, "stop": None, "savepoint": None,
        "folder": None,
    },
    "live": {
        "join": JOIN, "feed": _feed, "left": "1 s", "right": "1 s", "policy": "min", "trigger": "1 s", "speed": 1.0,
        "spark": None, "on_progress": None,
    },
    "tune": SIDES | {"over": {"left.watermark": ["0 s", "1 s"]}, "policy": "min"},
    "describe": {"joined": StreamingFrame(), "mode": "append"},
    "explain": {"error": "Redefining watermark is disallowed"},
    "open_job": {"joined": StreamingFrame(), "checkpoint": "checkpoint", "join": 0, "keys": ["a"], "sample": 0.5, "progress": [],
                 "output": "output"},
    "flows": {"file": __file__},
    "testing.micro_batches": {"schema": "id string"},
    "testing.load": {"path": _fixture},
    "testing.play": {"orders": testing.micro_batches("id string", [("a",)]), "finish": True, "restart_after": 0, "mode": "append",
                     "settings": {"spark.sql.session.timeZone": "UTC"}, "spark": None},
    "watch": {"joined": StreamingFrame(), "checkpoint": "checkpoint", "every": "1 second"},
    "SideDescription": {"name": "a", "key": "k", "time": "t", "watermark": None, "columns": ("k", "t")},
    "Description": {"join": JOIN, "left": None, "right": None, "where": "", "unknown": (), "notes": ()},
    "export": {
        "run": _preview, "path": "join.py", "data": True, "source": "files", "sink": "parquet", "dead_letters": None,
    },
    "session_settings": {"spark": None, "policy": "min"},
    "spark": {},
    "stop": {},
    "flink.sql": SIDES,
    "flink.java": SIDES,
    "flink.preview": SIDES | {"allowed_lateness": "0 s", "watermarks": "row", "idleness": 2},
    "flink.run": SIDES | {"allowed_lateness": "0 s", "watermarks": "row", "idleness": 2, "jars": None},
    "flink.compare": {"here": _preview, "there": _flink_preview},
    "flink.class_name": {"left": LEFT, "right": RIGHT},
    "frames.stream": {"frame": _frame(), **STREAM, "batch": None, "arrival": "t", "trigger": "1 s"},
    "frames.batch_column": {"frame": _frame()},
    "frames.from_files": {
        "path": "files", "format": "csv", "time": "t", "options": {"sep": ","}, "malformed": "fail", "batch": "n",
    },
    "frames.sample": {"frame": _frame(), "rows": 2},
    "frames.to_pandas": {"frame": _frame()},
    "frames.sliced": {"left": LEFT, "right": RIGHT, "batches": 3},
    "frames.joinable": {"namespace": {"orders": LEFT}},
    "frames.columns": {"frame": _frame()},
    "frames.guess": {"frame": _frame(), "other": LEFT},
    "Stream.from_pandas": {"frame": _frame, **STREAM, "batch": None, "arrival": "t", "trigger": "1 s"},
    "Stream.from_arrow": {
        "table": LEFT.table, **STREAM, "arrival": np.array([0, 1, 1]), "batch_count": 3, "trigger": None,
    },
    "Stream.from_files": {
        "path": "files", **STREAM, "format": "parquet", "schema": {"k": "int64", "t": "timestamp[us]"}, "max_files": 1,
        "options": {}, "malformed": "fail", "arrival": "t", "trigger": "1 s", "keys": None, "sample": 1.0,
    },
    "Stream.from_kafka": {
        "brokers": "localhost:1", "topic": "orders", "key": "k", "time": "t", "watermark": "1 s", "values": "json",
        "schema": None, "messages": 10, "max_offsets": 10, "include": (), "name": "orders",
        "trigger": "1 s", "keys": None, "sample": 1.0,
    },
    "Stream.from_streaming": {"frame": None, **STREAM, "seconds": 1.0, "keys": ["a"], "sample": 0.5},
    "Stream.to_pandas": {},
    "Stream.with_watermark": {"watermark": "1 s"},
    "Stream.with_trigger": {"trigger": "2 s"},
    "Stream.with_arrivals": {"at": np.array([0, 1, 1]), "trigger": "2 s"},
    "Stream.write": {"folder": "written", "batches": 2, "table": LEFT.table},
    "Run.compare": {"every_state": False},
    "Run.save_report": {"path": "report"},
    "Preview.why": {"row": 1},
    "Run.savepoint": {"path": "savepoint", "batch": 0},
    "Preview.explain": {"rows": [0, 1]},
    "Run.state": {"batch": 0, "key": 1},
    "Run.state_by_key": {"batch": 0, "most": 3},
    "Run.partitions": {"count": 3},
    "Run.timers": {"batch": 0},
    "Run.partition_counts": {"counts": [1, 3]},
    "Preview.state": {"batch": 0, "key": 1},
    "Preview.state_by_key": {"batch": 0, "most": 3},
    "Preview.state_changes": {"key": 1},
    "Preview.expired": {"ttl": "1 hour", "trigger": "1 s"},
    "Preview.time_to_live": {"ttl": "1 hour", "trigger": "1 s"},
    "Preview.against": {"other": lambda: _preview(JOIN)},
    "Preview.changes": {"other": lambda: _preview(JOIN), "by": ["k"]},
    "Preview.at": {"batch": 0},
    "Preview.side": {"name": "left"},
    **{
        f"RunCharts.{view.name}": ({"between": BETWEEN} if view.of_rows else {}) | ({"batch": 0} if view.of_moment else {})
        | ({"axis": "event time"} if view.of_axes else {})
        for view in views()
    },
    "RunCharts.drawing": {"view": "timeline", "between": BETWEEN, "batch": 0, "axis": "event time", "reasons": True},
    "RunCharts.of_key": {"side": "left", "row": 1},
    "Tuning.confirm": {"n": 1, "spark": None, "folder": None},
    "Tuning.best": {"keep": 0.1, "most_rows": 10_000, "most_time": "1 day"},
    **{f"TuningCharts.{view.name}": {} for view in tuning_views()},
    "TuningCharts.heat": {"x": "left.watermark", "y": "upper"},
    "TuningCharts.drawing": {"view": "pareto"},
    "TuningCharts.labelled": {},
    "Advice.apply": SIDES | {"policy": "min"},
    "Feed": {"scenario": "orders_payments", "seed": 1, "start": "2026-01-01", "keys": 3, "watermark": "1 s"} | CHANGED,
    "Feed.change": CHANGED | {"unmatched": 0.1, "idle": "left"},
    "Feed.step": {"seconds": 1.0},
    "generate": {"scenario": "orders_payments"} | GENERATED,
    "scenarios": {},
    "load": {"path": "kept"},
    "Preview.save": {"path": "kept preview"},
    "Preview.named": {"name": "baseline"},
    "Preview.report": {"path": "report.html", "tuning": _tuning},
    "generators.load": {"path": "recording"},
    "save": {"path": "recording", "left": LEFT, "right": RIGHT},
    "write": {"path": "files", "scenario": "orders_payments", "files": 2, **{
        name: value for name, value in GENERATED.items() if name not in ("batches", "idle", "trigger")
    }},
}  # fmt: skip
"""Arguments that are right, for each public callable; a function in place of a value makes one for each call."""

MADE_BY = {
    "Stream": "its from_… methods",
    "Preview": "preview",
    "Run": "run",
    "Job": "open_job",
    "Explanation": "explain",
    "Chain": "open_job",
    "Watch": "watch",
    "Backends": "backends",
    "flink.FlinkPreview": "flink.preview",
    "flink.FlinkRun": "flink.run",
    "flink.Comparison": "flink.compare",
    "flink.Nearest": "flink.Comparison.nearest",
    "Live": "live",
    "Tuning": "tune",
    "Advice": "advise",
    "Step": "step",
}
"""Classes that users get, and do not make: no entry for the constructor."""

ON_SPARK = {
    "run",
    "live",
    "spark",
    "session_settings",
    "Stream.from_files",
    "frames.from_files",
    "Stream.from_streaming",
    "Stream.from_kafka",
    "Tuning.confirm",
    "describe",
    "flows",
    "open_job",
    "testing.play",
    "watch",
    "backends",
    "flink.run",
}
"""What goes on to Spark, a broker or Flink, once its arguments are right."""


_SLOW = {
    name for name in ARGUMENTS if name.split(".")[0] in ("Feed", "RunCharts", "TuningCharts", "export", "generate")
} | {"Preview.report", "Run.report", "Run.save_report"}
"""Of these calls fewer are made, as each takes long where its arguments are right."""


def _public() -> Iterator[tuple[str, Any]]:
    for module in (wb, generators):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.ismodule(value):
                inner = getattr(value, "__all__", None) or [
                    each
                    for each, what in vars(value).items()
                    if inspect.isfunction(what) and what.__module__ == value.__name__ and each[0] != "_"
                ]
                yield from ((f"{name}.{each}", it) for each in inner if callable(it := getattr(value, each)))
            elif callable(value):
                yield f"generators.{name}" if module is generators and name in wb.__all__ else name, value
    yield from ((f"testing.{name}", getattr(testing, name)) for name in ("load", "micro_batches", "play"))
    for owner in OWNERS:
        for name in dir(owner):
            static = inspect.getattr_static(owner, name)
            method = inspect.isfunction(static) or isinstance(static, classmethod)
            if name[0] != "_" and method and not _of_a_preview(owner, name):
                yield f"{owner.__name__}.{name}", getattr(owner, name)


def _of_a_preview(owner: type, name: str) -> bool:
    """Whether a run has it of what it shares with a preview, of which it is called already."""
    return owner is wb.Run and getattr(owner, name) is getattr(wb.Preview, name, None)


PUBLIC = {name: value for name, value in _public() if name not in MADE_BY}
PROPERTIES = [
    (owner, name)
    for owner in OWNERS
    for name in dir(owner)
    if name[0] != "_" and isinstance(inspect.getattr_static(owner, name), property | cached_property)
]


def _function(name: str) -> Callable[..., Any]:
    owner = {each.__name__: make for each, make in OWNERS.items()}.get(name.split(".")[0])
    static = owner is None or "." not in name or inspect.ismethod(PUBLIC[name])
    function: Callable[..., Any] = (
        PUBLIC[name] if static else getattr((OF_ONE_KIND | IN_A_LOOP).get(name, owner)(), name.split(".")[1])
    )
    return partial(function, *STEPS[name]) if name in STEPS else function


def _parameters(name: str) -> set[str]:
    parameters = inspect.signature(PUBLIC[name]).parameters.values()
    return {
        each.name
        for each in parameters
        if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL, each.POSITIONAL_ONLY) and each.name != "self"
    }


# --- values that are wrong -------------------------------------------------------------------------------------------


class _Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no words for it")


class _NoPath:
    def __fspath__(self) -> Any:
        return 5


def _odd_columns() -> dict[str, Any]:
    return {
        "uint64": np.array([2**63, 1, 2**64 - 1], dtype=np.uint64),
        "mixed": [1, "a", None],
        "objects": [object(), object(), object()],
        "large": [2**70, 1, 2],
        "category": pd.Categorical(["a", "b", "a"]),
        "numbers as category": pd.Categorical([1, 2, 1]),
        "period": pd.period_range("2026-01", periods=3, freq="M"),
        "interval": pd.interval_range(0, 3),
        "timedelta": pd.to_timedelta([1, 2, 3], unit="s"),
        "complex": [1j, 2j, 3j],
        "nested": [{"a": [1, {"b": 2}]}, None, {"a": []}],
        "ragged": [[1], ["a"], [None]],
        "arrays": [np.zeros((2, 2))] * 3,
        "surrogates": ["\ud800", "a", "b"],
        "NUL": ["\0", "a", "b"],
        "bytes": [b"\xff", b"", None],
        "nothing": [None, None, None],
        "NaN": [float("nan"), float("inf"), -0.0],
        "NaT": [pd.NaT, START, START],
        "far times": [datetime.datetime.max, datetime.datetime.min, datetime.datetime(2026, 1, 1)],
        "seconds": np.array(["9999-12-31", "-9999-01-01", "300000-01-01"], dtype="datetime64[s]"),
        "zones": [START.tz_localize("UTC"), START.tz_localize("Europe/Berlin"), START],
        "dates": [datetime.date(2026, 1, 1), datetime.date.min, datetime.date.max],
        "decimals": [decimal.Decimal("1e40"), decimal.Decimal("NaN"), decimal.Decimal("0.1")],
        "sparse": pd.arrays.SparseArray([0, 0, 1]),
        "booleans": pd.array([True, None, False], dtype="boolean"),
        "arrow": pd.array([1, 2, None], dtype="int8[pyarrow]"),
        "time of day": [datetime.time(1), datetime.time(2), None],
    }


def _odd_frames() -> list[pd.DataFrame]:
    wide = _frame()
    wide.columns = pd.MultiIndex.from_tuples([("k", ""), ("t", "x")])
    twice = _frame()
    twice.columns = ["k", "k"]
    numbered = _frame()
    numbered.columns = [0, None]
    odd = _odd_columns().values()
    frames = [_frame(v=values) for values in odd]
    frames += [_frame().assign(k=values) for values in odd]
    frames += [_frame().assign(t=values) for values in odd]
    frames += [_frame(batch=values) for values in odd]
    frames += [_frame(batch=[-1, 0, 2**62]), _frame(batch=[0.5, 1, 2]), _frame(batch=[True, False, True])]
    frames += [wide, twice, numbered, pd.DataFrame(), _frame().iloc[:0], _frame().T, _frame().set_index("k")]
    return [*frames, _frame(**{"\ud800": 1}), _frame(**{"": 1}), _frame(**{"\0": 1}), _frame(__row=1)]


def _odd_streams() -> list[wb.Stream]:
    """What streams there are of odd frames: empty, with missing and odd keys, far times."""
    found = []
    for frame in _odd_frames():
        try:
            found.append(wb.Stream.from_pandas(frame, "odd", "k", "t"))
        except wb.WorkbenchError:
            continue
    return found


def _write_recording(place: Path, **changed: Any) -> str:
    if not place.exists():
        generators.save(place, LEFT, RIGHT)
    about = json.loads((place / "recording.json").read_text())
    about["left"] |= changed
    (place / "recording.json").write_text(json.dumps(about), encoding="utf-8")
    return str(place)


def _broken_recordings(root: Path) -> list[str]:
    changes: list[dict[str, Any]] = [
        {field: value}
        for field in ("name", "key", "time", "watermark", "batches", "rows", "zones")
        for value in (
            None,
            -1,
            0,
            2**63,
            1.5,
            True,
            "",
            "../..",
            "\0",
            "\ud800",
            [],
            [[]],
            {},
            {"t": "Not/AZone"},
            {"t": 5},
        )
    ]
    places = [_write_recording(root / f"recording {number}", **each) for number, each in enumerate(changes)]
    texts = [
        b"", b"[]", b"null", b"5", b"{", b"\xff\xfe", '{"kind": "é"}'.encode("latin-1"), b'{"kind": []}',
        b'{"kind": "stream-join-workbench recording", "version": 1}', b"[" * 100_000, b"1" * 10_000,
        b'{"kind": "stream-join-workbench recording", "version": 1, "left": [], "right": 5}',
    ]  # fmt: skip
    for number, text in enumerate(texts):
        place = root / f"text {number}"
        generators.save(place, LEFT, RIGHT)
        (place / "recording.json").write_bytes(text)
        places.append(str(place))
    for number, change in enumerate(("text", "folder", "columns")):
        place = root / f"file {number}"
        generators.save(place, LEFT, RIGHT)
        file = place / "left" / "batch-00001.parquet"
        file.unlink()
        if change == "text":
            file.write_text("no Parquet")
        elif change == "folder":
            file.mkdir()
        else:
            _frame(other=1).to_parquet(file)
        places.append(str(place))
    return places


@pytest.fixture(scope="module")
def hostile(_folder) -> list[Any]:
    return [*_values(), *_broken_recordings(Path.cwd())]


@cache
def _values() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return [
        None, True, False, ..., NotImplemented, object(), object, int, wb.Stream, print, _Unprintable(), _NoPath(),
        0, 1, -1, 7, 2**31, 2**63, -(2**63), 2**64, 10**30, 10**5000, 0.0, 0.5, 1.0, -0.5, 1e-300, 1e308,
        float("nan"), float("inf"), -float("inf"), 1j, decimal.Decimal("NaN"), decimal.Decimal("1e400"),
        "", " ", "\n", "a", "k", "t", "left", "\0", "a\0b", "\ud800", "a\nb\r\u2028c", "x" * 300, "x" * 100_000,
        "../..", "/proc/x.py", "/proc/x", "/dev/null", "/dev/null/x", "/proc/self/mem", "x" * 300 + ".py", "\0.py",
        "no/such/folder/x.py", ".", "..", "/", "~nobody/x.py", "\ud800.py", "file:///tmp/x", "'; drop", "1", "1 s",
        "-1 s", "1e9 s", "99999999999 days", "1 month", "NaT", "min", "2026-01-01", "9999-12-31", "Europe/Berlin",
        b"", b"k", b"\xff", bytearray(b"k"), memoryview(b"k"), Path("/proc/x.py"), Path("\0"), Path(),
        [], [None], ["k"], ["k", "k"], [["k"]], [[1, 2], [3]], [0, "a"], [-1], [2**70], [0.5], [True], loop, (), ("a", "b"),
        ("a", "b", "c"), (1, 2), (None, None), ("2026-01-02", "2026-01-01"), (pd.NaT, pd.NaT),
        ("1500-01-01", "2400-01-01"), ("left", float("nan"), 1.0), ([], 0.1, 0.2), (START, START.tz_localize("UTC")),
        {}, {"k": 1}, {None: None}, {"a": object()}, {"left.watermark": None}, {"left.watermark": [None]},
        {"left.watermark": []}, {"policy": [[]]}, {"policy": ["max"]}, {"upper": ["-1 day"]}, {1: ["1 s"]},
        {"left.watermark": iter("ab")}, {"k": "nonsense"}, {"k": []}, {"k": "int64", "t": "string"}, set(), {"k"},
        frozenset(), range(3), range(10**9), (each for each in ()), iter([0]), slice(None), lambda: 1 / 0,
        datetime.timedelta.max, datetime.timedelta.min, datetime.timedelta(0), datetime.timedelta(microseconds=1),
        datetime.datetime.max, datetime.datetime.min, datetime.datetime.max.replace(tzinfo=datetime.UTC),
        datetime.date.max, datetime.time(1), pd.Timedelta.max, pd.Timedelta("1 ns"), pd.NaT, pd.NA, START,
        pd.Timestamp.max, pd.Timestamp.min, np.datetime64("NaT"), np.timedelta64("NaT"), np.timedelta64(5, "s"),
        np.timedelta64(1, "Y"), np.datetime64("300000-01-01"), np.int64(1), np.uint64(2**64 - 1), np.float64("nan"),
        np.bool_(True), np.str_("k"), np.bytes_(b"k"), np.zeros(0), np.zeros(3), np.zeros((2, 2)), np.array(["k"]),
        np.array([0, 1, 1]), np.array([2**64 - 1] * 3, dtype=np.uint64), np.array([None, "a", 1], dtype=object),
        np.array(5), pd.Series([1, 2, 3]), pd.Series(["k"]), pd.Index(["k"]), pd.array([0, None, 1], dtype="Int64"),
        pa.array([1, 2]), pa.table({}), pa.table({"k": [1]}), pa.table([[1], [2]], names=["k", "k"]),
        pa.schema([]), pa.schema([("k", pa.int8())]), pa.schema([("k", pa.int8()), ("k", pa.int8())]),
        pa.table({"k": pa.array([1, 2, 3], pa.duration("s")), "t": [START] * 3}),
        pa.table({"k": pa.array([1, 2, 3]), "t": pa.array([START, None, START])}),
        pa.table({"k": pa.array([[("a", 1)]] * 3, pa.map_(pa.string(), pa.int8())), "t": [START] * 3}),
        pa.table({"k": pa.array([1, 2, 3]), "t": pa.array([2**62, 0, -(2**62)], pa.timestamp("s"))}),
        wb.Tumbling("1 us"), wb.Session("36500 days"), wb.CoGroup(wb.Session("1 s")),
        wb.Sliding("1 day", "1 day"), wb.IntervalJoin("-36500 days", "36500 days"), wb.WindowJoin(wb.Tumbling("1 s")),
        *_odd_frames(), *_odd_streams(),
    ]  # fmt: skip


def _generated() -> st.SearchStrategy[Any]:
    leaves = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(st.characters(), max_size=8), st.binary(max_size=8),
        st.timedeltas(), st.datetimes(), st.complex_numbers(), st.sampled_from(["k", "t", "left", "1 s", "-5 ms", "min"]),
    )  # fmt: skip
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=4,
    )


# --- the calls -------------------------------------------------------------------------------------------------------


def _call(name: str, /, **changed: Any) -> None:
    """Call it: it works, or what comes is of the workbench, and one line that can be printed."""
    arguments = {each: value() if callable(value) else value for each, value in ARGUMENTS[name].items()} | changed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _function(name)(**arguments)
        except SparkTouchedError:
            assert name in ON_SPARK
        except wb.WorkbenchError as error:
            _check(error)


def _check(error: wb.WorkbenchError) -> None:
    text = str(error)
    assert text.strip()
    assert len(text.splitlines()) == 1, text
    text.encode()


def test_every_public_name_is_called_here():
    assert set(PUBLIC) == set(ARGUMENTS)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_parameter_is_given(name):
    given = ARGUMENTS[name]
    assert _parameters(name) <= set(given)


@pytest.mark.parametrize("name", sorted(set(PUBLIC) - ON_SPARK))
def test_arguments_that_are_right_are_taken(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # other tests leave their files in the module's folder
    if name == "generators.load":
        generators.save("recording", LEFT, RIGHT)
    if name == "load":
        _preview().save("kept")
    _function(name)(**{each: value() if callable(value) else value for each, value in ARGUMENTS[name].items()})


@pytest.mark.parametrize("name", [name for name in PUBLIC if ARGUMENTS.get(name)])
def test_one_wrong_argument(name, hostile):
    faults = []
    for argument in ARGUMENTS[name]:
        for value in hostile[:: 9 if name in _SLOW else 3]:
            try:
                _call(name, **{argument: value})
            except Exception as error:  # noqa: BLE001 - told below, all together
                faults.append(f"{argument}={_shown(value)}: {type(error).__name__}: {str(error)[:200]}")
    assert not faults, "\n".join(faults)


def _shown(value: object) -> str:
    try:
        return ascii(value)[:300]
    except Exception:  # noqa: BLE001 - what has no words
        return "…"


@pytest.mark.parametrize("name", [name for name in PUBLIC if ARGUMENTS.get(name)])
def test_two_wrong_arguments(name, hostile):
    some = st.sampled_from(hostile) | _generated()
    changes = st.dictionaries(st.sampled_from(sorted(ARGUMENTS[name])), some, min_size=1, max_size=2)

    @settings(max_examples=6, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(changes)
    def check(changed: dict[str, Any]) -> None:
        _call(name, **changed)

    check()


@pytest.mark.parametrize(("owner", "name"), PROPERTIES)
def test_properties_of_previews(owner, name):
    try:
        getattr(OWNERS[owner](), name)
    except wb.WorkbenchError as error:
        _check(error)
