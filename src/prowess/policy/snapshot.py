"""The rules, who is bound to them and what exists, at one moment. Every answer from it agrees.

Above: `Policy`, which makes a new one whenever any of the three changed. Below: `resolve`.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Protocol, TypeVar, cast

from prowess.catalogue.stored import PagedCapabilities
from prowess.errors import ProwessError
from prowess.policy.agents import lineage
from prowess.policy.conditions import Arguments
from prowess.policy.grants import DEPTH, Limits, smallest
from prowess.policy.matches import RuleVerdict, Thing, mention
from prowess.policy.mcp import kept_from_mcp
from prowess.policy.patterns import EVENT, HOST, CatalogueNames, Pattern, is_own_kind
from prowess.policy.resolve import UNMENTIONED, AllowedIds, Resolved, conditional_ids, judge, reach, resolve
from prowess.policy.ruleset import NOBODY, EffectiveGrants, RuleSet
from prowess.policy.spelling import spelt
from prowess.policy.state import PolicyState
from prowess.types import KINDS, Capability, Decision, Verdict

REMEMBERED = 200_000
REMEMBERED_VALUES = 1024
T = TypeVar("T")
ABSENT = "nothing of that name exists"
OF_EVERY_PROFILE = "what comes with every profile"
STRICTNESS: Mapping[Verdict, int] = {"allow": 0, "ask": 1, "deny": 2}


class Existing(Protocol):
    """What exists, at one version: the catalogue's view is one."""

    @property
    def version(self) -> int: ...

    @property
    def capabilities(self) -> Mapping[str, Capability]: ...

    @property
    def trust(self) -> Mapping[str, str]:
        """Source -> how far it is trusted."""


