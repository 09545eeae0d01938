"""Everything that talks to Spark: sessions, queries, and what they leave on the disk."""
