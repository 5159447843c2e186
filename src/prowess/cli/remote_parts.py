"""The parts of a remote engine: its journal, its evolution, what it learnt, its cards and its tokens."""

from collections.abc import Iterable
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import msgspec

from prowess.errors import NotFound, RemoteError
from prowess.evolution.damage import Repaired
from prowess.evolution.events import Event
from prowess.evolution.history import GenerationDifference, Status
from prowess.evolution.params import Params
from prowess.evolution.records import Evaluation, Generation, Restore
from prowess.evolution.scores import parse_scores
from prowess.learning.gaps import Gap
from prowess.learning.ingest import LearningReport
from prowess.learning.lessons import Lesson
from prowess.learning.promotion import Gated, SuiteResult
from prowess.learning.usage import Closing
from prowess.policy.agent_tokens import IssuedToken, Token
from prowess.types import Head, JournalEntry, JsonObject

if TYPE_CHECKING:
    from prowess.cli.remote import Server

T = TypeVar("T")

MAX_PAGE = 500
FORBIDDEN = 403


class Part:
    """Part of an engine that is somewhere else; a verb it does not have says so."""

    def __init__(self, server: "Server") -> None:
        self._server = server

    def __getattr__(self, name: str) -> Any:
        raise RemoteError(self._server.url, "this cannot be done over a server", "run it where the store is")


def quoted(name: str) -> str:
    return quote(name, safe="")


class RemoteJournal(Part):
    def latest(self, limit: int = 50, agent: str | None = None, type: str = "*") -> tuple[JournalEntry, ...]:
        found: list[JournalEntry] = []
        for entry in self._server.pages("/journal", JournalEntry, agent=agent, type=type):
            found.append(entry)
            if len(found) >= limit:
                break
        return tuple(reversed(found))

    def heads(self) -> tuple[Head, ...]:
        return self._server.get("/journal/heads", tuple[Head, ...])

    def verify(self, exported: Iterable[Head] = ()) -> tuple[Head, ...]:
        kept = [{"chain": head.chain, "count": head.count, "hash": head.hash} for head in exported]
        found = self._server.send("/journal/verify", {"heads": kept}, dict[str, Any])
        if not found["intact"]:
            raise RemoteError(self._server.url, found["problem"], found["remedy"])
        return msgspec.convert(found["heads"], tuple[Head, ...])

    def after(self, seen: Iterable[Head]) -> tuple[JournalEntry, ...]:
        known = {head.chain: head.count for head in seen}
        new: list[JournalEntry] = []
        for number, entry in enumerate(self._server.pages("/journal", JournalEntry), start=1):
            if entry.number > known.get(entry.chain, 0):
                new.append(entry)
            # Chains grow beside each other: one look past what is known finds what came late.
            elif number - len(new) >= MAX_PAGE:
                break
        return tuple(reversed(new))


class RemoteEvolution(Part):
    def status(self, agent: str) -> Status:
        return _held(self._server.get("/evolution/status", dict[str, Any], agent=agent), Status)

    def history(self, agent: str, limit: int = 50) -> tuple[Generation, ...]:
        asked = {"agent": agent, "limit": min(limit, MAX_PAGE)}
        found = self._server.get("/evolution/generations", list[dict[str, Any]], **asked)
        return tuple(_held(one, Generation) for one in found)

    def generation(self, agent: str, number: int) -> Generation:
        found = self._server.get(f"/evolution/generations/{number}", dict[str, Any], agent=agent)
        return _held(found, Generation)

    def difference(self, agent: str, before: int, after: int) -> GenerationDifference:
        return self._server.get(
            "/evolution/difference", GenerationDifference, agent=agent, before=before, after=after
        )

    def params(self, agent: str) -> Params:
        return self._server.get("/evolution/params", Params, agent=agent)

    def set_params(self, agent: str, changes: JsonObject, by: str = "") -> Params:
        return self._server.send("/evolution/params", changes, Params, "PUT", agent=agent)

    def rollback(self, agent: str, to: int, by: str = "") -> Evaluation:
        body = {"generation": to}
        found = self._server.send("/evolution/rollback", body, dict[str, Any], agent=agent)
        events = [Event(str(one.pop("type")), one) for one in found["events"]]
        restored = any(event.type == "EvolutionRollback" for event in events)
        off, on, kept_off = (tuple(found[name]) for name in ("off", "on", "kept_off"))
        restore = Restore(off, on, "", kept_off) if restored else None
        return Evaluation(
            agent=agent, trigger=found["trigger"], generation=found["generation"], events=tuple(events),
            fitness=found["fitness"], restore=restore, stopped=found["stopped"],
        )  # fmt: skip

    def resume(self, agent: str, by: str = "") -> None:
        self._server.send("/evolution/resume", None, dict[str, Any], agent=agent)

    def repair(self, agent: str, by: str = "") -> Repaired:
        return self._server.send("/evolution/repair", None, Repaired, agent=agent)


