"""One request of an operation, put together from what the catalogue keeps of it and the arguments of a call.

Above: whoever sends it and adds credentials. Below: `parameters` and `bodies`. Nothing here opens a
connection. What cannot be sent as the document declares it is a `SourceError` that says what to give.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote, urlencode

from prowess.errors import SourceError, nearest
from prowess.sources.openapi.requests.bodies import RequestBody, form_fields, request_body
from prowess.sources.openapi.requests.parameters import (
    content_text,
    cookie_pairs,
    header_value,
    path_value,
    query_pairs,
)

TEMPLATE = re.compile(r"\{([^{}]*)\}")
MAX_TARGET_LENGTH = 60_000
"""Characters of path and query; few services take a tenth of it."""

Place = Mapping[str, Any]


@dataclass(slots=True)
class RequestParts:
    """One request while it is put together."""

    path: str
    query: list[str] = field(default_factory=list)
    """Pairs, encoded as they stand in the URL."""
    headers: dict[str, str] = field(default_factory=dict)
    cookies: list[tuple[str, str]] = field(default_factory=list)
    body: RequestBody = field(default_factory=RequestBody)

    @property
    def target(self) -> str:
        """Path and query."""
        if not self.query:
            return self.path
        return f"{self.path}{'&' if '?' in self.path else '?'}{'&'.join(self.query)}"


def request_parts(metadata: Mapping[str, Any], arguments: Mapping[str, Any]) -> RequestParts:
    """The request that these arguments ask for.

    metadata: what the catalogue keeps of the operation
    arguments: by the names that the operation's schema gives them
    """
    places: Mapping[str, Place] = metadata["arguments"]
    if not metadata.get("body_open"):
        _check_known(places, arguments)
    # What nobody has declared belongs to a body that takes more than is declared.
    given = [(places.get(name) or {"in": "body", "name": name}, one) for name, one in arguments.items()]
    parts = RequestParts(_path(str(metadata["path"]), given))
    for place, value in given:
        if value is not None:
            _put(parts, place, value)
    parts.body = _body(metadata, given)
    if len(parts.target) > MAX_TARGET_LENGTH:
        what = f"its path and query would have {len(parts.target)} characters, more than {MAX_TARGET_LENGTH}"
        raise SourceError("the address", what, "send less at a time")
    return parts


def _check_known(places: Mapping[str, Place], arguments: Mapping[str, Any]) -> None:
    unknown = next((name for name in arguments if name not in places), None)
    if unknown is not None:
        close = nearest(unknown, places)
        remedy = f"did you mean {close!r}?" if close else f"it takes: {', '.join(places) or 'none'}"
        raise SourceError(unknown, "is no argument of this operation", remedy)


def _put(parts: RequestParts, place: Place, value: Any) -> None:
    match place["in"]:
        case "query":
            parts.query += query_pairs(place, value)
        case "querystring":
            parts.query += _whole_query(place, value)
        case "header":
            parts.headers[str(place["name"])] = header_value(place, value)
        case "cookie":
            parts.cookies += cookie_pairs(place, value)


def _whole_query(place: Place, value: Any) -> Iterator[str]:
    if place.get("content") != "form":
        yield quote(content_text(place, value), safe="")
    elif not isinstance(value, Mapping):
        raise SourceError(str(place["name"]), "is the whole query, which has named fields", "give an object")
    else:
        yield urlencode(form_fields(value, place.get("encoding", {})), doseq=True)


# --- the path --------------------------------------------------------------------------------


def _path(template: str, given: list[tuple[Place, Any]]) -> str:
    values = {str(place["name"]): (place, value) for place, value in given if place["in"] == "path"}

    def filled(match: re.Match[str]) -> str:
        place, value = values.get(match[1], ({}, None))
        text = "" if value is None else path_value(place, value)
        if not text:
            raise SourceError(match[1], "is part of the path, which cannot do without it", "give a value")
        return text

    path = TEMPLATE.sub(filled, template)
    for segment in map(unquote, path.split("/")):
        if segment in (".", ".."):
            # It would lead to another operation.
            raise SourceError(", ".join(values), f"{segment!r} cannot stand in a path", "give another value")
    return path


# --- the body --------------------------------------------------------------------------------


def _body(metadata: Mapping[str, Any], given: list[tuple[Place, Any]]) -> RequestBody:
    inside = [(str(place["name"]), value) for place, value in given if place["in"] == "body"]
    whole = [value for name, value in inside if not name]
    fields = {name: value for name, value in inside if name}
    if not inside and not metadata.get("body_required"):
        return RequestBody()
    content_type = str(metadata.get("content_type") or "application/json")
    return request_body(content_type, metadata.get("encoding", {}), whole[0] if whole else fields)
