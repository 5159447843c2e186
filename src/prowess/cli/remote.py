"""`--server URL`: the same commands over the API of a server.

`Remote` has those verbs of the engine that commands use and the API has, by the same names and with the
same values, so that a command need not know which of the two it holds. A verb it does not have says so.
"""

import os
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from http.client import HTTPException
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

import msgspec

from prowess.cli.remote_namespaces import (
    RemoteAgents,
    RemoteApprovals,
    RemoteCatalogue,
    RemoteProviders,
    RemoteQuarantine,
)
from prowess.cli.remote_parts import (
    Part,
    RemoteCards,
    RemoteEvolution,
    RemoteJournal,
    RemoteLearning,
    RemoteTokens,
    quoted,
)
from prowess.cli.session import say
from prowess.errors import ConfigError, RemoteError
from prowess.listen import Bind
from prowess.types import (
    DEFAULT_AGENT,
    Hit,
    Offer,
    Problem,
    SyncReport,
    Trace,
    Turn,
)

T = TypeVar("T")

COMMANDS = ("agent", "approval", "cards", "doctor", "evolve", "find", "gaps", "lessons", "list", "log",
            "offer", "provider", "quarantine", "show", "sync", "version", "why")  # fmt: skip
"""The commands that can talk to a server."""
PAGE = 500
SECONDS = 600.0
MAX_ANSWER_BYTES = 100_000_000
TOKEN = "PROWESS_TOKEN"


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A token goes to the server it is for, and nowhere else."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class Server:
    """One server, and the token that is sent to it."""

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
        self.url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._token = token
        self._open = urllib.request.build_opener(_NoRedirects).open

    def get(self, path: str, type: type[T], /, **query: object) -> T:
        said = {name: _word(value) for name, value in query.items() if value is not None}
        return self._call("GET", f"{path}?{urlencode(said)}" if said else path, None, type)

    def send(self, path: str, body: object, type: type[T], method: str = "POST", /, **query: object) -> T:
        said = urlencode({name: _word(value) for name, value in query.items()})
        return self._call(method, f"{path}?{said}" if said else path, body, type)

    def pages(self, path: str, type: type[T], /, **query: object) -> Iterable[T]:
        """Every item of a long list."""
        cursor = ""
        while True:
            more = {"cursor": cursor} if cursor else {}
            page = self.get(path, dict[str, Any], limit=PAGE, **query, **more)
            yield from msgspec.convert(page["items"], list[type])  # type: ignore[valid-type]
            cursor = page["next"]
            if not cursor:
                return

    def _call(self, method: str, path: str, body: object, type: type[T]) -> T:
        request = urllib.request.Request(f"{self.url}/api/v1{path}", method=method)
        request.add_header("Authorization", f"Bearer {self._token}")
        if body is not None:
            request.data = msgspec.json.encode(body)
            request.add_header("Content-Type", "application/json")
        try:
            with self._open(request, timeout=SECONDS) as answer:
                return msgspec.json.decode(answer.read(MAX_ANSWER_BYTES), type=type)
        except urllib.error.HTTPError as refused:
            raise self._refused(refused) from None
        except (OSError, HTTPException) as failure:
            why = getattr(failure, "reason", failure)
            raise RemoteError(
                self.url, f"cannot be reached ({why})", "is prowess serve web running?"
            ) from None
        except msgspec.MsgspecError as failure:
            what = f"does not answer as prowess does ({failure})"
            raise RemoteError(self.url, what, "is it another version?") from None

    def _refused(self, refused: urllib.error.HTTPError) -> RemoteError:
        try:
            said = msgspec.json.decode(refused.read(MAX_ANSWER_BYTES), type=dict[str, Any])
        except msgspec.MsgspecError:
            said = {}
        what = str(said.get("detail") or said.get("title") or f"answers {refused.code}")
        return RemoteError(self.url, what, str(said.get("remedy") or ""), refused.code)


class Remote(Part):
    """An engine that is somewhere else."""

    def __init__(self, server: Server) -> None:
        super().__init__(server)
        self.journal = RemoteJournal(server)
        self.evolution = RemoteEvolution(server)
        self.learning = RemoteLearning(server)
        self.cards = RemoteCards(server)
        self.tokens = RemoteTokens(server)
        self.catalogue = RemoteCatalogue(server)
        self.providers = RemoteProviders(server)
        self.quarantine = RemoteQuarantine(server)
        self.agents = RemoteAgents(server)
        self.approvals = RemoteApprovals(server)

    @property
    def store(self) -> str:
        return f"{self._server.get('/doctor', dict[str, Any])['store']} of {self._server.url}"

    def find(
        self, request: str, agent: str = DEFAULT_AGENT, kind: str | None = None,
        category: str | None = None, tier1_top_k: int | None = None,
    ) -> tuple[Hit, ...]:  # fmt: skip
        body = {"request": request, "kind": kind, "category": category, "top": tier1_top_k}
        return self._server.send(f"/agents/{quoted(agent)}/find", body, tuple[Hit, ...])

    def offer(self, turn: Turn) -> Offer:
        said = [{"role": m.role, "text": m.text} for m in turn.messages]
        body = {"messages": said, "session_type": turn.session_type, "budget": turn.budget}
        return self._server.send(f"/agents/{quoted(turn.agent)}/offer", body, Offer)

    def explain(self, agent: str, id: str, request: str = "") -> tuple[str, ...]:
        found = self._server.get("/why", dict[str, Any], agent=agent, id=id, request=request)
        return tuple(found["steps"])

    def trace(self, id: str) -> Trace:
        return self._server.get("/journal/trace", Trace, id=id)

    def sync(self, *names: str, progress: object = None) -> SyncReport:
        return self._server.send("/sync", {"sources": names}, SyncReport)

    def diagnose(self) -> tuple[Problem, ...]:
        found = self._server.get("/doctor", dict[str, Any])
        return msgspec.convert(found["problems"], tuple[Problem, ...])


def connected(url: str, environment: Mapping[str, str] = os.environ) -> Remote:
    return Remote(Server(url, environment.get(TOKEN, "")))


def check_command(url: str, name: str) -> None:
    if name not in COMMANDS:
        what = f"prowess {name} cannot be run over a server"
        raise RemoteError(url, what, f"run it where the store is; over a server: {', '.join(COMMANDS)}")


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
