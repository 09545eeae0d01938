"""The exported PySpark script: the same plan as the run, with a reader, a sink and arguments around it."""

from __future__ import annotations

END_OF_INPUT_SOURCE = 'END_OF_INPUT = F.lit("2261-01-01 00:00:00").cast("timestamp")\n\n\n'
