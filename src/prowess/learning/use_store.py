"""What is remembered of use: requests by need, and what was tried for them.

Above: the engine, which learns in one transaction. Below: the store. Every write is idempotent and the
order of writes does not matter, so that outcomes that come twice, late or early count once. Only the
newest requests are remembered; the journal keeps them all.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from prowess.learning.outcomes import Attempt, SettledNeed
from prowess.learning.usage_entries import Need, OfferedRequest, RefusedUse, Tried
from prowess.store.database import Transaction
from prowess.text.redaction import redacted
from prowess.types import Head

MOST_REMEMBERED = 100_000
MOST_TALLIED = 2000
LOCK = "*"
TAUGHT = "+"
"""Rows of `learning_seen` that are no chains: one to lock, one that counts changes of what is taught."""
ESCAPE = "="
"""Stands before a chain that begins like one of those rows, for an agent may have any name."""


class Requested(NamedTuple):
    """A request that was offered something: its needs, and who asked when."""

    agent: str
    at: str
    text: str
    needs: tuple[Need, ...]


class Demonstration(NamedTuple):
    """One demonstration of a lesson, or one time a gap was met."""

    ok: bool
    at: str
    agent: str
    span: str


class Met(NamedTuple):
    """One time that a gap was met."""

    at: str
    agent: str
    status: str
    reason: str


def lock(transaction: Transaction) -> None:
    """Let nobody else learn until this transaction ends."""
    transaction.run(
        "INSERT INTO learning_seen (workspace, chain, count) VALUES (:workspace, :lock, 1)"
        " ON CONFLICT (workspace, chain) DO UPDATE SET count = learning_seen.count + 1",
        lock=LOCK,
    )


def heads(transaction: Transaction) -> tuple[Head, ...]:
    """How far the journal was read."""
    rows = transaction.all(
        "SELECT chain, count FROM learning_seen WHERE workspace = :workspace ORDER BY chain"
    )
    chains = ((row.removeprefix(ESCAPE), count) for row, count in rows if row not in (LOCK, TAUGHT))
    return tuple(Head(chain, count, "") for chain, count in chains)


def lesson(transaction: Transaction) -> int:
    """A number that moves when a sync changes what is taught."""
    row = transaction.one(
        "SELECT count FROM learning_seen WHERE workspace = :workspace AND chain = :taught", taught=TAUGHT
    )
    return int(row[0]) if row else 0


def next_lesson(transaction: Transaction) -> None:
    _advance(transaction, {TAUGHT: lesson(transaction) + 1})


def advance(transaction: Transaction, seen: Iterable[Head]) -> None:
    """Say how far the journal was read."""
    _advance(transaction, {_row_of(head.chain): head.count for head in seen})


def _row_of(chain: str) -> str:
    return ESCAPE + chain if chain.startswith((LOCK, TAUGHT, ESCAPE)) else chain


def _advance(transaction: Transaction, counts: Mapping[str, int]) -> None:
    transaction.many(
        "INSERT INTO learning_seen (workspace, chain, count) VALUES (:workspace, :chain, :count)"
        " ON CONFLICT (workspace, chain) DO UPDATE SET count = excluded.count",
        ({"chain": row, "count": count} for row, count in counts.items()),
    )


def ask(transaction: Transaction, asked: OfferedRequest) -> None:
    """Remember a request; one that is known already stays as it is."""
    transaction.many(
        "INSERT INTO learning_need"
        " (workspace, offer, number, agent, at, request, span, routes, weak, status, method, reason, gap)"
        " VALUES (:workspace, :offer, :number, :agent, :at, :request, :span, :routes, :weak,"
        " 'pending', '', '', '')"
        " ON CONFLICT DO NOTHING",
        (
            {
                "offer": asked.offer,
                "number": number,
                "agent": asked.agent,
                "at": asked.at,
                "request": redacted(asked.request),
                "span": redacted(need.span),
                "routes": msgspec.json.encode(need.routes).decode(),
                "weak": msgspec.json.encode(need.weak).decode(),
            }
            for number, need in enumerate(asked.needs)
        ),
    )


def attempt(transaction: Transaction, tried: Tried) -> None:
    """Remember a use; a success outlasts whatever else is reported for the same offer."""
    _attempt(transaction, tried.offer, Attempt(tried.capability, tried.ok, "", tried.detail, tried.at))


def refuse(transaction: Transaction, refused: RefusedUse) -> str:
    """Remember a refusal for the request it most likely came from; returns the offer, if there is one."""
    rows = transaction.all(
        "SELECT offer, routes FROM learning_need"
        " WHERE workspace = :workspace AND agent = :agent AND at <= :at"
        " ORDER BY at DESC, offer, number LIMIT 20",
        agent=refused.agent, at=refused.at,
    )  # fmt: skip
    fitting = [offer for offer, routes in rows if refused.capability in msgspec.json.decode(routes)]
    offer = next(iter([*fitting, *(offer for offer, _ in rows)]), "")
    if offer:
        denied = f"{refused.verdict}: {refused.reason}"
        _attempt(transaction, offer, Attempt(refused.capability, False, denied, "", refused.at))
    return offer


def _attempt(transaction: Transaction, offer: str, made: Attempt) -> None:
    transaction.run(
        "INSERT INTO learning_attempt"
        " (workspace, offer, capability, ok, denied, detail, at, agent, span, skill)"
        " VALUES (:workspace, :offer, :capability, :ok, :denied, :detail, :at, '', '', '')"
        " ON CONFLICT (workspace, offer, capability) DO UPDATE SET"
        " at = CASE WHEN learning_attempt.ok < excluded.ok OR"
        " (learning_attempt.ok = excluded.ok AND excluded.at < learning_attempt.at)"
        " THEN excluded.at ELSE learning_attempt.at END,"
        " denied = CASE WHEN excluded.denied = '' THEN '' ELSE learning_attempt.denied END,"
        " detail = CASE WHEN excluded.detail = '' THEN learning_attempt.detail ELSE excluded.detail END,"
        " ok = CASE WHEN learning_attempt.ok > excluded.ok THEN learning_attempt.ok ELSE excluded.ok END",
        offer=offer, capability=made.capability, ok=int(made.ok), denied=made.denied,
        detail=redacted(made.detail), at=made.at,
    )  # fmt: skip


def requested(transaction: Transaction, offer: str) -> Requested | None:
    rows = transaction.all(
        "SELECT agent, at, request, span, routes, weak FROM learning_need"
        " WHERE workspace = :workspace AND offer = :offer ORDER BY number",
        offer=offer,
    )
    if not rows:
        return None
    needs = tuple(
        Need(span, tuple(msgspec.json.decode(routes)), tuple(msgspec.json.decode(weak)))
        for *_, span, routes, weak in rows
    )
    agent, at, text = rows[0][:3]
    return Requested(agent, at, text, needs)


def attempts(transaction: Transaction, offer: str) -> tuple[Attempt, ...]:
    rows = transaction.all(
        "SELECT capability, ok, denied, detail, at FROM learning_attempt"
        " WHERE workspace = :workspace AND offer = :offer"
        " ORDER BY at, capability",
        offer=offer,
    )
    return tuple(Attempt(id, bool(ok), denied, detail, at) for id, ok, denied, detail, at in rows)


def abandoned(transaction: Transaction, before: str, most: int) -> tuple[str, ...]:
    """Some of the offers of which nothing was reported for so long that nothing will be."""
    rows = transaction.all(
        "SELECT DISTINCT offer FROM learning_need"
        " WHERE workspace = :workspace AND status = 'pending' AND at < :before"
        " ORDER BY offer LIMIT :most",
        before=before, most=most,
    )  # fmt: skip
    return tuple(offer for (offer,) in rows)


def owe(transaction: Transaction, found: Iterable[tuple[str, str, str]]) -> None:
    """Note what is to be counted anew: whether it is a lesson or a gap, its id, and what is known of it."""
    transaction.many(
        "INSERT INTO learning_due (workspace, kind, id, record) VALUES (:workspace, :kind, :id, :record)"
        " ON CONFLICT (workspace, kind, id) DO NOTHING",
        ({"kind": kind, "id": id, "record": record} for kind, id, record in found),
    )


def due(transaction: Transaction, most: int) -> list[tuple[str, str, str]]:
    rows = transaction.all(
        "SELECT kind, id, record FROM learning_due"
        " WHERE workspace = :workspace ORDER BY kind DESC, id LIMIT :most",
        most=most,
    )
    return [(kind, id, record) for kind, id, record in rows]


def done(transaction: Transaction, counted: Iterable[tuple[str, str, str]]) -> None:
    transaction.many(
        "DELETE FROM learning_due WHERE workspace = :workspace AND kind = :kind AND id = :id",
        ({"kind": kind, "id": id} for kind, id, _ in counted),
    )


def gap_of(transaction: Transaction, offer: str, number: int) -> str:
    row = transaction.one(
        "SELECT gap FROM learning_need WHERE workspace = :workspace AND offer = :offer AND number = :number",
        offer=offer,
        number=number,
    )
    return str(row[0]) if row else ""


def settle(transaction: Transaction, offer: str, number: int, what: SettledNeed, gap: str) -> None:
    transaction.run(
        "UPDATE learning_need SET status = :status, method = :method, reason = :reason, gap = :gap"
        " WHERE workspace = :workspace AND offer = :offer AND number = :number",
        status=what.status, method=what.method, reason=what.reason, gap=gap, offer=offer, number=number,
    )  # fmt: skip


def credit(transaction: Transaction, offer: str, capability: str, lesson: str, seen: Demonstration) -> None:
    """Count an attempt for a skill."""
    transaction.run(
        "UPDATE learning_attempt SET skill = :lesson, agent = :agent, span = :span"
        " WHERE workspace = :workspace AND offer = :offer AND capability = :capability",
        lesson=lesson, agent=seen.agent, span=seen.span, offer=offer, capability=capability,
    )  # fmt: skip


def credit_steps(transaction: Transaction, offer: str, lesson: str, seen: Demonstration) -> str:
    """Count a whole request for a lesson of several steps; returns the one it counted for before."""
    row = transaction.one(
        "SELECT skill FROM learning_steps WHERE workspace = :workspace AND offer = :offer", offer=offer
    )
    transaction.run(
        "INSERT INTO learning_steps (workspace, offer, skill, ok, at, agent, span)"
        " VALUES (:workspace, :offer, :lesson, :ok, :at, :agent, :span)"
        " ON CONFLICT (workspace, offer) DO UPDATE SET skill = excluded.skill, ok = excluded.ok",
        offer=offer, lesson=lesson, ok=int(seen.ok), at=seen.at, agent=seen.agent, span=seen.span,
    )  # fmt: skip
    return str(row[0]) if row else ""


def demonstrations(transaction: Transaction, lesson: str) -> tuple[Demonstration, ...]:
    """What counts for a lesson, the newest first."""
    rows = transaction.all(
        "SELECT ok, at, agent, span FROM learning_attempt"
        " WHERE workspace = :workspace AND skill = :lesson AND denied = ''"
        " UNION ALL SELECT ok, at, agent, span FROM learning_steps"
        " WHERE workspace = :workspace AND skill = :lesson"
        " ORDER BY at DESC, span LIMIT :most",
        lesson=lesson, most=MOST_TALLIED,
    )  # fmt: skip
    return tuple(Demonstration(bool(ok), at, agent, span) for ok, at, agent, span in rows)


def meetings(transaction: Transaction, gap: str) -> tuple[Met, ...]:
    """Each time a gap was met, the newest first."""
    rows = transaction.all(
        "SELECT at, agent, status, reason FROM learning_need WHERE workspace = :workspace AND gap = :gap"
        " ORDER BY at DESC, offer LIMIT :most",
        gap=gap, most=MOST_TALLIED,
    )  # fmt: skip
    return tuple(Met(*row) for row in rows)


def worked_in_steps(transaction: Transaction, most: int) -> tuple[tuple[str, str, str], ...]:
    """Requests that took several steps, the newest first: span, agent and the lesson of those steps."""
    rows = transaction.all(
        "SELECT span, agent, skill FROM learning_steps"
        " WHERE workspace = :workspace AND ok = 1 ORDER BY at DESC, offer LIMIT :most",
        most=most,
    )
    return tuple((span, agent, lesson) for span, agent, lesson in rows)


def worked(transaction: Transaction, most: int) -> tuple[tuple[str, str, str], ...]:
    """Requests that worked, the newest first: span, agent and what answered them."""
    rows = transaction.all(
        "SELECT span, agent, method FROM learning_need WHERE workspace = :workspace AND status = 'satisfied'"
        " ORDER BY at DESC, offer, number LIMIT :most",
        most=most,
    )
    return tuple((span, agent, method) for span, agent, method in rows)


def forget_the_oldest(transaction: Transaction, most: int = MOST_REMEMBERED) -> None:
    row = transaction.one(
        "SELECT at FROM learning_need WHERE workspace = :workspace ORDER BY at DESC LIMIT 1 OFFSET :most",
        most=most,
    )
    if row is not None:
        transaction.run("DELETE FROM learning_need WHERE workspace = :workspace AND at <= :at", at=row[0])
        transaction.run("DELETE FROM learning_attempt WHERE workspace = :workspace AND at <= :at", at=row[0])
        transaction.run("DELETE FROM learning_steps WHERE workspace = :workspace AND at <= :at", at=row[0])


def counts(transaction: Transaction) -> dict[str, Sequence[int]]:
    """By capability: how often it was tried and how often it worked."""
    rows = transaction.all(
        "SELECT capability, COUNT(*), SUM(ok) FROM learning_attempt"
        " WHERE workspace = :workspace AND denied = '' GROUP BY capability"
    )
    return {capability: (int(tried), int(ok)) for capability, tried, ok in rows}


def offered(transaction: Transaction) -> dict[str, int]:
    """By capability: for how many needs it was offered."""
    found: dict[str, int] = {}
    for (routes,) in transaction.all("SELECT routes FROM learning_need WHERE workspace = :workspace"):
        for id in msgspec.json.decode(routes):
            found[id] = found.get(id, 0) + 1
    return found
