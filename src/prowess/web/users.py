"""People: what proves who somebody is. Owns the table `person_pass`.

A pass is a token (for programs, until it is revoked), a link (signs somebody in once) or a session (a
browser's cookie). Its text is `prowess_KIND_ID_SECRET`, with `@WORKSPACE` unless that is the
default one: the id finds the row, the secret is compared by its hash in constant time; it is random
and long, so a plain hash cannot be searched. What was opened with a token ends with it.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, TypeAlias

from prowess.errors import NotFound, Refused
from prowess.journal import Clock, Journal, stamp
from prowess.journal.entries import PersonAdmitted, PersonEnded
from prowess.operations.person import ORDER, Person, Role
from prowess.store.database import Database, Row, Transaction
from prowess.store.token_workspace import with_workspace, within

Kind: TypeAlias = Literal["token", "link", "session"]

ROLES = ORDER[1:]
LASTS = {"token": timedelta(days=90), "link": timedelta(minutes=30), "session": timedelta(hours=12)}
SHAPE = re.compile(r"prowess_(token|link|session)_([0-9a-f]{16})_([A-Za-z0-9_-]{20,128})\Z")
KEPT_AFTER_ITS_END = timedelta(days=90)

SELECT = (
    "SELECT id, kind, name, role, issued_at, expires_at, ended_at, parent FROM person_pass"
    " WHERE workspace = :workspace"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """What may be shown of a pass: everything but the pass."""

    id: str
    kind: str
    name: str
    role: Role
    issued_at: str
    expires_at: str
    ended_at: str = ""
    parent: str = ""


@dataclass(frozen=True, slots=True)
class IssuedPass:
    person_pass: Pass
    text: str
    """The pass itself: shown once, kept nowhere."""


class Users:
    def __init__(self, database: Database, journal: Journal, clock: Clock) -> None:
        self._database = database
        self._journal = journal
        self._clock = clock

    def issue(
        self,
        name: str,
        role: Role,
        kind: Kind = "token",
        lasts: timedelta | None = None,
        by: str = "a person",
    ) -> IssuedPass:
        """A new pass for somebody."""
        if not name.strip() or not name.isprintable():
            raise Refused(422, f"{name!r} is not a name", "give a name of printable characters")
        with self._database.writing() as transaction:
            return self._issue(transaction, name, role, kind, lasts or LASTS[kind], by)

    def sign_in(self, text: str) -> IssuedPass | None:
        """A session for whoever holds this token or link; a link serves once."""
        with self._database.writing() as transaction:
            held = self._held(transaction, text, ("token", "link"))
            if held is None:
                return None
            if held.kind == "link" and not self._end(transaction, held.id):
                return None  # somebody else was quicker
            name, role = held.name, held.role
            parent = held.id if held.kind == "token" else ""
            return self._issue(transaction, name, role, "session", LASTS["session"], name, parent)

    def person(self, text: str, kind: Kind) -> Person | None:
        """Who a pass of this kind proves."""
        with self._database.reading() as transaction:
            held = self._held(transaction, text, (kind,))
        return Person(held.name, held.role, held.id) if held else None

    def proves(self, text: str, kinds: tuple[Kind, ...]) -> bool:
        """Whether it is a valid pass of one of these kinds; a link stays as good as it was."""
        with self._database.reading() as transaction:
            return self._held(transaction, text, kinds) is not None

    def is_current(self, person: Person) -> bool:
        """Whether what proved who somebody is still does."""
        if person.expires_at:
            return person.expires_at > stamp(self._clock())
        return self.is_valid(person.pass_id)

    def is_valid(self, id: str) -> bool:
        with self._database.reading() as transaction:
            row = transaction.one(
                "SELECT ended_at, expires_at FROM person_pass WHERE workspace = :workspace AND id = :id",
                id=id,
            )
        return row is not None and not row[0] and row[1] > stamp(self._clock())

    def end(self, id: str, by: str) -> Pass:
        """Make a pass worthless, and every session that was opened with it."""
        with self._database.writing() as transaction:
            row = transaction.one(f"{SELECT} AND id = :id", id=id)
            if row is None:
                raise NotFound("token", id, see="see: prowess access-token list")
            held = _pass(row)
            self._end(transaction, id)
            now = stamp(self._clock())
            transaction.run(
                "UPDATE person_pass SET ended_at = :now"
                " WHERE workspace = :workspace AND parent = :id AND ended_at = ''",
                id=id,
                now=now,
            )
            ended = PersonEnded(id=id, kind=held.kind, name=held.name, by=by)
            self._journal.append(transaction, ended)
        return held

    def tokens(self) -> tuple[Pass, ...]:
        with self._database.reading() as transaction:
            rows = transaction.all(f"{SELECT} AND kind = 'token' ORDER BY name, issued_at, id")
        return tuple(_pass(row) for row in rows)

    def any_valid(self) -> bool:
        now = stamp(self._clock())
        return any(not token.ended_at and token.expires_at > now for token in self.tokens())

    def _issue(
        self, transaction: Transaction, name: str, role: Role, kind: Kind, lasts: timedelta, by: str,
        parent: str = "",
    ) -> IssuedPass:  # fmt: skip
        id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
        now = self._clock()
        expires = stamp(now + lasts)
        transaction.run(
            "INSERT INTO person_pass"
            " (workspace, id, kind, name, role, hash, parent, issued_at, expires_at, ended_at)"
            " VALUES (:workspace, :id, :kind, :name, :role, :hash, :parent, :issued_at, :expires_at, '')",
            id=id, kind=kind, name=name, role=role, hash=_hash(secret), parent=parent,
            issued_at=stamp(now), expires_at=expires,
        )  # fmt: skip
        transaction.run(
            "DELETE FROM person_pass WHERE workspace = :workspace AND expires_at < :old",
            old=stamp(now - KEPT_AFTER_ITS_END),
        )
        admitted = PersonAdmitted(id=id, kind=kind, name=name, role=role, expires_at=expires, by=by)
        self._journal.append(transaction, admitted)
        issued = Pass(id=id, kind=kind, name=name, role=role, issued_at=stamp(now), expires_at=expires)
        text = with_workspace(f"prowess_{kind}_{id}_{secret}", self._database.workspace)
        return IssuedPass(issued, text)

    def _held(self, transaction: Transaction, text: str, kinds: tuple[Kind, ...]) -> Pass | None:
        parts = SHAPE.match(within(text, self._database.workspace))
        if parts is None or parts[1] not in kinds:
            return None
        row = transaction.one(
            "SELECT id, kind, name, role, issued_at, expires_at, ended_at, parent, hash FROM person_pass"
            " WHERE workspace = :workspace AND id = :id AND kind = :kind", id=parts[2], kind=parts[1],
        )  # fmt: skip
        same = hmac.compare_digest(row[8] if row else _hash(""), _hash(parts[3]))
        if row is None or not same:
            return None
        held = _pass(row)
        return held if not held.ended_at and held.expires_at > stamp(self._clock()) else None

    def _end(self, transaction: Transaction, id: str) -> bool:
        now = stamp(self._clock())
        ended = transaction.run(
            "UPDATE person_pass SET ended_at = :now"
            " WHERE workspace = :workspace AND id = :id AND ended_at = ''",
            id=id,
            now=now,
        )
        return ended == 1


def _pass(row: Row) -> Pass:
    id, kind, name, role, issued_at, expires_at, ended_at, parent = row[:8]
    return Pass(
        id=id, kind=kind, name=name, role=role, issued_at=issued_at, expires_at=expires_at,
        ended_at=ended_at, parent=parent,
    )  # fmt: skip


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
