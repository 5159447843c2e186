"""A server as the MCP registry describes it, `server.json`, as the entry that a client would have of it.

Above: the importers, which read that entry as they read any other. What is secret, and what is required and
not given, becomes a reference; everything that cannot be taken over is said.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from prowess.errors import SourceError
from prowess.sources.imports.documents import Table
from prowess.sources.imports.placeholders import variable_name

STARTED_WITH = {"npm": "npx", "pypi": "uvx", "oci": "docker", "nuget": "dnx"}
_PLACEHOLDER = re.compile(r"\{(\w[\w.-]*)\}")
Told = list[str]


@dataclass(frozen=True, slots=True)
class DescribedServer:
    """A server's name, the entry that reaches it, and what a person should know of the rest."""

    name: str
    table: Mapping[str, Any]
    notes: tuple[str, ...] = ()


def is_registry_entry(data: Table) -> bool:
    entry = _entry(data)
    return "name" in entry and any(isinstance(entry.get(key), list) for key in ("packages", "remotes"))


def described(path: str, data: Table) -> DescribedServer:
    """What reaches the server: its first package that can be started here, else its first HTTP remote."""
    entry = _entry(data)
    name = str(entry["name"]).rpartition("/")[2]
    reader = _EntryReader(f"{path}: server {name!r}", name)
    ways = [*reader.packages(entry), *reader.remotes(entry)]
    if not ways:
        why = "; ".join(reader.refused) or "it has neither packages nor remotes"
        raise SourceError(reader.place, f"cannot be taken over: {why}", "ask its author how it is started")
    label, table, notes = ways[0]
    others = [f"{name} is {label}; it is also to be had as {', '.join(one for one, _, _ in ways[1:])}"]
    return DescribedServer(
        name,
        table,
        (*(others if len(ways) > 1 else ()), *notes, *(f"{name}: {one}" for one in reader.refused)),
    )


def _entry(data: Table) -> Table:
    """The entry itself; the registry's API has it one level further down."""
    inner = data.get("server")
    return inner if isinstance(inner, dict) and "name" in inner else data


Way = tuple[str, Mapping[str, Any], tuple[str, ...]]


