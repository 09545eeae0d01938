"""Real parts for the tests: a Kafka broker, a PostgreSQL server, connectors' jars. All on this machine, none left behind."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import quick_java
from quick_java import CACHE, ONE_COMPILER, only_one

from workbench import spark_versions

POMS = Path(__file__).parent / "jars"
PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"
PASSWORD = "nobody knows it"  # noqa: S105 - of a server that lives as long as a test


class MissingError(Exception):
    """A part that is not to be had on this machine; its text says which."""


def real(part):
    """A real part; where there is none, the test is skipped with the reason, but on CI there has to be one."""
    try:
        return part()
    except MissingError as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(missing))


def program(name: str) -> str:
    """Where a program is, the system's own included."""
    found = shutil.which(name, path=PATH)
    if found is None:
        raise MissingError(f"no {name} on this machine")
    return found


def jars(name: str) -> Path:
    """The folder with the jars of ``tests/jars/<name>.xml``, fetched once by Maven."""
    pom = POMS / f"{name}.xml"
    folder = CACHE / f"{name}-{hashlib.sha256(pom.read_bytes()).hexdigest()[:12]}"
    with only_one(name):
        if not folder.exists():
            if shutil.which("mvn") is None:
                raise MissingError("no Maven to fetch the jars of Kafka, its connector and Delta")
            new = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=CACHE))
            command = ["mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies", f"-DoutputDirectory={new}"]
            done = subprocess.run([*command, "-DincludeScope=runtime"], capture_output=True, text=True, check=False)
            if done.returncode:
                raise MissingError(f"Maven did not fetch {pom.name}: {done.stdout[-300:]}")
            new.rename(folder)
    return folder


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Broker:
    """Apache Kafka in KRaft mode, one process, which can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self._jars, self._folder = jars("kafka"), folder
        self._running: subprocess.Popen[bytes] | None = None
        port, controller = free_port(), free_port()
        self.brokers = f"127.0.0.1:{port}"
        (folder / "server.properties").write_text(
            f"""
            process.roles=broker,controller
            node.id=1
            controller.quorum.voters=1@127.0.0.1:{controller}
            listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
            advertised.listeners=PLAINTEXT://127.0.0.1:{port}
            controller.listener.names=CONTROLLER
            log.dirs={folder / "logs"}
            offsets.topic.replication.factor=1
            num.partitions=1
            group.initial.rebalance.delay.ms=0
            """
        )
        self._java("kafka.tools.StorageTool", "format", "-t", "AAAAAAAAQACAAAAAAAAAAA", "-c", self._settings).wait(60)
        self.start()

    @property
    def _settings(self) -> str:
        return str(self._folder / "server.properties")

    def _java(self, *words: str) -> subprocess.Popen[bytes]:
        command = ["java", "-Xmx300m", "-XX:+UseSerialGC", ONE_COMPILER, "-cp", f"{self._jars}/*", *words]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
        return subprocess.Popen(command, cwd=self._folder, **quiet)

    def start(self) -> None:
        self._running = self._java("kafka.Kafka", self._settings)
        host, port = self.brokers.split(":")
        _wait(lambda: socket.create_connection((host, int(port)), 1).close())

    def kill(self) -> None:
        self._running.kill()
        self._running.wait()


def _wait(attempt, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            return attempt()
        except Exception:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


@contextlib.contextmanager
def broker():
    folder = Path(tempfile.mkdtemp(dir="/dev/shm", prefix="kafka-"))
    made = None
    try:
        made = Broker(folder)
        yield made
    finally:
        if made is not None:
            made.kill()
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def hdfs():
    """A cluster of Hadoop's own, a name node and a data node; gives the settings that make it quick, and its address."""
    folder = Path(tempfile.mkdtemp(dir="/dev/shm", prefix="hdfs-"))
    details = folder / "details.json"
    words = ["-format", "-datanodes", "1", "-D", "dfs.replication=1", "-nnport", "0", "-writeDetails", details]
    command = [
        "java",
        "-Xmx500m",
        "-XX:+UseSerialGC",
        ONE_COMPILER,
        f"-Dtest.build.data={folder}",
        "-cp",
        f"{jars('hdfs')}/*",
    ]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
    manager = "org.apache.hadoop.test.MiniDFSClusterManager"
    running = subprocess.Popen([*map(str, [*command, manager, *words])], cwd=folder, **quiet)
    try:
        port = _wait(lambda: json.loads(details.read_text())["namenode_port"])
        # else a client asks a second time after 400 ms whether a file is complete
        quick = {"spark.hadoop.dfs.client.block.write.locateFollowingBlock.initial.delay.ms": "10"}
        yield quick, f"hdfs://localhost:{port}"
    finally:
        running.kill()
        running.wait()
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def s3():
    """A server of S3 with a bucket; gives the settings with which Spark reaches it, the bucket's address, and a function
    that lists what is in it."""
    import boto3
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        """Answers "Expect: 100-continue" once: both this class and its base would."""

        def handle_expect_100(self):
            return True

        def log(self, *_):
            pass

    app = DomainDispatcherApplication(create_backend_app)
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    try:
        endpoint = f"http://127.0.0.1:{server.port}"
        keys = {"aws_access_key_id": "somebody", "aws_secret_access_key": PASSWORD}
        client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", **keys)
        client.create_bucket(Bucket="joins")
        listed = lambda: [each["Key"] for each in client.list_objects_v2(Bucket="joins").get("Contents", ())]  # noqa: E731
        yield _of_s3(endpoint), "s3a://joins", listed
    finally:
        server.shutdown()
        serving.join()


