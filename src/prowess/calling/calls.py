"""One call, from the wish to the journal: found, fitting, allowed, done, recorded. The order stands here.

Above: the engine, the gateway and the API. Below: `finding`, which asks nobody; policy at use; `routing`,
which does it; `records`. Policy is asked here and not where something is listed: whatever a caller knows or
guesses, this is where it counts.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from prowess.calling.call_end import (
    CallEnd,
    CallRequest,
    PreparedCall,
    asking,
    forbidden,
    not_made,
    result_of,
)
from prowess.calling.caller import Caller
from prowess.calling.client import Client
from prowess.calling.finding import Finder
from prowess.calling.intents import Intents
from prowess.calling.keys import Keys, KeyTaken, remembered
from prowess.calling.projection import projected
from prowess.calling.records import MAX_DETAIL_CHARACTERS, CallRecords
from prowess.calling.results import (
    VALUE,
    Answer,
    Remainders,
    failed,
    first_text,
    neutral,
    shortened,
    texts_to_check,
    warned,
)
from prowess.calling.search_history import SearchHistory
from prowess.calling.use import UseCheck
from prowess.calling.wording import BUSY, unfit_for_policy, unknown, waits
from prowess.config import CallsConfig
from prowess.errors import (
    ApprovalNeeded,
    CallFailed,
    Denied,
    LoginNeeded,
    NotFound,
    PolicyError,
    ProwessError,
    SourceError,
    StoreError,
)
from prowess.journal import Journal
from prowess.journal.entries import CallBegun
from prowess.journal.payloads import AlongWith
from prowess.policy.approvals import Approval, ApprovalAnswer
from prowess.policy.arguments import digest_of
from prowess.store.database import Transaction
from prowess.tracing import NoTracer, Span, Tracer
from prowess.types import CallResult, Capability, Decision
from prowess.world import SourceSet, World, Worlds

logger = logging.getLogger("prowess")

MOST_LOOKED_AT_HERE = 20_000
"""Characters of a result that are looked at in the event loop; a longer one would keep others waiting."""

Returned = TypeVar("Returned")
Execute = Callable[[Capability, Mapping[str, Any]], Awaitable[Answer]]


class Worker(Protocol):
    """Where work is done that an event loop must not wait for."""

    async def do(self, work: Callable[..., Returned], *arguments: object) -> Returned:
        """What waits for the store."""

    async def finish(self, work: Callable[..., Returned], *arguments: object) -> Returned:
        """The same, also when whoever waits for it is cancelled."""

    async def aside(self, work: Callable[..., Returned], *arguments: object) -> Returned:
        """What takes its time, and needs no store."""


class Route(Protocol):
    """The way to what is called."""

    async def go(self, capability: Capability, arguments: Mapping[str, Any], client: Client) -> Answer:
        """Carry out a call that was allowed. Raises `SourceError` or `CallFailed` when it cannot be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallParts:
    """What a call works with."""

    worlds: Worlds
    use: UseCheck
    sources: SourceSet
    journal: Journal
    finder: Finder
    records: CallRecords
    intents: Intents
    keys: Keys
    searches: SearchHistory
    config: CallsConfig
    ids: Callable[[], str]
    approvals: Callable[[], tuple[Approval, ...]]
    """The questions that wait."""
    answer: Callable[[str, ApprovalAnswer], object]
    """What a person said to one of them."""
    points_at: Callable[[Sequence[str]], Sequence[str]]
    """The passages of a result that may be instructions to a model: a quick look."""
    speaks_to_the_model: Callable[[Sequence[str]], bool]
    """Whether one of these passages reads like instructions."""
    tracer: Tracer = field(default_factory=NoTracer)


