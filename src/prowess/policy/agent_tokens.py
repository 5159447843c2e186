"""Tokens: what an agent presents over a network to prove its name. Owns the table `agent_token`.

A token is `prowess_ID_SECRET`, with `@WORKSPACE` unless that is the default one. The id finds the row, the
secret is compared by its hash in constant time; it is random and long, so a plain hash cannot be searched. A
token dies when it is revoked, when it expires, and when what bound its agent is gone (see `bindings`): it is
ended for good by whoever notices first, so that it stays dead if the same name is bound again later.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

from prowess.errors import NotFound
from prowess.journal import Clock, Journal, stamp
from prowess.journal.entries import TokenIssued, TokenRevoked
from prowess.policy.bindings import Binding, Bindings
from prowess.store.database import Database, Transaction
from prowess.store.token_workspace import with_workspace, within

LASTS = timedelta(days=90)
PREFIX = "prowess"
SHAPE = re.compile(rf"{PREFIX}_([0-9a-f]{{8}})_([A-Za-z0-9_-]{{20,128}})\Z")

SELECT = "SELECT id, agent, issued_at, expires_at, revoked_at FROM agent_token WHERE workspace = :workspace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """What may be shown of a token: everything but the token."""

    id: str
    agent: str
    issued_at: str
    expires_at: str
    revoked_at: str = ""


@dataclass(frozen=True, slots=True)
class IssuedToken:
    token: Token
    text: str
    """The token itself: shown once, kept nowhere."""


class TokenProof(NamedTuple):
    """A token that is valid, the agent it names, and what bound that agent when it was issued."""

    id: str
    agent: str
    binding: str


class _Living(NamedTuple):
    """A token that was not ended."""

    id: str
    agent: str
    binding: str
    policy: str
    issued_at: str


class Binds(Protocol):
    """What knows the agents: the policy, as it is now."""

    def binding(self, agent: str) -> Binding: ...


class AgentTokens:
    """What proves over HTTP that somebody is an agent."""

    def __init__(self, database: Database, journal: Journal, clock: Clock, binds: Binds) -> None:
        self._database = database
        self._journal = journal
        self._clock = clock
        self._binds = binds

    def issue(self, agent: str, lasts: timedelta = LASTS) -> IssuedToken:
        """Make a token; its text is in the answer and nowhere else.

        agent: who it is for.
        lasts: until when it is valid, from now.
        """
        id, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
        now = self._clock()
        token = Token(id=id, agent=agent, issued_at=stamp(now), expires_at=stamp(now + lasts))
        binding = self._binds.binding(agent)
        with self._database.writing() as transaction:
            transaction.run(
                "INSERT INTO agent_token"
                " (workspace, id, agent, hash, issued_at, expires_at, revoked_at, binding, policy)"
                " VALUES (:workspace, :id, :agent, :hash, :issued_at, :expires_at, '', :binding, :policy)",
                id=id, agent=agent, hash=_hash(secret), binding=binding.text, policy=binding.policy,
                issued_at=token.issued_at, expires_at=token.expires_at,
            )  # fmt: skip
            self._journal.append(transaction, TokenIssued(token=id, expires_at=token.expires_at), agent)
        text = with_workspace(f"{PREFIX}_{id}_{secret}", self._database.workspace)
        return IssuedToken(token, text)

    def revoke(self, id: str) -> Token:
        """Make a token worthless at once.

        id: of the token, as `list` names it.
        """
        with self._database.writing() as transaction:
            row = transaction.one(f"{SELECT} AND id = :id", id=id)
            if row is None:
                raise NotFound("token", id, see="see: prowess agent access-token list")
            now = stamp(self._clock())
            transaction.run(
                "UPDATE agent_token SET revoked_at = :now"
                " WHERE workspace = :workspace AND id = :id AND revoked_at = ''",
                id=id,
                now=now,
            )
            self._journal.append(transaction, TokenRevoked(token=id), row[1])
            return Token(id=id, agent=row[1], issued_at=row[2], expires_at=row[3], revoked_at=row[4] or now)

    def list(self) -> tuple[Token, ...]:
        """Every token, also those that have ended; without their texts."""
        with self._database.reading() as transaction:
            rows = transaction.all(f"{SELECT} ORDER BY agent, issued_at, id")
        return tuple(Token(**dict(zip(Token.__dataclass_fields__, row, strict=True))) for row in rows)

    def any_valid(self) -> bool:
        """Whether anybody could present one."""
        now = stamp(self._clock())
        return any(not token.revoked_at and token.expires_at > now for token in self.list())

    def holder(self, text: str) -> str:
        """The agent this token proves, or nothing.

        text: the token, as it was presented.
        """
        proven = proof(self._database, text, self._clock())
        if proven is None:
            return ""
        binding = self._binds.binding(proven.agent)
        if binding.text and binding.text == proven.binding:
            return proven.agent
        if binding.known:
            with self._database.writing() as transaction:
                end(transaction, self._journal, [(proven.id, proven.agent)], self._clock())
        return ""


def proof(database: Database, text: str, now: datetime) -> TokenProof | None:
    """What a token proves whose secret is right and which has not ended; who binds its agent is not asked."""
    parts = SHAPE.match(within(text, database.workspace))
    if parts is None:
        return None
    with database.reading() as transaction:
        row = transaction.one(
            "SELECT agent, hash, binding, expires_at, revoked_at FROM agent_token"
            " WHERE workspace = :workspace AND id = :id",
            id=parts[1],
        )
    agent, hash, binding, expires_at, revoked_at = row or ("", _hash(""), "", "", "")
    same = hmac.compare_digest(hash, _hash(parts[2]))
    if not same or revoked_at or expires_at <= stamp(now):
        return None
    return TokenProof(parts[1], str(agent), str(binding))


def end(transaction: Transaction, journal: Journal, tokens: Iterable[tuple[str, str]], now: datetime) -> None:
    """Make tokens (each with its agent) worthless for good: what bound the agent is gone."""
    for id, agent in tokens:
        ended = transaction.run(
            "UPDATE agent_token SET revoked_at = :now"
            " WHERE workspace = :workspace AND id = :id AND revoked_at = ''",
            id=id, now=stamp(now),
        )  # fmt: skip
        if ended:
            why = "the agent it was issued for is no longer bound"
            journal.append(transaction, TokenRevoked(token=id, why=why), agent)


def end_of_agents(transaction: Transaction, journal: Journal, agents: Iterable[str], now: datetime) -> None:
    gone = set(agents)
    end(transaction, journal, [(o.id, o.agent) for o in _living(transaction) if o.agent in gone], now)


def follow(database: Database, journal: Journal, bindings: Bindings, clock: Clock) -> None:
    """After policy files were read: end the tokens of those they bound once and bind no more."""
    living = database.read(_living)
    if not _stale(living, bindings) and not _unstated(living, bindings):
        return
    with database.writing() as transaction:
        for id, binding in _unstated(_living(transaction), bindings):
            transaction.run(
                "UPDATE agent_token SET binding = :binding, policy = :policy"
                " WHERE workspace = :workspace AND id = :id",
                id=id, binding=binding.text, policy=binding.policy,
            )  # fmt: skip
        if stale := _stale(_living(transaction), bindings):
            end(transaction, journal, stale, clock())


def _living(transaction: Transaction) -> list[_Living]:
    rows = transaction.all(
        "SELECT id, agent, binding, policy, issued_at FROM agent_token"
        " WHERE workspace = :workspace AND revoked_at = '' ORDER BY id"
    )
    return [_Living(*row) for row in rows]


def _stale(living: Iterable[_Living], bindings: Bindings) -> list[tuple[str, str]]:
    """The tokens that these policy files no longer bear out; those of other files are not ours to judge."""
    stated = [one for one in living if one.policy == bindings.policy]
    return [(one.id, one.agent) for one in stated if bindings.of(one.agent).text != one.binding]


def _unstated(living: Iterable[_Living], bindings: Bindings) -> list[tuple[str, Binding]]:
    """The tokens of an earlier version, which do not say what bound their agents, and what does now."""
    old = [one for one in living if not one.binding]
    ours = [one for one in old if bindings.since(one.agent) <= one.issued_at]
    found = [(one.id, bindings.of(one.agent)) for one in ours]
    return [(id, binding) for id, binding in found if binding.text]


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
