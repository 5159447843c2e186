"""What would let a profile, and those above it, use something: changes that were tried before they are told.

Above: `explain`. Below: one moment, asked again under changed rules. Nothing is advised that does not work.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from prowess.errors import PolicyError, ProwessError, nearest
from prowess.policy.changes import ProfileChange, changed, command
from prowess.policy.grants import LEVELS, UNSTATED, Level
from prowess.policy.matches import mention, restriction
from prowess.policy.patterns import shown
from prowess.policy.profiles import Rule
from prowess.policy.ruleset import NOBODY, RuleSet
from prowess.policy.snapshot import PolicySnapshot, as_id

MAX_GRANTS_TRIED = 20
MAX_STEPS = 12

Plan = tuple[ProfileChange, ...]


@dataclass(frozen=True, slots=True)
class Advice:
    """Changes of one profile after the other, and what they do in words."""

    words: str
    changes: tuple[tuple[str, Plan], ...]

    def __str__(self) -> str:
        return f"{self.words}: {'; then: '.join(self.commands)}"

    @property
    def commands(self) -> tuple[str, ...]:
        """What a person types."""
        return tuple(command(*one) for one in self.changes)


def advice(moment: PolicySnapshot, profiles: Sequence[str], id: str) -> tuple[Advice, ...]:
    """What to change so that none of these profiles denies it; nothing where no such change is known."""
    id, rules, found = as_id(id), moment.rules, list[Advice]()
    for _ in range(MAX_STEPS):
        under = moment.under(rules)
        denying = next((one for one in profiles if _denies(under, one, id)), None)
        if denying is None:
            return tuple(found)
        step = _step(under, denying, id)
        if step is None:
            return ()
        found.append(step)
        rules = _with(rules, step)
    return ()


def _denies(moment: PolicySnapshot, profile: str, id: str) -> bool:
    return moment.profile_decision(profile, id).verdict == "deny"


def _with(rules: RuleSet, step: Advice) -> RuleSet:
    definitions = rules.definitions
    for profile, changes in step.changes:
        definitions = changed(definitions, profile, changes)
    return RuleSet(definitions, rules.unusable)


def _step(moment: PolicySnapshot, profile: str, id: str) -> Advice | None:
    """The next change: a denial taken back, or something that allows it."""
    if profile == NOBODY or moment.why_unusable(profile) or id in moment.names.forged:
        return None
    held = moment.rules.holding(profile).profile
    denial = restriction(held.disallowed, moment.thing(id), "any").rule
    ways = _ways(moment, profile, id) if denial is None else _taken_back(denial)
    return next((one for one in ways if _helps(moment, one, profile, id, denial)), None)


def _helps(moment: PolicySnapshot, step: Advice, profile: str, id: str, denial: Rule | None) -> bool:
    """Whether it allows it; or takes one denial back, behind which there may be others."""
    try:
        under = moment.under(_with(moment.rules, step))
        if denial is None:
            return not _denies(under, profile, id)
        return not under.why_unusable(profile) and denial not in under.rules.profile(profile).disallowed
    except ProwessError:
        return False


def _taken_back(denial: Rule) -> Iterator[Advice]:
    text = denial.pattern.text
    with suppress(PolicyError):
        change = ProfileChange.read(f"disallowed_tools-={text}")
        yield Advice(
            f"profile {denial.profile!r} disallows {text!r}; take that out", ((denial.profile, (change,)),)
        )


def _ways(moment: PolicySnapshot, profile: str, id: str) -> Iterator[Advice]:
    """What may allow it, the nearest first: a grant that mentions it, a wider level, a rule of its own."""
    rules, thing = moment.rules, moment.thing(id)
    mentioning = [name for name in rules.sound() if mention(rules.grant(name), thing)][:MAX_GRANTS_TRIED]
    for name in mentioning:
        flags = (profile, _flags(rules, profile, name))
        yield Advice(f"the nearest grant that would is {name!r}", (flags,))
        needed, caps = _caps(rules, profile, name)
        yield Advice(f"grant {name!r} would, at level {needed}", caps)
        yield Advice(f"the nearest grant that would is {name!r}, at level {needed}", (*caps, flags))
    alone = ProfileChange("additional_tools", "+=", id)
    words = f"no grant would{'' if mentioning else _nearest_name(rules, id)}; add it alone"
    yield Advice(words, ((profile, (alone,)),))
    deciding = (ProfileChange("mode", "=", None), alone)
    yield Advice("the profile is only watched; let it decide, and add it", ((profile, deciding),))


def _caps(rules: RuleSet, profile: str, name: str) -> tuple[Level, tuple[tuple[str, Plan], ...]]:
    """The level that a grant and what it requires need, and the caps below it, each raised."""
    levels = [rules.grant(one).level or UNSTATED for one in _closure(rules, name)]
    needed = max(levels, key=LEVELS.index)
    low = LEVELS[: LEVELS.index(needed)]
    capping = [one for one in rules.profile(profile).lineage if rules.profiles[one].level in low]
    return needed, tuple((one, (ProfileChange("level", "=", needed),)) for one in capping)


def _closure(rules: RuleSet, name: str) -> tuple[str, ...]:
    return rules.closure(name, rules.grants[name].place)


def _flags(rules: RuleSet, profile: str, name: str) -> Plan:
    """The grant, and whatever it requires that the profile switches off."""
    flags = rules.profile(profile).flags
    off = [one for one in _closure(rules, name) if one != name and one in flags and not flags[one].on]
    return tuple(ProfileChange("capabilities", "=", True, one) for one in (*off, name))


def _nearest_name(rules: RuleSet, id: str) -> str:
    patterns = {p.text: name for name in sorted(rules.grants) for p in rules.grants[name].patterns}
    close = nearest(shown(id), patterns)
    return f" (the nearest is {patterns[close]!r} with {close!r})" if close else ""
