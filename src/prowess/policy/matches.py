"""What the rules of a profile say of one thing: which allow it, which deny it or ask, and on what condition.

Above: `resolve`, which puts them in order. Below: grants and patterns.
"""

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import NamedTuple

from prowess.policy.conditions import Arguments, Condition
from prowess.policy.grants import Grant
from prowess.policy.patterns import EVENT, declared_grant
from prowess.policy.profiles import Rule
from prowess.policy.ruleset import EffectiveGrants, grant_digest
from prowess.types import Capability, Verdict


class RuleVerdict(NamedTuple):
    verdict: Verdict
    reason: str
    steps: tuple[str, ...]
    conditions: tuple[str, ...] = ()
    """What the arguments have to do with it, in plain words."""


@dataclass(frozen=True, slots=True)
class Thing:
    """What is decided about: an id, what the catalogue has of it, and how far its source is trusted."""

    id: str
    capability: Capability | None = None
    trust: str = ""


class Restriction(NamedTuple):
    """The first rule that denies or asks, and the conditions of others that may."""

    rule: Rule | None = None
    why: str = ""
    whens: tuple[Condition, ...] = ()

    def conditions(self, words: str) -> tuple[str, ...]:
        return tuple(f"{words} {when}" for when in self.whens)


def restriction(rules: Iterable[Rule], thing: Thing, arguments: Arguments) -> Restriction:
    """What denies or asks: what cannot be decided does; at an offer, nothing on a condition."""
    whens: list[Condition] = []
    held: tuple[Rule, str] | None = None
    for rule in rules:
        if not rule.pattern.restricts(thing.id, thing.capability, thing.trust):
            continue
        when = rule.pattern.when
        if when is None:
            return Restriction(rule)
        whens.append(when)
        if arguments == "any" or held or when.holds(arguments) is False:
            continue
        why = "" if when.holds(arguments) else f", and {when.why_not(arguments)}"
        held = (rule, why)
    found = tuple(dict.fromkeys(whens))
    return Restriction(*held, found) if held else Restriction(whens=found)


@dataclass(frozen=True, slots=True)
class Mention:
    """How a rule comes to allow a thing, and on what condition."""

    verdict: Verdict
    who: str
    steps: tuple[str, ...]
    when: Condition | None

    def applies(self, arguments: Arguments) -> bool:
        """Whether it allows these arguments; at an offer, it may."""
        return self.when is None or arguments == "any" or self.when.holds(arguments) is True

    def on(self, *conditions: str) -> RuleVerdict:
        return RuleVerdict(self.verdict, self.who, self.steps, conditions)


def permission(
    holding: EffectiveGrants, thing: Thing, reviewed: Set[str], arguments: Arguments
) -> RuleVerdict | None:
    """The best that any grant or list gives: an open grant before one that awaits its review."""
    waiting: Mention | None = None
    conditional: list[Mention] = []
    for one in _mentions(holding, thing, reviewed):
        if one.when is not None:
            conditional.append(one)
        elif one.verdict == "allow":
            return one.on()
        else:
            waiting = waiting or one
    if not conditional:
        return waiting.on() if waiting else None
    return _conditionally(conditional, waiting, arguments)


def _conditionally(conditional: list[Mention], waiting: Mention | None, arguments: Arguments) -> RuleVerdict:
    allowing = [one for one in conditional if one.verdict == "allow"]
    best = allowing or conditional
    only = "without asking only when" if waiting and allowing else "only when"
    said = (f"{only} {' or '.join(dict.fromkeys(str(one.when) for one in best))}",)
    in_order = [*allowing, *conditional] if waiting is None else [*allowing, waiting, *conditional]
    found = next((one for one in in_order if one.applies(arguments)), None)
    if found:
        return found.on(*said)
    first = best[0]
    assert first.when is not None, "they are those with a condition"
    reason = f"it is allowed {said[0]}, and {first.when.why_not(arguments)}"
    return RuleVerdict("deny", reason, (*first.steps, reason), said)


def _mentions(holding: EffectiveGrants, thing: Thing, reviewed: Set[str]) -> Iterator[Mention]:
    """Every rule that allows it, those of grants first."""
    for grant in holding.grants.values():
        is_waiting: bool | None = None
        for how, when in ways(grant, thing):
            is_waiting = awaits_review(grant, reviewed) if is_waiting is None else is_waiting
            steps = (*holding.why[grant.name], how)
            if is_waiting:
                reason = f"grant {grant.name!r} awaits a security review"
                yield Mention("ask", reason, (*steps, reason), when)
            else:
                yield Mention("allow", f"grant {grant.name!r} allows it", steps, when)
    for rule in holding.profile.additional:
        if rule.pattern.matches(thing.id, thing.capability, thing.trust):
            reason = f"profile {rule.profile!r} adds {rule.pattern.text!r}"
            yield Mention("allow", reason, (reason,), rule.pattern.when)


def ways(grant: Grant, thing: Thing) -> Iterator[tuple[str, Condition | None]]:
    """How a grant comes to speak of something, and on what condition."""
    for pattern in grant.patterns:
        if pattern.matches(thing.id, thing.capability, thing.trust):
            yield f"pattern {pattern.text!r} of grant {grant.name!r} matches {thing.id}", pattern.when
    if thing.capability is not None and declared_grant(thing.capability) == grant.name:
        name = thing.id.removeprefix(EVENT)
        yield f"the handler of {name} declares that it belongs to grant {grant.name!r}", None


def mention(grant: Grant, thing: Thing) -> str:
    """How a grant comes to speak of something; empty when it does not."""
    return next((how for how, _ in ways(grant, thing)), "")


def awaits_review(grant: Grant, reviewed: Set[str]) -> bool:
    return bool(grant.review) and grant_digest(grant) not in reviewed
