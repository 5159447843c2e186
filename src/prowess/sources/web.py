"""A text from the web, within a time and a size, from the host that was named and from no other.

Above: sources that may be at a URL. Below: the standard library. Importing it is slow, so this module is
imported inside functions only. A redirect is followed on the same host alone: whoever serves a document must
not be able to send us to an address that only this machine can reach.
"""

import time
from http.client import HTTPException, HTTPMessage, HTTPResponse
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from prowess.errors import SourceError

CHUNK = 64 * 1024
HEADERS = {"Accept": "application/json, application/yaml, */*", "User-Agent": "prowess"}


class _Elsewhere(Exception):
    """A redirect that leads to another host; holds where to, without what may be secret in it."""


class _SameHost(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        before, after = urlsplit(req.full_url), urlsplit(newurl)
        upgraded = (before.scheme, after.scheme) == ("http", "https") and before.port is after.port is None
        if before.hostname != after.hostname or not (_door(before) == _door(after) or upgraded):
            fp.close()
            raise _Elsewhere(f"{after.scheme}://{after.netloc.rpartition('@')[2]}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _door(parts: SplitResult) -> tuple[str, int | None]:
    return parts.scheme, parts.port


def opener() -> OpenerDirector:
    """Speaks HTTP alone: no file, no ftp, no data, whatever a redirect asks for."""
    opener = OpenerDirector()
    handlers = (
        ProxyHandler,
        HTTPHandler,
        HTTPSHandler,
        HTTPDefaultErrorHandler,
        HTTPErrorProcessor,
        _SameHost,
    )
    for handler in handlers:
        opener.add_handler(handler())
    return opener


def fetch(url: str, place: str, seconds: float, limit: int) -> str:
    """The text at a URL; `place` is what a person may see of it."""
    deadline = time.monotonic() + seconds
    try:
        with opener().open(Request(url, headers=HEADERS), timeout=seconds) as response:
            content = _body(response, place, deadline, limit)
    except _Elsewhere as other:
        what = f"is redirected to another host ({other})"
        raise SourceError(place, what, "if you trust it, give that address as the url") from None
    except HTTPError as error:
        error.close()
        raise SourceError(place, f"the server answered HTTP {error.code}", "check the url") from None
    except (URLError, HTTPException, OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or type(error).__name__
        raise SourceError(place, f"cannot be fetched: {reason}", "check the url and the network") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SourceError(place, "is not UTF-8 text", "check that the url leads to a document") from None


def _body(response: HTTPResponse, place: str, deadline: float, limit: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while chunk := response.read1(CHUNK):
        parts.append(chunk)
        size += len(chunk)
        if size > limit:
            raise SourceError(place, f"is larger than {limit // 1024 // 1024} MiB", "split it")
        # The timeout of a socket is for each piece; a server that drips would never reach it.
        if time.monotonic() > deadline:
            raise SourceError(place, "does not arrive in time", "raise `timeout`, or keep it in a file")
    return b"".join(parts)
