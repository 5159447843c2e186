"""Approvals: what policy asks a person about, and what the person said. Owns the table `approval`.

An answer holds for one agent, one id, exactly the content that was asked about and, unless the person says
more, one use with the arguments that were shown, until it expires: yes is not for ever, no is not asked
again at once, and a changed tool or other arguments are asked about anew.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

import msgspec

from prowess.errors import NotFound, PolicyError
from prowess.journal import canonical, spoken, stamp
from prowess.store.database import Row, Transaction

WAITS = timedelta(hours=1)
"""How long a question waits for its answer."""
HOLDS = timedelta(hours=1)
"""How long an answer holds, unless the person says otherwise."""

MOST_WAITING = 100
"""How many questions of one agent may wait: one that tries every name must not bury a person."""

State = Literal["pending", "approved", "refused", "expired", "used"]
Scope = Literal["once", "repeat", "any"]
"""How far an answer goes: one use with these arguments, any number of them, or any arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Who wants to use what, which content of it, and with which arguments."""

    agent: str
    capability: str
    digest: str = ""
    reason: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """As a person is shown them."""
    arguments_digest: str = ""
    """Which they are; nothing where the host did not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    id: str
    agent: str
    capability: str
    digest: str
    reason: str
    state: State
    asked_at: str
    expires_at: str
    answered_by: str = ""
    note: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """What it was asked for, as a person is shown it; empty where there are none or the host did not say."""
    arguments_digest: str = ""
    scope: Scope | Literal[""] = ""
    """How far the answer goes; nothing while it waits."""


SELECT = (
    "SELECT id, agent, capability, digest, reason, state, asked_at, expires_at, answered_by, note,"
    " arguments, arguments_digest, scope FROM approval WHERE workspace = :workspace"
)


def standing_answer(transaction: Transaction, question: Question, now: datetime) -> Approval | None:
    """The question's latest state that still counts: pending, approved or refused."""
    row = transaction.one(
        f"{SELECT} AND agent = :agent AND capability = :capability AND digest = :digest"
        " AND (arguments_digest = :arguments OR scope = 'any')"
        " AND state IN ('pending', 'approved', 'refused') AND expires_at > :now"
        # What somebody said comes before what still waits, and of that the latest.
        " ORDER BY CASE state WHEN 'pending' THEN 1 ELSE 0 END, number DESC, asked_at DESC, id DESC LIMIT 1",
        agent=question.agent, capability=question.capability, digest=question.digest,
        arguments=question.arguments_digest, now=stamp(now),
    )  # fmt: skip
    return _approval(row) if row else None


def ask(transaction: Transaction, question: Question, now: datetime) -> Approval | None:
    """Put a question to a person, once; none when too many of this agent's wait already."""
    held = standing_answer(transaction, question, now)
    if held or _waiting(transaction, question.agent, now) >= MOST_WAITING:
        return held
    asked_at = stamp(now)
    parts = [question.agent, question.capability, question.digest, question.arguments_digest, asked_at]
    before = _asked_before(transaction, question)
    key = canonical([*parts, before])
    approval = Approval(
        id=hashlib.sha256(key.encode()).hexdigest()[:12],
        agent=question.agent,
        capability=question.capability,
        digest=question.digest,
        reason=question.reason,
        state="pending",
        asked_at=asked_at,
        expires_at=stamp(now + WAITS),
        arguments=question.arguments,
        arguments_digest=question.arguments_digest,
    )
    transaction.run(
        "INSERT INTO approval"
        " (workspace, id, agent, capability, digest, reason, state, asked_at, expires_at, answered_by, note,"
        " arguments, arguments_digest, scope, number)"
        " VALUES (:workspace, :id, :agent, :capability, :digest, :reason, 'pending', :asked_at, :expires_at,"
        " '', '', :arguments, :arguments_digest, '', :number)",
        id=approval.id, agent=approval.agent, capability=approval.capability, digest=approval.digest,
        reason=approval.reason, asked_at=asked_at, expires_at=approval.expires_at,
        arguments=msgspec.json.encode(question.arguments).decode(),
        arguments_digest=approval.arguments_digest, number=before + 1,
    )  # fmt: skip
    transaction.announce()
    return approval


def use(transaction: Transaction, id: str) -> bool:
    """Take up a yes that holds for one use; false where another use was faster."""
    return bool(
        transaction.run(
            "UPDATE approval SET state = 'used'"
            " WHERE workspace = :workspace AND id = :id AND state = 'approved' AND scope = 'once'",
            id=id,
        )
    )


