"""Altair, imported in a third of its time.

Altair imports jsonschema, which looks for a checker of each text format. That of internationalised web addresses, which
Jupyter's server brings along, works out its grammar when it is imported: over a second, and no chart has such an
address. While Altair is imported it is not found.
"""

from __future__ import annotations

import sys

_SLOW = "rfc3987_syntax"

if "jsonschema" not in sys.modules and _SLOW not in sys.modules:
    sys.modules[_SLOW] = None  # type: ignore[assignment]
    try:
        import altair  # noqa: F401
    finally:
        del sys.modules[_SLOW]
