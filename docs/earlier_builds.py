"""Where the site keeps what takes long to make, for as long as nothing has changed that it is made of."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

import workbench

HERE = Path(__file__).parent


@functools.cache
def sources_cache() -> Path:
    """The folder of the present sources, those of the package and those that make the site."""
    digest = hashlib.sha256()
    package = Path(workbench.__file__).parent
    for file in (*sorted(HERE.glob("*.py")), *(each for each in sorted(package.rglob("*.*")) if each.suffix != ".pyc")):
        digest.update(file.read_bytes())
    return HERE.parent / "build" / "pages" / digest.hexdigest()[:16]
