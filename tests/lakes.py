"""Tables of Delta Lake and of Iceberg, each on the newest Spark that they are built for."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlparse

import deltalake
import fastavro
import parts
import pyarrow as pa
import pyarrow.parquet as pq
import scripts


@dataclass(frozen=True)
class Lake:
    """A format of tables: its version of Spark, its jars, what a session needs for it."""

    format: str
    spark: str
    one_file: str
    """The option of a stream by which a micro-batch takes one file."""

    def environment(self, folder: Path) -> dict[str, str]:
        """An environment in which Spark has the tables of a folder; a table's name is that of its folder in it."""
        jars = parts.real(lambda: parts.jars(self.format))
        over = parts.with_pyspark(self.spark, Path(__file__).parent)
        return scripts.environment(folder, [jars], over, **self.settings(folder))

    def settings(self, folder: Path) -> dict[str, str]:
        if self.format == "delta":
            return scripts.SMALL_DELTA | {
                "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
                "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
            }
        return {
            "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.lake.type": "hadoop",
            "spark.sql.catalog.lake.warehouse": str(folder / "lake"),
        }

    def table(self, folder: Path, name: str) -> str:
        """A table as Spark is given it."""
        return str(folder / name) if self.format == "delta" else f"lake.shop.{name}"


DELTA = Lake("delta", "4.2", "maxFilesPerTrigger")
ICEBERG = Lake("iceberg", "4.1", "streaming-max-files-per-micro-batch")


def rows(lake: Lake, folder: Path, name: str) -> list[dict[str, object]]:
    """The rows of a table, without Spark."""
    if lake is DELTA:
        return deltalake.DeltaTable(str(folder / name)).to_pyarrow_table().to_pylist()
    return iceberg_rows(folder / "lake" / "shop" / name)


def iceberg_rows(folder: Path) -> list[dict[str, object]]:
    """The rows of a table of Iceberg's format 2, of which nothing was deleted, by its own metadata."""
    files = [_local(each["data_file"]["file_path"]) for manifest in _manifests(folder) for each in _avro(manifest)]
    return pa.concat_tables([pq.read_table(file) for file in files]).to_pylist() if files else []


def _manifests(folder: Path) -> list[Path]:
    hint = folder / "metadata" / "version-hint.text"
    if not hint.exists():
        return []
    about = json.loads((folder / "metadata" / f"v{hint.read_text().strip()}.metadata.json").read_text())
    now = [each for each in about["snapshots"] if each["snapshot-id"] == about["current-snapshot-id"]]
    return [_local(each["manifest_path"]) for one in now for each in _avro(_local(one["manifest-list"]))]


def _avro(file: Path) -> list[dict[str, object]]:
    return list(fastavro.reader(io.BytesIO(file.read_bytes())))


def _local(address: str) -> Path:
    return Path(urlparse(address).path)
