"""Which of the servers in the URL of a store is the one: the primary, and the newest that was seen.

Above: the driver, which wants a connection. Below: psycopg. A copy shows what was acknowledged late, and a
primary that was replaced and came back does not know that it was. Neither is ever read.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from prowess.store.addresses import Addresses
from prowess.store.limited_connection import LimitedConnection

CONNECTS_WITHIN = 4
CONNECTS_WITHIN_OF_SEVERAL = 2
"""Where the first is a machine that is off, the next one is asked soon enough."""
ANSWERS_WITHIN = 4.0
UNCONFIRMED_FOR = 10_000
"""Milliseconds after which a connection is given up whose packets nobody confirms. While a network loses
them, the pauses between two tries double: who waited for d seconds when it came back may wait for d more. So
nobody waits for more than five."""
NOTICES_LOSS = {"keepalives_idle": 5, "keepalives_interval": 2, "tcp_user_timeout": UNCONFIRMED_FOR}
STATE = (
    "SELECT pg_is_in_recovery(), CASE WHEN NOT pg_is_in_recovery()"
    " THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END"
)
"""Whether it is a copy; if not, its timeline, which grows with each promotion."""


class NotThePrimary(psycopg.OperationalError):
    """A server answers, and is not the one that is written to."""


class Servers:
    def __init__(self, url: str, **options: Any) -> None:
        self._url = url
        self._named = tuple(named(url))
        within = CONNECTS_WITHIN if len(self._named) == 1 else CONNECTS_WITHIN_OF_SEVERAL
        self._options = {**options, "connect_timeout": within, **noticing_loss(url)}
        self._addresses = Addresses()
        self.timeline = 0

    def connect(self) -> LimitedConnection:
        """A connection to the primary; whoever was it last is asked first."""
        failures: list[psycopg.Error] = []
        for server in self._named:
            for place in places(server, self._addresses):
                try:
                    connection = LimitedConnection.connect(self._url, **{**self._options, **place})
                    self.admit(connection)
                except psycopg.Error as failure:
                    failures.append(failure)
                else:
                    self._named = tuple(sorted(self._named, key=lambda one: one != server))
                    return connection
        answered = [failure for failure in failures if isinstance(failure, NotThePrimary)]
        raise (answered or failures)[0]

    def admit(self, connection: LimitedConnection) -> None:
        """It leads to the primary, or is closed."""
        connection.answers_within = ANSWERS_WITHIN
        try:
            is_copy, timeline = _state(connection)
            if is_copy:
                raise NotThePrimary("this server is a copy of another, and none is its primary now")
            if timeline < self.timeline:
                why = f"this server was replaced by another (timeline {timeline}, {self.timeline} was seen)"
                raise NotThePrimary(f"{why}: stop it, or make it a copy of that one")
            self.timeline = max(timeline, self.timeline)
        except BaseException:
            connection.close()
            raise


def noticing_loss(url: str) -> dict[str, int]:
    """What makes a connection end whose network loses everything, where the URL does not say it otherwise."""
    said = conninfo_to_dict(url)
    return {name: value for name, value in NOTICES_LOSS.items() if name not in said}


def _state(connection: LimitedConnection) -> tuple[bool, int]:
    """Nothing is known of a service that speaks like PostgreSQL and has no timelines."""
    try:
        is_copy, timeline = connection.execute(STATE, prepare=False).fetchall()[0]
    except psycopg.Error as failure:
        if failure.sqlstate is None:
            raise
        return False, 0
    return bool(is_copy), int(timeline or "0", 16)


def places(server: Mapping[str, str], addresses: Addresses) -> list[dict[str, str]]:
    """A server at each of its addresses; by its name, where none is known."""
    known = addresses.of(server.get("host", ""))
    return [{**server, "hostaddr": address} for address in known] or [dict(server)]


def named(url: str) -> Iterator[dict[str, str]]:
    """What to say for each server beside the URL; nothing where the URL says where it is."""
    said = conninfo_to_dict(url)
    hosts = str(said.get("host") or "").split(",")
    ports = str(said.get("port") or "").split(",")
    if said.get("hostaddr") or hosts == [""]:
        yield {}
        return
    for host, port in zip(hosts, ports * len(hosts) if len(ports) == 1 else ports, strict=False):
        yield {"host": host, "port": port} if port else {"host": host}
