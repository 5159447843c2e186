"""A policy file as plain values: YAML or TOML, within bounds, nothing given twice.

Above: `definitions`, which makes grants and profiles of them. Below: the two parsers. YAML is that of version
1.2, so `off` and `no` are names; what an alias stands for is not read, because somebody decides here what is
allowed.
"""

import re
import tomllib
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from prowess.errors import PolicyError, SourceError, nearest
from prowess.text import documents

MAX_FILE_BYTES = 4 * 1024 * 1024
WRITTEN = frozenset({"since", "version"})
"""Keys whose value stays the text that was written: version 1.10 is not 1.1."""


def read_document(path: Path) -> Mapping[str, object]:
    """The mapping in this file."""
    place = path.name
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as failure:
        what = f"cannot be read ({failure.strerror or failure})"
        raise PolicyError(str(path), what, "restore the file, or take it out of [policy] files") from None
    if len(data) > MAX_FILE_BYTES:
        raise PolicyError(place, f"is larger than {MAX_FILE_BYTES} bytes", "split it into several files")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise PolicyError(place, "is not UTF-8", "save it as UTF-8") from None
    return parse_toml(text, place) if path.suffix == ".toml" else parse_yaml(text, place)


def parse_toml(text: str, place: str) -> Mapping[str, object]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as failure:
        raise PolicyError(place, f"is not TOML: {failure}", "mend that line") from None


def parse_yaml(text: str, place: str) -> Mapping[str, object]:
    try:
        value = documents.parse_yaml(text, place, aliases=False, as_text=WRITTEN)
    except SourceError as error:
        remedy = "use extends, or write the values out" if "aliases" in error.what else error.remedy
        raise PolicyError(place, error.what, remedy) from None
    if not isinstance(value, Mapping):
        raise PolicyError(place, "holds no mapping", "begin it with 'grants:', 'profiles:' or 'name:'")
    return value


Text = TypeVar("Text", bound=msgspec.Struct)


def convert(value: object, shape: type[Text], place: str) -> Text:
    """The value as this shape; an unknown key or word is named with the nearest known one."""
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as failure:
        raise _explain(str(failure), shape, place) from None


def _explain(message: str, shape: type[msgspec.Struct], place: str) -> PolicyError:
    what, _, where = message.partition(" - at `$")
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", what)
    if unknown:
        return unknown_key(unknown[1], shape.__struct_encode_fields__, place)
    key = where.rstrip("`").lstrip(".")
    wrong = re.fullmatch(r"Invalid enum value '(.*)'", what)
    if wrong and (words := _words(shape, key)):
        close = nearest(wrong[1], words)
        remedy = f"did you mean {close!r}?" if close else f"write one of: {', '.join(words)}"
        return PolicyError(place, f"{key}: {wrong[1]!r} is none of {', '.join(words)}", remedy)
    remedy = "write true or false" if what.startswith("Expected `bool") else "give it a value of that type"
    return PolicyError(place, f"{key or 'it'}: {what[0].lower()}{what[1:]}", remedy)


def _words(shape: type[msgspec.Struct], key: str) -> tuple[str, ...]:
    """The words that a key takes."""
    field = next((f.name for f in msgspec.structs.fields(shape) if f.encode_name == key), "")
    return tuple(_literals(get_type_hints(shape).get(field)))


def _literals(hint: Any) -> list[str]:
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else ()
    return [word for part in parts for word in _literals(part)]


def unknown_key(key: str, known: Sequence[str], place: str) -> PolicyError:
    close = nearest(key, known)
    remedy = f"did you mean {close!r}?" if close else f"known keys: {', '.join(sorted(known))}"
    return PolicyError(place, f"unknown key {key!r}", remedy)
