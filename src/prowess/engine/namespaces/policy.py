"""`engine.policy`: what is allowed, as the policy files say it now."""

from dataclasses import dataclass
from pathlib import Path

from prowess.journal import Journal
from prowess.journal.entries import GrantReviewed
from prowess.policy.grants import Limits
from prowess.policy.policy import Policy
from prowess.policy.resolve import AllowedIds, Resolved
from prowess.policy.ruleset import RuleSet
from prowess.policy.state import GrantReview
from prowess.store.database import Database
from prowess.types import Problem
from prowess.world import Worlds


@dataclass(frozen=True, slots=True)
class PolicyLookup:
    """What is allowed, and why. To decide a use for good, and count it, call `engine.check`."""

    _database: Database
    _journal: Journal
    _policy: Policy
    _worlds: Worlds

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

    def reviews(self) -> tuple[GrantReview, ...]:
        """The last review of each grant."""
        return self._policy.reviews()
