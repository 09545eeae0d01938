"""Tests of streaming code: the user's own function, run for exactly these micro-batches.

>>> from workbench.testing import micro_batches
>>> micro_batches("id string, at timestamp", [("o-1", "10:00:00")], [], [("o-2", "10:05:00")])
MicroBatches('id string, at timestamp', 3 micro-batches)
"""

from workbench.testing._played import Fate, Played, observers
from workbench.testing._playing import play
from workbench.testing.fixtures import Fixture, load
from workbench.testing.rows import MicroBatches, micro_batches
from workbench.testing.values import DAY

__all__ = ["DAY", "Fate", "Fixture", "MicroBatches", "Played", "load", "micro_batches", "observers", "play"]
