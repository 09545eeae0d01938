"""What a place that a script reads or writes says of itself: a source, a sink, a target of dead letters, a connector.

Each place is one object in a file of its own, beside the template of its functions. Scripts, their ``--help``, the
exported folder and the documentation's tables are made of what it says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from workbench.sources import arrow
from workbench.spark_versions import OLDEST_OF_SCRIPTS
from workbench.streams import Stream
from workbench.untyped import Record

Guarantee = Literal["exactly once", "at least once", "no promise"]
"""How often a row is in the output after failures and restarts."""

JOINED = "<left>_with_<right>"
"""What stands for both streams' names in an argument's default."""


def beside(file: str, ending: str = ".jinja") -> str:
    """The text of the template that stands beside a module."""
    return (Path(file).parent / f"{Path(file).stem}{ending}").read_text(encoding="utf-8")


def column_types(stream: Stream) -> dict[str, str]:
    """A stream's columns and their types in Spark's words."""
    from pyspark.sql.pandas.types import from_arrow_schema  # when needed: PySpark is slow to import

    return {each.name: arrow.ddl(each.dataType) for each in from_arrow_schema(stream.table.schema)}


@dataclass(frozen=True)
class SparkVersion:
    """A version of Spark: its number, and what a project's dependencies say of it."""

    number: str
    requirement: str

    @property
    def minor(self) -> str:
        """The number without its last part."""
        return self.number.rpartition(".")[0]


SPARK = SparkVersion("4.3.0", f"pyspark>={OLDEST_OF_SCRIPTS},<4.4")
"""What scripts are for, unless a connector is tied to another version."""


@dataclass(frozen=True)
class Argument:
    """A command-line argument: its name with its dashes, its default, which makes it a text or a number, its help.

    Without a default it is a number, too; its help then says what holds where it is left out.
    """

    name: str
    default: str | int | None
    help: str

    @property
    def dest(self) -> str:
        """Its name among the parsed arguments."""
        return self.name.removeprefix("--").replace("-", "_")


@dataclass(frozen=True)
class Requirement:
    """A Python package that a script imports: its name, the version, and what it is for."""

    name: str
    version: str
    purpose: str


