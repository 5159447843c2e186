"""A portion of a sync, written down: what it brings, and with the last one what is left to be settled.

Sources that are configured but were not read keep what they have; sources that this configuration no longer
has lose everything, unless another one has them too. What others configured stays. What a source that is not
fully trusted adds or changes is held back.
"""

from collections.abc import Collection, Mapping
from datetime import datetime

import msgspec

from prowess.catalogue import claims, health, ownership, providers, quarantine, rows, writing
from prowess.catalogue.arrival import Arrival
from prowess.catalogue.health import ReadingNode
from prowess.catalogue.planning import Plan, PlannedWrite
from prowess.catalogue.sync_state import SyncState
from prowess.catalogue.writing import Written
from prowess.store.database import Transaction
from prowess.types import Capability, Problem, SourceReading

Decode = msgspec.json.Decoder(Capability)


def apply(
    transaction: Transaction, arrival: Arrival, so_far: SyncState, step: PlannedWrite,
    has_text: Collection[str], node: ReadingNode, now: datetime,
) -> bool:  # fmt: skip
    """Write a portion; true when the catalogue is another one after it."""
    plan = step.plan
    claimed = _claim(transaction, arrival, so_far)
    writing.write_capabilities(transaction, step.rows, has_text)
    writing.write_texts(transaction, step.originals)
    writing.remove_capabilities(transaction, plan.changes.removed)
    quarantine.update(transaction, step.standing, plan.changes.removed)
    quarantine.see(transaction, _seen(arrival, so_far, step), step.now)
    _write_stamps(transaction, arrival, plan)
    writing.write_problems(transaction, _problems(arrival, so_far, plan), arrival, plan.ownership)
    touched = step.changes_anything or claimed
    if plan.is_closing:
        touched = _settle(transaction, arrival, so_far, plan, node, now) or touched
    else:
        providers.add_missing(transaction, arrival, [plan.wanted.rows[id] for id in step.rows])
    offered = claims.update(transaction, _resources(step.rows))
    if plan.is_closing and not claims.are_known(transaction):
        offered = claims.update(transaction) or offered
    return touched or offered


def _claim(transaction: Transaction, arrival: Arrival, so_far: SyncState) -> bool:
    """Say whose the sources are before anything of them is written: else it is a leftover to others."""
    redefined = {source for source in arrival.readings if arrival.readings[source].down}
    owner, claimed = arrival.sources.owner, arrival.claimed
    news = None
    if not so_far.is_begun:
        news = ownership.claim(transaction, owner, claimed)
        redefined |= (news or frozenset()).intersection(rows.sources_there(transaction, "capability"))
    return bool(writing.redefine(transaction, sorted(redefined), claimed, owner)) or news is not None


def _seen(arrival: Arrival, so_far: SyncState, step: PlannedWrite) -> list[str]:
    """Sources that count as seen from now on; not those that the guard could not judge."""
    first = so_far.first_seen.union(step.plan.first_seen) & arrival.ended
    return sorted(first - so_far.unjudged - step.unjudged)


def _write_stamps(transaction: Transaction, arrival: Arrival, plan: Plan) -> None:
    wanted = plan.wanted
    stamps = {place: stamp for place, stamp in wanted.stamps.items() if stamp and place not in wanted.refused}
    again = {*plan.gone_places, *wanted.refused, *(wanted.stamps.keys() - stamps.keys())}
    writing.write_stamps(transaction, stamps, again - stamps.keys(), arrival.claimed)
    writing.forget_stamps(transaction, plan.orphaned)


def _problems(arrival: Arrival, so_far: SyncState, plan: Plan) -> dict[str, list[Problem]]:
    """Of the sources of which nothing more comes: what of theirs others define, and what they say."""
    return {
        source: [
            *so_far.entries_of(source).problems,
            *plan.wanted.problems.get(source, ()),
            *arrival.readings[source].problems,
        ]
        for source in arrival.readings
        if source in arrival.ended and arrival.was_read(source)
    }


def _resources(rows: Mapping[str, Written]) -> list[Capability]:
    return [Decode.decode(str(row["capability"])) for id, row in rows.items() if id.startswith("resource:")]


def _settle(
    transaction: Transaction, arrival: Arrival, so_far: SyncState, plan: Plan, node: ReadingNode,
    now: datetime,
) -> bool:  # fmt: skip
    """What is for the end: the providers that are left, and how the sources are."""
    done: dict[str, SourceReading] = {**arrival.readings, **so_far.done}
    touched = providers.settle(
        transaction, done, arrival.claimed, plan.ownership, plan.wanted.rows.values()
    )  # fmt: skip
    if touched:
        claims.forget(transaction)
    return health.note(transaction, done, arrival.claimed, node, now) or touched
