"""Everything that is wrong with an installation, for `prowess doctor`."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from prowess.calling.intents import Intent
from prowess.catalogue import findings as flagged
from prowess.catalogue.claims import collisions
from prowess.catalogue.health import observations
from prowess.engine.empty_catalogue import unread
from prowess.engine.listing import listing
from prowess.engine.needed_secrets import blocking, missing_programs, secret_statuses
from prowess.errors import JournalBroken
from prowess.policy.policy import Policy
from prowess.types import HeldCapability, Problem
from prowess.world import World

if TYPE_CHECKING:
    from prowess.discovery.index import Index
    from prowess.engine.internals import Internals
    from prowess.engine.search import CatalogueSearch

Problems = tuple[Problem, ...]


def everything(inner: "Internals", cut: Iterable[Intent], evolution: Problems) -> Problems:
    """What every part says is wrong."""
    world = inner.world()
    found = stored(inner, world)
    if world.view.capabilities:
        found += searchable(inner.search(world), inner.parts.searching.index)
    return (*evolution, *found, *unusable(inner, world), *ruled(inner.policy, world), *cut_off(cut))


def unusable(inner: "Internals", world: World) -> Problems:
    """What is there and cannot be used: for want of a secret, or of a program."""
    there, environment = listing(inner, world.view), inner.environment
    statuses = secret_statuses(there.secrets(), inner.sources.current, environment)
    return (*blocking(environment, statuses), *missing_programs(there.needing_tools()))


def stored(inner: "Internals", world: World) -> Problems:
    """What syncs could not read, what the guard found, what is held back, and if the journal is whole."""
    waiting = (_waiting(held) for held in world.view.quarantined.values())
    with inner.database.reading() as transaction:
        read = [one.source for one in observations(transaction)]
    found = [
        *inner.catalogue.problems(world.view),
        *unread([one.name for one in inner.sources.current if one.kind != "learnt"], read),
        *collisions(world.view),
        *flagged.standing(inner.journal, world.view, inner.syncing.finding_stands),
        *waiting,
    ]
    found += [*flagged.broken_guard(), *inner.database.problems()]
    try:
        inner.journal.verify()
    except JournalBroken as broken:
        found.append(Problem("journal", inner.database.place, broken.message, broken.remedy))
    return tuple(found)


def searchable(search: "CatalogueSearch", index: "Index") -> Problems:
    """What presets name in vain, and whether words alone serve."""
    found = search.graph.problems()
    failure = index.unavailable
    if failure is None:
        return found
    what = f"{failure.message}; search goes by words alone"
    return (*found, Problem("discovery", "encoder", what, failure.remedy))


def ruled(policy: Policy, world: World) -> Problems:
    """What is wrong with the rules; where nothing is, whether they say anything about anybody."""
    found = policy.problems(world.view)
    if found or policy.agents():
        return found
    what = "prowess.toml names none, so agents have only what comes with every profile"
    remedy = 'run: prowess init, and write into prowess.toml: [policy] files = ["policy.yaml"]'
    if policy.files:
        what = "no agent is bound to a profile, so agents have only what comes with every profile"
        remedy = "name agents in a profile, or run: prowess agent add NAME --profile PROFILE"
    return (Problem("policy", "policy", what, remedy, "warning"),)


def cut_off(calls: Iterable[Intent]) -> Problems:
    """Calls that may have taken effect, and no word of how they ended."""
    return tuple(
        Problem(
            "calls",
            one.capability,
            f"{one.agent} began a call at {one.begun_at} and its end is not known: it may have taken effect",
            f"find out whether it did, then run: prowess calls settle {one.id}",
            "warning",
        )
        for one in calls
    )


def _waiting(held: HeldCapability) -> Problem:
    remedy = f"look at it: prowess quarantine show {held.id}"
    return Problem("quarantine", held.id, f"held back: {held.reason}", remedy, "warning")
