"""One call, from the wish to the journal: exists, fits, allowed, done, remembered.

Above: the server, which speaks the protocol. Below: the engine for every decision, and `routes` for the
doing. Policy is asked here and not at the list: whatever a client knows or guesses, this is where it counts.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import uuid4

import anyio
from anyio import to_thread

from prowess.catalogue.uris import LONGEST_URI
from prowess.config import GatewayConfig
from prowess.engine.engine import Engine
from prowess.engine.turn_log import outcome_entry, redacted_values
from prowess.errors import ApprovalNeeded, Denied, NotFound, PolicyError, SourceError, StoreError
from prowess.gateway.arguments import Schemas, as_arguments, misfit
from prowess.gateway.call_log import CallLog
from prowess.gateway.caller import Caller
from prowess.gateway.client import Client
from prowess.gateway.descriptions import EFFECTS, READ, REJECTED, Way, clean_schema, is_rejected, unknown
from prowess.gateway.engine_worker import EngineWorker
from prowess.gateway.error_redaction import fault_without_values, without_values
from prowess.gateway.resource_lookup import NoPlace, placed
from prowess.gateway.results import Answer, Remainders, failed, neutral, shortened, size, warned
from prowess.gateway.routing import Routes
from prowess.gateway.search_history import SearchHistory
from prowess.gateway.telemetry import note_call
from prowess.journal import Entry, canonical, plain
from prowess.journal.entries import Called
from prowess.journal.payloads import Payload
from prowess.policy.approvals import ApprovalAnswer as Said
from prowess.policy.arguments import shown
from prowess.types import Capability, Decision, Outcome, Verdict

Ending = Literal["ok", "failed", "refused", "misfit", "denied", "asked", "unavailable", "cancelled"]

LONGEST_DETAIL = 300

BUSY = "The store of prowess cannot be written to right now, so this call was not made. Try again soon."

logger = logging.getLogger("prowess")


@dataclass(frozen=True, slots=True)
class CallRequest:
    """What a client wants called, and by which of the tools."""

    id: str
    arguments: object
    way: Way


Execute = Callable[[Capability, Mapping[str, Any]], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A wish that may be carried out."""

    capability: Capability
    arguments: Mapping[str, Any]
    decision: Decision
    also: tuple[str, ...] = ()
    """Other ids that must be allowed with it."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """How a wish ended, and what the client is told."""

    answer: Answer
    how: Ending
    revision: str = ""
    detail: str = ""
    decision: Verdict | Literal[""] = ""
    """What policy said; nothing where it was not asked."""


class Calls:
    def __init__(
        self,
        engine: Engine,
        routes: Routes,
        remainders: Remainders,
        config: GatewayConfig,
        worker: EngineWorker,
    ) -> None:
        self._engine = engine
        self._routes = routes
        self._remainders = remainders
        self._config = config
        self._worker = worker
        self._schemas = Schemas()
        self.recording = CallLog(engine.internals.journal, engine.internals.payloads)
        self.searches = SearchHistory()

    async def call(self, request: CallRequest, client: Client, do: Execute | None = None) -> Answer:
        """Carry a wish out by the route its capability has, or as the caller of this would `do` it."""
        started = time.perf_counter()
        ended = CallResult(failed("cancelled"), "cancelled")
        try:
            ended = await self._ended(request, client, do or self._routed(client))
            return ended.answer
        finally:
            milliseconds = (time.perf_counter() - started) * 1000
            # Also what was cancelled was called, and must be in the journal.
            with anyio.CancelScope(shield=True):
                await self._worker.do(self._remember, request, client, ended, milliseconds)

    async def _ended(self, request: CallRequest, client: Client, do: Execute) -> CallResult:
        ready = await self._worker.do(self._prepare, request, client.caller)
        if isinstance(ready, ApprovalNeeded):
            ready = await self._after_asking(ready, request, client)
        if isinstance(ready, CallResult):
            return ready
        assert isinstance(ready, PreparedCall)
        return await self._carry_out(ready, client.caller, do)

    def _routed(self, client: Client) -> Execute:
        async def do(capability: Capability, arguments: Mapping[str, Any]) -> Answer:
            return await self._routes.go(capability, arguments, client)

        return do

    async def _carry_out(self, ready: PreparedCall, caller: Caller, do: Execute) -> CallResult:
        revision, verdict = ready.decision.revision, ready.decision.verdict
        try:
            answer = await do(ready.capability, ready.arguments)
        except SourceError as error:
            text = f"{ready.capability.id}: {error.what}{f'; {error.remedy}' if error.remedy else ''}"
            return CallResult(failed(text), "failed", revision, error.what, verdict)
        if answer.get("resultType") == "input_required":
            # The client comes again with its answer: that is the same use, and needs no second yes.
            await self._worker.do(self._engine.approvals.give_back, caller.agent, ready.decision)
            return CallResult(answer, "asked", revision, "the server asks", verdict)
        if self._config.neutralise_results:
            answer = await to_thread.run_sync(neutral, answer)
        elif self._config.check_results and not self._is_trusted(ready.capability.source):
            answer = await self._noted(answer)
        short = shortened(answer, self._config.max_result_characters, caller.agent, self._remainders)
        if answer.get("isError"):
            return CallResult(short, "failed", revision, first_text(answer), verdict)
        return CallResult(short, "ok", revision, decision=verdict)

    def _is_trusted(self, source: str) -> bool:
        return self._engine.internals.sources.trusts(source)

    async def _noted(self, answer: Answer) -> Answer:
        """With a note where something in it speaks to the model; nearly no answer needs more than a look."""
        from prowess.guard.prefilter import pointed_at

        if warned(answer, lambda text: bool(pointed_at(text))) is answer:
            return answer
        return await to_thread.run_sync(warned, answer, self._engine.internals.guard.speaks_to_the_model)

    # --- before: in a worker thread --------------------------------------------------------------

    def _prepare(self, request: CallRequest, caller: Caller) -> PreparedCall | CallResult | ApprovalNeeded:
        """Whether it may be carried out; what could not be remembered afterwards is not begun."""
        if self.recording.is_behind:
            return CallResult(failed(BUSY), "unavailable", detail="the store is busy")
        try:
            return self._decided(request, caller)
        except StoreError as error:
            logger.warning("a call was refused: %s", error)
            return CallResult(failed(BUSY), "unavailable", detail="the store is busy")

    def _decided(self, request: CallRequest, caller: Caller) -> PreparedCall | CallResult | ApprovalNeeded:
        fitting = self._fitting(request, caller)
        if isinstance(fitting, CallResult):
            return fitting
        settled: list[Decision] = []
        try:
            for id in (*fitting.also, fitting.capability.id):
                checked = self._engine.check(caller.agent, id, caller.authenticated, fitting.arguments)
                settled.append(checked)
        except (ApprovalNeeded, Denied) as refusal:
            for decision in settled:
                self._engine.approvals.give_back(caller.agent, decision)
            if isinstance(refusal, ApprovalNeeded):
                return refusal
            said = refusal.decision
            return CallResult(failed(unknown(request.id)), "denied", said.revision, said.reason, "deny")
        return replace(fitting, decision=settled[-1])

    def _fitting(self, request: CallRequest, caller: Caller) -> PreparedCall | CallResult:
        """The capability and its arguments, if there is one and they fit."""
        visible = self._engine.catalogue.visible(caller.agent, caller.authenticated)
        capability = visible.capabilities.get(request.id)
        if capability is None:
            revision = self._engine.policy.revision
            return CallResult(failed(unknown(request.id)), "denied", revision, "not visible", "deny")
        if request.way == READ and capability.has_side_effects:
            text = f"{request.id} may change something: call it with {EFFECTS}."
            return CallResult(failed(text), "refused", detail="has side effects")
        if is_rejected(self._engine, capability):
            return CallResult(failed(f"{request.id} {REJECTED}"), "refused", detail="rejected by the guard")
        arguments = as_arguments(request.arguments)
        if arguments is None:
            return CallResult(failed("arguments must be an object"), "misfit")
        schema = self._engine.catalogue.detail(capability.id).input_schema
        faults = self._schemas.faults((capability.id, capability.digest), schema, arguments)
        if faults:
            text = misfit(request.id, faults, clean_schema(schema or {}))
            detail = "; ".join(fault_without_values(fault, schema) for fault in faults)
            return CallResult(failed(text), "misfit", detail=detail)
        # A server that was down at the last look may be up again: calling it is how to find out.
        reasons = [why for why in capability.unavailable if not why.startswith("provider ")]
        if reasons:
            text = f"{request.id} cannot be used now: {'; '.join(reasons)}. A person can change that."
            return CallResult(failed(text), "unavailable", detail="; ".join(reasons))
        ready = PreparedCall(capability, arguments, Decision(verdict="deny", reason="not asked yet"))
        of_server = capability.kind == "resource" and capability.source_ref.kind == "mcp"
        return self._placed(ready, request, caller) if of_server else ready

    def _placed(self, ready: PreparedCall, request: CallRequest, caller: Caller) -> PreparedCall | CallResult:
        """A resource is what its URI says: one that a server lists is that one, not the template named."""
        place = placed(self._engine.catalogue.view(), ready.capability, ready.arguments.get("uri"))
        if isinstance(place, NoPlace):
            text = f"{request.id} was not read: {place.why}."
            return CallResult(failed(text), "misfit", detail=place.why)
        visible = self._engine.catalogue.visible(caller.agent, caller.authenticated).capabilities
        if not {place.capability.id, *place.also} <= visible.keys():
            text = (
                unknown(request.id)
                if request.way == "resource"
                else f"There is no resource {place.uri!r} here."
            )
            revision = self._engine.policy.revision
            return CallResult(failed(text), "denied", revision, "the uri is not visible", "deny")
        # What a person is asked, and a yes holds for, is this URI, whichever way it was named.
        return PreparedCall(visible[place.capability.id], {"uri": place.uri}, ready.decision, place.also)

    # --- when a person must be asked -------------------------------------------------------------

    async def _after_asking(
        self, needed: ApprovalNeeded, request: CallRequest, client: Client
    ) -> PreparedCall | CallResult | ApprovalNeeded:
        view = await self._worker.do(self._engine.catalogue.view)
        asked = await client.ask(needed, view.get(needed.id), await self._worker.do(self._shown, needed))
        if asked.answer is not None:
            return CallResult(asked.answer, "asked", needed.decision.revision, decision="ask")
        if asked.yes is None:
            return CallResult(failed(_waits(needed.id)), "asked", needed.decision.revision, decision="ask")
        # Somebody may have answered elsewhere meanwhile: then that holds.
        with suppress(PolicyError, NotFound):
            said = Said(yes=asked.yes, by=asked.by)
            await self._worker.do(self._engine.approvals.answer, needed.approval, said)
        if not asked.yes:
            text = f"The answer at the client was no: {needed.id} was not called."
            return CallResult(failed(text), "refused", needed.decision.revision, decision="ask")
        ready = await self._worker.do(self._prepare, request, client.caller)
        if isinstance(ready, ApprovalNeeded):
            return CallResult(failed(_waits(needed.id)), "asked", needed.decision.revision, decision="ask")
        return ready

    def _shown(self, needed: ApprovalNeeded) -> Mapping[str, str]:
        """The arguments as they stand in the question itself."""
        waiting = [one for one in self._engine.internals.policy.approvals() if one.id == needed.approval]
        return waiting[0].arguments if waiting else {}

    # --- after: in a worker thread ---------------------------------------------------------------

    def _remember(self, request: CallRequest, client: Client, ended: CallResult, milliseconds: float) -> None:
        caller = client.caller
        detail = self._discreet(request, client, ended)[:LONGEST_DETAIL]
        given, answered = self._kept(request, ended)
        call = Called(
            capability=request.id[:200],
            way=request.way,
            outcome=ended.how,
            detail=detail,
            decision=ended.decision,
            revision=ended.revision,
            milliseconds=round(milliseconds, 3),
            characters=size(ended.answer),
            uri=self._address(request),
            search=self.searches.of(caller.agent, request.id),
            arguments=given.digest if given else "",
            result=answered.digest if answered else "",
        )
        note_call(plain(call), caller.agent)
        entries: list[Entry] = [call]
        if ended.how in ("ok", "failed"):
            outcome = Outcome(
                offer="",
                capability=request.id,
                ok=ended.how == "ok",
                agent=caller.agent,
                detail=detail,
                milliseconds=round(milliseconds, 3),
                key=uuid4().hex,
            )
            entries.append(outcome_entry(outcome))
        # One transaction: a call and what came of it are remembered together.
        made = ended.how in ("ok", "failed", "cancelled")
        kept = [payload for payload in (given, answered) if payload]
        self.recording.record(entries, caller.agent, made, kept)

    def _kept(self, request: CallRequest, ended: CallResult) -> tuple[Payload | None, Payload | None]:
        """Arguments and result without credentials, where [journal] says that they are kept."""
        keeps = self._engine.internals.options.journal
        if not (keeps.keep_days and (keeps.keep_arguments or keeps.keep_results)):
            return None, None
        try:
            given = self._payload(request.arguments) if keeps.keep_arguments else None
            return given, self._payload(ended.answer) if keeps.keep_results else None
        except StoreError:  # which texts are secret is not known then, so none is kept
            return None, None

    def _payload(self, value: object) -> Payload:
        return Payload.of(canonical(redacted_values(value, self._engine.internals.use.hiding())))

    def _discreet(self, request: CallRequest, client: Client, ended: CallResult) -> str:
        """What went wrong, without any value that was given; what we say ourselves has none."""
        if ended.how != "failed" or not ended.detail:
            return ended.detail
        brought = client.elicitation_client.brought.responses if client.elicitation_client else None
        answers = [one.model_dump(mode="json") for one in (brought or {}).values()]
        given = as_arguments(request.arguments) or {"": request.arguments}
        try:
            return without_values(self._engine.internals.use.hidden(ended.detail), given, answers)
        except StoreError:  # which texts are secret is not known then, so none is kept
            return ""

    def _address(self, request: CallRequest) -> str:
        """What was read, where it has a URI: a template alone says little."""
        try:
            return self._uri(request)
        except StoreError:  # what is secret in it is not known then
            return ""

    def _uri(self, request: CallRequest) -> str:
        named = self._engine.catalogue.view().capabilities.get(request.id)
        if request.way != "resource" and (named is None or named.kind != "resource"):
            return ""
        given = (as_arguments(request.arguments) or {}).get("uri")
        own = named.metadata.get("uri") if named else None
        if isinstance(given, str) and len(given) > LONGEST_URI:
            return f"[{len(given)} characters]"  # it was not read, and looking it through would take its time
        uri = shown({"uri": own or given or ""}, self._engine.internals.use.hidden)["uri"]
        return uri.removeprefix('"').removesuffix('"')


def _waits(id: str) -> str:
    """For a model: nothing that it, or a shell it has, could answer the question with."""
    return f"{id} waits for a person, who has been asked. Call it again later, with the same arguments."


def first_text(answer: Answer) -> str:
    blocks = answer.get("content") or []
    return next((str(b["text"]) for b in blocks if isinstance(b, dict) and "text" in b), "")[:LONGEST_DETAIL]
