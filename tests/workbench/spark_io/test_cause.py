"""What is said of errors that Java, or the connection to it, gives."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError

from workbench.spark_io.cause import GONE, cause, is_interrupt


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


def test_an_error_of_a_python_worker_is_its_last_line():
    text = """[PYTHON_EXCEPTION] An exception was thrown from the Python worker: Traceback (most recent call last):
  File "worker.py", line 1, in main
    process()
ValueError: no such version
 SQLSTATE: 38000
\tat org.apache.spark.Worker.run(Worker.java:1)"""
    assert cause(Exception(text)) == "a Python worker of Spark's failed: ValueError: no such version"


def test_a_worker_without_protobuf_says_what_to_install():
    text = "driver worker exited unexpectedly\nImportError: cannot import name 'descriptor' from 'google.protobuf' (unknown)"
    assert cause(Exception(text)).endswith("install it there, or set PYSPARK_PYTHON to a Python that has it")


def test_an_interrupt_is_found_beneath_what_was_made_of_it():
    try:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise ValueError("Unsupported type: 'p'")  # noqa: B904 - as a library does that catches everything
    except ValueError as error:
        assert is_interrupt(error)
    assert not is_interrupt(ValueError("Unsupported type: 'p'"))
