"""Calling an OpenAPI operation: from arguments to one HTTP request, and from its response to an answer.

Credentials come from the environment at the moment of the call: for a source `shop` and its security
scheme `api-key` the variable SHOP_API_KEY. Redirects are not followed: they would carry credentials away.
"""

import base64
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

import anyio
import httpx2

from prowess.calling.results import Answer, failed, said
from prowess.errors import SourceError
from prowess.sources.openapi.requests.request import RequestParts, request_parts
from prowess.types import Capability

MAX_RESPONSE_BYTES = 32 * 1024 * 1024
LONGEST_ERROR = 4000
COOKIE = "!#$%&'()*+-./:<=>?@[]^_`{|}~"
"""What may stand in the value of a cookie beside letters and digits; anything else is escaped."""
MAX_REQUEST_BYTES = 32 * 1024 * 1024


async def call_operation(
    capability: Capability, arguments: Mapping[str, Any], environment: Mapping[str, str], seconds: float
) -> Answer:
    server = _server(capability)
    try:
        parts = request_parts(capability.metadata, arguments)
        missing = _sign(parts, capability, environment)
        request = _request(server, capability, parts)
    except (UnicodeError, ValueError, RecursionError, SourceError, httpx2.InvalidURL) as error:
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


def _request(server: str, capability: Capability, parts: RequestParts) -> httpx2.Request:
    request = httpx2.Request(
        str(capability.metadata["method"]),
        server.rstrip("/") + parts.target,
        headers=_headers(parts),
        **parts.body.encoder,
    )
    length = int(request.headers.get("Content-Length", 0))
    if length > MAX_REQUEST_BYTES:
        what = f"it would have {length} bytes, more than {MAX_REQUEST_BYTES // 2**20} MiB"
        raise SourceError("the body", what, "send less at a time")
    return request


def _unsendable(error: Exception) -> str:
    if isinstance(error, SourceError):
        return str(error)
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


def _headers(parts: RequestParts) -> httpx2.Headers:
    made = httpx2.Headers({"Accept": "application/json, */*", "User-Agent": "prowess"})
    for name, value in parts.headers.items():
        made[name] = value
    if parts.cookies:
        cookies = "; ".join(f"{name}={value}" for name, value in parts.cookies)
        made["Cookie"] = f"{made['Cookie']}; {cookies}" if "Cookie" in made else cookies
    if parts.body.content_type:
        made["Content-Type"] = parts.body.content_type
    return made


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
            _present(parts, str(scheme.get("in")), str(scheme.get("name")), value)
        elif scheme.get("scheme") == "basic":
            parts.headers["Authorization"] = f"Basic {base64.b64encode(value.encode()).decode()}"
        else:
            parts.headers["Authorization"] = f"Bearer {value}"
    return missing


def _present(parts: RequestParts, place: str, name: str, key: str) -> None:
    match place:
        case "query":
            parts.query.append(f"{quote(name, safe='')}={quote(key, safe='')}")
        case "header":
            parts.headers[name] = key
        case "cookie":
            kept = [(other, value) for other, value in parts.cookies if other != name]
            # A semicolon would begin another cookie.
            parts.cookies = [*kept, (name, quote(key, safe=COOKIE))]


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
