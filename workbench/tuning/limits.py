"""How much work a tuning does before it looks at some of the keys only."""

from __future__ import annotations

__all__ = ["MOST_PAIRS", "MOST_WORK"]

MOST_PAIRS = 5_000_000
"""Pairs of rows with the same key whose time differences are looked at."""
MOST_WORK = 50_000_000
"""Rows times settings, each weighted by what its operator costs."""
