"""Memory for arrays that come and go."""

from __future__ import annotations

import numpy as np

__all__ = ["keep_freed"]

_MOST = 32 * 2**20 - 2**13


def keep_freed() -> None:
    """Have glibc keep memory that arrays leave, up to 64 MB, rather than return it and fetch it again page by page.

    Once a block of up to 32 MB has been freed, blocks of that size come from memory that is kept, twice as much of it
    (mallopt(3), ``M_MMAP_THRESHOLD``: "dynamic adjustment"). This one is never written to, and so takes no memory.
    """
    np.empty(_MOST, dtype=np.uint8)
