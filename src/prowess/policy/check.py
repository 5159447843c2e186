"""What is wrong with a policy: errors that make a profile unusable, and rules that do nothing.

Above: `prowess policy check` and `doctor`. Below: `rules` and `resolve`. Nothing is silent: a
pattern that matches nothing and a rule that can never matter are warnings, errors in strict mode.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from prowess.errors import PolicyError, ProwessError, nearest
from prowess.policy.builtin_grants import PLACE
from prowess.policy.files import SOURCE
from prowess.policy.grants import Grant
from prowess.policy.matches import Thing, mention
from prowess.policy.near_misses import near_misses
from prowess.policy.patterns import HOST, CatalogueNames, Pattern, is_own_kind, shown
from prowess.policy.profiles import Profile, Rule
from prowess.policy.resolve import AllowedIds, reach
from prowess.policy.rule_texts import EVERYTHING
from prowess.policy.ruleset import EffectiveGrants, RuleSet
from prowess.types import Problem


def findings(rules: RuleSet, names: CatalogueNames) -> tuple[Problem, ...]:
    """Everything wrong with these rules over what exists now, errors first."""
    found = [*_errors(rules), *_grant_warnings(rules, names), *_joining_warnings(rules, names)]
    for name in rules.profiles:
        found += _profile_warnings(rules, name, names)
    return tuple(sorted(dict.fromkeys(found), key=lambda p: (p.severity, p.place, p.what)))


def stricter(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Strict mode: every warning is an error."""
    return tuple(replace(problem, severity="error") for problem in problems)


def _errors(rules: RuleSet) -> Iterator[Problem]:
    for name in rules.grants:
        yield from _error(lambda one=name: rules.closure(one, rules.grants[one].place))  # type: ignore[misc]
    for name in rules.profiles:
        yield from _error(lambda one=name: rules.holding(one))  # type: ignore[misc]


def _error(attempt: Callable[[], object]) -> Iterator[Problem]:
    try:
        attempt()
    except ProwessError as error:
        place = error.place if isinstance(error, PolicyError) else SOURCE
        yield Problem(SOURCE, place, error.message.removeprefix(f"{place}: "), error.remedy)


def _grant_warnings(rules: RuleSet, names: CatalogueNames) -> Iterator[Problem]:
    for grant in rules.grants.values():
        if not grant.place.startswith(PLACE):
            yield from _idle_patterns(grant, names)
            yield from _repeated_patterns(grant)
            yield from _ambiguous_patterns(grant, names)


def _idle_patterns(grant: Grant, names: CatalogueNames) -> Iterator[Problem]:
    for pattern in grant.events:
        if names.capabilities and not pattern.exact and not names.matching(pattern):
            yield _warning(grant.place, f"pattern {pattern.text!r} matches nothing", _meant(pattern, names))


def _repeated_patterns(grant: Grant) -> Iterator[Problem]:
    for pattern in grant.patterns:
        other = next((one for one in grant.patterns if one != pattern and one.covers(pattern)), None)
        if other:
            what = f"pattern {pattern.text!r} can never matter: {other.text!r} covers it"
            yield _warning(grant.place, what, "take it out")


def _ambiguous_patterns(grant: Grant, names: CatalogueNames) -> Iterator[Problem]:
    for pattern in grant.events:
        matched = names.matching(pattern) if pattern.target == "names" else ()
        own = [id for id in matched if is_own_kind(id)]
        if own and len(own) < len(matched):
            what = f"pattern {pattern.text!r} matches events and also {own[0]}, which is no event"
            yield _warning(grant.place, what, "give that kind another name")


def _joining_warnings(rules: RuleSet, names: CatalogueNames) -> Iterator[Problem]:
    for grant, ids in names.joined.items():
        if grant not in rules.grants:
            close = nearest(grant, rules.grants)
            remedy = f"did you mean {close!r}?" if close else "define it, or change the handler"
            yield _warning(ids[0], f"its handler declares grant {grant!r}, which does not exist", remedy)


def _profile_warnings(rules: RuleSet, name: str, names: CatalogueNames) -> Iterator[Problem]:
    own = rules.profiles[name]
    try:
        holding = rules.holding(name)
    except ProwessError:
        return  # an error already says so
    if holding.profile.level and set(holding.grants) == set(rules.always()) and len(holding.dropped):
        what = f"level {holding.profile.level} leaves none of its grants, only what comes with every profile"
        remedy = "raise it, or give the grants that only read 'level: read'"
        yield _warning(own.place, what, remedy)
    undenied = replace(holding, profile=replace(holding.profile, disallowed=()))
    yield from _idle_flags(own, holding, rules)
    yield from _idle_additions(own, holding, names)
    before, after = (reach(one, names, rules.host_names) for one in (undenied, holding))
    missed = {text: (what, remedy) for text, what, remedy in near_misses(own, names)}
    yield from (_warning(own.place, what, remedy) for what, remedy in missed.values())
    for text in _idle_texts(own.disallowed, holding, before, names):
        close = nearest(text, [shown(id).removeprefix(HOST) for id in before.allow | before.ask])
        remedy = f"did you mean {close!r}?" if close else "take it out, or correct the name"
        yield _warning(own.place, f"disallowed_tools: {text!r} removes nothing this profile has", remedy)
    for word, stated in (("ask", own.ask), ("pinned", own.pinned)):
        for text in _idle_texts(stated, holding, after, names):
            what = f"{word}: {text!r} can never matter: the profile allows nothing of that name"
            yield _warning(own.place, what, "allow it, or take it out")


