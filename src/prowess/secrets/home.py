"""The home of secrets: the operating system's keyring, else a file that only its owner may read.

Above: the environment that sources and capabilities look secrets up in, and `prowess secret`. Below: the
keyring and the disk. One small file says what there is and where each value is kept; it is written anew at
every change, so that a process that runs learns of it by a look at the file. Values go out through `get`
alone.
"""

import json
import logging
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from prowess.errors import SecretError
from prowess.secrets.os_keyring import OsKeyring, os_keyring

logger = logging.getLogger("prowess")

Kept: TypeAlias = Literal["keyring", "file"]
"""Where a value is kept."""
Choice: TypeAlias = Literal["auto", "keyring", "file"]

FILE = "secrets.json"
KEYRING = "keyring"
MAX_VALUE_LENGTH = 64 * 1024


@dataclass(slots=True)
class SecretHome:
    """Named secrets of the person whose machine this is.

    Nothing of the environment says where it is: a client may start prowess without it.
    """

    folder: Path
    choice: Choice = "auto"
    keyring_of: Callable[[str], OsKeyring | None] = os_keyring
    _stamp: tuple[int, ...] = ()
    _kept: Mapping[str, str | None] = field(default_factory=dict)
    """Name -> value; none where the value is in the keyring."""
    _read: dict[str, str] = field(default_factory=dict)
    """What was read from the keyring since the file changed last."""
    _keyring: OsKeyring | None = None
    _looked: bool = False

    @property
    def file(self) -> Path:
        return self.folder / FILE

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._now()))

    def get(self, name: str) -> str:
        """The value; empty where there is none."""
        kept = self._now()
        if name not in kept:
            return ""
        value = kept[name]
        if value is not None:
            return value
        if name not in self._read:
            keyring = self._the_keyring()
            self._read[name] = keyring.read(name) if keyring else ""
        return self._read[name]

    def where(self, name: str) -> Kept | None:
        kept = self._now()
        if name not in kept:
            return None
        return "keyring" if kept[name] is None else "file"

    def set(self, name: str, value: str) -> str:
        """Keep a value, in place of the one before; returns where, in words."""
        if not value or len(value) > MAX_VALUE_LENGTH or "\0" in value:
            what = f"it is not a text of 1 to {MAX_VALUE_LENGTH} characters"
            raise SecretError(name, what, "give the value at the prompt, or through a pipe")
        with self._changing() as kept:
            keyring = self._the_keyring() if self.choice != "file" else None
            if keyring is not None and keyring.write(name, value):
                kept[name] = None
                return f"the keyring ({keyring.title})"
            if self.choice == "keyring":
                remedy = (
                    'install it with: pip install "prowess[secrets]"; or write keep = "file" in [secrets]'
                )
                raise SecretError(name, "there is no keyring here that keeps secrets", remedy)
            kept[name] = value
            return str(self.file)

    def remove(self, name: str) -> bool:
        """Whether there was anything to remove."""
        if name not in self._now():
            return False
        with self._changing() as kept:
            if name in kept and kept.pop(name) is None and (keyring := self._the_keyring()):
                keyring.remove(name)
        return True

    def fault(self) -> str:
        """What is wrong with the file: others may read it, or it is none of ours."""
        try:
            self._load()
            mode = self.file.stat().st_mode
        except SecretError as error:
            return error.message
        except OSError:
            return ""
        is_open = os.name == "posix" and bool(mode & (stat.S_IRWXG | stat.S_IRWXO))
        return "others on this machine may read it" if is_open else ""

    # --- the file --------------------------------------------------------------------------------

    def _the_keyring(self) -> OsKeyring | None:
        if not self._looked:
            service = "prowess" if self.folder == default_folder() else f"prowess {self.folder}"
            self._keyring, self._looked = self.keyring_of(service), True
        return self._keyring

    def _now(self) -> Mapping[str, str | None]:
        try:
            status = os.stat(self.file)
        except OSError:
            self._stamp, self._kept = (), {}
            return self._kept
        stamp = (status.st_mtime_ns, status.st_ino, status.st_size)
        if stamp != self._stamp:
            self._read, self._stamp = {}, stamp
            try:
                self._kept = self._load()
            except SecretError as error:  # no turn ends for it; `prowess doctor` says so
                logger.warning("%s", error)
                self._kept = {}
        return self._kept

    def _load(self) -> dict[str, str | None]:
        try:
            held = json.loads(self.file.read_text(encoding="utf-8"))["secrets"]
            return {str(name): _value(one) for name, one in held.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as failure:
            what = f"cannot be read ({type(failure).__name__})"
            remedy = "mend it, or remove it and set the secrets again"
            raise SecretError(str(self.file), what, remedy) from None

    @contextmanager
    def _changing(self) -> Iterator[dict[str, str | None]]:
        """What is kept, to be changed and written whole; others who change it wait."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _locked(self.folder / f".{FILE}.lock"):
                kept = self._load()
                yield kept
                self._write(kept)
        except OSError as failure:
            what = f"cannot be written ({failure.strerror})"
            raise SecretError(str(self.file), what, "give this user the folder, or name another") from None

    def _write(self, kept: Mapping[str, str | None]) -> None:
        held = {name: {KEYRING: True} if v is None else {"value": v} for name, v in sorted(kept.items())}
        new = self.folder / f".{FILE}.{os.getpid()}"
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump({"secrets": held}, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.file)
        with suppress(OSError):
            self.folder.chmod(0o700)
        self._stamp = ()


def default_folder() -> Path:
    return Path.home() / ".local" / "state" / "prowess" / "secrets"


def _value(held: object) -> str | None:
    if isinstance(held, dict) and held.get(KEYRING) is True:
        return None
    if isinstance(held, dict) and isinstance(held.get("value"), str):
        return str(held["value"])
    raise ValueError


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    try:
        import fcntl  # not on Windows, where the file is written whole and the last one wins
    except ImportError:
        yield
        return
    with open(os.open(file, os.O_RDWR | os.O_CREAT, 0o600), "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
