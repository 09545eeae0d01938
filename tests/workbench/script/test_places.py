"""Sources, sinks and places for dead letters are modules: what one says of itself is what scripts, help and docs say."""

from __future__ import annotations

import ast
import dataclasses
import json
import re
from pathlib import Path

import pytest
import scripts
from fault_lab import plain, rows_of, streams

import workbench as wb
from workbench import script
from workbench.script import (
    DEAD_LETTERS,
    SINKS,
    SOURCES,
    Argument,
    Connector,
    DeadLetters,
    Requirement,
    Sink,
    SparkVersion,
)
from workbench.sources import Files

JOIN = wb.IntervalJoin("-5 s", "5 s", how="left")
DOCS = Path(__file__).parents[3] / "docs" / "production.md"
SCRIPT = Path(script.__file__).parent

LINES = Sink(
    name="json-lines",
    target="a file of JSON lines",
    guarantee="at least once",
    reason="; a micro-batch that is done again is appended again",
    template='''
def write(joined: DataFrame, args: argparse.Namespace) -> DataStreamWriter:
    """Append each row to a file, as JSON."""

    def append(batch: DataFrame, number: int) -> None:
        keyed = with_idempotency_key(batch, number)
        with Path(args.output).open("a") as file:
            for row in keyed.select("value").collect():
                print(textwrap.shorten(args.prefix, 9) + row["value"], file=file)

    return joined.writeStream.foreachBatch(append)
''',
    arguments=(
        Argument("--output", "<left>_with_<right>.jsonl", "file for the joined rows"),
        Argument("--prefix", "", "what each line begins with"),
    ),
    imports=("import textwrap",),
)


@pytest.fixture
def lines():
    script.register(LINES)
    yield LINES
    script.unregister(LINES)


@pytest.fixture(scope="module")
def run(spark):
    return wb.run(JOIN, *streams(3), finish=False)


def helped(made, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["join.py", "--help"])
    monkeypatch.setenv("COLUMNS", "500")
    with pytest.raises(SystemExit):
        made.parse_args()
    return capsys.readouterr().out


def test_a_strangers_sink_gets_its_rows(spark, run, lines, tmp_path):
    made = scripts.module(scripts.job(run, tmp_path, sink="json-lines"))
    output = tmp_path / "out.jsonl"
    places = {"output": str(output), "checkpoint": str(tmp_path / "checkpoint"), "trigger": "available-now"}
    own = scripts.own_session(spark)
    made.run(own, scripts.arguments(made, **places, prefix="  "))
    found = [json.loads(line) for line in output.read_text().splitlines()]
    assert plain(found) == rows_of(run)
    assert len(found) > 5


def test_a_strangers_sink_is_in_text_help_and_readme(run, lines, tmp_path, capsys, monkeypatch):
    file = wb.export(run, tmp_path / "job", sink="json-lines", dead_letters="parquet")
    text = "\n".join(each.read_text() for each in file.parent.glob("*.py"))
    promise = "a file of JSON lines, each row at least once; a micro-batch that is done again is appended again."
    assert f"Out: {promise}" in text
    assert "import textwrap\n" in (file.parent / "sinks.py").read_text()
    assert text.count("def with_idempotency_key(") == 1
    assert "def query_id(" not in text  # which it does not ask for
    assert f"| Out | {promise} |" in (file.parent / "README.md").read_text()
    words = helped(scripts.module(file), capsys, monkeypatch)
    assert re.search(r"--output OUTPUT +file for the joined rows", words)
    assert re.search(r"--prefix PREFIX +what each line begins with", words)
    assert '"--output", default="orders_with_payments.jsonl"' in text


def test_a_strangers_sink_can_be_chosen_as_long_as_it_is_known(run, lines):
    assert script.check(run.left, run.right, "files", "json-lines", None).sink is lines
    with pytest.raises(wb.ArgumentError, match="sink: got 'json-lines'; one has that name already"):
        script.register(lines)
    script.unregister(lines)
    with pytest.raises(wb.ArgumentError, match=r"sink: got 'json-lines'; use one of 'parquet', 'delta'"):
        script.check(run.left, run.right, "files", "json-lines", None)


