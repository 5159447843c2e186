"""Whether a parent may have this child: never more children, depth, tools or limits than its own."""

from collections.abc import Iterator

from prowess.errors import Denied
from prowess.policy.grants import CHILDREN, DEPTH, Limits
from prowess.policy.patterns import Pattern, shown
from prowess.policy.ruleset import EffectiveGrants
from prowess.policy.snapshot import PolicySnapshot
from prowess.types import Decision

SPAWN = "event:agent:spawn"
NAMED = 5


def refuse_too_many(moment: PolicySnapshot, parent: str) -> None:
    """Hold the parent to its number of children and to the depth below it."""
    if reason := too_many(moment, parent):
        raise _refused(moment, parent, reason)


def too_many(moment: PolicySnapshot, parent: str) -> str:
    """Why an agent that may have children may not have one more; nothing where it may."""
    limits = moment.limits(parent)
    children = sum(agent.parent == parent for agent in moment.standing.agents.values())
    if children >= limits.get(CHILDREN, children + 1):
        has = "1 child" if children == 1 else f"{children} children"
        return f"it has {has} and {CHILDREN} is {limits[CHILDREN]}"
    return f"{DEPTH} is reached: no agent may live below it" if limits.get(DEPTH, 1) < 1 else ""


def refuse_excess(moment: PolicySnapshot, parent: str, profile: str) -> None:
    """Refuse a profile that would give a child what its parent does not have."""
    excess = sorted(set(_excess(moment, parent, profile)))
    if excess:
        more = f" and {len(excess) - NAMED} more" if len(excess) > NAMED else ""
        reason = f"profile {profile!r} exceeds the parent: {', '.join(excess[:NAMED])}{more}"
        raise _refused(moment, parent, reason)


def _excess(moment: PolicySnapshot, parent: str, profile: str) -> Iterator[str]:
    held, wanted = moment.reach(parent), moment.profile_reach(profile)
    base = moment.profile_reach("")
    # What comes with every profile comes with the child too; its parent's denials still bind it.
    own = (wanted.allow | wanted.ask) - (base.allow | base.ask)
    # A name that nothing provides yet is in nobody's reach; the parent's patterns still speak of it.
    unheld = own - held.allow - held.ask
    yield from (shown(id) for id in unheld if moment.decision(parent, id, True).verdict == "deny")
    child = moment.rules.holding(profile)
    line = [moment.holding(one) for one in moment.line(parent)]
    for pattern in _wildcards(child):
        if not all(_covered(pattern, holding) for holding in line):
            yield pattern.text
    yield from _raised(child.limits, moment.holding(parent).limits)


def _wildcards(holding: EffectiveGrants) -> Iterator[Pattern]:
    for grant in holding.grants.values():
        if not grant.always_included:
            yield from (pattern for pattern in grant.patterns if not pattern.exact)
    yield from (rule.pattern for rule in holding.profile.additional if not rule.pattern.exact)


def _covered(pattern: Pattern, holding: EffectiveGrants) -> bool:
    given = [one for grant in holding.grants.values() for one in grant.patterns]
    given += [rule.pattern for rule in holding.profile.additional]
    return any(one.covers(pattern) for one in given)


def _raised(child: Limits, parent: Limits) -> Iterator[str]:
    for name, value in child.items():
        if value > parent.get(name, value):
            yield f"{name} {value} (the parent has {parent[name]})"


def _refused(moment: PolicySnapshot, parent: str, reason: str) -> Denied:
    return Denied(parent, SPAWN, Decision(verdict="deny", reason=reason, revision=moment.rules.revision))
