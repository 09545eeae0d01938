"""What importing does, what the wheel holds, and what is said where there is no Java."""

from __future__ import annotations

import ast
import email
import graphlib
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import grimp
import parts
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
    done = python(f"import sys, workbench; print([name for name in {heavy} if name in sys.modules])")
    assert done.stdout.strip() == "[]", done.stderr


def test_load_ext_begins_with_spark(tmp_path):
    code = "import sys\nfrom IPython.core.interactiveshell import InteractiveShell as I\nshell = I.instance()\n"
    code += "shell.run_line_magic('load_ext', 'workbench')\n"
    code += "import threading\n[each.join(60) for each in threading.enumerate() if each.name.startswith('workbench')]\n"
    code += "from pyspark.sql import SparkSession\nSparkSession.active()\n"
    code += "print('workbench.app' in sys.modules, 'workbench' in shell.magics_manager.magics['line'])"
    done = python(code, IPYTHONDIR=str(tmp_path))
    assert done.stdout.strip() == "True True", done.stderr


def test_load_ext_leaves_no_java_behind_where_the_kernel_dies_at_once(tmp_path):
    code = "import os, time, psutil\nfrom IPython.core.interactiveshell import InteractiveShell as I\nshell = I.instance()\n"
    code += "shell.run_line_magic('load_ext', 'workbench')\nuntil = time.monotonic() + 60\n"
    code += "def java():\n    found = psutil.Process().children(recursive=True)\n"
    code += "    try:\n        if any('org.apache.spark.deploy.SparkSubmit' in each.cmdline() for each in found):\n"
    code += "            return found\n    except psutil.NoSuchProcess:\n        pass\n"  # one has ended since
    code += "while not (found := java()) and time.monotonic() < until:\n    time.sleep(0.05)\n"
    code += "print(*[each.pid for each in found], flush=True)\nos._exit(1)"
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
    done = python("import workbench as wb; print(wb.frames.stream.__name__)")
    assert done.stdout.strip() == "stream", done.stderr


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
        "workbench/session/CompactState.java",
        "workbench/session/LocalFiles.java",
    } <= set(names)
    templates = {str(each.relative_to(ROOT)) for each in (ROOT / "workbench").rglob("*.jinja")}
    assert len(templates) > 20
    assert templates <= set(names)
    assert {str(each.relative_to(ROOT)) for each in (ROOT / "workbench").rglob("*.java")} <= set(names)
    assert {"workbench/__init__.py", "generators/__init__.py", "workbench/py.typed", "generators/py.typed"} <= set(
        names
    )
    assert not [
        name for name in names if name.split("/")[0] not in ("workbench", "generators") and ".dist-info" not in name
    ]


def test_the_metadata_is_complete(wheel):
    with zipfile.ZipFile(wheel) as opened:
        (name,) = [each for each in opened.namelist() if each.endswith("/METADATA")]
        metadata = email.message_from_bytes(opened.read(name))
        assert [each for each in opened.namelist() if each.endswith("/licenses/LICENSE")]
    assert metadata["Name"] == "stream-join-workbench"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Author"]
    assert metadata["Summary"]
    assert {each.split(",")[0] for each in metadata.get_all("Project-URL")} == {
        "Homepage", "Changelog", "Documentation", "Issues",
    }  # fmt: skip
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "# Stream-join workbench" in metadata.get_payload()
    extras = set(metadata.get_all("Provides-Extra"))
    assert {"connect", "delta", "dev", "docs", "flights", "flink", "kafka", "postgresql"} == extras
    packages = {re.split(r"[\[<>=; ]", each)[0] for each in metadata.get_all("Requires-Dist") if "extra ==" not in each}
    assert {"pyspark", "ipywidgets", "jupyterlab", "altair", "faker", "pandas"} <= packages


def test_the_version_is_that_of_the_tag(tmp_path):
    clone = tmp_path / "clone"
    if subprocess.run(["git", "clone", "-q", ROOT, clone], check=False).returncode:
        pytest.skip("no git, or no history")
    subprocess.run(["git", "-C", clone, "tag", "v9.8.7"], check=True)
    assert build(clone, tmp_path).name == "stream_join_workbench-9.8.7-py3-none-any.whl"
    shutil.rmtree(clone / ".git")
    assert build(clone, tmp_path).name == "stream_join_workbench-0.1.0.dev0-py3-none-any.whl"


@pytest.fixture(scope="module")
def with_the_wheel(wheel):
    """A Python with the wheel and what it depends on."""

    def install(python):
        pip(python, "install", wheel)

    def again(python):
        pip(python, "install", "--force-reinstall", "--no-deps", wheel)

    with parts.kept_environment("wheel", install, again) as python:
        pip(python, "check")
        yield python


def bare():
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}