@dataclass(frozen=True)
class Connector:
    """What a script needs beside PySpark to reach a place.

    Attributes
    ----------
    label
        Its name and version.
    coordinates
        The package for ``spark-submit``; ``{spark}`` stands for Spark's version.
    spark
        The version of Spark that it is tied to; None: it goes with `SPARK`.
    secrets
        What it reads from the environment, in words.
    arguments
        What the script is asked of it.
    settings
        The session's settings that it needs.
    requirements
        Python packages that the script imports for it.
    imports
        Import statements that the script's text may need for it.
    template
        Functions for all who use it, as Jinja text.
    """

    label: str
    coordinates: str
    spark: SparkVersion | None = None
    secrets: str = ""
    arguments: tuple[Argument, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    requirements: tuple[Requirement, ...] = ()
    imports: tuple[str, ...] = ()
    template: str = ""

    @property
    def note(self) -> str:
        """Which version of Spark it is tied to, as a sentence."""
        return f"{self.label} needs Spark {self.spark.minor}." if self.spark else ""


@dataclass(frozen=True)
class Source:
    """A place that a script reads both streams from.

    As it stands it is one without end whose values hold a stream's columns. Others say what differs.

    Attributes
    ----------
    name
        Its name in ``wb.export(..., source=...)``.
    description
        What it is, for the script's help, as a sentence.
    malformed
        What becomes of a record that cannot be read, for the documentation.
    template
        Jinja text of macros for a project's module ``sources``: ``input_fields()`` and ``input_values(side)`` of the script's class ``Input``, ``place(side)``
        (default and help of the side's argument), ``settings()`` of the session, ``read()`` and, for dead letters,
        ``read_micro_batch()``.
    plain
        Jinja text of macros for a plain script, in one file: ``constants()`` and ``constant(side)`` of the
        module, ``place(side)`` as above, ``read(side)``, the statement that makes the side's streaming DataFrame, and
        ``prepared(side)``, calls that follow when the end of its input was added.
    pipeline
        Jinja text of macros for a declarative pipeline: ``imports()``, ``constants(side)``, ``functions()``,
        ``read(side)``, ``configuration(sides)``. Empty: there is none.
    arguments
        Its command-line arguments beside the streams' places.
    project_arguments
        Further ones that only a project has.
    connectors
        What it needs.
    stored
        Whether it reads the run's own files, or its recordings, which have an end.
    dropped
        Why a record may be among the dead letters, beside being late.
    imports
        Import statements that its text may need.
    """

    name: str
    description: str
    malformed: str
    template: str = field(repr=False)
    plain: str = field(default="", repr=False)
    pipeline: str = field(default="", repr=False)
    arguments: tuple[Argument, ...] = ()
    project_arguments: tuple[Argument, ...] = ()
    connectors: tuple[Connector, ...] = ()
    stored: bool = False
    dropped: tuple[str, ...] = ("malformed",)
    imports: tuple[str, ...] = ()

    def check(self, left: Stream, right: Stream, dead_letters: str | None) -> None:
        """Check that it can bring these streams, and their dead letters if asked for.

        Raises
        ------
        ArgumentError
            If it cannot.
        """

    def settings(self, left: Stream, right: Stream) -> dict[str, str]:
        """The session's settings that a plain script needs to read these streams."""
        return {}

    def connectors_for(self, left: Stream, right: Stream) -> tuple[Connector, ...]:
        """What these streams need beside `connectors`."""
        return ()

    def columns(self, stream: Stream) -> dict[str, str]:
        """The columns that are in its records, and their types in Spark's words."""
        return column_types(stream)

    def schema(self, stream: Stream) -> dict[str, str]:
        """The columns that are read, before some of them are chosen."""
        return self.columns(stream)

    def variables(self, stream: Stream, var: str, data: str) -> Record:
        """What its templates ask of a side beside its names.

        Parameters
        ----------
        stream, var
            The side, and its name in the script.
        data
            The folder of recordings beside the script.
        """
        return {}


@dataclass(frozen=True)
class Sink:
    """A place that a script writes the joined rows to.

    Attributes
    ----------
    name
        Its name in ``wb.export(..., sink=...)``.
    target
        What the rows go to, such as ``a Kafka topic``.
    guarantee
        How often a row is there after failures and restarts.
    reason
        Why, or for whom, with the punctuation that joins it to the guarantee.
    template
        Jinja text of the script's function ``write(joined, args)`` and those it calls; a part that it asks for by name,
        such as ``with_idempotency_key``, is put in.
    arguments
        Its command-line arguments, ``--output`` among them if it has one.
    connectors
        What it needs.
    fixed_output
        Whether ``--output`` is a folder that belongs to one checkpoint: new with it, and the same as long as it lives.
    is_checked
        Whether its template has a function ``holds_rows``: with a new checkpoint, which would write all rows again, a
        place that holds some is refused.
    plain
        What a plain script has in place of the function: Python source of the writer of ``joined``, a `DataStreamWriter`.
    imports
        Import statements that its text may need.
    """

    name: str
    target: str
    guarantee: Guarantee
    reason: str
    template: str = field(repr=False)
    arguments: tuple[Argument, ...] = ()
    connectors: tuple[Connector, ...] = ()
    fixed_output: bool = False
    is_checked: bool = False
    plain: str = ""
    imports: tuple[str, ...] = ()

    @property
    def promise(self) -> str:
        """What holds after failures and restarts."""
        return f"{'' if self.guarantee == 'no promise' else 'each row '}{self.guarantee}{self.reason}"

    @property
    def description(self) -> str:
        """What it is and promises, as sentences."""
        notes = [each.note for each in self.connectors if each.note]
        return " ".join([f"{self.target}, {self.promise}.", *notes])


@dataclass(frozen=True)
class DeadLetters:
    """A place that a script writes rows to that the join drops, or that cannot be read.

    Attributes
    ----------
    name
        Its name in ``wb.export(..., dead_letters=...)``.
    target
        Where they go, and how.
    template
        Jinja text of statements that write the frame ``found`` of the micro-batch ``number``, and that know ``args``.
    arguments
        Its command-line arguments.
    connectors
        What it needs.
    new_folder
        Whether ``--dead-letters`` is a folder that must be new with a new checkpoint.
    imports
        Import statements that its text may need.
    """

    name: str
    target: str
    template: str = field(repr=False)
    arguments: tuple[Argument, ...] = ()
    connectors: tuple[Connector, ...] = ()
    new_folder: bool = False
    imports: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """What it is, as a sentence."""
        return f"rows that come late or cannot be read, {self.target}."
