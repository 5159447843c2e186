"""Backends for the library `keyring`, as machines have them: good, locked, feeble, and several in a row."""

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError


class DrawerKeyring(KeyringBackend):
    """Keeps secrets, as a keyring should."""

    priority: float = 5
    name = "Drawer"

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.drawer: dict[tuple[str, str], str] = {}
        self.count = 0

    def get_password(self, service: str, username: str) -> str | None:
        self.count += 1
        return self.drawer.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.drawer[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if (service, username) not in self.drawer:
            raise PasswordDeleteError(username)
        del self.drawer[service, username]

    @staticmethod
    def held(backend: KeyringBackend) -> dict[tuple[str, str], str]:
        assert isinstance(backend, DrawerKeyring)
        return backend.drawer

    @staticmethod
    def readings(backend: KeyringBackend) -> int:
        assert isinstance(backend, DrawerKeyring)
        return backend.count


class LockedKeyring(DrawerKeyring):
    """Nobody has unlocked it."""

    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked("locked")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise KeyringLocked("locked")


class FeebleKeyring(DrawerKeyring):
    """One that its own makers do not recommend."""

    priority = 0.5
    name = "Feeble"


class ChainedKeyring(DrawerKeyring):
    """Several in a row, of which only the second keeps secrets."""

    priority = 10
    name = "Chained"

    @property
    def backends(self) -> list[KeyringBackend]:
        return [FeebleKeyring(), DrawerKeyring()]
