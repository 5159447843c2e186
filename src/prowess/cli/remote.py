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
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from prowess.catalogue.catalogue import Version
from prowess.catalogue.view import View
from prowess.cli.remote_parts import (
    Part,
    RemoteCards,
    RemoteEvolution,
    RemoteJournal,
    RemoteLearning,
    RemoteTokens,
)
from prowess.cli.session import say
from prowess.errors import ConfigError, RemoteError
from prowess.learning.gaps import Gap
from prowess.learning.ingest import LearningReport
from prowess.learning.usage import Closing, UsageLine
from prowess.listen import Bind
from prowess.policy.agents import Agent
from prowess.policy.approvals import Approval, ApprovalAnswer
from prowess.types import (
    DEFAULT_AGENT,
    Capability,
    Detail,
    HeldCapability,
    Hit,
    Offer,
    Problem,
    Provider,
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

    @property
    def store(self) -> str:
        return f"{self._server.get('/doctor', dict[str, Any])['store']} of {self._server.url}"

    def capabilities(self, agent: str | None = None, kind: str = "") -> tuple[Capability, ...]:
        return tuple(self._server.pages("/capabilities", Capability, agent=agent or "", kind=kind))

    def capability(self, id: str) -> Capability:
        return self._server.get(f"/capabilities/{_path(id)}", Capability)

    def detail(self, id: str) -> Detail:
        whole = self._server.get(f"/capabilities/{_path(id)}", dict[str, Any])
        return msgspec.convert(whole["detail"], Detail)

    def history(self, id: str) -> tuple[Version, ...]:
        return self._server.get(f"/capabilities/{_path(id)}/versions", tuple[Version, ...])

    def visible(self, agent: str, authenticated: bool = True) -> View:
        return View(version=0, capabilities=_Fetched(self._server, agent), providers={})

    def find(
        self, request: str, agent: str = DEFAULT_AGENT, kind: str | None = None,
        category: str | None = None, tier1_top_k: int | None = None,
    ) -> tuple[Hit, ...]:  # fmt: skip
        body = {"request": request, "kind": kind, "category": category, "top": tier1_top_k}
        return self._server.send(f"/agents/{_path(agent)}/find", body, tuple[Hit, ...])

    def offer(self, turn: Turn) -> Offer:
        said = [{"role": m.role, "text": m.text} for m in turn.messages]
        body = {"messages": said, "session_type": turn.session_type, "budget": turn.budget}
        return self._server.send(f"/agents/{_path(turn.agent)}/offer", body, Offer)

    def cost_of_everything(self, agent: str = DEFAULT_AGENT) -> int:
        return int(self._server.get(f"/agents/{_path(agent)}/cost", dict[str, int])["tokens"])

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

    # What follows is decided by whoever the token names; `by` is what a local command would record.

    def quarantined(self) -> tuple[HeldCapability, ...]:
        return self._server.get("/quarantine", tuple[HeldCapability, ...])

    def difference(self, id: str) -> tuple[str, ...]:
        return tuple(self._server.get(f"/quarantine/{_path(id)}", dict[str, Any])["difference"])

    def approve(self, id: str, by: str, digest: str = "") -> HeldCapability:
        return self._server.send(f"/quarantine/{_path(id)}/approve", {"digest": digest}, HeldCapability)

    def reject(self, id: str, by: str, digest: str = "") -> HeldCapability:
        return self._server.send(f"/quarantine/{_path(id)}/reject", {"digest": digest}, HeldCapability)

    def approvals(self, every: bool = False) -> tuple[Approval, ...]:
        return self._server.get("/approvals", tuple[Approval, ...], every=every)

    def answer(self, approval: str, said: ApprovalAnswer) -> Approval:
        minutes = max(1, round(said.holds.total_seconds() / 60))
        body = {"yes": said.yes, "note": said.note, "minutes": minutes, "scope": said.scope}
        return self._server.send(f"/approvals/{_path(approval)}/answer", body, Approval)

    def providers(self, agent: str | None = None) -> tuple[Provider, ...]:
        return self._server.get("/providers", tuple[Provider, ...], agent=agent)

    def activate(self, provider: str, agent: str = "") -> None:
        self._switch(provider, agent, on=True)

    def deactivate(self, provider: str, agent: str = "") -> None:
        self._switch(provider, agent, on=False)

    def _switch(self, provider: str, agent: str, on: bool) -> None:
        self._server.send(f"/providers/{_path(provider)}", {"on": on, "agent": agent}, Provider, "PUT")

    def agents(self) -> tuple[Agent, ...]:
        return self._server.get("/agents", tuple[Agent, ...])

    def bind(self, name: str, profile: str) -> Agent:
        return self.spawn("", name, profile)

    def spawn(self, parent: str, name: str, profile: str) -> Agent:
        return self._server.send("/agents", {"name": name, "profile": profile, "parent": parent}, Agent)

    def retire(self, name: str) -> tuple[str, ...]:
        found = self._server.send(f"/agents/{_path(name)}", None, dict[str, tuple[str, ...]], "DELETE")
        return found["removed"]

    def closing(self, gap: Gap) -> Closing:
        return msgspec.convert(self.learning.shown(gap.id)["closing"], Closing)

    def learn(self) -> LearningReport:
        return self.learning.learn()

    def usage(self) -> tuple[UsageLine, ...]:
        return self._server.get("/learning/usage", tuple[UsageLine, ...])


class _Fetched(dict[str, Capability]):
    """What an agent may use, each fetched when somebody asks for it."""

    def __init__(self, server: Server, agent: str) -> None:
        super().__init__()
        self._server = server
        self._agent = agent

    def __missing__(self, id: str) -> Capability:
        path = f"/agents/{_path(self._agent)}/capabilities/{_path(id)}"
        found = self[id] = self._server.get(path, Capability)
        return found


def connected(url: str, environment: Mapping[str, str] = os.environ) -> Remote:
    return Remote(Server(url, environment.get(TOKEN, "")))


def check_command(url: str, name: str) -> None:
    if name not in COMMANDS:
        what = f"prowess {name} cannot be run over a server"
        raise RemoteError(url, what, f"run it where the store is; over a server: {', '.join(COMMANDS)}")


def _path(name: str) -> str:
    return quote(name, safe="")


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
