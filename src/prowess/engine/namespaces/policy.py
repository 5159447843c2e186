"""`engine.policy`: what is allowed, as the policy files say it now."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from prowess.engine.past_decisions import past_decisions
from prowess.errors import NotFound, PolicyError
from prowess.journal import Journal
from prowess.journal.entries import GrantReviewed, PolicyChanged
from prowess.journal.payloads import Payloads
from prowess.journal.reading import read
from prowess.policy.diff import ProfileDifference, diff
from prowess.policy.grants import Limits
from prowess.policy.policy import Policy
from prowess.policy.proposals import PolicyProposal, PolicySource, read_text, write
from prowess.policy.replay import PolicyReplay, replay
from prowess.policy.resolve import AllowedIds, Resolved
from prowess.policy.ruleset import RuleSet
from prowess.policy.snapshot import PolicySnapshot
from prowess.policy.state import GrantReview
from prowess.store.database import Database
from prowess.text.rewriting import cut, text_digest
from prowess.types import Problem
from prowess.world import Worlds

MAX_CHANGES_READ = 1000


@dataclass(frozen=True, slots=True)
class PolicyLookup:
    """What is allowed, and why. To decide a use for good, and count it, call `engine.check`."""

    _database: Database
    _journal: Journal
    _policy: Policy
    _worlds: Worlds
    _payloads: Payloads
    _ids: Callable[[], str]

    @property
    def files(self) -> tuple[Path, ...]:
        """The policy files that are read."""
        return self._policy.files

    @property
    def revision(self) -> str:
        """A digest of everything the policy says; an offer names the one it was made under."""
        return self._policy.revision

    @property
    def rules(self) -> RuleSet:
        """Every grant and profile, as the files define them now."""
        self._policy.refresh()
        return self._policy.rules

    def allowed(self, agent: str, authenticated: bool = True) -> AllowedIds:
        """Every id an agent may use, at once (`allow`) and with approval (`ask`).

        agent: who would use them.
        authenticated: whether it is certain who the agent is.
        """
        return self._worlds.now(agent).policy.allowed(agent, authenticated)

    def resolve(self, profile: str) -> Resolved:
        """What a profile comes to, with everything it inherits.

        profile: its name, such as "researcher".
        """
        return self._worlds.now().policy.resolve(profile)

    def limits(self, agent: str) -> Limits:
        """How much an agent may use.

        agent: who.
        """
        return self._worlds.now(agent).policy.limits(agent)

    def pinned(self, agent: str) -> tuple[str, ...]:
        """What is in every offer of an agent, whatever is asked, in order of id.

        agent: who.
        """
        return self._worlds.now(agent).policy.pinned(agent)

    def problems(self) -> tuple[Problem, ...]:
        """Everything that is wrong with the policy."""
        return self._policy.problems(self._worlds.now().view)

    def review(self, grant: str, by: str, note: str = "") -> None:
        """An admin has looked at a grant as it is defined now.

        grant: its name.
        by: who looked; the journal names them.
        note: what they want to add.
        """
        self._policy.refresh()
        with self._database.writing() as transaction:
            review = self._policy.review(transaction, grant, by, note)
            entry = GrantReviewed(grant=grant, digest=review.digest, by=by, note=note)
            self._journal.append(transaction, entry)

    def propose(self, profile: str, *changes: str) -> PolicyProposal:
        """What changes of a profile would do, in its file and to whom; nothing is written.

        profile: its name.
        changes: such as "level=read", "capabilities.mail=true", "ask+=tool:bank/*" or "ask-=tool:bank/*".
        """
        return self._source.propose(self._moment(), self._agents(), profile, changes)

    def propose_undo(self) -> PolicyProposal:
        """What taking back the latest change would do; nothing is written."""
        entry = self._latest()
        file = Path(entry.file)
        text = read_text(file)
        if text_digest(text) != entry.digest:
            remedy = f"take it back by hand: {' '.join(entry.changes)}"
            raise PolicyError(file.name, "was changed otherwise since", remedy)
        before = f"{text[: entry.at]}{entry.taken}{text[entry.at + len(entry.put) :]}"
        return self._source.replaced(self._moment(), self._agents(), file, text, before, entry.id)

    def change(self, proposal: PolicyProposal, by: str) -> None:
        """Write what was proposed into its file. Raises Outdated where that changed meanwhile.

        proposal: what `propose` or `propose_undo` gave.
        by: who confirmed it; the journal names them.
        """
        at, taken, put = cut(proposal.before, proposal.after)
        entry = PolicyChanged(
            id=self._ids(), profile=proposal.profile, changes=proposal.changes,
            file=str(proposal.file.resolve()), at=at, taken=taken, put=put,
            digest=text_digest(proposal.after), by=by, undoes=proposal.undoes,
        )  # fmt: skip
        with self._database.writing() as transaction:
            self._journal.append(transaction, entry)
            write(proposal)
        self._policy.refresh()

    def replay(self, rules: RuleSet, most: int = 100_000) -> PolicyReplay:
        """Every decision of the journal that other rules would make otherwise.

        rules: the other rules, such as those of a changed file.
        most: so many of the latest decisions.
        """
        past = past_decisions(self._journal, self._payloads, most)
        return replay(self._moment().under(rules), past)

    def diff(self, before: str, after: str) -> ProfileDifference:
        """What an agent gains and loses that has one profile and then another.

        before: the name of a profile, such as "reader".
        after: that of another.
        """
        moment = self._moment()
        for name in (before, after):
            if name not in moment.rules.profiles:
                raise NotFound("profile", name, moment.rules.profiles, "see: prowess policy check")
        sides = (moment.rules, before), (moment.rules, after)
        reviewed = moment.standing.reviewed
        return diff(*sides, moment.names, reviewed=(reviewed, reviewed))

    def changes(self) -> tuple[tuple[str, PolicyChanged], ...]:
        """When each change was made and what it was, the newest first."""
        stored = self._journal.latest(MAX_CHANGES_READ, type=PolicyChanged.type)[::-1]
        found = ((one.at, read(one)) for one in stored)
        return tuple((at, entry) for at, entry in found if isinstance(entry, PolicyChanged))

    def _latest(self) -> PolicyChanged:
        """The latest change that was not taken back."""
        found = [entry for _, entry in self.changes()]
        undone = {entry.undoes for entry in found}
        for entry in found:
            if not entry.undoes and entry.id not in undone:
                return entry
        raise NotFound("change", "to take back", see="see: prowess log --type policy.changed")

    def _moment(self) -> PolicySnapshot:
        return self._worlds.now().policy

    def _agents(self) -> Mapping[str, str]:
        return {one.name: one.profile for one in self._policy.agents()}

    @property
    def _source(self) -> PolicySource:
        return self._policy.source

    def reviews(self) -> tuple[GrantReview, ...]:
        """The last review of each grant."""
        return self._policy.reviews()
