"""What importing does, what the wheel holds, and what is said where there is no Java."""

from __future__ import annotations

import email
import os
import re
import shutil
import subprocess
import sys
import time
import venv
import zipfile
from pathlib import Path

import psutil
import pytest

import workbench as wb

ROOT = Path(__file__).parents[2]


def python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        check=False,
        cwd=ROOT,
    )


def test_import_loads_nothing_heavy():
    heavy = ("pyspark", "altair", "ipywidgets", "pandas", "numpy", "pyarrow", "black", "jinja2", "IPython")
    told = python(f"import sys, workbench; print([name for name in {heavy} if name in sys.modules])")
    assert told.stdout.strip() == "[]", told.stderr


def test_load_ext_is_quick_and_begins_with_spark(tmp_path):
    code = "import sys, time\nfrom IPython.core.interactiveshell import InteractiveShell as I\nshell = I.instance()\n"
    code += "begun = time.perf_counter()\nshell.run_line_magic('load_ext', 'workbench')\n"
    code += "took = time.perf_counter() - begun\n"
    code += "import threading\n[each.join(60) for each in threading.enumerate() if each.name.startswith('workbench')]\n"
    code += "from pyspark.sql import SparkSession\nSparkSession.active()\n"
    code += "print(took < 1, 'workbench.app' in sys.modules, 'workbench' in shell.magics_manager.magics['line'])"
    told = python(code, IPYTHONDIR=str(tmp_path))
    assert told.stdout.strip() == "True True True", told.stderr


def test_load_ext_leaves_no_java_behind_where_the_kernel_dies_at_once(tmp_path):
    code = "import os, time, psutil\nfrom IPython.core.interactiveshell import InteractiveShell as I\nshell = I.instance()\n"
    code += "shell.run_line_magic('load_ext', 'workbench')\ntime.sleep(1)\n"
    code += "print(*[each.pid for each in psutil.Process().children(recursive=True)], flush=True)\nos._exit(1)"
    children = [int(each) for each in python(code, IPYTHONDIR=str(tmp_path)).stdout.split()]
    assert children
    until = time.monotonic() + 30
    while any(psutil.pid_exists(each) for each in children) and time.monotonic() < until:
        time.sleep(0.2)
    assert not [each for each in children if psutil.pid_exists(each)]


def test_every_public_name_is_there():
    for name in wb.__all__:
        assert getattr(wb, name) is not None
    assert set(wb.__all__) <= set(dir(wb))
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        _ = wb.nope


def test_frames_is_there_without_being_imported():
    told = python("import workbench as wb; print(wb.frames.stream.__name__)")
    assert told.stdout.strip() == "stream", told.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build(ROOT, tmp_path_factory.mktemp("wheel"))


