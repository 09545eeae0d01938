"""Running exported scripts: in a process of their own as users do, or their functions in the tests' own session."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import itertools
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pyspark
import quick_java

import workbench as wb
from workbench import script
from workbench.kinds import kind_of
from workbench.session import state_store

JSON_TIMES = "%Y-%m-%dT%H:%M:%S.%fZ"


SMALL_DELTA = {"spark.databricks.delta.snapshotPartitions": "1"}
"""Delta reads its own log in every micro-batch, with fifty tasks else."""


def environment(folder, jars=(), over=None, **settings):
    """An environment whose Spark has these jars, starts quickly and is quiet; over another, such as one with another Spark."""
    found = [str(jar) for each in jars for jar in sorted(Path(each).glob("*.jar"))]
    lines = {
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",
        "spark.log.level": "ERROR",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.adaptive.enabled": "false",
        **({"spark.jars": ",".join(found)} if found else {}),
        **settings,
    }
    file = Path(folder) / "spark.properties"
    file.write_text("".join(f"{name} {value}\n" for name, value in lines.items()))
    words = f"--properties-file {shlex.quote(str(file))} pyspark-shell"
    quiet = {"PYSPARK_SUBMIT_ARGS": words, "PYSPARK_PYTHON": sys.executable, "PYTHONWARNINGS": "ignore"}
    return (over or os.environ) | quiet


def run_pipeline(spec, folder):
    """Run a declarative pipeline by ``spark-pipelines``, with its tables in ``warehouse`` of a folder: code, and output."""
    home, warehouse = Path(pyspark.__file__).parent, Path(folder) / "warehouse"
    env = environment(folder, **{"spark.sql.warehouse.dir": warehouse})
    del env["PYSPARK_SUBMIT_ARGS"]
    running = subprocess.Popen(
        [home / "bin" / "spark-pipelines", "run", "--spec", spec, "--conf", f"spark.sql.warehouse.dir={warehouse}"],
        env=env | {"SPARK_HOME": str(home), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder, start_new_session=True,
    )  # fmt: skip
    try:
        said, _ = running.communicate(timeout=240)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)  # the server that it started, too
    return running.returncode, said


def of_delta(folder, delta):
    """The same for Delta Lake's own Python and jars, as the fixture `delta` gives them."""
    python, jars = delta
    over = os.environ | quick_java.variable(quick_java.classes(python))
    return environment(folder, [jars], over, **SMALL_DELTA) | {"PYSPARK_PYTHON": python}


def places_that_go_together(left, right):
    """Each source, sink and target of dead letters that a script may have at once."""
    found = []
    for places in itertools.product(script.SOURCES, script.SINKS, [None, *script.DEAD_LETTERS]):
        with contextlib.suppress(wb.ArgumentError):
            script.check(left, right, *places)
            found.append(places)
    return found


def beside(file):
    """The folder that a script, or a project, is in."""
    return Path(file).parent.parent if Path(file).name == "main.py" else Path(file).parent


def start(file, *arguments, env=None, launcher=(sys.executable,)):
    """Start a script in the folder that it, or its project, is in; what it prints goes to files beside it."""
    home = beside(file)
    env = env or environment(home)
    if Path(launcher[0]).name == "spark-submit":  # which does not look for PySpark's words
        launcher = (*launcher, *shlex.split(env["PYSPARK_SUBMIT_ARGS"])[:-1])
    with Path(f"{file}.out").open("a") as out, Path(f"{file}.err").open("a") as err:
        return subprocess.Popen(
            [*launcher, str(file), *map(str, arguments)],
            cwd=home,
            env=env,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            stdout=out,
            stderr=err,
        )


def kill(running):
    """Kill a script and its JVM, at once."""
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()


def ended(running, seconds):
    """The exit code of a script at its end; what takes too long is killed."""
    try:
        return running.wait(seconds)
    except subprocess.TimeoutExpired:
        kill(running)
        return "too long"


def run(file, *arguments, seconds=240, **more):
    """Run a script to its end; gives its log lines."""
    code = ended(start(file, *arguments, **more), seconds)
    assert code == 0, Path(f"{file}.err").read_text()[-3000:]
    return lines(file)


def lines(file):
    return [json.loads(line) for line in Path(f"{file}.out").read_text().splitlines() if line.startswith("{")]


MODULES = ("join", "draining", "sources", "operations", "sinks", "dead_letters")


