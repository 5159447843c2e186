"""What an agent may use, and why: the stage the engine holds.

Above: the engine, which hands over what exists and journals what is decided. Below: the rules of
the policy files and what the store knows of agents, approvals and reviews. Call `refresh` once at
the start of a turn or a use; everything after it answers from memory. Writers take the engine's
open transaction, so that a change and its journal entry happen together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from prowess.errors import NotFound, PolicyError
from prowess.journal import Clock, Journal, stamp
from prowess.policy import agent_tokens as token_table
from prowess.policy import agents as agent_table
from prowess.policy import approvals as approval_table
from prowess.policy import state as standing_tables
from prowess.policy.agent_problems import agent_problems
from prowess.policy.agents import Agent
from prowess.policy.approvals import Approval, ApprovalAnswer
from prowess.policy.bindings import Binding, Bindings, name_of
from prowess.policy.check import findings
from prowess.policy.composed import composed_profiles, definition_of
from prowess.policy.composed import name_of as composed_name
from prowess.policy.definitions import PolicyDefinitions
from prowess.policy.explain import Explanation, explained
from prowess.policy.files import Loaded, Stamp, load, stamp_files
from prowess.policy.grants import Limits
from prowess.policy.proposals import PolicySource
from prowess.policy.resolve import AllowedIds, Resolved
from prowess.policy.ruleset import ADD_PROFILE, RuleSet, grant_digest
from prowess.policy.settlement import Authorization, UseArguments, UseSettlement
from prowess.policy.snapshot import Existing, PolicySnapshot, as_id
from prowess.policy.spawning import refuse_excess, refuse_too_many
from prowess.policy.state import GrantReview, PolicyState
from prowess.store.database import Database, Transaction
from prowess.types import Decision, Problem


@dataclass(frozen=True, slots=True)
class Shift:
    """What a profile allows of what exists, and did not before; and the other way round."""

    profile: str
    gained: tuple[str, ...]
    lost: tuple[str, ...]


class Policy:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        files: Sequence[Path] = (),
        definitions: Sequence[PolicyDefinitions] = (),
    ) -> None:
        self._database = database
        self._clock = clock
        self._journal = Journal(database, clock)
        self._files = tuple(files)
        self._definitions = tuple(definitions)
        self._loaded = Loaded(RuleSet.base_only("it is not read yet"))
        self._stamp: Stamp | None = None
        self._standing = PolicyState()
        self._moment: PolicySnapshot | None = None
        self.refresh()

    @property
    def rules(self) -> RuleSet:
        return self._loaded.rules

    @property
    def revision(self) -> str:
        """A digest of everything the policy says."""
        return self._loaded.rules.revision

    @property
    def files(self) -> tuple[Path, ...]:
        return self._files

    @property
    def source(self) -> PolicySource:
        """Where the rules come from, for those who change them."""
        return PolicySource(self._files, self._definitions)

    @property
    def state(self) -> str:
        """Moves with everything a decision rests on beside the catalogue: rules, agents and reviews."""
        return f"{self.revision}.{self._standing.version}"

    @property
    def standing(self) -> PolicyState:
        """What the store said of agents and reviews when it was last read."""
        return self._standing

    def refresh(self) -> None:
        """Take in what changed in the files or in the store since the last look."""
        if not self.read_files():
            self._database.read(self.read_standing)

    def read_files(self) -> bool:
        """Take in what changed in the files since the last look, and then in the store; whether they did."""
        seen = stamp_files(self._files)
        if seen == self._stamp:
            return False
        self._loaded = load(self._files, self._definitions)
        self._database.read(self.read_standing)
        if not self.rules.unusable:
            token_table.follow(self._database, self._journal, self._bindings, self._clock)
        # Only now: where the store cannot be written, whoever comes next tries again.
        self._stamp = seen
        return True

    def read_standing(self, transaction: Transaction) -> PolicyState:
        """Take in what changed in the store, as this transaction sees it."""
        standing = self._standing
        if not standing.is_current(transaction):
            standing = self._standing = standing_tables.read_standing(transaction)
        return standing

    # --- what is allowed -----------------------------------------------------------------------

    def decide(self, agent: str, id: str, existing: Existing, authenticated: bool = True) -> Decision:
        """Allow, ask or deny; remembered until the policy, the agents or the catalogue change."""
        return self.at(existing).decision(agent, id, authenticated)

    def allowed(self, agent: str, existing: Existing, authenticated: bool = True) -> AllowedIds:
        """Every id the agent may use, at once and with approval."""
        return self.at(existing).allowed(agent, authenticated)

    def resolve(self, profile: str, existing: Existing) -> Resolved:
        return self.at(existing).resolve(profile)

    def explain(self, agent: str, id: str, existing: Existing, authenticated: bool = True) -> Explanation:
        """For people: how the verdict comes about, and what would change it."""
        moment = self.at(existing)
        id = moment.meant(agent, id, authenticated)[0]
        stated = moment.use(agent, id, authenticated)
        return explained(moment.about(id), agent, id, stated, stated)

    def meant(self, agent: str, text: str, existing: Existing, authenticated: bool = True) -> tuple[str, ...]:
        """The ids somebody may mean by a name, the one with the strictest verdict first."""
        return self.at(existing).meant(agent, text, authenticated)

    def limits(self, agent: str, existing: Existing) -> Limits:
        return self.at(existing).limits(agent)

    def pinned(self, agent: str, existing: Existing) -> tuple[str, ...]:
        """What is always in tier 1: existing, allowed, in order of id."""
        return self.at(existing).pinned(agent)

    def shifts(self, before: Existing, after: Existing) -> tuple[Shift, ...]:
        """What a sync changed for each profile, for the journal."""
        earlier, later = (PolicySnapshot(self.rules, self._standing, one) for one in (before, after))
        found = []
        for profile in sorted(self.rules.profiles):
            if not later.why_unusable(profile):
                had, has = _existing_ids(earlier, profile), _existing_ids(later, profile)
                found.append(Shift(profile, tuple(sorted(has - had)), tuple(sorted(had - has))))
        return tuple(shift for shift in found if shift.gained or shift.lost)

    def problems(self, existing: Existing) -> tuple[Problem, ...]:
        """Everything that is wrong with the policy, for `doctor`."""
        if self._loaded.problems:
            return self._loaded.problems  # whatever else is wrong follows from them
        moment = self.at(existing)
        return (*findings(self.rules, moment.names), *agent_problems(moment))

    def at(self, existing: Existing, standing: PolicyState | None = None) -> PolicySnapshot:
        """Rules, agents and catalogue as one value, kept while none of them changes."""
        rules, moment = self._loaded.rules, self._moment
        standing = standing or self._standing
        # Compared and not reset: another thread may be making one of what was true a moment ago.
        if moment is None or not moment.is_of(rules, standing, existing):
            moment = self._moment = PolicySnapshot(rules, standing, existing)
        return moment

    # --- at use --------------------------------------------------------------------------------

    def settle(
        self,
        transaction: Transaction,
        agent: str,
        id: str,
        existing: Existing,
        authenticated: bool = True,
        use: UseArguments | None = None,
    ) -> Authorization:
        """Decide a use for good: with what a person answered, and counted against its limits."""
        settlement = UseSettlement(transaction, self._within(transaction, existing), self._clock())
        return settlement.settle(agent, as_id(id), authenticated, use or UseArguments())

    def give_back(self, transaction: Transaction, approval: str) -> bool:
        """A yes for one use was taken up, and the use has not come about yet."""
        return approval_table.give_back(transaction, approval)

    def foretell(
        self, moment: PolicySnapshot, agent: str, id: str, decision: Decision, digest: str = ""
    ) -> Decision:
        """What a use that is decided so would come to, with a person's answer and its limits; for people."""
        with self._database.reading() as transaction:
            settlement = UseSettlement(transaction, moment, self._clock())
            return settlement.foretell(agent, as_id(id), decision, UseArguments(digest=digest))

    def _within(self, transaction: Transaction, existing: Existing) -> PolicySnapshot:
        """This moment as the transaction sees it: another process may have moved on."""
        moment = self.at(existing)
        if moment.standing.is_current(transaction):
            return moment
        return moment.with_standing(standing_tables.read_standing(transaction))

    # --- agents --------------------------------------------------------------------------------

    def agents(self) -> tuple[Agent, ...]:
        """Everyone who is bound to a profile, by the store or by a policy file, in order of name."""
        stated = {name: Agent(name=name, profile=profile) for name, profile in self.rules.bound.items()}
        both = {**stated, **self._standing.agents}
        return tuple(both[name] for name in sorted(both))

    def binding(self, agent: str) -> Binding:
        """What binds a name now: a token is valid for the binding it was issued under."""
        self.refresh()
        return self._bindings.of(agent)

    @property
    def _bindings(self) -> Bindings:
        rules = self.rules
        return Bindings(self._standing.agents, rules.bound, name_of(self._files), not rules.unusable)

    def bind(self, transaction: Transaction, name: str, profile: str) -> Agent:
        """A person binds a name to a profile; such an agent has no parent."""
        self._usable(profile)
        return self._add(transaction, Agent(name=name, profile=profile, since=stamp(self._clock())))

    def spawn(
        self,
        transaction: Transaction,
        parent: str,
        name: str,
        profile: str | Mapping[str, Any],
        existing: Existing,
        approval: str = "",
    ) -> Agent:
        """A child of an agent, refused when it would exceed its parent in anything.

        `profile` is the name of one, or what one says; `approval` is the answer that was just taken up for
        it, where one was needed.
        """
        standing_tables.lock(transaction)
        moment = self._within(transaction, existing)
        known = {*moment.standing.agents, *self.rules.bound}
        if parent not in known:
            raise NotFound("agent", parent, known, "see: prowess agent list")
        if name in self.rules.bound:
            raise PolicyError("agent", f"{name!r} is bound by a policy file", "choose another name")
        child = self._child(parent, name, profile)
        UseSettlement(transaction, moment, self._clock()).refuse_non_spawner(parent, approval)
        refuse_too_many(moment, parent)
        agents = {**moment.standing.agents, name: child}
        standing = replace(moment.standing, agents=agents, profiles=composed_profiles(agents))
        moment = moment.with_standing(standing)
        moment.rules.holding(child.profile)
        refuse_excess(moment, parent, child.profile)
        return self._add(transaction, child)

    def _child(self, parent: str, name: str, profile: str | Mapping[str, Any]) -> Agent:
        since = stamp(self._clock())
        if isinstance(profile, str):
            self._usable(profile)
            return Agent(name=name, profile=profile, parent=parent, since=since)
        said = definition_of(name, profile)
        return Agent(name=name, profile=composed_name(name), parent=parent, since=since, definition=said)

    def retire(self, transaction: Transaction, name: str) -> tuple[str, ...]:
        """Take an agent out, and everyone below it; returns their names."""
        if name in self.rules.bound and name not in agent_table.read_agents(transaction):
            file = self.rules.profiles[self.rules.bound[name]].place
            raise PolicyError(
                "agent", f"{name!r} is bound by a file ({file})", "take it out of 'agents' there"
            )
        gone = agent_table.remove(transaction, name)
        token_table.end_of_agents(transaction, self._journal, gone, self._clock())
        approval_table.forget(transaction, gone)
        standing_tables.forget_uses(transaction, gone)
        standing_tables.moved(transaction)
        return gone

    def _add(self, transaction: Transaction, agent: Agent) -> Agent:
        agent_table.insert(transaction, agent)
        standing_tables.moved(transaction)
        return agent

    def _usable(self, profile: str) -> None:
        if profile not in self.rules.profiles:
            raise NotFound("profile", profile, self.rules.profiles, ADD_PROFILE)
        self.rules.holding(profile)

    # --- what people say -----------------------------------------------------------------------

    def approvals(self, every: bool = False) -> tuple[Approval, ...]:
        """The questions that wait for an answer; or every one that is remembered."""
        with self._database.reading() as transaction:
            return approval_table.approvals(transaction, self._clock(), every)

    def answer(self, transaction: Transaction, id: str, said: ApprovalAnswer) -> Approval:
        return approval_table.answer(transaction, id, said, self._clock())

    def expire(self, transaction: Transaction) -> tuple[Approval, ...]:
        """Close what nobody answered in time and what was answered too long ago."""
        return approval_table.expire(transaction, self._clock())

    def review(self, transaction: Transaction, grant: str, by: str, note: str = "") -> GrantReview:
        """Record that an admin has looked at a grant as it is defined now."""
        if not by:
            raise PolicyError(f"review of {grant}", "nobody is named", "say who reviewed it: --by NAME")
        digest = grant_digest(self.rules.grant(grant))
        review = GrantReview(grant=grant, digest=digest, by=by, at=stamp(self._clock()), note=note)
        standing_tables.write_review(transaction, review)
        return review

    def reviews(self) -> tuple[GrantReview, ...]:
        with self._database.reading() as transaction:
            return standing_tables.reviews(transaction)


def _existing_ids(moment: PolicySnapshot, profile: str) -> frozenset[str]:
    found = moment.profile_reach(profile)
    return (found.allow | found.ask) & moment.capabilities.keys()
