"""What introduces a kind of join where it is chosen: a sentence and a small moving picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from workbench.kinds._inputs import J

__all__ = ["Introduction", "Sketch", "Stretch"]


@dataclass(frozen=True)
class Stretch:
    """A stretch of event time in a `Sketch`: a window, what a row reaches, or how long a rule is in force.

    Attributes
    ----------
    start, end
        In the units of the rows' times; what lies beyond 0 or 10 is cut off.
    text
        What is written in it.
    """

    start: float
    end: float
    text: str = ""


@dataclass(frozen=True)
class Sketch:
    """A few rows of one key, and what a kind of join makes of them.

    Attributes
    ----------
    sentence
        What the kind does.
    left, right
        The event times of the rows, from 0 to 10.
    pairs
        Which left row is paired with which right row, by their places.
    spans
        What decides it.
    """

    sentence: str
    left: tuple[float, ...]
    right: tuple[float, ...]
    pairs: tuple[tuple[int, int], ...] = ()
    spans: tuple[Stretch, ...] = ()


class Introduction(Generic[J]):
    """What introduces a kind; the page asks for it when the kind is chosen.

    Attributes
    ----------
    scenario
        A scenario of generated streams that its example joins.
    sketch
        What it does, as a sentence and as a picture; None: only its fields say it.
    """

    scenario: str = "orders_payments"
    sketch: Sketch | None = None
