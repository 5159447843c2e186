"""A policy file as plain values: YAML or TOML, within bounds, nothing given twice.

Above: `definitions`, which makes grants and profiles of them. Below: the two parsers.

Not the reader of `text.documents`, which takes what others wrote as far as it can: here somebody decides what
is allowed. An alias, or a key such as `no` without quotes, is an error and no guess, and the values yes and
no are what those who write policies mean, as in YAML 1.1.
"""

import re
import tomllib
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, TypeVar

import msgspec
import yaml

from prowess.errors import PolicyError, nearest

MAX_FILE_BYTES = 4 * 1024 * 1024
DEEPEST = 32

_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


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
        _refuse_bombs(text, place)
        value = yaml.load(text, _Unique)
    except (yaml.YAMLError, RecursionError, ValueError) as failure:
        raise PolicyError(place, f"is not YAML: {_first_line(failure)}", "mend that line") from None
    if not isinstance(value, Mapping):
        raise PolicyError(place, "holds no mapping", "begin it with 'grants:', 'profiles:' or 'name:'")
    return value


def _refuse_bombs(text: str, place: str) -> None:
    """A few aliases of aliases stand for billions of values, and deep nesting ends the parser."""
    depth = 0
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.AliasEvent):
            raise PolicyError(place, "aliases are not read here", "use extends, or write the values out")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise PolicyError(place, f"is nested more than {DEEPEST} deep", "make it flatter")


class _Unique(_Loader):  # type: ignore[misc, valid-type]
    """Refuses a key that is given twice: the second `disallowed_tools` must not hide the first.

    A version such as 1.10 and a date stay the text that was written.
    """

    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, object]]]] = {
        first: [(tag, form) for tag, form in forms if not tag.endswith((":float", ":timestamp"))]
        for first, forms in _Loader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, object]:
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} is not text; put it in quotes", key_node.start_mark
                )
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} is given twice", key_node.start_mark
                )
            seen.add(key)
        mapping: dict[Hashable, object] = super().construct_mapping(node, deep)
        return mapping


def _first_line(failure: Exception) -> str:
    if isinstance(failure, yaml.MarkedYAMLError) and failure.problem_mark:
        return f"line {failure.problem_mark.line + 1}: {failure.problem or failure.context}"
    return str(failure).split("\n")[0]


Text = TypeVar("Text", bound=msgspec.Struct)


def convert(value: object, shape: type[Text], place: str) -> Text:
    """The value as this shape; an unknown key is named with the nearest known one."""
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as failure:
        raise _explain(str(failure), shape.__struct_fields__, place) from None


def _explain(message: str, known: Sequence[str], place: str) -> PolicyError:
    what, _, where = message.partition(" - at `$")
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", what)
    if unknown:
        return unknown_key(unknown[1], known, place)
    key = where.rstrip("`").lstrip(".")
    return PolicyError(place, f"{key or 'it'}: {what[0].lower()}{what[1:]}", "give it a value of that type")


def unknown_key(key: str, known: Sequence[str], place: str) -> PolicyError:
    close = nearest(key, known)
    remedy = f"did you mean {close!r}?" if close else f"known keys: {', '.join(sorted(known))}"
    return PolicyError(place, f"unknown key {key!r}", remedy)
