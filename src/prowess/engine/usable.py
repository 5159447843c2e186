"""What an agent can use, provider by provider, and why it cannot use the others.

Above: evolution, which compares what an agent can use from one evaluation to the next. Below: the world,
whose policy, switches, quarantine and availability decide.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import msgspec

from prowess.catalogue.stored import several
from prowess.catalogue.view import View
from prowess.engine.listing import CatalogueListing, ListingFilter, each
from prowess.evolution.events import Event
from prowess.evolution.snapshot import Snapshot, snapshot_of
from prowess.journal import canonical
from prowess.store.database import Transaction
from prowess.world import World

DENIED = "policy denies it"
EMPTY = "it brings nothing to use"
INSTALLED = "it was installed"
REMOVED = "it was removed"

Reasons = Mapping[str, str]
"""Provider -> why the agent cannot use it."""


@dataclass(frozen=True, slots=True)
class Usable:
    """The providers of which an agent can use something, and why it cannot use the others."""

    snapshot: Snapshot
    reasons: Reasons

    def cause_of_gain(self, provider: str, before: Reasons) -> str:
        """Why the agent can use a provider now that it could not."""
        was = before.get(provider, "")
        if not was:
            return INSTALLED
        return "policy allows it now" if was == DENIED else f"it can be used again; before: {was}"

    def cause_of_loss(self, provider: str) -> str:
        """Why the agent can no longer use a provider."""
        return self.reasons.get(provider, REMOVED)


def usable(world: World, agent: str, tools: bool, there: Callable[[View], CatalogueListing]) -> Usable:
    """What an agent can use in a world, whether or not it is stopped there.

    tools: whether its tools are named one by one, too.
    there: what there is in a view, counted and by pages.
    """
    visible = there(replace(world, stopped={}).visible(agent))
    ready = {provider for (provider,) in visible.counts("provider", state="available")}
    active = ready & world.view.providers.keys()
    faculties = {name: world.view.providers[name].faculties for name in active}
    named = ListingFilter(kind="tool", state="available")
    ids = (one.id for one in each(visible, named)) if tools else ()
    return Usable(snapshot_of(active, faculties, ids), _reasons(world, agent, visible, there, active))


def _reasons(
    world: World,
    agent: str,
    visible: CatalogueListing,
    there: Callable[[View], CatalogueListing],
    active: set[str],
) -> Reasons:
    view = world.view
    missing = sorted(view.providers.keys() - active)
    if not missing:
        return {}
    brought = {provider for (provider,) in there(view).counts("provider")}
    lacking = {provider for (provider,) in visible.counts("provider", state="unavailable")}
    held: dict[str, str] = {}
    for id, one in several(view.capabilities, view.quarantined.keys()).items():
        held.setdefault(one.provider, view.quarantined[id].reason)

    def reason(name: str) -> str:
        if view.off(name, agent):
            return f"it is switched off: {view.why_off(name, agent)}"
        if down := view.providers[name].down:
            return f"it is down: {down}"
        if name not in brought:
            return EMPTY
        if name in lacking:
            found = visible.page(ListingFilter(provider=name, state="unavailable"), most=1)
            return found[0].unavailable[0] if found else DENIED
        return f"quarantined: {held[name]}" if name in held else DENIED

    return {name: reason(name) for name in missing}


def with_cause(event: Event, now: Usable, before: Snapshot, reasons: Reasons) -> Event:
    """An event of a gain or a loss that says why; any other as it is.

    before: what the agent could use at the last evaluation.
    reasons: why it could not use the others then.
    """
    if lost := event.data.get("lost"):
        told = [{**one, "cause": now.cause_of_loss(one["provider"])} for one in lost]
        return replace(event, data={**event.data, "lost": told})
    provider = event.data.get("provider", "") if event.type == "EvolutionCapability" else ""
    if not provider or event.data.get("cause"):
        return event
    return replace(event, data={**event.data, "cause": _cause(provider, now, before, reasons)})


def _cause(provider: str, now: Usable, before: Snapshot, reasons: Reasons) -> str:
    if provider not in now.snapshot.active_providers:
        return now.cause_of_loss(provider)
    if provider in before.active_providers:
        return "its faculties changed"
    return now.cause_of_gain(provider, reasons)


# --- the table -----------------------------------------------------------------------------------


def read_reasons(transaction: Transaction, agent: str) -> Reasons:
    """Why the agent could not use providers when it was last evaluated."""
    row = transaction.one(
        "SELECT reasons FROM evolution_unusable WHERE workspace = :workspace AND agent = :agent", agent=agent
    )
    try:
        by_reason = msgspec.json.decode(row[0], type=dict[str, list[str]]) if row else {}
    except msgspec.DecodeError:
        return {}  # what cannot be read stops nobody; a cause less is told
    return {name: why for why, names in by_reason.items() for name in names}


def keep_reasons(transaction: Transaction, agent: str, reasons: Reasons, before: Reasons) -> None:
    """Remember them for the next evaluation, where they changed."""
    if reasons == before:
        return
    by_reason: dict[str, list[str]] = {}
    for name, why in reasons.items():
        by_reason.setdefault(why, []).append(name)
    transaction.run(
        "INSERT INTO evolution_unusable (workspace, agent, reasons) VALUES (:workspace, :agent, :reasons)"
        " ON CONFLICT (workspace, agent) DO UPDATE SET reasons = excluded.reasons",
        agent=agent, reasons=canonical(by_reason),
    )  # fmt: skip
