"""What the workbench needs beside a Spark and a Jupyter that are there: ``python -m workbench.requirements``.

On a cluster, or in an image that brings its own PySpark, nothing may replace that PySpark. There the workbench is
installed without its dependencies, and then those that this command names, one a line, as a requirements file::

    pip install --no-deps stream-join-workbench
    python -m workbench.requirements > requirements.txt
    pip install -r requirements.txt

Words after the command are extras, such as ``kafka``.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Collection
from importlib.metadata import PackageNotFoundError, metadata, requires

__all__ = ["BROUGHT", "main", "without"]

_PACKAGE = "stream-join-workbench"
BROUGHT = ("pyspark", "jupyterlab")
"""What the environment brings."""


def without(brought: Collection[str] = BROUGHT, extras: Collection[str] = ()) -> list[str]:
    """The requirements of the workbench and of some of its extras, without what is there already.

    Parameters
    ----------
    brought
        Packages to leave out, by name.
    extras
        Extras of the workbench to take in.

    Raises
    ------
    importlib.metadata.PackageNotFoundError
        If the workbench is not installed.

    Examples
    --------
    >>> [each for each in without() if each.startswith(("pyspark", "pandas"))]
    ['pandas<3,>=2.2']
    """
    found = []
    for each in requires(_PACKAGE) or ():
        wanted, _, marker = each.partition(";")
        extra = re.search(r"""extra == ["']([^"']+)""", marker)
        name = re.match(r"[\w.-]+", wanted)
        if name and name[0] not in (*brought, _PACKAGE) and (extra is None or extra[1] in extras):
            found.append(wanted.strip())
    return found


def main(words: list[str]) -> str | int:
    """Print the requirements; what is wrong with the words, or 0."""
    parser = argparse.ArgumentParser(prog="python -m workbench.requirements", description=__doc__.splitlines()[0])
    parser.add_argument("extras", nargs="*", help="extras of the workbench to take in, such as kafka")
    try:
        known = metadata(_PACKAGE).get_all("Provides-Extra") or []
    except PackageNotFoundError:
        return f"{_PACKAGE} is not installed; begin with pip install --no-deps {_PACKAGE}"
    extras = [each for word in parser.parse_args(words).extras for each in word.split(",") if each]
    if wrong := [each for each in extras if each not in known]:
        return f"{wrong[0]!r} is no extra; there are {', '.join(known)}"
    print("\n".join(without(extras=extras)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
