"""What changes when one profile is exchanged for another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prowess.policy.patterns import Names
from prowess.policy.resolve import Resolved, resolve
from prowess.policy.rules import Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What only one of the two has."""

    allowed_events: tuple[str, ...]
    host_tools: tuple[str, ...]
    grants: tuple[str, ...]
    review: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    before: str
    after: str
    added: Side
    removed: Side
    limits: Mapping[str, tuple[int | None, int | None]]
    """Name -> before and after, where they differ; nothing means no limit."""
    versions: Mapping[str, str]
    """Each grant in `added` or `removed` -> since when and in which version it exists, where it says so."""

    def __bool__(self) -> bool:
        return any(self.added_to(side) for side in (self.added, self.removed)) or bool(self.limits)

    @staticmethod
    def added_to(side: Side) -> bool:
        return bool(side.allowed_events or side.host_tools or side.grants or side.review)


def diff(before: tuple[Rules, str], after: tuple[Rules, str], names: Names) -> Difference:
    """Two profiles, each with the rules it belongs to, over what exists now."""
    old, new = resolve(*before, names), resolve(*after, names)
    changed = [*_only(new.grants, old.grants), *_only(old.grants, new.grants)]
    limits = {
        name: (old.limits.get(name), new.limits.get(name))
        for name in sorted({*old.limits, *new.limits})
        if old.limits.get(name) != new.limits.get(name)
    }
    return Difference(
        before=old.profile,
        after=new.profile,
        added=_side(new, old),
        removed=_side(old, new),
        limits=limits,
        versions={name: text for name in sorted(changed) if (text := _version(name, after[0], before[0]))},
    )


def _side(one: Resolved, other: Resolved) -> Side:
    return Side(
        allowed_events=_only(one.allowed_events, other.allowed_events),
        host_tools=_only(one.host_tools, other.host_tools),
        grants=_only(one.grants, other.grants),
        review=_only(one.review, other.review),
    )


def _only(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted({*one} - {*other}))


def _version(name: str, *where: Rules) -> str:
    grant = next(rules.grants[name] for rules in where if name in rules.grants)
    since = f"since {grant.since}" if grant.since else ""
    version = f"version {grant.version}" if grant.version else ""
    return ", ".join(filter(None, (since, version)))