def _of_s3(endpoint: str) -> dict[str, str]:
    settings = {
        "endpoint": endpoint,
        "endpoint.region": "us-east-1",
        "path.style.access": "true",
        "access.key": "somebody",
        "secret.key": PASSWORD,
        "connection.ssl.enabled": "false",
    }
    named = {f"spark.hadoop.fs.s3a.{name}": value for name, value in settings.items()}
    return named | {"spark.jars": ",".join(map(str, sorted(jars("s3").glob("*.jar"))))}


@contextlib.contextmanager
def cluster(folder: Path, own_root: bool = False):
    """A standalone cluster of Spark's, a master and two workers; gives the master's address and log.

    With ``own_root`` the workers stand in mount namespaces, in which this machine's temporary folders are empty.
    """
    import pyspark

    home, port = Path(pyspark.__file__).parent, free_port()
    env = os.environ | {"SPARK_HOME": str(home), "SPARK_NO_DAEMONIZE": "1", "SPARK_DAEMON_MEMORY": "256m"}
    env |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    env["SPARK_WORKER_DIR"] = "/dev/shm/work" if own_root else str(folder / "work")
    hidden = [place for place in ("/dev/shm", "/tmp") if not Path(sys.prefix).is_relative_to(place)]
    apart = [program("unshare"), "--mount", "sh", "-c"]
    apart += [f'for place in {" ".join(hidden)}; do mount -t tmpfs none $place; done; exec "$@"', "sh"]
    running = []

    def start(kind, *words, before=()):
        log = folder / f"{kind}-{len(running)}.log"
        command = [home / "bin" / "spark-class", f"org.apache.spark.deploy.{kind.lower()}.{kind}", *map(str, words)]
        with log.open("w") as out:
            started = subprocess.Popen(
                [*before, *command], env=env, stdout=out, stderr=out, stdin=subprocess.DEVNULL, start_new_session=True
            )
        running.append(started)
        return log

    try:
        address = f"spark://127.0.0.1:{port}"
        log = start("Master", "--host", "127.0.0.1", "--port", port, "--webui-port", 0)
        _wait(lambda: log.read_text().index("New state: ALIVE"))
        size = ["--cores", 1, "--memory", "700m", "--webui-port", 0, "--host", "127.0.0.1"]
        for _ in range(2):
            start("Worker", *size, address, before=apart if own_root else ())
        _wait(lambda: log.read_text().replace("Registering worker", "", 1).index("Registering worker"))
        yield address, log
    finally:
        for each in running:
            os.killpg(each.pid, signal.SIGKILL)
            each.wait()


def check_database() -> Path:
    """The folder of PostgreSQL's programs."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        raise MissingError("no PostgreSQL server (Debian's package postgresql)")
    return found[-1].parent


def pyspark_of_delta() -> str:
    """A Python of its own with PySpark 4.2, the newest that Delta Lake is built for."""
    return _python_with("pyspark-4.2", "pyspark>=4.2,<4.3")


def pyspark(version: str) -> Path:
    """A folder with a PySpark: of a minor version, such as 4.0, the newest; first on Python's path it stands for the installed one."""
    home = CACHE / f"pyspark-{version}-only"
    with only_one(home.name):
        if not (home / "done").exists():
            wanted = f"pyspark=={version}{'.*' if version.count('.') == 1 else ''}"
            got = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--target", home, wanted], check=False)
            if got.returncode:
                raise MissingError(f"pip did not find {wanted}")
            (home / "done").touch()
    return home


