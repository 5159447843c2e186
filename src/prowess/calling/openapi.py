"""Calling an OpenAPI operation: from arguments to one HTTP request, and from its response to an answer.

Credentials come from the environment at the moment of the call: for a source `shop` and its security
scheme `api-key` the variable SHOP_API_KEY. Redirects are not followed: they would carry credentials away.
"""

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

import anyio
import httpx2

from prowess.calling.results import Answer, failed, said
from prowess.errors import SourceError
from prowess.types import Capability

MAX_RESPONSE_BYTES = 32 * 1024 * 1024
LONGEST_ERROR = 4000
COOKIE = "!#$%&'()*+-./:<=>?@[]^_`{|}~"
"""What may stand in the value of a cookie beside letters and digits; anything else is escaped."""
FORM = "application/x-www-form-urlencoded"

Pairs = list[tuple[str, str | int | float | bool | None]]


@dataclass(slots=True)
class RequestParts:
    """One request while it is put together."""

    path: str
    query: Pairs = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    whole: Any = None


async def call_operation(
    capability: Capability, arguments: Mapping[str, Any], environment: Mapping[str, str], seconds: float
) -> Answer:
    parts = _parts(capability.metadata, arguments)
    missing = _sign(parts, capability, environment)
    try:
        request = _request(capability, parts)
    except (UnicodeError, ValueError, httpx2.InvalidURL) as error:
        return failed(f"{capability.id} was not called: {_unsendable(error)}")
    try:
        # One time for all of it: a service that sends a byte now and then is not answering.
        with anyio.fail_after(seconds):
            async with httpx2.AsyncClient(timeout=httpx2.Timeout(seconds)) as client:
                response = await client.send(request, stream=True)
                try:
                    content = await _read(response)
                finally:
                    await response.aclose()
    except (TimeoutError, httpx2.TimeoutException):
        return failed(f"{capability.id}: no answer within {seconds:g} s; whether it took effect is not known")
    except _TooLong:
        return failed(
            f"{capability.id}: its answer is longer than {MAX_RESPONSE_BYTES // 2**20} MiB;"
            " ask for less at a time"
        )
    except (httpx2.HTTPError, httpx2.StreamError) as error:
        return failed(f"{capability.id}: the service cannot be reached ({type(error).__name__})")
    return _answer(capability.id, response, content, missing)


class _TooLong(Exception):
    """There is more of an answer than anybody can use."""


def _request(capability: Capability, parts: RequestParts) -> httpx2.Request:
    about = capability.metadata
    return httpx2.Request(
        str(about["method"]),
        _server(capability).rstrip("/") + parts.path,
        params=parts.query,
        headers=_headers(parts, about),
        content=_content(parts, str(about.get("content_type", ""))),
    )


def _unsendable(error: Exception) -> str:
    if isinstance(error, UnicodeError):
        return "a header may hold only ASCII characters, and no text may hold half a character"
    return f"its arguments make no request ({type(error).__name__})"


def _server(capability: Capability) -> str:
    servers = capability.metadata.get("servers") or []
    url = next((one for one in servers if urlsplit(str(one)).scheme in ("http", "https")), "")
    if not url:
        remedy = "name one under `servers` in the document"
        raise SourceError(capability.source, "its document names no server to call", remedy)
    return str(url)


def _parts(about: Mapping[str, Any], arguments: Mapping[str, Any]) -> RequestParts:
    parts = RequestParts(str(about["path"]))
    for argument, place in about["arguments"].items():
        if argument in arguments:
            _put(parts, place, arguments[argument])
    return parts


def _put(parts: RequestParts, place: Mapping[str, Any], value: Any) -> None:
    name = str(place["name"])
    match place["in"]:
        case "path":
            parts.path = parts.path.replace(f"{{{name}}}", _segment(name, value))
        case "query":
            parts.query += _pairs(name, value, place)
        case "header":
            parts.headers[name] = _joined(value)
        case "cookie":
            # A semicolon would begin another cookie.
            parts.cookies[name] = quote(_joined(value), safe=COOKIE)
        case _ if name:
            parts.body[name] = value
        case _:
            parts.whole = value


