"""The workbench in an environment that has its own Spark, which nothing replaces, and in a session with settings of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import parts
import pytest
import quick_java

from workbench import requirements, spark_versions

ROOT = Path(__file__).parents[2]
OLDEST = spark_versions.OLDEST.minor

RUN = """
import json
import pyspark
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").appName("theirs").getOrCreate()
import generators
import workbench as wb

run = wb.run(wb.IntervalJoin("0 s", "15 s", how="left"), *generators.generate("orders_payments", events=40, seed=2))
told = {"spark": spark.version, "from": pyspark.__file__, "app": run.execution.spark.sparkContext.appName}
told |= {"rows": len(run.output), "mismatch": run.mismatch, "versions": dict(run.execution.versions)}
print(json.dumps(told))
"""

SETTINGS = {
    "spark.default.parallelism": "5",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "false",
    "spark.sql.execution.arrow.useLargeVarTypes": "true",
    "spark.sql.files.ignoreMissingFiles": "true",
    "spark.sql.files.maxPartitionBytes": "1000",
    "spark.sql.files.maxRecordsPerFile": "3",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.parquet.int96RebaseModeInWrite": "EXCEPTION",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MILLIS",
    "spark.sql.session.timeZone": "America/New_York",
    "spark.sql.shuffle.partitions": "7",
    "spark.sql.sources.default": "orc",
    "spark.sql.streaming.aggregation.stateFormatVersion": "1",
    "spark.sql.streaming.commitProtocolClass": (
        "org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol"
    ),
    "spark.sql.streaming.fileSink.log.compactInterval": "2",
    "spark.sql.streaming.join.stateFormatVersion": "1",
    "spark.sql.streaming.minBatchesToRetain": "2",
    "spark.sql.streaming.multipleWatermarkPolicy": "max",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.numRecentProgressUpdates": "3",
    "spark.sql.streaming.stateStore.encodingFormat": "avro",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
}
"""Settings under which Spark gives other rows, another state, or an error, if a query takes them over."""

RUNS = """
import json
import sys
import warnings
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
for name, value in json.loads(sys.argv[1]).items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
before = dict(spark.conf.getAll)
import generators
import workbench as wb

sides = generators.generate("orders_payments", events=80, batches=5, seed=2)
joins = [
    wb.IntervalJoin("0 s", "15 s", how="full"),
    wb.IntervalJoin("0 s", "15 s", how="semi"),
    wb.WindowJoin(wb.Sliding("10 s", "5 s"), how="left"),
    wb.WindowJoin(wb.Session("5 s")),
    wb.CoGroup(wb.Tumbling("10 s")),
]
told = {}
for join in joins:
    run = wb.run(join, *sides)
    told[repr(join)] = [run.mismatch, int(run.compare(every_state=True).differences.sum()), len(run.output)]
found = wb.session_settings(spark, policy="max").set_index("setting")
told = {"told": told, "kept": dict(spark.conf.getAll) == before, "settings": found.to_dict("index")}
print(json.dumps(told))
"""


@pytest.mark.engine
def test_a_session_is_used_whatever_its_settings():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUNS, json.dumps(SETTINGS)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert len(told["told"]) == 5
    assert all(each[:2] == ["", 0] and each[2] > 20 for each in told["told"].values()), told
    assert told["kept"]
    same = {"spark.default.parallelism", "spark.sql.sources.default", "spark.sql.streaming.multipleWatermarkPolicy"}
    assert set(SETTINGS) - set(told["settings"]) == same
    of = told["settings"]["spark.sql.streaming.noDataMicroBatches.enabled"]
    assert (of["session"], of["run"]) == ("false", "true")
    assert of["meaning"].startswith("your job evicts and pads what a watermark has passed when the next rows arrive")
    assert told["settings"]["spark.sql.streaming.aggregation.stateFormatVersion"]["run"] == "Spark's default"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder, ROOT]
    subprocess.run(build, check=True)
    [made] = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def clusters_spark(tmp_path_factory):
    """A PySpark as clusters bring it: on Python's path, and no installer knows of it."""
    brought = parts.real(lambda: parts.pyspark(OLDEST))
    folder = tmp_path_factory.mktemp("spark") / "python"
    folder.mkdir()
    for name in ("pyspark", "py4j"):
        (folder / name).symlink_to(brought / name)
    return folder


