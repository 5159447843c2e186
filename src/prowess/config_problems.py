"""What is wrong in a prowess.toml: from a message of msgspec to a line, and to what was probably meant."""

import re
from collections import Counter
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from prowess.errors import ConfigError, nearest


def config_error(message: str, text: str, place: str, whole: type[msgspec.Struct]) -> ConfigError:
    """What is wrong in a configuration of a type, on which line, and what was probably meant."""
    what, _, where = message.partition(" - at `$")
    where = where.rstrip("`").lstrip(".")
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", what)
    if not unknown:
        remedy = _remedy(what, where, whole)
        return ConfigError(_at(place, where, text), f"{where or 'the file'}: {what}", remedy)
    key = unknown[1]
    known = _section_at(whole, where).__struct_fields__
    close = nearest(key, known)
    section = f" in [{where}]" if where else ""
    remedy = f"did you mean {close!r}?" if close else f"known keys: {', '.join(sorted(known))}"
    return ConfigError(
        _at(place, f"{where}.{key}".lstrip("."), text), f"unknown key {key!r}{section}", remedy
    )


def _remedy(what: str, where: str, whole: type[msgspec.Struct]) -> str:
    section, _, key = where.rpartition(".")
    if what.startswith("Invalid enum value"):
        hint = get_type_hints(_section_at(whole, section)).get(key)
        words = [
            word for part in (hint, *get_args(hint)) if get_origin(part) is Literal for word in get_args(part)
        ]
        return f"write one of: {', '.join(words)}"
    return "add it" if "missing required" in what else "give it a value like that"


def _section_at(whole: type[msgspec.Struct], where: str) -> type[msgspec.Struct]:
    """The type of what is written at a place such as `source[2].limits` or `cards.profiles[...]`."""
    found = whole
    for name in re.findall(r"[A-Za-z_]\w*", where):
        inner = _section_in(get_type_hints(found).get(name))
        if inner is None:
            return found
        found = inner
    return found


def _section_in(hint: Any) -> type[msgspec.Struct] | None:
    """The section in a hint such as `list[SourceConfig]` or `AuthorizationConfig | None`."""
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return hint
    return next((found for part in get_args(hint) if (found := _section_in(part))), None)


def _at(place: str, where: str, text: str) -> str:
    """The place with its line: that of a key in its own table, or of the table itself."""
    table, _, key = where.replace("[...]", "").rpartition(".")
    assigned = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*[.=]""")
    inside, tables = "", Counter[str]()
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]", line)
        if header:
            name = re.sub(r"[\s\"']", "", header[2])
            inside = f"{name}[{tables[name]}]" if header[1] == "[[" else name
            tables[name] += 1
        meant = inside == where if header else inside == table and assigned.match(line)
        if meant:
            return f"{place}, line {number}"
    return place
