"""One MCP client: where it keeps its servers, under which keys, and how it writes one.

Above: the table of clients, and whoever changes a client's file. Nothing here reads or writes.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from prowess.errors import ConfigError

Scope = Literal["user", "project"]
KeyPath = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The machine as far as it decides where a client's file is."""

    home: Path
    project: Path
    platform: str
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def programs(self) -> Path:
        """Where desktop programs keep what they know of a person."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        return self.config

    @property
    def config(self) -> Path:
        if self.platform == "win32":
            return Path(self.environment.get("APPDATA") or self.home / "AppData" / "Roaming")
        return Path(self.environment.get("XDG_CONFIG_HOME") or self.home / ".config")


@dataclass(frozen=True, slots=True, kw_only=True)
class McpClient:
    """An MCP client, and the format of its file.

    name: as commands call it.
    title: as people call it.
    user: its file for one person, the first of these that exists, in `~`, `{programs}` or `{config}`.
    project: the same for one project, if it has one, from the project's folder.
    keys: where in it the servers are.
    switch: the key and value that switch a server off there; without one an entry is taken out.
    local: what an entry that starts a program has beside `command`, `args` and `env`.
    remote: what an entry that leads to an address has beside it; None: it cannot have one.
    command_in_one: `command` is one list with the arguments.
    env: the key of an entry's environment.
    inherited: the key of a list of variables that an entry takes over from where the client runs; without one
    the client resolves references in its environment.
    url: the key of an address.
    headers: the key of the headers sent to it.
    unset_is_fatal: a reference to a variable that is not set keeps it from starting any server.
    tool: how it calls a tool of one of its servers.
    reload: what makes it read its file anew.
    """

    name: str
    title: str
    user: tuple[str, ...]
    project: tuple[str, ...] = ()
    keys: KeyPath = ("mcpServers",)
    switch: tuple[str, bool] | None = None
    local: Mapping[str, Any] = field(default_factory=dict)
    remote: Mapping[str, Any] | None = field(default_factory=dict)
    command_in_one: bool = False
    env: str = "env"
    inherited: str = ""
    url: str = "url"
    headers: str = "headers"
    unset_is_fatal: bool = False
    tool: str = "{tool}"
    reload: str = "restart it"

    def file(self, scope: Scope, here: Surroundings) -> Path:
        """Its file: the first of the usual ones that exists, else the first."""
        places = self.user if scope == "user" else self.project
        if not places:
            raise ConfigError(
                f"--scope {scope}", f"{self.title} keeps no servers for {_WHOSE[scope]}", "leave it out"
            )
        files = [self._place(place, scope, here) for place in places]
        return next((file for file in files if file.exists()), files[0])

    def _place(self, place: str, scope: Scope, here: Surroundings) -> Path:
        if scope == "project":
            return here.project / place
        named = place.format(programs=here.programs, config=here.config)
        return Path(os.path.normpath(here.home / named.removeprefix("~/")))


_WHOSE = {"user": "one person", "project": "one project"}
