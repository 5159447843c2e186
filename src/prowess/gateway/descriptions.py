"""What a model is told about capabilities: found, described, listed, and why something is missing.

Everything here speaks only of what the caller may use. What others wrote passes the sanitiser.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from prowess.calling.caller import Caller
from prowess.calling.wording import EFFECTS, READ, callable_here, clean, clean_schema
from prowess.catalogue.stored import several
from prowess.catalogue.view import View
from prowess.engine.engine import Engine
from prowess.engine.listing import CatalogueListing, ListingFilter, listing
from prowess.prompt.render import gist
from prowess.types import SIMILARITY, Capability, Hit, JsonObject

if TYPE_CHECKING:
    from prowess.engine.candidates import Candidates

LONGEST_SCHEMA = 1500
LONGEST_WEAK_SCHEMA = 700
LONGEST_SUMMARY = 300
LONGEST_CAUSE = 100
MOST_LISTED = 100
MOST_SERVERS = 200
MOST_NAMED = 3


def is_rejected(engine: Engine, capability: Capability) -> bool:
    """Whether it is a card that no turn would be given either."""
    return capability.kind == "card" and bool(engine.internals.parts.cards.rejected(capability))


def found(engine: Engine, caller: Caller, near: "Candidates") -> JsonObject:
    """Answer a search: each hit with why it is there and enough to call it."""
    weak = near.weak
    hits = [_hit(engine, near.visible, hit, hit.id in weak) for hit in near.hits]
    answer: dict[str, Any] = {"capabilities": hits}
    if near.by_need:
        answer["needs"] = near.by_need
    if near.nearby:
        known = near.visible.capabilities
        answer["also_near"] = {hit.id: clean(gist(known[hit.id])) for hit in near.nearby}
    if near.note:
        answer["note"] = near.note if hits else f"{near.note}{_unavailable(engine, near.visible)}"
    return answer


def _hit(engine: Engine, visible: View, hit: Hit, is_weak: bool) -> JsonObject:
    capability, existing = visible.capabilities[hit.id], engine.catalogue.view()
    about: dict[str, Any] = {
        "id": capability.id,
        **({"fit": "weak"} if is_weak else {}),
        "description": clean(capability.description[:LONGEST_SUMMARY]),
        **({"why": clean(why)} if (why := _why(hit, existing, visible)) else {}),
        "use": use(capability),
    }
    schema = engine.catalogue.detail(capability.id).input_schema
    if schema is not None:
        shown = _arguments(schema)
        if len(json.dumps(shown)) <= (LONGEST_WEAK_SCHEMA if is_weak else LONGEST_SCHEMA):
            about["arguments"] = shown
        else:
            about["parameters"] = capability.parameters
            about["schema"] = "describe_capability has it"
    if capability.unavailable:
        about["unavailable"] = [clean(reason) for reason in capability.unavailable]
    return about


def _arguments(schema: JsonObject) -> JsonObject:
    """The schema as a model reads it: the dialect of JSON Schema helps nobody to choose or to call."""
    return {key: value for key, value in clean_schema(schema).items() if key != "$schema"}


def _why(hit: Hit, existing: View, visible: View) -> str:
    """The reasons that help a model to choose; how similar two vectors are does not."""
    spoken = [one for one in hit.reasons if _speakable(one, existing, visible)]
    return "; ".join(one for one in spoken if not one.startswith(SIMILARITY))


def _speakable(reason: str, everything: View, visible: View) -> bool:
    """Whether a reason names only what the caller may know of."""
    words = [word.strip(",;()") for word in reason.split()]
    return all(word in visible.capabilities for word in words if word in everything.capabilities)


def use(capability: Capability) -> str:
    """The tool that calls it."""
    if not callable_here(capability):
        return "the host program must act; it cannot be called here"
    return EFFECTS if capability.has_side_effects else READ


def _unavailable(engine: Engine, visible: View) -> str:
    """Why what may be meant cannot be used now."""
    reasons: Counter[str] = Counter()
    for (_, reason), count in listing(engine.internals, visible).unavailable().items():
        reasons[reason] += count
    named = reasons.most_common(MOST_NAMED)
    return "".join(f" Unavailable now: {count} ({clean(reason)})." for reason, count in named)


def never_read(engine: Engine, caller: Caller) -> Sequence[JsonObject]:
    """Servers of which nothing is known because they could not be reached, to those who may use them."""
    view = engine.catalogue.view()
    down = [one for one in view.providers.values() if one.down and not view.off(one.name, caller.agent)]
    if not down:
        return ()
    there, policy = listing(engine.internals, view), engine.internals.policy
    never = (
        {"server": provider.name, "why": clean(provider.down[:LONGEST_CAUSE])}
        for provider in down
        if not there.page(ListingFilter(provider=provider.name), most=1)
        # Whoever may not use it must not learn that it exists.
        and policy.decide(caller.agent, f"tool:{provider.name}/any", view).verdict != "deny"
    )
    return list(islice(never, MOST_NAMED))


def held_back(engine: Engine, caller: Caller, query: str) -> Sequence[JsonObject]:
    """What was probably meant and waits for a person, by name alone: its text is what nobody has seen."""
    words = set(re.findall(r"\w{3,}", query.lower()))
    view = engine.catalogue.view()
    meant = [id for id in view.quarantined if words & set(re.findall(r"[a-z0-9]{3,}", id.lower()))]
    policy = engine.internals.policy
    names = (
        id
        for id in several(view.capabilities, meant)
        if policy.decide(caller.agent, id, view, caller.authenticated).verdict != "deny"
    )
    # No command: whoever can run one must not be told how to let something in.
    why = "a person has to look at it first"
    return [{"id": id, "why": why} for id in islice(names, MOST_NAMED)]


def described(engine: Engine, capability: Capability) -> JsonObject:
    """Everything about one capability that a caller needs."""
    detail = engine.catalogue.detail(capability.id)
    about: dict[str, Any] = {
        "id": capability.id,
        "name": clean(capability.display_name),
        "provider": capability.provider,
        "description": clean(capability.description),
        "use": use(capability),
        "arguments": _arguments(detail.input_schema or {"type": "object"}),
    }
    if detail.output_schema is not None:
        about["returns"] = _arguments(detail.output_schema)
    if capability.required_tools:
        about["requires"] = [clean(name) for name in capability.required_tools]
    if capability.unavailable:
        about["unavailable"] = [clean(reason) for reason in capability.unavailable]
    return about


def listed(engine: Engine, caller: Caller, kind: str, provider: str, start: str) -> JsonObject:
    """The catalogue by provider; or the ids of one kind or provider, a page at a time."""
    seen = engine.catalogue.visible(caller.agent, caller.authenticated, over_mcp=True)
    there = listing(engine.internals, seen)
    if not kind and not provider:
        return _by_server(there, start)
    wanted = ListingFilter(kind="" if kind == "any" else kind, server=provider)
    matching = [one.id for one in there.page(wanted, start, MOST_LISTED + 1)]
    page = matching[:MOST_LISTED]
    more = {"next": page[-1]} if len(matching) > len(page) else {}
    return {"ids": page, **more}


def _by_server(there: CatalogueListing, start: str) -> JsonObject:
    """How much each server has, of very many a page at a time."""
    counts = there.counts("server", "kind")
    names = [name for name in dict.fromkeys(name for name, _ in counts) if name > start]
    page = set(names[:MOST_SERVERS])
    rows = [{"provider": p, "kind": k, "count": n} for (p, k), n in counts.items() if p in page]
    more = {"next": names[MOST_SERVERS - 1]} if len(names) > MOST_SERVERS else {}
    return {"total": sum(counts.values()), "providers": rows, **more}
