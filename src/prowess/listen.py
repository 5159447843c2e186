"""The door of a server: where it listens, which hosts it answers to, how often one caller may knock.

Above: the faces that listen on a network. Nothing here knows what they serve.
"""

import ipaddress
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from prowess.errors import ConfigError

ANYWHERE = ("0.0.0.0", "::")
LOOPBACK = ("127.0.0.1:*", "localhost:*", "[::1]:*")
MOST_CALLERS = 10_000


@dataclass(frozen=True, slots=True)
class Bind:
    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def address(self) -> str:
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


def parse_bind(text: str) -> Bind:
    """`HOST:PORT`, `[::1]:PORT` or `PORT`."""
    host, _, port = text.rpartition(":")
    if not port.isdigit() or not 0 <= int(port) < 65536:
        raise ConfigError("--http", f"{text!r} is not HOST:PORT", "write for example 127.0.0.1:8800")
    return Bind(host.strip("[]") or "127.0.0.1", int(port))


def allowed_hosts(bind: Bind, named: Sequence[str]) -> tuple[str, ...]:
    """What a Host header may say, `:*` standing for any port."""
    known = [*named, *([bind.host] if bind.host not in ANYWHERE else [])]
    return (*LOOPBACK, *known, *(f"{host}:*" for host in known))


def allowed_origins(hosts: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{scheme}://{host}" for host in hosts for scheme in ("http", "https"))


def is_among(value: str, allowed: Sequence[str]) -> bool:
    """Whether a host or an origin is one of these, without regard to the case of its letters."""
    said = value.lower()
    before, colon, port = said.rpartition(":")
    any_port = f"{before}:*" if colon and port.isdigit() else ""
    # A default port may be left out, and then `:*` means it too.
    return any(one in (said, any_port, f"{said}:*") for one in map(str.lower, allowed))


@dataclass(slots=True)
class Rate:
    """So many requests a minute for each caller, some of them at once."""

    most: int
    _left: dict[str, tuple[float, float]] = field(default_factory=dict)

    def admits(self, name: str) -> bool:
        if not self.most:
            return True
        now = time.monotonic()
        left, since = self._left.get(name, (float(self.most), now))
        left = min(self.most, left + (now - since) * self.most / 60)
        if len(self._left) >= MOST_CALLERS:
            self._left.clear()
        self._left[name] = (max(0.0, left - 1), now)
        return left >= 1
