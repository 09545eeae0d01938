"""Spark's file systems, errors and the end of its queries; nothing here knows of joins."""
