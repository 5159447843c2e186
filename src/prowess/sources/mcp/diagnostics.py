"""What a server sent and how it behaved, apart from what it was asked for.

Above: `upstream`, which passes every message through here on its way to the SDK.
Below: the SDK's own parsers. Importing this module imports the SDK.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Self

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCResponse
from mcp_types.methods import parse_server_result
from pydantic import ValidationError

if TYPE_CHECKING:
    # The SDK exports the protocol of a transport but not the types of the two streams in it.
    from mcp.client._transport import ReadStream

REMEMBERED_STDERR = 4096
REMEMBERED_LINE = 200
TELLS_OF_AN_ERROR = re.compile(r"[^\w]*(uncaught |npm )?([\w.]*(error|exception)|fatal)\b(?! code)", re.I)
"""What comes behind such a line is a version, a hint or the place of a log."""
TOLD_AT_ONCE = 20
"""Notifications in a row before the next one waits."""
SECONDS_BETWEEN = 0.01

LISTS = {
    "tools": "tools/list",
    "prompts": "prompts/list",
    "resources": "resources/list",
    "resourceTemplates": "resources/templates/list",
}

Incoming = SessionMessage | Exception


@dataclass(frozen=True, slots=True)
class Unusable:
    """One entry of a list that does not follow the protocol."""

    list: str
    entry: str
    why: str


@dataclass(slots=True)
class Conduct:
    """How a server behaved, for the person who must find out what is wrong with it."""

    version: str = ""
    stderr: bytes = b""
    noise: int = 0
    first_noise: str = ""
    too_long: bool = False
    status: int = 0
    exit_code: int | None = None
    ended: bool = False
    """Whether a started server has closed its output: nothing more can come."""
    unusable: list[Unusable] = field(default_factory=list)

    @property
    def output(self) -> str:
        """The end of what it wrote to standard error."""
        return self.stderr.decode(errors="replace")

    @property
    def last_words(self) -> str:
        """The last line of its standard error that tells of an error; the last of all, where none does."""
        lines = [line.strip() for line in self.stderr.decode(errors="replace").splitlines() if line.strip()]
        telling = [line for line in lines if TELLS_OF_AN_ERROR.match(line)]
        words = next(reversed(telling or lines), "")
        return "".join(c for c in words if c.isprintable())[:REMEMBERED_LINE]

    def heard(self, line: bytes) -> None:
        self.noise += 1
        if not self.first_noise:
            text = line.decode(errors="replace").strip()
            self.first_noise = "".join(c for c in text if c.isprintable())[:REMEMBERED_LINE]


class Sifted:
    """A server's messages, without those entries that would make the SDK reject a whole list."""

    def __init__(self, inner: "ReadStream[Incoming]", conduct: Conduct) -> None:
        self._inner = inner
        self._conduct = conduct
        self._told = 0

    async def receive(self) -> Incoming:
        return await self._paced(self._sift(await self._inner.receive()))

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> "Sifted":
        return self

    async def __anext__(self) -> Incoming:
        return await self._paced(self._sift(await self._inner.__anext__()))

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, trace)

    @property
    def last_context(self) -> object:
        """The sender's context, which the SDK looks for on the stream it reads from."""
        return getattr(self._inner, "last_context", None)

    async def _paced(self, item: Incoming) -> Incoming:
        """A server that tells without end waits now and then, so that others get their turn."""
        if isinstance(item, SessionMessage) and isinstance(item.message, JSONRPCNotification):
            self._told += 1
            if self._told % TOLD_AT_ONCE == 0:
                await anyio.sleep(SECONDS_BETWEEN)
        return item

    def _sift(self, item: Incoming) -> Incoming:
        if isinstance(item, SessionMessage) and isinstance(item.message, JSONRPCResponse):
            result = item.message.result
            for key in LISTS.keys() & result.keys():
                entries = result[key]
                if isinstance(entries, list) and self._fault(key, entries):
                    result[key] = [entry for entry in entries if self._usable(key, entry)]
            if isinstance(result.get("task"), dict):
                # The SDK takes the handle of a task for a result that lacks its content.
                result.setdefault("content", [])
        return item

    def _usable(self, key: str, entry: object) -> bool:
        why = self._fault(key, [entry])
        if why:
            name = entry.get("name") if isinstance(entry, dict) else None
            self._conduct.unusable.append(Unusable(LISTS[key], str(name or "an entry without a name"), why))
        return not why

    def _fault(self, key: str, entries: Sequence[object]) -> str:
        """What the negotiated revision finds wrong with a list of these entries alone."""
        if not self._conduct.version:
            return ""
        alone = {key: entries, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        try:
            parse_server_result(LISTS[key], self._conduct.version, alone)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            return f"{'.'.join(str(part) for part in first['loc'][2:]) or key}: {first['msg']}"
        except (KeyError, ValueError):
            return ""
        return ""
