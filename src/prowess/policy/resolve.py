"""What a profile allows, given what exists.

Above: `Policy`, and the commands that need no store. Below: `rules` and `patterns`. There are two
ways to one answer: `reach` finds everything at once for a turn, `judge` follows one id and says
why. Disallowed wins over everything; what no grant and no list allows is denied.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field

from prowess.policy.conditions import Arguments
from prowess.policy.grants import Grant
from prowess.policy.matches import RuleVerdict, Thing, awaits_review, permission, restriction
from prowess.policy.patterns import HOST, CatalogueNames, Pattern, shown
from prowess.policy.profiles import Rule
from prowess.policy.ruleset import EffectiveGrants, RuleSet
from prowess.types import Capability

UNMENTIONED = "no grant mentions it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """What a profile comes to, as `prowess policy resolve` prints it. Every list is sorted."""

    profile: str
    allowed_events: tuple[str, ...]
    host_tools: tuple[str, ...]
    grants: tuple[str, ...]
    ask: tuple[str, ...] = ()
    """Those of both lists that a person is asked about."""
    conditions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Name -> what its arguments must be."""
    limits: Mapping[str, int] = field(default_factory=dict)
    level: str = ""
    """The cap of the profile, where it has one."""
    dropped: Mapping[str, str] = field(default_factory=dict)
    """Grant that the profile asks for and does not get -> why."""
    providers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Provider -> the names that come from it; empty for what no provider brings yet."""
    review: tuple[str, ...] = ()
    revision: str = ""


@dataclass(frozen=True, slots=True)
class AllowedIds:
    """The ids a profile allows, and those it allows once a person has said yes."""

    allow: frozenset[str]
    ask: frozenset[str]

    def without(self, ids: Set[str]) -> "AllowedIds":
        return AllowedIds(self.allow - ids, self.ask - ids) if ids else self

    def within(self, other: "AllowedIds") -> "AllowedIds":
        """What both allow; what either of them asks about is asked about."""
        both = (self.allow | self.ask) & (other.allow | other.ask)
        ask = both & (self.ask | other.ask)
        return AllowedIds(both - ask, ask)


def resolve(
    rules: RuleSet, profile: str, names: CatalogueNames, reviewed: Set[str] = frozenset()
) -> Resolved:
    """Everything a profile allows now, and the names it states that nothing provides yet."""
    holding = rules.holding(profile)
    found = reach(holding, names, rules.host_names, reviewed)
    ids = found.allow | found.ask
    return Resolved(
        profile=profile,
        allowed_events=_shown(id for id in ids if not id.startswith(HOST)),
        host_tools=_shown(id for id in ids if id.startswith(HOST)),
        ask=_shown(found.ask),
        conditions={name_of(id): said for id, said in _conditions(rules, holding, names, ids, reviewed)},
        grants=tuple(sorted(holding.grants)),
        limits=holding.limits,
        level=holding.profile.level or "",
        dropped=dict(holding.dropped),
        providers=_by_provider(ids, names),
        review=tuple(sorted(g.name for g in holding.grants.values() if awaits_review(g, reviewed))),
        revision=rules.revision,
    )


def name_of(id: str) -> str:
    """An id as the lists of a resolved profile have it."""
    return shown(id).removeprefix(HOST)


def _shown(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({name_of(id) for id in ids}))


def _by_provider(ids: Set[str], names: CatalogueNames) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for id in ids:
        capability = names.capabilities.get(id)
        found.setdefault(capability.provider or capability.source if capability else "", []).append(id)
    return {provider: _shown(found[provider]) for provider in sorted(found)}


def _conditions(
    rules: RuleSet, holding: EffectiveGrants, names: CatalogueNames, ids: Set[str], reviewed: Set[str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for id in sorted(conditional_ids(rules, names, ids)):
        judged = judge(holding, id, names.capabilities.get(id), reviewed, names.trust_of(id))
        if judged.conditions:
            yield id, judged.conditions


def conditional_ids(rules: RuleSet, names: CatalogueNames, among: Set[str]) -> set[str]:
    """Those of some ids of which a rule that looks at arguments speaks."""
    found: set[str] = set()
    for pattern in rules.conditional:
        found.update(id for id in names.matching(pattern) if id in among)
        found.update(id for id in among if id not in names.capabilities and pattern.restricts(id))
    return found


def reach(
    holding: EffectiveGrants, names: CatalogueNames, hosts: Set[str], reviewed: Set[str] = frozenset()
) -> AllowedIds:
    profile = holding.profile
    waiting = [g for g in holding.grants.values() if awaits_review(g, reviewed)]
    open_grants = [g for g in holding.grants.values() if not awaits_review(g, reviewed)]
    waited_for = given_ids(waiting, names, hosts)
    # A name that only a waiting grant states exactly is open when something else covers it.
    covering = [*(r.pattern for r in profile.additional), *(p for g in open_grants for p in g.patterns)]
    covered = _matched(covering, waited_for, names) & waited_for
    allow = given_ids(open_grants, names, hosts) | listed_ids(profile.additional, names, hosts) | covered
    ask = waited_for - allow
    denied = _restricted(profile.disallowed, allow | ask, names) | names.forged
    asked = _restricted(profile.ask, allow | ask, names)
    return AllowedIds(frozenset(allow - denied - asked), frozenset((ask | (allow & asked)) - denied))


def given_ids(grants: Iterable[Grant], names: CatalogueNames, hosts: Set[str]) -> set[str]:
    """Everything these grants give: what their patterns match, state exactly, or handlers joined."""
    patterns: dict[Pattern, None] = {}
    ids: set[str] = set()
    for grant in grants:
        patterns |= dict.fromkeys(grant.patterns)
        ids.update(names.joined.get(grant.name, ()))
    for pattern in patterns:
        ids.update(pattern_ids(pattern, names, hosts))
        if pattern.states and names.matches(pattern, pattern.id):
            ids.add(pattern.id)
    return ids


def listed_ids(rules: Iterable[Rule], names: CatalogueNames, hosts: Set[str]) -> set[str]:
    """What the rules of a profile's own list give."""
    ids: set[str] = set()
    for rule in rules:
        ids.update(pattern_ids(rule.pattern, names, hosts))
        if rule.listed and names.matches(rule.pattern, rule.pattern.id):
            ids.add(rule.pattern.id)
    return ids


