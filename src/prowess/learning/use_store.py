"""What is remembered of use: requests by need, and what was tried for them.

Above: the engine, which learns in one transaction. Below: the store. Every write is idempotent and the
order of writes does not matter, so that outcomes that come twice, late or early count once. Only the
newest requests are remembered; the journal keeps them all.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from prowess.learning.outcomes import Attempt, SettledNeed
from prowess.learning.paraphrases import alike, telling
from prowess.learning.usage_entries import Need, OfferedRequest, RefusedUse, Tried
from prowess.store.database import Transaction
from prowess.text.redaction import redacted

MAX_REMEMBERED = 100_000
MAX_TALLIED = 2000


class Requested(NamedTuple):
    """A request that was offered something: its needs, and who asked when."""

    agent: str
    at: str
    text: str
    needs: tuple[Need, ...]
    asked_in: str = ""
    """The offer of the turn it was made in."""
    rewords: str = ""
    """The first request that it says again in other words."""

    @property
    def parents(self) -> tuple[str, ...]:
        """The requests that are answered by what answers this one."""
        return tuple(filter(None, (self.asked_in, self.rewords)))


class Demonstration(NamedTuple):
    """One demonstration of a lesson, or one time a gap was met."""

    ok: bool
    at: str
    agent: str
    span: str
    use: str = ""
    """The request it is counted with: one use may answer a turn and the search in it."""


class Answer(NamedTuple):
    """What answered a need, for whom and when."""

    method: str
    agent: str
    at: str


class Met(NamedTuple):
    """One time that a gap was met."""

    at: str
    agent: str
    status: str
    reason: str


def ask(transaction: Transaction, asked: OfferedRequest) -> None:
    """Remember a request; one that is known already stays as it is."""
    text = redacted(asked.request)
    rewords = _first_wording(transaction, asked, text)
    transaction.many(
        "INSERT INTO learning_need"
        " (workspace, offer, number, agent, at, request, span, routes, weak, status, method, reason, gap,"
        " asked_in, rewords, telling)"
        " VALUES (:workspace, :offer, :number, :agent, :at, :request, :span, :routes, :weak,"
        " 'pending', '', '', '', :asked_in, :rewords, :telling)"
        " ON CONFLICT DO NOTHING",
        (
            {
                "offer": asked.offer,
                "number": number,
                "agent": asked.agent,
                "at": asked.at,
                "request": text,
                "span": (span := redacted(need.span)),
                "routes": msgspec.json.encode(need.routes).decode(),
                "asked_in": asked.asked_in,
                "rewords": rewords,
                "telling": telling(span),
                "weak": msgspec.json.encode(need.weak).decode(),
            }
            for number, need in enumerate(asked.needs)
        ),
    )


def _first_wording(transaction: Transaction, asked: OfferedRequest, text: str) -> str:
    """The first request that this one says in other words; nothing where it asks for something else."""
    earlier = requested(transaction, asked.follows) if asked.follows else None
    if earlier is None or earlier.agent != asked.agent or not alike(earlier.text, text):
        return ""
    return earlier.rewords or asked.follows


def attempt(transaction: Transaction, tried: Tried) -> None:
    """Remember a use; a success outlasts whatever else is reported for the same offer."""
    _attempt(transaction, tried.offer, Attempt(tried.capability, tried.ok, "", tried.detail, tried.at))


def pass_on(transaction: Transaction, offer: str) -> tuple[str, ...]:
    """Let what was tried for a search count for the requests around it, too; returns those."""
    known = requested(transaction, offer)
    parents = known.parents if known else ()
    for parent in parents:
        for made in attempts(transaction, offer):
            _attempt(transaction, parent, made, offer)
    return parents


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


def _attempt(transaction: Transaction, offer: str, made: Attempt, via: str = "") -> None:
    transaction.run(
        "INSERT INTO learning_attempt"
        " (workspace, offer, capability, ok, denied, detail, at, agent, span, skill, via)"
        " VALUES (:workspace, :offer, :capability, :ok, :denied, :detail, :at, '', '', '', :via)"
        " ON CONFLICT (workspace, offer, capability) DO UPDATE SET"
        " at = CASE WHEN learning_attempt.ok < excluded.ok OR"
        " (learning_attempt.ok = excluded.ok AND excluded.at < learning_attempt.at)"
        " THEN excluded.at ELSE learning_attempt.at END,"
        " denied = CASE WHEN excluded.denied = '' THEN '' ELSE learning_attempt.denied END,"
        " detail = CASE WHEN excluded.detail = '' THEN learning_attempt.detail ELSE excluded.detail END,"
        " ok = CASE WHEN learning_attempt.ok > excluded.ok THEN learning_attempt.ok ELSE excluded.ok END",
        offer=offer, capability=made.capability, ok=int(made.ok), denied=made.denied,
        detail=redacted(made.detail), at=made.at, via=via,
    )  # fmt: skip


def requested(transaction: Transaction, offer: str) -> Requested | None:
    rows = transaction.all(
        "SELECT span, routes, weak, agent, at, request, asked_in, rewords FROM learning_need"
        " WHERE workspace = :workspace AND offer = :offer ORDER BY number",
        offer=offer,
    )
    if not rows:
        return None
    needs = tuple(
        Need(span, tuple(msgspec.json.decode(routes)), tuple(msgspec.json.decode(weak)))
        for span, routes, weak, *_ in rows
    )
    agent, at, text, asked_in, rewords = rows[0][3:]
    return Requested(agent, at, text, needs, asked_in, rewords)


def has_a_successor(transaction: Transaction, offer: str, known: Requested) -> bool:
    """Whether a later request says this one again, or was made within it: then that one tells how it went."""
    row = transaction.one(
        "SELECT 1 FROM learning_need WHERE workspace = :workspace"
        " AND (asked_in = :offer OR (rewords = :first AND at > :at)) LIMIT 1",
        offer=offer, first=known.rewords or offer, at=known.at,
    )  # fmt: skip
    return row is not None


def attempts(transaction: Transaction, offer: str) -> tuple[Attempt, ...]:
    rows = transaction.all(
        "SELECT made.capability, made.ok, made.denied, made.detail, made.at, COALESCE(search.request, '')"
        " FROM learning_attempt AS made LEFT JOIN learning_need AS search"
        " ON search.workspace = made.workspace AND search.offer = made.via AND search.number = 0"
        " WHERE made.workspace = :workspace AND made.offer = :offer ORDER BY made.at, made.capability",
        offer=offer,
    )
    return tuple(Attempt(id, bool(ok), *rest) for id, ok, *rest in rows)


def abandoned(transaction: Transaction, before: str, most: int) -> tuple[str, ...]:
    """Some of the offers of which nothing was reported for so long that nothing will be."""
    rows = transaction.all(
        "SELECT DISTINCT offer FROM learning_need"
        " WHERE workspace = :workspace AND status = 'pending' AND at < :before"
        " ORDER BY offer LIMIT :most",
        before=before, most=most,
    )  # fmt: skip
    return tuple(offer for (offer,) in rows)


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
        "SELECT ok, at, agent, span, CASE WHEN via = '' THEN offer ELSE via END AS use FROM learning_attempt"
        " WHERE workspace = :workspace AND skill = :lesson AND denied = ''"
        " UNION ALL SELECT ok, at, agent, span, offer AS use FROM learning_steps"
        " WHERE workspace = :workspace AND skill = :lesson"
        " ORDER BY at DESC, span LIMIT :most",
        lesson=lesson, most=MAX_TALLIED,
    )  # fmt: skip
    return tuple(Demonstration(bool(ok), at, agent, span, use) for ok, at, agent, span, use in rows)


def credit_anew(transaction: Transaction, before: str, after: str) -> None:
    """Count for one lesson from now on what counted for another."""
    for statement in (
        "UPDATE learning_attempt SET skill = :after WHERE workspace = :workspace AND skill = :before",
        "UPDATE learning_steps SET skill = :after WHERE workspace = :workspace AND skill = :before",
    ):
        transaction.run(statement, before=before, after=after)


def answers(transaction: Transaction, span: str, agents: Sequence[str]) -> tuple[Answer, ...]:
    """What answered a need in these words, in whatever order, for one of these agents; the newest first."""
    rows = transaction.all(
        "SELECT method, agent, at FROM learning_need WHERE workspace = :workspace AND telling = :telling"
        " AND status = 'satisfied' ORDER BY at DESC, offer LIMIT :most",
        telling=telling(span), most=MAX_TALLIED,
    )  # fmt: skip
    return tuple(Answer(*row) for row in rows if row[1] in agents)


def meetings(transaction: Transaction, gap: str) -> tuple[Met, ...]:
    """Each time a gap was met, the newest first."""
    rows = transaction.all(
        "SELECT at, agent, status, reason FROM learning_need WHERE workspace = :workspace AND gap = :gap"
        " ORDER BY at DESC, offer LIMIT :most",
        gap=gap, most=MAX_TALLIED,
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


def agents(transaction: Transaction) -> tuple[str, ...]:
    """Everybody for whom something worked."""
    rows = transaction.all(
        "SELECT DISTINCT agent FROM learning_need WHERE workspace = :workspace AND status = 'satisfied'"
        " ORDER BY agent"
    )
    return tuple(agent for (agent,) in rows)


def forget_the_oldest(transaction: Transaction, most: int = MAX_REMEMBERED) -> None:
    row = transaction.one(
        "SELECT at FROM learning_need WHERE workspace = :workspace ORDER BY at DESC LIMIT 1 OFFSET :most",
        most=most,
    )
    if row is not None:
        transaction.run("DELETE FROM learning_need WHERE workspace = :workspace AND at <= :at", at=row[0])
        transaction.run("DELETE FROM learning_attempt WHERE workspace = :workspace AND at <= :at", at=row[0])
        transaction.run("DELETE FROM learning_steps WHERE workspace = :workspace AND at <= :at", at=row[0])


def offered(transaction: Transaction) -> dict[str, int]:
    """By capability: for how many needs it was offered."""
    found: dict[str, int] = {}
    for (routes,) in transaction.all("SELECT routes FROM learning_need WHERE workspace = :workspace"):
        for id in msgspec.json.decode(routes):
            found[id] = found.get(id, 0) + 1
    return found
