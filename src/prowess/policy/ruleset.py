"""All grants and profiles together, and which grants each profile holds.

Above: `resolve` and `Policy`. Below: the definitions. Nothing here knows what exists; a `EffectiveGrants`
is what a profile says before it meets a catalogue.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce

import msgspec

from prowess.errors import NotFound, PolicyError, nearest
from prowess.journal import canonical
from prowess.policy.definitions import PolicyDefinitions, base_alone, builtin, merged
from prowess.policy.grants import LEVELS, UNSTATED, Grant, Level, Limits, smallest, walk
from prowess.policy.patterns import host_names, stated_ids
from prowess.policy.profiles import Profile, enforced, joined

NOBODY = ""
ADD_PROFILE = "define it under 'profiles' in a policy file"
"""The profile of an agent that is bound to none: only what comes with every profile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveGrants:
    """What a profile holds: its grants and why each is held, what was dropped and why, its limits."""

    profile: Profile
    grants: Mapping[str, Grant]
    why: Mapping[str, tuple[str, ...]]
    dropped: Mapping[str, str]
    limits: Limits = field(default_factory=dict)


class RuleSet:
    """Everything that is defined, at one revision. Never changes; what it works out is remembered."""

    def __init__(self, definitions: PolicyDefinitions, unusable: str = "", watching: bool = False) -> None:
        self._definitions = definitions
        self._watching = watching
        self.grants = definitions.grants
        self.unusable = unusable
        """Why the policy that was stated is not the one that holds; empty when it is."""
        self.profiles = definitions.profiles
        self.revision = _revision(definitions)
        self.bound = _bindings(self.profiles.values())
        listed = [rule.pattern for profile in self.profiles.values() for rule in profile.rules]
        self.host_names = host_names([p for g in self.grants.values() for p in g.tools] + listed)
        self.stated = stated_ids([p for g in self.grants.values() for p in g.patterns] + listed)
        patterns = [*(p for g in self.grants.values() for p in g.patterns), *listed]
        self.conditional = tuple(dict.fromkeys(p for p in patterns if p.when is not None))
        """The rules that look at arguments."""
        modes = [*(g.mode for g in self.grants.values()), *(p.mode for p in self.profiles.values())]
        self._watches = "shadow" in modes or any(p.shadow for p in patterns)
        self._whole: dict[str, Grant] = {}
        self._held: dict[str, EffectiveGrants] = {}
        self._joined: tuple[Mapping[str, Profile], RuleSet] | None = None

    @property
    def definitions(self) -> PolicyDefinitions:
        """What it was made of."""
        return self._definitions

    @classmethod
    def of(cls, parts: Iterable[PolicyDefinitions] = ()) -> "RuleSet":
        return cls(merged([builtin(), *parts]))

    @classmethod
    def base_only(cls, why: str) -> "RuleSet":
        return cls(base_alone(), why)

    def with_profiles(self, profiles: Mapping[str, Profile]) -> "RuleSet":
        """The same with profiles that agents have to themselves; the revision is that of the files."""
        if not profiles or self.unusable:
            return self
        if self._joined is None or self._joined[0] is not profiles:
            both = replace(self._definitions, profiles={**self.profiles, **profiles})
            made = RuleSet(both, self.unusable, self._watching)
            made.revision = self.revision
            self._joined = (profiles, made)
        return self._joined[1]

    @cached_property
    def watched(self) -> "RuleSet | None":
        """The rules as they would be if what is only watched decided, too; none where nothing is."""
        if self._watching or not self._watches:
            return None
        return RuleSet(self._definitions, self.unusable, watching=True)

    def grant(self, name: str) -> Grant:
        """A grant with everything it extends."""
        if name not in self.grants:
            raise NotFound("grant", name, self.grants, "see the policy's files: prowess policy check")
        if name not in self._whole:
            own = self.grants[name]
            walk(name, lambda one: self._extended_by(one), own.place, "extends")
            bases = [self.grant(one) for one in own.extends]
            whole = reduce(lambda grant, base: grant.over(base), bases, own)
            self._whole[name] = whole if self._watching else whole.enforced()
        return self._whole[name]

    def profile(self, name: str) -> Profile:
        """A profile joined with everything it extends."""
        if name == NOBODY:
            return Profile(name=NOBODY, place="no profile")
        if name not in self.profiles:
            raise NotFound("profile", name, self.profiles, ADD_PROFILE)
        place = self.profiles[name].place
        order = walk(name, lambda one: self._ancestors(one), place, "extends")
        own = (self.profiles[one] for one in order)
        parts = [one if self._watching else enforced(one) for one in own]
        limits = self._stated_limits({one.name: one for one in parts})
        return replace(joined(parts), limits=limits)

    def holding(self, name: str) -> EffectiveGrants:
        """The grants of a profile, those they require and those that come with every profile."""
        if name not in self._held:
            self._held[name] = self._hold(self.profile(name))
        return self._held[name]

    def closure(self, name: str, place: str) -> tuple[str, ...]:
        """A grant and everything it requires, the requirements first."""
        return walk(name, lambda one: self._required_by(one, place), self.grants[name].place, "requires")

    def always(self) -> tuple[str, ...]:
        """What comes with every profile, with what that requires."""
        first = sorted(n for n, grant in self.grants.items() if grant.always_included and self._counts(grant))
        each = (self.closure(name, self.grants[name].place) for name in first)
        return tuple(dict.fromkeys(one for closure in each for one in closure))

    def _counts(self, grant: Grant) -> bool:
        return self._watching or grant.mode == "enforce"

    def sound(self) -> tuple[str, ...]:
        """The grants that can be used, in order of name."""
        return tuple(name for name in sorted(self.grants) if self._is_sound(name))

    def _is_sound(self, name: str) -> bool:
        try:
            self.closure(name, self.grants[name].place)
        except PolicyError:
            return False
        return True

    def _hold(self, profile: Profile) -> EffectiveGrants:
        always = self.always()
        chosen = [name for name, flag in profile.flags.items() if flag.on]
        self._refuse_unknown(profile)
        dropped = self._dropped(profile, always, chosen)
        kept = self._kept_below(profile, chosen, dropped)
        why: dict[str, tuple[str, ...]] = {
            name: (f"grant {name!r} comes with every profile",) for name in always
        }
        for name in chosen:
            if name not in dropped:
                self._trace(name, (f"profile {profile.flags[name].profile!r} holds grant {name!r}",), why)
        for name, above in kept.items():
            steps = (f"profile {profile.flags[above].profile!r} holds grant {above!r}", f"{dropped[above]}")
            self._trace(name, (*steps, f"what it requires stays: {name!r}"), why)
        grants = {name: self.grant(name) for name in why}
        limits = self._limits(profile, grants)
        return EffectiveGrants(profile=profile, grants=grants, why=why, dropped=dropped, limits=limits)

    def _trace(self, name: str, steps: tuple[str, ...], why: dict[str, tuple[str, ...]]) -> None:
        """Note why a grant is held, and through it everything it requires; the first reason stays."""
        if name in why:
            return
        why[name] = steps
        for needed in self.grant(name).requires:
            self._trace(needed, (*steps, f"grant {name!r} requires {needed!r}"), why)

    def _dropped(self, profile: Profile, always: Sequence[str], chosen: Sequence[str]) -> dict[str, str]:
        """What the profile asks for, by itself or through another grant, and does not get, and why."""
        dropped: dict[str, str] = {}
        for name in dict.fromkeys([*chosen, *profile.flags]):
            for one in self.closure(name, profile.place):
                reason = "" if one in always else self._against(one, profile, dropped)
                if reason:
                    dropped.setdefault(one, reason)
        return dropped

    def _kept_below(
        self, profile: Profile, chosen: Sequence[str], dropped: Mapping[str, str]
    ) -> Mapping[str, str]:
        """What grants above the profile's cap require and is itself below it -> the grant that brings it."""
        cap = profile.level
        capped = [name for name in chosen if name in dropped and cap and self._is_above(name, cap)]
        return {
            one: name for name in capped for one in self.closure(name, profile.place) if one not in dropped
        }

    def _is_above(self, name: str, cap: Level) -> bool:
        return LEVELS.index(self.grant(name).level or UNSTATED) > LEVELS.index(cap)

    def _against(self, name: str, profile: Profile, dropped: Mapping[str, str]) -> str:
        flag = profile.flags.get(name)
        if flag and not flag.on:
            return f"profile {flag.profile!r} removes grant {name!r}"
        if not self._counts(self.grants[name]):
            return f"grant {name!r} is only watched (mode: shadow)"
        level = self.grant(name).level or UNSTATED
        if profile.level and self._is_above(name, profile.level):
            return (
                f"grant {name!r} is at level {level}, above level {profile.level} of profile {profile.name!r}"
            )
        lost = next((one for one in self.grant(name).requires if one in dropped), "")
        return f"grant {name!r} requires {lost!r}, and {dropped[lost]}" if lost else ""

    def _limits(self, profile: Profile, grants: Mapping[str, Grant]) -> Limits:
        for grant in grants.values():
            for name, most in grant.limits.items():
                stated = profile.limits.get(name, most)
                if stated > most:
                    what = f"{name} {stated} contradicts grant {grant.name!r}, which allows {most}"
                    raise PolicyError(profile.place, what, "lower it, or redefine the grant with override")
        return reduce(smallest, (grant.limits for grant in grants.values()), profile.limits)

    def _stated_limits(self, order: Mapping[str, Profile]) -> Limits:
        """What the last of these profiles states, with what it inherits from those before it."""
        limits: dict[str, Limits] = {}
        for name, own in order.items():
            inherited: Limits = reduce(smallest, (limits[base] for base in own.extends), {})
            for limit, value in own.limits.items():
                if value > inherited.get(limit, value):
                    what = f"{limit} {value} contradicts what it extends, which allows {inherited[limit]}"
                    raise PolicyError(
                        own.place, what, "a profile may lower an inherited limit, never raise it"
                    )
            limits[name] = smallest(inherited, own.limits)
        return limits[list(order)[-1]]

    def _required_by(self, name: str, place: str) -> tuple[str, ...]:
        if name not in self.grants:
            raise unknown(place, "unknown grant", name, self.grants)
        for needed in self.grant(name).requires:
            if needed not in self.grants:
                raise unknown(self.grants[name].place, "requires unknown grant", needed, self.grants)
        return self.grant(name).requires

    def _extended_by(self, name: str) -> tuple[str, ...]:
        for base in self.grants[name].extends:
            if base not in self.grants:
                raise unknown(self.grants[name].place, "extends unknown grant", base, self.grants)
        return self.grants[name].extends

    def _ancestors(self, name: str) -> tuple[str, ...]:
        for base in self.profiles[name].extends:
            if base not in self.profiles:
                raise unknown(self.profiles[name].place, "extends unknown profile", base, self.profiles)
        return self.profiles[name].extends

    def _refuse_unknown(self, profile: Profile) -> None:
        for name in profile.flags:
            if name not in self.grants:
                raise unknown(profile.place, "unknown grant", name, self.grants)


