"""One turn of an agent: what it may see, what fits, what it is offered, whether it may use it.

Everything below `/agents/{agent}` is for that agent, with its own token, and for people who ask as it.
What policy denies the agent is in no answer it gets: what is left out of an offer and why something is
denied are for people.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

import msgspec

from prowess.calling.caller import Caller
from prowess.cards.injection import Injection
from prowess.engine.model_query import QUERY_MISSING, ModelQuery
from prowess.engine.no_results import why_nothing
from prowess.engine.own_tools import searched
from prowess.engine.prompt_details import PromptDetails
from prowess.engine.turn_log import record_find
from prowess.errors import ApprovalNeeded, Denied, EncoderUnavailable, NotFound, Refused
from prowess.guard.clean import clean_capability, clean_detail
from prowess.guard.sanitise import admit
from prowess.operations.operation import (
    Call,
    Count,
    Done,
    Fraction,
    Limit,
    Name,
    NoParams,
    Note,
    P,
    RequestParams,
    Text,
    operation,
)
from prowess.operations.paging import Page, page
from prowess.operations.values import CapabilityShown, CapabilityWhole, shown, whole
from prowess.options import SearchOptions
from prowess.types import (
    Capability,
    Decision,
    Detail,
    Hit,
    JsonObject,
    LeftOut,
    Message,
    Offer,
    Outcome,
    SourceRef,
    Turn,
)

Few = Annotated[int, msgspec.Meta(ge=0, le=100)]
SHORT_NAMES = {"top": "tier1_top_k", "min_relevance": "tier1_min_relevance"}
ADDRESSES = ("uri", "uri_template", "mime_type")
Milliseconds = Annotated[float, msgspec.Meta(ge=0, le=1e12)]


class VisibleQuery(RequestParams, frozen=True, kw_only=True):
    kind: str = ""
    cursor: str = ""
    limit: Limit = 50


class MessageText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    role: Name
    text: Text


class FindRequest(RequestParams, frozen=True, kw_only=True):
    request: Text
    kind: Name | None = None
    category: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    top: Few | None = None
    min_relevance: Fraction | None = None


class TurnAsked(RequestParams, frozen=True, kw_only=True):
    """What came in: a request, or the messages it is the last of."""

    request: Text = ""
    messages: Annotated[tuple[MessageText, ...], msgspec.Meta(max_length=200)] = ()
    session_type: Name = "main"
    budget: Count | None = None
    language: Annotated[str, msgspec.Meta(max_length=40)] = ""
    authenticated: bool = True
    needs: Annotated[tuple[Text, ...], msgspec.Meta(max_length=10)] = ()
    """The steps of a plan, each of which is searched for by itself."""


class OfferAsked(TurnAsked, frozen=True, kw_only=True):
    top: Few | None = None
    min_relevance: Fraction | None = None
    tier0_token_budget: Count | None = None
    tier1_token_budget: Count | None = None
    tier2_token_budget: Count | None = None


class InjectAsked(TurnAsked, frozen=True, kw_only=True):
    files: Annotated[Mapping[Name, Text], msgspec.Meta(max_length=50)] = {}
    """The files the agent starts with, by name."""
    session: Annotated[str, msgspec.Meta(max_length=200)] = ""


class UseRequest(RequestParams, frozen=True, kw_only=True):
    capability: Name
    authenticated: bool = True
    arguments: JsonObject | None = None
    """What it is to be used with: a person who is asked sees it, and a yes holds for it."""


class OutcomeAsked(RequestParams, frozen=True, kw_only=True):
    offer: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """The offer or search it answers; without it, the agent's latest search that showed the capability."""
    capability: Name
    ok: bool
    detail: Note = ""
    milliseconds: Milliseconds | None = None
    key: Annotated[str, msgspec.Meta(max_length=200)] = ""


