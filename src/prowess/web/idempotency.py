"""Writes that name themselves: sent twice, done once. Owns the table `answered_write`.

A write with an `Idempotency-Key` is noted before it is done and its answer after, so that the same write
is answered the same, also after a restart. One that was begun and never ended (the server died) is not
done again: nobody knows whether it was done, and whoever sent it is told to look.
"""

import re
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256

from starlette.datastructures import Headers

from prowess.errors import Refused
from prowess.journal import Clock, stamp
from prowess.store.database import Database, Transaction

KEPT = timedelta(hours=24)
MOST_KEPT = 1_000
"""How many answers are kept for one person or agent."""
KEY = r"^[A-Za-z0-9._-]{1,200}$"


@dataclass(frozen=True, slots=True)
class Answered:
    status: int
    body: bytes


class Answers:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def begin(self, who: str, key: str, request: bytes) -> Answered | None:
        """What was answered to this write before; nothing when it is to be done now."""
        digest = sha256(request).hexdigest()
        now = self._clock()
        with self._database.writing() as transaction:
            transaction.run(
                "DELETE FROM answered_write WHERE workspace = :workspace AND at < :old", old=stamp(now - KEPT)
            )
            added = transaction.run(
                "INSERT INTO answered_write (workspace, who, key, request, state, status, body, at)"
                " VALUES (:workspace, :who, :key, :request, 'begun', 0, '', :at) ON CONFLICT DO NOTHING",
                who=who, key=key, request=digest, at=stamp(now),
            )  # fmt: skip
            if added:
                _forget_oldest(transaction, who)
                return None
            row = transaction.one(
                "SELECT request, state, status, body FROM answered_write"
                " WHERE workspace = :workspace AND who = :who AND key = :key",
                who=who, key=key,
            )  # fmt: skip
        assert row is not None, "it was there a moment ago, in the same transaction"
        return _replayed(row[0] == digest, row[1], row[2], row[3])

    def end(self, who: str, key: str, answered: Answered) -> None:
        with self._database.writing() as transaction:
            transaction.run(
                "UPDATE answered_write SET state = 'answered', status = :status, body = :body"
                " WHERE workspace = :workspace AND who = :who AND key = :key",
                who=who, key=key, status=answered.status, body=answered.body.decode(),
            )  # fmt: skip

    def drop(self, who: str, key: str) -> None:
        """It was not done: it may be tried again."""
        with self._database.writing() as transaction:
            transaction.run(
                "DELETE FROM answered_write WHERE workspace = :workspace AND who = :who AND key = :key",
                who=who,
                key=key,
            )


def _forget_oldest(transaction: Transaction, who: str) -> None:
    transaction.run(
        "DELETE FROM answered_write WHERE workspace = :workspace AND who = :who AND at <"
        " (SELECT MIN(at) FROM (SELECT at FROM answered_write WHERE workspace = :workspace AND who = :who"
        " ORDER BY at DESC LIMIT :most) AS newest)",
        who=who, most=MOST_KEPT,
    )  # fmt: skip


def _replayed(same: bool, state: str, status: int, body: str) -> Answered:
    if not same:
        raise Refused(409, "this Idempotency-Key was used for another request", "use a new key")
    if state == "begun":
        what = "the same write is being done, or was interrupted"
        raise Refused(409, what, "wait and ask again; if it stays so, look whether it was done")
    return Answered(status, body.encode())


def key_in(headers: Headers) -> str:
    """The key a write names itself by, if it does."""
    key = headers.get("idempotency-key")
    if key is not None and not re.match(KEY, key):
        raise Refused(422, "this Idempotency-Key cannot be used", "use letters, digits, '.', '_' and '-'")
    return key or ""
