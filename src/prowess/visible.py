"""What exists for an agent and what it may use.

Above: the world. Below: the policy and the view. Of a catalogue that is looked up rather than held, the same
is worked out for those that somebody asks for, in a small view of them and of what they need.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from prowess.catalogue.stored import PagedCapabilities
from prowess.catalogue.view import View
from prowess.policy.snapshot import PolicySnapshot
from prowess.sources.learned import NAME as LEARNT
from prowess.types import Capability

MOST_SEEN = 5000
"""Capabilities that a view remembers to have shown."""


def visible_of(view: View, policy: PolicySnapshot, asked: "VisibleTo") -> View:
    """The view of an agent: what is denied is not in it, and its names are in nothing that is."""
    if isinstance(view.capabilities, PagedCapabilities):
        return replace(view, capabilities=VisibleCapabilities(view, view.capabilities, policy, asked))
    return replace(view, capabilities=_in_memory(view, policy, asked))


@dataclass(frozen=True, slots=True)
class VisibleTo:
    """Who looks, and through what."""

    agent: str
    authenticated: bool
    over_mcp: bool


class VisibleCapabilities(PagedCapabilities):
    """What an agent may use of what is looked up."""

    def __init__(
        self, view: View, existing: PagedCapabilities, policy: PolicySnapshot, asked: VisibleTo
    ) -> None:
        self.view = view
        self.policy = policy
        self.asked = asked
        self._existing = existing
        self._seen: dict[str, Capability] = {}

    def several(self, ids: Collection[str]) -> dict[str, Capability]:
        """What was looked at once stays as it was, as everything does in a view."""
        found = {id: self._seen[id] for id in ids if id in self._seen}
        missing = [id for id in ids if id not in found]
        return {**found, **self.among(self._existing.several(missing))} if missing else found

    def of_kind(self, kind: str) -> Mapping[str, Capability]:
        return self.among(self._existing.of_kind(kind))

    def called(self, names: Collection[str]) -> dict[str, str]:
        found = self._existing.called(names)
        usable = self.several({*found.values()})
        return {name: id for name, id in found.items() if id in usable}

    def namesakes(self, name: str) -> Mapping[str, Capability]:
        return self.among(self._existing.namesakes(name))

    def pages(self, after: str = "") -> Iterator[dict[str, Capability]]:
        for page in self._existing.pages(after):
            yield self.among(page)

    def __len__(self) -> int:
        """Of everything: how many of them this agent may use is for a search to say."""
        return len(self._existing)

    def among(self, some: Mapping[str, Capability]) -> dict[str, Capability]:
        """Of some that exist, what the agent may use."""
        names = {name for each in some.values() for name in each.required_tools}
        needed = self._existing.several({*self._existing.tool_ids(names).values()})
        small = replace(self.view, capabilities={**needed, **some})
        seen = _in_memory(small, PolicySnapshot(self.policy.rules, self.policy.standing, small), self.asked)
        found = {id: seen[id] for id in some if id in seen}
        if len(self._seen) > MOST_SEEN:
            self._seen = {}
        self._seen.update(found)
        return found


def _in_memory(view: View, policy: PolicySnapshot, asked: VisibleTo) -> dict[str, Capability]:
    agent = asked.agent
    reach = policy.allowed(agent, asked.authenticated)
    if asked.over_mcp:
        reach = reach.without(policy.kept_from_mcp(agent))
    allowed = {id: c for id, c in view.active(agent).items() if id in reach.allow or id in reach.ask}
    lacking = [id for id, c in allowed.items() if c.provider == LEARNT and not _has_every_step(c, allowed)]
    for id in lacking:
        del allowed[id]
    needy = [c for c in allowed.values() if c.required_tools]
    seen = {**allowed, **{c.id: _without_denied_names(c, view, allowed) for c in needy}}
    for id, conditions in policy.conditions(agent).items():
        if id in seen:
            seen[id] = _with_conditions(seen[id], conditions)
    return seen


def _with_conditions(capability: Capability, conditions: Sequence[str]) -> Capability:
    """What a call's arguments must be is part of what it is to this agent, on every face."""
    said = f"{capability.description.rstrip()} (Policy: {'; '.join(conditions)}.)"
    return replace(capability, description=said)


def _has_every_step(capability: Capability, allowed: Mapping[str, Capability]) -> bool:
    """A skill of several steps is for whoever may use every one of them."""
    return set(capability.required_tools) <= allowed.keys()


def _without_denied_names(
    capability: Capability, view: View, allowed: Mapping[str, Capability]
) -> Capability:
    """What an allowed capability requires may be denied, and then its name is not the agent's to read."""
    needed = {tool: view.tool_id(tool) for tool in capability.required_tools}
    denied = [tool for tool, id in needed.items() if id and id not in allowed]
    if not denied:
        return capability
    kept = tuple(tool for tool in capability.required_tools if tool not in denied)
    reasons = tuple(r for r in capability.unavailable if not any(tool in r for tool in denied))
    if len(reasons) < len(capability.unavailable):
        reasons = (*reasons, "something it requires is unavailable")
    return replace(capability, required_tools=kept, unavailable=reasons)
