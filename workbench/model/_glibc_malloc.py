"""Memory for arrays that come and go."""

from __future__ import annotations

import numpy as np

__all__ = ["keep_freed"]

_MOST = 32 * 2**20 - 2**13  # below glibc's DEFAULT_MMAP_THRESHOLD_MAX, with malloc's header, in whole pages


def keep_freed() -> None:
    """Have glibc keep the memory of freed arrays, rather than return it and fetch it again page by page.

    Once a block of 32 MB has been freed, glibc takes blocks of up to that size from its heap, and returns free memory
    only where more than 64 MB lie free at the heap's end (mallopt(3), ``M_MMAP_THRESHOLD``: "dynamic adjustment"). That
    is so for the whole process, as it is after any frame of pandas' of that size. This block is never written to, and
    so takes no memory.
    """
    np.empty(_MOST, dtype=np.uint8)
