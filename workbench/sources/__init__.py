"""Where the rows of a stream come from: one module a place, each of which gives `Recorded` rows.

`Memory` and `Files` say of a `Stream` where it came from. Nothing heavy is imported here.
"""

from workbench.sources._source import FORMATS, MALFORMED, Files, Format, Malformed, Memory, Source

__all__ = ["FORMATS", "MALFORMED", "Files", "Format", "Malformed", "Memory", "Source"]
