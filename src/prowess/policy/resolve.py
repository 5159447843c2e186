"""What a profile allows, given what exists.

Above: `Policy`, and the commands that need no store. Below: `rules` and `patterns`. There are two
ways to one answer: `reach` finds everything at once for a turn, `judge` follows one id and says
why. Disallowed wins over everything; what no grant and no list allows is denied.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from prowess.policy.grants import Grant
from prowess.policy.patterns import EVENT, HOST, CatalogueNames, Pattern, declared_grant, shown
from prowess.policy.profiles import Rule
from prowess.policy.ruleset import EffectiveGrants, RuleSet, grant_digest
from prowess.types import Capability, Verdict

UNMENTIONED = "no grant mentions it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """What a profile comes to, as `prowess policy resolve` prints it. Every list is sorted."""

    profile: str
    allowed_events: tuple[str, ...]
    host_tools: tuple[str, ...]
    grants: tuple[str, ...]
    limits: Mapping[str, int] = field(default_factory=dict)
    review: tuple[str, ...] = ()
    revision: str = ""


@dataclass(frozen=True, slots=True)
class AllowedIds:
    """The ids a profile allows, and those it allows once a person has said yes."""

    allow: frozenset[str]
    ask: frozenset[str]

    def within(self, other: "AllowedIds") -> "AllowedIds":
        """What both allow; what either of them asks about is asked about."""
        both = (self.allow | self.ask) & (other.allow | other.ask)
        ask = both & (self.ask | other.ask)
        return AllowedIds(both - ask, ask)


class RuleVerdict(NamedTuple):
    verdict: Verdict
    reason: str
    steps: tuple[str, ...]


def resolve(
    rules: RuleSet, profile: str, names: CatalogueNames, reviewed: Set[str] = frozenset()
) -> Resolved:
    """Everything a profile allows now, and the names it states that nothing provides yet."""
    holding = rules.holding(profile)
    found = reach(holding, names, rules.host_names, reviewed)
    ids = found.allow | found.ask
    return Resolved(
        profile=profile,
        allowed_events=tuple(sorted({shown(id) for id in ids if not id.startswith(HOST)})),
        host_tools=tuple(sorted(id.removeprefix(HOST) for id in ids if id.startswith(HOST))),
        grants=tuple(sorted(holding.grants)),
        limits=holding.limits,
        review=tuple(sorted(g.name for g in holding.grants.values() if awaits_review(g, reviewed))),
        revision=rules.revision,
    )


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
    allow = given_ids(open_grants, names, hosts) | _listed(profile.additional, names, hosts) | covered
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
        ids.update(_ids(pattern, names, hosts))
        if pattern.exact:
            ids.add(pattern.id)
    return ids


def _listed(rules: Iterable[Rule], names: CatalogueNames, hosts: Set[str]) -> set[str]:
    ids: set[str] = set()
    for rule in rules:
        ids.update(_ids(rule.pattern, names, hosts))
        if rule.listed:
            ids.add(rule.pattern.id)
    return ids


def _ids(pattern: Pattern, names: CatalogueNames, hosts: Set[str]) -> Iterator[str]:
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
    patterns = [rule.pattern for rule in rules]
    odd = [id for id in among if id in names.climbing or id not in names.capabilities]
    return _matched(patterns, among, names).union(
        id for pattern in patterns for id in odd if pattern.restricts(id)
    )


def awaits_review(grant: Grant, reviewed: Set[str]) -> bool:
    return bool(grant.review) and grant_digest(grant) not in reviewed


def judge(
    holding: EffectiveGrants, id: str, capability: Capability | None, reviewed: Set[str] = frozenset()
) -> RuleVerdict:
    """The verdict on one id, and each step that led there."""
    profile = holding.profile
    start = tuple(f"profile {profile.name!r} extends {base!r}" for base in reversed(profile.lineage[:-1]))
    if capability is not None and id.startswith(HOST):
        reason = (
            f"the kind 'host' is kept for a host's own tools, and {capability.source or 'a source'} uses it"
        )
        return RuleVerdict("deny", reason, start)
    denial = _restricting(profile.disallowed, id)
    if denial:
        reason = f"profile {denial.profile!r} disallows {denial.pattern.text!r}"
        return RuleVerdict("deny", reason, (*start, reason))
    found = _permission(holding, id, capability, reviewed)
    if found is None:
        return RuleVerdict("deny", UNMENTIONED, (*start, UNMENTIONED))
    asked = _restricting(profile.ask, id)
    if found.verdict == "allow" and asked:
        reason = f"profile {asked.profile!r} asks a person about {asked.pattern.text!r}"
        return RuleVerdict("ask", reason, (*start, *found.steps, reason))
    return RuleVerdict(found.verdict, found.reason, (*start, *found.steps))


def _permission(
    holding: EffectiveGrants, id: str, capability: Capability | None, reviewed: Set[str]
) -> RuleVerdict | None:
    """The best that any grant or list gives: an open grant before one that awaits its review."""
    waiting: RuleVerdict | None = None
    for grant in holding.grants.values():
        how = mention(grant, id, capability)
        if how and not awaits_review(grant, reviewed):
            return RuleVerdict("allow", f"grant {grant.name!r} allows it", (*holding.why[grant.name], how))
        if how and waiting is None:
            reason = f"grant {grant.name!r} awaits a security review"
            waiting = RuleVerdict("ask", reason, (*holding.why[grant.name], how, reason))
    listed = _first(holding.profile.additional, id)
    if listed:
        reason = f"profile {listed.profile!r} adds {listed.pattern.text!r}"
        return RuleVerdict("allow", reason, (reason,))
    return waiting


def mention(grant: Grant, id: str, capability: Capability | None) -> str:
    """How a grant comes to speak of an id; empty when it does not."""
    for pattern in grant.patterns:
        if pattern.matches(id):
            return f"pattern {pattern.text!r} of grant {grant.name!r} matches {id}"
    if capability is not None and declared_grant(capability) == grant.name:
        return f"the handler of {id.removeprefix(EVENT)} declares that it belongs to grant {grant.name!r}"
    return ""


def _first(rules: Iterable[Rule], id: str) -> Rule | None:
    return next((rule for rule in rules if rule.pattern.matches(id)), None)


def _restricting(rules: Iterable[Rule], id: str) -> Rule | None:
    return next((rule for rule in rules if rule.pattern.restricts(id)), None)
