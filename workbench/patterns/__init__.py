"""Patterns: sequences of rows of both streams, described step by step as in Flink's CEP library.

Source of the definitions: https://nightlies.apache.org/flink/flink-docs-stable/docs/libs/cep/
"""

from __future__ import annotations

from workbench.patterns._pattern import MOST_HELD, Pattern, skip_of
from workbench.patterns._reading import read_steps
from workbench.patterns._steps import (
    Contiguity,
    Step,
    followed_by,
    followed_by_any,
    group,
    next,  # noqa: A004 - the word of the field
    not_followed_by,
    not_next,
    step,
)

__all__ = [
    "MOST_HELD",
    "Contiguity",
    "Pattern",
    "Step",
    "followed_by",
    "followed_by_any",
    "group",
    "next",
    "not_followed_by",
    "not_next",
    "read_steps",
    "skip_of",
    "step",
]
