"""One call, from the wish to the journal: exists, fits, allowed, done, remembered.

Above: the server, which speaks the protocol. Below: the engine for every decision, and `routes` for the
doing. Policy is asked here and not at the list: whatever a client knows or guesses, this is the door.
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import uuid4

import anyio
from anyio import to_thread

from prowess.config import GatewayConfig
from prowess.engine.engine import Engine
from prowess.engine.records import outcome_data
from prowess.errors import ApprovalNeeded, Denied, SourceError
from prowess.gateway.arguments import Schemas, as_arguments, misfit
from prowess.gateway.caller import Caller
from prowess.gateway.clerk import Clerk
from prowess.gateway.client import Client
from prowess.gateway.results import Answer, Remainders, failed, neutral, shortened, size, warned
from prowess.gateway.routes import Routes
from prowess.gateway.showing import EFFECTS, READ, REJECTED, Way, clean_schema, is_rejected, unknown
from prowess.gateway.telemetry import note_call
from prowess.policy.approvals import Answer as Said
from prowess.types import Capability, Decision, JsonObject, Outcome, Verdict

Ending = Literal["ok", "failed", "refused", "misfit", "denied", "asked", "unavailable", "cancelled"]

LONGEST_DETAIL = 300


@dataclass(frozen=True, slots=True)
class Wish:
    """What a client wants called, and by which of the tools."""

    id: str
    arguments: object
    way: Way


Do = Callable[[Capability, Mapping[str, Any]], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Ready:
    """A wish that may be carried out."""

    capability: Capability
    arguments: Mapping[str, Any]
    decision: Decision


@dataclass(frozen=True, slots=True)
class Ended:
    """How a wish ended, and what the client is told."""

    answer: Answer
    how: Ending
    revision: str = ""
    detail: str = ""
    decision: Verdict | Literal[""] = ""
    """What policy said; nothing where it was not asked."""


class Calls:
    def __init__(
        self, engine: Engine, routes: Routes, remainders: Remainders, config: GatewayConfig, clerk: Clerk
    ) -> None:
        self._engine = engine
        self._routes = routes
        self._remainders = remainders
        self._config = config
        self._clerk = clerk
        self._schemas = Schemas()

    async def call(self, wish: Wish, client: Client, do: Do | None = None) -> Answer:
        """Carry a wish out by the route its capability has, or as the caller of this would `do` it."""
        started = time.perf_counter()
        ended = Ended(failed("cancelled"), "cancelled")
        try:
            ended = await self._ended(wish, client, do or self._routed(client))
            return ended.answer
        finally:
            milliseconds = (time.perf_counter() - started) * 1000
            # Also what was cancelled was called, and must be in the journal.
            with anyio.CancelScope(shield=True):
                await self._clerk.do(self._remember, wish, client.caller, ended, milliseconds)

    async def _ended(self, wish: Wish, client: Client, do: Do) -> Ended:
        ready = await self._clerk.do(self._prepare, wish, client.caller)
        if isinstance(ready, ApprovalNeeded):
            ready = await self._after_asking(ready, wish, client)
        if isinstance(ready, Ended):
            return ready
        assert isinstance(ready, Ready)
        return await self._carry_out(ready, client.caller, do)

    def _routed(self, client: Client) -> Do:
        async def do(capability: Capability, arguments: Mapping[str, Any]) -> Answer:
            return await self._routes.go(capability, arguments, client)

        return do

    async def _carry_out(self, ready: Ready, caller: Caller, do: Do) -> Ended:
        revision, verdict = ready.decision.revision, ready.decision.verdict
        try:
            answer = await do(ready.capability, ready.arguments)
        except SourceError as error:
            text = f"{ready.capability.id}: {error.what}{f'; {error.remedy}' if error.remedy else ''}"
            return Ended(failed(text), "failed", revision, error.what, verdict)
        if answer.get("resultType") == "input_required":
            return Ended(answer, "asked", revision, "the server asks", verdict)
        if self._config.neutralise_results:
            answer = await to_thread.run_sync(neutral, answer)
        elif self._config.check_results and not self._engine.trusts(ready.capability.source):
            answer = await self._noted(answer)
        short = shortened(answer, self._config.max_result_characters, caller.agent, self._remainders)
        if answer.get("isError"):
            return Ended(short, "failed", revision, first_text(answer), verdict)
        return Ended(short, "ok", revision, decision=verdict)

    async def _noted(self, answer: Answer) -> Answer:
        """With a note where something in it speaks to the model; nearly no answer needs more than a look."""
        from prowess.context.quick import pointed_at

        if warned(answer, lambda text: bool(pointed_at(text))) is answer:
            return answer
        return await to_thread.run_sync(warned, answer, self._engine.speaks_to_the_model)

    # --- before: in a worker thread --------------------------------------------------------------

    def _prepare(self, wish: Wish, caller: Caller) -> Ready | Ended | ApprovalNeeded:
        fitting = self._fitting(wish, caller)
        if isinstance(fitting, Ended):
            return fitting
        try:
            decision = self._engine.check(caller.agent, fitting.capability.id, caller.authenticated)
        except ApprovalNeeded as needed:
            return needed
        except Denied as denied:
            said = denied.decision
            return Ended(failed(unknown(wish.id)), "denied", said.revision, said.reason, "deny")
        return replace(fitting, decision=decision)

    def _fitting(self, wish: Wish, caller: Caller) -> Ready | Ended:
        """The capability and its arguments, if there is one and they fit."""
        capability = self._engine.visible(caller.agent, caller.authenticated).capabilities.get(wish.id)
        if capability is None:
            revision = self._engine.policy.revision
            return Ended(failed(unknown(wish.id)), "denied", revision, "not visible", "deny")
        if wish.way == READ and capability.has_side_effects:
            text = f"{wish.id} may change something: call it with {EFFECTS}."
            return Ended(failed(text), "refused", detail="has side effects")
        if is_rejected(self._engine, capability):
            return Ended(failed(f"{wish.id} {REJECTED}"), "refused", detail="rejected by the guard")
        arguments = as_arguments(wish.arguments)
        if arguments is None:
            return Ended(failed("arguments must be an object"), "misfit")
        schema = self._engine.detail(capability.id).input_schema
        faults = self._schemas.faults((capability.id, capability.digest), schema, arguments)
        if faults:
            text = misfit(wish.id, faults, clean_schema(schema or {}))
            return Ended(failed(text), "misfit", detail="; ".join(faults))
        # A server that was down at the last look may be up again: calling it is how to find out.
        reasons = [why for why in capability.unavailable if not why.startswith("provider ")]
        if reasons:
            text = f"{wish.id} cannot be used now: {'; '.join(reasons)}. A person can change that."
            return Ended(failed(text), "unavailable", detail="; ".join(reasons))
        return Ready(capability, arguments, Decision(verdict="deny", reason="not asked yet"))

    # --- when a person must be asked -------------------------------------------------------------

    async def _after_asking(
        self, needed: ApprovalNeeded, wish: Wish, client: Client
    ) -> Ready | Ended | ApprovalNeeded:
        view = await self._clerk.do(self._engine.view)
        asked = await client.ask(needed, view.get(needed.id), as_arguments(wish.arguments) or {})
        if asked.answer is not None:
            return Ended(asked.answer, "asked", needed.decision.revision, decision="ask")
        if asked.yes is None:
            text = (
                f"{needed.id} waits for a person. They can approve it with: {needed.remedy}. Then call again."
            )
            return Ended(failed(text), "asked", needed.decision.revision, decision="ask")
        said = Said(yes=asked.yes, by=asked.by)
        await self._clerk.do(self._engine.answer, needed.approval, said)
        if not asked.yes:
            text = f"A person said no to {needed.id}."
            return Ended(failed(text), "refused", needed.decision.revision, decision="ask")
        ready = await self._clerk.do(self._prepare, wish, client.caller)
        if isinstance(ready, ApprovalNeeded):
            text = f"{needed.id} waits for a person."
            return Ended(failed(text), "asked", needed.decision.revision, decision="ask")
        return ready

    # --- after: in a worker thread ---------------------------------------------------------------

    def _remember(self, wish: Wish, caller: Caller, ended: Ended, milliseconds: float) -> None:
        detail = self._redacted(ended.detail)[:LONGEST_DETAIL]
        data = {
            "capability": wish.id[:200],
            "way": wish.way,
            "outcome": ended.how,
            "detail": detail,
            "decision": ended.decision,
            "revision": ended.revision,
            "milliseconds": round(milliseconds, 3),
            "characters": size(ended.answer),
        }
        note_call(data, caller.agent)
        entries: list[tuple[str, JsonObject]] = [("call", data)]
        if ended.how in ("ok", "failed"):
            outcome = Outcome(
                offer="",
                capability=wish.id,
                ok=ended.how == "ok",
                agent=caller.agent,
                detail=detail,
                milliseconds=round(milliseconds, 3),
                key=uuid4().hex,
            )
            entries.append(("outcome", outcome_data(outcome)))
        # One transaction: a call and what came of it are remembered together.
        self._engine.journal.record_all(entries, caller.agent)

    def _redacted(self, text: str) -> str:
        return self._routes.redacted(text, self._engine.view().secret_names) if text else ""


def first_text(answer: Answer) -> str:
    blocks = answer.get("content") or []
    return next((str(b["text"]) for b in blocks if isinstance(b, dict) and "text" in b), "")[:LONGEST_DETAIL]
