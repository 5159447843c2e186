"""The parts of a call, put together; what validates arguments comes with them, so at the first call."""

from functools import partial
from typing import TYPE_CHECKING

from prowess.calling.arguments import DetailCache, Schemas
from prowess.calling.call_end import CallRequest
from prowess.calling.call_log import CallLog
from prowess.calling.caller import Caller
from prowess.calling.calls import CallParts
from prowess.calling.finding import Finder
from prowess.calling.keys import Keys
from prowess.calling.records import CallRecords
from prowess.engine.namespaces.approvals import Approvals
from prowess.engine.prompt_details import PromptDetails
from prowess.engine.turn_log import refuse_of_another
from prowess.errors import ConfigError, nearest
from prowess.options import CallOptions
from prowess.types import Capability, Json, Offer, Outcome

if TYPE_CHECKING:
    from prowess.engine.internals import Internals


def call_parts(inner: "Internals") -> CallParts:
    """What a call works with."""
    answers = Approvals(inner.database, inner.journal, inner.policy, inner.use)
    log = CallLog(inner.journal, inner.payloads)
    details = PromptDetails(inner.catalogue, inner.worlds)
    return CallParts(
        worlds=inner.worlds,
        use=inner.use,
        sources=inner.sources,
        journal=inner.journal,
        finder=Finder(DetailCache(details.of_all), Schemas(), partial(_rejects, inner), inner.use),
        records=CallRecords(
            log, inner.use, inner.worlds, inner.options.journal, inner.evolution.note_outcome
        ),
        intents=inner.intents,
        keys=Keys(inner.database, inner.intents),
        searches=inner.searches,
        config=inner.options.calls,
        ids=inner.options.ids,
        approvals=inner.policy.approvals,
        answer=answers.answer,
        points_at=inner.guard.points_at,
        speaks_to_the_model=inner.guard.speaks_to_the_model,
        tracer=inner.options.tracer,
    )


def call_request(
    name: str, arguments: Json, agent: str, offer: Offer | str, options: CallOptions
) -> tuple[CallRequest, Caller]:
    """What a program wants called, and for whom."""
    for key in options.keys() - CallOptions.__annotations__.keys():
        close = nearest(key, CallOptions.__annotations__)
        remedy = f"did you mean {close!r}?" if close else f"known: {', '.join(CallOptions.__annotations__)}"
        raise ConfigError("arguments", f"a call has no option {key!r}", remedy)
    id = offer if isinstance(offer, str) else offer.id
    refuse_of_another(Outcome(offer=id, capability=name, ok=False, agent=agent))
    request = CallRequest(
        name=name,
        arguments=arguments,
        offer=id,
        key=options.get("key", ""),
        fields=tuple(options.get("fields", ())),
    )
    return request, Caller(agent, options.get("authenticated", True))


def _rejects(inner: "Internals", capability: Capability) -> bool:
    return bool(inner.parts.cards.rejected(capability))
