"""What is held back until a person has looked at it.

A source is trusted fully, pinned or not at all. An approval is for exactly one content of one id. One rule
decides, at each sync and whatever came before it: of a source that is not fully trusted, what is not approved
with exactly the content it has is held back. Being pinned approves once, when a source is first seen to offer
something; after that only a person does. One that may grow also has ids approved that were never there.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from prowess.catalogue.merge import OwnedContent
from prowess.errors import NotFound, Outdated
from prowess.store.database import Transaction
from prowess.types import HeldCapability, Trust

FIRST_SIGHT = "first sight"
GROWTH = "growth"
BY_TRUST = frozenset({FIRST_SIGHT, GROWTH})
"""Approvals that no person gave: the guard may still hold such content back."""

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
    shown_otherwise: Mapping[str, str],
) -> QuarantineVerdicts:
    """Decide about everything these sources offer; `present` has the ids that were there before the sync.

    shown_otherwise: what is as it was but for icons and the like, which had none then -> its digest then.
    """
    approved: dict[str, str] = {}
    held: dict[str, str] = {}
    for id, row in rows.items():
        level = trust[row.source]
        if level == "full":
            continue
        said = known.approved.get(id, {}).get(row.digest, "")
        waits = id in known.held and known.held[id].digest == row.digest and not _judged_anew(id, row, known)
        if said and said not in BY_TRUST:
            continue
        if id in unsafe:
            held[id] = unsafe[id]
        elif waits:
            held[id] = known.held[id].reason
        elif not said:
            before = known.approved.get(id, {}).get(shown_otherwise.get(id, ""), "")
            by = before or _approving(id, row, level, present, known)
            if by:
                approved[id] = by
            else:
                held[id] = _reason(id, level, known)
    return QuarantineVerdicts(approved, held)


def _judged_anew(id: str, row: OwnedContent, known: Known) -> bool:
    """What waits only because the guard was broken at first sight, which does not count as one."""
    held = known.held[id]
    return row.source not in known.seen and held.state == "waiting" and held.reason.startswith(UNJUDGED)


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
    """By whom -> id -> digest."""
    stale: tuple[str, ...]
    """Ids that no longer wait, or wait with other content."""
    fresh: Mapping[str, tuple[str, str]]
    """Ids that wait from now on: digest and reason."""

    def __bool__(self) -> bool:
        return bool(self.stale or self.fresh)


def standing(
    rows: Mapping[str, OwnedContent], before: Known, verdicts: QuarantineVerdicts, now: str
) -> QuarantineChange:
    stale = {
        id
        for id, waiting in before.held.items()
        if id in rows and (id not in verdicts.held or waiting.digest != rows[id].digest)
    }
    approved: dict[str, dict[str, str]] = {}
    for id, by in verdicts.approved.items():
        approved.setdefault(by, {})[id] = rows[id].digest
    fresh = {
        id: (rows[id].digest, why)
        for id, why in verdicts.held.items()
        if id in stale or id not in before.held
    }
    return QuarantineChange(now, approved, tuple(sorted(stale)), fresh)


# --- the three tables ------------------------------------------------------------------------


def known(transaction: Transaction) -> Known:
    approved: dict[str, dict[str, str]] = {}
    for id, digest, by in transaction.all(
        "SELECT id, digest, approved_by FROM approved_content WHERE workspace = :workspace"
    ):
        approved.setdefault(id, {})[digest] = by
    seen = {row[0] for row in transaction.all("SELECT source FROM first_sight WHERE workspace = :workspace")}
    return Known(approved, held(transaction), seen)


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


def approve(transaction: Transaction, id: str, by: str, now: str, digest: str = "") -> HeldCapability:
    """Let one go, with exactly the content it has now."""
    found = _waiting(transaction, id, digest)
    _approve(transaction, {id: found.digest}, by, now)
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
        id=id,
        digest=found.digest,
    )
    return found


def last_approved(transaction: Transaction, id: str) -> str:
    """The digest of the content that was approved last, or nothing; what is held back counts for nothing."""
    row = transaction.one(
        "SELECT digest FROM approved_content WHERE workspace = :workspace AND id = :id AND digest NOT IN"
        " (SELECT digest FROM quarantine q WHERE q.workspace = :workspace AND q.id = approved_content.id)"
        " ORDER BY approved_at DESC LIMIT 1",
        id=id,
    )
    return str(row[0]) if row else ""


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
