"""What happened with cards: every selection in the journal, the rate of the last day, what people said.

Above: `carding`. Below: the store. The rate is kept by the minute, so that the kill switch sums at most
1,440 rows whatever the traffic; the journal holds every turn by itself.
"""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec

from prowess.cards.weights import CardWeights
from prowess.errors import NotFound
from prowess.journal import Clock, Journal, JournalPosition, stamp
from prowess.journal.between_turns import CardDropped, CardKept, CardReviewed, CardsFitted, CardsResumed
from prowess.journal.entries import CardsSelected
from prowess.sources.stored_cards import drop, keep
from prowess.store.database import Database, Transaction
from prowess.types import JournalEntry, JsonObject

SELECTED = CardsSelected.type
MINUTE = 16
"""How much of a time as text names its minute."""
LOOKED_THROUGH = 10_000


class InjectionRate(NamedTuple):
    """How many turns there were in the window and how many got a card, and the weights of the last fit."""

    turns: int = 0
    injecting: int = 0
    weights: CardWeights | None = None

    def is_stopped(self, threshold: float, fewest: int) -> bool:
        """Whether so many turns got a card that something must be wrong."""
        return self.turns >= fewest and self.injecting > threshold * self.turns


NO_RATE = InjectionRate()


class CardHistory:
    def __init__(self, database: Database, journal: Journal, clock: Clock) -> None:
        self.database = database
        self.journal = journal
        self._clock = clock

    def rate(self, hours: int) -> InjectionRate:
        with self.database.reading() as transaction:
            return read_rate(transaction, self._clock(), hours)

    def write(self, transaction: Transaction, chosen: CardsSelected, agent: str, is_counted: bool) -> None:
        """Journal a selection; unless it was only watched, it counts for the rate."""
        if is_counted:
            _count(transaction, stamp(self._clock())[:MINUTE], bool(chosen.injected))
        self.journal.append(transaction, chosen, agent)

    def resume(self, by: str) -> None:
        """Start the rate anew; the journal keeps what was."""
        with self.database.writing() as transaction:
            transaction.run("DELETE FROM card_rate WHERE workspace = :workspace")
            self.journal.append(transaction, CardsResumed(by=by))

    def selections(
        self, limit: int = LOOKED_THROUGH, before: JournalPosition | None = None
    ) -> tuple[JournalEntry, ...]:
        return self.journal.latest(limit, type=SELECTED, before=before)

    def between(
        self, type: str, since: datetime | None = None, until: datetime | None = None
    ) -> tuple[JournalEntry, ...]:
        """What happened of one type, from one time on and before another; of very many, the newest."""
        first = _stamped(since) if since else ""
        end = JournalPosition(_stamped(until), "", 0) if until else None
        found = self.journal.latest(LOOKED_THROUGH, type=type, before=end)
        return tuple(entry for entry in found if entry.at >= first)

    def selection(self, id: str) -> JsonObject:
        entries = self.selections()
        found = [entry.data for entry in entries if str(entry.data["selection"]).startswith(id)]
        if not id or len(found) != 1:
            known = [str(entry.data["selection"]) for entry in entries]
            raise NotFound("selection", id, known, "see: prowess cards review")
        return found[0]

    def review(self, selection: str, card: str, relevant: bool, by: str) -> None:
        """Remember what a person said; a second opinion takes the place of the first."""
        at = stamp(self._clock())
        with self.database.writing() as transaction:
            transaction.run(
                "INSERT INTO card_review (workspace, selection, card, relevant, at)"
                " VALUES (:workspace, :selection, :card, :relevant, :at)"
                " ON CONFLICT (workspace, selection, card)"
                " DO UPDATE SET relevant = excluded.relevant, at = excluded.at",
                selection=selection, card=card, relevant=int(relevant), at=at,
            )  # fmt: skip
            entry = CardReviewed(selection=selection, card=card, relevant=relevant, by=by)
            self.journal.append(transaction, entry)

    def reviews(self) -> Mapping[tuple[str, str], bool]:
        """(selection, card) -> whether a person found the card relevant."""
        with self.database.reading() as transaction:
            rows = transaction.all(
                "SELECT selection, card, relevant FROM card_review WHERE workspace = :workspace"
            )
        return {(selection, card): bool(relevant) for selection, card, relevant in rows}

    def keep_card(self, text: str) -> str:
        at = stamp(self._clock())
        with self.database.writing() as transaction:
            name = keep(transaction, text, at)
            self.journal.append(transaction, CardKept(card=name))
        return name

    def drop_card(self, name: str) -> None:
        with self.database.writing() as transaction:
            drop(transaction, name)
            self.journal.append(transaction, CardDropped(card=name))

    def keep_weights(self, weights: CardWeights, labels: int) -> None:
        text = msgspec.json.encode(weights).decode()
        at = stamp(self._clock())
        with self.database.writing() as transaction:
            transaction.run(
                "INSERT INTO card_fit (workspace, number, at, weights, labels)"
                " SELECT :workspace, COALESCE(MAX(number), 0) + 1, :at, :weights, :labels FROM card_fit"
                " WHERE workspace = :workspace",
                at=at, weights=text, labels=labels,
            )  # fmt: skip
            self.journal.append(transaction, CardsFitted(weights=asdict(weights), labels=labels))


def _stamped(moment: datetime) -> str:
    """As the journal writes it; at both ends of time there is none in another zone."""
    try:
        return stamp(moment)
    except (OverflowError, ValueError):
        return moment.replace(tzinfo=None).isoformat()


def read_rate(transaction: Transaction, now: datetime, hours: int) -> InjectionRate:
    rate = transaction.one(
        "SELECT COALESCE(SUM(turns), 0), COALESCE(SUM(injecting), 0) FROM card_rate"
        " WHERE workspace = :workspace AND minute > :since",
        since=stamp(now - timedelta(hours=hours))[:MINUTE],
    )
    fitted = transaction.one(
        "SELECT weights FROM card_fit WHERE workspace = :workspace ORDER BY number DESC LIMIT 1"
    )
    turns, injecting = rate or (0, 0)
    weights = msgspec.json.decode(fitted[0], type=CardWeights) if fitted else None
    return InjectionRate(int(turns), int(injecting), weights)


def _count(transaction: Transaction, minute: str, injecting: bool) -> None:
    transaction.run(
        "INSERT INTO card_rate (workspace, minute, turns, injecting)"
        " VALUES (:workspace, :minute, 1, :injecting)"
        " ON CONFLICT (workspace, minute) DO UPDATE SET turns = card_rate.turns + 1,"
        " injecting = card_rate.injecting + excluded.injecting",
        minute=minute, injecting=int(injecting),
    )  # fmt: skip