def test_no_stream_takes_the_names_of_a_strangers_sink(lines):
    frame = streams(1)[0].to_pandas().drop(columns="batch")
    sides = [wb.Stream.from_pandas(frame, name, key="id", time="at") for name in ("prefix", "textwrap")]
    tree = ast.parse(script.render(JOIN, *sides, sink="json-lines"))
    functions = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == "join_streams"]
    assert [each.arg for each in functions[0].args.args] == ["prefix_stream", "textwrap_stream"]
    script.unregister(lines)
    assert "def join_streams(prefix: DataFrame, textwrap: DataFrame)" in script.render(JOIN, *sides)


def test_a_strangers_sink_says_what_it_needs(run, lines, tmp_path):
    script.unregister(lines)
    connector = Connector(
        label="Lines 1.0",
        coordinates="org.example:lines_{spark}:1.0",
        spark=SparkVersion("4.1.3", "pyspark>=4.1,<4.2"),
        secrets="LINES_TOKEN",
        arguments=(Argument("--server", "localhost", "where lines go"), Argument("--lines-at-once", 1_000, "at most")),
        settings=(("spark.lines.on", "true"),),
        requirements=(Requirement("textlines", "textlines>=2", "writes lines"),),
    )
    needy = Sink("needy", "lines", "exactly once", ": they are", LINES.template, LINES.arguments, (connector,), True)
    delta = dataclasses.replace(run.left, source=Files("orders", format="delta"))
    script.register(needy)
    try:
        file = wb.export(run, tmp_path / "job", sink="needy")
        with pytest.raises(
            wb.ArgumentError, match=r"Lines 1.0 needs Spark 4.1 and Delta Lake 4.4.0 needs Spark 4.2: use"
        ):
            script.check(delta, run.right, "files", "needy", None)
    finally:
        script.unregister(needy)
    text, readme = file.read_text(), (file.parent / "README.md").read_text()
    project = (file.parent / "pyproject.toml").read_text()
    assert "Out: lines, each row exactly once: they are. Lines 1.0 needs Spark 4.1." in text
    assert "spark-submit --packages org.example:lines_4.1.3:1.0 main.py" in text
    assert "never from arguments: LINES_TOKEN." in text
    assert '.config("spark.lines.on", "true")' in text
    assert '"--lines-at-once", type=at_least(1), default=1_000, help="at most"' in text
    assert 'new_folders = {"--output": args.output}' in text
    assert "--packages org.example:lines_4.1.3:1.0 " in readme
    assert "an image that holds this folder and textlines:" in readme
    assert "Secrets come from the environment: LINES_TOKEN." in readme
    assert '"pyspark>=4.1,<4.2"' in project
    assert '"textlines>=2",  # writes lines' in project


@pytest.fixture
def printed():
    place = DeadLetters(
        "printed",
        "on the standard output",
        """
for row in found.where(F.col("why") == args.why).collect():
    log("dead letter", number=number, stream=row["stream"], id=json.loads(row["row"])["id"])
""",
        (Argument("--why", "late", "which of them"),),
    )
    script.register(place)
    yield place
    script.unregister(place)


def test_a_strangers_place_for_dead_letters_gets_them(spark, printed, tmp_path, capfd):
    sides = [side.with_watermark("0 s") for side in streams(8, rows=2)]
    run = wb.run(wb.IntervalJoin("-1 s", "1 s"), *sides, finish=False)
    made = scripts.module(scripts.job(run, tmp_path, dead_letters="printed"))
    assert "Dropped: rows that come late or cannot be read, on the standard output." in made.__doc__
    given = {name: str(tmp_path / name) for name in ("output", "checkpoint")} | {"trigger": "available-now"}
    scripts.run_as_main(made, scripts.own_session(spark), scripts.arguments(made, **given))
    printed_letters = [json.loads(line) for line in capfd.readouterr().out.splitlines() if "dead letter" in line]
    named = {"left": "orders", "right": "payments"}
    late = [(batch, named[side], id_) for batch, side, id_ in run.late[["batch", "side", "id"]].to_numpy().tolist()]
    assert sorted((each["number"], each["stream"], each["id"]) for each in printed_letters) == sorted(late)
    assert len(late) == 5