def _held(data: dict[str, Any], type: type[T]) -> T:
    """What the API shows with its scores, as it is held: autonomy is a level there and a name here."""
    scores = parse_scores(data["scores"])
    return msgspec.convert({**data, "scores": msgspec.to_builtins(scores)}, type)


class RemoteLearning(Part):
    def learn(self) -> LearningReport:
        """Have it learn; whoever may only look sees what it has learnt so far."""
        try:
            self._server.send("/learning/learn", None, dict[str, Any])
        except RemoteError as refused:
            if refused.status != FORBIDDEN:
                raise
        return LearningReport()

    def lessons(self, status: str = "") -> tuple[Lesson, ...]:
        return tuple(self._server.pages("/lessons", Lesson, status=status))

    def lesson(self, id: str) -> Lesson:
        return msgspec.convert(self._whole(id)["lesson"], Lesson)

    def results(self, id: str) -> tuple[SuiteResult, ...]:
        return msgspec.convert(self._whole(id)["results"], tuple[SuiteResult, ...])

    def gate(self, *ids: str, progress: object = None, by: str = "") -> tuple[Gated, ...]:
        return self._server.send("/lessons/gate", {"lessons": ids}, tuple[Gated, ...])

    def promote(self, id: str, by: str) -> Lesson:
        return self._server.send(f"/lessons/{quoted(id)}/promote", None, Lesson)

    def promote_all(self) -> tuple[Lesson, ...]:
        return self._server.send("/lessons/promote", None, tuple[Lesson, ...])

    def deprecate(self, id: str, by: str, reason: str = "") -> Lesson:
        return self._server.send(f"/lessons/{quoted(id)}/deprecate", {"reason": reason}, Lesson)

    def retire(self, id: str, by: str, reason: str = "") -> Lesson:
        return self._server.send(f"/lessons/{quoted(id)}/retire", {"reason": reason}, Lesson)

    def propose(self, document: bytes, place: str, by: str) -> Lesson:
        return self._server.send("/lessons", msgspec.Raw(document), Lesson)

    def gaps(self, closed: bool = False) -> tuple[Gap, ...]:
        shown = self._server.pages("/gaps", dict[str, Any], closed=closed)
        return tuple(msgspec.convert(one["gap"], Gap) for one in shown)

    def gap(self, id: str) -> Gap:
        return msgspec.convert(self.shown(id)["gap"], Gap)

    def closing(self, gap: Gap) -> Closing:
        return msgspec.convert(self.shown(gap.id)["closing"], Closing)

    def shown(self, id: str) -> dict[str, Any]:
        """A gap, and what would close it."""
        return self._server.get(f"/gaps/{quoted(id)}", dict[str, Any])

    def close_gap(self, id: str, by: str) -> Gap:
        return self._server.send(f"/gaps/{quoted(id)}/close", None, Gap)

    def _whole(self, id: str) -> dict[str, Any]:
        return self._server.get(f"/lessons/{quoted(id)}", dict[str, Any])


class RemoteCards(Part):
    def report(self) -> JsonObject:
        return self._server.get("/cards/report", dict[str, Any])

    def recent(self, limit: int = 20) -> tuple[JsonObject, ...]:
        newest = islice(self._server.pages("/cards/selections", dict[str, Any]), limit)
        return tuple(reversed(tuple(newest)))

    def review(self, selection: str, card: str, right: bool) -> None:
        body = {"card": card, "right": right}
        self._server.send(f"/cards/selections/{quoted(selection)}/review", body, dict[str, Any])

    def fit(self) -> JsonObject:
        return self._server.send("/cards/fit", None, dict[str, Any])

    def resume(self) -> None:
        self._server.send("/cards/resume", None, dict[str, Any])

    def keep(self, text: str) -> str:
        return str(self._server.send("/cards/kept", {"text": text}, dict[str, Any])["name"])

    def drop(self, name: str) -> None:
        self._server.send(f"/cards/kept/{quoted(name)}", None, dict[str, Any], "DELETE")


class RemoteTokens(Part):
    """The tokens of agents; the API keeps them below the agent each is for."""

    def issue(self, agent: str, lasts: timedelta) -> IssuedToken:
        path = f"/agents/{quoted(agent)}/tokens"
        found = self._server.send(path, {"days": lasts.days}, dict[str, str])
        token = next(one for one in self._of(agent) if one.id == found["id"])
        return IssuedToken(token, found["token"])

    def list(self) -> tuple[Token, ...]:
        agents = self._server.get("/agents", list[dict[str, Any]])
        return tuple(token for agent in agents for token in self._of(agent["name"]))

    def revoke(self, id: str) -> Token:
        agent = next((token.agent for token in self.list() if token.id == id), "")
        if not agent:
            raise NotFound("token", id, see="see: prowess agent access-token list")
        return self._server.send(f"/agents/{quoted(agent)}/tokens/{id}", None, Token, "DELETE")

    def _of(self, agent: str) -> tuple[Token, ...]:
        return self._server.get(f"/agents/{quoted(agent)}/tokens", tuple[Token, ...])
