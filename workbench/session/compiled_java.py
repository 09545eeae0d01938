"""Java sources of this package, compiled by the compiler that Spark brings."""

from __future__ import annotations

from importlib.resources import files

from workbench.untyped import JavaObject

__all__ = ["compiled"]


def compiled(jvm: JavaObject, source: str, parent: JavaObject) -> JavaObject:
    """A Janino ``SimpleCompiler`` that has compiled a file of this package, under a class loader of a JVM's."""
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(parent)
    compiler.cook(files("workbench.session").joinpath(source).read_text(encoding="utf-8"))
    return compiler