def _segment(name: str, value: Any) -> str:
    text = _joined(value)
    if text in ("", ".", ".."):
        raise SourceError(name, f"{text!r} cannot stand in a path", "give another value")
    return quote(text, safe="")


def _pairs(name: str, value: Any, place: Mapping[str, Any]) -> Pairs:
    explode = place.get("explode", place.get("style", "form") in ("form", "deepObject"))
    if isinstance(value, Mapping) and place.get("style") == "deepObject":
        return [(f"{name}[{key}]", _plain(one)) for key, one in value.items()]
    if isinstance(value, Mapping) and explode:
        return [(str(key), _plain(one)) for key, one in value.items()]
    if isinstance(value, list) and explode:
        return [(name, _plain(one)) for one in value]
    return [(name, _joined(value))]


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _joined(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_plain, value))
    if isinstance(value, Mapping):
        return ",".join(f"{key},{_plain(one)}" for key, one in value.items())
    return _plain(value)


def _headers(parts: RequestParts, about: Mapping[str, Any]) -> dict[str, str]:
    made = {"Accept": "application/json, */*", "User-Agent": "prowess", **parts.headers}
    if parts.cookies:
        made["Cookie"] = "; ".join(f"{name}={value}" for name, value in parts.cookies.items())
    if parts.body or parts.whole is not None:
        made["Content-Type"] = str(about.get("content_type") or "application/json")
    return made


def _content(parts: RequestParts, kind: str) -> bytes | None:
    value = parts.body if parts.body else parts.whole
    if value is None:
        return None
    if kind.startswith(FORM) and isinstance(value, Mapping):
        pairs = "&".join(f"{quote(str(k))}={quote(_plain(v))}" for k, v in value.items())
        return pairs.encode()
    if isinstance(value, str) and "json" not in kind:
        return value.encode()
    return json.dumps(value, ensure_ascii=False).encode()


def variable(source: str, scheme: str) -> str:
    """The environment variable that holds the credential of a security scheme."""
    return re.sub(r"[^A-Za-z0-9]+", "_", f"{source}_{scheme}").strip("_").upper()


def _sign(parts: RequestParts, capability: Capability, environment: Mapping[str, str]) -> list[str]:
    """Put credentials in; returns the variables that are not set."""
    missing = []
    for name, scheme in dict(capability.metadata.get("security_schemes") or {}).items():
        wanted = variable(capability.source, name)
        value = environment.get(wanted, "")
        if not value:
            missing.append(wanted)
        elif scheme.get("type") == "apiKey":
            _put(parts, {"in": scheme.get("in"), "name": scheme.get("name")}, value)
        elif scheme.get("scheme") == "basic":
            parts.headers["Authorization"] = f"Basic {base64.b64encode(value.encode()).decode()}"
        else:
            parts.headers["Authorization"] = f"Bearer {value}"
    return missing


async def _read(response: httpx2.Response) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for chunk in response.aiter_bytes():
        parts.append(chunk)
        size += len(chunk)
        if size > MAX_RESPONSE_BYTES:
            raise _TooLong
    return b"".join(parts)


def _answer(id: str, response: httpx2.Response, content: bytes, missing: list[str]) -> Answer:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if response.status_code >= 400 or response.is_redirect:
        hint = f"; not set: {', '.join(missing)}" if missing and response.status_code in (401, 403) else ""
        text = content.decode(errors="replace")[:LONGEST_ERROR]
        return failed(f"{id}: HTTP {response.status_code}{hint}\n{text}".strip())
    if kind.startswith(("image/", "audio/")):
        block = {"type": kind.partition("/")[0], "data": base64.b64encode(content).decode(), "mimeType": kind}
        return {"content": [block], "isError": False}
    text = content.decode(errors="replace") or f"HTTP {response.status_code}"
    answer = said(text)
    value = _json(text) if kind.endswith(("/json", "+json")) else None
    return {**answer, "structuredContent": value} if isinstance(value, dict) else answer


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
