"""A client's file with prowess in the place of its servers, and the file as it was.

Above: the commands. Text in, text out: nothing here reads or writes a file. What was taken out is whatever
the kept text has and the present one lacks, so that going back needs no other record than that text.
"""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol

from prowess.clients import json_edits, toml_edits
from prowess.clients.client import KeyPath, McpClient
from prowess.clients.entry import NAME
from prowess.errors import ConfigError, SourceError
from prowess.sources.imports.documents import parsed
from prowess.sources.imports.found import FoundServer, servers_in
from prowess.sources.imports.imported_server import is_itself
from prowess.sources.imports.importers import free_name

Table = Mapping[str, Any]


class Edits(Protocol):
    """Changes to the text of one format."""

    def with_value(self, text: str, keys: KeyPath, value: Any) -> str: ...

    def without(self, text: str, keys: KeyPath) -> str: ...


@dataclass(frozen=True, slots=True)
class Restored:
    """What a file becomes without prowess; None where there was none. `notes` says what was special."""

    text: str | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClientFile:
    """The format of one client's file; `place` is its name in messages, whose ending says JSON or TOML."""

    client: McpClient
    place: str

    def own_entries(self, text: str) -> tuple[KeyPath, ...]:
        """Where prowess itself stands, however it is spelt."""
        return tuple(server.at for server in self._servers(text) if is_itself(server.name, server.table))

    def entry(self, text: str, at: KeyPath) -> Any:
        """What an entry says."""
        return next(server.table for server in self._servers(text) if server.at == at)

    def connected(
        self, text: str, taken: Iterable[KeyPath], entry: Table, itself: Iterable[KeyPath] = ()
    ) -> str:
        """The text with an entry of prowess, and with the servers it took over set aside.

        itself: other entries that lead to prowess, which are taken out.
        """
        before = self._data(text)
        taken = tuple(taken)
        itself = tuple({*itself, *self.own_entries(text)})
        changed = text
        for at in taken:
            changed = self._set_aside(changed, at)
        for at in itself:
            changed = self.edits.without(changed, at)
        keys = self._container(changed)
        name = free_name(NAME, self._at(changed, keys) or {})
        changed = self.edits.with_value(changed, (*keys, name), entry)
        self._check(before, self._data(changed), (*taken, (*keys, name), *itself))
        return changed

    def restored(self, now: str, kept: str | None) -> Restored:
        """The text without prowess, and with what was set aside as `kept` has it."""
        own = self.own_entries(now)
        if own and kept is not None and self._is_untouched(now, kept, own):
            return Restored(kept)
        if own and kept is None and now == self.connected("", (), self.entry(now, own[0])):
            return Restored(None)
        text = now
        for at in own:
            text = self.edits.without(text, at)
        if kept is None:
            return Restored(text)
        notes = [f"{self.place} was changed since it was connected; those changes stay"] if own else []
        for at in self._taken(now, kept):
            text = self._taken_back(text, kept, at)
        return Restored(text, tuple(notes))

    # --- parts -------------------------------------------------------------------------------

    def _is_untouched(self, now: str, kept: str, own: tuple[KeyPath, ...]) -> bool:
        return len(own) == 1 and now == self.connected(kept, self._taken(now, kept), self.entry(now, own[0]))

    def _taken(self, now: str, kept: str) -> tuple[KeyPath, ...]:
        """The servers that were set aside: what one text has and the other does not, or has switched off."""
        present = {server.at: server.table for server in self._servers(now)}
        return tuple(
            server.at
            for server in self._servers(kept)
            if not is_itself(server.name, server.table)
            and (self._is_off(present.get(server.at)) and not self._is_off(server.table)
                 if self.client.switch else server.at not in present)
        )  # fmt: skip

    def _is_off(self, table: object) -> bool:
        assert self.client.switch is not None
        key, off = self.client.switch
        return isinstance(table, Mapping) and table.get(key) is off

    def _set_aside(self, text: str, at: KeyPath) -> str:
        if self.client.switch is None:
            return self.edits.without(text, at)
        key, off = self.client.switch
        return self.edits.with_value(text, (*at, key), off)

    def _taken_back(self, text: str, kept: str, at: KeyPath) -> str:
        if self.client.switch is None:
            if self._at(text, at[:-1]) is None:
                text = self.edits.with_value(text, at[:-1], {})
            return json_edits.with_member(text, at[:-1], json_edits.written(kept, at))
        key, _ = self.client.switch
        before = self.entry(kept, at)
        if key in before:
            return self.edits.with_value(text, (*at, key), before[key])
        return self.edits.without(text, (*at, key))

    def _container(self, text: str) -> KeyPath:
        """Where a new entry belongs: opencode has begun to keep its servers one level further down."""
        further = self._at(text, (*self.client.keys, "servers"))
        deeper = isinstance(further, Mapping) and not {"command", "url", "type"} & further.keys()
        return (*self.client.keys, "servers") if deeper else self.client.keys

    def _check(self, before: Table, after: Table, changed: Iterable[KeyPath]) -> None:
        """Nothing but the entries that were meant may be another; else the text was not understood."""
        if _less(before, changed, self.client.keys) != _less(after, changed, self.client.keys):
            raise self._unusable("could not be changed without touching what is not a server")

    @property
    def edits(self) -> Edits:
        """How the text of its format is changed."""
        return toml_edits if self._is_toml else json_edits

    @property
    def _is_toml(self) -> bool:
        return self.place.lower().endswith(".toml")

    def _servers(self, text: str) -> tuple[FoundServer, ...]:
        data = self._data(text)
        try:
            return servers_in(self.place, data)
        except SourceError as error:
            if error.what.startswith("has no MCP servers"):
                return ()
            raise self._unusable(error.what) from None

    def _at(self, text: str, keys: KeyPath) -> Any:
        value: Any = self._data(text)
        for key in keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def _data(self, text: str) -> Table:
        plain = text.removeprefix("\ufeff")
        if not plain.strip():
            return {}
        try:
            data = parsed(self.place, plain)
            if not self._is_toml:
                json_edits.check(text)
        except SourceError as error:
            raise self._unusable(error.what) from None
        except ValueError as error:
            raise self._unusable(f"cannot be understood: {error}") from None
        return data

    def _unusable(self, what: str) -> ConfigError:
        return ConfigError(self.place, f"{what}; it is left as it is", "put the printed entry in by hand")


def _less(data: Table, changed: Iterable[KeyPath], keys: KeyPath) -> Any:
    """The data without some entries, and without tables that are empty then."""
    copy: Any = deepcopy(dict(data))
    for at in [*changed, keys]:
        holder = copy
        for key in at[:-1]:
            holder = holder.get(key, {}) if isinstance(holder, dict) else {}
        if isinstance(holder, dict) and (at != keys or not holder.get(at[-1])):
            holder.pop(at[-1], None)
    return copy