def give_back(transaction: Transaction, id: str) -> bool:
    """What it was taken up for has not come about yet; false where it was not taken up."""
    return bool(
        transaction.run(
            "UPDATE approval SET state = 'approved'"
            " WHERE workspace = :workspace AND id = :id AND state = 'used'",
            id=id,
        )
    )


def _asked_before(transaction: Transaction, question: Question) -> int:
    row = transaction.one(
        "SELECT COUNT(*) FROM approval"
        " WHERE workspace = :workspace AND agent = :agent AND capability = :capability AND digest = :digest",
        agent=question.agent, capability=question.capability, digest=question.digest,
    )  # fmt: skip
    return int(row[0]) if row else 0


def _waiting(transaction: Transaction, agent: str, now: datetime) -> int:
    row = transaction.one(
        "SELECT COUNT(*) FROM approval"
        " WHERE workspace = :workspace AND agent = :agent AND state = 'pending' AND expires_at > :now",
        agent=agent, now=stamp(now),
    )  # fmt: skip
    return int(row[0]) if row else 0


def answer(transaction: Transaction, id: str, said: "ApprovalAnswer", now: datetime) -> Approval:
    """Record what a person said to a pending question."""
    row = transaction.one(f"{SELECT} AND id = :id", id=id)
    if row is None:
        known = [one.id for one in approvals(transaction, now)]
        raise NotFound("approval", id, known, "see: prowess approval list")
    asked = _approval(row)
    if said.by in ("", asked.agent):
        raise PolicyError("approval", "an agent cannot answer for itself", "answer as a person: --by NAME")
    if asked.state != "pending" or asked.expires_at <= stamp(now):
        state = asked.state if asked.state != "pending" else "expired"
        until = f" after {spoken(asked.expires_at)}" if state == "refused" else ""
        raise PolicyError(f"approval {id}", f"is {state}, not pending", f"the agent may ask again{until}")
    transaction.run(
        "UPDATE approval SET state = :state, expires_at = :expires_at, answered_by = :by, note = :note,"
        " scope = :scope WHERE workspace = :workspace AND id = :id",
        id=id, state="approved" if said.yes else "refused", expires_at=stamp(now + said.holds),
        by=said.by, note=said.note, scope=said.scope,
    )  # fmt: skip
    transaction.announce()
    row = transaction.one(f"{SELECT} AND id = :id", id=id)
    assert row is not None, "it was updated above"
    return _approval(row)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAnswer:
    """What a person says to a question."""

    yes: bool  # or no
    by: str  # who says so; the journal names them
    note: str = ""  # what they want to add
    holds: timedelta = HOLDS  # for how long
    scope: Scope = "once"  # one use; "repeat": these arguments again and again; "any": any arguments


def approvals(transaction: Transaction, now: datetime, every: bool = False) -> tuple[Approval, ...]:
    """The questions that wait for an answer, oldest first; or every one that is remembered."""
    rows = transaction.all(
        f"{SELECT} AND (:every = 1 OR (state = 'pending' AND expires_at > :now)) ORDER BY asked_at, id",
        every=int(every), now=stamp(now),
    )  # fmt: skip
    return tuple(_approval(row) for row in rows)


def expire(transaction: Transaction, now: datetime) -> tuple[Approval, ...]:
    """Close everything whose time has passed, and say what that was."""
    rows = transaction.all(
        "UPDATE approval SET state = 'expired'"
        " WHERE workspace = :workspace AND state IN ('pending', 'approved', 'refused') AND expires_at <= :now"
        " RETURNING id, agent, capability, digest, reason, state, asked_at, expires_at, answered_by, note,"
        " arguments, arguments_digest, scope",
        now=stamp(now),
    )
    return tuple(sorted((_approval(row) for row in rows), key=lambda one: (one.asked_at, one.id)))


def forget(transaction: Transaction, agents: Sequence[str]) -> None:
    """A later agent of the same name must not inherit what a person allowed this one."""
    transaction.many(
        "DELETE FROM approval WHERE workspace = :workspace AND agent = :agent",
        ({"agent": agent} for agent in agents),
    )


def _approval(row: Row) -> Approval:
    fields: Sequence[str] = Approval.__dataclass_fields__.keys()  # type: ignore[assignment]
    values = dict(zip(fields, row, strict=True))
    return Approval(**{**values, "arguments": msgspec.json.decode(values["arguments"])})
