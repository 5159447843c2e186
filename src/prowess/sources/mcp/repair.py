"""Broken text of a server: what can be read of it is read, and what cannot ends the call it answers.

Above: `upstream`, over pipes and HTTP. Below: the SDK's parser, which takes a message whole or not at all.
Importing this module imports the SDK.
"""

import json
import re
from contextlib import suppress
from typing import Any

import msgspec
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter

UNREADABLE = "the server's answer cannot be read"
LARGE = 1024 * 1024
"""Bytes from which on the faster parser is worth its second look: nobody else gets a turn meanwhile."""
ENDS = 400
"""Bytes at either end of a broken answer in which its id is looked for."""
LONGEST_ESCAPES = 64 * 1024
PAIR = 12
"""Bytes of the longest escape: two halves of one character."""

_LEAD, _TRAIL = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_LEADING = re.compile(_LEAD)
_LONE = re.compile(_LEAD + rb"(?!" + _TRAIL + rb")|(?<!" + _LEAD + rb")" + _TRAIL)
_ESCAPE = re.compile(_LEAD + _TRAIL + rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.", re.DOTALL)
_ID = re.compile(rb'"id"\s*:\s*(\d{1,18}|"[^"\\]{1,100}")')


def mended(text: bytes) -> bytes:
    """JSON in which half a character is the sign for one that cannot be shown."""
    # Most text has no such escape, and looking for one is much faster than looking for half of two.
    if (b"\\ud" not in text and b"\\uD" not in text) or not _LONE.search(text):
        return text
    return _ESCAPE.sub(lambda found: b"\\ufffd" if found[1] else found[0], text)


class Mending:
    """The same for a text that comes in pieces, wherever they are cut."""

    def __init__(self) -> None:
        self._kept = b""

    def feed(self, piece: bytes) -> bytes:
        text = self._kept + piece
        cut = _before_last_escape(text)
        self._kept = text[cut:]
        return mended(text[:cut])

    def rest(self) -> bytes:
        return mended(self._kept)


def _before_last_escape(text: bytes) -> int:
    """Where to cut so that nothing that belongs together is on both sides."""
    at = text.find(b"\\", max(0, len(text) - PAIR + 1))
    if at < 0:
        return len(text)
    if _LEADING.fullmatch(text, max(0, at - PAIR // 2), at):
        at -= PAIR // 2
    # An escape may itself follow escaped backslashes; only from the first of them on is it clear which it is.
    while at > 0 and text[at - 1] == 0x5C and len(text) - at < LONGEST_ESCAPES:
        at -= 1
    return at


def read_message(line: bytes) -> JSONRPCMessage | None:
    """One message as it was meant; an error in place of an answer that cannot be read; or it was none."""
    if not line.lstrip().startswith(b"{"):
        return None
    for mend in (bytes, mended, _replaced):
        with suppress(ValueError, msgspec.MsgspecError, RecursionError):
            return _parsed(mend(line))
    id = _id_of(line)
    if id is None:
        return None
    return JSONRPCError(jsonrpc="2.0", id=id, error=ErrorData(code=PARSE_ERROR, message=UNREADABLE))


def _parsed(text: bytes) -> JSONRPCMessage:
    if len(text) < LARGE:
        return jsonrpc_message_adapter.validate_json(text, by_name=False)
    return jsonrpc_message_adapter.validate_python(msgspec.json.decode(text), by_name=False)


def _replaced(line: bytes) -> bytes:
    return mended(line.decode("utf-8", "replace").encode())


def _id_of(line: bytes) -> int | str | None:
    """Which request a broken answer belongs to, where that can still be seen."""
    if b'"jsonrpc"' not in line:
        return None
    try:
        message: Any = json.loads(line)
    except (ValueError, RecursionError):
        found = _ID.search(line[:ENDS]) or _ID.search(line[-ENDS:])
        id = json.loads(found[1]) if found else None
    else:
        id = message.get("id") if isinstance(message, dict) and "method" not in message else None
    return id if isinstance(id, int | str) and not isinstance(id, bool) else None
