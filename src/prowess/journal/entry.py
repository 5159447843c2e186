"""What an entry of the journal is: a name, a version, fields that nobody can misspell, and its one text."""

from typing import ClassVar

import msgspec

from prowess.types import JsonObject


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """What is recorded of one thing that happened.

    Its name and its fields are what is stored, for ever: an entry may get further fields, with a default, and
    another version when the meaning of one changes.
    """

    type: ClassVar[str] = ""
    version: ClassVar[int] = 1
    traced_by: ClassVar[str] = ""
    """The field with the id of the request that this belongs to, where it belongs to one."""

    @property
    def trace(self) -> str:
        return str(getattr(self, self.traced_by)) if self.traced_by else ""


class Raw(msgspec.Struct, frozen=True):
    """What has no type here: written by a later version, by hand, or by a host for itself."""

    type: str
    data: JsonObject

    @property
    def trace(self) -> str:
        return ""


def encoded(entry: Entry | Raw) -> str:
    """The one text of an entry: sorted keys, no spaces; from its second version on it names the version."""
    if isinstance(entry, Raw):
        return _text(entry.data)
    if entry.version == 1:
        return _text(entry)
    return _text({**msgspec.to_builtins(entry), "version": entry.version})


def plain(entry: Entry | Raw) -> JsonObject:
    """The fields of an entry as JSON has them."""
    return entry.data if isinstance(entry, Raw) else msgspec.json.decode(encoded(entry))


def _text(value: object) -> str:
    return msgspec.json.encode(value, order="sorted").decode()