def pattern_ids(pattern: Pattern, names: CatalogueNames, hosts: Set[str]) -> Iterator[str]:
    yield from names.matching(pattern)
    if pattern.target in ("host", "everything") and not pattern.exact:
        yield from (HOST + name for name in hosts if pattern.matches(HOST + name))


def _matched(patterns: Iterable[Pattern], among: Set[str], names: CatalogueNames) -> set[str]:
    """Those of some ids that a pattern matches, whether or not anything provides them."""
    found: set[str] = set()
    unprovided = [id for id in among if id not in names.capabilities]
    for pattern in patterns:
        found.update(names.matching(pattern))
        found.update(id for id in unprovided if pattern.matches(id))
    return found


def _restricted(rules: Iterable[Rule], among: Set[str], names: CatalogueNames) -> set[str]:
    """What rules deny or ask about: a wildcard means names that climb as well."""
    patterns = [rule.pattern for rule in rules if rule.pattern.when is None]
    odd = [id for id in among if id in names.climbing or id not in names.capabilities]
    return _matched(patterns, among, names).union(
        id for pattern in patterns for id in odd if names.restricts(pattern, id)
    )


def judge(
    holding: EffectiveGrants,
    id: str,
    capability: Capability | None,
    reviewed: Set[str] = frozenset(),
    trust: str = "",
    arguments: Arguments = "any",
) -> RuleVerdict:
    """The verdict on one id, and each step that led there."""
    profile = holding.profile
    start = tuple(f"profile {profile.name!r} extends {base!r}" for base in reversed(profile.lineage[:-1]))
    if capability is not None and id.startswith(HOST):
        reason = (
            f"the kind 'host' is kept for a host's own tools, and {capability.source or 'a source'} uses it"
        )
        return RuleVerdict("deny", reason, start)
    thing = Thing(id, capability, trust)
    denial = restriction(profile.disallowed, thing, arguments)
    if denial.rule:
        reason = f"profile {denial.rule.profile!r} disallows {denial.rule.pattern.text!r}{denial.why}"
        return RuleVerdict("deny", reason, (*start, reason), denial.conditions("not when"))
    found = permission(holding, thing, reviewed, arguments)
    if found is None:
        return RuleVerdict("deny", UNMENTIONED, (*start, UNMENTIONED))
    conditions = (*found.conditions, *denial.conditions("not when"))
    if found.verdict != "allow":
        return RuleVerdict(found.verdict, found.reason, (*start, *found.steps), conditions)
    asked = restriction(profile.ask, thing, arguments)
    conditions = (*conditions, *asked.conditions("a person is asked when"))
    if asked.rule:
        reason = f"profile {asked.rule.profile!r} asks a person about {asked.rule.pattern.text!r}{asked.why}"
        return RuleVerdict("ask", reason, (*start, *found.steps, reason), conditions)
    return RuleVerdict("allow", found.reason, (*start, *found.steps), conditions)
