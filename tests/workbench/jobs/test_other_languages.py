"""Jobs in Java, in Scala, in SQL and of a declarative pipeline: the recipes of docs/open-a-job.md, run as they stand.

Each job has the rows of the page's first example, runs on Spark, and is held to what that example says of them.
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from pathlib import Path

import pyspark
import pytest
import scripts
from pyspark.sql import DataFrame, SparkSession

import workbench as wb

PAGE = Path(__file__).parents[3] / "docs" / "open-a-job.md"
JARS = Path(pyspark.__file__).parent / "jars"
FENCES = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
FATES = ["matched", "unmatched", "matched", "matched", "pending", "matched", "matched", "matched", "late"]
SCALA_CELL = """
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.{{col, expr}}
import org.apache.spark.sql.streaming.Trigger

object Cell {{
  def run(spark: SparkSession, home: String) = {{
    {cell}
  }}
}}
"""


def blocks(text, language):
    return [block for fence, block in FENCES.findall(text) if fence == language]


def section(title):
    [found] = re.findall(rf"^## {title}\n(.*?)^## ", PAGE.read_text(), re.M | re.S)
    return found


RECIPES = section("Jobs in other languages")
OF_JAVA, OF_VIEW, OF_SQL, PIPELINE, OF_PIPELINE = blocks(RECIPES, "py")


@pytest.fixture
def space(spark, tmp_path, monkeypatch):
    """The variables of the page's first example, in a folder of its own, before its job runs."""
    monkeypatch.chdir(tmp_path)
    found = {}
    exec(blocks(PAGE.read_text(), "python")[0].partition("\nquery = ")[0], found)
    return found


def check(job):
    assert job.join == wb.IntervalJoin("0 seconds", "15 seconds", how="left")
    assert list(job.rows.fate) == FATES
    assert list(job.late.id) == ["o-2"]
    assert len(job.output) == 4  # three pairs, and the order without a partner
    assert (job.missing, job.unknown) == ((), ())
    assert job.mismatches.empty, job.mismatches.to_string()


@pytest.fixture
def in_java(space, javac, tmp_path):
    """The class of the page, in a jar."""
    [source] = blocks(RECIPES, "java")
    (tmp_path / "PaidOrders.java").write_text(source)
    path = ":".join(map(str, JARS.glob("s*.jar")))  # Spark and Scala
    command = [javac, "-proc:none", "-cp", path, "-d", tmp_path / "classes", tmp_path / "PaidOrders.java"]
    subprocess.run(command, check=True)
    packed = shutil.make_archive(str(tmp_path / "shop"), "zip", tmp_path / "classes")
    shutil.move(packed, space["home"] / "shop.jar")
    return space


def test_a_job_in_java(in_java):
    spark, home = in_java["spark"], in_java["home"]
    spark.sql(f"ADD JAR '{home}/shop.jar'")
    jobs = spark._jvm.shop.PaidOrders
    started = jobs.start(spark._jsparkSession, str(home))
    started.awaitTermination()
    exec(OF_JAVA, in_java)
    check(in_java["job"])
    assert list(wb.open_job(started).late.id) == ["o-2"]
    built = in_java["built"]
    built.createOrReplaceTempView("paid_in_java")
    for same in (built, DataFrame(built, spark), spark.table("paid_in_java")):
        assert wb.describe(same).join == in_java["job"].join


@pytest.mark.nightly  # for the time that Scala's compiler takes; a view is made in the test of Java, too
def test_a_temporary_view_of_a_scala_cell(space, tmp_path):
    spark = space["spark"]
    compiler = spark._jvm.scala.tools.nsc.Main
    [cell] = blocks(RECIPES, "scala")
    (tmp_path / "Cell.scala").write_text(SCALA_CELL.format(cell=cell))
    path = ":".join(map(str, JARS.glob("s*.jar")))
    words = ["-cp", path, "-d", f"{tmp_path}/cell.jar", f"{tmp_path}/Cell.scala"]
    arguments = spark.sparkContext._gateway.new_array(spark._jvm.java.lang.String, len(words))
    for place, word in enumerate(words):
        arguments[place] = word
    assert compiler.process(arguments)
    spark.sql(f"ADD JAR '{tmp_path}/cell.jar'")
    spark._jvm.Cell.run(spark._jsparkSession, str(space["home"])).awaitTermination()
    exec(OF_VIEW, space)
    check(space["job"])


def test_sql_over_temporary_views(space):
    exec(OF_SQL, space)
    check(space["job"])


# --- declarative pipelines --------------------------------------------------------------------------------------------


@pytest.fixture
def shop(space):
    """The pipeline's folder, /data/shop on the page, with the page's files in it."""
    pytest.importorskip("pyspark.pipelines", reason="pipelines came with Spark 4.1")
    home = space["home"]
    (home / "transformations").mkdir()
    (home / "transformations" / "shop.py").write_text(in_folder(home, PIPELINE))
    (home / "spark-pipeline.yml").write_text(in_folder(home, *blocks(RECIPES, "yaml")))
    conf = SparkSession.active().conf
    before = conf.get("spark.sql.shuffle.partitions")
    conf.set("spark.sql.shuffle.partitions", "2")  # as the pipeline's own file says
    yield home
    conf.set("spark.sql.shuffle.partitions", before)


