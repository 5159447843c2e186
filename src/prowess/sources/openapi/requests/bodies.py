"""Bodies of requests: what the HTTP client's encoders are given, and the type of what they make.

Above: `request`. Below: `parameters`, whose styles the fields of a form may have, and `files`. JSON, forms
and forms in parts are written by the client; text and bytes are sent as they are.
"""

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from email.message import Message
from typing import Any
from urllib.parse import unquote

from prowess.errors import SourceError
from prowess.sources.openapi.encodings import STYLE_FIELDS
from prowess.sources.openapi.media import JSON_RANGES, essence, kind_of
from prowess.sources.openapi.requests.files import GivenFile, chosen_type, file_name, given_file
from prowess.sources.openapi.requests.parameters import STYLES, as_json, named_values, plain

JSON = "application/json"
BODY = "body"
"""What a body is called in errors, where it is one argument."""

Encoding = Mapping[str, Any]
Encodings = Mapping[str, Encoding]
PartContent = tuple[str | None, bytes, str | None, dict[str, str]]
"""One part as the client's encoder takes it: file name, content, type, other headers."""


@dataclass(frozen=True, slots=True)
class RequestBody:
    """A body before it is written."""

    content_type: str = ""
    """Empty where the client's encoder says it itself."""
    encoder: Mapping[str, Any] = field(default_factory=dict)
    """What the client's encoder takes: `json`, `data`, `files` or `content`, with its value."""


def request_body(content_type: str, encodings: Encodings, value: Any) -> RequestBody:
    """A body of the type that the document declares."""
    match kind_of(content_type):
        case "json":
            kind = JSON if essence(content_type) in JSON_RANGES else content_type
            # Said here, since the client's own error names neither the argument nor what to do.
            as_json(BODY, value)
            # For the client, null is no body at all.
            return RequestBody(kind, {"content": b"null"} if value is None else {"json": value})
        case "form":
            fields = form_fields(_fields(value), encodings)
            return RequestBody(content_type, {"data": fields} if fields else {"content": b""})
        case "multipart":
            parts = list(_parts(_fields(value), encodings))
            if not parts:
                raise SourceError(BODY, "a form in parts cannot be empty", "give at least one of its fields")
            return RequestBody("", {"files": parts})
        case "text":
            return _text(content_type, value)
        case "bytes":
            given = given_file(BODY, value)
            return RequestBody(chosen_type(BODY, content_type, given.type), {"content": given.content})
    raise SourceError(BODY, f"is sent as {content_type!r}, which is not supported", "leave it out")


def _fields(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise SourceError(BODY, "is a form, which has named fields", "give an object")
    return value


def _text(content_type: str, value: Any) -> RequestBody:
    if isinstance(value, Mapping | list) or value is None:
        raise SourceError(BODY, f"is sent as {content_type}, which is written by hand", "give it as text")
    kind = content_type.replace("text/*", "text/plain")
    content, charset = _written(BODY, kind, plain(BODY, value))
    is_said = bool(charset) or not essence(kind).startswith("text/")
    return RequestBody(kind if is_said else f"{kind}; charset=utf-8", {"content": content})


def _written(name: str, content_type: str, text: str) -> tuple[bytes, str]:
    """The text in the characters that its type names, and their name if it does."""
    message = Message()
    message["content-type"] = content_type
    charset = message.get_content_charset("")
    try:
        return text.encode(charset or "utf-8"), charset
    except (LookupError, UnicodeError) as error:
        raise SourceError(
            name, f"cannot be written in {charset or 'UTF-8'}", "use other characters"
        ) from error


# --- forms -----------------------------------------------------------------------------------


def form_fields(values: Mapping[str, Any], encodings: Encodings) -> dict[str, list[str]]:
    """Each field of a form with its values; one without any is not sent."""
    fields: dict[str, list[str]] = {}
    for name, value in values.items():
        for key, text in _form_pairs(name, value, encodings.get(name, {})):
            fields.setdefault(key, []).append(text)
    return fields


def _form_pairs(name: str, value: Any, encoding: Encoding) -> Iterator[tuple[str, str]]:
    if any(key in encoding for key in STYLE_FIELDS):
        yield from _styled(name, value, encoding)
        return
    for one in value if isinstance(value, list) else [value]:
        if encoding.get("bytes") == "raw":
            raise SourceError(name, "holds bytes, which a form without parts cannot carry", "leave it out")
        if one is not None:
            yield name, _field_text(name, one, encoding)


def _styled(name: str, value: Any, encoding: Encoding) -> Iterator[tuple[str, str]]:
    place = {**encoding, "name": name, "in": "query"}
    if place.get("style", "form") not in STYLES["query"]:
        raise SourceError(name, f"has the style {place['style']!r}, which no field has", "leave it out")
    for one in named_values(place, value):
        text = one.joined()
        if encoding.get("allowReserved") is True:
            # What was encoded already is not to be encoded twice.
            text = unquote(text, errors="strict")
        yield one.name, text


def _field_text(name: str, value: Any, encoding: Encoding) -> str:
    if encoding.get("bytes"):
        return _base64(name, value, str(encoding["bytes"]))
    declared = str(encoding.get("contentType", ""))
    is_nested = isinstance(value, Mapping | list)
    if encoding.get("written"):
        return plain(name, value)
    if (kind_of(_one_type(name, declared)) == "json") if declared else is_nested:
        return as_json(name, value)
    if is_nested:
        raise SourceError(name, f"is sent as {declared}, which is written by hand", "give it as text")
    return plain(name, value)


def _base64(name: str, value: Any, alphabet: str) -> str:
    """Bytes that the service wants in Base64, in its own alphabet."""
    encode = base64.urlsafe_b64encode if alphabet == "base64url" else base64.b64encode
    return encode(given_file(name, value).content).decode()


# --- in parts --------------------------------------------------------------------------------


def _parts(values: Mapping[str, Any], encodings: Encodings) -> Iterator[tuple[str, PartContent]]:
    for name, value in values.items():
        encoding = encodings.get(name, {})
        if any(key in encoding for key in STYLE_FIELDS):
            for key, text in _styled(name, value, encoding):
                yield key, (None, text.encode(), None, {})
            continue
        # A list is one part for each of its values, all of one name.
        for one in value if isinstance(value, list) else [value]:
            if one is not None:
                yield name, _part(name, one, encoding)


def _part(name: str, value: Any, encoding: Encoding) -> PartContent:
    declared = str(encoding.get("contentType", ""))
    if encoding.get("bytes"):
        given = given_file(name, value)
        kind = chosen_type(name, declared, given.type)
        if encoding["bytes"] == "raw":
            return file_name(name, given, kind), given.content, kind, {}
        text = _base64(name, value, str(encoding["bytes"]))
        return None, text.encode(), kind, {"Content-Transfer-Encoding": str(encoding["bytes"])}
    text = _field_text(name, value, encoding)
    if not declared:
        return None, text.encode(), JSON if isinstance(value, Mapping | list) else None, {}
    kind = _one_type(name, declared)
    content, _ = _written(name, kind, text)
    return (file_name(name, GivenFile(content), kind) if encoding.get("file") else None), content, kind, {}


def _one_type(name: str, declared: str) -> str:
    return JSON if essence(declared) in JSON_RANGES else chosen_type(name, declared)