OFTEN = {*spark_versions.SUPPORTED, spark_versions.OLDEST_OF_SCRIPTS, "3.5.1"}
"""Versions of Spark that a whole run starts, and whose classes are kept."""


def with_pyspark(version: str, *paths: Path) -> dict[str, str]:
    """An environment whose Python has another PySpark."""
    home = str(pyspark(version))
    java = quick_java.variable(quick_java.classes(path=home)) if version in OFTEN else {}
    return os.environ | java | {"PYTHONPATH": os.pathsep.join([home, str(POMS.parents[1]), *map(str, paths)])}


def pyflink() -> str:
    """A Python of its own with PyFlink, which wants older packages than ours."""
    return _python_with("pyflink-2.3", "apache-flink>=2.3,<2.4", "setuptools")


def repo2docker() -> str:
    """A Python of its own with repo2docker."""
    return _python_with("repo2docker", "jupyter-repo2docker")


def flink_jars(python: str) -> Path:
    """The folder of the jars that PyFlink brings."""
    found = sorted(Path(python).parent.parent.glob("lib/python*/site-packages/pyflink/lib"))
    if not found:
        raise MissingError("PyFlink has brought no jars")
    return found[0]


def _python_with(name: str, *packages: str) -> str:
    """A Python of its own with these packages, made once."""
    home = CACHE / name
    python, done = home / "bin" / "python", home / "done"
    with only_one(name):
        if not done.exists():
            venv.create(_made(home), with_pip=True, clear=True)
            got = subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=False)
            if got.returncode:
                raise MissingError(f"pip did not find {' '.join(packages)}")
            done.touch()
    return str(python)


def dependencies() -> str:
    """Changes when what the project depends on does; its tools' settings beside it in pyproject.toml do not count."""
    project = tomllib.loads((POMS.parents[1] / "pyproject.toml").read_text())["project"]
    return hashlib.sha256(repr(project).encode()).hexdigest()[:12]


@contextlib.contextmanager
def kept_environment(name: str, install: Callable[[str], None], again: Callable[[str], None]) -> Iterator[str]:
    """A Python of its own, for one process at a time.

    What the project depends on is put there once by `install`, for each state of it; what may have changed since, by `again`.
    """
    home = CACHE / f"{name}-{dependencies()}"
    python = str(home / "bin" / "python")
    with only_one(name):
        if not (home / "done").exists():
            for old in CACHE.glob(f"{name}-*"):
                if old.is_dir():
                    shutil.rmtree(old)
            venv.create(home, with_pip=True)
            install(python)
            (home / "done").touch()
        else:
            again(python)
        yield python


@contextlib.contextmanager
def database():
    """A PostgreSQL server that asks for a password; gives its address without it."""
    import psycopg

    bin_, port = check_database(), free_port()
    folder = Path(tempfile.mkdtemp(dir="/dev/shm", prefix="postgres-"))
    secret = folder / "password"
    secret.write_text(PASSWORD)
    become = []
    if os.getuid() == 0:  # the server does not run as root
        become = [program("runuser"), "-u", "postgres", "--"]
        shutil.chown(folder, "postgres")
        shutil.chown(secret, "postgres")
    initdb = [bin_ / "initdb", "-D", folder / "data", "-U", "joiner", "--auth=scram-sha-256", f"--pwfile={secret}"]
    subprocess.run([*become, *initdb], check=True, capture_output=True, cwd="/")
    options = ["-c", "listen_addresses=127.0.0.1", "-p", str(port), "-k", folder, "-c", "fsync=off"]
    server = subprocess.Popen(
        [*become, bin_ / "postgres", "-D", folder / "data", *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
    )
    address = f"postgresql://joiner@127.0.0.1:{port}/postgres"
    try:
        _wait(lambda: psycopg.connect(address, password=PASSWORD).close())
        yield address
    finally:
        pid = int((folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(pid, 3)  # SIGQUIT: at once
        server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)
