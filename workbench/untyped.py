"""Names for what has no type that Python can check, each with the reason why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "AltairChart",
    "Argument",
    "Build",
    "Change",
    "JavaObject",
    "Json",
    "Namespace",
    "Record",
    "Series",
    "SparkObject",
    "Value",
]

Json: TypeAlias = Mapping[str, Any]
"""A JSON object of Spark's, or of a log: what it has depends on the version that wrote it."""
Record: TypeAlias = dict[str, Any]
"""Values by name, such as those that fill a template or a row: each has a type of its own."""
Namespace: TypeAlias = dict[str, Any]
"""The variables of a notebook."""
JavaObject: TypeAlias = Any
"""An object of the JVM: Py4J's proxies get their members when they are called."""
SparkObject: TypeAlias = Any
"""A session, DataFrame or query, of classic Spark or of Spark Connect: these have no class in common."""
AltairChart: TypeAlias = Any
"""A chart of Altair's: what its methods return depends on what it is made of."""
Value: TypeAlias = Any
"""A value of a user's column, of a setting or of an input: of any type."""
Argument: TypeAlias = Any
"""An argument as a user gives it: of any type until it is checked, and refused in a sentence."""
Build: TypeAlias = Callable[..., Any]
"""A user's function that makes a streaming DataFrame of some streams: what it takes is known when it is called."""
Change: TypeAlias = Any
"""What a widget tells of a change: a bunch whose members depend on the trait."""
Series: TypeAlias = "pd.Series[Any]"
"""A column of a frame: pandas' stubs know the type of its values in a few cases only."""
