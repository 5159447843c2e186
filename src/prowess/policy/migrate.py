"""From an explicit tool list to grants: the smallest set of them, the overrides that remain, and
what differs. Nothing is hidden: what the grants add beyond the list is named.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import yaml

from prowess.policy.patterns import HOST, CatalogueNames, shown
from prowess.policy.profiles import Profile, Rule
from prowess.policy.resolve import given_ids
from prowess.policy.ruleset import NOBODY, RuleSet

EXHAUSTIVE = 12
"""Up to this many grants every combination is tried; beyond it, one after the other."""

Ids = frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantMigration:
    profile: str
    grants: tuple[str, ...]
    additional_tools: tuple[str, ...]
    """What the list has and the grants do not give."""
    disallowed_tools: tuple[str, ...]
    in_no_grant: tuple[str, ...]
    """Those of the additional tools that no grant at all gives."""
    added: tuple[str, ...]
    """What the grants give and the list does not have."""
    review: tuple[str, ...]
    kept: Mapping[str, object] = field(default_factory=dict)
    """Everything else the profile says, as it was."""

    def text(self) -> str:
        """The profile as a policy file states it."""
        body: dict[str, object] = {"capabilities": dict.fromkeys(self.grants, True)}
        if self.additional_tools:
            body["additional_tools"] = list(self.additional_tools)
        if self.disallowed_tools:
            body["disallowed_tools"] = list(self.disallowed_tools)
        return yaml.safe_dump({"profiles": {self.profile: body | dict(self.kept)}}, sort_keys=False)


@dataclass(frozen=True, slots=True)
class _Choice:
    grants: tuple[str, ...]
    missing: Ids
    extra: Ids

    @property
    def cost(self) -> tuple[int, int, tuple[str, ...]]:
        """Few grants and overrides; of equals, whatever adds less."""
        return len(self.grants) + len(self.missing), len(self.extra), self.grants


def migrate(rules: RuleSet, profile: Profile, names: CatalogueNames, exact: bool = False) -> GrantMigration:
    """The profile's explicit list as grants; `exact` disallows what those would add."""
    listed = frozenset(
        rule.pattern.id for rule in profile.additional if rule.listed or not rule.pattern.exact
    )
    gives = {name: _gives(rules, name, listed, names) for name in rules.sound()}
    denied = frozenset(id for ids in gives.values() for id in ids if _matches(profile.disallowed, id))
    held = (gives[name] for name, flag in profile.flags.items() if flag.on and name in gives)
    wanted = listed.union(*held) - denied
    base = frozenset(id for name in rules.holding(NOBODY).grants for id in gives[name])
    gives = {name: ids - denied for name, ids in gives.items()}
    useful = [name for name in gives if name not in rules.always() and _pays(gives[name], wanted, base)]
    chosen = _cheapest(useful, gives, wanted, base - denied)
    stated = tuple(dict.fromkeys(rule.pattern.text for rule in profile.disallowed))
    return GrantMigration(
        profile=profile.name,
        grants=chosen.grants,
        additional_tools=_shown(chosen.missing),
        disallowed_tools=(*stated, *(_shown(chosen.extra) if exact else ())),
        in_no_grant=_shown(chosen.missing.difference(*gives.values())),
        added=_shown(chosen.extra),
        review=tuple(sorted(name for name in chosen.grants if rules.grant(name).review)),
        kept=_kept(profile),
    )


def _gives(rules: RuleSet, name: str, listed: Ids, names: CatalogueNames) -> Ids:
    """What a grant gives of what exists, of what it names, and of what the list has."""
    closure = [rules.grant(one) for one in rules.closure(name, rules.grants[name].place)]
    patterns = [pattern for grant in closure for pattern in grant.patterns]
    matched = {id for id in listed if any(pattern.matches(id) for pattern in patterns)}
    return frozenset(given_ids(closure, names, rules.host_names) | matched)


def _pays(ids: Ids, wanted: Ids, base: Ids) -> bool:
    """A grant that brings more than it is wanted for is no way to write a list shorter."""
    return len((ids & wanted) - base) > len(ids - wanted - base)


def _cheapest(useful: Sequence[str], gives: Mapping[str, Ids], wanted: Ids, base: Ids) -> _Choice:
    def choice(grants: Iterable[str]) -> _Choice:
        names = tuple(sorted(grants))
        ids = base.union(*(gives[name] for name in names))
        return _Choice(names, wanted - ids, ids - wanted)

    if len(useful) <= EXHAUSTIVE:
        every = (some for size in range(len(useful) + 1) for some in combinations(useful, size))
        return min(map(choice, every), key=lambda one: one.cost)
    best = choice(())
    while True:
        others = [choice((*best.grants, name)) for name in useful if name not in best.grants]
        others += [choice(one for one in best.grants if one != name) for name in best.grants]
        better = min(others, key=lambda one: one.cost)
        if better.cost >= best.cost:
            return best
        best = better


def _matches(rules: Iterable[Rule], id: str) -> bool:
    return any(rule.pattern.matches(id) for rule in rules)


def _kept(profile: Profile) -> dict[str, object]:
    kept: dict[str, object] = {
        "description": profile.description,
        "ask": list(dict.fromkeys(rule.pattern.text for rule in profile.ask)),
        "pinned": list(dict.fromkeys(rule.pattern.text for rule in profile.pinned)),
        "limits": dict(profile.limits),
        "level": profile.level,
        "agents": list(profile.agents),
    }
    return {key: value for key, value in kept.items() if value}


def _shown(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(shown(id).removeprefix(HOST) for id in ids))
