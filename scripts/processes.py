"""The topology of deploy/compose.yaml as plain processes of one machine: PostgreSQL, two nodes, a proxy.

    python -m scripts.processes FOLDER

It needs what the tests need (PostgreSQL and Caddy come from PyPI), and uses the files of deploy/: how the
database is set up, the configuration, the proxy. FOLDER gets the configuration, where more workspaces may be
added; the database goes when this ends. A node that ends is started again.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from tests.support.ports import free_port
from tests.support.postgres import programs, running_postgres
from tests.support.wire import eventually, listens

DEPLOY = Path(__file__).parent.parent / "deploy"
PASSWORD = "of-this-machine-alone"
SECONDS_TO_START = 60
SECONDS_BETWEEN_LOOKS = 0.2


@dataclass
class Node:
    """A process that is started again when it ends, as a container would be."""

    command: list[str]
    environment: Mapping[str, str]
    log: Path
    port: int
    process: "subprocess.Popen[Any] | None" = None
    _stops: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def kept_running(self) -> Iterator[None]:
        keeper = threading.Thread(target=self._keep)
        keeper.start()
        try:
            yield
        finally:
            self._stops.set()
            keeper.join()

    def _keep(self) -> None:
        with self.log.open("ab") as log:
            while not self._stops.is_set():
                self.process = subprocess.Popen(
                    self.command, env=self.environment, stdout=log, stderr=log, cwd=self.log.parent
                )
                while self.process.poll() is None and not self._stops.wait(SECONDS_BETWEEN_LOOKS):
                    pass
            assert self.process is not None
            self.process.terminate()
            self.process.wait(SECONDS_TO_START)


@dataclass(frozen=True)
class Topology:
    folder: Path
    store: str
    address: str
    """Of the proxy."""
    nodes: tuple[Node, ...]


@contextmanager
def started(folder: Path) -> Iterator[Topology]:
    """All of it, for as long as this lasts."""
    shutil.copytree(DEPLOY / "config", folder, dirs_exist_ok=True)
    with ExitStack() as stack:
        store = _with_role(stack.enter_context(running_postgres()))
        ports = free_port(), free_port()
        nodes = tuple(_node(folder, store, port) for port in ports)
        for node in nodes:
            stack.enter_context(node.kept_running())
        address = f"http://127.0.0.1:{free_port()}"
        stack.enter_context(_proxy(folder, address, [f"127.0.0.1:{port}" for port in ports]))
        for port in (*ports, int(address.rpartition(":")[2])):
            eventually(_listening(port), SECONDS_TO_START)
        yield Topology(folder, store, address, nodes)


def _with_role(url: str) -> str:
    """The database as deploy/store.sh makes it; its owner is no superuser."""
    host, port, user = re.fullmatch(r"postgresql://(\w+)@([\d.]+):(\d+)/\w+", url).group(2, 3, 1)  # type: ignore[union-attr]
    told = {"PGHOST": host, "PGPORT": port, "POSTGRES_USER": user, "PROWESS_PASSWORD": PASSWORD}
    path = f"{programs()}{os.pathsep}{os.environ['PATH']}"
    quiet = subprocess.DEVNULL
    subprocess.run(
        ["sh", DEPLOY / "store.sh"], env={**os.environ, **told, "PATH": path}, check=True, stdout=quiet
    )
    return f"postgresql://prowess:{PASSWORD}@{host}:{port}/prowess"


def _node(folder: Path, store: str, port: int) -> Node:
    told = {
        "PROWESS_CONFIG": str(folder / "prowess.toml"),
        "PROWESS_STORE": store,
        "PROWESS_WORKSPACES": str(folder / "workspaces"),
        "PROWESS_SERVE_PORT": str(port),
        "PROWESS_WEB__RATE": "0",
        "PROWESS_GATEWAY__RATE": "0",
        "PROWESS_LOGS": "json",
    }
    run = [sys.executable, "-m", "prowess", "serve"]
    return Node(run, {**os.environ, **told}, folder / f"node-{port}.log", port)


@contextmanager
def _proxy(folder: Path, address: str, nodes: list[str]) -> Iterator[None]:
    told = {"SITE": address, "NODES": " ".join(nodes), "HEALTH_INTERVAL": "500ms",
            "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}  # fmt: skip
    run = [str(caddy()), "run", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile")]
    with (folder / "proxy.log").open("ab") as log:
        process = subprocess.Popen(run, env={**os.environ, **told}, stdout=log, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            process.wait(SECONDS_TO_START)


def caddy() -> Path:
    """The program that the package brought, beside the interpreter."""
    return Path(sys.executable).parent / "caddy"


def _listening(port: int) -> Callable[[], bool]:
    return lambda: listens(port)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # told to stop in either way, it leaves nothing
    with started(folder) as topology:
        click.echo(f"the proxy is at {topology.address}, the nodes at {[one.port for one in topology.nodes]}")
        click.echo(f"prowess --store {topology.store} --workspace acme access-token add ann --role admin")
        click.echo("stop with Ctrl-C")
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
