"""What a change touches: from the files that git says changed, over the graph of imports, to the files of tests."""

from __future__ import annotations

import ast
import functools
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

import platformdirs

ROOT = Path(__file__).parents[1]
PACKAGES = ("workbench", "generators")
WHOLE = "workbench"
"""What a test is of that stands in no package's folder: two imports away from every module."""
PASSED = Path(platformdirs.user_cache_dir("stream-join-workbench-tests")) / "passed"
"""The last commit that a whole run on this machine passed."""
_DAY = 86_400
PLACES = {
    "notebooks/": ("tests/project/test_notebooks.py",),
    "binder/": ("tests/project/test_binder.py",),
    "docs/": ("tests/project/test_docs.py", "tests/project/test_error_page.py"),
    "README.md": ("tests/project/test_docs.py", "tests/project/test_package.py", "tests/project/test_dev.py"),
    "CONTRIBUTING.md": ("tests/project/test_dev.py",),
    "pyproject.toml": ("tests/project/test_package.py",),
    "dev.py": ("tests/project/test_dev.py",),
    ".ci/": ("tests/project/test_dev.py",),
    ".github/": ("tests/project/test_matrix.py",),
}
"""Tests of what is no module, by the beginning of a file's path."""


def base(asked: str | None) -> str:
    """The commit that a change is counted from: the one that was asked for, the last that passed here, or yesterday's.

    ``WORKBENCH_SINCE`` names it for a workflow that knows the commit before.
    """
    named = asked or os.environ.get("WORKBENCH_SINCE") or ""
    if not named and PASSED.exists():
        named = PASSED.read_text().strip()
    if named and _git("merge-base", "--is-ancestor", named, "HEAD") is not None:
        return named
    if asked:
        raise SystemExit(f"--since: got {asked!r}, which is no commit before HEAD; give one, such as HEAD~1")
    made = int(_git("log", "-1", "--format=%ct") or 0)
    return _git("rev-list", "-1", f"--before={made - _DAY}", "HEAD") or "HEAD"


def changed(since: str) -> list[str]:
    """The files that differ from a commit, those that git does not know yet included."""
    listed = [_git("diff", "--name-only", since), _git("ls-files", "--others", "--exclude-standard")]
    return sorted({line for text in listed for line in (text or "").splitlines()})


def note_passed() -> None:
    """Note the commit of a whole run that passed, if it is what was tested."""
    head = _git("rev-parse", "HEAD")
    if head and not _git("status", "--porcelain"):
        PASSED.parent.mkdir(parents=True, exist_ok=True)
        PASSED.write_text(head)


def _git(*words: str) -> str | None:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


class Touched:
    """How far each file of tests is from a change."""

    def __init__(self, files: Iterable[str]) -> None:
        self.files = list(files)
        modules = {module for file in self.files if (module := module_of(file))}
        self._modules = distances(modules) if modules else {}
        self._helpers = {file for file in self.files if file.startswith("tests/") and file.endswith(".py")}
        self._others = {
            test for file in self.files for place, tests in PLACES.items() if file.startswith(place) for test in tests
        }

    @functools.cache  # noqa: B019 - lives as long as a run
    def distance(self, file: str) -> int | None:
        """0: the change is in the file, in what it imports of the tests, or in the package that it tests; then imports."""
        if file in self.files or file in self._others or self._helpers & helpers_of(file):
            return 0
        package = package_of(file)
        if package == WHOLE:
            return 2 if self._modules else None
        found = [far for module, far in self._modules.items() if module == package or module.startswith(package + ".")]
        return min(found, default=None)


def module_of(file: str) -> str | None:
    """The module that a file is, if it is one of the packages; a template or a script is its folder's."""
    path = Path(file)
    if path.parts[0] not in PACKAGES:
        return None
    parts = [*path.parts[:-1], path.stem] if path.suffix == ".py" and path.stem != "__init__" else path.parts[:-1]
    return ".".join(parts)


def package_of(file: str) -> str:
    """What a file of tests is of: the package that its folder mirrors; of ``tests/workbench/test_x.py`` the whole."""
    folder = Path(file).parent
    parts = folder.parts[1:] if folder.parts[:1] == ("tests",) else folder.parts
    if parts == ("workbench",):
        name = Path(file).stem.removeprefix("test_")
        return f"workbench.{name}" if any((ROOT / "workbench").glob(f"{name}*")) else WHOLE
    return ".".join(parts) if parts[:1] in ((name,) for name in PACKAGES) else WHOLE


def distances(modules: set[str]) -> dict[str, int]:
    """How many imports lie between each module and the nearest that changed; those that import none are left out."""
    import grimp

    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    found = dict.fromkeys(modules, 0)
    border, far = modules & graph.modules, 0
    while border:
        far += 1
        border = {user for module in border for user in graph.find_modules_that_directly_import(module)} - set(found)
        found |= dict.fromkeys(border, far)
    return found


@functools.cache
def helpers_of(file: str) -> frozenset[str]:
    """The files of the tests that a file of tests imports, and those that these import; conftest.py is everybody's."""
    path = ROOT / file
    if path.suffix != ".py" or not path.exists():
        return frozenset()
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            for folder in (path.parent, ROOT / "tests"):
                helper = folder / f"{name}.py"
                if helper.exists() and helper != path:
                    found |= {str(helper.relative_to(ROOT)), *helpers_of(str(helper.relative_to(ROOT)))}
    return frozenset(found)
