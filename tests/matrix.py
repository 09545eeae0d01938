"""The quick tests on every Python and Java of the workflow's matrix: ``python3 dev.py matrix``.

``.github/workflows/tests.yml`` names the combinations. Each Python has an environment of its own, ``.venv-3.12``. A Python
is looked for on the PATH and among those of pyenv, a Java in ``JAVA_HOME_21``, ``JAVA_HOME_21_X64``, ``JAVA_HOME`` and where systems
keep them. Further arguments go to pytest. It ends with exit code 1 if a combination failed, or could not be tried.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
WORKFLOW = ROOT / ".github" / "workflows" / "tests.yml"


def combinations() -> list[tuple[str, str]]:
    """Each Python and Java of the workflow."""
    matrix = yaml.safe_load(WORKFLOW.read_text())["jobs"]["quick"]["strategy"]["matrix"]
    return [(python, java) for python in matrix["python"] for java in matrix["java"]]


def python_of(version: str) -> str | None:
    """An interpreter of a minor version, if there is one."""
    own = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    found = [shutil.which(f"python{version}"), *sorted(map(str, own.glob(f"{version}.*/bin/python")), reverse=True)]
    return next((each for each in found if each and f"Python {version}." in _says(each, "--version")), None)


def java_of(version: str) -> str | None:
    """The home of a Java of a major version, if there is one."""
    return next((each for each in _homes(version) if _is_java(each, version)), None)


def _homes(version: str) -> Iterator[str]:
    for name in (f"JAVA_HOME_{version}", f"JAVA_HOME_{version}_X64", "JAVA_HOME"):
        if os.environ.get(name):
            yield os.environ[name]
    for folder in ("/usr/lib/jvm", "~/.sdkman/candidates/java", "/Library/Java/JavaVirtualMachines"):
        for each in sorted(Path(folder).expanduser().glob(f"*{version}*")):
            yield str(each / "Contents" / "Home" if (each / "Contents").exists() else each)


def _is_java(home: str, version: str) -> bool:
    return bool(re.search(rf'version "{version}\b', _says(str(Path(home) / "bin" / "java"), "-version")))


def _says(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def main(words: list[str]) -> int:
    """Run them all; 1 if one failed or is missing."""
    told = {}
    for version, java in combinations():
        python, home = python_of(version), java_of(java)
        name = f"Python {version}, Java {java}"
        print(f"\n{name}", flush=True)
        if python is None or home is None:
            told[name] = f"not run: no {f'Python {version}' if python is None else f'Java {java}'} found"
            continue
        env = os.environ | {"JAVA_HOME": home, "WORKBENCH_VENV": f".venv-{version}"}
        done = subprocess.run([python, "dev.py", "test", *words], cwd=ROOT, env=env, check=False)
        told[name] = f"failed with exit code {done.returncode}" if done.returncode else "passed"
    print("", *(f"{name}: {result}" for name, result in told.items()), sep="\n")
    return int(any(result != "passed" for result in told.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