def pip(python, *words):
    command = [python, "-m", "pip", "-q", "--disable-pip-version-check", *words]
    done = subprocess.run(command, env=bare(), cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.family("an environment of its own")
@pytest.mark.slow
def test_the_wheel_runs_a_join_in_an_environment_of_its_own(with_the_wheel, wheel, tmp_path):
    code = (
        "import generators, workbench as wb\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "shell.run_line_magic('load_ext', 'workbench')\n"
        "shell.run_line_magic('workbench', '')\n"
        "run = wb.run(wb.IntervalJoin('0 s', '15 s'), *generators.generate('orders_payments', events=50, seed=1))\n"
        "run.charts.timeline().to_dict()\n"
        "print(wb.__file__, wb.__version__, len(run.output), repr(run.mismatch), 'join_streams' in run.script)\n"
    )
    done = subprocess.run(
        [with_the_wheel, "-c", code],
        env=bare() | {"IPYTHONDIR": str(tmp_path / "ipython")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    file, version, rows, mismatch, script = done.stdout.splitlines()[-1].split(" ")
    assert str(Path(with_the_wheel).parents[1]) in file
    assert version == wheel.name.split("-")[1]
    assert int(rows) > 20
    assert mismatch == "''"
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
        ("1.8.0_412", "is Java 8. Spark 4.3 needs Java 17 or later: on Debian or Ubuntu `sudo apt-get install"),
        ("11.0.2", "is Java 11. Spark 4.3 needs"),
        ("25.0.1", ""),
        ("17.0.15", ""),
        ("21", ""),
    ],
)
def test_a_wrong_java_is_one_line(tmp_path, version, words):
    done = subprocess.run(
        [sys.executable, "-m", "workbench.session"],
        capture_output=True,
        text=True,
        env=os.environ | {"JAVA_HOME": fake_java(tmp_path, version)},
        cwd=ROOT,
        check=False,
    )
    assert bool(done.returncode) == bool(words)
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == bool(words)


def test_a_missing_java_is_one_line(tmp_path):
    code = "import workbench as wb\ntry:\n    wb.spark()\nexcept wb.JavaError as error:\n    print(error)"
    for environment, words in (
        ({"PATH": str(tmp_path), "JAVA_HOME": ""}, "no Java found. Spark 4.3 needs Java 17 or later"),
        ({"PATH": str(tmp_path), "JAVA_HOME": str(tmp_path)}, f"JAVA_HOME is {tmp_path}, where there is no bin/java"),
    ):
        done = python(code, **environment)
        assert words in done.stdout, done.stderr
        assert len(done.stdout.splitlines()) == 1


def test_every_public_module_says_what_is_public():
    found = {}
    for path in sorted((ROOT / "workbench").rglob("*.py")):
        inner = path.relative_to(ROOT / "workbench")
        names = [part for part in inner.with_suffix("").parts if part != "__init__"]
        if names and "examples" not in names and not any(name.startswith("_") for name in names):
            tree = ast.parse(path.read_text())
            listed = [ast.literal_eval(node.value) for node in tree.body if ast.unparse(node).startswith("__all__ = ")]
            defined = {
                node.name
                for node in tree.body
                if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
            }
            only_a_docstring = len(tree.body) == 1
            if not only_a_docstring and (len(listed) != 1 or not defined <= set(listed[0])):
                found[str(inner)] = listed
    assert not found


def test_no_modules_import_each_other_in_a_circle():
    graph = grimp.build_graph("workbench", "generators", exclude_type_checking_imports=False, cache_dir=None)
    imported = {each: graph.find_modules_directly_imported_by(each) - {each} for each in graph.modules}
    imported["workbench"] = set()  # the public names, each imported when it is first used
    graphlib.TopologicalSorter(imported).prepare()  # raises CycleError, naming the modules
    assert len(imported) > 100


def test_what_may_be_left_out_of_a_call_is_given_by_name():
    """Beyond five arguments nobody knows an argument by its place."""
    long = []
    for path in sorted((ROOT / "workbench").rglob("[!_]*.py")) + sorted((ROOT / "workbench").rglob("__init__.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                given = [
                    each.arg for each in (*node.args.posonlyargs, *node.args.args) if each.arg not in ("self", "cls")
                ]
                if len(given) > 5:
                    long.append(f"{path.relative_to(ROOT)}: {node.name}({', '.join(given)})")
    assert not long


def test_a_leading_underscore_means_private_to_a_folder():
    """Only the package itself, whose names are imported when they are first used, reaches into its folders."""
    found = []
    for path in sorted((ROOT / "workbench").rglob("*.py")):
        here = path.relative_to(ROOT).parts[:-1]
        if path == ROOT / "workbench" / "__init__.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{each.name}" for each in node.names]
            elif isinstance(node, ast.Import):
                names = [each.name for each in node.names]
            else:
                continue
            for words in (name.split(".") for name in names):
                private = [place for place, part in enumerate(words) if re.fullmatch(r"_[a-z]\w*", part)]
                if words[0] == "workbench" and private and here[: private[0]] != tuple(words[: private[0]]):
                    found.append(f"{path.relative_to(ROOT)}: {'.'.join(words)}")
    assert not found


def test_the_tree_in_the_architecture_page_is_the_tree():
    text = (ROOT / "docs" / "architecture.md").read_text()
    top = {each.name + "/" * each.is_dir() for each in (ROOT / "workbench").iterdir() if each.name[0] not in "_."}
    top -= {"py.typed"}
    missing = [each for each in sorted(top) if f"`workbench/{each}`" not in text and f"`{each}`" not in text]
    assert not missing


def test_text_is_read_and_written_in_utf_8_whatever_the_locale():
    """The linter finds this only where it knows that something is a path."""
    faults = []
    for package in ("workbench", "generators"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                name = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
                if name in ("read_text", "write_text") and "encoding" not in {each.arg for each in node.keywords}:
                    faults.append(f"{path}:{node.lineno}")
    assert faults == []
