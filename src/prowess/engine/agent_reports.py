"""What a person wants to know of an agent: what it may use, what it uses, what failed, and what it lacked.

Above: the operation `agents.report` and the agent's page. Below: one world, and the journal.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prowess.engine.use_figures import RecordedUse, UseFigures, figures, recorded_uses
from prowess.journal import read
from prowess.journal.entries import Offered, Searched
from prowess.text.redaction import redacted

if TYPE_CHECKING:
    from prowess.engine.internals import Internals

MAX_USES = 5_000
MAX_OFFERS = 2_000
MAX_LISTED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityUse:
    """What an agent made of one capability."""

    capability: str
    use: UseFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReport:
    agent: str
    profile: str
    parent: str
    may: int
    """How much it may use at once, of `exists`; what a person is asked about counts in `asks`."""
    asks: int
    exists: int
    use: UseFigures
    offers: int
    """Of the latest 2,000."""
    tokens: int
    """What those offers cost together."""
    top: tuple[CapabilityUse, ...]
    """The most used first."""
    slowest: tuple[CapabilityUse, ...]
    failing: tuple[CapabilityUse, ...]
    unused: int
    """How much it may use and was never seen to."""
    unused_first: tuple[str, ...]
    found_nothing: tuple[str, ...]
    """The latest requests that nothing was found for."""
    recent: tuple[RecordedUse, ...]


def agent_report(inner: "Internals", agent: str) -> AgentReport:
    """What the latest entries of its journal and today's rules say of an agent."""
    world = inner.world(agent)
    allowed = world.policy.allowed(agent, True)
    existing = world.view.capabilities
    may = sorted(id for id in allowed.allow | allowed.ask if id in existing)
    uses = recorded_uses(inner.history, MAX_USES, agent)
    by_capability = _by_capability(uses)
    unused = [id for id in may if id not in {one.capability for one in uses}]
    offers = [read(one) for one in inner.history.latest(MAX_OFFERS, agent, Offered.type)[::-1]]
    made = [one for one in offers if isinstance(one, Offered)]
    searches = [read(one) for one in inner.history.latest(MAX_OFFERS, agent, Searched.type)[::-1]]
    empty = [one.request for one in made if one.request and not one.hits]
    empty += [one.query for one in searches if isinstance(one, Searched) and one.query and not one.hits]
    bound = next((one for one in inner.policy.agents() if one.name == agent), None)
    timed = [one for one in by_capability if one.use.median is not None]
    return AgentReport(
        agent=agent,
        profile=bound.profile if bound else "",
        parent=bound.parent if bound else "",
        may=sum(id in existing for id in allowed.allow),
        asks=sum(id in existing for id in allowed.ask),
        exists=len(existing),
        use=figures(uses),
        offers=len(made),
        tokens=sum(one.tokens for one in made),
        top=_first(by_capability, lambda one: one.calls),
        slowest=_first(timed, lambda one: one.median or 0.0),
        failing=_first([one for one in by_capability if one.use.failed], lambda one: one.failed),
        unused=len(unused),
        unused_first=tuple(unused[:MAX_LISTED]),
        found_nothing=tuple(dict.fromkeys(map(redacted, empty[: 10 * MAX_LISTED])))[:MAX_LISTED],
        recent=uses[: 2 * MAX_LISTED],
    )


def _by_capability(uses: Sequence[RecordedUse]) -> list[CapabilityUse]:
    found: dict[str, list[RecordedUse]] = {}
    for one in uses:
        found.setdefault(one.capability, []).append(one)
    return [CapabilityUse(capability=id, use=figures(own)) for id, own in found.items()]


def _first(found: Sequence[CapabilityUse], by: Callable[[UseFigures], float]) -> tuple[CapabilityUse, ...]:
    ordered = sorted(found, key=lambda one: (-by(one.use), one.capability))
    return tuple(one for one in ordered if by(one.use))[:MAX_LISTED]
