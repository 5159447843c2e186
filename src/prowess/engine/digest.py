"""What happened in a week, for somebody who did not look: use, what was wrong, what changed, what was learnt.

Above: the operations on digests, which show and send it. Below: the journal, and the reports on agents.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from prowess.engine.use_figures import RecordedUse, UseFigures, figures, recorded_uses
from prowess.journal import JournalSearch, read, stamp
from prowess.journal.between_turns import AlertRaised
from prowess.journal.entries import (
    ConfigurationChanged,
    Offered,
    PolicyChanged,
    QuarantineApproved,
    Quarantined,
    Synced,
)
from prowess.text.counts import counted
from prowess.text.redaction import redacted

if TYPE_CHECKING:
    from prowess.engine.internals import Internals

MAX_READ = 10_000
MAX_LISTED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentWeek:
    agent: str
    offers: int
    tokens: int
    use: UseFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedUse:
    """What was made of one capability, or one server."""

    name: str
    use: UseFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    since: str
    """The beginning of the first day, and of today."""
    until: str
    offers: int
    tokens: int
    use: UseFigures
    agents: tuple[AgentWeek, ...]
    """The busiest first."""
    top: tuple[NamedUse, ...]
    failing: tuple[NamedUse, ...]
    slow: tuple[NamedUse, ...]
    found_nothing: tuple[str, ...]
    """Requests that nothing was found for, the most frequent first."""
    alerts: tuple[str, ...]
    changes: tuple[str, ...]
    """What people changed in the policy and in prowess.toml."""
    added: int
    """How much was new in the catalogue, and how much went."""
    removed: int
    held: int
    approved: int


def digest(inner: "Internals", days: int = 7) -> Digest:
    """What the journal says of the last days.

    days: how many.
    """
    today = inner.clock().replace(hour=0, minute=0, second=0, microsecond=0)
    since = stamp(today - timedelta(days=days))
    uses = recorded_uses(inner.history, MAX_READ, None, since)
    offers = [(chain, one) for chain, one in _entries(inner, Offered.type, since) if isinstance(one, Offered)]
    synced = [one for _, one in _entries(inner, Synced.type, since) if isinstance(one, Synced)]
    capabilities = _grouped((one.capability, one) for one in uses)
    empty = Counter(redacted(one.request) for _, one in offers if one.request and not one.hits)
    timed = [one for one in capabilities if one.use.median is not None]
    return Digest(
        since=since,
        until=stamp(today),
        offers=len(offers),
        tokens=sum(one.tokens for _, one in offers),
        use=figures(uses),
        agents=_agents(uses, offers),
        top=_first(capabilities, [one.use.calls for one in capabilities]),
        failing=_first(capabilities, [one.use.failed for one in capabilities]),
        slow=_first(timed, [one.use.median or 0.0 for one in timed]),
        found_nothing=tuple(text for text, _ in empty.most_common(MAX_LISTED)),
        alerts=_alerts(inner, since),
        changes=_changes(inner, since),
        added=sum(len(one.added) for one in synced),
        removed=sum(len(one.removed) for one in synced),
        held=len(_entries(inner, Quarantined.type, since)),
        approved=len(_entries(inner, QuarantineApproved.type, since)),
    )


def letter(found: Digest, address: str = "") -> str:
    """The same as a text that can be sent.

    address: of the dashboard, if there is one that others reach.
    """
    lines = [
        f"{found.since[:10]} to {found.until[:10]}",
        "",
        f"{counted(found.offers, 'offer')} with {counted(found.tokens, 'token')},"
        f" {counted(found.use.calls, 'call')}, {counted(found.use.failed, 'error')},"
        f" {found.use.denied} denied",
        *_section("Agents", [_of_agent(one) for one in found.agents[:MAX_LISTED]]),
        *_section("Most used", [_of_use(one) for one in found.top]),
        *_section("Failing", [f"{_of_use(one)}, {one.use.failed} failed" for one in found.failing]),
        *_section("Slowest", [f"{one.name}: {one.use.median:.0f} ms" for one in found.slow]),
        *_section("Found nothing", found.found_nothing),
        *_section("Alerts", found.alerts),
        *_section("Changed by people", found.changes),
        "",
        f"In the catalogue: {found.added} new, {found.removed} gone; {found.held} held back,"
        f" {found.approved} approved",
    ]
    return "\n".join([*lines, "", f"{address.rstrip('/')}/digest" if address else "", ""])


def _section(title: str, lines: Iterable[str]) -> list[str]:
    found = [f"  {line}" for line in lines]
    return ["", title, *found] if found else []


def _of_agent(one: AgentWeek) -> str:
    offers, tokens = counted(one.offers, "offer"), counted(one.tokens, "token")
    said = f"{one.agent}: {offers}, {tokens}, {counted(one.use.calls, 'call')}"
    return f"{said}, {one.use.failed} failed" if one.use.failed else said


def _of_use(one: NamedUse) -> str:
    return f"{one.name}: {counted(one.use.calls, 'call')}"


def _entries(inner: "Internals", type: str, since: str) -> list[tuple[str, object]]:
    """(whose, what) of a type since a time, the oldest first."""
    found = inner.history.latest(MAX_READ, None, type, None, JournalSearch(since=since))
    return [(stored.chain, read(stored)) for stored in found]


def _agents(uses: Sequence[RecordedUse], offers: Sequence[tuple[str, Offered]]) -> tuple[AgentWeek, ...]:
    by_agent: dict[str, list[RecordedUse]] = {}
    for one in uses:
        by_agent.setdefault(one.agent, []).append(one)
    count, tokens = Counter(agent for agent, _ in offers), Counter[str]()
    for agent, offer in offers:
        tokens[agent] += offer.tokens
    found = [
        AgentWeek(
            agent=agent, offers=count[agent], tokens=tokens[agent], use=figures(by_agent.get(agent, ()))
        )
        for agent in {*by_agent, *count}
    ]
    return tuple(sorted(found, key=lambda one: (-one.offers - one.use.calls, one.agent)))


def _grouped(pairs: Iterable[tuple[str, RecordedUse]]) -> list[NamedUse]:
    found: dict[str, list[RecordedUse]] = {}
    for name, one in pairs:
        found.setdefault(name, []).append(one)
    return [NamedUse(name=name, use=figures(own)) for name, own in found.items()]


def _first(found: Sequence[NamedUse], by: Sequence[float]) -> tuple[NamedUse, ...]:
    ranked = sorted(zip(found, by, strict=True), key=lambda pair: (-pair[1], pair[0].name))
    return tuple(one for one, value in ranked if value)[:MAX_LISTED]


def _alerts(inner: "Internals", since: str) -> tuple[str, ...]:
    found = [one.text for _, one in _entries(inner, AlertRaised.type, since) if isinstance(one, AlertRaised)]
    return tuple(dict.fromkeys(found))[-MAX_LISTED:]


def _changes(inner: "Internals", since: str) -> tuple[str, ...]:
    said = []
    for _, one in _entries(inner, PolicyChanged.type, since):
        if isinstance(one, PolicyChanged):
            what = "took a change back" if one.undoes else f"{one.profile}: {', '.join(one.changes)}"
            said.append(f"policy, by {one.by}: {what}")
    for _, one in _entries(inner, ConfigurationChanged.type, since):
        if isinstance(one, ConfigurationChanged):
            said.append(f"prowess.toml, by {one.by}: {one.does}")
    return tuple(said[-MAX_LISTED:])
