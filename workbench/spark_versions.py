"""What differs between the versions of Spark that the workbench runs on, in one table.

Session, model and scripts ask it; what is the same in all of them is not in it. Each difference is explained, with its
test, in ``docs/spark-versions.md``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from workbench.errors import wrong

__all__ = [
    "NEWEST",
    "OLDEST",
    "OLDEST_JAVA",
    "OLDEST_OF_FAULTS",
    "OLDEST_OF_SCRIPTS",
    "SUPPORTED",
    "SparkFacts",
    "check",
    "facts",
    "here",
    "installed",
    "is_supported",
    "numbers",
]

_STREAMING = "org.apache.spark.sql.execution.streaming"
OLDEST_JAVA = 17
"""The oldest Java that Spark 4 runs on."""
_BEFORE_JEP_486 = 23
"""Java 24 took out ``Subject.getSubject``, which Hadoop called before its version 3.5."""


@dataclass(frozen=True)
class SparkFacts:
    """One minor version of Spark.

    Attributes
    ----------
    minor
        Its number, such as ``4.3``.
    checkpoint_manager
        The class that writes a checkpoint's files by way of Hadoop's `FileSystem`.
    semi_join_frees_matched
        Whether a left row of a semi join leaves the state in the micro-batch in which it first matches; else only one
        that meets a right row of an earlier micro-batch is never stored, and all others stay until the watermark
        passes them.
    semi_join_loses_expiring
        Whether a right row of a semi join that leaves the state in the micro-batch it arrives in is not stored, so that
        a left row of that micro-batch does not meet it, although neither is late.
    loses_expiring
        Whether no row is stored that leaves the state in the micro-batch it arrives in (SPARK-49829, in versions that
        the workbench does not run on): rows of the other side that come after it do not meet it, and none is padded.
    has_processor
        Whether a processor with state of its own in Python takes rows as they are, and not as frames of pandas, in
        which whole numbers beside nulls lose digits.
    has_compact_state
        Whether large runs can use the state store `CompactState.java`, which extends classes of Spark's.
    newest_java
        The newest Java that it runs on, of those that there are; None: all of them. The oldest is `OLDEST_JAVA`.
    """

    minor: str
    checkpoint_manager: str = f"{_STREAMING}.checkpointing.FileSystemBasedCheckpointFileManager"
    semi_join_frees_matched: bool = True
    semi_join_loses_expiring: bool = True
    loses_expiring: bool = False
    has_processor: bool = True
    has_compact_state: bool = True
    newest_java: int | None = None

    @property
    def java_words(self) -> str:
        """The Javas that it runs on, in words."""
        return f"{OLDEST_JAVA} {'or later' if self.newest_java is None else f'to {self.newest_java}'}"

    def runs_on_java(self, version: int) -> bool:
        """Whether it runs on a Java."""
        return version >= OLDEST_JAVA and (self.newest_java is None or version <= self.newest_java)

    def __str__(self) -> str:
        return f"Spark {self.minor}"


_ALL = (
    SparkFacts(
        "4.0",
        checkpoint_manager=f"{_STREAMING}.FileSystemBasedCheckpointFileManager",
        semi_join_frees_matched=False,
        semi_join_loses_expiring=False,
        has_processor=False,
        has_compact_state=False,
        newest_java=_BEFORE_JEP_486,
    ),
    SparkFacts(
        "4.1",
        semi_join_frees_matched=False,
        semi_join_loses_expiring=False,
        has_compact_state=False,
        newest_java=_BEFORE_JEP_486,
    ),
    SparkFacts("4.2"),
    SparkFacts("4.3"),
)
OLDEST, NEWEST = _ALL[0], _ALL[-1]
SUPPORTED = tuple(each.minor for each in _ALL)
"""The minor versions that the workbench runs on, from the oldest to the newest."""
OLDEST_OF_SCRIPTS = "3.5"
"""The oldest version that exported scripts run on."""
OLDEST_OF_FAULTS = "3.3"
"""The oldest version whose faults are known."""


def facts(number: str) -> SparkFacts:
    """The facts of a version, such as ``4.1.2`` or ``4.0.1-amzn-0``; of one that is not known, those of the nearest."""
    minor = numbers(number)[:2]
    return next((each for each in reversed(_ALL) if numbers(each.minor) <= minor), OLDEST)


def installed() -> str:
    """The version of the PySpark that Python finds, whoever brought it; the newest that is known where there is none.

    It is read from the package itself: on a cluster it is on Python's path, and no installer knows of it.
    """
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        return NEWEST.minor
    stated = Path(found.origin).with_name("version.py")
    number = (
        re.search(r"""__version__[^=]*=\s*["']([^"']+)""", stated.read_text(encoding="utf-8"))
        if stated.is_file()
        else None
    )
    return number[1] if number else NEWEST.minor


def here() -> SparkFacts:
    """The facts of the PySpark that is installed."""
    return facts(installed())


def is_supported(number: str) -> bool:
    """Whether the workbench runs on a version; a newer one than it knows is tried, as every run is verified."""
    return numbers(number) >= numbers(OLDEST.minor)


def check(argument: str, got: object, oldest: str = OLDEST.minor) -> str:
    """A version of Spark that the workbench knows, as a user gives it; None: the PySpark that is installed.

    Parameters
    ----------
    argument, got
        The argument's name, and what it got.
    oldest
        The oldest minor version that is taken.

    Raises
    ------
    ArgumentError
        If it is no text such as ``4.1`` or ``4.1.2``, or of a version that is not known.
    """
    if got is None:
        return installed()
    if not isinstance(got, str) or not numbers(oldest) <= numbers(got)[:2] <= numbers(NEWEST.minor):
        raise wrong(argument, got, f'give a version from {oldest} to {NEWEST.minor}, such as "{OLDEST.minor}"')
    return got


def numbers(number: str) -> tuple[int, ...]:
    """The numbers of a version: ``(4, 0, 1)`` of ``4.0.1-amzn-0``; none where it is no version."""
    found = re.match(r"\d+\.\d+(\.\d+)?", number)
    return tuple(map(int, found[0].split("."))) if found else ()
