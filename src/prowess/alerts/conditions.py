"""What is so now that people want to be told: agents, servers, quarantine, questions, errors, budgets.

Above: the alert service. Below: the engine's parts, which are only read.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from prowess.alerts.alert import AlertCondition
from prowess.config_alerts import AlertKind, AlertsConfig
from prowess.engine.stopped import in_words
from prowess.engine.use_figures import MADE
from prowess.errors import ConfigError
from prowess.journal import JournalSearch, read, stamp
from prowess.journal.entries import Called, Offered
from prowess.text.counts import counted

if TYPE_CHECKING:
    from prowess.engine.internals import Internals

MAX_READ = 20_000
"""So many of the latest calls and offers are looked at."""
Find = Callable[["Internals", AlertsConfig], Iterator[AlertCondition]]


def conditions(inner: "Internals", config: AlertsConfig) -> tuple[AlertCondition, ...]:
    """Everything that is so now, of what the configuration names."""
    return tuple(one for kind in config.about for one in FINDERS[kind](inner, config))


def local_time(config: AlertsConfig, now: datetime) -> datetime:
    """The time where those are who are told."""
    try:
        return now.astimezone(ZoneInfo(config.timezone) if config.timezone else None)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        remedy = "write one such as Europe/Berlin"
        raise ConfigError("[alerts]", f"there is no timezone {config.timezone!r}", remedy) from None


def _stopped(inner: "Internals", config: AlertsConfig) -> Iterator[AlertCondition]:
    names = [agent.name for agent in inner.policy.agents()]
    with inner.database.reading() as transaction:
        found = [(name, inner.generations.stopped(transaction, name)) for name in names]
    for name, why in found:
        if why:
            text = f"{name} is stopped: {in_words(why)}"
            yield _condition("agent_stopped", name, text, f"/evolution/agent?agent={quote(name)}")


def _down(inner: "Internals", config: AlertsConfig) -> Iterator[AlertCondition]:
    view = inner.world().view
    for name, provider in sorted(view.providers.items()):
        if provider.down and not view.off(name, ""):
            text = f"{name} is down: {provider.down}"
            yield _condition("server_down", name, text, f"/server?name={quote(name)}")


def _held(inner: "Internals", config: AlertsConfig) -> Iterator[AlertCondition]:
    for id, held in sorted(inner.world().view.quarantined.items()):
        if held.state == "waiting":
            text = f"{id} is held back: {held.reason}"
            subject, link = f"{id} {held.digest[:16]}", f"/quarantine/show?id={quote(id)}"
            yield _condition("quarantined", subject, text, link)


def _asked(inner: "Internals", config: AlertsConfig) -> Iterator[AlertCondition]:
    for one in inner.policy.approvals():
        text = f"{one.agent} waits for a yes or no to {one.capability}"
        yield _condition("approval_waiting", one.id, text, f"/approvals#q{one.id}")


def _failing(inner: "Internals", config: AlertsConfig) -> Iterator[AlertCondition]:
    if not config.error_rate:
        return
    since = JournalSearch(since=stamp(inner.clock() - timedelta(minutes=config.error_minutes)))
    known = inner.world().view.capabilities
    made: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for stored in inner.journal.latest(MAX_READ, None, Called.type, None, since):
        entry = read(stored)
        if isinstance(entry, Called) and entry.outcome in MADE and entry.capability in known:
            server = known[entry.capability].provider or known[entry.capability].source
            made[server] += 1
            failed[server] += entry.outcome == "failed"
    for server, number in sorted(made.items()):
        if number >= config.error_calls and failed[server] >= config.error_rate * number:
            within = f"within {counted(config.error_minutes, 'minute')}"
            text = f"{failed[server]} of {counted(number, 'call')} of {server} failed {within}"
            yield _condition("error_rate", server, text, f"/server?name={quote(server)}")


def _spent(inner: "Internals", config: AlertsConfig) -> Iterator[AlertCondition]:
    if not config.tokens_per_day:
        return
    today = local_time(config, inner.clock()).replace(hour=0, minute=0, second=0, microsecond=0)
    since = JournalSearch(since=stamp(today))
    tokens: Counter[str] = Counter()
    for stored in inner.journal.latest(MAX_READ, None, Offered.type, None, since):
        entry = read(stored)
        tokens[stored.chain] += entry.tokens if isinstance(entry, Offered) else 0
    for agent, number in sorted(tokens.items()):
        if number >= config.tokens_per_day:
            text = f"the offers of {agent} took {counted(number, 'token')} today, of {config.tokens_per_day}"
            yield _condition("budget", f"{agent} {today.date()}", text, f"/agent?name={quote(agent)}")


def _condition(kind: AlertKind, subject: str, text: str, link: str) -> AlertCondition:
    return AlertCondition(kind=kind, subject=subject, text=text, link=link)


FINDERS: Mapping[AlertKind, Find] = {
    "agent_stopped": _stopped,
    "server_down": _down,
    "quarantined": _held,
    "approval_waiting": _asked,
    "error_rate": _failing,
    "budget": _spent,
}
