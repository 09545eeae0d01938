"""Patterns: sequences of rows of both sides, in order of event time."""
