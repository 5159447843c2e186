"""The store of `bench.chaos`: a primary and its copy, each behind a proxy and on a disk of its own."""

import random
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import psycopg

from tests.support.postgres import StoppablePostgres
from tests.support.proxy import HangingProxy, hanging_proxy
from tests.support.small_disk import SmallDisk, small_disk

MEGABYTES = 1200
FAULTS = (
    "PostgreSQL stopped",
    "PostgreSQL killed",
    "network hangs",
    "network loses all",
    "failover to the copy",
    "failover, and the old primary comes back",
    "disk full",
)


@dataclass(slots=True)
class ChaosStore:
    primary: StoppablePostgres
    copy: StoppablePostgres
    proxies: tuple[HangingProxy, HangingProxy]
    disks: dict[int, SmallDisk]
    """Where each server keeps itself, by its port; nothing where no disk could be made."""

    @property
    def url(self) -> str:
        return _url(self.primary.port, self.copy.port)

    @property
    def url_of_nodes(self) -> str:
        """Through the network that hangs."""
        return _url(*(proxy.port for proxy in self.proxies))

    @property
    def faults(self) -> tuple[str, ...]:
        """What can be done to it here."""
        return FAULTS if self.disks else FAULTS[:-1]

    def suffer(self, fault: str, chance: random.Random) -> float:
        """Returns when the fault was over; what is mended afterwards, nobody has to wait for."""
        match fault:
            case "network hangs" | "network loses all":
                self._cut(fault == "network loses all", chance)
            case "disk full":
                disk = self.disks[self.primary.port]
                disk.fill()
                time.sleep(chance.uniform(0.5, 5))
                disk.clear()
                self._revive()
            case "PostgreSQL stopped" | "PostgreSQL killed":
                (self.primary.stop if fault == "PostgreSQL stopped" else self.primary.kill)()
                time.sleep(chance.uniform(0, 4))
                self.primary.start()
            case _:
                return self._fail_over(chance, "comes back" in fault)
        return time.monotonic()

    def _cut(self, loses: bool, chance: random.Random) -> None:
        for proxy in self.proxies:
            (proxy.lose if loses else proxy.hang)()
        time.sleep(chance.uniform(0.5, 14 if loses else 8))
        for proxy in self.proxies:
            (proxy.keep if loses else proxy.flow)()

    def _fail_over(self, chance: random.Random, returns: bool) -> float:
        old = self.primary
        old.kill()
        time.sleep(chance.uniform(0, 3))
        self.copy.promote()
        over = time.monotonic()
        self.primary, self.copy = self.copy, old
        if returns:
            old.start()
            time.sleep(chance.uniform(1, 3))
            old.kill()
        self.follow()
        return over

    def follow(self) -> None:
        """The copy is made anew, and from then on has what is acknowledged."""
        self.copy.copy(self.primary)
        self.copy.start()
        while not self.primary.is_followed():
            time.sleep(0.02)
        self.primary.acknowledge("its copy, too")

    def _revive(self) -> None:
        """A server whose own log of writes had no room has ended, or ends in a moment."""
        while True:
            if not self.primary.is_running:
                self.primary.start()
            try:
                psycopg.connect(self.primary.url, connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                time.sleep(0.02)


def _url(*ports: int) -> str:
    hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
    return f"postgresql://postgres@{hosts}/postgres"


@contextmanager
def chaos_store() -> Iterator[ChaosStore]:
    with ExitStack() as stack:
        disks: dict[int, SmallDisk] = {}
        servers: list[StoppablePostgres] = []
        for _ in range(2):
            disk = stack.enter_context(small_disk(MEGABYTES))
            server = StoppablePostgres(of=servers[0] if servers else None, folder=disk and disk.folder)
            stack.callback(server.remove)
            servers.append(server)
            if disk:
                disks[server.port] = disk
            if len(servers) == 1:
                server.start()
        first, second = servers
        proxies = tuple(stack.enter_context(hanging_proxy(one.port)) for one in servers)
        store = ChaosStore(first, second, (proxies[0], proxies[1]), disks)
        store.follow()
        yield store
