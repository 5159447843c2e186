"""Where the names of servers lead, without waiting long for who knows: while a network hangs, that hangs too.

Above: what connects. Below: the system's resolver, which answers when it likes, and a thread that waits.
"""

import ipaddress
import socket
from contextlib import suppress
from threading import Event, Lock, Thread

ANSWERS_WITHIN = 2.0
"""Seconds; then a name leads where it led before."""


class Addresses:
    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}
        self._asking: dict[str, Event] = {}
        self._lock = Lock()

    def of(self, host: str) -> tuple[str, ...]:
        """The addresses of a name, in order; nothing for what is no name, or leads nowhere so far."""
        if not host or host.startswith(("/", "@")) or _is_address(host):
            return ()
        self._asked(host).wait(ANSWERS_WITHIN)
        return self._known.get(host, ())

    def _asked(self, host: str) -> Event:
        """Set once the question is answered; whoever comes meanwhile waits for the same answer."""
        with self._lock:
            if host not in self._asking:
                answered = self._asking[host] = Event()
                Thread(target=self._ask, args=(host, answered), name="prowess-names", daemon=True).start()
            return self._asking[host]

    def _ask(self, host: str, answered: Event) -> None:
        try:
            with suppress(OSError):  # who connects finds out by itself, and says it better
                found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
                self._known[host] = tuple(dict.fromkeys(str(address[0]) for *_, address in found))
        finally:
            with self._lock:
                del self._asking[host]
            answered.set()


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
