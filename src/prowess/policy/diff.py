"""What changes when one profile, or a whole policy, is exchanged for another: who gains, loses and is asked.

Above: `prowess policy diff` and `set`, the API and the dashboard. Below: `resolve`.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from prowess.errors import ProwessError
from prowess.policy.patterns import EVENT, HOST, CatalogueNames, is_own_kind
from prowess.policy.resolve import Resolved, judge, resolve
from prowess.policy.ruleset import NOBODY, EffectiveGrants, RuleSet

Before = tuple[RuleSet, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSide:
    """What only one of the two has."""

    allowed_events: tuple[str, ...] = ()
    host_tools: tuple[str, ...] = ()
    grants: tuple[str, ...] = ()
    review: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    """Those of both lists that a person is asked about."""

    def __bool__(self) -> bool:
        return bool(self.allowed_events or self.host_tools or self.grants or self.review)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileDifference:
    before: str
    after: str
    added: ProfileSide = field(default_factory=ProfileSide)
    removed: ProfileSide = field(default_factory=ProfileSide)
    now_asks: tuple[str, ...] = ()
    """What both allow, and only the later asks a person about."""
    no_longer_asks: tuple[str, ...] = ()
    conditions: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict)
    """What both allow -> what its arguments had to be and have to be, where that differs."""
    limits: Mapping[str, tuple[int | None, int | None]] = field(default_factory=dict)
    """Name -> before and after, where they differ; nothing means no limit."""
    level: tuple[str, str] = ("", "")
    """The caps, where they differ; empty where there is none."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Each grant in `added` or `removed` -> since when and in which version it exists, where it says so."""

    def __bool__(self) -> bool:
        return bool(
            self.added or self.removed or self.now_asks or self.no_longer_asks
            or self.conditions or self.limits or any(self.level)
        )  # fmt: skip

    def lines(self) -> Iterator[str]:
        """One line for each change, for people: `+` where more is allowed, `-` where less is."""
        yield from _side_lines("+ gains", self.added)
        yield from (f"+ no longer asks a person about {name}" for name in self.no_longer_asks)
        yield from _side_lines("- loses", self.removed)
        yield from (f"- now asks a person about {name}" for name in self.now_asks)
        for name, (had, has) in self.conditions.items():
            yield f"~ condition of {name}: {' and '.join(had) or 'none'} -> {' and '.join(has) or 'none'}"
        for name, (old, new) in self.limits.items():
            yield f"~ limit {name}: {_limit(old)} -> {_limit(new)}"
        if any(self.level):
            yield f"~ level: {self.level[0] or 'none'} -> {self.level[1] or 'none'}"
        yield from (f"  grant {name}: {text}" for name, text in self.versions.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySide:
    """A whole policy over what exists where it holds."""

    rules: RuleSet
    names: CatalogueNames
    reviewed: Set[str] = frozenset()
    agents: Mapping[str, str] = field(default_factory=dict)
    """Agent -> its profile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyDifference:
    added: tuple[str, ...]
    """Profiles that only the later has."""
    removed: tuple[str, ...]
    profiles: tuple[ProfileDifference, ...]
    """What differs of those that both have, and what the others come to."""
    agents: Mapping[str, tuple[str, str]]
    """Agent -> its profile before and after, where that differs; empty where it is bound to none."""

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.profiles or self.agents)

    def lines(self) -> Iterator[str]:
        for name in self.added:
            yield f"+ profile {name}"
        for name in self.removed:
            yield f"- profile {name}"
        for one in self.profiles:
            yield f"profile {one.after}"
            yield from (f"  {line}" for line in one.lines())
        for agent, (old, new) in self.agents.items():
            yield f"~ agent {agent}: {old or 'no profile'} -> {new or 'no profile'}"


def diff(
    before: Before, after: Before, names: CatalogueNames, later_names: CatalogueNames | None = None,
    reviewed: tuple[Set[str], Set[str]] = (frozenset(), frozenset()),
) -> ProfileDifference:  # fmt: skip
    """Two profiles, each with the rules it belongs to, over what exists now; or each over its own."""
    old = resolve(*before, names, reviewed[0])
    new = resolve(*after, later_names or names, reviewed[1])
    changed = [*_only(new.grants, old.grants), *_only(old.grants, new.grants)]
    both = {*old.allowed_events, *old.host_tools} & {*new.allowed_events, *new.host_tools}
    limits = {
        name: (old.limits.get(name), new.limits.get(name))
        for name in sorted({*old.limits, *new.limits})
        if old.limits.get(name) != new.limits.get(name)
    }
    return ProfileDifference(
        before=old.profile,
        after=new.profile,
        added=_side(new, old, before[0].holding(before[1])),
        removed=_side(old, new, after[0].holding(after[1])),
        now_asks=tuple(sorted(both & {*_only(new.ask, old.ask)})),
        no_longer_asks=tuple(sorted(both & {*_only(old.ask, new.ask)})),
        conditions={
            name: (old.conditions.get(name, ()), new.conditions.get(name, ()))
            for name in sorted(both)
            if old.conditions.get(name, ()) != new.conditions.get(name, ())
        },
        limits=limits,
        level=(old.level, new.level) if old.level != new.level else ("", ""),
        versions={name: text for name in sorted(changed) if (text := _version(name, after[0], before[0]))},
    )


def policy_diff(before: PolicySide, after: PolicySide) -> PolicyDifference:
    """Every profile of two policies, and who is bound to which."""
    had, has = before.rules.profiles, after.rules.profiles
    found = []
    for name in sorted({*had, *has}):
        sides = _usable(before.rules, name), _usable(after.rules, name)
        one = diff(*sides, before.names, after.names, (before.reviewed, after.reviewed))
        found.append(replace(one, before=name, after=name))
    agents = {
        agent: (before.agents.get(agent, ""), after.agents.get(agent, ""))
        for agent in sorted({*before.agents, *after.agents})
    }
    return PolicyDifference(
        added=_only(tuple(has), tuple(had)),
        removed=_only(tuple(had), tuple(has)),
        profiles=tuple(one for one in found if one),
        agents={agent: (old, new) for agent, (old, new) in agents.items() if old != new},
    )


def _usable(rules: RuleSet, name: str) -> Before:
    """Who has a profile that is not there or cannot be used has what comes with every profile."""
    try:
        rules.holding(name)
    except ProwessError:
        return rules, NOBODY
    return rules, name


def _side(one: Resolved, other: Resolved, held_by_other: EffectiveGrants) -> ProfileSide:
    events = _only(one.allowed_events, other.allowed_events)
    tools = _only(one.host_tools, other.host_tools)
    events = tuple(name for name in events if not _allows(held_by_other, _ids(name)))
    tools = tuple(name for name in tools if not _allows(held_by_other, (HOST + name,)))
    return ProfileSide(
        allowed_events=events,
        host_tools=tools,
        grants=_only(one.grants, other.grants),
        review=_only(one.review, other.review),
        ask=tuple(name for name in (*events, *tools) if name in one.ask),
    )


def _side_lines(words: str, side: ProfileSide) -> Iterator[str]:
    for word, names in (
        ("event", side.allowed_events), ("host tool", side.host_tools), ("grant", side.grants),
        ("review of", side.review),
    ):  # fmt: skip
        for name in names:
            what = name if word == "event" and ":" in name and not is_own_kind(name) else f"{word} {name}"
            yield f"{words} {what}{', asking a person' if name in side.ask else ''}"


def _limit(value: int | None) -> str:
    return "none" if value is None else str(value)


def _allows(holding: EffectiveGrants, ids: Sequence[str]) -> bool:
    """Whether its patterns allow a name, which they do not list before anything provides it."""
    return any(judge(holding, id, None).verdict != "deny" for id in ids)


def _ids(name: str) -> tuple[str, ...]:
    return (EVENT + name, name) if is_own_kind(name) else (name,)


def _only(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted({*one} - {*other}))


def _version(name: str, *where: RuleSet) -> str:
    grant = next(rules.grants[name] for rules in where if name in rules.grants)
    since = f"since {grant.since}" if grant.since else ""
    version = f"version {grant.version}" if grant.version else ""
    return ", ".join(filter(None, (since, version)))
