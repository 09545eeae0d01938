"""The marks of unmatched rows: for each obstacle a small shape, the same in charts, in the band, and in reports."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType

from workbench.literals import OBSTACLES, Obstacle

__all__ = ["GLYPHS", "Glyph", "of_each", "paths"]


@dataclass(frozen=True)
class Glyph:
    """The mark of one obstacle.

    Attributes
    ----------
    path
        Its shape as an SVG path around 0, from -1 to 1, as Vega takes it, too.
    words
        What it says.
    shade
        The colour in which its rows are counted; the palest has an edge in the colour of the fate.
    """

    path: str
    words: str
    shade: str


GLYPHS = MappingProxyType[Obstacle, Glyph](
    {
        "key": Glyph("M0,-1L1,0L0,1L-1,0ZM0,-.55L-.55,0L0,.55L.55,0Z", "key on one stream only", "#edd29b"),
        "earlier": Glyph("M.75,-.95L.75,.95L-.95,0Z", "nearest row earlier", "#a35f00"),
        "later": Glyph("M-.75,-.95L-.75,.95L.95,0Z", "nearest row later", "#6e3b00"),
        "late": Glyph("M-.8,-.95L.8,-.95L-.8,.95L.8,.95Z", "watermark had passed", "#8a8070"),
        "condition": Glyph("M-1,-.9L1,-.9L.25,.05L.25,.95L-.25,.95L-.25,.05Z", "condition or filter", "#3f3f24"),
        "other": Glyph("M0,-1L1,0L0,1L-1,0Z", "another cause", "#c98300"),
    }
)
"""By obstacle: hollow, an arrow toward the nearest row, an hourglass, a funnel, and what an unmatched row is else."""


def of_each(found: Iterable[str]) -> list[Obstacle]:
    """Which obstacles there are among some, in the order in which they are shown."""
    known = set(found)
    return [each for each in OBSTACLES if each in known]


def paths(found: Iterable[str]) -> list[str]:
    """The glyphs of some rows that have one cause in common, as SVG paths; none where no row is unmatched."""
    return [GLYPHS[each].path for each in of_each(found)]
