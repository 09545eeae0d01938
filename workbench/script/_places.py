"""Where an exported script reads from and writes to, and what each place promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.plan import Names

SOURCES = {
    "files": "folders of files, each file taken once, in order of modification time.",
    "kafka": "Kafka topics, from their beginning; the values are JSON objects of a stream's columns.",
    "kafka-avro": "Kafka topics, from their beginning; the values are Avro records of a stream's columns.",
}
"""What a script can read, and how."""

SINKS = {
    "parquet": "Parquet files, each row exactly once for readers that go by the log in the folder, as Spark does.",
    "delta": (
        "a Delta table, each row exactly once: a commit notes the query and the micro-batch it is of. Delta Lake 4.4.0 "
        "needs Spark 4.2."
    ),
    "kafka": "a Kafka topic, each row at least once; a repeated row has the same id, by which `read_once` drops it.",
    "console": "the standard output; a micro-batch that is done again is printed again.",
    "postgresql": "a PostgreSQL table, each row exactly once: a row's id is its primary key, inserted if it is new.",
    "postgresql-transaction": (
        "a PostgreSQL table, each row exactly once: a micro-batch is written ahead, then moved in one transaction "
        "with a note of its number."
    ),
}
"""Where a script can write, and what that place promises after failures and restarts."""

LATE = {
    "parquet": "rows that come late or cannot be read, as Parquet files in --late, a folder for each micro-batch.",
    "kafka": "rows that come late or cannot be read, to the topic --late, at least once, with an id in the headers.",
}
"""Where a script can write the rows that the join drops."""

_SPARK, _SPARK_OF_DELTA = "4.3.0", "4.2.1"  # Delta Lake 4.4.0 calls what Spark 4.3 changed
_PACKAGES = {
    "kafka": "org.apache.spark:spark-sql-kafka-0-10_2.13:{spark}",
    "avro": "org.apache.spark:spark-avro_2.13:{spark}",
    "postgresql": "org.postgresql:postgresql:42.7.8",
    "delta": "io.delta:delta-spark_4.2_2.13:4.4.0",
}


@dataclass(frozen=True)
class Places:
    """A source, a sink, and a place for what is dropped.

    Attributes
    ----------
    source, sink, late
        As in `workbench.export`, the source without its kind of value.
    formats
        Of the files of both sides.
    """

    source: str
    sink: str
    late: str | None
    formats: tuple[str, str] = ("parquet", "parquet")

    @property
    def needs(self) -> list[str]:
        """The packages for Spark: some of kafka, avro, postgresql, delta."""
        wanted = {
            "kafka": "kafka" in (self.source.split("-")[0], self.sink, self.late),
            "avro": self.source == "kafka-avro",
            "postgresql": self.sink.startswith("postgresql"),
            "delta": self.sink == "delta" or (self.source == "files" and "delta" in self.formats),
        }
        return [name for name, wants in wanted.items() if wants]

    @property
    def coordinates(self) -> str:
        """The packages' coordinates, as ``--packages`` takes them; empty where none are needed."""
        return ",".join(_PACKAGES[name].format(spark=self.spark) for name in self.needs)

    @property
    def spark(self) -> str:
        """The version of Spark that the script is for."""
        return _SPARK_OF_DELTA if "delta" in self.needs else _SPARK

    def words(self, names: Names, file: str) -> dict[str, Any]:
        """What the templates ask of the places."""
        needs = self.needs
        submit = f"`spark-submit --packages {self.coordinates} {file}`"
        secrets = ["KAFKA_SASL_JAAS_CONFIG and other KAFKA_… options of security"] if "kafka" in needs else []
        secrets += ["PGPASSWORD"] if "postgresql" in needs else []
        return {
            "source": self.source.split("-")[0],
            "avro": "avro" in needs,
            "kafka": "kafka" in needs,
            "database": "postgresql" in needs,
            "delta": "delta" in needs,
            "sink": self.sink,
            "sink_file": f"sink_{self.sink.split('-')[0]}.jinja",
            "late": self.late,
            "identified": self.sink in ("kafka", "postgresql") or self.late == "kafka",
            "from_words": SOURCES[self.source],
            "to_words": SINKS[self.sink],
            "late_words": LATE[self.late] if self.late else "",
            "source_words": self.source,
            "spark_version": "pyspark>=4.2,<4.3" if "delta" in needs else "pyspark>=4.3,<4.4",
            "secrets": ", ".join(secrets),
            "command": submit if needs else f"`python {file}` or `spark-submit {file}`",
            "trigger": "10 seconds" if self.source != "files" else "available-now",
        }
