"""What the PySpark text of a join is written with: the user's names as quoted literals, conditions, templates."""

from __future__ import annotations

from workbench.plan.names import Names

__all__ = ["IMPORTS", "Names"]

IMPORTS = (
    "import math",
    "import operator",
    "import re",
    "from bisect import bisect_left, bisect_right",
    "from collections import Counter",
    "from decimal import Decimal",
    "from pyspark.sql import Row",
    "from pyspark.sql.streaming import StatefulProcessor",
    "from pyspark.sql.types import ArrayType, BooleanType, LongType, StringType",
    "from pyspark.sql.types import StructField, StructType, TimestampType",
)
"""What the text of a plan may import beside DataFrames and functions."""