@dataclass(slots=True)
class _EntryReader:
    place: str
    name: str
    refused: Told = field(default_factory=list)

    def packages(self, entry: Table) -> Iterator[Way]:
        for package in _objects(self.place, entry, "packages"):
            kind = _text(package, "registryType", "registry_type", "registry_name")
            identifier = _text(package, "identifier", "name")
            version = _text(package, "version") or _text(entry, "version")
            label = f"{kind}:{identifier}"
            transport = package.get("transport") or {}
            if kind not in STARTED_WITH or not identifier:
                self.refused.append(f"{label} is of a kind that prowess does not start")
            elif isinstance(transport, dict) and transport.get("type", "stdio") != "stdio":
                self.refused.append(f"{label} serves {transport.get('type')} and has to be started by hand")
            else:
                yield self._package(kind, label, identifier, version, package)

    def _package(self, kind: str, label: str, identifier: str, version: str, package: Table) -> Way:
        told: Told = []
        runtime = self._arguments(package, told, "runtimeArguments", "runtime_arguments")
        own = self._arguments(package, told, "packageArguments", "package_arguments")
        env = self._variables(_list(package, "environmentVariables", "environment_variables"), told, "env")
        command = _text(package, "runtimeHint", "runtime_hint") or STARTED_WITH[kind]
        match kind:
            case "oci":
                image = identifier if ":" in identifier.rpartition("/")[2] else f"{identifier}:{version}"
                image = image.rstrip(":")
                given = [word for name in env for word in ("-e", name)]
                args = ["run", "-i", "--rm", *given, *_without(runtime, "run", "-i", "--rm"), image, *own]
            case "npm":
                args = ["-y", *_without(runtime, "-y", "--yes"), _at(identifier, version), *own]
            case "nuget":
                args = [
                    *_without(runtime, "--yes"),
                    _at(identifier, version),
                    "--yes",
                    *(("--", *own) if own else ()),
                ]
            case _:
                args = [*runtime, _at(identifier, version), *own]
        return label, {"command": command, "args": args, "env": env}, tuple(told)

    def remotes(self, entry: Table) -> Iterator[Way]:
        for remote in _objects(self.place, entry, "remotes"):
            kind, url = _text(remote, "type", "transport_type"), _text(remote, "url")
            if kind not in ("streamable-http", "streamable", "http") or not url:
                self.refused.append(
                    f"{url or 'a remote'} speaks {kind or 'nothing known'}, not streamable HTTP"
                )
                continue
            told: Told = []
            url = self._filled(url, remote.get("variables"), told)
            headers = self._variables(_list(remote, "headers"), told, "header")
            yield url, {"url": url, "headers": headers}, tuple(told)

    def _variables(self, inputs: Sequence[Table], told: Told, what: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for one in inputs:
            name = _text(one, "name")
            value = self._value(one, name, told)
            if value is not None:
                found[name] = value
            elif name:
                about = _text(one, "description")
                told.append(f"{self.name}: {what} {name} is left out, it is not required"
                            + (f" ({about})" if about else ""))  # fmt: skip
        return found

    def _arguments(self, package: Table, told: Told, *keys: str) -> list[str]:
        words: list[str] = []
        for one in _list(package, *keys):
            option = _text(one, "name")
            hint = option.lstrip("-") or _text(one, "valueHint", "value_hint") or "argument"
            is_flag = bool(option) and not any(
                key in one for key in ("value", "default", "valueHint", "isRequired")
            )
            value = "" if is_flag else self._value(one, hint, told)
            if value is None:
                told.append(f"{self.name}: argument {option or hint} is left out, it is not required")
            else:
                words += [word for word in (option, value) if word]
        return words

    def _value(self, one: Table, name: str, told: Told) -> str | None:
        """What is given for an input; a reference for a secret and for what is required and not given."""
        value = one.get("value", one.get("default"))
        is_secret, is_required = _flag(one, "isSecret", "is_secret"), _flag(one, "isRequired", "is_required")
        inner = one.get("variables")
        if isinstance(value, str | int | float) and not (is_secret and not inner):
            text = str(value).lower() if isinstance(value, bool) else str(value)
            return self._filled(text, inner, told, is_secret)
        return f"${{{self._variable(name)}}}" if is_secret or is_required else None

    def _filled(self, text: str, variables: object, told: Told, is_secret: bool = False) -> str:
        """A text with its `{placeholders}`, each an input of its own; all of a secret is secret."""
        known = variables if isinstance(variables, dict) else {}

        def put(match: re.Match[str]) -> str:
            one = known.get(match[1])
            if not isinstance(one, dict):
                return match[0]
            value = self._value({**one, "isSecret": True} if is_secret else one, match[1], told)
            return f"${{{self._variable(match[1])}}}" if value is None else value

        return _PLACEHOLDER.sub(put, text) if known else text

    def _variable(self, name: str) -> str:
        made = variable_name(name)
        return made if made == name else variable_name(f"{self.name}_{name}")


def _at(identifier: str, version: str) -> str:
    return f"{identifier}@{version}" if version and version != "latest" else identifier


def _without(words: Sequence[str], *left_out: str) -> list[str]:
    return [word for word in words if word not in left_out]


def _objects(place: str, entry: Table, key: str) -> list[Table]:
    found = entry.get(key) or []
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise SourceError(place, f"{key!r} is not a list of tables", "correct it, or name another file")
    return found


def _list(table: Table, *keys: str) -> list[Table]:
    found: object = next((table[key] for key in keys if table.get(key)), [])
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _text(table: Table, *keys: str) -> str:
    return next((table[key] for key in keys if isinstance(table.get(key), str)), "")


def _flag(table: Table, *keys: str) -> bool:
    return any(table.get(key) is True for key in keys)
