"""What is said of errors that Java, or the connection to it, gives."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors.exceptions.connect import AnalysisException as ConnectAnalysisException
from pyspark.errors.exceptions.connect import SparkConnectGrpcException
from pyspark.sql import functions as F

from workbench.errors import DataError, QueryError
from workbench.spark_io.cause import GONE, cause, spark_errors_as


@pytest.mark.parametrize(
    "error",
    [
        Py4JNetworkError("Error while sending or receiving"),
        Py4JNetworkError("Answer from Java side is empty"),
        Py4JError("An error occurred while calling o2511.isActive"),  # Java was killed while it was to answer
        ConnectionRefusedError("[Errno 111] Connection refused"),
    ],
    ids=repr,
)
def test_a_process_that_has_ended_is_told(error):
    assert cause(error) == GONE


def test_an_error_of_java_is_not_taken_for_its_end():
    trace = "An error occurred while calling o12.start.\n: java.io.IOException: no such place\n\tat x.y(Z.java:1)"
    assert cause(Py4JError(trace)) == "no such place"


def test_what_a_stopped_session_says():
    error = Py4JError(
        "java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.\nThis stopped ..."
    )
    assert cause(error) == "the Spark session has been stopped; make a new one"


def test_a_path_or_a_class_alone_is_told_with_what_happened_to_it():
    trace = "An error occurred\nCaused by: java.nio.file.NoSuchFileException: /tmp/a/shuffle_1_7_0.index\n\tat x.y(Z.java:1)"
    assert cause(Py4JError(trace)) == "NoSuchFileException: /tmp/a/shuffle_1_7_0.index"


@pytest.mark.parametrize(
    "begin",
    [
        "[PYTHON_EXCEPTION] An exception was thrown from the Python worker: Traceback (most recent call last):",
        "[STREAMING_PYTHON_RUNNER_INITIALIZATION_FAILURE] Streaming Runner initialization failed, returned -2. "
        "Cause: Traceback (most recent call last):",
    ],
)
def test_an_error_of_a_python_worker_is_its_last_line(begin):
    text = f"""{begin}
  File "worker.py", line 1, in main
    process()
ValueError: no such version
 SQLSTATE: 38000
\tat org.apache.spark.Worker.run(Worker.java:1)"""
    assert cause(Exception(text)) == "a Python worker of Spark's failed: ValueError: no such version"


def test_an_error_of_a_function_that_spark_calls_back_is_what_it_raised():
    text = """An exception was raised by the Python Proxy. Return Message: Traceback (most recent call last):
  File "utils.py", line 163, in call
    self.func(frame, batch_id)
pyspark.errors.exceptions.captured.ArithmeticException: [DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012
== SQL (line 1, position 1) ==
1 / n
=== Streaming Query ===
Identifier: Exception"""
    assert cause(Exception(text)) == "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012"
    assert cause(Exception(text.replace("pyspark.errors.exceptions.captured.ArithmeticException", "KeyError"))) == (
        "KeyError: [DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012"
    )


def test_a_worker_without_protobuf_says_what_to_install():
    text = "driver worker exited unexpectedly\nImportError: cannot import name 'descriptor' from 'google.protobuf' (unknown)"
    assert cause(Exception(text)).endswith("install it there, or set PYSPARK_PYTHON to a Python that has it")


def test_a_server_of_spark_connect_that_has_ended_is_told():
    words = "failed to connect to all addresses"
    status = f'status = StatusCode.UNAVAILABLE\n\tdetails = "{words}"\n\tdebug_error_string = "UNAVAILABLE:{words}"\n>'
    error = SparkConnectGrpcException(message=f"<_InactiveRpcError of RPC that terminated with:\n\t{status}")
    assert cause(error) == f"the Spark Connect server cannot be reached ({words})"


def mapped(error, say="the table cannot be read", cause=None):
    """What the mapping makes of an error that Spark raises, and of its cause."""
    with pytest.raises(BaseException) as raised:  # noqa: SIM117 - an interrupt is none of Exception
        with spark_errors_as(say):
            raise error from cause
    return raised.value


def test_the_mapping_is_one_error_with_the_cause_and_keeps_all_that_spark_said():
    trace = "An error occurred while calling o12.load.\n: java.io.IOException: no such place\n\tat x.y(Z.java:1)"
    error = mapped(Py4JError(trace))
    assert repr(error) == repr(QueryError("the table cannot be read: no such place"))
    assert error.details == trace
    assert error.__suppress_context__
    assert error.__cause__ is None


def test_the_caller_may_make_the_error_of_the_cause():
    error = mapped(OSError("no such place"), lambda why: DataError(f"path: it cannot be read ({why})"))
    assert repr(error) == repr(DataError("path: it cannot be read (no such place)"))
    assert error.details == "no such place"


def test_an_error_of_the_workbench_passes_the_mapping():
    error = DataError("path: there is no such folder")
    assert mapped(error) is error


def test_a_gateway_that_is_gone_is_told_by_the_mapping():
    assert str(mapped(Py4JNetworkError("Answer from Java side is empty"))) == f"the table cannot be read: {GONE}"


def test_an_interrupt_stays_one():
    assert type(mapped(KeyboardInterrupt())) is KeyboardInterrupt
    assert type(mapped(Py4JError("Gateway must be connected to send cancel cmd."))) is KeyboardInterrupt


@pytest.mark.parametrize("made", [ValueError("Unsupported type: 'p'"), QueryError("the table cannot be read: 'p'")])
def test_an_interrupt_is_found_beneath_what_was_made_of_it(made):
    assert type(mapped(made, cause=KeyboardInterrupt())) is KeyboardInterrupt


def test_an_error_after_an_interrupt_that_was_handled_is_no_interrupt():
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        error = mapped(OSError("no such place"))  # Python notes the interrupt as its context
    assert str(error) == "the table cannot be read: no such place"


def test_an_error_of_sparks_analysis_is_its_first_sentence(spark):
    sentence = r"^it cannot be read: \[TABLE_OR_VIEW_NOT_FOUND\] .*`nowhere`[^\n]*$"
    with pytest.raises(QueryError, match=sentence), spark_errors_as("it cannot be read"):
        spark.table("nowhere")


def test_an_error_of_a_udf_is_what_python_raised(spark):
    def fails(value):
        raise ValueError(f"no such version: {value}")

    with pytest.raises(QueryError) as raised, spark_errors_as("it cannot be read"):
        spark.range(1).select(F.udf(fails, "bigint")("id")).collect()
    assert str(raised.value) == "it cannot be read: a Python worker of Spark's failed: ValueError: no such version: 0"


def test_an_error_of_spark_connect_is_its_sentence():
    words = "[TABLE_OR_VIEW_NOT_FOUND] The table or view `nowhere` cannot be found. SQLSTATE: 42P01;"
    error = mapped(ConnectAnalysisException(f"{words}\n'UnresolvedRelation [nowhere], [], false\n"))
    assert str(error) == f"the table cannot be read: {words}"