def module(file):
    """A script, or the module of a project that is started, with those that it imports, as one name space."""
    folder, before = str(Path(file).parent), {name: sys.modules.pop(name, None) for name in MODULES}
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location(Path(file).stem, file)
        made = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made)
        for name in MODULES:
            if name in sys.modules and Path(sys.modules[name].__file__).parent == Path(folder):
                for each, value in vars(sys.modules[name]).items():
                    vars(made).setdefault(each, value)
    finally:
        sys.path.remove(folder)
        for name, value in before.items():
            sys.modules.pop(name, None)
            if value is not None:
                sys.modules[name] = value
    return made


def job(run, folder, **places):
    """A project of a run, in a folder of this folder; of a preview its modules only; gives what is started."""
    if isinstance(run, wb.Run):
        return wb.export(run, folder / "job", **places)
    given = {"source": "files", "sink": "parquet", "dead_letters": None} | places
    endpoints = script.check(run.left, run.right, **given)
    (folder / "job").mkdir(parents=True, exist_ok=True)
    for name, text in script.project(run.join, run.left, run.right, run.policy, endpoints).items():
        if name.endswith(".py") and "/" not in name:
            (folder / "job" / name).write_text(text)
    return folder / "job" / script.MAIN


def arguments(made, **given):
    """A script's arguments, with its defaults."""
    before, sys.argv = sys.argv, ["main.py"]
    try:
        return argparse.Namespace(**vars(made.parse_args()) | given)
    finally:
        sys.argv = before


def own_session(spark, **settings):
    """A session for a script's functions."""
    own = spark.newSession()
    for name, value in {"spark.sql.shuffle.partitions": "1", "spark.sql.session.timeZone": "UTC", **settings}.items():
        own.conf.set(name, value)
    return own


def run_here(spark, run, folder, **given):
    """The script's own functions, in the tests' session."""
    made = module(job(run, folder, dead_letters="parquet"))
    places = {name: str(folder / name) for name in ("output", "checkpoint", "dead_letters")}
    extra = {"drain": True} if run.finish else {"trigger": "available-now"}
    store = {state_store.SETTING: state_store.ROCKSDB} if kind_of(run.join).operator.is_processor else {}
    own = own_session(spark, **{"spark.sql.files.ignoreCorruptFiles": "true"}, **store)
    run_as_main(made, own, arguments(made, **places | extra | given))
    return own


def written_here(spark, run, folder):
    """The rows that a run's script writes, and those of the run, sorted, without their micro-batch."""
    found = run_here(spark, run, folder).read.parquet(str(folder / "output")).toPandas()
    columns = [name for name in run.output if name != "batch"]
    found = found[columns].astype(run.output.dtypes[columns].to_dict())
    return tuple(sorted(map(repr, each.itertuples(index=False))) for each in (found, run.output[columns]))


def run_as_main(made, spark, args):
    """What a script's main does in a session of its own, in this one."""
    made.check_checkpoint(spark, args, {})
    made.run(spark, args)


def dead_letters(spark, folder):
    return spark.read.parquet(str(folder / "dead_letters")).toPandas()


def late_of(run):
    """A run's late rows as (stream, batch, window end, watermark, row)."""
    named = {"left": "orders", "right": "payments"}
    found = []
    for each in run.late.to_dict("records"):
        side = run.left if each["side"] == "left" else run.right
        row = {name: _text(each[name]) for name in side.columns if not pd.isna(each[name])}
        found.append((named[each["side"]], each["batch"], _text(each.get("window_end")), _text(each["watermark"]), row))
    return sorted(found, key=repr)


def late_in(found):
    return sorted(
        (
            (
                each["stream"],
                each["batch"],
                _text(each["window"] and each["window"]["end"]),
                _text(each["watermark"]),
                json.loads(each["row"]),
            )
            for each in found[found["why"] == "late"].to_dict("records")
        ),
        key=repr,
    )


def _text(value):
    if value is None or value is pd.NaT:
        return None
    if hasattr(value, "year"):
        moment = pd.Timestamp(value)
        moment = moment.tz_convert("UTC").tz_localize(None) if moment.tz is not None else moment
        return moment.strftime(JSON_TIMES)
    return value


def wait_for(found, seconds=60):
    """Wait until something is there, looking often."""
    end = time.monotonic() + seconds
    while not (it := found()):
        if time.monotonic() > end:
            raise TimeoutError(found)
        time.sleep(0.001)
    return it
