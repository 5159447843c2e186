"""The tables `alert` and `alert_delivery`.

Above: the alert service. Below: the store.
"""

from collections.abc import Iterable, Sequence

from prowess.alerts.alert import Alert, AlertCondition, AlertDelivery
from prowess.store.database import Transaction

FIELDS = "id, kind, subject, text, link, raised_at, ended_at, seen_by"


def open_ones(transaction: Transaction) -> dict[tuple[str, str], str]:
    """(kind, subject) -> the alert that is open about it."""
    rows = transaction.all(
        "SELECT kind, subject, id FROM alert WHERE workspace = :workspace AND ended_at = ''"
    )
    return {(kind, subject): id for kind, subject, id in rows}


def open_again(transaction: Transaction, condition: AlertCondition, since: str, until: str) -> bool:
    """What ended a moment ago and is so again is the same alert, which nobody is told twice.

    until: what ended later than this was ended by a clock that was wrong.
    """
    row = transaction.one(
        "SELECT id FROM alert WHERE workspace = :workspace AND kind = :kind AND subject = :subject"
        " AND ended_at >= :since AND ended_at <= :until ORDER BY raised_at DESC LIMIT 1",
        kind=condition.kind, subject=condition.subject, since=since, until=until,
    )  # fmt: skip
    return row is not None and bool(
        transaction.run("UPDATE alert SET ended_at = '' WHERE workspace = :workspace AND id = :id", id=row[0])
    )


def add(transaction: Transaction, id: str, condition: AlertCondition, now: str, to: Iterable[str]) -> bool:
    """A new alert with what is to be sent; false where another process was faster."""
    added = transaction.run(
        "INSERT INTO alert (workspace, id, kind, subject, text, link, raised_at)"
        " VALUES (:workspace, :id, :kind, :subject, :text, :link, :now) ON CONFLICT DO NOTHING",
        id=id, kind=condition.kind, subject=condition.subject, text=condition.text, link=condition.link,
        now=now,
    )  # fmt: skip
    if added:
        transaction.many(
            "INSERT INTO alert_delivery (workspace, alert, channel, next_at)"
            " VALUES (:workspace, :alert, :channel, '')",
            ({"alert": id, "channel": channel} for channel in to),
        )
    return bool(added)


def end(transaction: Transaction, id: str, now: str) -> bool:
    return bool(
        transaction.run(
            "UPDATE alert SET ended_at = :now WHERE workspace = :workspace AND id = :id AND ended_at = ''",
            id=id, now=now,
        )
    )  # fmt: skip


def see(transaction: Transaction, id: str, by: str) -> bool:
    return bool(
        transaction.run(
            "UPDATE alert SET seen_by = :by WHERE workspace = :workspace AND id = :id", id=id, by=by
        )
    )


def forget(transaction: Transaction, before: str) -> None:
    """What ended before a time, with what was sent of it."""
    transaction.run(
        "DELETE FROM alert_delivery WHERE workspace = :workspace AND alert IN (SELECT id FROM alert"
        " WHERE workspace = :workspace AND ended_at <> '' AND ended_at < :before)",
        before=before,
    )
    transaction.run(
        "DELETE FROM alert WHERE workspace = :workspace AND ended_at <> '' AND ended_at < :before",
        before=before,
    )


def take(transaction: Transaction, channel: str, due: Sequence[str], now: str, until: str) -> tuple[str, ...]:
    """Those of the due alerts on a channel, held for us until a time: nobody else sends them meanwhile.

    What is held for longer than that, a clock that was wrong has held.
    """
    rows = transaction.among(
        "UPDATE alert_delivery SET held_until = :until, attempts = attempts + 1"
        " WHERE workspace = :workspace AND channel = :channel AND state = 'waiting' AND alert IN (:listed)"
        " AND (held_until <= :now OR held_until > :until) RETURNING alert",
        due, channel=channel, now=now, until=until,
    )  # fmt: skip
    return tuple(sorted(id for (id,) in rows))


def note_sent(transaction: Transaction, channel: str, ids: Sequence[str]) -> None:
    transaction.many(
        "UPDATE alert_delivery SET state = 'sent', problem = '', held_until = ''"
        " WHERE workspace = :workspace AND alert = :alert AND channel = :channel",
        ({"alert": id, "channel": channel} for id in ids),
    )


def note_failed(
    transaction: Transaction, channel: str, ids: Sequence[str], problem: str, next_at: str
) -> None:
    transaction.many(
        "UPDATE alert_delivery SET problem = :problem, next_at = :next_at, held_until = ''"
        " WHERE workspace = :workspace AND alert = :alert AND channel = :channel",
        ({"alert": id, "channel": channel, "problem": problem, "next_at": next_at} for id in ids),
    )


def attempts(transaction: Transaction, channel: str, ids: Sequence[str]) -> int:
    """How often the one of these that was tried least was tried."""
    found = [one for one in deliveries(transaction) if one[0] in set(ids) and one[1].channel == channel]
    return min((one.attempts for _, one in found), default=1)


def latest(transaction: Transaction, most: int) -> tuple[Alert, ...]:
    """Alerts, those that are open first, then the newest."""
    rows = transaction.all(
        f"SELECT {FIELDS} FROM alert WHERE workspace = :workspace"
        " ORDER BY CASE ended_at WHEN '' THEN 0 ELSE 1 END, raised_at DESC, id LIMIT :most",
        most=most,
    )
    sent: dict[str, list[AlertDelivery]] = {}
    for id, delivery in deliveries(transaction):
        sent.setdefault(id, []).append(delivery)
    return tuple(
        Alert(**dict(zip(FIELDS.split(", "), row, strict=True)), deliveries=tuple(sent.get(row[0], ())))
        for row in rows
    )


def deliveries(transaction: Transaction) -> list[tuple[str, AlertDelivery]]:
    rows = transaction.all(
        "SELECT alert, channel, state, attempts, next_at, problem FROM alert_delivery"
        " WHERE workspace = :workspace ORDER BY alert, channel"
    )
    names = ("channel", "state", "attempts", "next_at", "problem")
    return [(row[0], AlertDelivery(**dict(zip(names, row[1:], strict=True)))) for row in rows]


def unseen(transaction: Transaction) -> int:
    row = transaction.one(
        "SELECT COUNT(*) FROM alert WHERE workspace = :workspace AND ended_at = '' AND seen_by = ''"
    )
    return int(row[0]) if row else 0
