"""Values of parameters as they stand in a path, a query, a header or a cookie.

Above: `request`. Below: nothing but text. The styles are those of the specification, which are the
expansions of RFC 6570; where it leaves a value undefined, the value is refused rather than guessed at,
except inside a `deepObject`, whose brackets go on.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from prowess.errors import SourceError

COOKIE_VALUE = "!#$&'()*+-./:<=>?@[]^_`{|}~"
"""What may stand in the value of a cookie beside letters and digits, but for the sign that escapes."""
COOKIE_OCTETS = re.compile(r"[!#-+\--:<-\[\]-~]*")
TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
HEADER_VALUE = re.compile(r"([!-~]([\t -~]*[!-~])?)?")
PATH_RESERVED = "!$&'()*+,:;=@"
"""Reserved characters that may stand in a segment of a path."""
QUERY_RESERVED = "!$'()*,/:;?@"
"""Reserved characters that mean nothing in a query: `&`, `=`, `+` and `#` would not arrive as given."""
TRIPLE = re.compile(r"(%[0-9A-Fa-f]{2})")
MAX_WHOLE_FLOAT = 2**53
EXPLODED = ("form", "deepObject", "cookie")
"""Styles that take their values apart unless the document says otherwise."""
STYLES = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form", "cookie"),
}
SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|"}
PLAIN_REMEDY = "give plain values; the document names no form for one inside another"

Place = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NamedValues:
    """One name with one value, or with several that share it, in an order that means something."""

    name: str
    values: tuple[str, ...]
    separator: str = ""
    """What stands between them; empty where there is one value that is no list."""

    def joined(self) -> str:
        """The values as text that nothing encodes: the separator must not be in them."""
        if self.separator and any(self.separator in one for one in self.values):
            what = f"a value holds {self.separator!r}, which is what separates values here"
            raise SourceError(self.name, what, "give values without it")
        return self.separator.join(self.values)


def style_of(place: Place) -> str:
    """The style of a parameter, which must be one that its place can have."""
    where = str(place["in"])
    style = str(place.get("style", STYLES[where][0]))
    if style not in STYLES[where]:
        what = f"the document gives it the style {style!r}, which a {where} parameter cannot have"
        raise SourceError(str(place["name"]), what, "correct the document, or leave the argument out")
    return style


def plain(name: str, value: Any) -> str:
    """A value that is neither a list nor an object, as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping | list):
        raise SourceError(name, "holds a list or an object where only a plain value has a form", PLAIN_REMEDY)
    if isinstance(value, float) and value.is_integer() and abs(value) < MAX_WHOLE_FLOAT:
        return str(int(value))
    return as_json(name, value)


