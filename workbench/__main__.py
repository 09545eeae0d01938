"""``python -m workbench``: what the workbench does without a notebook."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from workbench.jobs import check_command, commands
from workbench.testing import diffing

__all__ = ["main"]


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(commands.FAILED, f"{self.prog}: {message}; --help lists the arguments\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code.

    Parameters
    ----------
    arguments
        As on the command line; None: those of this process.
    """
    parser = _Parser(prog="python -m workbench", description=__doc__, allow_abbrev=False)
    names = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    words = "the health of a job: late rows, wait, state, an idle side, skew of keys, known faults of Spark"
    check = names.add_parser("check", help=words, description=words, allow_abbrev=False)
    check_command.add_arguments(check)
    check.set_defaults(run=check_command.check)
    words = "rows of a fixture that fare otherwise under changed code, by kind of difference"
    diff = names.add_parser("diff", help=words, description=words, allow_abbrev=False)
    diffing.add_arguments(diff)
    diff.set_defaults(run=diffing.diff)
    given = parser.parse_args(arguments)
    code: int = given.run(given)
    return code


if __name__ == "__main__":
    sys.exit(main())
