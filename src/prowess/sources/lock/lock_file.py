"""`prowess.lock` beside prowess.toml: TOML, sorted, so that a change of it reads well in a review."""

import tomllib
from pathlib import Path

import msgspec
import tomlkit

from prowess.errors import ConfigError
from prowess.sources.lock.lock import Lock, LockedServer

NAME = "prowess.lock"
FORMAT = 1
ABOVE = (
    "What the servers of prowess.toml offered when somebody last looked: review a change of it like code.",
    "Written by `prowess lock`, compared by `prowess lock check`.",
)
LARGEST_LOCK = 64 * 1024 * 1024


class _Server(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    package: str = ""
    version: str = ""
    offers: dict[str, str] = {}


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: int
    server: dict[str, _Server] = {}


def read_lock(file: Path | None) -> Lock | None:
    """What the file says; nothing where there is none."""
    if file is None or not file.exists():
        return None
    try:
        if file.stat().st_size > LARGEST_LOCK:
            raise ValueError("it is too large")
        said = msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), _File)
        if said.format != FORMAT:
            raise ValueError(f"it has format {said.format}, and this prowess reads {FORMAT}")
    except (OSError, ValueError, RecursionError) as failure:  # the parsers' errors are ValueErrors
        remedy = "take the version that was reviewed, or remove the file and run: prowess lock"
        raise ConfigError(file.name, f"cannot be used: {failure}", remedy) from None
    servers = {
        name: LockedServer(package=one.package, version=one.version, offers=one.offers)
        for name, one in said.server.items()
    }
    return Lock(servers)


def written(lock: Lock) -> str:
    """The text of a lock."""
    document = tomlkit.document()
    for line in ABOVE:
        document.add(tomlkit.comment(line))
    document.add("format", tomlkit.item(FORMAT))
    servers = tomlkit.table(is_super_table=True)
    for name, server in sorted(lock.servers.items()):
        table = tomlkit.table()
        for key, value in (("package", server.package), ("version", server.version)):
            if value:
                table.add(key, value)
        offers = tomlkit.table()
        for key, digest in sorted(server.offers.items()):
            offers.add(tomlkit.key(key), digest)
        table.add("offers", offers)
        servers.add(tomlkit.key(name), table)
    if lock.servers:
        document.add("server", servers)
    return document.as_string()