def in_folder(home, text):
    return text.replace("/data/shop", str(home))


def test_the_flow_of_a_pipeline(space, shop):
    """Its function gives in a classic session what the query of the flow runs: here this session runs it, too."""
    flows = wb.flows(shop / "transformations" / "shop.py")
    assert list(flows) == ["orders", "payments", "paid"]
    for name in ("orders", "payments"):
        flows[name]().createOrReplaceTempView(name)
    checkpoint = shop / "storage" / "_checkpoints" / "spark_catalog" / "default" / "paid" / "paid" / "0"
    query = flows["paid"]().writeStream.format("noop").option("checkpointLocation", str(checkpoint))
    query.trigger(availableNow=True).start().awaitTermination()
    exec(in_folder(shop, OF_PIPELINE), space)
    check(space["job"])


FROM_TABLES = """

@dp.table
def old_orders():
    return arriving("orders")


@dp.table
def old_payments():
    return arriving("payments")


@dp.table
def met():
    return spark.sql('''
        SELECT o.id, o.at AS ordered_at, p.at AS paid_at
        FROM STREAM old_orders WATERMARK at DELAY OF INTERVAL 10 SECONDS AS o
        JOIN STREAM old_payments WATERMARK at DELAY OF INTERVAL 10 SECONDS AS p
        ON o.id = p.id AND p.at BETWEEN o.at AND o.at + INTERVAL 15 SECONDS
    ''')
"""
SET_AT_ONCE = """

@dp.table
def refused():
    return spark.readStream.table("old_orders").withWatermark("at", "10 seconds")
"""


@pytest.mark.nightly
@pytest.mark.engine
def test_a_pipeline_that_ran(space, shop, connect_port):
    """What ``spark-pipelines`` ran is opened by the page's recipe; a flow of tables by views of their folders."""
    file = shop / "transformations" / "shop.py"
    file.write_text(file.read_text() + FROM_TABLES)
    code, said = scripts.run_pipeline(shop / "spark-pipeline.yml", shop)
    assert code == 0, said[-3000:]
    exec(in_folder(shop, OF_PIPELINE), space)
    check(space["job"])
    flows = space["flows"]
    job = wb.open_job(flows["paid"](), checkpoint=space["checkpoint"], output=shop / "warehouse" / "paid")
    check(job)
    assert job.comparison.differences[2] == 0
    for name in ("old_orders", "old_payments"):
        table = SparkSession.active().readStream.schema("id string, at timestamp")
        table.parquet(str(shop / "warehouse" / name)).createOrReplaceTempView(name)
    job = wb.open_job(flows["met"](), checkpoint=space["checkpoint"].replace("paid/paid", "met/met"))
    assert job.join == wb.IntervalJoin("0 seconds", "15 seconds")
    assert len(job.output) == 4  # all in one micro-batch, in which nothing is late
    assert (job.missing, job.unknown, len(job.mismatches)) == ((), (), 0)


@pytest.mark.nightly
@pytest.mark.engine
def test_a_watermark_on_a_table_of_the_same_pipeline_is_refused_by_spark(shop, connect_port):
    file = shop / "transformations" / "shop.py"
    file.write_text(file.read_text() + FROM_TABLES + SET_AT_ONCE)
    code, said = scripts.run_pipeline(shop / "spark-pipeline.yml", shop)
    assert code
    assert "TABLE_OR_VIEW_NOT_FOUND" in said


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("there_is_none.py", "give a file in Python that is there"),
        ("shop.sql", r"of a flow in SQL, give its SELECT to spark\.sql"),
        ("", "give a file in Python that is there"),
    ],
)
def test_a_file_that_has_no_flows(tmp_path, name, remedy):
    with pytest.raises(wb.ArgumentError, match=rf"^file: got .*; {remedy}"):
        wb.flows(tmp_path / name)


# --- what is no streaming DataFrame -----------------------------------------------------------------------------------


WRONG = {
    "a batch Dataset": (lambda spark: spark.range(3)._jdf, "a DataFrame that is not streaming"),
    "an object": (lambda spark: spark._jvm.java.util.ArrayList(), r"java\.util\.ArrayList.*before writeStream"),
    "a session": (lambda spark: spark._jsparkSession, r"SparkSession.*before writeStream"),
    "a class": (lambda spark: spark._jvm.java.util.ArrayList, "a JavaClass.*before writeStream"),
    "a method": (lambda spark: spark.range(3)._jdf.toDF, "a JavaMember.*before writeStream"),
    "a class that is not there": (lambda spark: spark._jvm.nowhere.Job, r"nowhere\.Job, of which.*ADD JAR"),
    "a text of SQL": (lambda spark: "SELECT 1", r"of SQL text spark\.sql\(…\) makes one"),
    "a function": (lambda spark: lambda: spark.range(3), "of a function that makes one, what it returns"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_streaming_dataframe(spark, name):
    made, words = WRONG[name]
    for called in (
        wb.describe,
        functools.partial(wb.open_job, checkpoint="x"),
        functools.partial(wb.watch, checkpoint="x"),
    ):
        with pytest.raises(wb.ArgumentError, match=f"^joined: got .*{words}"):
            called(made(spark))
