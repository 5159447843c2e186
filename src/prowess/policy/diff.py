"""What changes when one profile is exchanged for another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prowess.policy.patterns import EVENT, HOST, CatalogueNames, is_own_kind
from prowess.policy.resolve import Resolved, judge, resolve
from prowess.policy.ruleset import EffectiveGrants, RuleSet


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSide:
    """What only one of the two has."""

    allowed_events: tuple[str, ...]
    host_tools: tuple[str, ...]
    grants: tuple[str, ...]
    review: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.allowed_events or self.host_tools or self.grants or self.review)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileDifference:
    before: str
    after: str
    added: ProfileSide
    removed: ProfileSide
    limits: Mapping[str, tuple[int | None, int | None]]
    """Name -> before and after, where they differ; nothing means no limit."""
    versions: Mapping[str, str]
    """Each grant in `added` or `removed` -> since when and in which version it exists, where it says so."""

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.limits)


def diff(before: tuple[RuleSet, str], after: tuple[RuleSet, str], names: CatalogueNames) -> ProfileDifference:
    """Two profiles, each with the rules it belongs to, over what exists now."""
    old, new = resolve(*before, names), resolve(*after, names)
    changed = [*_only(new.grants, old.grants), *_only(old.grants, new.grants)]
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
        limits=limits,
        versions={name: text for name in sorted(changed) if (text := _version(name, after[0], before[0]))},
    )


def _side(one: Resolved, other: Resolved, held_by_other: EffectiveGrants) -> ProfileSide:
    events = _only(one.allowed_events, other.allowed_events)
    tools = _only(one.host_tools, other.host_tools)
    return ProfileSide(
        allowed_events=tuple(name for name in events if not _allows(held_by_other, _ids(name))),
        host_tools=tuple(name for name in tools if not _allows(held_by_other, (HOST + name,))),
        grants=_only(one.grants, other.grants),
        review=_only(one.review, other.review),
    )


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
