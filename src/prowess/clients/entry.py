"""The entry that a client needs to reach prowess: a program that it starts, or an address.

Above: `connection`. What a client's own entries held and nobody else keeps, its secrets and its references to
them, goes on being given by the client: it stands in the entry's environment, and in no file of prowess.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from prowess.clients.client import McpClient
from prowess.errors import ConfigError

NAME = "prowess"
NOTHING: Mapping[str, str | None] = {}
_UNSET = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class LocalEntry:
    """This installation by its full path: a client that is started from a desktop has no PATH."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)

    def fields(self, client: McpClient) -> dict[str, Any]:
        """The entry as a client writes it."""
        if client.command_in_one:
            written: dict[str, Any] = {"command": [self.command, *self.args]}
        else:
            written = {"command": self.command, "args": list(self.args)}
        inherited = [name for name, value in self.env.items() if client.inherited and value == f"${{{name}}}"]
        given = {name: _lenient(text, client) for name, text in self.env.items() if name not in inherited}
        if given:
            written[client.env] = given
        if inherited:
            written[client.inherited] = inherited
        return _with_type(client.local, written)


@dataclass(frozen=True, slots=True)
class RemoteEntry:
    """One process that several clients share; `token` says which agent this one is."""

    url: str
    token: str = field(default="", repr=False)

    def fields(self, client: McpClient) -> dict[str, Any]:
        """The entry as a client writes it."""
        if client.remote is None:
            what = f"{client.title} starts its servers itself and takes no address"
            raise ConfigError("--http", what, "leave --http out")
        written: dict[str, Any] = {client.url: self.url}
        if self.token:
            written[client.headers] = {"Authorization": f"Bearer {self.token}"}
        return _with_type(client.remote, written)


Entry = LocalEntry | RemoteEntry


def local_entry(
    python: str, config: str, agent: str, env: Mapping[str, str], chosen: Mapping[str, str | None] = NOTHING
) -> LocalEntry:
    """What starts the gateway of a configuration with this installation.

    agent: who the client is; empty for the one that is meant when none is named.
    chosen: the `store` and the `replica` of the command line, where it names them.
    """
    given = {"--config": config, "--store": chosen.get("store"), "--replica": chosen.get("replica")}
    options = [word for option, value in given.items() if value for word in (option, value)]
    named = ("--agent", agent) if agent else ()
    # -P: the folder that a client works in holds whatever it likes, and none of it is part of prowess.
    return LocalEntry(python, ("-P", "-m", NAME, *options, "serve", "mcp", *named), env)


def _with_type(extra: Mapping[str, Any], written: Mapping[str, Any]) -> dict[str, Any]:
    first = {"type": extra["type"]} if "type" in extra else {}
    return {**first, **written, **extra}


def _lenient(value: str, client: McpClient) -> str:
    """A reference with an empty default, where one to nothing would keep every server from starting."""
    return _UNSET.sub(r"${\1:-}", value) if client.unset_is_fatal else value
