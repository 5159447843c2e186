"""Where an MCP server is, and what it needs from the environment to be reached.

Above: the `mcp` source and the gateway, which connect; the importers, which write references.
Below: nothing but text. `${NAME}` and `${NAME:-default}` stay as written until the moment of
connecting, so that no value of a secret is ever part of a configuration, a capability or a log.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from prowess.errors import SourceError
from prowess.sources.mcp.isolation import Isolation

REFERENCE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")

# Every login has these, so a capability that mentions one does not wait for a person to set it.
ORDINARY = frozenset({"HOME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "TEMP", "TERM", "TMPDIR", "USER"})

SHORTEST_SECRET = 4


def references(text: str) -> tuple[str, ...]:
    """The variables a text cannot do without."""
    return tuple(m["name"] for m in REFERENCE.finditer(text) if m["default"] is None)


def unset(texts: Iterable[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that are needed and have no value; an empty one has none."""
    names = {name for text in texts for name in references(text)}
    return tuple(sorted(name for name in names if not environment.get(name)))


def expand(text: str, environment: Mapping[str, str]) -> str:
    """Put values in the place of references; one that is unset and has no default becomes empty."""
    return REFERENCE.sub(lambda m: environment.get(m["name"]) or m["default"] or "", text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """How a server is reached: a command to start, or a URL to call. Values may hold references."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    isolation: Isolation = field(default_factory=Isolation)
    """What a started server may reach."""

    @property
    def place(self) -> str:
        """The address as a person may see it: references unresolved, no arguments, no query."""
        return self.url.partition("?")[0] if self.url else self.command

    @property
    def variables(self) -> tuple[str, ...]:
        """Every variable that must be set before the server is of use."""
        names = {name for text in self._texts() for name in references(text)}
        return tuple(sorted(names - ORDINARY))

    def unset(self, environment: Mapping[str, str]) -> tuple[str, ...]:
        return unset(self._texts(), environment)

    def resolve(self, environment: Mapping[str, str]) -> "Address":
        """Put the values in. An env entry or header without its value is left out: many servers list
        their tools without it. Any other part without its value makes connecting pointless."""
        absent = unset((self.command, *self.args, self.cwd, self.url), environment)
        if absent:
            raise SourceError(
                self.place,
                f"environment variable {' and '.join(absent)} is not set",
                f"set {' and '.join(absent)} and sync again",
            )
        return replace(
            self,
            command=expand(self.command, environment),
            args=tuple(expand(arg, environment) for arg in self.args),
            env=_resolved(self.env, environment),
            cwd=expand(self.cwd, environment),
            url=expand(self.url, environment),
            headers=_resolved(self.headers, environment),
        )

    def hide(self, text: str, environment: Mapping[str, str]) -> str:
        """Take the values that were put into this address out of a text again."""
        for name, value in sorted(self._secrets(environment), key=lambda pair: -len(pair[1])):
            if len(value) >= SHORTEST_SECRET:
                text = text.replace(value, f"${{{name}}}")
        return text

    def _texts(self) -> tuple[str, ...]:
        return (self.command, *self.args, *self.env.values(), self.cwd, self.url, *self.headers.values())

    def _secrets(self, environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        for text in self._texts():
            for found in REFERENCE.finditer(text):
                if found["name"] not in ORDINARY:
                    yield found["name"], environment.get(found["name"], "")
        # Somebody may have written a value where a reference belongs.
        for name, value in (*self.env.items(), *self.headers.items()):
            if not REFERENCE.search(value):
                yield name, value


def _resolved(values: Mapping[str, str], environment: Mapping[str, str]) -> Mapping[str, str]:
    present = {name: value for name, value in values.items() if not unset((value,), environment)}
    return {name: expand(value, environment) for name, value in present.items()}
