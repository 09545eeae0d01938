"""A run as one file for others: figures, reasons, the stories of the rows that were not matched, settings, the script.

It needs neither a network nor Python: `_page` puts HTML, a style sheet, the page's chart script and the report's own
into one file whose Content-Security-Policy forbids all else; `_rows` chooses what there is room for.
"""

from __future__ import annotations

from workbench.report._page import LIMIT, write
from workbench.report._rows import unmatched

__all__ = ["LIMIT", "unmatched", "write"]
