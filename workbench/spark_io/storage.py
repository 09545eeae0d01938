"""Temporary folders where both this process and Spark's executors reach them: HDFS, object stores, a shared disk.

A folder on a remote file system has a local copy. What the workbench writes is written there and sent; what Spark
wrote is fetched. Files go by way of the session's own file systems, so no second set of credentials is needed:
through Hadoop's API where the session has a JVM beside it, else (Spark Connect) by queries that write the rows of a
file and read files as bytes.
"""

from __future__ import annotations

import os
import platform
import re
import tempfile
import threading
import uuid
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote, urlparse

import psutil
import pyarrow.parquet as pq

from workbench.errors import ArgumentError, QueryError, WorkbenchError, wrong
from workbench.spark_io.cause import spark_errors_as
from workbench.spark_io.frames import of_arrow
from workbench.spark_io.scratch import PREFIX, Scratch, is_readable
from workbench.untyped import JavaObject

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["EXAMPLES", "HadoopFiles", "Place", "RemoteScratch", "check_folder", "host", "is_local", "is_remote", "make"]

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(///|/{1,3}[\w.=@:+~-][\w./=@:+~-]*)")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+:)/")  # two letters at least: C: is a drive
_GLOB = set("*?[]{}\\" if os.name == "posix" else "*?[]{}")
EXAMPLES = "/shared/scratch, hdfs:///tmp/scratch or s3a://bucket/scratch"
"""Folders that executors on other machines reach."""
_NO_SAVEPOINTS = (
    "a checkpoint on a remote file system cannot be copied over Spark Connect, so there are no savepoints of it; run "
    "it without folder=, or in a session that is not Spark Connect's"
)


class Place(Protocol):
    """A temporary folder: `Scratch` or `RemoteScratch`.

    Attributes
    ----------
    path
        Where this process reads and writes it.
    has_logs
        Whether the logs that Spark writes in it can be read; else the rows of the output have to say themselves when
        their micro-batch began.
    """

    path: Path

    @property
    def has_logs(self) -> bool:
        """Whether the logs that Spark writes in it can be read."""

    @property
    def address(self) -> str:
        """The folder as Spark is given it."""

    @property
    def logged(self) -> str:
        """The folder as Spark's logs write it, up to the names in it."""

    def send(self) -> None:
        """Make what was written to `path` known to Spark."""

    def fetch(self, part: str) -> Path:
        """A part of the folder as a path of this machine, with all that Spark has written there so far."""

    def remove(self) -> None:
        """Remove the folder now."""


def check_folder(folder: object) -> str | None:
    """A folder as a user gives it: a path of this machine, or an address of a file system that Spark knows.

    Raises
    ------
    ArgumentError
        If it is neither, has characters that Spark would take for a pattern, or holds a secret.
    """
    if folder is None:
        return None
    remedy = f"give a path or an address, such as {EXAMPLES}"
    try:
        text = os.fspath(folder)  # type: ignore[call-overload]
    except TypeError:
        raise wrong("folder", folder, remedy) from None
    if not isinstance(text, str) or not text.strip() or not text.isprintable():
        raise wrong("folder", folder, remedy)
    if not is_remote(text):
        path = _local(text)
        if not _is_writable(path):
            raise wrong("folder", text, f"it is no folder of this machine that can be written to; {remedy}")
        if set(str(path)) & _GLOB:
            raise wrong("folder", text, "Spark takes *, ?, [, ], { and } in a path for a pattern; give one without")
        if not is_readable(path):
            remedy = "Spark's reader of state finds no folder with spaces or any of % # \" < > ^ ` | in its path"
            raise wrong("folder", text, f"{remedy}; give one without")
        return str(path)
    user, is_user, _ = urlparse(text).netloc.rpartition("@")
    if is_user and ":" in user:  # the text is not repeated: it has a secret in it
        raise ArgumentError(
            "folder: got an address with a password in it; give it without, and the credentials in the session's "
            "settings (spark.hadoop.fs.s3a.access.key, for instance) or a credentials provider"
        )
    if not _ADDRESS.fullmatch(text):
        raise wrong("folder", text.split("?")[0], "use letters, digits and / . _ - = : @ + ~ only after the scheme")
    return text.rstrip("/") if not text.endswith(":///") else text


def is_remote(folder: str) -> bool:
    """Whether a folder is an address of a file system other than this machine's."""
    found = _SCHEME.match(folder)
    return found is not None and found[1].lower() != "file:"


def is_local(spark: SparkSession) -> bool:
    """Whether a session's executors are in the process beside this one; not where it does not say."""
    return str(spark.conf.get("spark.master", "")).startswith("local")


def _local(folder: str) -> Path:
    if folder[:6].lower() != "file:/":
        path = Path(folder)
    else:
        text = "/" + re.sub(r"^//localhost/", "", folder[5:]).lstrip("/")
        path = Path(text) if _is_writable(Path(text)) else Path(unquote(text))  # as Spark writes it, or as an address
    with suppress(RuntimeError):  # no such user
        path = path.expanduser()
    return path.absolute()


def _is_writable(folder: Path) -> bool:
    with suppress(OSError):  # a name that is too long
        return folder.is_dir() and os.access(folder, os.W_OK)
    return False


def make(folder: str | None, spark: SparkSession) -> Place:
    """A temporary folder in a folder.

    Parameters
    ----------
    folder
        As `check_folder` gives it; None: on this machine, in memory where there is room.
    spark
        The session whose file systems are used.

    Raises
    ------
    QueryError
        If the session does not reach it.
    """
    if folder is None or not is_remote(folder):
        try:
            return Scratch(None if folder is None else Path(folder))
        except OSError as error:
            remedy = f"it cannot be written to ({error.strerror}); give a path or an address, such as {EXAMPLES}"
            raise wrong("folder", folder or tempfile.gettempdir(), remedy) from None
    return RemoteScratch(folder, spark)


class RemoteScratch:
    """A temporary folder on a remote file system, and its local copy; removed as a `Scratch` is.

    What a killed process of this machine left is removed when the next one makes a folder in the same place. Over
    Spark Connect, which can remove no folder, an empty one is left.

    Attributes
    ----------
    path
        The local copy.
    address
        The folder as Spark is given it.
    logged
        The folder as Spark's logs write it, up to the names in it.
    has_logs
        Whether the logs that Spark writes in it can be read; not over Spark Connect, where what begins with an
        underscore is never listed.
    """

    def __init__(self, folder: str, spark: SparkSession) -> None:
        self._copy = Scratch()
        self.path = self._copy.path
        name = f"{PREFIX}{host()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self.address = f"{folder.rstrip('/')}/{name}" if not folder.endswith(":///") else f"{folder}{name}"
        self._sent: set[str] = set()
        try:
            with _reaching(folder):
                self._files = _files(spark)
                self.has_logs = isinstance(self._files, _Hadoop)
                self._files.sweep(folder)
                self.logged = f"{self._files.make(self.address)}/"
        except WorkbenchError:
            self._copy.remove()
            raise
        self._removal = weakref.finalize(self, _remove, self._files, self.address, self._copy, os.getpid())

    def send(self) -> None:
        """Send what was written to the local copy, in order of names, as Spark's file source takes files by their age.

        Raises
        ------
        QueryError
            If Spark's file system does not take it.
        """
        for file in _listed(self.path):
            name = file.relative_to(self.path).as_posix()
            if name not in self._sent:
                with _reaching(self.address):
                    self._files.send(file, f"{self.address}/{name}")
                self._sent.add(name)

    def fetch(self, part: str) -> Path:
        """A part of the folder as a path of this machine, with all that Spark has written there so far.

        Raises
        ------
        QueryError
            If it cannot be read.
        """
        with _reaching(self.address):
            self._files.fetch(f"{self.address}/{part}", self.path / part)
        return self.path / part

    def remove(self) -> None:
        """Remove the folder and its copy now."""
        self._removal()


def _reaching(folder: str) -> AbstractContextManager[None]:
    return spark_errors_as(
        lambda why: QueryError(f"folder: Spark cannot use {folder} ({why}); give one such as {EXAMPLES}")
    )


def _listed(folder: Path) -> Iterator[Path]:
    """The files in a folder, by name; what is hidden is nobody else's."""
    for each in sorted(folder.iterdir()):
        if each.is_dir():
            yield from _listed(each)
        elif not each.name.startswith("."):
            yield each


def host() -> str:
    """The name of this machine, as the names of folders have it."""
    return re.sub(r"[^A-Za-z0-9]", "", platform.node())[:40] or "host"


def _remove(files: _Files, address: str, copy: Scratch, maker: int) -> None:
    """Remove a folder; not where a forked child of the process that made it ends."""
    copy.remove()
    if os.getpid() != maker:
        return
    if threading.main_thread().is_alive():  # whoever collects garbage may be in the middle of a call to Spark
        threading.Thread(
            target=files.remove, args=(address,), name="workbench storage"
        ).start()  # its end is waited for
    else:
        files.remove(address)


class _Files(Protocol):
    """How files get to a remote file system and back."""

    def make(self, address: str) -> str:
        """Make a folder; gives its full address."""

    def send(self, file: Path, address: str) -> None:
        """Copy a file."""

    def fetch(self, address: str, folder: Path) -> None:
        """Copy a folder with all in it."""

    def remove(self, address: str) -> None:
        """Remove a folder, as far as that can be done."""

    def sweep(self, folder: str) -> None:
        """Remove what killed processes of this machine left in a folder."""


def _files(spark: SparkSession) -> _Files:
    from pyspark.sql import SparkSession  # when needed: PySpark is slow to import

    return _Hadoop(spark) if isinstance(spark, SparkSession) and hasattr(spark, "_jvm") else _Connect(spark)


class HadoopFiles:
    """Files where a session's Spark finds them: by way of Hadoop's `FileSystem`, in the JVM beside this process."""

    def __init__(self, spark: JavaObject) -> None:
        self._java = spark._jvm
        self._settings = spark._jsparkSession.sessionState().newHadoopConf()

    def _at(self, address: str) -> tuple[Any, Any]:
        """The file system of an address, and its path there."""
        path = self._java.org.apache.hadoop.fs.Path(address)
        return path.getFileSystem(self._settings), path


class _Hadoop(HadoopFiles):
    """A run's folders."""

    def make(self, address: str) -> str:
        system, path = self._at(address)
        system.mkdirs(path)
        return str(system.makeQualified(path).toUri().toString())

    def send(self, file: Path, address: str) -> None:
        system, path = self._at(address)
        system.copyFromLocalFile(False, True, self._local(file), path)

    def fetch(self, address: str, folder: Path) -> None:
        system, path = self._at(address)
        if not system.exists(path):
            return
        folder.mkdir(parents=True, exist_ok=True)
        for status in system.listStatus(path):
            name = status.getPath().getName()
            if status.isDirectory():
                self.fetch(f"{address}/{name}", folder / name)
            elif not name.startswith(".") and not (folder / name).exists():  # what Spark has written it does not change
                system.copyToLocalFile(False, status.getPath(), self._local(folder / name), True)

    def _local(self, path: Path) -> JavaObject:
        return self._java.org.apache.hadoop.fs.Path(f"file://{path.as_posix()}")

    def remove(self, address: str) -> None:
        with suppress(Exception):  # Spark has ended; the next process removes it
            system, path = self._at(address)
            system.delete(path, True)

    def sweep(self, folder: str) -> None:
        system, path = self._at(folder)
        if not system.exists(path):
            return
        mine = f"{PREFIX}{host()}-"
        for status in system.listStatus(path):
            name = status.getPath().getName()
            process = name.removeprefix(mine).split("-")[0]
            if name.startswith(mine) and process.isdigit() and not psutil.pid_exists(int(process)):
                system.delete(status.getPath(), True)


class _Connect:
    """Files by way of a Spark Connect server."""

    def __init__(self, spark: JavaObject) -> None:
        self._spark = spark

    def make(self, address: str) -> str:
        return address

    def send(self, file: Path, address: str) -> None:
        """Write a file's rows: a Connect client can write a file as it is to the default file system only."""
        from pyspark.sql.pandas.types import from_arrow_schema  # when needed: PySpark is slow to import

        if file.suffix != ".parquet":
            raise QueryError(_NO_SAVEPOINTS)
        rows = pq.read_table(file)
        schema = from_arrow_schema(rows.schema)
        frame = of_arrow(self._spark, rows, schema) if rows.num_rows else self._spark.createDataFrame([], schema)
        frame.coalesce(1).write.parquet(address)

    def fetch(self, address: str, folder: Path) -> None:
        if folder.name != "output":
            raise QueryError(_NO_SAVEPOINTS)
        folder.mkdir(parents=True, exist_ok=True)
        found = self._spark.read.format("binaryFile").load(address)
        for name, content in found.select("path", "content").collect():
            (folder / unquote(urlparse(name).path.rsplit("/", 1)[-1])).write_bytes(content)

    def remove(self, address: str) -> None:
        with suppress(Exception):  # the session has ended
            self._spark.range(0).write.mode("overwrite").parquet(address)

    def sweep(self, folder: str) -> None:
        pass
