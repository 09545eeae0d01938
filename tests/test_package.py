"""What importing does, what the wheel holds, and what is said where there is no Java."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import psutil
import pytest

import workbench as wb

ROOT = Path(__file__).parent.parent


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


def test_the_wheel_holds_both_packages(tmp_path):
    from hatchling.builders.wheel import WheelBuilder

    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    names = zipfile.ZipFile(wheel).namelist()
    assert {
        "workbench/app/app.css",
        "workbench/app/chart.js",
        "workbench/app/code.js",
        "workbench/LocalFiles.java",
    } <= set(names)
    assert {"workbench/__init__.py", "generators/__init__.py", "workbench/py.typed", "generators/py.typed"} <= set(
        names
    )
    assert not [
        name for name in names if name.split("/")[0] not in ("workbench", "generators") and ".dist-info" not in name
    ]


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
