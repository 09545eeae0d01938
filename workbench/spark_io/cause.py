"""What Spark and Java say went wrong, in one sentence without their wrapping; and the mapping to errors users see."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from workbench.errors import QueryError, WorkbenchError

__all__ = ["GONE", "Saying", "cause", "is_gone", "spark_errors_as", "told"]

Saying = str | Callable[[str], WorkbenchError]
"""What cannot be done, as the beginning of a `QueryError` that ends in the cause; or the error, made of the cause."""

_WRAPPING = re.compile(r"An error occurred while calling [\w.]+(: |\.)?|Traceback \(most recent call last\)|py4j\.")
_CLASS = re.compile(r"^(?:[a-z_]\w*\.)+([A-Z][\w$]*(?:Exception|Error|Throwable))(?:: |$)")
_FILE = re.compile(r"while reading file (\S+?)\.?\s")
_NO_SPACE = "No space left on device"
_STOPPED = "stopped SparkContext"
_NO_PROTOBUF = re.compile(r"(ImportError|ModuleNotFoundError)[^\n]*google(\.protobuf)?\b")
_OF_CONNECT = re.compile(r'RPC that terminated with:.*?StatusCode\.(\w+).*?details = "(.*?)"\n', re.S)
_UNREACHED = "UNAVAILABLE"
_IN_PYTHON = ("An exception was thrown from the Python worker", "Cause: Traceback (most recent call last)")
_IN_CALLBACK = "An exception was raised by the Python Proxy"
_RAISED = re.compile(r"^[\w.]*(?:Error|Exception)\b.*$", re.M)
_LONGEST = 400
_GONE = ("ConnectionRefusedError", "Py4JNetworkError", "ConnectionResetError", "ConnectionAbortedError")
_NO_ANSWER = re.compile(r"An error occurred while calling [\w.]+")  # and no Java exception: the connection broke off
_INTERRUPTED = "Gateway must be connected to send cancel cmd"  # PySpark's handler of Ctrl-C, where it breaks
GONE = "Spark's Java process has ended (killed, or out of memory); the next run starts a new one"


def is_gone(error: BaseException) -> bool:
    """Whether the error says that there is no JVM any more."""
    names = {kind.__name__ for kind in type(error).__mro__}
    text = str(error).strip()
    return bool(names & set(_GONE)) or "Answer from Java side is empty" in text or bool(_NO_ANSWER.fullmatch(text))


@contextmanager
def spark_errors_as(say: Saying) -> Iterator[None]:
    r"""Have whatever Spark, Py4J or Spark Connect raises told as one error of the workbench's.

    An interrupt stays one, whatever a library on the way made of it. Errors of the workbench's own, which are sentences
    already, pass as they are. A JVM or a session that has ended is told as that. Spark's own words and its trace are in
    ``details``.

    Parameters
    ----------
    say
        What cannot be done: the beginning of a `QueryError`, or what makes an error of the cause.

    Examples
    --------
    >>> with spark_errors_as("the job cannot be opened"):
    ...     raise OSError("An error occurred while calling o1.load.\n: java.io.IOException: no such place")
    Traceback (most recent call last):
    workbench.errors.QueryError: the job cannot be opened: no such place
    """
    handled = sys.exception()
    try:
        yield
    except Exception as error:
        if _is_interrupt(error, handled):
            raise KeyboardInterrupt from None
        if isinstance(error, WorkbenchError):
            raise
        raise told(error, say) from None


def told(error: BaseException, say: Saying) -> WorkbenchError:
    """The error as which one of Spark's is told, where it is not raised: Spark hands out what ended a query."""
    why = cause(error)
    said = QueryError(f"{say}: {why}") if isinstance(say, str) else say(why)
    said.details = said.details or str(error)
    return said


def _is_interrupt(error: BaseException, handled: BaseException | None) -> bool:
    """Whether an error is what became of an interrupt while Python waited for Java, after an error that was handled."""
    seen = [handled]
    one: BaseException | None = error
    while one is not None and one not in seen:
        if isinstance(one, KeyboardInterrupt) or _INTERRUPTED in str(one):
            return True
        seen.append(one)
        one = one.__cause__ or one.__context__
    return False


def cause(error: BaseException) -> str:
    r"""The innermost cause of an error of Spark's, as one line.

    Examples
    --------
    >>> cause(Exception("An error occurred while calling o1.start.\n: java.io.IOException: no such place\n\tat x.y"))
    'no such place'
    """
    if is_gone(error):
        return GONE
    text = str(error)
    if _NO_SPACE in text:
        return "no space is left on the disk; make room, or give a run a larger folder=, else set TMPDIR to one"
    if _STOPPED in text:
        return "the Spark session has been stopped; make a new one"
    if _NO_PROTOBUF.search(text):
        return (
            "the Python of Spark's workers has no package protobuf, which an as-of join without a tolerance needs; "
            "install it there, or set PYSPARK_PYTHON to a Python that has it"
        )
    if of_connect := _OF_CONNECT.search(text):  # gRPC's own words, of which the first line says nothing
        status, details = of_connect.groups()
        return f"the Spark Connect server cannot be reached ({details})"[:_LONGEST] if status == _UNREACHED else details
    if worker := next((each for each in _IN_PYTHON if each in text), None):
        raised = _RAISED.findall(text.partition(worker)[2].partition("SQLSTATE")[0])
        if raised:
            return f"a Python worker of Spark's failed: {raised[-1].strip()}"[:_LONGEST]
    if _IN_CALLBACK in text:
        raised = _RAISED.findall(text.partition(_IN_CALLBACK)[2].partition("\n===")[0])
        if raised:
            return _bare(raised[-1].strip())[:_LONGEST]
    lines = [line.strip().removeprefix(": ") for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("at ") and not _WRAPPING.match(line)]
    causes = [_bare(line.removeprefix("Caused by: ")) for line in lines if line.startswith("Caused by: ")]
    messages = [each for each in causes if each] or [_bare(line) for line in lines if _bare(line)]
    message = (messages[-1] if causes else messages[0]) if messages else type(error).__name__
    file = _FILE.search(text + " ")
    if file and file[1] not in message:
        message = f"{file[1]}: {message}"
    return message.split("===")[0].strip()[:_LONGEST]


def _bare(line: str) -> str:
    """A line without the name of an exception's class, as long as a sentence is left: a path alone says nothing."""
    kind = _CLASS.match(line)
    rest = line[kind.end() :] if kind else line
    if kind and rest and " " not in rest.strip():
        return f"{kind[1]}: {rest}"
    return rest or line