def unknown(place: str, what: str, name: str, known: Iterable[str]) -> PolicyError:
    close = nearest(name, known)
    remedy = f"did you mean {close!r}?" if close else f"known: {', '.join(sorted(known)) or 'none'}"
    return PolicyError(place, f"{what} {name!r}", remedy)


def grant_digest(grant: Grant) -> str:
    """What a grant says, as a hash: a review holds for exactly this."""
    return _digest(replace(grant, place=""))


def _revision(definitions: PolicyDefinitions) -> str:
    grants = [replace(definitions.grants[name], place="") for name in sorted(definitions.grants)]
    profiles = [replace(definitions.profiles[name], place="") for name in sorted(definitions.profiles)]
    return _digest([grants, profiles])


def _digest(value: object) -> str:
    plain = msgspec.to_builtins(value, order="deterministic")
    return hashlib.sha256(canonical(_without_defaults(plain)).encode()).hexdigest()[:16]


LATER = ("where", "excepted", "when", "shadow", "mode")
"""What rules could not always say: where one does not say it, a review of it still holds."""


def _without_defaults(value: object) -> object:
    if isinstance(value, dict):
        said = {k: v for k, v in value.items() if k not in LATER or v not in (None, [], False, "enforce")}
        return {key: _without_defaults(one) for key, one in said.items()}
    return [_without_defaults(one) for one in value] if isinstance(value, list | tuple) else value


def _bindings(profiles: Iterable[Profile]) -> dict[str, str]:
    bound: dict[str, str] = {}
    for profile in profiles:
        for agent in profile.agents:
            if agent in bound:
                what = f"binds agent {agent!r}, which profile {bound[agent]!r} binds too"
                raise PolicyError(profile.place, what, "leave it in one of the two")
            bound[agent] = profile.name
    return bound
