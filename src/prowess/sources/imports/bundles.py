"""An MCPB bundle: a server in a zip file with a `manifest.json` that says how it is started.

Above: the importers. Below: `unpacking`. What a person configures becomes a reference where it is a secret or
has no default; what cannot be taken over is said.
"""

import hashlib
import json
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prowess.errors import SourceError
from prowess.sources.imports.documents import Table
from prowess.sources.imports.placeholders import variable_name
from prowess.sources.imports.registry import DescribedServer
from prowess.sources.imports.unpacking import check_archive, unpack

ENDINGS = (".mcpb", ".dxt")
MANIFEST = "manifest.json"
LARGEST_MANIFEST = 4 * 1024 * 1024
FOLDERS = {"HOME": "", "DESKTOP": "/Desktop", "DOCUMENTS": "/Documents", "DOWNLOADS": "/Downloads"}
_SETTING = re.compile(r"\$\{user_config\.([\w.-]+)\}")
_KNOWN = re.compile(r"\$\{(__dirname|HOME|DESKTOP|DOCUMENTS|DOWNLOADS|pathSeparator|/)\}")


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle and the folder that it is unpacked into, which has the digest of the file in its name."""

    path: Path
    folder: Path
    server: DescribedServer

    def unpack(self) -> None:
        """Put its files there, all or none."""
        unpack(self.path, self.folder)


def is_bundle(path: str) -> bool:
    return path.lower().endswith(ENDINGS)


def read_bundle(path: str, folder: Path) -> Bundle:
    """What a bundle says; nothing is unpacked. `folder` holds all bundles."""
    file = Path(path)
    try:
        with zipfile.ZipFile(file) as archive:
            check_archive(path, archive)
            manifest = _manifest(path, archive)
        with file.open("rb") as whole:
            digest = hashlib.file_digest(whole, "sha256").hexdigest()[:12]
    except FileNotFoundError:
        raise SourceError(path, "does not exist", "name a bundle") from None
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, UnicodeError) as error:
        raise SourceError(path, f"is not a bundle that can be read: {error}", "get it anew") from None
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", str(manifest.get("name") or "")).strip("-.")[:64] or "bundle"
    home = folder / f"{name}-{digest}"
    return Bundle(file, home, _Described(f"{path}: server {name!r}", name, str(home)).server(manifest))


def _manifest(path: str, archive: zipfile.ZipFile) -> Table:
    try:
        with archive.open(MANIFEST) as file:
            text = file.read(LARGEST_MANIFEST + 1)
    except KeyError:
        raise SourceError(path, f"has no {MANIFEST}", "name an MCPB bundle") from None
    try:
        manifest = json.loads(text) if len(text) <= LARGEST_MANIFEST else None
    except (ValueError, RecursionError):
        manifest = None
    if not isinstance(manifest, dict):
        raise SourceError(path, f"its {MANIFEST} cannot be read", "ask its author for another one")
    return manifest


@dataclass(slots=True)
class _Described:
    place: str
    name: str
    home: str
    settings: Table = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def server(self, manifest: Table) -> DescribedServer:
        self._check_platform(manifest)
        config = self._config(manifest)
        settings = manifest.get("user_config")
        self.settings = settings if isinstance(settings, dict) else {}
        env = config.get("env") if isinstance(config.get("env"), dict) else {}
        table: dict[str, Any] = {
            "command": self._text(str(config.get("command") or "")),
            "args": list(self._arguments(config.get("args"))),
            "env": {str(name): text for name, value in (env or {}).items()
                    if (text := self._variable(str(name), str(value))) is not None},
            "cwd": self.home,
        }  # fmt: skip
        if prompts := manifest.get("prompts"):
            count = len(prompts) if isinstance(prompts, list) else 1
            self.notes.append(f"{self.name}: {count} prompts of its manifest are not taken over")
        return DescribedServer(self.name, table, tuple(self.notes))

    def _check_platform(self, manifest: Table) -> None:
        said = manifest.get("compatibility")
        platforms = said.get("platforms") if isinstance(said, dict) else None
        if isinstance(platforms, list) and platforms and sys.platform not in platforms:
            what = f"is for {', '.join(map(str, platforms))}, and this is {sys.platform}"
            raise SourceError(self.place, what, "ask its author for one that runs here")

    def _config(self, manifest: Table) -> Table:
        server = manifest.get("server")
        config = server.get("mcp_config") if isinstance(server, dict) else None
        if not isinstance(config, dict) or not config.get("command"):
            raise SourceError(self.place, "does not say how it is started", "ask its author for another one")
        others = config.get("platform_overrides")
        own = others.get(sys.platform) if isinstance(others, dict) else None
        return {**config, **own} if isinstance(own, dict) else config

    def _arguments(self, args: object) -> Iterator[str]:
        for arg in args if isinstance(args, list) else ():
            whole = _SETTING.fullmatch(str(arg))
            if whole is None:
                yield self._text(str(arg))
                continue
            values = self._values(whole[1])
            if not values:
                self.notes.append(f"{self.name}: its setting {whole[1]} is left out, it is not required")
            yield from values

    def _variable(self, name: str, value: str) -> str | None:
        whole = _SETTING.fullmatch(value)
        if whole and not self._values(whole[1]):
            self.notes.append(f"{self.name}: env {name} is left out, it is not required")
            return None
        return self._text(value)

    def _text(self, text: str) -> str:
        filled = _SETTING.sub(lambda match: ",".join(self._values(match[1])), text)
        return _KNOWN.sub(self._known, filled)

    def _known(self, match: re.Match[str]) -> str:
        if match[1] == "__dirname":
            return self.home
        return "${HOME}" + FOLDERS[match[1]] if match[1] in FOLDERS else "/"

    def _values(self, key: str) -> list[str]:
        """What a person would configure: the default, or a reference."""
        said = self.settings.get(key)
        said = said if isinstance(said, Mapping) else {"required": True}
        default = said.get("default")
        if said.get("sensitive") is True or (default is None and said.get("required") is True):
            return [f"${{{variable_name(f'{self.name}_{key}')}}}"]
        found = default if isinstance(default, list) else [default] if default is not None else []
        return [_KNOWN.sub(self._known, _plain(one)) for one in found if str(one)]


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
