"""The same recording under many settings, and what to look at before any run."""

from workbench.tuning._advice import Advice, advise, advised
from workbench.tuning._result import BYTES_ERROR, Best, Tuning
from workbench.tuning._tune import MOST_SETTINGS, tune, tuned

__all__ = ["BYTES_ERROR", "MOST_SETTINGS", "Advice", "Best", "Tuning", "advise", "advised", "tune", "tuned"]
