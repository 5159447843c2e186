"""The parts of a remote engine: its journal, its evolution, what it learnt."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from prowess.engine.lessons import Learnt
from prowess.errors import RemoteError
from prowess.evolution.events import Event
from prowess.evolution.history import Difference, Status
from prowess.evolution.params import Params
from prowess.evolution.records import Evaluation, Generation, Restore
from prowess.learning.promotion import Gated, SuiteResult
from prowess.learning.skills import Skill
from prowess.types import Head, JournalEntry, JsonObject

if TYPE_CHECKING:
    from prowess.cli.remote import Server

MOST = 500
FORBIDDEN = 403


class RemoteJournal:
    def __init__(self, server: "Server") -> None:
        self._server = server

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
            elif number - len(new) >= MOST:
                break
        return tuple(reversed(new))


class RemoteEvolution:
    def __init__(self, server: "Server") -> None:
        self._server = server

    def status(self, agent: str) -> Status:
        return self._server.get("/evolution/status", Status, agent=agent)

    def history(self, agent: str, limit: int = 50) -> tuple[Generation, ...]:
        return self._server.get(
            "/evolution/generations", tuple[Generation, ...], agent=agent, limit=min(limit, MOST)
        )

    def generation(self, agent: str, number: int) -> Generation:
        return self._server.get(f"/evolution/generations/{number}", Generation, agent=agent)

    def difference(self, agent: str, before: int, after: int) -> Difference:
        return self._server.get("/evolution/difference", Difference, agent=agent, before=before, after=after)

    def params(self, agent: str) -> Params:
        return self._server.get("/evolution/params", Params, agent=agent)

    def set_params(self, agent: str, changes: JsonObject, by: str = "") -> Params:
        return self._server.send("/evolution/params", changes, Params, "PUT", agent=agent)

    def rollback(self, agent: str, to: int, by: str = "") -> Evaluation:
        body = {"generation": to}
        found = self._server.send("/evolution/rollback", body, dict[str, Any], agent=agent)
        events = [Event(str(one.pop("type")), one) for one in found["events"]]
        restored = any(event.type == "EvolutionRollback" for event in events)
        restore = Restore(tuple(found["off"]), tuple(found["on"]), "") if restored else None
        return Evaluation(
            agent=agent, trigger=found["trigger"], generation=found["generation"], events=tuple(events),
            fitness=found["fitness"], restore=restore, stopped=found["stopped"],
        )  # fmt: skip

    def resume(self, agent: str, by: str = "") -> None:
        self._server.send("/evolution/resume", None, dict[str, Any], agent=agent)


class RemoteLearning:
    def __init__(self, server: "Server") -> None:
        self._server = server

    def learn(self) -> Learnt:
        """Have it learn; whoever may only look sees what it has learnt so far."""
        try:
            self._server.send("/learning/learn", None, dict[str, Any])
        except RemoteError as refused:
            if refused.status != FORBIDDEN:
                raise
        return Learnt()

    def skills(self, status: str = "") -> tuple[Skill, ...]:
        return tuple(self._server.pages("/skills", Skill, status=status))

    def skill(self, id: str) -> Skill:
        return msgspec.convert(self._whole(id)["skill"], Skill)

    def results(self, id: str) -> tuple[SuiteResult, ...]:
        return msgspec.convert(self._whole(id)["results"], tuple[SuiteResult, ...])

    def gate(self, *ids: str, progress: object = None) -> tuple[Gated, ...]:
        return self._server.send("/skills/gate", {"skills": ids}, tuple[Gated, ...])

    def promote(self, id: str, by: str) -> Skill:
        return self._server.send(f"/skills/{quote(id, safe='')}/promote", None, Skill)

    def promote_all(self) -> tuple[Skill, ...]:
        return self._server.send("/skills/promote", None, tuple[Skill, ...])

    def deprecate(self, id: str, by: str, reason: str = "") -> Skill:
        return self._server.send(f"/skills/{quote(id, safe='')}/deprecate", {"reason": reason}, Skill)

    def retire(self, id: str, by: str, reason: str = "") -> Skill:
        return self._server.send(f"/skills/{quote(id, safe='')}/retire", {"reason": reason}, Skill)

    def propose(self, document: bytes, place: str, by: str) -> Skill:
        return self._server.send("/skills", msgspec.Raw(document), Skill)

    def _whole(self, id: str) -> dict[str, Any]:
        return self._server.get(f"/skills/{quote(id, safe='')}", dict[str, Any])
