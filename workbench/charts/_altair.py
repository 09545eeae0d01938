"""Altair, imported in a third of its time.

Altair imports jsonschema, which looks for a checker of each text format. That of internationalised web addresses, which
Jupyter's server brings along, computes its grammar when it is imported: over a second, and no chart has such an
address. While Altair is imported it is not found.
"""

from __future__ import annotations

import sys

from workbench import process

_SLOW = "rfc3987_syntax"

if "jsonschema" not in sys.modules and _SLOW not in sys.modules:
    with process.without_module(_SLOW):
        import altair  # noqa: F401
