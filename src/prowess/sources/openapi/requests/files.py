"""Bytes that a model gives as text: Base64, or a `data:` URL that also says what they are and their name.

Above: `bodies`. Below: nothing but text. Text that is neither is refused: a word like `test` is Base64, too,
so nothing could tell which was meant.
"""

import base64
import binascii
import mimetypes
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

from prowess.errors import SourceError
from prowess.sources.openapi.media import OCTETS, essence, kind_of

GIVE = "give it in Base64, or as a URL: data:TYPE;base64,... or data:text/plain,the%20text"


@dataclass(frozen=True, slots=True)
class GivenFile:
    """Bytes, and what was said about them."""

    content: bytes
    type: str = ""
    name: str = ""


def given_file(name: str, value: Any) -> GivenFile:
    """The bytes that a value of an argument stands for."""
    if not isinstance(value, str):
        raise SourceError(name, "takes bytes", GIVE)
    if value[:5].lower() != "data:":
        return GivenFile(_decoded(name, value))
    head, comma, data = value[5:].partition(",")
    if not comma:
        raise SourceError(name, "is a data: URL without a comma before its data", GIVE)
    kind, *parameters = head.split(";")
    named = next((one[5:] for one in parameters if one.lower().startswith("name=")), "")
    is_base64 = bool(parameters) and parameters[-1].strip().lower() == "base64"
    content = _decoded(name, unquote(data)) if is_base64 else unquote_to_bytes(data)
    # A name is no path: where the file lies is nobody's business.
    return GivenFile(content, kind.strip().lower(), re.split(r"[/\\]", unquote(named))[-1])


def file_name(name: str, given: GivenFile, type: str) -> str:
    """What the file is called: as was given, or after the field it is sent in."""
    return given.name or f"{name}{mimetypes.guess_extension(essence(type)) or '.bin'}"


def chosen_type(name: str, declared: str, given: str = "") -> str:
    """The one type of content out of those declared, by what was given; a range alone says too little."""
    options = [one.strip() for one in declared.split(",") if kind_of(one.strip())]
    bare = essence(given)
    if bare and kind_of(bare):
        fitting = [one for one in options if _covers(essence(one), bare)]
        if not options or (fitting and "*" in essence(fitting[0])):
            return bare
        if fitting:
            return fitting[0]
        raise SourceError(name, f"is {bare}, where {declared} is taken", "give one of these kinds")
    if not options or any(essence(one) in ("*/*", "application/*", OCTETS) for one in options):
        return OCTETS
    exact = next((one for one in options if "*" not in essence(one)), "")
    if not exact:
        what = f"does not say which kind of {declared} it is"
        raise SourceError(name, what, "give it as a URL that does: data:image/png;base64,...")
    return exact


def _covers(range: str, type: str) -> bool:
    return range in (type, "*/*", OCTETS) or (range.endswith("/*") and type.startswith(range[:-1]))


def _decoded(name: str, text: str) -> bytes:
    bare = "".join(text.split()).rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise SourceError(name, "is not Base64", GIVE) from error