class Discovery(RequestParams, frozen=True, kw_only=True):
    query: Text = ""
    needs: Annotated[tuple[Text, ...], msgspec.Meta(max_length=10)] = ()
    """Instead of a query: the steps of a plan, each of which is searched for by itself."""
    kind: Name = "any"
    category: Annotated[str, msgspec.Meta(max_length=200)] = ""


class Discovered(msgspec.Struct, frozen=True):
    capabilities: tuple[JsonObject, ...]
    total_indexed: int
    search: str = ""
    """Names the search, as the `offer` of a call or an outcome; without one, they refer to the latest."""
    needs: tuple[JsonObject, ...] = ()
    """Which capability serves which need, where several were searched for."""
    note: str = ""
    """What is missing, in a sentence."""


class Cost(msgspec.Struct, frozen=True):
    tokens: int
    """What it would cost to show a model everything the agent may use."""


class NoResults(msgspec.Struct, frozen=True):
    reason: str
    """The first cause on the way from the catalogue to a hit, and what to do about it."""


class OfferTools(msgspec.Struct, frozen=True):
    offer: str
    tools: tuple[JsonObject, ...]


@operation("agent.capabilities", "GET /agents/{agent}/capabilities", agents=True, quotes=True,
           errors=(NotFound,))  # fmt: skip
def list_visible(call: Call[VisibleQuery]) -> Page[CapabilityShown]:
    """What an agent may use."""
    q = call.params
    known = call.engine.catalogue.list(call.path["agent"], q.kind)
    readable = [c for c in known if not _is_rejected(call, c)]
    found = page(readable, lambda c: c.id, q.cursor, q.limit)
    # What an agent reads ends in a prompt; people see a text as it was written.
    items = map(_for_a_prompt, found.items) if call.is_agent else found.items
    return Page(tuple(shown(c) for c in items), found.next)


@operation("agent.capability", "GET /agents/{agent}/capabilities/{id}", agents=True, quotes=True,
           errors=(NotFound, Refused))  # fmt: skip
def show_visible(call: Call[NoParams]) -> CapabilityWhole:
    """One capability that an agent may use.

    What is denied and what does not exist are answered alike.
    """
    visible = call.engine.catalogue.visible(call.path["agent"]).capabilities
    id = call.path["id"]
    if id not in visible:
        raise NotFound("capability", id, visible)
    capability, detail = visible[id], call.engine.catalogue.detail(id)
    if _is_rejected(call, capability):
        raise Refused(403, f"the guard rejects {id}", "a person can see why: prowess cards check")
    if call.is_agent:
        inner = call.engine.internals
        detail = PromptDetails(inner.catalogue, inner.worlds).of(capability)
        capability, detail = _for_a_prompt(capability), clean_detail(capability.kind, detail)
    return whole(capability, detail)


def _is_rejected(call: Call[P], capability: Capability) -> bool:
    """Whether it is a card that the guard keeps from agents; people may look at it."""
    if not call.is_agent or capability.kind != "card":
        return False
    return bool(call.engine.internals.parts.cards.rejected(capability))


def _for_a_prompt(capability: Capability) -> Capability:
    """With what no prompt shows but this API does: why it cannot be used, and where a resource is.

    What else a file says of it may name what the agent may not know of, and where it lies is for people.
    """
    kept = {key: value for key, value in capability.metadata.items() if key in ADDRESSES}
    metadata = clean_detail(capability.kind, Detail(input_schema=kept)).input_schema
    unavailable = tuple(str(admit(reason, "tool_description")) for reason in capability.unavailable)
    return replace(
        clean_capability(capability),
        metadata=metadata or {},
        source_ref=SourceRef(kind=capability.source_ref.kind, place="", entry=""),
        unavailable=unavailable,
    )


@operation("agent.find", "POST /agents/{agent}/find", agents=True, reads=True, errors=(EncoderUnavailable,))
def find(call: Call[FindRequest]) -> tuple[Hit, ...]:
    """What fits a request, best first; what an agent searches for is recorded."""
    q, agent = call.params, call.path["agent"]
    hits = call.engine.find(q.request, agent, **_options(q))
    if call.is_agent:
        record_find(call.engine.internals, q.request, [hit.id for hit in hits], hits, Caller(agent))
    return hits


