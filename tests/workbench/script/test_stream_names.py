"""A script runs whatever its streams are called, each of the names that the script itself uses included."""

from __future__ import annotations

import ast
import contextlib
import itertools

import pandas as pd
import pytest
import scripts

import workbench as wb
from workbench.script import check, project, render

AT = pd.Timestamp("2026-01-01 10:00")


JOINS = [
    wb.IntervalJoin("0 s", "1 s", how="left"),
    wb.IntervalJoin("0 s", "1 s", how="anti"),
    wb.WindowJoin(wb.Sliding("2 s", "3 s"), how="full"),
    wb.WindowJoin(wb.Session("1 s"), how="left"),
    wb.CoGroup(wb.Tumbling("1 s")),
    wb.AsOfJoin(tolerance="1 s", how="left"),
    wb.AsOfJoin(how="left"),
    wb.RulesJoin(),
    wb.RulesJoin(as_of="arrival"),
    wb.Pattern(
        wb.step("a", side="left"), wb.followed_by("b", side="right", where=wb.col("t") > wb.row("a").t), within="1 s"
    ),
]


def named(name, keys=("a", "b")):
    frame = pd.DataFrame({"k": list(keys), "t": [AT] * len(keys)})
    frame = frame.assign(rule_id="r", field="k", op="=", value="a", withdrawn=False)
    return wb.Stream.from_pandas(frame, name, "k", "t")


def texts_of(join, left, right, source="files", sink="parquet", dead_letters=None):
    """The plain script, and the modules of a project."""
    files = project(join, left, right, "min", check(left, right, source, sink, dead_letters))
    return [render(join, left, right, source=source, sink=sink)] + [
        text for name, text in files.items() if name.endswith(".py") and "/" not in name
    ]


def names_of_scripts():
    """Every name and argument that a script may use, whatever it reads and writes."""
    found = set()
    streams = named("quite_another"), named("yet_another")
    all_of_it = [texts_of(join, *streams) for join in JOINS]
    places = scripts.places_that_go_together(*streams)
    for (source, sink, dead_letters), join in zip(places, itertools.cycle(JOINS[1:5])):
        all_of_it.append(texts_of(join, *streams, source, sink, dead_letters))
    for texts in all_of_it:
        for each in itertools.chain(*(ast.walk(ast.parse(text)) for text in texts)):
            if isinstance(each, ast.Name):
                found.add(each.id)
            elif isinstance(each, ast.arg):
                found.add(each.arg)
            elif isinstance(each, ast.FunctionDef | ast.ClassDef):
                found.add(each.name)
            elif isinstance(each, ast.alias):
                found.add((each.asname or each.name).split(".")[0])
            elif isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value.startswith("--"):
                found.add(each.value[2:])
    return sorted(name for name in found if "another" not in name.lower())


NAMES = [
    "class",
    "None",
    "input",
    "late_b",
    "help",
    "END_OF_INPUT",
    "é",
    "1",
    "a b",
    "A-B",
    "made for",
]


@contextlib.contextmanager
def unformatted():
    """Formatting takes nearly all of the time, and changes no name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("black.format_str", lambda text, mode: text)
        yield


@pytest.fixture(scope="module")
def names():
    """All names to try: those that scripts use, and those that are none of Python's."""
    with unformatted():
        return [*names_of_scripts(), *NAMES]


def test_there_are_names_to_try(names):
    assert {"log", "run", "files", "time", "json", "write", "follow", "output", "F"} <= set(names)


def identifiers(text):
    """All identifiers of a script, in order, with what each is; an attribute with what it is of.

    But for those of import statements, which are sorted.
    """
    for each in ast.walk(ast.parse(text)):
        if isinstance(each, ast.alias):
            continue
        for field in ("id", "arg", "name", "asname"):
            found = getattr(each, field, None)
            if isinstance(found, str):
                yield type(each).__name__, found
        if isinstance(each, ast.Attribute):
            yield "Attribute", ast.unparse(each)


PLACES = (("files", "parquet", None), ("kafka", "kafka", "kafka"), ("files", "delta", "parquet"))


@pytest.mark.parametrize("places", PLACES, ids=str)
def test_a_script_is_the_same_whatever_its_streams_are_called(places, names):
    """But for identifiers, of which no two become one: so no name of a stream hides one of the script's own."""
    assert_the_same(names, lambda left, right: texts_of(JOINS[0], left, right, *places))


@pytest.mark.parametrize("join", JOINS[1:], ids=repr)
def test_a_join_is_the_same_whatever_its_streams_are_called(join, names):
    assert_the_same(names, lambda left, right: [render(join, left, right)])


@unformatted()
def assert_the_same(names, texts):
    """That the texts for two streams do not depend on what these are called."""

    def of(left, right):
        return [each for text in texts(named(left), named(right)) for each in identifiers(text)]

    neutral = of("neutral_one", "neutral_two")
    for left, right in itertools.zip_longest(names[::2], names[1::2], fillvalue="b"):
        made = of(left, right)
        assert [kind for kind, _ in neutral] == [kind for kind, _ in made]
        pairs = {(one, other) for (_, one), (_, other) in zip(neutral, made, strict=True)}
        assert len({one for one, _ in pairs}) == len({other for _, other in pairs}) == len(pairs), (left, right)


RUN = [("log", "run"), ("files", "None"), ("a b", "1"), ("é", "class"), ("time", "output"), ("left", "right")]


@pytest.mark.parametrize(("left", "right"), RUN)
def test_a_script_with_streams_of_these_names_runs(spark, tmp_path, left, right):
    run = wb.run(wb.IntervalJoin("0 s", "1 s", how="left"), named(left), named(right, "a"))
    made = scripts.module(scripts.job(run, tmp_path))
    assert run.code in run.script
    own = scripts.own_session(spark)
    places = {name: str(tmp_path / name) for name in ("output", "checkpoint")}
    arguments = scripts.arguments(made, **places, state_store="memory", drain=True)
    made.run(own, arguments)
    assert own.read.parquet(places["output"]).count() == 2


@pytest.mark.parametrize("name", ["log", "run", "orders", "time"])
def test_the_argument_is_called_as_the_stream_is(name):
    preview = wb.preview(wb.IntervalJoin("0 s", "1 s"), named(name), named("other_side"))
    assert f'"--{name}"' in preview.script


@pytest.mark.parametrize(
    ("left", "right"), [("late_orders", "orders"), ("orders", "late_orders"), ("orders", "Orders"), ("a b", "a_b")]
)
def test_names_that_are_derived_from_each_other(left, right):
    script = wb.preview(wb.IntervalJoin("0 s", "1 s"), named(left), named(right)).script
    texts = texts_of(wb.IntervalJoin("0 s", "1 s"), named(left), named(right), dead_letters="parquet")[1:]
    functions = [each.name for text in texts for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)]
    assert len(functions) == len(set(functions))
    constants = [each.targets[0].id for each in ast.parse(script).body if isinstance(each, ast.Assign)]
    assert len(constants) == len(set(constants))
