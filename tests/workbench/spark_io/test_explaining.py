"""What `wb.explain` says of errors; that Spark says so is tested with their page, `tests/project/test_error_page.py`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from py4j.protocol import Py4JError

import workbench as wb
from workbench.spark_io.explaining import in_one
from workbench.spark_io.known_errors import KNOWN

PAGE = Path(__file__).parents[3] / "docs" / "errors.md"
AMBIGUOUS = "[AMBIGUOUS_REFERENCE] Reference `id` is ambiguous, could be: [`a`.`id`, `b`.`id`]. SQLSTATE: 42704"


def test_the_page_has_the_sentences_of_the_table():
    rows = re.findall(r"^\| `([^`]+)` \| (.*) \| .+ \|$", PAGE.read_text(), flags=re.MULTILINE)
    assert rows == [(each.says, f"{each.rule} {each.remedy}") for each in KNOWN]


@pytest.mark.parametrize("known", KNOWN, ids=lambda each: each.says[:30])
def test_sentences_are_sentences(known):
    found = wb.explain(known.says.replace("…", "x y"))
    assert found.rule == known.rule.replace("`", "")
    for text in (known.rule, known.remedy):
        assert text[0] == "`" or text[0].isupper()
        assert text.endswith(".")
        assert text.count("`") % 2 == 0
    assert "\n" not in str(found)


def test_an_error_says_which_column_and_what_spark_calls_it():
    found = wb.explain(AMBIGUOUS)
    assert str(found).startswith("Both sides have a column of that name (`id`). Call")
    assert (found.where, found.condition, found.known) == ("`id`", "AMBIGUOUS_REFERENCE", True)


def test_an_error_of_the_workbench_is_explained_by_what_lies_beneath():
    trace = f"An error occurred while calling o1.select.\n: org.apache.spark.sql.AnalysisException: {AMBIGUOUS}\n\tat x.y(Z.java:1)"
    for error in (wb.QueryError("the run failed", trace), Py4JError(trace)):
        assert wb.explain(error) == wb.explain(AMBIGUOUS)


def test_the_error_that_is_nearest_is_explained():
    error = wb.QueryError("Redefining watermark is disallowed")
    error.__context__ = ValueError(AMBIGUOUS)
    assert "one watermark" in wb.explain(error).rule
    other = ValueError("no")
    other.__cause__ = error
    assert wb.explain(other) == wb.explain(error)
    error.__context__ = other  # a circle


def test_the_class_of_what_ended_a_query_is_that_of_its_cause():
    text = f"[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: {AMBIGUOUS} SQLSTATE: XXKST"
    assert wb.explain(text).condition == "AMBIGUOUS_REFERENCE"


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (Py4JError("An error occurred while calling o1.start.\n: java.io.IOException: no such place\n\tat x.y(Z.java:1)"), "no such place"),
        (wb.QueryError("the query stopped: it was so", "x\n\tat y"), "the query stopped: it was so"),
        ("odd words\n\tat x.y(Z.java:1)", "odd words"),
        (ValueError(), "ValueError"),
    ],
)  # fmt: skip
def test_an_error_that_is_not_known_is_told_as_spark_tells_it(error, says):
    found = wb.explain(error)
    assert str(found) == f"The workbench does not know this error. Spark says: {says}"
    assert not found.known
    assert in_one(found) == says


def test_an_error_whose_session_has_ended_has_no_class():
    class EndedError(Exception):
        def getCondition(self):  # noqa: N802 - Spark's own name
            raise Py4JError("Answer from Java side is empty")

    assert wb.explain(EndedError("Redefining watermark is disallowed")).condition == ""


@pytest.mark.parametrize("wrong", [None, 3, "", " ", ValueError])
def test_what_is_no_error_is_refused(wrong):
    with pytest.raises(wb.ArgumentError, match=r"^error: got .*; give the exception that Spark raised, or its text$"):
        wb.explain(wrong)


def test_one_sentence_keeps_the_capitals_of_names():
    gaps, nanos = (
        wb.explain(each) for each in ("must be <= the", "Illegal Parquet type: INT64 (TIMESTAMP(NANOS,true))")
    )
    assert (
        in_one(gaps)
        == "F.window has no gaps: its slide is at most as long as the window; use a tumbling window, and filter"
    )
    assert in_one(nanos).startswith("Spark does not read timestamps in nanoseconds")
    assert in_one(wb.explain(AMBIGUOUS)).startswith("both sides have a column of that name (`id`); call .alias")
