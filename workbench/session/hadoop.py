"""What Hadoop costs a local session, and how it is spared. Only the workbench's own session is changed.

Profiles of runs of 200 rows showed two costs beside Spark's own: the `Configuration` of 1,100 entries, written out and
compressed entry by entry for every stage, every scan and, while a join is planned, every copy of its node: a third of
the run; and some 90 processes forked in a run to `chmod` a new file: another fifth.
"""

from __future__ import annotations

import re

from workbench.session.compiled_java import compiled
from workbench.untyped import JavaObject

__all__ = ["trim", "use_local_files"]


_FILE_SYSTEMS = re.compile(r"fs\.(AbstractFileSystem\.)?\w+\.impl")


def use_local_files(jvm: JavaObject) -> None:
    """Have Hadoop take `LocalFiles.java` for ``file:``, compiled by the compiler that Spark brings.

    Hadoop keeps one file system a scheme and user: the first one asked for.
    """
    compiler = compiled(jvm, "LocalFiles.java", jvm.java.lang.Thread.currentThread().getContextClassLoader())
    configuration = jvm.org.apache.hadoop.conf.Configuration()
    configuration.setClassLoader(compiler.getClassLoader())
    configuration.set("fs.file.impl", "workbench.LocalFiles")
    jvm.org.apache.hadoop.fs.FileSystem.get(jvm.java.net.URI("file:///"), configuration)


def trim(jvm: JavaObject, configuration: JavaObject) -> None:
    """Take Hadoop's defaults out of a configuration: where an entry is missing, the same default is in Hadoop's code.

    Which class serves which file system is in these defaults only, and stays.
    """
    # each of these adds its defaults to every configuration when it is loaded: now, not after the trimming
    jvm.org.apache.hadoop.mapreduce.util.ConfigUtil.loadResources()
    jvm.org.apache.hadoop.hdfs.HdfsConfiguration.init()
    jvm.java.lang.Class.forName("org.apache.hadoop.mapred.JobConf")
    kept = {}
    entries = configuration.iterator()
    while entries.hasNext():
        entry = entries.next()
        name = entry.getKey()
        source = configuration.getPropertySources(name)
        if _FILE_SYSTEMS.fullmatch(name) or source is None or not source[0].endswith("-default.xml"):
            kept[name] = entry.getValue()
    configuration.clear()
    for name, value in kept.items():
        configuration.set(name, value)
