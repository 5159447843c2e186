"""Why an agent may or may not use something, in steps a person can follow."""

from dataclasses import dataclass

from prowess.errors import nearest
from prowess.policy.matches import Thing, mention
from prowess.policy.patterns import shown
from prowess.policy.ruleset import EffectiveGrants, RuleSet
from prowess.types import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    agent: str
    id: str
    verdict: Verdict
    reason: str
    steps: tuple[str, ...]
    revision: str

    def __str__(self) -> str:
        return "\n".join(self.steps)


def way_out(rules: RuleSet, holding: EffectiveGrants, thing: Thing) -> tuple[str, ...]:
    """What would have to change for something that no held grant mentions."""
    for name in rules.sound():
        if name in holding.grants or not mention(rules.grant(name), thing):
            continue
        if name in holding.dropped:
            return (f"grant {name!r} would allow it, but {holding.dropped[name]}",)
        return (
            f"the nearest grant that would is {name!r}: add '{name}: true' to the profile's capabilities",
        )
    return _nearest_name(rules, thing.id)


def _nearest_name(rules: RuleSet, id: str) -> tuple[str, ...]:
    patterns = {p.text: name for name in sorted(rules.grants) for p in rules.grants[name].patterns}
    close = nearest(shown(id), patterns)
    add = f"add {shown(id)!r} to the profile's additional_tools, or to a grant"
    if not close:
        return (f"no grant would; {add}",)
    return (f"no grant would; the nearest is {patterns[close]!r} with {close!r}; {add}",)