def build(source, folder):
    code = "import sys; from hatchling.builders.wheel import WheelBuilder as W; "
    code += "print(*W(sys.argv[1]).build(directory=sys.argv[2], versions=['standard']))"
    done = subprocess.run([sys.executable, "-c", code, source, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.split()[-1])


def test_the_wheel_holds_both_packages(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {
        "workbench/app/app.css",
        "workbench/app/chart.js",
        "workbench/app/code.js",
        "workbench/LocalFiles.java",
    } <= set(names)
    templates = {str(each.relative_to(ROOT)) for each in (ROOT / "workbench").rglob("*.jinja")}
    assert len(templates) > 20
    assert templates <= set(names)
    assert {"workbench/__init__.py", "generators/__init__.py", "workbench/py.typed", "generators/py.typed"} <= set(
        names
    )
    assert not [
        name for name in names if name.split("/")[0] not in ("workbench", "generators") and ".dist-info" not in name
    ]


def test_the_metadata_is_complete(wheel):
    with zipfile.ZipFile(wheel) as opened:
        (name,) = [each for each in opened.namelist() if each.endswith("/METADATA")]
        told = email.message_from_bytes(opened.read(name))
        assert [each for each in opened.namelist() if each.endswith("/licenses/LICENSE")]
    assert told["Name"] == "stream-join-workbench"
    assert told["License-Expression"] == "Apache-2.0"
    assert told["Requires-Python"] == ">=3.11"
    assert told["Author"]
    assert told["Summary"]
    assert {each.split(",")[0] for each in told.get_all("Project-URL")} == {
        "Homepage", "Changelog", "Documentation", "Issues",
    }  # fmt: skip
    assert told["Description-Content-Type"] == "text/markdown"
    assert "# Stream-join workbench" in told.get_payload()
    extras = set(told.get_all("Provides-Extra"))
    assert {"connect", "delta", "dev", "docs", "flights", "kafka", "postgresql"} == extras
    packages = {re.split(r"[\[<>=; ]", each)[0] for each in told.get_all("Requires-Dist") if "extra ==" not in each}
    assert {"pyspark", "ipywidgets", "jupyterlab", "altair", "faker", "pandas"} <= packages


def test_the_version_is_that_of_the_tag(tmp_path):
    clone = tmp_path / "clone"
    if subprocess.run(["git", "clone", "-q", ROOT, clone], check=False).returncode:
        pytest.skip("no git, or no history")
    subprocess.run(["git", "-C", clone, "tag", "v9.8.7"], check=True)
    assert build(clone, tmp_path).name == "stream_join_workbench-9.8.7-py3-none-any.whl"
    shutil.rmtree(clone / ".git")
    assert build(clone, tmp_path).name == "stream_join_workbench-0.1.0.dev0-py3-none-any.whl"


def test_the_wheel_runs_a_join_in_an_empty_environment(wheel, tmp_path):
    home = tmp_path / "venv"
    venv.create(home, with_pip=True)
    interpreter = home / "bin" / "python"
    bare = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    for words in (["install", "-q", "--disable-pip-version-check", wheel], ["check"]):
        done = subprocess.run(
            [interpreter, "-m", "pip", *words], env=bare, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    code = (
        "import generators, workbench as wb\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "shell.run_line_magic('load_ext', 'workbench')\n"
        "shell.run_line_magic('workbench', '')\n"
        "run = wb.run(wb.IntervalJoin('0 s', '15 s'), *generators.generate('orders_payments', events=50, seed=1))\n"
        "run.charts.timeline().to_dict()\n"
        "print(wb.__file__, wb.__version__, len(run.output), repr(run.fault), 'join_streams' in run.script)\n"
    )
    done = subprocess.run(
        [interpreter, "-c", code],
        env=bare | {"IPYTHONDIR": str(tmp_path / "ipython")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    file, version, rows, fault, script = done.stdout.splitlines()[-1].split(" ")
    assert str(home) in file
    assert version == wheel.name.split("-")[1]
    assert int(rows) > 20
    assert fault == "''"
    assert script == "True"


def fake_java(folder, version):
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(0o755)
    return str(folder)


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("1.8.0_412", "is Java 8. Spark 4.3 needs Java 17 or 21: on Debian or Ubuntu `sudo apt-get install"),
        ("11.0.2", "is Java 11. Spark 4.3 needs"),
        ("25.0.1", "is Java 25. Spark 4.3 needs"),
        ("17.0.15", ""),
        ("21", ""),
    ],
)
def test_a_wrong_java_is_one_line(tmp_path, version, words):
    told = subprocess.run(
        [sys.executable, "-m", "workbench.session"],
        capture_output=True,
        text=True,
        env=os.environ | {"JAVA_HOME": fake_java(tmp_path, version)},
        cwd=ROOT,
        check=False,
    )
    assert bool(told.returncode) == bool(words)
    assert words in told.stderr
    assert len(told.stderr.splitlines()) == bool(words)


def test_a_missing_java_is_one_line(tmp_path):
    code = "import workbench as wb\ntry:\n    wb.spark()\nexcept wb.JavaError as error:\n    print(error)"
    for environment, words in (
        ({"PATH": str(tmp_path), "JAVA_HOME": ""}, "no Java found. Spark 4.3 needs Java 17 or 21"),
        ({"PATH": str(tmp_path), "JAVA_HOME": str(tmp_path)}, f"JAVA_HOME is {tmp_path}, where there is no bin/java"),
    ):
        told = python(code, **environment)
        assert words in told.stdout, told.stderr
        assert len(told.stdout.splitlines()) == 1
