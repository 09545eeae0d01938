"""Joins that somebody else wrote: what a streaming DataFrame's plan says of them."""

from __future__ import annotations

from workbench.jobs.description import Description, SideDescription, describe

__all__ = ["Description", "SideDescription", "describe"]