@pytest.mark.family("an environment of its own")
@pytest.mark.slow
def test_the_spark_of_a_cluster_stays(wheel, clusters_spark, tmp_path):
    """The three commands of docs/your-environment.md, in an environment without anything else."""
    env = quick_java.without(os.environ) | {"PYTHONPATH": str(clusters_spark)}

    def run(python, *words):
        done = subprocess.run([python, *words], capture_output=True, text=True, env=env, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    def install(python):
        run(python, "-m", "pip", "install", "-q", "--no-deps", wheel)
        (tmp_path / "requirements.txt").write_text(run(python, "-m", "workbench.requirements"))
        run(python, "-m", "pip", "install", "-q", "-r", "requirements.txt")

    def again(python):
        run(python, "-m", "pip", "install", "-q", "--no-deps", "--force-reinstall", wheel)

    with parts.kept_environment("cluster", install, again) as python:
        names = {each["name"] for each in json.loads(run(python, "-m", "pip", "list", "--format", "json"))}
        assert {"altair", "pandas", "stream-join-workbench"} <= names
        assert not {"pyspark", "jupyterlab"} & names
        told = json.loads(run(python, "-W", "ignore", "-c", RUN).splitlines()[-1])
        prepared = run(python, "-m", "workbench.prepare").strip()
    assert told["from"].startswith(str(clusters_spark))
    assert told["spark"] == told["versions"]["pyspark"]
    assert told["spark"].startswith(f"{OLDEST}.")
    assert told["app"] == "theirs"
    assert (told["rows"], told["mismatch"]) == (40, "")
    assert prepared.endswith(".jsa")


@pytest.mark.family("an environment of its own")
@pytest.mark.slow
def test_pip_keeps_a_pyspark_that_it_has_installed(wheel, tmp_path):
    venv.create(tmp_path / "env", with_pip=True)
    brought = parts.real(lambda: parts.pyspark(OLDEST))
    done = subprocess.run(
        [tmp_path / "env" / "bin" / "python", "-m", "pip", "install", "--dry-run", "--report", "report", wheel],
        capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(brought)}, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    names = {each["metadata"]["name"] for each in json.loads((tmp_path / "report").read_text())["install"]}
    assert "altair" in names
    assert "pyspark" not in names


def test_what_is_needed_beside_spark_and_jupyter(capsys):
    assert requirements.main([]) == 0
    plain = capsys.readouterr().out.splitlines()
    assert not [each for each in plain if each.startswith(("pyspark", "jupyterlab", "stream-join", "confluent"))]
    assert "pandas<3,>=2.2" in plain
    assert requirements.main(["kafka"]) == 0
    assert {each.split(">")[0] for each in set(capsys.readouterr().out.splitlines()) - set(plain)} == {
        "confluent-kafka",
        "fastavro",
    }
    both = capsys.readouterr() and requirements.main(["kafka,delta"]), capsys.readouterr().out
    assert both[0] == 0
    assert "deltalake" in both[1]
    with pytest.raises(SystemExit, match="0"):
        requirements.main(["--help"])
    assert requirements.main(["nix"]).startswith("'nix' is no extra; there are connect, ")


def test_the_version_is_that_of_the_pyspark_on_the_path(clusters_spark):
    code = "from workbench import spark_versions; print(spark_versions.installed())"
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(clusters_spark), str(ROOT)])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
    assert done.stdout.startswith(f"{OLDEST}."), done.stderr
