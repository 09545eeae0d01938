"""Classes of the JVM by their names, each looked up once.

Py4J asks the JVM for every part of a name such as ``jvm.org.apache.spark.sql.functions``, and for every static member,
each time it is written: that is more than half of all that a small job asks of the JVM.
"""

from __future__ import annotations

import functools

from workbench.untyped import JavaObject

__all__ = ["new", "static"]


@functools.cache
def new(java: JavaObject, name: str) -> JavaObject:
    """A class of the JVM, which makes an object when it is called.

    Parameters
    ----------
    java
        The view of the JVM that a session has: one for as long as the process lives.
    name
        The whole name.
    """
    from py4j.java_gateway import JavaClass  # when needed: PySpark is slow to import

    return JavaClass(name, java._gateway_client)


@functools.cache
def static(java: JavaObject, name: str, member: str) -> JavaObject:
    """A static method of a class, or the value of a static field that does not change, as `new` takes its name."""
    return getattr(new(java, name), member)
