"""Where the site keeps what takes long to make, for as long as nothing has changed that it is made of."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path

import workbench

HERE = Path(__file__).parent


def kept(name: str, make: Callable[[Path], object]) -> Path:
    """A file or folder that `make` makes, or an earlier build of the same sources has made: whole, or not at all."""
    target = sources_cache() / name
    if not target.exists():
        sources_cache().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=sources_cache()) as folder:
            make(Path(folder) / name)
            with contextlib.suppress(OSError):  # another build was quicker
                (Path(folder) / name).rename(target)
    return target


@functools.cache
def sources_cache() -> Path:
    """The folder of the present sources, those of the package and those that make the site."""
    digest = hashlib.sha256()
    package = Path(workbench.__file__).parent
    for file in (*sorted(HERE.glob("*.py")), *(each for each in sorted(package.rglob("*.*")) if each.suffix != ".pyc")):
        digest.update(file.read_bytes())
    return HERE.parent / "build" / "pages" / digest.hexdigest()[:16]
