"""Parquet files."""

from __future__ import annotations

from workbench.script._places import Argument, Sink, beside

__all__ = ["SINK"]

SINK = Sink(
    name="parquet",
    target="Parquet files",
    guarantee="exactly once",
    reason=" for readers that go by the log in the folder, as Spark does",
    template=beside(__file__),
    arguments=(Argument("--output", "output", "folder for the joined rows"),),
    fixed_output=True,
    plain='joined.writeStream.format("parquet").options(path=args.output, checkpointLocation=args.checkpoint)',
)
