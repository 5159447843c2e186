"""What was begun, so that nothing is done twice and nothing that was cut off is hidden. Owns `call`.

Above: the calls, and the doctor. Below: the store. A call that may have an effect is written down before it
is made, in the transaction that decides on it, and taken out when its end is recorded; what is left over was
cut off, and a person must look. A call with a key keeps its result until it expires, and the same key answers
with it.
"""

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from prowess.errors import NotFound
from prowess.journal import stamp
from prowess.store.database import Row, Transaction

MAX_RESULT_CHARACTERS = 1_000_000
"""A longer result of a call with a key is not kept; a further call is told so."""
TOO_LONG = "too long"

_COLUMNS = "id, agent, capability, key, arguments, process, begun_at, ended_at, result"


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A call that was begun."""

    id: str  # names the call in the journal
    agent: str  # who called
    capability: str  # what was called
    key: str = ""  # what the caller names it by, so that a retry is safe
    arguments: str = ""  # the digest of what it was called with
    process: str = ""  # the process that makes it, as host:number
    begun_at: str = ""  # when
    ended_at: str = ""  # when its end was recorded; empty where it was not
    result: str = ""  # how it ended, where it has a key


@dataclass(frozen=True, slots=True)
class Intents:
    clock: Callable[[], datetime]
    keep: timedelta
    """How long the result of a call with a key is kept."""
    patience: timedelta
    """How long a call may take."""

    def begin(self, transaction: Transaction, intent: Intent) -> bool:
        """Write it down before it is made; false where somebody else is making the call with this key."""
        if intent.key:  # what has expired makes room for the same key
            transaction.run(
                "DELETE FROM call WHERE workspace = :workspace AND ended_at <> '' AND ended_at < :before",
                before=stamp(self.clock() - self.keep),
            )
        added = transaction.run(
            "INSERT INTO call (workspace, id, agent, capability, key, arguments, process, begun_at)"
            " VALUES (:workspace, :id, :agent, :capability, :key, :arguments, :process, :at)"
            " ON CONFLICT DO NOTHING",
            id=intent.id, agent=intent.agent, capability=intent.capability, key=intent.key,
            arguments=intent.arguments, process=this_process(), at=stamp(self.clock()),
        )  # fmt: skip
        return added > 0

    def end(self, transaction: Transaction, intent: Intent, result: str) -> None:
        """It has ended, and is done with, but for a result that its key answers with."""
        if not intent.key:
            self._take_out(transaction, intent.id)
            return
        kept = result if len(result) <= MAX_RESULT_CHARACTERS else TOO_LONG
        transaction.run(
            "UPDATE call SET ended_at = :at, result = :result WHERE workspace = :workspace AND id = :id",
            id=intent.id, at=stamp(self.clock()), result=kept,
        )  # fmt: skip

    def undo(self, transaction: Transaction, id: str) -> None:
        """It was not made after all: its key is free again."""
        self._take_out(transaction, id)

    def keyed(self, transaction: Transaction, agent: str, key: str) -> Intent | None:
        """The call that this agent made with this key, if its result is still kept."""
        row = transaction.one(
            f"SELECT {_COLUMNS} FROM call WHERE workspace = :workspace AND agent = :agent AND key = :key"
            " AND (ended_at = '' OR ended_at >= :since)",
            agent=agent, key=key, since=stamp(self.clock() - self.keep),
        )  # fmt: skip
        return _intent(row) if row else None

    def open(self, transaction: Transaction) -> tuple[Intent, ...]:
        """What has no end and was cut off: its process is gone, or it has taken longer than any call may."""
        rows = transaction.all(
            f"SELECT {_COLUMNS} FROM call WHERE workspace = :workspace AND ended_at = ''"
            " ORDER BY begun_at, id"
        )
        late = stamp(self.clock() - self.patience)
        return tuple(one for one in map(_intent, rows) if one.begun_at < late or _is_gone(one.process))

    def settle(self, transaction: Transaction, id: str) -> Intent:
        """A person has found out what came of it: it is no longer open, and its key is free."""
        row = transaction.one(
            f"SELECT {_COLUMNS} FROM call WHERE workspace = :workspace AND id = :id AND ended_at = ''", id=id
        )
        if row is None:
            raise NotFound("open call", id, see="see: prowess calls")
        self._take_out(transaction, id)
        return _intent(row)

    def _take_out(self, transaction: Transaction, id: str) -> None:
        transaction.run("DELETE FROM call WHERE workspace = :workspace AND id = :id", id=id)


def _intent(row: Row) -> Intent:
    id, agent, capability, key, arguments, process, begun_at, ended_at, result = row
    return Intent(
        id=id, agent=agent, capability=capability, key=key, arguments=arguments, process=process,
        begun_at=begun_at, ended_at=ended_at, result=result,
    )  # fmt: skip


def this_process() -> str:
    """The name of this process among those of all machines."""
    return f"{socket.gethostname()}:{os.getpid()}"


def _is_gone(process: str) -> bool:
    """Whether a process of this machine has ended; of another machine nobody here knows."""
    host, _, number = process.rpartition(":")
    if host != socket.gethostname() or not number.isdigit():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
