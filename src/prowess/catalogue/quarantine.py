"""What is held back until a person has looked at it.

A source is trusted fully, pinned (what it offers at first sight is approved, what changes later is
held back) or not at all. An approval is for exactly one content of one id. A capability that appears
while another of its provider vanishes is taken for a renamed one: approved if its content is the
vanished one's, held back if it is not, because a new name must not get around a pin.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from prowess.catalogue.merge import Row, Wanted
from prowess.errors import NotFound, Outdated
from prowess.journal import canonical
from prowess.store.database import Transaction
from prowess.types import Capability, Changes, Detail, Draft, Held, Trust

FIRST_SIGHT = "first sight"


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What a sync approves and what it holds back, with the reason."""

    approved: tuple[str, ...]
    held: Mapping[str, str]


def content_key(capability: Capability, detail: Detail) -> str:
    """What a capability says, whatever it is called."""
    said = [capability.description, capability.parameters, detail]
    return hashlib.sha256(canonical(said).encode()).hexdigest()


def judge(
    changes: Changes, wanted: Wanted, trust: Mapping[str, Trust], gone: Mapping[str, Sequence[str]]
) -> Verdicts:
    """Decide about what a sync adds and changes; `gone` has the content keys that left, by provider."""
    approved: list[str] = []
    held: dict[str, str] = {}
    for id in changes.added:
        row = wanted.rows[id]
        level = trust.get(row.source, "full")
        if level == "none":
            held[id] = "it is new and nobody has approved it"
        elif level == "pinned":
            known = gone.get(row.provider)
            if known and _key(wanted.drafts[id]) not in known:
                held[id] = "it appeared when another of its provider vanished: perhaps renamed, and changed"
            else:
                approved.append(id)
    for id in changes.changed:
        if trust.get(wanted.rows[id].source, "full") != "full":
            held[id] = "it changed since it was approved"
    return Verdicts(tuple(approved), held)


def _key(draft: Draft) -> str:
    return content_key(draft.capability, draft.detail)


# --- the two tables --------------------------------------------------------------------------


def update(
    transaction: Transaction,
    changes: Changes,
    current: Mapping[str, Row],
    wanted: Wanted,
    trust: Mapping[str, Trust],
    now: str,
) -> bool:
    """Carry out what a sync means for the quarantine; true when anything in it changed."""
    verdicts = judge(changes, wanted, trust, _gone(transaction, changes, current))
    known = {(id, digest) for id, digest in transaction.all("SELECT id, digest FROM approved_content")}
    held = {id: reason for id, reason in verdicts.held.items() if (id, wanted.rows[id].digest) not in known}
    now_trusted = [id for id, row in wanted.rows.items() if trust.get(row.source, "full") == "full"]
    stays = {row[0] for row in transaction.all("SELECT id FROM quarantine")}
    leaving = stays & {*changes.removed, *changes.added, *changes.changed, *now_trusted}
    _release(transaction, leaving)
    _approve(transaction, {id: wanted.rows[id].digest for id in verdicts.approved}, FIRST_SIGHT, now)
    transaction.many(
        "INSERT INTO quarantine (id, digest, reason, state, since)"
        " VALUES (:id, :digest, :reason, 'waiting', :since)",
        (
            {"id": id, "digest": wanted.rows[id].digest, "reason": reason, "since": now}
            for id, reason in held.items()
        ),
    )
    return bool(leaving or held)


def hold(transaction: Transaction, id: str, digest: str, reason: str, now: str) -> bool:
    """Hold one back for a reason found elsewhere, unless exactly this content was approved."""
    if transaction.one("SELECT 1 FROM approved_content WHERE id = :id AND digest = :digest"
                       " AND approved_by <> :first", id=id, digest=digest, first=FIRST_SIGHT):  # fmt: skip
        return False
    _release(transaction, [id])
    transaction.run(
        "INSERT INTO quarantine (id, digest, reason, state, since)"
        " VALUES (:id, :digest, :reason, 'waiting', :since)",
        id=id, digest=digest, reason=reason, since=now,
    )  # fmt: skip
    return True


def held(transaction: Transaction) -> dict[str, Held]:
    rows = transaction.all("SELECT id, digest, reason, state, since FROM quarantine ORDER BY id")
    return {row[0]: Held(*row) for row in rows}


def approve(transaction: Transaction, id: str, by: str, now: str, digest: str = "") -> Held:
    """Let one go: exactly this content is approved from now on."""
    found = _waiting(transaction, id, digest)
    _approve(transaction, {id: found.digest}, by, now)
    _release(transaction, [id])
    return found


def reject(transaction: Transaction, id: str, digest: str = "") -> Held:
    """Hold one back for good; it is looked at again only when its content changes."""
    found = _waiting(transaction, id, digest)
    transaction.run("UPDATE quarantine SET state = 'rejected' WHERE id = :id", id=id)
    return found


def last_approved(transaction: Transaction, id: str) -> str:
    """The digest of the content that was approved last, or nothing; what is held back counts for nothing."""
    row = transaction.one(
        "SELECT digest FROM approved_content WHERE id = :id AND digest NOT IN"
        " (SELECT digest FROM quarantine WHERE quarantine.id = approved_content.id)"
        " ORDER BY approved_at DESC LIMIT 1",
        id=id,
    )
    return str(row[0]) if row else ""


def _waiting(transaction: Transaction, id: str, digest: str) -> Held:
    """The one of this id; where a digest is given, only with the content that was looked at."""
    known = held(transaction)
    if id not in known:
        raise NotFound("quarantined capability", id, known, "see: prowess quarantine list")
    if digest not in ("", known[id].digest):
        raise Outdated(id)
    return known[id]


def _approve(transaction: Transaction, digests: Mapping[str, str], by: str, now: str) -> None:
    transaction.many(
        "INSERT INTO approved_content (id, digest, approved_by, approved_at)"
        " VALUES (:id, :digest, :by, :at)"
        " ON CONFLICT (id, digest) DO UPDATE SET approved_by = excluded.approved_by,"
        " approved_at = excluded.approved_at",
        ({"id": id, "digest": digest, "by": by, "at": now} for id, digest in digests.items()),
    )


def _release(transaction: Transaction, ids: Iterable[str]) -> None:
    transaction.many("DELETE FROM quarantine WHERE id = :id", ({"id": id} for id in ids))


def _gone(transaction: Transaction, changes: Changes, current: Mapping[str, Row]) -> dict[str, list[str]]:
    """The content that vanished with this sync, by provider."""
    keys: dict[str, list[str]] = {}
    for id in changes.removed:
        row = transaction.one(
            "SELECT capability, detail FROM capability_text WHERE id = :id AND digest = :digest",
            id=id, digest=current[id].digest,
        )  # fmt: skip
        if row:
            capability = msgspec.json.decode(row[0], type=Capability)
            key = content_key(capability, msgspec.json.decode(row[1], type=Detail))
            keys.setdefault(current[id].provider, []).append(key)
    return keys
