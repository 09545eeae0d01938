"""A source, a sink and a place for dead letters together: what a script that uses them needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workbench.errors import one_of, wrong
from workbench.plan import Names
from workbench.script import _checkpoint
from workbench.script._places import JOINED, SPARK, Argument, Connector, DeadLetters, Sink, Source, SparkVersion
from workbench.script._registry import DEAD_LETTERS, SINKS, SOURCES
from workbench.streams import Stream
from workbench.untyped import Record


@dataclass(frozen=True)
class Endpoints:
    """Where a script reads and writes.

    Attributes
    ----------
    source, sink, dead_letters
        The places.
    formats
        The connectors that the streams' own formats need.
    """

    source: Source
    sink: Sink
    dead_letters: DeadLetters | None = None
    formats: tuple[Connector, ...] = ()

    @property
    def places(self) -> tuple[Source | Sink | DeadLetters, ...]:
        """The source, the place for dead letters if there is one, the sink."""
        return (self.source, *([self.dead_letters] if self.dead_letters else []), self.sink)

    @property
    def connectors(self) -> list[Connector]:
        """What they need beside PySpark, each once."""
        needed = [each for place in self.places for each in place.connectors]
        return list(dict.fromkeys((*needed, *self.formats)))

    @property
    def spark(self) -> SparkVersion:
        """The version of Spark that the script is for."""
        return next((each.spark for each in self.connectors if each.spark), SPARK)

    @property
    def coordinates(self) -> str:
        """The packages' coordinates, as ``--packages`` takes them; empty where none are needed."""
        return ",".join(each.coordinates.format(spark=self.spark.number) for each in self.connectors)

    @property
    def imports(self) -> list[str]:
        """Import statements that the texts of the places may need."""
        return [line for part in (*self.places, *self.connectors) for line in part.imports]

    def arguments(self, names: Names) -> Iterator[Argument]:
        """The command-line arguments, with the streams' names in their defaults."""
        targets = [self.dead_letters] if self.dead_letters else []
        parts: list[Connector | Source | Sink | DeadLetters] = [*self.connectors, self.source, self.sink, *targets]
        joined = JOINED.replace("<left>", names.left.var).replace("<right>", names.right.var)
        for each in {each.name: each for part in parts for each in part.arguments}.values():
            default = each.default.replace(JOINED, joined) if isinstance(each.default, str) else each.default
            yield Argument(each.name, default, each.help)

    def variables(self, names: Names, file: str) -> Record:
        """What the templates ask of the places."""
        submit = f"`spark-submit --packages {self.coordinates} {file}`"
        arguments = {each.name: each for each in self.arguments(names)}
        new = {
            "--output": self.sink.fixed_output,
            "--dead-letters": bool(self.dead_letters and self.dead_letters.new_folder),
        }
        return {
            "source": self.source,
            "sink": self.sink,
            "changeable": _checkpoint.changeable(self.sink.fixed_output),
            "fixed": _checkpoint.listed(list(_checkpoint.FIXED), ", or "),
            "listed": _checkpoint.listed,
            "dead_letters": self.dead_letters,
            "connectors": self.connectors,
            "arguments": list(arguments.values()),
            "new_folders": [arguments[name] for name, wanted in new.items() if wanted],
            "spark": self.spark,
            "secrets": ", ".join(each.secrets for each in self.connectors if each.secrets),
            "requirements": [one for each in self.connectors for one in each.requirements],
            "command": submit if self.connectors else f"`python {file}` or `spark-submit {file}`",
        }


def check(left: Stream, right: Stream, source: object, sink: object, dead_letters: object) -> Endpoints:
    """Check where rows come from and go to.

    Raises
    ------
    ArgumentError
        If there is no such place, or if they do not go together.
    """
    one_of("source", source, tuple(SOURCES))
    one_of("sink", sink, tuple(SINKS))
    if dead_letters is not None:
        one_of("dead_letters", dead_letters, tuple(DEAD_LETTERS))
    place = SOURCES[str(source)]
    place.check(left, right, None if dead_letters is None else str(dead_letters))
    target = None if dead_letters is None else DEAD_LETTERS[str(dead_letters)]
    endpoints = Endpoints(place, SINKS[str(sink)], target, place.connectors_for(left, right))
    tied = {each.spark: each.note.rstrip(".") for each in endpoints.connectors if each.spark}
    if len(tied) > 1:
        raise wrong("sink", sink, f"{' and '.join(tied.values())}: use places that go with one version")
    return endpoints
