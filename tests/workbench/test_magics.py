"""What ``%workbench`` says of one name: no variable, a query, half of a pair. Spark is not needed for it."""

from __future__ import annotations

import pytest
from pyspark.sql.streaming.query import StreamingQuery

import generators
import workbench as wb
from workbench.magics import WorkbenchMagics


@pytest.fixture
def notebook(shell):
    """The names of a notebook that knows ``%workbench``; both are as before at the end."""
    before = dict(shell.user_ns)
    shell.register_magics(WorkbenchMagics)
    yield shell.user_ns
    shell.magics_manager.magics["line"].pop("workbench")
    shell.user_ns.clear()
    shell.user_ns.update(before)


def said(shell, line):
    with pytest.raises(wb.ArgumentError) as raised:
        shell.run_line_magic("workbench", line)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_a_name_that_is_misspelled(shell, notebook):
    orders, payments = generators.generate("orders_payments", events=5)
    job = object.__new__(wb.Job)
    notebook.update({"orders": orders, "payments": payments, "job": job, "ordesrs": 7, "_jbo": job})
    end = "; name two streams, or a job of wb.open_job"
    assert said(shell, "jbo") == f"%workbench: got 'jbo'; the notebook has no variable jbo, the closest is job{end}"
    assert said(shell, "ordesr").startswith("%workbench: got 'ordesr'; the notebook has no variable ordesr, ")
    assert said(shell, "ordesr").endswith(f"the closest is orders{end}")  # a number is closer, and does not fit
    assert said(shell, "xyz") == f"%workbench: got 'xyz'; the notebook has no variable xyz{end}"


def test_a_query_is_watched_or_opened(shell, notebook):
    notebook["running"] = StreamingQuery(None)
    words = said(shell, "running")
    assert words.startswith("%workbench: got 'running'; it is a streaming query: ")
    assert "wb.watch(running)" in words
    assert "job = wb.open_job(running)" in words
    assert "%workbench job" in words


def test_half_of_a_pair_and_what_does_not_fit(shell, notebook):
    notebook.update({"orders": generators.generate("orders_payments", events=5)[0], "number": 3})
    remedy = "name two streams, %workbench orders <other stream>, or a job"
    assert said(shell, "orders") == f"right: got None; {remedy}"
    assert said(shell, "number").endswith("or a job")
