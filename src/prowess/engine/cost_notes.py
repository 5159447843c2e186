"""What showing an agent everything it may use would cost, noted in the journal beside every turn.

What offers save is the difference to that, and next month nobody can count what today's catalogue would have
cost. Counting reads every text, so no turn waits for it: a process that serves does it now and then.

Above: the recurring work, and offers over time. Below: the builder of offers, which counts; the journal.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from prowess.catalogue.stored import PagedCapabilities
from prowess.catalogue.view import View
from prowess.engine.listing import ListingFilter, listing
from prowess.journal import JournalSearch, read, stamp
from prowess.journal.entries import CostNoted, Offered
from prowess.types import JournalEntry

if TYPE_CHECKING:
    from prowess.engine.internals import Internals

WORK = "cost of everything"
EVERY = timedelta(minutes=15)
MAX_OFFERS = 500
MAX_COUNTED = 1000
MAX_NOTES = 5_000


def cost_now(inner: "Internals", agent: str) -> int:
    """What everything costs an agent, counted once while neither catalogue nor policy changes."""
    world = inner.world(agent)

    def count() -> int:
        return cost_of_everything(inner, world.visible(agent))

    return world.policy.remembered(("cost of everything", agent, world.stopped.get(agent)), count)


def cost_of_everything(inner: "Internals", visible: View) -> int:
    """What all of it costs; where it is too large to be held, by what some of each kind cost on average."""
    capabilities = visible.capabilities
    if not isinstance(capabilities, PagedCapabilities):
        return inner.parts.offering.cost_of_everything([*capabilities.values()])
    there, total = listing(inner, visible), 0.0
    for (kind,), count in there.counts("kind").items():
        some = there.page(ListingFilter(kind=kind), most=MAX_COUNTED)
        total += count * inner.parts.offering.cost_of_everything(some) / max(1, len(some))
    return round(total)


def note_costs(inner: "Internals", is_over: Callable[[], bool]) -> None:
    """Note it for every agent with an offer of late, where it is not noted of this catalogue and policy."""
    with inner.jobs.held(WORK, EVERY * 0.9) as lease:
        if lease is None:
            return
        since = JournalSearch(since=stamp(inner.clock() - 2 * EVERY))
        agents = sorted(
            {entry.chain for entry in inner.journal.latest(MAX_OFFERS, None, Offered.type, None, since)}
        )
        noted = costs_noted(inner) if agents else {}
        for agent in agents:
            if is_over() or not lease.keep():
                return
            world = inner.world(agent)
            latest = noted[agent][-1][1] if agent in noted else None
            if latest and _is_of(latest, world.view.version, world.policy.revision):
                continue
            entry = CostNoted(
                agent=agent, tokens=cost_now(inner, agent), catalogue_version=world.view.version,
                policy_revision=world.policy.revision,
            )  # fmt: skip
            inner.journal.record(entry)


def costs_noted(inner: "Internals") -> dict[str, list[tuple[str, CostNoted]]]:
    """Agent -> when what was noted, the oldest first."""
    found: dict[str, list[tuple[str, CostNoted]]] = {}
    for stored in inner.journal.latest(MAX_NOTES, "", CostNoted.type):
        entry = read(stored)
        if isinstance(entry, CostNoted):
            found.setdefault(entry.agent, []).append((stored.at, entry))
    return found


def cost_at(offer: JournalEntry, made: Offered, noted: Sequence[tuple[str, CostNoted]]) -> int | None:
    """What everything cost the agent of an offer when it was made, by what was noted nearest to it."""
    before: CostNoted | None = None
    for at, one in noted:
        if _is_of(one, made.catalogue_version, made.policy_revision):
            return one.tokens
        if at <= offer.at or before is None:
            before = one
    return before.tokens if before else None


def _is_of(note: CostNoted, catalogue_version: int, policy_revision: str) -> bool:
    return (note.catalogue_version, note.policy_revision) == (catalogue_version, policy_revision)
