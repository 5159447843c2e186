"""Alerts: found, raised once, sent until they have arrived, and over when they no longer hold.

Above: the operations, and the watch of a server. Below: the conditions, the channels, the tables. Several
processes may look and send at once: one of them raises an alert, and one sends it.
"""

from dataclasses import replace
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING

from prowess.alerts import table
from prowess.alerts.alert import Alert, AlertCondition, AlertDelivery
from prowess.alerts.channels import AlertChannel, AlertContext, Mail, channels
from prowess.alerts.conditions import conditions, local_time
from prowess.engine.digest import Digest, letter
from prowess.errors import AlertNotSent, ConfigError, NotFound
from prowess.journal import stamp
from prowess.journal.between_turns import AlertEnded, AlertRaised
from prowess.text.counts import counted

if TYPE_CHECKING:
    from prowess.engine.internals import Internals

HELD = timedelta(minutes=2)
"""How long one process has for sending, before another tries."""
FIRST_WAIT = timedelta(seconds=30)
LONGEST_WAIT = timedelta(hours=1)
SAME = timedelta(minutes=10)
"""What was over for no longer is still the same alert."""
KEPT = timedelta(days=90)


class AlertService:
    def __init__(self, inner: "Internals") -> None:
        self._inner = inner
        self.config = inner.options.alerts
        surroundings = AlertContext(inner.database.workspace, self.config.address, inner.environment)
        self.channels: tuple[AlertChannel, ...] = channels(self.config, surroundings)

    def list(self, most: int = 200) -> tuple[Alert, ...]:
        """Alerts, those that still hold first."""
        with self._inner.database.reading() as transaction:
            return table.latest(transaction, most)

    def unseen(self) -> int:
        """How many hold that nobody has seen."""
        with self._inner.database.reading() as transaction:
            return table.unseen(transaction)

    def see(self, id: str, by: str) -> Alert:
        """Somebody has seen it, and takes care of it."""
        with self._inner.database.writing() as transaction:
            if not table.see(transaction, id, by):
                raise NotFound("alert", id, see="see the list of alerts")
            return next(one for one in table.latest(transaction, 1_000_000) if one.id == id)

    def look(self) -> tuple[Alert, ...]:
        """Raise what is so now and was not, end what is over; returns what was raised by us."""
        found: dict[tuple[str, str], AlertCondition] = {
            (one.kind, one.subject): self._safe(one) for one in conditions(self._inner, self.config)
        }
        with self._inner.database.reading() as transaction:
            before = table.open_ones(transaction)
        if before.keys() == found.keys():
            return ()
        now = self._inner.clock()
        names = [channel.name for channel in self.channels]
        raised = []
        with self._inner.database.writing() as transaction:
            before = table.open_ones(transaction)
            for key, condition in found.items():
                if key in before or table.open_again(
                    transaction, condition, stamp(now - SAME), stamp(now + SAME)
                ):
                    continue
                id = self._inner.options.ids()
                if table.add(transaction, id, condition, stamp(now), names):
                    entry = AlertRaised(
                        alert=id, kind=condition.kind, subject=condition.subject, text=condition.text
                    )
                    self._inner.journal.append(transaction, entry)
                    raised.append(id)
            for key, id in before.items():
                if key not in found and table.end(transaction, id, stamp(now)):
                    self._inner.journal.append(transaction, AlertEnded(alert=id, kind=key[0], subject=key[1]))
            table.forget(transaction, stamp(now - KEPT))
            return tuple(one for one in table.latest(transaction, 1000) if one.id in raised)

    def deliver(self) -> int:
        """Send what is due, unless these are quiet hours; returns how many deliveries arrived."""
        if self.is_quiet():
            return 0
        return sum(self._deliver(channel) for channel in self.channels)

    def is_quiet(self) -> bool:
        """Whether nobody wants to be told now."""
        if not self.config.quiet:
            return False
        begin, end = map(time.fromisoformat, self.config.quiet.split("-"))
        now = local_time(self.config, self._inner.clock()).time()
        return begin <= now < end if begin <= end else now >= begin or now < end

    def test(self) -> dict[str, str]:
        """Send a test to every channel now; channel -> what was wrong, empty where it arrived."""
        now = self._inner.clock()
        alert = Alert(
            id="test", kind="test", subject="test", text="this is only a test", link="/alerts",
            raised_at=stamp(now), ended_at=stamp(now),
        )  # fmt: skip
        return {channel.name: _problem(channel, (alert,), now) for channel in self.channels}

    def send_digest(self, found: Digest) -> None:
        """Send what happened by mail. Raises AlertNotSent where it does not arrive."""
        mail = next((channel for channel in self.channels if isinstance(channel, Mail)), None)
        if mail is None:
            what = "names no mail server"
            raise ConfigError("[alerts.mail]", what, "name server, sender and to; see docs/alerts.md")
        count = counted(found.use.calls, "call")
        subject = f"[prowess] {found.since[:10]} to {found.until[:10]}: {count}"
        text = self._inner.use.hidden(letter(found, self.config.address))
        mail.write(subject, text, self._inner.clock())

    def _deliver(self, channel: AlertChannel) -> int:
        database, now = self._inner.database, self._inner.clock()
        with database.reading() as transaction:
            due = [
                id for id, one in table.deliveries(transaction)
                if one.channel == channel.name and one.state == "waiting" and _is_due(one, now)
            ]  # fmt: skip
        if not due:
            return 0
        with database.writing() as transaction:
            ids = table.take(transaction, channel.name, due, stamp(now), stamp(now + HELD))
            tried = table.attempts(transaction, channel.name, ids)
            taken = [one for one in table.latest(transaction, 1_000_000) if one.id in set(ids)]
        if not taken:
            return 0
        problem = _problem(channel, tuple(taken), now)
        with database.writing() as transaction:
            if problem:
                again = stamp(now + _wait_after(tried))
                table.note_failed(transaction, channel.name, ids, problem, again)
                return 0
            table.note_sent(transaction, channel.name, ids)
        return len(ids)

    def _safe(self, condition: AlertCondition) -> AlertCondition:
        """Without credentials: what servers say of themselves is part of it."""
        return replace(condition, text=self._inner.use.hidden(condition.text)[:500])


def _wait_after(attempts: int) -> timedelta:
    """Longer and longer."""
    doubled: int = 2 ** min(max(attempts - 1, 0), 20)
    return min(LONGEST_WAIT, FIRST_WAIT * doubled)


def _is_due(waiting: AlertDelivery, now: datetime) -> bool:
    """Its time has come, or a clock that was wrong has put it off for longer than anything waits."""
    at = waiting.next_at
    return at <= stamp(now) or at > stamp(now + _wait_after(waiting.attempts))


def _problem(channel: AlertChannel, alerts: tuple[Alert, ...], now: datetime) -> str:
    try:
        channel.send(alerts, now)
    except AlertNotSent as error:
        return str(error)
    return ""