class PolicySnapshot:
    def __init__(self, rules: RuleSet, standing: PolicyState, existing: Existing) -> None:
        self._stated = rules
        self.rules = rules.with_profiles(standing.profiles)
        self.standing = standing
        self.version = existing.version
        self.capabilities = existing.capabilities
        self.trust = existing.trust
        self._decisions: dict[tuple[str, str, bool], Decision] = {}
        self._names: CatalogueNames | None = None
        self._reaches: dict[str, AllowedIds] = {}
        self._made: dict[Hashable, object] = {}

    def is_of(self, rules: RuleSet, standing: PolicyState, existing: Existing) -> bool:
        return (
            self._stated is rules
            and self.standing is standing
            and self.version == existing.version
            and self.capabilities is existing.capabilities
            and self.trust == existing.trust
        )

    @property
    def revision(self) -> str:
        """A digest of everything the rules say."""
        return self.rules.revision

    @property
    def state(self) -> str:
        """Moves with everything a decision rests on beside the catalogue: rules, agents and reviews."""
        return f"{self.revision}.{self.standing.version}"

    def remembered(self, key: Hashable, make: Callable[[], T]) -> T:
        """What follows from this moment alone, made once; of the oldest, nothing is kept for ever."""
        found = self._made.get(key)
        if found is None:
            if len(self._made) >= REMEMBERED_VALUES:
                self._made.clear()
            found = self._made[key] = make()
        return cast(T, found)

    @property
    def names(self) -> CatalogueNames:
        if self._names is None:
            self._names = CatalogueNames(self.capabilities, self.trust)
        return self._names

    def thing(self, id: str) -> Thing:
        """What is decided about when something of this id is asked for."""
        capability = self.capabilities.get(id)
        return Thing(id, capability, self._trust_of(capability))

    def _trust_of(self, capability: Capability | None) -> str:
        """How far the source of something is trusted."""
        return self.trust.get(capability.source, "") if capability else ""

    def profile_of(self, agent: str) -> str:
        """The profile that counts; none when the agent is bound to none, or to one that cannot be used."""
        bound = self.standing.agents.get(agent)
        name = bound.profile if bound else self.rules.bound.get(agent, NOBODY)
        return name if self.why_unusable(name) == "" else NOBODY

    def why_unusable(self, profile: str) -> str:
        try:
            self.rules.holding(profile)
        except ProwessError as error:
            return str(error)
        return ""

    def meanings(self, text: str) -> Sequence[str]:
        """The ids that a person, a host or a model may mean by a name, never none.

        What exists of that id, else what exists of that name; a host's tool goes by its name as well.
        """
        name = spelt(text)
        if name.isascii() and name in self.capabilities:
            return (name,)
        found = self._called(name)
        id = as_id(name)
        if found and not (id.startswith(HOST) and id in self.rules.stated):
            return found
        return (*found, EVENT + id if is_own_kind(id) else id)

    def _called(self, name: str) -> Sequence[str]:
        if isinstance(self.capabilities, PagedCapabilities):
            return tuple(self.capabilities.several([name, *(f"{kind}:{name}" for kind in KINDS)]))
        return self.names.called(name) or self.names.named(name)

    def meant(
        self, agent: str, text: str, authenticated: bool = True, arguments: Arguments = "any"
    ) -> tuple[str, ...]:
        """Those ids, the one with the strictest verdict first."""

        def strictness(id: str) -> int:
            return -STRICTNESS[self.use(agent, id, authenticated, arguments).verdict]

        return tuple(sorted(self.meanings(text), key=strictness))

    def use(self, agent: str, id: str, authenticated: bool, arguments: Arguments = "any") -> Decision:
        """What `decide` says where there is something to use; what does not exist is denied like the rest."""
        decision = self.decision(agent, id, authenticated, arguments)
        if decision.verdict == "deny" or id in self.capabilities or self.is_stated(agent, id):
            return decision
        return replace(decision, verdict="deny", reason=ABSENT, chain=(*decision.chain, ABSENT))

    def is_stated(self, agent: str, id: str) -> bool:
        """Whether it is the host's to provide, a tool or an event of its own, and rules give it by name."""
        if id in self.rules.stated:
            return True
        holding = self.holding(agent)
        given = [p for grant in holding.grants.values() for p in grant.patterns]
        given += [rule.pattern for rule in holding.profile.additional]
        return any(p.target == "host" and p.matches(id) for p in given)

    @property
    def watched(self) -> "PolicySnapshot | None":
        """This moment as it would be if what is only watched decided, too; none where nothing is."""
        rules = self.rules.watched
        return self.remembered("watched", lambda: self.under(rules)) if rules else None

    def under(self, rules: RuleSet) -> "PolicySnapshot":
        """The same agents and catalogue under other rules."""
        moment = PolicySnapshot(rules, self.standing, self)
        moment._names = self.names
        return moment

    def conditions(self, agent: str) -> Mapping[str, tuple[str, ...]]:
        """Id -> what its arguments must be, of everything the agent may use."""
        if not self.rules.conditional:
            return {}
        return self.remembered(("conditions", agent), lambda: self._conditions(agent))

    def _conditions(self, agent: str) -> Mapping[str, tuple[str, ...]]:
        reached = self.reach(agent)
        ids = conditional_ids(self.rules, self.names, reached.allow | reached.ask)
        found = ((id, self.decision(agent, id, True).conditions) for id in sorted(ids))
        return {id: said for id, said in found if said}

    def holding(self, agent: str) -> EffectiveGrants:
        return self.rules.holding(self.profile_of(agent))

    def line(self, agent: str) -> tuple[str, ...]:
        """The agent and all its ancestors."""
        return lineage(self.standing.agents, agent) or (agent,)

    def resolve(self, profile: str) -> Resolved:
        return resolve(self.rules, profile, self.names, self.standing.reviewed)

    def reach(self, agent: str) -> AllowedIds:
        """Everything the agent may use, by its profile and by those of all its ancestors."""
        return reduce(
            AllowedIds.within, (self.profile_reach(self.profile_of(one)) for one in self.line(agent))
        )

    def allowed(self, agent: str, authenticated: bool) -> AllowedIds:
        """Every id the agent may use, at once and with approval."""
        found = self.reach(agent)
        if authenticated:
            return found
        closed = {id for id, one in self.capabilities.items() if declares(one, "requires_auth")}
        return AllowedIds(found.allow - closed, found.ask - closed)

    def kept_from_mcp(self, agent: str) -> frozenset[str]:
        """What the agent may use and no MCP client is shown, finds or calls."""
        made = (self._profile_kept_from_mcp(self.profile_of(one)) for one in self.line(agent))
        return frozenset().union(*made)

    def _profile_kept_from_mcp(self, profile: str) -> frozenset[str]:
        return self.remembered(("mcp", profile), lambda: kept_from_mcp(self.rules, profile, self.names))

    def pinned(self, agent: str) -> tuple[str, ...]:
        """What is always in tier 1: existing, allowed, in order of id."""
        return self.remembered(("pinned", agent), lambda: self._pinned(agent))

    def _pinned_of_many(self, patterns: Sequence[Pattern], existing: PagedCapabilities) -> tuple[str, ...]:
        """What patterns pin, whether or not it is allowed, where it is looked up."""
        found = set(existing.several([one.id for one in patterns if one.exact]))
        globs = [one for one in patterns if not one.exact]
        for page in existing.pages() if globs else ():
            found |= {
                id
                for id, each in page.items()
                if any(one.matches(id, each, self._trust_of(each)) for one in globs)
            }
        return tuple(sorted(found))

    def _pinned(self, agent: str) -> tuple[str, ...]:
        rules = self.holding(agent).profile.pinned
        if not rules:
            return ()
        if isinstance(self.capabilities, PagedCapabilities):
            return self._pinned_of_many([rule.pattern for rule in rules], self.capabilities)
        found = self.reach(agent)
        ids = {id for rule in rules for id in self.names.matching(rule.pattern)}
        return tuple(sorted(id for id in ids if id in found.allow or id in found.ask))

    def profile_reach(self, profile: str) -> AllowedIds:
        if profile not in self._reaches:
            holding = self.rules.holding(profile)
            self._reaches[profile] = reach(holding, self.names, self.rules.host_names, self.standing.reviewed)
        return self._reaches[profile]

    def limits(self, agent: str) -> Limits:
        """The agent's limits, none above its parent's, and one level of depth less than its parent's."""
        line = self.line(agent)
        limits: Limits = {}
        for place, one in enumerate(reversed(line)):
            if place and DEPTH in limits:
                limits = {**limits, DEPTH: max(0, limits[DEPTH] - 1)}
            limits = smallest(limits, self.holding(one).limits)
        return limits

    def decision(self, agent: str, id: str, authenticated: bool, arguments: Arguments = "any") -> Decision:
        """What `decide` says, remembered where arguments have nothing to do with it."""
        key = (agent, id, authenticated)
        found = self._decisions.get(key)
        if found is None:
            if len(self._decisions) >= REMEMBERED:
                self._decisions.clear()  # an agent that tries every name must not fill the memory
            found = self._decisions[key] = self.decide(agent, id, authenticated)
        if arguments == "any" or not found.conditions:
            return found
        return self.decide(agent, id, authenticated, arguments)

    def decide(self, agent: str, id: str, authenticated: bool, arguments: Arguments = "any") -> Decision:
        id = as_id(id)
        judged = self._strictest(agent, id, arguments)
        if (
            judged.verdict != "deny"
            and not authenticated
            and declares(self.capabilities.get(id), "requires_auth")
        ):
            reason = "it requires authentication, and the agent is not authenticated"
            judged = RuleVerdict("deny", reason, (*judged.steps, reason))
        return self._as_decision(judged)

    def _as_decision(self, judged: RuleVerdict, first: tuple[str, ...] = ()) -> Decision:
        return Decision(
            verdict=judged.verdict,
            reason=judged.reason,
            chain=(*first, *judged.steps),
            revision=self.rules.revision,
            conditions=judged.conditions,
        )

    def _strictest(self, agent: str, id: str, arguments: Arguments) -> RuleVerdict:
        """The verdict of whoever in the agent's line says the least."""
        line = self.line(agent)
        judged = [self._judge(one, id, arguments) for one in line]
        chosen = max(range(len(line)), key=lambda place: (STRICTNESS[judged[place].verdict], -place))
        strictest = judged[chosen]
        # Whatever binds any of them binds the agent.
        conditions = tuple(dict.fromkeys(said for one in judged for said in one.conditions))
        said = conditions if strictest.conditions or strictest.verdict != "deny" else ()
        if chosen == 0:
            return strictest._replace(conditions=said)
        above = f"agent {agent!r} descends from {line[chosen]!r}, whom it never exceeds"
        return strictest._replace(steps=(above, *strictest.steps), conditions=said)

    def profile_decision(self, profile: str, id: str, arguments: Arguments = "any") -> Decision:
        """What a profile says by itself; one that cannot be used gives only what comes with every profile."""
        why = self.why_unusable(profile)
        judged = self._judged(self.rules.holding(NOBODY if why else profile), id, arguments)
        first = (
            (f"profile {profile!r} cannot be used and gives only {OF_EVERY_PROFILE}: {why}",) if why else ()
        )
        return self._as_decision(judged, first)

    def _judge(self, agent: str, id: str, arguments: Arguments) -> RuleVerdict:
        judged = self._judged(self.holding(agent), id, arguments)
        return judged._replace(steps=(self._introduction(agent), *judged.steps))

    def _judged(self, holding: EffectiveGrants, id: str, arguments: Arguments) -> RuleVerdict:
        capability = self.capabilities.get(id)
        trust = self._trust_of(capability)
        judged = judge(holding, id, capability, self.standing.reviewed, trust, arguments)
        reason = judged.reason
        if reason == UNMENTIONED:
            thing = self.thing(id)
            dropped = (name for name in holding.dropped if mention(self.rules.grant(name), thing))
            reason = next((holding.dropped[name] for name in dropped), reason)
        return judged._replace(reason=reason)

    def _introduction(self, agent: str) -> str:
        if self.rules.unusable:
            return f"the policy cannot be used, so agents have only {OF_EVERY_PROFILE}: {self.rules.unusable}"
        bound = self.standing.agents.get(agent)
        stated = bound.profile if bound else self.rules.bound.get(agent, NOBODY)
        parent = f", child of {bound.parent!r}," if bound and bound.parent else ""
        if stated == NOBODY:
            return f"agent {agent!r} is bound to no profile and has only {OF_EVERY_PROFILE}"
        why = self.why_unusable(stated)
        if why:
            return f"agent {agent!r} has only {OF_EVERY_PROFILE}, for its profile cannot be used: {why}"
        return f"agent {agent!r}{parent} has profile {stated!r}"

    def about(self, id: str) -> "PolicySnapshot":
        """For what is said of one thing: where all is looked up, this moment as if nothing else were."""
        if not isinstance(self.capabilities, PagedCapabilities):
            return self
        return PolicySnapshot(self._stated, self.standing, _SomeOfAll(self, self.capabilities.several([id])))

    def with_standing(self, standing: PolicyState) -> "PolicySnapshot":
        """The same rules and catalogue, for what a transaction sees of the agents."""
        moment = PolicySnapshot(self._stated, standing, self)
        moment._names = self._names
        return moment


class _SomeOfAll:
    """A few capabilities of a moment."""

    def __init__(self, moment: PolicySnapshot, capabilities: Mapping[str, Capability]) -> None:
        self.version, self.trust, self.capabilities = moment.version, moment.trust, capabilities


def as_id(text: str) -> str:
    """A name without a colon is a host's tool."""
    return text if ":" in text.partition("(")[0] else HOST + text


def declares(capability: Capability | None, what: str) -> bool:
    """Whether the metadata of a capability states something about it."""
    return capability is not None and bool(capability.metadata.get(what))