def test_every_sink_with_a_guarantee_is_killed():
    """The fault-injection tests name their sinks, each of which needs a server of its own; Parquet is the default."""
    text = (Path(__file__).parent / "test_faults.py").read_text()
    promising = [each.name for each in SINKS.values() if each.guarantee != "no promise" and each.name != "parquet"]
    assert [name for name in promising if f'"{name}"' not in text] == []


# ---- the documentation


def table(heading):
    """The rows of a table in the documentation, each as its cells."""
    section = DOCS.read_text().split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| `")]
    _, *rows = [[cell.strip("`") if place == 0 else cell for place, cell in enumerate(row)] for row in rows]
    return rows


def test_the_docs_list_the_sources():
    assert table("Sources") == [[each.name, each.description.rstrip("."), each.malformed] for each in SOURCES.values()]


def test_the_docs_list_the_sinks():
    assert table("Sinks and their delivery guarantees") == [
        [each.name, each.target, each.promise] for each in SINKS.values()
    ]


def test_the_docs_list_the_places_for_dead_letters():
    assert table("Dead letters") == [[each.name, each.target] for each in DEAD_LETTERS.values()]


def test_the_docstring_of_export_names_all_places():
    words = wb.export.__doc__
    assert [name for name in (*SOURCES, *SINKS, *DEAD_LETTERS) if f"``{name}``" not in words] == []


# ---- nobody asks which one it is


def asked_by_name(text):
    """Comparisons of a place with a name of one, in Python or a template."""
    names = "|".join(map(re.escape, {*SOURCES, *SINKS, *DEAD_LETTERS} - {"parquet", "delta"}))
    return re.findall(
        rf"""(?:source|sink|dead_letters)\b(?:\.name)? *(?:==|!=|in) *\(?["'](?:{names}|parquet|delta)["']""", text
    )


def test_an_asking_of_names_is_found():
    assert asked_by_name('{% if sink == "postgresql" %}')
    assert asked_by_name("endpoints.source.name != 'files'")
    assert asked_by_name('{{ ", the output" if sink != "parquet" }}')
    assert asked_by_name('if sink in ("delta", "kafka")')
    assert not asked_by_name('sink.fixed_output or kind == "csv"')


@pytest.mark.parametrize("file", sorted({*SCRIPT.rglob("*.jinja"), *SCRIPT.rglob("*.py")}), ids=lambda file: file.name)
def test_nothing_asks_for_a_place_by_its_name(file):
    assert asked_by_name(file.read_text()) == []


def test_what_may_change_with_a_checkpoint_is_said_the_same_everywhere():
    left, right = streams(2)
    for name, sink in SINKS.items():
        files = script.project(JOIN, left, right, "min", script.check(left, right, "files", name, None))
        text, readme = files[script.MAIN], files["README.md"]
        words, free = (" ".join(each.replace("\n# ", " ").split()) for each in (readme, text))
        changeable = script.changeable(sink.fixed_output)
        assert ("the output" in changeable) == (not sink.fixed_output)
        assert f"With the same checkpoint: {', '.join(changeable)}. Not " in words
        for each in script.FIXED:
            assert each in words
        assert f"{script.listed(changeable).capitalize()} may change from one start to the next." in free
    docs = " ".join(DOCS.read_text().split())
    assert f"it is made for {script.listed(list(script.FIXED))}" in docs
    assert f"{script.listed(script.changeable(False)).capitalize()} may change." in docs
