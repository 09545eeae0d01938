"""The workbench's own queries on Spark: how they are started and followed; their state, logs and files."""
