"""The first half of a call: what is meant, whether it may be spoken of, and whether the arguments fit.

Above: the calls. Below: one world, and what it says. Nothing is recorded here, nor decided for good.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from prowess.calling.arguments import DetailCache, Schemas, as_arguments, misfit
from prowess.calling.call_end import (
    CallEnd,
    CallRequest,
    PreparedCall,
    forbidden,
    misfitting,
    not_made,
    nowhere,
)
from prowess.calling.caller import Caller
from prowess.calling.error_redaction import fault_without_values
from prowess.calling.resource_lookup import NoPlace, placed
from prowess.calling.skill_files import FILE, file_of_skill
from prowess.calling.use import UseCheck
from prowess.calling.wording import EFFECTS, READ, REJECTED, callable_here, clean_schema, unknown
from prowess.catalogue.view import View
from prowess.errors import CallFailed, Denied
from prowess.tool_names import tool_id
from prowess.types import Capability
from prowess.world import World

KEPT_FROM_MCP = "a grant with mcp_tools: false keeps it from MCP clients"
HOST_ACTS = "the host program must act"


@dataclass(frozen=True, slots=True)
class Finder:
    details: DetailCache
    schemas: Schemas
    rejects: Callable[[Capability], bool]
    """Whether the guard rejects a card."""
    use: UseCheck

    def fitting(self, request: CallRequest, caller: Caller, world: World) -> PreparedCall | CallEnd:
        """The capability and its arguments, if there is one, it may be called so, and they fit."""
        visible = world.visible(caller.agent, caller.authenticated, caller.over_mcp)
        capability = named(request.name, visible)
        if capability is None and (inside := file_of_skill(request.name, visible)):
            capability, request = inside[0], replace(request, arguments={FILE: inside[1]})
        if capability is None:
            return self._not_there(request, caller, world, visible)
        if refusal := self._barred(request, capability):
            return refusal
        arguments = as_arguments(request.arguments)
        if arguments is None:
            return misfitting(capability.id, "arguments must be an object", ("arguments must be an object",))
        ready = PreparedCall(capability=capability, arguments=arguments)
        if refusal := self._misfit(ready) or _unavailable(capability):
            return refusal
        is_of_server = capability.kind == "resource" and capability.source_ref.kind == "mcp"
        return _at_its_place(ready, request, caller, world, visible) if is_of_server else ready

    def _not_there(self, request: CallRequest, caller: Caller, world: World, visible: View) -> CallEnd:
        """The model learns nothing; the program is told whether it is denied or does not exist."""
        text = unknown(request.name, visible.capabilities)
        hidden = named(request.name, world.view)
        if hidden is None:
            return nowhere(request.name, text, world.policy.revision, "not visible")
        said = self.use.foretold(world, caller.agent, hidden.id, caller.authenticated)
        if said.verdict != "deny":
            said = replace(said, verdict="deny", reason=KEPT_FROM_MCP)
        refusal = Denied(caller.agent, hidden.id, said)
        return replace(forbidden(refusal, text), detail="not visible")

    def _barred(self, request: CallRequest, capability: Capability) -> CallEnd | None:
        id = capability.id
        if request.way == READ and capability.has_side_effects:
            text = f"{id} may change something: call it with {EFFECTS}."
            return not_made(id, "refused", text, "has side effects")
        if capability.kind == "card" and self.rejects(capability):
            return not_made(id, "refused", f"{id} {REJECTED}", "rejected by the guard")
        if not callable_here(capability):
            text = (
                f"{id} is not called through this server: {HOST_ACTS} on it."
                " Tell it, or the person, what should be done."
            )
            end = not_made(id, "failed", text, HOST_ACTS)
            return replace(end, error=CallFailed(id, "failed", HOST_ACTS, "carry it out in your own program"))
        return None

    def _misfit(self, ready: PreparedCall) -> CallEnd | None:
        capability = ready.capability
        schema = self.details.of(capability).input_schema
        faults = self.schemas.faults((capability.id, capability.digest), schema, ready.arguments)
        if not faults:
            return None
        text = misfit(capability.id, faults, clean_schema(schema or {}))
        detail = "; ".join(fault_without_values(fault, schema) for fault in faults)
        return misfitting(capability.id, text, tuple(faults), detail)


def named(name: str, visible: View) -> Capability | None:
    """What an id or a tool's name means to somebody who sees this; nothing where it means nothing."""
    found = visible.capabilities.get(name)
    return found or visible.capabilities.get(tool_id(name, visible.capabilities))


def _unavailable(capability: Capability) -> CallEnd | None:
    # A server that was down at the last look may be up again: calling it is how to find out.
    reasons = [why for why in capability.unavailable if not why.startswith("provider ")]
    if not reasons:
        return None
    why = "; ".join(reasons)
    text = f"{capability.id} cannot be used now: {why}. A person can change that."
    return not_made(capability.id, "unavailable", text, why)


def _at_its_place(
    ready: PreparedCall, request: CallRequest, caller: Caller, world: World, visible: View
) -> PreparedCall | CallEnd:
    """A resource is what its URI says: one that a server lists is that one, not the template named."""
    id = ready.capability.id
    place = placed(world.view, ready.capability, ready.arguments.get("uri"))
    if isinstance(place, NoPlace):
        return misfitting(id, f"{id} was not read: {place.why}.", (place.why,), place.why)
    if not {place.capability.id, *place.also} <= visible.capabilities.keys():
        text = (
            unknown(request.name)
            if request.way == "resource"
            else f"There is no resource {place.uri!r} here."
        )
        return nowhere(request.name, text, world.policy.revision, "the uri is not visible")
    # What a person is asked, and a yes holds for, is this URI, whichever way it was named.
    meant = visible.capabilities[place.capability.id]
    return PreparedCall(capability=meant, arguments={"uri": place.uri}, also=place.also)
