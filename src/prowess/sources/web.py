"""A text from the web, within a time and a size.

Above: sources that may be at a URL. Below: the standard library. Importing it is slow, so this module is
imported inside functions only.
"""

import time
from http.client import HTTPException, HTTPResponse
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from prowess.errors import SourceError

CHUNK = 64 * 1024
HEADERS = {"Accept": "application/json, application/yaml, */*", "User-Agent": "prowess"}


def fetch(url: str, place: str, seconds: float, limit: int) -> str:
    """The text at a URL; `place` is what a person may see of it."""
    deadline = time.monotonic() + seconds
    try:
        with urlopen(Request(url, headers=HEADERS), timeout=seconds) as response:
            content = _body(response, place, deadline, limit)
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
