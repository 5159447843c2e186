"""What is held back until a person has looked at it.

A source is trusted fully, pinned or not at all. An approval is for exactly one content of one id. One rule
decides, at each sync and whatever came before it: of a source that is not fully trusted, what is not approved
with exactly the content it has is held back. Being pinned approves once, when a source is first seen to offer
something; after that only a person does. One that may grow also has ids approved that were never there.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from prowess.catalogue.arrival import OwnedContent
from prowess.errors import NotFound, Outdated
from prowess.sources.lock.lock import REASON, LockVerdicts
from prowess.store.database import Transaction
from prowess.types import HeldCapability, Trust

FIRST_SIGHT = "first sight"
GROWTH = "growth"
BY_TRUST = frozenset({FIRST_SIGHT, GROWTH})
"""Approvals that no person gave: the guard may still hold such content back."""

LOCKED = REASON
"""Who approved what is exactly as the lock has it: whoever reviewed the lock."""

NEW = "it is new and nobody has approved it"
ADDED = "it is new since its server was first seen, and nobody has approved it"
UNJUDGED = "the guard could not judge it"
CHANGED = "it changed since it was approved"


@dataclass(frozen=True, slots=True)
class Known:
    """What was decided before a sync."""

    approved: Mapping[str, Mapping[str, str]]
    """Id -> digest -> who approved that content."""
    held: Mapping[str, HeldCapability]
    seen: Collection[str]
    """Sources that have offered something before."""


@dataclass(frozen=True, slots=True)
class QuarantineVerdicts:
    """What a sync approves, by whom, and what it holds back, with the reason."""

    approved: Mapping[str, str]
    held: Mapping[str, str]


def judge(
    rows: Mapping[str, OwnedContent],
    present: Collection[str],
    trust: Mapping[str, Trust],
    known: Known,
    unsafe: Mapping[str, str],
    lock: LockVerdicts,
    shown_otherwise: Mapping[str, str],
) -> QuarantineVerdicts:
    """Decide about everything these sources offer; `present` has the own ids that were there before.

    shown_otherwise: what is as it was but for icons and the like, which had none then -> its digest then.
    """
    approved: dict[str, str] = {}
    held: dict[str, str] = {}
    for id, row in rows.items():
        own, digest = row.judged(id)
        said = known.approved.get(own, {}).get(digest, "")
        if said and said not in BY_TRUST and said != LOCKED:
            continue
        waiting = _waiting_with(row, digest, known.held.get(id), known)
        before = known.approved.get(own, {}).get(shown_otherwise.get(id, ""), "")
        by, why = _by_lock(id, row, waiting, unsafe, lock) or _by_trust(
            own, row, said or before, trust[row.source], waiting, present, known, unsafe.get(id, "")
        )
        if why:
            held[id] = why
        elif by and by != said:
            approved[id] = by
    return QuarantineVerdicts(approved, held)


def _waiting_with(
    row: OwnedContent, digest: str, held: HeldCapability | None, known: Known
) -> HeldCapability | None:
    """What waits with this content already, and is not judged anew."""
    if held is None or held.digest != digest:
        return None
    # What waits only because the guard was broken at first sight, which does not count as one.
    broken = row.source not in known.seen and held.state == "waiting" and held.reason.startswith(UNJUDGED)
    return None if broken else held


def _by_lock(
    id: str, row: OwnedContent, waiting: HeldCapability | None, unsafe: Mapping[str, str], lock: LockVerdicts
) -> tuple[str, str] | None:
    """Who approves it or why it is held back, where prowess.lock has a say."""
    if row.source not in lock.servers or (waiting and waiting.state == "rejected"):
        return None
    if id in lock.approved:
        return LOCKED, ""
    if id in lock.held:
        return "", unsafe.get(id) or (waiting.reason if waiting else lock.held[id])
    # It could not be read this time: what was not as the lock has it waits on.
    return ("", waiting.reason) if waiting and waiting.reason.startswith(LOCKED) else None


def _by_trust(
    own: str, row: OwnedContent, said: str, level: Trust, waiting: HeldCapability | None,
    present: Collection[str], known: Known, unsafe: str,
) -> tuple[str, str]:  # fmt: skip
    """Who approves it or why it is held back, by how far its source is trusted."""
    if level == "full" or said == LOCKED:
        return said, ""
    if unsafe:
        return "", unsafe
    if waiting and not waiting.reason.startswith(LOCKED):
        return "", waiting.reason
    by = said or _approving(own, row, level, present, known)
    return (by, "") if by else ("", _reason(own, level, known))


def _approving(id: str, row: OwnedContent, level: Trust, present: Collection[str], known: Known) -> str:
    """What approves content that nobody has approved yet, if anything does."""
    if level == "none":
        return ""
    if row.source not in known.seen:
        return FIRST_SIGHT
    was_never_there = id not in present and id not in known.approved
    return GROWTH if level == "growing" and was_never_there else ""


def _reason(id: str, level: Trust, known: Known) -> str:
    if id in known.approved:
        return CHANGED
    return NEW if level == "none" else ADDED


@dataclass(frozen=True, slots=True)
class QuarantineChange:
    """What a sync changes about what is approved and what is held back."""

    now: str
    approved: Mapping[str, Mapping[str, str]]
    """By whom -> own id -> digest."""
    stale: tuple[str, ...]
    """Ids that no longer wait, or wait with other content."""
    fresh: Mapping[str, tuple[str, str]]
    """Ids that wait from now on: digest of what their author wrote, and reason."""

    def __bool__(self) -> bool:
        return bool(self.stale or self.fresh)


def standing(
    rows: Mapping[str, OwnedContent], before: Known, verdicts: QuarantineVerdicts, now: str
) -> QuarantineChange:
    stale = {
        id
        for id, waiting in before.held.items()
        if id in rows and (id not in verdicts.held or waiting.digest != rows[id].judged(id)[1])
    }
    approved: dict[str, dict[str, str]] = {}
    for id, by in verdicts.approved.items():
        own, digest = rows[id].judged(id)
        approved.setdefault(by, {})[own] = digest
    fresh = {
        id: (rows[id].judged(id)[1], why)
        for id, why in verdicts.held.items()
        if id in stale or id not in before.held
    }
    return QuarantineChange(now, approved, tuple(sorted(stale)), fresh)


# --- the three tables ------------------------------------------------------------------------


def known(transaction: Transaction, rows: Mapping[str, OwnedContent], sources: Collection[str]) -> Known:
    """What was decided about some rows, and which of their sources, and of others, were seen before."""
    approved: dict[str, dict[str, str]] = {}
    for id, digest, by in transaction.among(
        "SELECT id, digest, approved_by FROM approved_content"
        " WHERE workspace = :workspace AND id IN (:listed)",
        list({row.judged(id)[0] for id, row in rows.items()}),
    ):
        approved.setdefault(id, {})[digest] = by
    seen = transaction.among(
        "SELECT source FROM first_sight WHERE workspace = :workspace AND source IN (:listed)",
        list({*sources, *(row.source for row in rows.values())}),
    )
    waiting = transaction.among(
        "SELECT id, digest, reason, state, since FROM quarantine"
        " WHERE workspace = :workspace AND id IN (:listed)",
        list(rows),
    )
    return Known(approved, {row[0]: HeldCapability(*row) for row in waiting}, {row[0] for row in seen})


def update(transaction: Transaction, standing: QuarantineChange, removed: Iterable[str]) -> None:
    """Carry out what a sync means; what is gone waits for nobody."""
    for by, digests in standing.approved.items():
        _approve(transaction, digests, by, standing.now)
    _release(transaction, [*standing.stale, *removed])
    transaction.many(
        "INSERT INTO quarantine (workspace, id, digest, reason, state, since)"
        " VALUES (:workspace, :id, :digest, :reason, 'waiting', :since)",
        (
            {"id": id, "digest": digest, "reason": reason, "since": standing.now}
            for id, (digest, reason) in standing.fresh.items()
        ),
    )


def see(transaction: Transaction, sources: Iterable[str], now: str) -> None:
    """These have now been seen; what they add from here on is no first sight."""
    transaction.many(
        "INSERT INTO first_sight (workspace, source, at) VALUES (:workspace, :source, :at)"
        " ON CONFLICT DO NOTHING",
        ({"source": source, "at": now} for source in sources),
    )


def held(transaction: Transaction) -> dict[str, HeldCapability]:
    rows = transaction.all(
        "SELECT id, digest, reason, state, since FROM quarantine WHERE workspace = :workspace ORDER BY id"
    )
    return {row[0]: HeldCapability(*row) for row in rows}


def accepted(transaction: Transaction) -> dict[tuple[str, str], str]:
    """What a person took as it is and what still has that content: id and digest -> who."""
    rows = transaction.all(
        "SELECT a.id, a.digest, a.approved_by FROM approved_content a"
        " JOIN capability c ON c.workspace = a.workspace AND c.id = a.id AND c.digest = a.digest"
        " WHERE a.workspace = :workspace AND a.approved_by NOT IN (:first, :growth)",
        first=FIRST_SIGHT,
        growth=GROWTH,
    )
    return {(id, digest): by for id, digest, by in rows}


def accept(transaction: Transaction, id: str, digest: str, by: str, now: str) -> None:
    """Remember that a person took this content, which nothing holds back."""
    _approve(transaction, {id: digest}, by, now)


def approve(transaction: Transaction, id: str, by: str, now: str, digest: str = "") -> HeldCapability:
    """Let one go, with exactly the content it has now."""
    found = _waiting(transaction, id, digest)
    _approve(transaction, {_own_id(transaction, id): found.digest}, by, now)
    _release(transaction, [id])
    return found


def reject(transaction: Transaction, id: str, digest: str = "") -> HeldCapability:
    """Hold one back for good; it is looked at again only when its content changes."""
    found = _waiting(transaction, id, digest)
    transaction.run(
        "UPDATE quarantine SET state = 'rejected' WHERE workspace = :workspace AND id = :id", id=id
    )
    transaction.run(
        "DELETE FROM approved_content WHERE workspace = :workspace AND id = :id AND digest = :digest",
        id=_own_id(transaction, id),
        digest=found.digest,
    )
    return found


def last_approved(transaction: Transaction, id: str) -> tuple[str, str]:
    """The own id, and the digest that was approved last, or nothing; what is held back counts for nothing."""
    own = _own_id(transaction, id)
    row = transaction.one(
        "SELECT digest FROM approved_content WHERE workspace = :workspace AND id = :id AND digest NOT IN"
        " (SELECT digest FROM quarantine q WHERE q.workspace = :workspace AND q.id = :shown)"
        " ORDER BY approved_at DESC LIMIT 1",
        id=own,
        shown=id,
    )
    return own, str(row[0]) if row else ""


def _own_id(transaction: Transaction, id: str) -> str:
    """What the author of a capability calls it: what approvals are for."""
    row = transaction.one(
        "SELECT original_id FROM capability WHERE workspace = :workspace AND id = :id", id=id
    )
    return str(row[0]) or id if row else id


def _waiting(transaction: Transaction, id: str, digest: str) -> HeldCapability:
    """The one of this id; where a digest is given, only with the content that was looked at."""
    known = held(transaction)
    if id not in known:
        raise NotFound("quarantined capability", id, known, "see: prowess quarantine list")
    if digest not in ("", known[id].digest):
        raise Outdated(id)
    return known[id]


def _approve(transaction: Transaction, digests: Mapping[str, str], by: str, now: str) -> None:
    transaction.many(
        "INSERT INTO approved_content (workspace, id, digest, approved_by, approved_at)"
        " VALUES (:workspace, :id, :digest, :by, :at)"
        " ON CONFLICT (workspace, id, digest) DO UPDATE SET approved_by = excluded.approved_by,"
        " approved_at = excluded.approved_at",
        ({"id": id, "digest": digest, "by": by, "at": now} for id, digest in digests.items()),
    )


def _release(transaction: Transaction, ids: Iterable[str]) -> None:
    transaction.many(
        "DELETE FROM quarantine WHERE workspace = :workspace AND id = :id", ({"id": id} for id in ids)
    )