def as_json(name: str, value: Any, ascii: bool = False) -> str:
    try:
        return json.dumps(value, ensure_ascii=ascii, separators=(",", ":"), allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        raise SourceError(name, f"is not JSON: {error}", "give numbers that are finite") from error


def is_exploded(place: Place, style: str) -> bool:
    return place.get("explode", style in EXPLODED) is True


def members(name: str, value: Any) -> list[tuple[str, str]]:
    """The parts of a list, under no name, or of an object; what is null is not there."""
    if isinstance(value, Mapping):
        return [(str(key), plain(name, one)) for key, one in value.items() if one is not None]
    listed = value if isinstance(value, list) else [value]
    return [("", plain(name, one)) for one in listed if one is not None]


def flat(name: str, value: Any) -> tuple[str, ...]:
    """The values of a list; of an object each key and its value."""
    found = members(name, value)
    return tuple(part for pair in found for part in pair) if isinstance(value, Mapping) else _second(found)


def _second(pairs: list[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(value for _, value in pairs)


# --- in a path -------------------------------------------------------------------------------


def path_value(place: Place, value: Any) -> str:
    """What replaces the parameter's name in the path."""
    name, style = str(place["name"]), style_of(place)
    if "content" in place:
        return quote(content_text(place, value), safe="")
    is_whole = not isinstance(value, Mapping | list)
    # What separates the parts of a list is escaped where it belongs to one of them.
    reserved = PATH_RESERVED if is_whole else PATH_RESERVED.translate(dict.fromkeys(map(ord, ",;=")))
    lead = {"simple": "", "label": ".", "matrix": ";"}[style]
    if is_whole or not is_exploded(place, style):
        text = ",".join(encoded(place, one, reserved) for one in flat(name, value))
        empty = value is None or (not is_whole and not flat(name, value))
        return "" if empty else lead + (_assigned(name, text) if style == "matrix" else text)
    parts = []
    for key, one in members(name, value):
        text = encoded(place, one, reserved)
        key = quote(key, safe="")
        if style == "matrix":
            parts.append(_assigned(key or name, text))
        else:
            parts.append(f"{key}={text}" if isinstance(value, Mapping) else text)
    return lead + (lead or ",").join(parts) if parts else ""


def _assigned(name: str, text: str) -> str:
    return f"{name}={text}" if text else name


# --- in a query ------------------------------------------------------------------------------


def query_pairs(place: Place, value: Any) -> list[str]:
    """Pairs of a query as they stand in a URL."""
    if "content" in place:
        return [f"{quote(str(place['name']), safe='')}={quote(content_text(place, value), safe='')}"]
    pairs = []
    for one in named_values(place, value):
        # A comma separates as it is, and is escaped where it belongs to a value.
        reserved = QUERY_RESERVED.replace(",", "") if one.separator else QUERY_RESERVED
        separator = quote(one.separator, safe=",")
        if one.separator != ",":
            one.joined()
        text = separator.join(encoded(place, part, reserved) for part in one.values)
        pairs.append(f"{quote(one.name, safe='')}={text}")
    return pairs


def named_values(place: Place, value: Any) -> list[NamedValues]:
    """The pairs that the style of a query makes of a value, before anything is encoded."""
    name, style = str(place["name"]), style_of({**place, "in": "query"})
    if style == "deepObject":
        if not isinstance(value, Mapping | list):
            raise SourceError(name, "has the style deepObject, which has a form for objects only", "give one")
        return [NamedValues(key, (text,)) for key, text in _deep(name, value)]
    if isinstance(value, Mapping | list):
        if is_exploded(place, style):
            return [NamedValues(key or name, (text,)) for key, text in members(name, value)]
        values = flat(name, value)
        return [NamedValues(name, values, SEPARATORS.get(style, ","))] if values else []
    return [] if value is None else [NamedValues(name, (plain(name, value),))]


def _deep(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(value, Mapping | list):
        if value is not None:
            yield name, plain(name, value)
        return
    for key, one in value.items() if isinstance(value, Mapping) else enumerate(value):
        yield from _deep(f"{name}[{key}]", one)


# --- in headers ------------------------------------------------------------------------------


def header_value(place: Place, value: Any) -> str:
    """The value of a header; nothing in it is encoded."""
    name, style = str(place["name"]), style_of(place)
    if not TOKEN.fullmatch(name):
        raise SourceError(name, "no header can have this name", "correct it in the document")
    if "content" in place:
        return checked_header(name, content_text(place, value, ascii=True))
    if isinstance(value, Mapping) and is_exploded(place, style):
        listed = tuple(f"{key}={text}" for key, text in members(name, value))
    else:
        listed = flat(name, value)
    separator = "," if isinstance(value, Mapping | list) else ""
    return checked_header(name, NamedValues(name, listed, separator).joined())


def checked_header(name: str, text: str) -> str:
    """The same text, if a header can carry it; a line break would begin another header."""
    if not text.isascii():
        raise SourceError(name, "a header may hold only ASCII characters", "give a value without others")
    if not HEADER_VALUE.fullmatch(text):
        what = "a header holds no line break, no control character and no space at either end"
        raise SourceError(name, what, "give a value without")
    return text


def cookie_pairs(place: Place, value: Any) -> list[tuple[str, str]]:
    """Cookies as they stand in the header; a semicolon would begin another one."""
    name, style = str(place["name"]), style_of(place)
    if "content" in place:
        return [(_cookie_name(name), quote(content_text(place, value), safe=COOKIE_VALUE))]
    # A query's pairs are joined by an ampersand, which separates no cookies: each pair is one of its own.
    made = []
    for one in named_values({**place, "style": "form", "explode": is_exploded(place, style)}, value):
        if style == "form":
            text = ",".join(encoded(place, part, "", COOKIE_VALUE) for part in one.values)
        else:
            text = one.joined()
        if style == "cookie" and not COOKIE_OCTETS.fullmatch(text):
            what = "a cookie holds no space, comma, semicolon, quotation mark or backslash, only ASCII"
            raise SourceError(name, what, "give it escaped, as the service expects it")
        made.append((_cookie_name(one.name), text))
    return made


def _cookie_name(name: str) -> str:
    if not TOKEN.fullmatch(name):
        raise SourceError(name, "no cookie can have this name", "give another one")
    return name


# --- text ------------------------------------------------------------------------------------


def content_text(place: Place, value: Any, ascii: bool = False) -> str:
    """A value in the kind of content that the document names for the parameter."""
    name, kind = str(place["name"]), str(place["content"])
    if kind == "json":
        return as_json(name, value, ascii)
    if kind == "text" and isinstance(value, str):
        return value
    what = "is declared as content that is not JSON"
    raise SourceError(
        name, what, "give it as text" if kind == "text" else "leave it out: it is not supported"
    )


def encoded(place: Place, text: str, reserved: str, always: str = "") -> str:
    """Percent-encoded; where reserved characters are allowed, what is encoded already stays as it is.

    reserved: what stands as it is where the parameter allows it
    always: what stands as it is in any case
    """
    if place.get("allowReserved") is not True:
        return quote(text, safe=always)
    safe = reserved + always
    return "".join(one if TRIPLE.fullmatch(one) else quote(one, safe=safe) for one in TRIPLE.split(text))