def _idle_texts(
    stated: Iterable[Rule], holding: EffectiveGrants, found: AllowedIds, names: CatalogueNames
) -> Iterator[str]:
    """The patterns that neither match anything the profile has nor overlap anything it may come to have."""
    ids = found.allow | found.ask
    given = [p for grant in holding.grants.values() for p in grant.patterns]
    given += [rule.pattern for rule in holding.profile.additional]
    for text, rules in _by_text(stated):
        patterns = [rule.pattern for rule in rules]
        if not any(names.matches(p, id) for p in patterns for id in ids) and not _overlap(patterns, given):
            yield text


def _idle_flags(own: Profile, holding: EffectiveGrants, rules: RuleSet) -> Iterator[Problem]:
    inherited = {grant for base in own.extends for grant in rules.holding(base).grants}
    for grant, flag in own.flags.items():
        if flag.on and grant in holding.dropped:
            yield _warning(
                own.place, f"'{grant}: true' gives nothing: {holding.dropped[grant]}", "drop one of the two"
            )
        elif not flag.on and grant in rules.always():
            remedy = "name its events in disallowed_tools instead"
            yield _warning(
                own.place, f"'{grant}: false' removes nothing: it comes with every profile", remedy
            )
        elif not flag.on and grant not in inherited and not _required_here(grant, own, rules):
            yield _warning(own.place, f"'{grant}: false' removes nothing: it is not inherited", "take it out")


def _required_here(grant: str, own: Profile, rules: RuleSet) -> bool:
    return any(flag.on and grant in rules.closure(name, own.place) for name, flag in own.flags.items())


def _overlap(left: Iterable[Pattern], right: Iterable[Pattern]) -> bool:
    """Whether any of them may come to speak of the same: what attributes there will be is not known."""
    names, others = [one.by_name for one in left], [one.by_name for one in right]
    return any(one.covers(other) or other.covers(one) for one in names for other in others)


def _idle_additions(own: Profile, holding: EffectiveGrants, names: CatalogueNames) -> Iterator[Problem]:
    for text, stated in _by_text(own.additional):
        why = _overruled(stated[0].pattern, holding)
        if why:
            yield _warning(own.place, f"additional_tools: {text!r} can never matter: {why}", "take it out")
        elif _matches_nothing(stated, names):
            remedy = _meant(stated[0].pattern, names)
            yield _warning(own.place, f"additional_tools: {text!r} matches nothing", remedy)


def _overruled(pattern: Pattern, holding: EffectiveGrants) -> str:
    for rule in holding.profile.disallowed:
        if rule.pattern.covers_as_denial(pattern):
            return f"{rule.pattern.text!r} is disallowed"
    for grant in holding.grants.values():
        if pattern.states and pattern.when is None and not grant.review and mention(grant, Thing(pattern.id)):
            return f"grant {grant.name!r} has it"
    return ""


def _matches_nothing(stated: Iterable[Rule], names: CatalogueNames) -> bool:
    """Whether it speaks of what exists, something exists, and nothing of that is meant."""
    patterns = [rule.pattern for rule in stated]
    told = any(p.states or p.target == "host" or p == EVERYTHING for p in patterns)
    return bool(names.capabilities) and not told and not any(names.matching(p) for p in patterns)


def _by_text(rules: Iterable[Rule]) -> Iterable[tuple[str, list[Rule]]]:
    """The rules of one written pattern together: a bare word makes two."""
    grouped: dict[str, list[Rule]] = {}
    for rule in rules:
        grouped.setdefault(rule.pattern.text, []).append(rule)
    return grouped.items()


def _meant(pattern: Pattern, names: CatalogueNames) -> str:
    starts = {shown(id).split(":")[0] + ":" for id in names.capabilities}
    close = nearest(pattern.glob.replace("*", ""), starts)
    return f"did you mean {close!r}?" if close else "correct it, or sync the source that brings it"


def _warning(place: str, what: str, remedy: str) -> Problem:
    return Problem(SOURCE, place, what, remedy, "warning")