class Calls:
    def __init__(self, parts: CallParts, routes: Route, remainders: Remainders, worker: Worker) -> None:
        self._parts = parts
        self._routes = routes
        self._remainders = remainders
        self._worker = worker
        self._has_looked = False
        """Whether what results are looked at with has been read from its files."""

    async def call(self, request: CallRequest, client: Client, do: Execute | None = None) -> Answer:
        """The answer as it goes over the wire; by the route that the capability has, or as `do` does it."""
        _, ended, _ = await self._run(request, client, do or self._routed(client))
        return ended.answer

    async def result(self, request: CallRequest, client: Client) -> CallResult:
        """The result as a program gets it."""
        call, ended, milliseconds = await self._run(request, client, self._routed(client))
        return result_of(ended, call, request.offer, milliseconds)

    async def _run(self, request: CallRequest, client: Client, do: Execute) -> tuple[str, CallEnd, float]:
        call = self._parts.ids()
        with self._parts.tracer.span("call", client.caller.agent, request.name) as span:
            return await self._followed(request, client, do, call, span)

    async def _followed(
        self, request: CallRequest, client: Client, do: Execute, call: str, span: Span
    ) -> tuple[str, CallEnd, float]:
        started = time.perf_counter()
        ready: PreparedCall | CallEnd | None = None
        ended = CallEnd(answer=failed("cancelled"), ending="cancelled", capability=request.name)
        try:
            ready = await self._ready(request, client, call)
            if isinstance(ready, CallEnd):
                ended = ready
            else:
                ended = replace(ended, capability=ready.capability.id)
                ended = await self._carry_out(ready, request, client.caller, do)
            return call, ended, (time.perf_counter() - started) * 1000
        finally:
            milliseconds = (time.perf_counter() - started) * 1000
            begun = ready if isinstance(ready, PreparedCall) else None
            span.add(
                capability=ended.capability, way=request.way, outcome=ended.ending, revision=ended.revision,
                offer=request.offer, call=call,
            )  # fmt: skip
            # Also what was cancelled was called, and must be in the journal.
            await self._worker.finish(self._remember, request, client, ended, begun, call, milliseconds)

    def _routed(self, client: Client) -> Execute:
        async def do(capability: Capability, arguments: Mapping[str, Any]) -> Answer:
            return await self._routes.go(capability, arguments, client)

        return do

    async def _ready(self, request: CallRequest, client: Client, call: str) -> PreparedCall | CallEnd:
        ready = await self._worker.do(self._prepare, request, client.caller, call)
        if isinstance(ready, ApprovalNeeded):
            ready = await self._after_asking(ready, request, client, call)
        return asking(ready, failed(waits(ready.id))) if isinstance(ready, ApprovalNeeded) else ready

    # --- doing it --------------------------------------------------------------------------------

    async def _carry_out(
        self, ready: PreparedCall, request: CallRequest, caller: Caller, do: Execute
    ) -> CallEnd:
        id = ready.capability.id
        end = partial(
            CallEnd, capability=id, revision=ready.decision.revision, decision=ready.decision.verdict
        )
        try:
            answer = await do(ready.capability, ready.arguments)
        except SourceError as error:
            text, detail = _told(error)
            failure = CallFailed(id, "failed", error.what, error.remedy)
            return end(answer=failed(f"{id}: {text}"), ending="failed", detail=detail, error=failure)
        except ProwessError as error:
            return end(answer=failed(str(error)), ending="failed", detail=error.message, error=error)
        value = answer.pop(VALUE, None)
        if answer.get("resultType") == "input_required":
            # The client comes again with its answer: that is the same use, and needs no second yes.
            await self._worker.do(self._parts.use.not_used, caller.agent, ready.decision)
            return end(answer=answer, ending="asked", detail="the server asks")
        passed, is_suspected = await self._past_the_guard(ready.capability, answer)
        end = partial(end, is_suspected=is_suspected)
        short = self._shown(ready.capability, passed, request, caller)
        if not answer.get("isError"):
            return end(answer=short, ending="ok", value=None if request.fields else value)
        why = first_text(answer)[:MAX_DETAIL_CHARACTERS]
        return end(answer=short, ending="failed", detail=why, error=CallFailed(id, "failed", why))

    async def _past_the_guard(self, capability: Capability, answer: Answer) -> tuple[Answer, bool]:
        """The result sanitised, or with a note where something in it speaks to the model; whether it does."""
        config = self._parts.config
        if config.neutralise_results:
            return await self._worker.aside(neutral, answer), False
        if not config.check_results or self._parts.sources.trusts(capability.source):
            return answer, False
        noted = await self._noted(answer)
        return noted, noted is not answer

    def _shown(self, capability: Capability, answer: Answer, request: CallRequest, caller: Caller) -> Answer:
        """The result as the model may see it: only what was asked for, and not too long."""
        if request.fields:
            answer = projected(answer, request.fields)
        promised = request.way == "pinned" and self._parts.finder.details.of(capability).output_schema
        most = self._parts.config.max_result_characters
        return shortened(answer, most, caller.agent, self._remainders, keeps_structure=bool(promised))

    async def _noted(self, answer: Answer) -> Answer:
        """With a note where something in it speaks to the model; nearly no answer needs more than a look."""
        look, texts = self._parts.points_at, texts_to_check(answer)
        takes_time = not self._has_looked or sum(map(len, texts)) > MOST_LOOKED_AT_HERE
        passages = await self._worker.aside(look, texts) if takes_time else look(texts)
        self._has_looked = True
        if not passages:
            return answer
        is_order = await self._worker.aside(self._parts.speaks_to_the_model, passages)
        return warned(answer) if is_order else answer

    # --- before: in a worker thread --------------------------------------------------------------

    def _prepare(
        self, request: CallRequest, caller: Caller, call: str
    ) -> PreparedCall | CallEnd | ApprovalNeeded:
        """Whether it may be carried out; what could not be remembered afterwards is not begun."""
        if self._parts.records.log.is_behind:
            return not_made(request.name, "unavailable", BUSY, "the store is busy")
        try:
            world = self._parts.worlds.now(caller.agent)
            fitting = self._parts.finder.fitting(request, caller, world)
            if isinstance(fitting, CallEnd):
                return fitting
            earlier = self._parts.keys.earlier(request, caller, fitting) if request.key else None
            return earlier or self._decided(request, caller, world, replace(fitting, call=call))
        except KeyTaken as taken:
            return taken.end
        except StoreError as error:
            logger.warning("a call was refused: %s", error)
            return not_made(request.name, "unavailable", BUSY, "the store is busy")

    def _decided(
        self, request: CallRequest, caller: Caller, world: World, fitting: PreparedCall
    ) -> PreparedCall | CallEnd | ApprovalNeeded:
        settled: list[Decision] = []
        check = partial(
            self._parts.use.check, world, caller.agent, authenticated=caller.authenticated,
            arguments=fitting.arguments, call=fitting.call,
        )  # fmt: skip
        is_recorded = fitting.capability.has_side_effects or bool(request.key)
        begin = partial(self._begin, request, caller, fitting) if is_recorded else None
        try:
            for id in fitting.also:
                settled.append(check(id))
            settled.append(check(fitting.capability.id, allowed=begin, flush=is_recorded))
        except (ApprovalNeeded, Denied, KeyTaken) as refusal:
            for decision in settled:
                self._parts.use.not_used(caller.agent, decision)
            if isinstance(refusal, Denied):
                if refusal.decision.conditions:
                    return forbidden(refusal, unfit_for_policy(refusal))
                visible = world.visible(caller.agent, caller.authenticated, caller.over_mcp).capabilities
                return forbidden(refusal, unknown(request.name, (id for id in visible if id != refusal.id)))
            if isinstance(refusal, ApprovalNeeded):
                return refusal
            raise
        return replace(fitting, decision=settled[-1], is_recorded=is_recorded)

    def _begin(
        self, request: CallRequest, caller: Caller, ready: PreparedCall, transaction: Transaction
    ) -> None:
        """Write the intent down, in the transaction that allows it."""
        intent = remembered(request, caller, ready, digest_of(ready.arguments))
        if not self._parts.intents.begin(transaction, intent):
            raise KeyTaken(request, ready.capability.id)
        entry = CallBegun(call=intent.id, capability=intent.capability, key=intent.key)
        self._parts.journal.append(transaction, entry, caller.agent)

    # --- when a person must be asked -------------------------------------------------------------

    async def _after_asking(
        self, needed: ApprovalNeeded, request: CallRequest, client: Client, call: str
    ) -> PreparedCall | CallEnd | ApprovalNeeded:
        world = await self._worker.do(self._parts.worlds.now)
        question = await self._worker.do(self._arguments_shown, needed)
        asked = await client.ask(needed, world.view.get(needed.id), question)
        if asked.answer is not None:
            return asking(needed, asked.answer)
        if asked.yes is None:
            return needed
        # Somebody may have answered elsewhere meanwhile: then that holds.
        with suppress(PolicyError, NotFound):
            said = ApprovalAnswer(yes=asked.yes, by=asked.by)
            await self._worker.do(self._parts.answer, needed.approval, said)
        if not asked.yes:
            text = f"The answer at the client was no: {needed.id} was not called."
            end = not_made(needed.id, "refused", text, "", needed.decision.revision)
            return replace(end, decision="ask", error=CallFailed(needed.id, "refused", "the answer was no"))
        return await self._worker.do(self._prepare, request, client.caller, call)

    def _arguments_shown(self, needed: ApprovalNeeded) -> Mapping[str, str]:
        """The arguments as they stand in the question itself."""
        waiting = [one for one in self._parts.approvals() if one.id == needed.approval]
        return waiting[0].arguments if waiting else {}

    # --- after: in a worker thread ---------------------------------------------------------------

    def _remember(
        self, request: CallRequest, client: Client, ended: CallEnd, begun: PreparedCall | None,
        call: str, milliseconds: float,
    ) -> None:  # fmt: skip
        searches = self._parts.searches
        answers = request.offer or searches.of(client.caller, ended.capability)
        if ended.ending == "ok":
            searches.answered(client.caller, answers)
        along = self._closing(request, client.caller, ended, begun) if begun and begun.is_recorded else None
        self._parts.records.end(request, client, ended, call, milliseconds, answers, along)

    def _closing(
        self, request: CallRequest, caller: Caller, ended: CallEnd, begun: PreparedCall
    ) -> AlongWith:
        """The end of an intent, written together with the end of its call."""
        intents = self._parts.intents
        if ended.ending == "asked":
            return partial(intents.undo, id=begun.call)
        intent = remembered(request, caller, begun, "")
        return partial(intents.end, intent=intent, result=self._parts.keys.kept(ended) if request.key else "")


def _told(error: SourceError) -> tuple[str, str]:
    """What a model is told of an error, and what the journal keeps."""
    whole = f"{error.what}; {error.remedy}" if error.remedy else error.what
    if isinstance(error, LoginNeeded):  # what is to be run is for people, who find it in the journal
        return f"{error.what}; a person must log in before this can be called", whole
    return whole, error.what
