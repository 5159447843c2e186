"""What was shown, given and answered: kept beside the journal, which holds only its hash.

Above: the engine, which keeps what models are shown, and the gateway, which may keep arguments and results.
Below: the store. One content is stored once, whoever refers to it, until it expires; dropping it breaks no
chain. What is handed in has been redacted.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from prowess.journal.entry import Entry
from prowess.journal.journal import Journal, stamp
from prowess.store.database import Database, Transaction

DROPPED_AT_ONCE = 1000
REMEMBERED = 20_000

AlongWith = Callable[[Transaction], object]
"""What is written in the same transaction."""


@dataclass(frozen=True, slots=True)
class Payload:
    """One content, and the hash it is known by."""

    digest: str
    body: str

    @classmethod
    def of(cls, body: str) -> "Payload":
        storable = body.replace("\0", "").encode("utf-8", "replace")
        return cls(hashlib.sha256(storable).hexdigest(), storable.decode())


class Payloads:
    def __init__(self, database: Database, clock: Callable[[], datetime], days: int) -> None:
        self._database = database
        self._clock = clock
        self._days = days
        self._written: dict[str, str] = {}  # digest -> until when it is certainly there
        self._dropped_on = ""

    @property
    def on(self) -> bool:
        """Whether anything is kept at all."""
        return self._days > 0

    def keep(self, transaction: Transaction, payloads: Sequence[Payload]) -> None:
        """Store what is not there yet; what is there is kept for longer."""
        if not payloads:
            return
        today = self._clock()
        until = stamp(today + timedelta(days=self._days))[:10]
        new = {one.digest: one for one in payloads if self._written.get(one.digest) != until}
        transaction.many(
            "INSERT INTO payload (workspace, digest, body, expires_at)"
            " VALUES (:workspace, :digest, :body, :until)"
            " ON CONFLICT (workspace, digest) DO UPDATE SET expires_at = excluded.expires_at"
            " WHERE payload.expires_at < excluded.expires_at",
            ({"digest": one.digest, "body": one.body, "until": until} for one in new.values()),
        )
        self._drop(transaction, stamp(today)[:10])

    def kept(self, payloads: Iterable[Payload]) -> None:
        """The transaction that stored these is committed: until tomorrow they need not be written again."""
        until = stamp(self._clock() + timedelta(days=self._days))[:10]
        if len(self._written) > REMEMBERED:
            self._written = {}
        self._written |= {one.digest: until for one in payloads}

    def record(
        self, journal: Journal, entries: Iterable[Entry], agent: str, payloads: Sequence[Payload] = (),
        along: AlongWith | None = None, flush: bool = True,
    ) -> None:  # fmt: skip
        """Append entries, the contents that they refer to, and what is written along with them."""
        with self._database.writing(flush) as transaction:
            self.keep(transaction, payloads)
            for entry in entries:
                journal.append(transaction, entry, agent)
            if along is not None:  # behind the chain, which everybody locks first
                along(transaction)
        self.kept(payloads)

    def read(self, digests: Iterable[str]) -> dict[str, str]:
        """By digest, what is still there of these."""
        with self._database.reading() as transaction:
            read = "SELECT body FROM payload WHERE workspace = :workspace AND digest = :digest"
            found = {digest: transaction.one(read, digest=digest) for digest in set(digests)}
        return {digest: row[0] for digest, row in found.items() if row}

    def _drop(self, transaction: Transaction, today: str) -> None:
        """What has expired goes, a portion at a time, so that no turn waits for it."""
        if self._dropped_on == today:
            return
        count = transaction.run(
            "DELETE FROM payload WHERE workspace = :workspace AND digest IN (SELECT digest FROM payload"
            " WHERE workspace = :workspace AND expires_at < :today LIMIT :most)",
            today=today, most=DROPPED_AT_ONCE,
        )  # fmt: skip
        if count < DROPPED_AT_ONCE:
            self._dropped_on = today
