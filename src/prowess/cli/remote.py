"""`--server URL`: operations over the API of a server, each asked for and read as the table declares it."""

import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from http.client import HTTPException
from itertools import islice
from typing import Any, Self, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from prowess.cli.session import say
from prowess.errors import ConfigError, RemoteError
from prowess.listen import Bind
from prowess.operations.operation import AnyOperation, Operation, RequestParams
from prowess.operations.paging import Page
from prowess.sources.read_all import SyncProgress

P = TypeVar("P", bound=RequestParams)
A = TypeVar("A")

COMMANDS = ("agent", "approval", "call", "calls", "cards", "doctor", "evolve", "find", "gaps", "jobs",
            "lessons", "list", "log", "offer", "policy", "provider", "quarantine", "secret", "show", "sync",
            "version", "why")  # fmt: skip
"""The commands that can talk to a server."""
PAGE = 500
SECONDS = 600.0
MAX_ANSWER_BYTES = 100_000_000
TOKEN = "PROWESS_TOKEN"


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A token goes to the server it is for, and nowhere else."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class Remote:
    """Carries operations out over a server, with a token that says who asks."""

    def __init__(self, url: str, token: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ConfigError(
                "--server", f"{url!r} is not an address", "write for example http://127.0.0.1:8800"
            )
        if not token:
            raise ConfigError(
                "--server", f"{TOKEN} is not set", f"set {TOKEN} to a token: prowess access-token add NAME"
            )
        if parts.scheme == "http" and not Bind(parts.hostname or "", 0).is_loopback:
            say(f"the token goes to {parts.hostname} in the clear; use https")
        self._url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._token = token
        self._open = urllib.request.build_opener(_NoRedirects).open

    @property
    def server(self) -> str:
        return self._url

    def call(self, operation: Operation[P, A], params: P, /, **path: str) -> A:
        request = urllib.request.Request(f"{self._url}{address(operation, params, path)}")
        request.method = operation.method
        request.add_header("Authorization", f"Bearer {self._token}")
        if operation.body is not None:
            request.data = msgspec.json.encode(params)
            request.add_header("Content-Type", "application/json")
        try:
            with self._open(request, timeout=SECONDS) as answer:
                return msgspec.json.decode(answer.read(MAX_ANSWER_BYTES), type=operation.answer)
        except urllib.error.HTTPError as refused:
            raise self._refused(refused) from None
        except (OSError, HTTPException) as failure:
            why = getattr(failure, "reason", failure)
            raise RemoteError(
                self._url, f"cannot be reached ({why})", "is prowess serve web running?"
            ) from None
        except msgspec.MsgspecError as failure:
            what = f"does not answer as prowess does ({failure})"
            raise RemoteError(self._url, what, "is it another version?") from None

    def pages(
        self, operation: Operation[P, Page[A]], params: P, most: int | None = None, /, **path: str
    ) -> Iterable[A]:
        return islice(self._items(operation, params, min(PAGE, max(1, most or PAGE)), path), most)

    def reporting(self, progress: SyncProgress) -> Self:
        return self

    def _items(
        self, operation: Operation[P, Page[A]], params: P, limit: int, path: dict[str, str]
    ) -> Iterable[A]:
        page = self.call(operation, msgspec.structs.replace(params, limit=limit), **path)
        yield from page.items
        while page.next:
            asked = msgspec.structs.replace(params, limit=limit, cursor=page.next)
            page = self.call(operation, asked, **path)
            yield from page.items

    def _refused(self, refused: urllib.error.HTTPError) -> RemoteError:
        try:
            said = msgspec.json.decode(refused.read(MAX_ANSWER_BYTES), type=dict[str, Any])
        except msgspec.MsgspecError:
            said = {}
        what = str(said.get("detail") or said.get("title") or f"answers {refused.code}")
        return RemoteError(self._url, what, str(said.get("remedy") or ""), refused.code)


def address(operation: AnyOperation, params: RequestParams, path: Mapping[str, str]) -> str:
    """Where an operation is asked for, with what it is asked in the query."""
    where = operation.path
    for name in operation.names:
        where = where.replace(f"{{{name}}}", quote(path[name], safe=""))
    said = {"agent": path["agent"]} if operation.about_agent else {}
    if operation.query is operation.takes:
        said = {
            name: _word(value) for name, value in msgspec.structs.asdict(params).items() if value is not None
        }
    return f"/api/v1{where}?{urlencode(said)}" if said else f"/api/v1{where}"


def check_command(url: str, name: str) -> None:
    if name not in COMMANDS:
        what = f"prowess {name} cannot be run over a server"
        raise RemoteError(url, what, f"run it where the store is; over a server: {', '.join(COMMANDS)}")


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
