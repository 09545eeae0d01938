"""The standard output, for looking."""

from __future__ import annotations

from workbench.script._places import Sink, beside

__all__ = ["SINK"]

SINK = Sink(
    name="console",
    target="the standard output",
    guarantee="no promise",
    reason=": a micro-batch that is done again is printed again",
    template=beside(__file__),
    plain='joined.writeStream.format("console").options(truncate=False, checkpointLocation=args.checkpoint)',
)
