"""Tokens: what an agent presents over a network to prove its name. Owns the table `agent_token`.

A token is `prowess_ID_SECRET`. The id finds the row, the secret is compared by its hash in constant
time; it is random and long, so a plain hash cannot be searched. A token dies when it is revoked,
when it expires, and when its agent is removed, also if another agent is given the same name later.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import timedelta

from prowess.errors import NotFound
from prowess.journal import Clock, Journal, stamp
from prowess.policy.agents import Agent
from prowess.store.database import Database

LASTS = timedelta(days=90)
PREFIX = "prowess"
SHAPE = re.compile(rf"{PREFIX}_([0-9a-f]{{8}})_([A-Za-z0-9_-]{{20,128}})\Z")

SELECT = "SELECT id, agent, issued_at, expires_at, revoked_at FROM agent_token"


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """What may be shown of a token: everything but the token."""

    id: str
    agent: str
    issued_at: str
    expires_at: str
    revoked_at: str = ""


@dataclass(frozen=True, slots=True)
class Issued:
    token: Token
    text: str
    """The token itself: shown once, kept nowhere."""


class Tokens:
    def __init__(self, database: Database, journal: Journal, clock: Clock) -> None:
        self._database = database
        self._journal = journal
        self._clock = clock

    def issue(self, agent: str, lasts: timedelta = LASTS) -> Issued:
        id, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
        now = self._clock()
        token = Token(id=id, agent=agent, issued_at=stamp(now), expires_at=stamp(now + lasts))
        with self._database.writing() as transaction:
            transaction.run(
                "INSERT INTO agent_token (id, agent, hash, issued_at, expires_at, revoked_at)"
                " VALUES (:id, :agent, :hash, :issued_at, :expires_at, '')",
                id=id, agent=agent, hash=_hash(secret),
                issued_at=token.issued_at, expires_at=token.expires_at,
            )  # fmt: skip
            data = {"token": id, "expires_at": token.expires_at}
            self._journal.append(transaction, "token.issued", data, agent)
        return Issued(token, f"{PREFIX}_{id}_{secret}")

    def revoke(self, id: str) -> Token:
        with self._database.writing() as transaction:
            row = transaction.one(f"{SELECT} WHERE id = :id", id=id)
            if row is None:
                raise NotFound("token", id, see="see: prowess agent token list")
            now = stamp(self._clock())
            transaction.run(
                "UPDATE agent_token SET revoked_at = :now WHERE id = :id AND revoked_at = ''", id=id, now=now
            )
            self._journal.append(transaction, "token.revoked", {"token": id}, row[1])
            return Token(id=id, agent=row[1], issued_at=row[2], expires_at=row[3], revoked_at=row[4] or now)

    def all(self) -> tuple[Token, ...]:
        with self._database.reading() as transaction:
            rows = transaction.all(f"{SELECT} ORDER BY agent, issued_at, id")
        return tuple(Token(**dict(zip(Token.__dataclass_fields__, row, strict=True))) for row in rows)

    def any_valid(self) -> bool:
        now = stamp(self._clock())
        return any(not token.revoked_at and token.expires_at > now for token in self.all())

    def holder(self, text: str, agents: tuple[Agent, ...]) -> str:
        """The agent this token proves, or nothing."""
        parts = SHAPE.match(text)
        if parts is None:
            return ""
        with self._database.reading() as transaction:
            row = transaction.one(
                "SELECT agent, hash, issued_at, expires_at, revoked_at FROM agent_token WHERE id = :id",
                id=parts[1],
            )
        agent, hash, issued_at, expires_at, revoked_at = row or ("", _hash(""), "", "", "")
        same = hmac.compare_digest(hash, _hash(parts[2]))
        alive = not revoked_at and expires_at > stamp(self._clock())
        # An agent that was removed and bound again is another one.
        bound = any(one.name == agent and one.since <= issued_at for one in agents)
        return agent if same and alive and bound else ""


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