@operation("agent.no_results", "POST /agents/{agent}/no-results", reads=True, slow=True)
def explain_no_results(call: Call[FindRequest]) -> NoResults:
    """Why nothing fits a request, for people."""
    q = call.params
    return NoResults(why_nothing(call.engine, q.request, call.path["agent"], _options(q)))


@operation("agent.offer", "POST /agents/{agent}/offer", role="operator", agents=True)
def offer(call: Call[OfferAsked]) -> Offer:
    """One turn: what a model sees, within budgets; recorded."""
    made = call.engine.offer(_turn(call, call.params), **_options(call.params))
    return replace(made, left_out=LeftOut()) if call.is_agent else made


@operation("agent.tools", "POST /agents/{agent}/tools", role="operator", agents=True)
def offer_tools(call: Call[OfferAsked]) -> OfferTools:
    """The tools of an offer, as a model takes them."""
    made = offer.run(call)
    return OfferTools(made.id, made.tools)


@operation("agent.discover", "POST /agents/{agent}/discover", agents=True, reads=True)
def discover(call: Call[Discovery]) -> Discovered:
    """Answer a call of discover_capabilities; recorded."""
    q = call.params
    asked = ModelQuery(query=q.query, needs=q.needs, kind=q.kind, category=q.category)
    if not asked.each:
        return Discovered((), 0, note=QUERY_MISSING)
    found = searched(call.engine.internals, asked, Caller(call.path["agent"]))
    return Discovered(found.hits, found.total, found.search, found.needs, found.note)


@operation("agent.inject", "POST /agents/{agent}/inject", role="operator", agents=True)
def inject(call: Call[InjectAsked]) -> Injection:
    """The files an agent starts with, with the cards this turn needs."""
    q = call.params
    return call.engine.inject(q.files, _turn(call, q), q.session)


@operation("agent.check", "POST /agents/{agent}/check", role="operator", agents=True,
           errors=(Denied, ApprovalNeeded))  # fmt: skip
def check(call: Call[UseRequest]) -> Decision:
    """Policy at use; refused unless allowed."""
    q = call.params
    decision = call.engine.check(call.path["agent"], q.capability, q.authenticated, q.arguments)
    return replace(decision, reason="allowed", chain=()) if call.is_agent else decision


@operation("agent.record", "POST /agents/{agent}/outcomes", role="operator", agents=True, status=201,
           errors=(NotFound,))  # fmt: skip
def record(call: Call[OutcomeAsked]) -> Done:
    """Remember what was done with an offer, and whether it worked."""
    call.engine.record(Outcome(agent=call.path["agent"], **msgspec.structs.asdict(call.params)))
    return Done()


@operation("agent.cost", "GET /agents/{agent}/cost", agents=True)
def cost(call: Call[NoParams]) -> Cost:
    """What it would cost to show a model everything, every turn."""
    return Cost(call.engine.catalogue.cost_of_everything(call.path["agent"]))


def _turn(call: Call[P], q: TurnAsked) -> Turn:
    said = tuple(Message(m.role, m.text) for m in q.messages)
    if q.request:
        said = (*said, Message("user", q.request))
    return Turn(
        messages=said,
        agent=call.path["agent"],
        session_type=q.session_type,
        budget=q.budget,
        language=q.language,
        authenticated=q.authenticated,
        needs=q.needs,
    )


def _options(q: FindRequest | OfferAsked) -> dict[str, Any]:
    """What is said otherwise than [discovery] does, by the names it has there."""
    said = {SHORT_NAMES.get(name, name): value for name, value in msgspec.structs.asdict(q).items()}
    return {name: said[name] for name in SearchOptions.__annotations__ if said.get(name) is not None}
