"""From what is stored back to an entry: written by this version or by one before it."""

from collections.abc import Mapping

import msgspec

from prowess.journal import between_turns, entries
from prowess.journal.entry import Entry, Raw
from prowess.types import JournalEntry, JsonObject


def read(stored: JournalEntry) -> Entry | Raw:
    """What an entry says, as its type; as it stands where there is none, or where it does not fit."""
    known = TYPES.get(stored.type)
    if known is None:
        return Raw(stored.type, stored.data)
    try:
        return msgspec.convert(stored.data, known)
    except msgspec.ValidationError:
        return Raw(stored.type, stored.data)


def typed(type: str, data: JsonObject) -> Entry | Raw:
    """The entry of this type with these fields; a field that it does not have is a mistake of the writer."""
    known = TYPES.get(type)
    if known is None:
        return Raw(type, data)
    unknown = data.keys() - {field.encode_name for field in msgspec.structs.fields(known)}
    if unknown:
        raise TypeError(f"{type} has no field {', '.join(sorted(unknown))}")
    return msgspec.convert(data, known)


def _every() -> list[type[Entry]]:
    found = [each for module in (entries, between_turns) for each in vars(module).values()]
    return [each for each in found if isinstance(each, type) and issubclass(each, Entry) and each.type]


TYPES: Mapping[str, type[Entry]] = {each.type: each for each in _every()}
