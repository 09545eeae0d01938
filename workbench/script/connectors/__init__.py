"""What scripts need beside PySpark: connectors, what they are asked and what they ask of the environment."""

from __future__ import annotations

from workbench.script._places import Argument, Connector, Requirement, SparkVersion, beside

__all__ = ["AVRO", "DELTA", "ICEBERG", "KAFKA", "POSTGRESQL"]

KAFKA = Connector(
    label="Spark's connector for Kafka",
    coordinates="org.apache.spark:spark-sql-kafka-0-10_2.13:{spark}",
    secrets="KAFKA_SASL_JAAS_CONFIG and other KAFKA_… options of security",
    arguments=(Argument("--brokers", "localhost:9092", "Kafka's bootstrap servers"),),
    template=beside(__file__.replace("__init__", "kafka")),
)
AVRO = Connector(
    label="Spark's reader of Avro",
    coordinates="org.apache.spark:spark-avro_2.13:{spark}",
    imports=("from pyspark.sql.avro.functions import from_avro",),
)
POSTGRESQL = Connector(
    label="PostgreSQL's driver for Java",
    coordinates="org.postgresql:postgresql:42.7.8",
    secrets="PGPASSWORD",
    requirements=(Requirement("psycopg", "psycopg[binary]>=3.2", "the transactions of the sink"),),
    imports=(
        "import getpass",
        "from urllib.parse import quote",
        "import psycopg",
        "from psycopg.conninfo import conninfo_to_dict",
        "from psycopg.pq import Conninfo",
        "from psycopg.sql import SQL, Identifier",
    ),
)
DELTA = Connector(
    label="Delta Lake 4.4.0",
    coordinates="io.delta:delta-spark_4.2_2.13:4.4.0",
    spark=SparkVersion("4.2.1", "pyspark>=4.2,<4.3"),  # it calls what Spark 4.3 changed
    settings=(
        ("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension"),
        ("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"),
    ),
)
ICEBERG = Connector(
    label="Iceberg 1.12.0",
    coordinates="org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
    spark=SparkVersion("4.1.4", "pyspark>=4.1,<4.2"),  # the newest that it is built for
)
