"""The keyring of the operating system, where there is one that keeps a secret.

Above: the home of secrets. Below: the library `keyring`, the optional part `secrets`. A backend that writes
plain text, keeps nothing or always fails is treated as no keyring at all.
"""

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

logger = logging.getLogger("prowess")

UNSAFE_MODULES = ("keyring.backends.fail", "keyring.backends.null", "keyrings.alt")
LOWEST_PRIORITY = 1.0
"""What the library itself recommends a backend to have at least."""
SESSION_BUS = "DBUS_SESSION_BUS_ADDRESS"


class OsKeyring:
    """One keyring of this machine, in which each secret is one entry."""

    def __init__(self, backend: "KeyringBackend", service: str) -> None:
        self._backend = backend
        self._service = service

    @property
    def title(self) -> str:
        """What a person knows it as."""
        return str(self._backend.name)

    def read(self, name: str) -> str:
        """The value; empty where there is none, or where the keyring is locked or gone."""
        try:
            return self._backend.get_password(self._service, name) or ""
        except Exception as failure:  # each backend has errors of its own; one secret must not end a turn
            logger.warning("the keyring cannot be read: %s", type(failure).__name__)
            return ""

    def write(self, name: str, value: str) -> bool:
        """Whether the value can be had again afterwards."""
        try:
            self._backend.set_password(self._service, name, value)
        except Exception as failure:
            logger.warning("the keyring cannot be written to: %s", type(failure).__name__)
            return False
        return self.read(name) == value

    def remove(self, name: str) -> None:
        try:
            self._backend.delete_password(self._service, name)
        except Exception as failure:
            logger.warning("nothing was removed from the keyring: %s", type(failure).__name__)


def os_keyring(service: str) -> OsKeyring | None:
    """The best usable keyring; nothing where there is none, or where `keyring` is not installed."""
    try:
        from keyring import get_keyring  # the optional part `secrets`, and slow to import
    except ImportError:
        return None
    _find_session_bus()
    try:
        safe = [one for one in _backends(get_keyring()) if _is_safe(one)]
    except Exception as failure:  # looking for backends runs their code
        logger.warning("no keyring is used: %s", type(failure).__name__)
        return None
    return OsKeyring(safe[0], service) if safe else None


def _backends(found: "KeyringBackend") -> "Iterator[KeyringBackend]":
    """The backend itself, or those that it tries one after the other."""
    chained = getattr(found, "backends", None)
    if isinstance(chained, list | tuple):
        yield from chained
    else:
        yield found


def _is_safe(backend: "KeyringBackend") -> bool:
    kind = type(backend)
    return not kind.__module__.startswith(UNSAFE_MODULES) and float(backend.priority) >= LOWEST_PRIORITY


def _find_session_bus() -> None:
    """A client starts servers with a bare environment; the session's bus is still at its usual place."""
    if SESSION_BUS in os.environ or not hasattr(os, "getuid"):
        return
    bus = Path(f"/run/user/{os.getuid()}/bus")
    if bus.exists():
        os.environ[SESSION_BUS] = f"unix:path={bus}"
