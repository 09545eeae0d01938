"""The sources of scripts, one a file."""

from __future__ import annotations

from workbench.script._places import Source
from workbench.script.sources import files, iceberg, kafka, kafka_avro

__all__ = ["ALL"]

ALL: tuple[Source, ...] = (files.SOURCE, kafka.SOURCE, kafka_avro.SOURCE, iceberg.SOURCE)
