"""Binder's image without Docker: a fresh Debian root, the folder's steps in it, and a limit of memory around it.

What repo2docker does and this cannot: its base is Ubuntu, with a Python of conda's that ``runtime.txt`` names. Neither is
available as Debian's packages, so here the base is Debian and its own Python 3. All else is done as in the Dockerfile
that repo2docker makes: packages of ``apt.txt``, requirements, postBuild and start, by a user without rights.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import parts

ROOT = Path(__file__).parents[1]
BASE = ("python3", "python3-venv", "ca-certificates")
HOME = "/home/jovyan"
PYTHON = "/srv/conda/envs/notebook"
_MACHINE = ("etc/resolv.conf", "etc/hosts", "etc/pip.conf", "etc/apt/apt.conf.d", "etc/ssl/certs/ca-certificates.crt")
"""How this machine reaches its package registries."""


class Image:
    """A root folder; `run` does something in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self) -> None:
        """The steps up to the packages of Python."""
        _checked(["debootstrap", "--variant=minbase", f"--include={','.join(BASE)}", "bookworm", self.folder])
        for each in _MACHINE:
            if (Path("/") / each).exists():
                _copy(Path("/") / each, self.folder / each)
        self.run("useradd --create-home --uid 1000 --shell /bin/bash jovyan", user="root")
        self.fill()
        packages = " ".join((ROOT / "binder" / "apt.txt").read_text().split())
        self.run(f"apt-get -qq update && apt-get -qq install --yes --no-install-recommends {packages}", user="root")
        self.run(f"mkdir -p {PYTHON} && chown -R jovyan {PYTHON} {HOME}", user="root")
        self.run(f"python3 -m venv {PYTHON} && pip install -q --no-cache-dir -r binder/requirements.txt")

    def fill(self) -> None:
        """The project's files, as they are now and no others, where repo2docker puts them."""
        home = self.folder / HOME[1:]
        for old in home.iterdir():
            if old.is_dir() and not old.is_symlink():
                shutil.rmtree(old)
            else:
                old.unlink()
        kept = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        for name in filter(None, kept.stdout.decode().split("\0")):
            if (ROOT / name).exists():
                _copy(ROOT / name, home / name)
        self.run(f"chown -R jovyan {HOME}", user="root")

    def build(self) -> None:
        """What repo2docker does when all is installed."""
        self.fill()
        self.run("chmod +x binder/postBuild binder/start && ./binder/postBuild")

    def command(self, words: str, user: str = "jovyan", alone: bool = False) -> list[str | Path]:
        """A command in this root: processes, devices and mounts of its own, which end with it; alone: without a network."""
        root = self.folder
        mounts = [
            f"export PATH={parts.PATH}",
            f"mount --rbind /dev {root}/dev",
            f"mount --make-rslave {root}/dev",
            f"mount -t tmpfs -o size=64m,mode=1777 tmpfs {root}/dev/shm",  # as large as a container's
            f"mount --rbind /sys {root}/sys",
            *["ip link set lo up"] * alone,
        ]
        settings = {
            "HOME": HOME if user == "jovyan" else "/root",
            "PATH": f"{PYTHON}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "LANG": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive",
        }
        settings |= {name: value for name, value in os.environ.items() if name.startswith("PIP_") or "SSL_CERT" in name}
        settings |= {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
        inner = ["chroot", f"--userspec={user}", root, "env", "-i", *(f"{k}={v}" for k, v in settings.items())]
        inner += ["bash", "-c", f"cd {HOME if user == 'jovyan' else '/'} && {words}"]
        script = " && ".join([*mounts, '"$@"'])  # the first process stays, and reaps what others leave
        unshare = [
            "unshare",
            *["--net"] * alone,
            "--mount",
            "--pid",
            "--fork",
            "--kill-child",
            f"--mount-proc={root}/proc",
        ]
        return [*unshare, "bash", "-c", script, "bash", *inner]

    def run(self, words: str, user: str = "jovyan") -> str:
        """Do something; its output. An error shows what it said."""
        return _checked(self.command(words, user))


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True, ignore_dangling_symlinks=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def _checked(command) -> str:
    done = subprocess.run(command, env=os.environ | {"PATH": parts.PATH}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[-1]}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def check() -> None:
    """See whether an image can be made here."""
    if os.getuid() != 0:
        raise parts.MissingError("a root of its own can be made by root only")
    for program in ("debootstrap", "unshare", "git"):
        parts.program(program)


@contextlib.contextmanager
def image():
    """A built image, removed afterwards: what is installed lies below, and what the rest of the steps write above it."""
    installed = _installed()
    folder = Path(tempfile.mkdtemp(prefix="binder-image-"))
    layers = {name: folder / name for name in ("upper", "work", "root")}
    for each in (folder, *layers.values()):
        each.mkdir(exist_ok=True)
        each.chmod(0o755)
    options = f"lowerdir={installed},upperdir={layers['upper']},workdir={layers['work']}"
    try:
        _checked(["mount", "-t", "overlay", "overlay", "-o", options, layers["root"]])
    except RuntimeError as error:
        shutil.rmtree(folder)
        raise parts.MissingError(f"no folder can be laid over another here ({error})") from None
    try:
        made = Image(layers["root"])
        made.build()
        yield made
    finally:
        subprocess.run(["umount", layers["root"]], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def _installed() -> Path:
    """A root with all packages, made once for each state of the files that name them."""
    names = ("binder/apt.txt", "binder/requirements.txt", "tests/image.py")
    wanted = [*((ROOT / name).read_text() for name in names), parts.dependencies()]
    state = hashlib.sha256(repr(wanted).encode()).hexdigest()[:12]
    folder = parts.CACHE / f"binder-{state}"
    with parts.only_one("binder"):
        if not folder.exists():
            for old in parts.CACHE.glob("binder-*"):
                if old.is_dir():
                    shutil.rmtree(old)
            new = Path(tempfile.mkdtemp(prefix="binder-new-", dir=parts.CACHE))
            new.chmod(0o755)
            try:
                Image(new).install()
                new.rename(folder)
            except BaseException:
                shutil.rmtree(new, ignore_errors=True)
                raise
    return folder


class Limit:
    """A cgroup with so much memory; `peak` is the most that its processes had, files that can be dropped left out."""

    def __init__(self, size: int) -> None:
        name = f"workbench-test-{os.getpid()}"
        one = Path("/sys/fs/cgroup/memory")
        self.old = one.is_dir()
        self.folder = (one if self.old else Path("/sys/fs/cgroup")) / name
        try:
            self.folder.mkdir()
            (self.folder / ("memory.limit_in_bytes" if self.old else "memory.max")).write_text(str(size))
            swap = self.folder / ("memory.memsw.limit_in_bytes" if self.old else "memory.swap.max")
            if swap.exists():
                swap.write_text(str(size if self.old else 0))
        except OSError as error:
            raise parts.MissingError(f"no cgroup of its own ({error})") from None
        self.peak = 0
        self._done = threading.Event()
        self._watch = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Limit:
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watch.join()
        self.kill()
        self.folder.rmdir()

    def kill(self, *_: object) -> None:
        """End all processes in it."""
        until = time.monotonic() + 30
        while (found := (self.folder / "cgroup.procs").read_text().split()) and time.monotonic() < until:
            for each in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(each), signal.SIGKILL)
            time.sleep(0.1)

    def join(self) -> None:
        """Put the calling process in."""
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def killed(self) -> int:
        """How often the kernel had to kill a process."""
        file = self.folder / ("memory.oom_control" if self.old else "memory.events")
        values = dict(line.split() for line in file.read_text().splitlines())
        return int(values.get("oom_kill", 0))

    def _look(self) -> None:
        names = ("total_rss", "total_shmem") if self.old else ("anon", "shmem")
        while not self._done.wait(0.25):
            values = dict(line.split() for line in (self.folder / "memory.stat").read_text().splitlines())
            self.peak = max(self.peak, sum(int(values.get(name, 0)) for name in names))
