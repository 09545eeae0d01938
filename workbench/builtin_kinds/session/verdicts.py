"""What session joins say in sentences of the verdicts that all joins with windows share."""

from __future__ import annotations

from workbench.verdicts import NEAR_MISS

__all__ = ["IN_ANOTHER_SESSION"]

# What `near` is filled with.
IN_ANOTHER_SESSION = f"{NEAR_MISS}; {{change}} would put both in one session"
