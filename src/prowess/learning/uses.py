"""How each capability does when it is used, whether or not somebody searched for it; and what fails now.

Above: what reads the journal; the world, which ranks what fails lower. Below: the store, whose tables of uses
and of failing capabilities this module owns. Each agent has one voice: reporting failures again and again
does not outweigh what works for others.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from prowess.learning.usage_entries import Tried
from prowess.store.database import Transaction

MIN_FAILURES = 5
"""So many uses must have failed before a capability counts as failing."""
SHOWN_USES = 10
MOSTLY = (3, 5)
"""So many of so many uses in a row, or the first one, must have worked for an agent that knows it."""
MAX_USES_READ = 1000
MAX_USES_KEPT = 200_000


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a capability: whose, when, and whether it worked."""

    agent: str
    ok: bool
    at: str
    chosen: bool = False
    """Whether it was chosen for a request: then it may have been the wrong choice."""


@dataclass(frozen=True, slots=True)
class Failing:
    """A capability that fails for most of those who use it now."""

    capability: str
    why: str
    since: str


def note(transaction: Transaction, tried: Tried) -> None:
    """Remember a use; tried again, it is one use, which worked if it worked in the end."""
    transaction.run(
        "INSERT INTO learning_use (workspace, capability, use, agent, ok, at, chosen)"
        " VALUES (:workspace, :capability, :use, :agent, :ok, :at, :chosen)"
        " ON CONFLICT (workspace, capability, use) DO UPDATE SET"
        " at = CASE WHEN learning_use.ok < excluded.ok THEN excluded.at ELSE learning_use.at END,"
        " ok = CASE WHEN learning_use.ok > excluded.ok THEN learning_use.ok ELSE excluded.ok END",
        capability=tried.capability, use=tried.use, agent=tried.agent, ok=int(tried.ok), at=tried.at,
        chosen=int(tried.chosen),
    )  # fmt: skip


def counts(transaction: Transaction) -> dict[str, Sequence[int]]:
    """By capability: how often it was used and how often that worked."""
    rows = transaction.all(
        "SELECT capability, COUNT(*), SUM(ok) FROM learning_use WHERE workspace = :workspace"
        " GROUP BY capability"
    )
    return {capability: (int(used), int(ok)) for capability, used, ok in rows}


def forget_the_oldest(transaction: Transaction, most: int = MAX_USES_KEPT) -> None:
    row = transaction.one(
        "SELECT at FROM learning_use WHERE workspace = :workspace ORDER BY at DESC LIMIT 1 OFFSET :most",
        most=most,
    )
    if row is not None:
        transaction.run("DELETE FROM learning_use WHERE workspace = :workspace AND at <= :at", at=row[0])


# --- what fails ------------------------------------------------------------------------------


def failing(transaction: Transaction) -> tuple[Failing, ...]:
    rows = transaction.all(
        "SELECT capability, why, since FROM learning_failing WHERE workspace = :workspace ORDER BY capability"
    )
    return tuple(Failing(*row) for row in rows)


def look_again(transaction: Transaction, capabilities: Iterable[str]) -> bool:
    """Judge these anew by their latest uses; whether any of them fails now that did not, or works again."""
    before = {each.capability: each for each in failing(transaction)}
    turned = False
    for capability in sorted(set(capabilities)):
        now = judged(capability, _latest(transaction, capability))
        turned = turned or (now is None) != (capability not in before)
        if now is None:
            transaction.run(
                "DELETE FROM learning_failing WHERE workspace = :workspace AND capability = :capability",
                capability=capability,
            )
        else:
            _keep(transaction, now, before.get(capability))
    return turned


def judged(capability: str, uses: Sequence[Use]) -> Failing | None:
    """What the latest uses, the newest first, say of a capability.

    A failure of what was chosen for a request counts where it worked for that agent before: else it may just
    be the wrong choice, and fit others.
    """
    uses = _telling(uses)
    failures = [use for use in uses if not use.ok]
    if len(failures) < MIN_FAILURES:
        return None
    since = failures[MIN_FAILURES - 1].at
    of_agent: dict[str, list[Use]] = {}
    for use in uses:
        if use.at >= since:  # what worked before it broke says nothing of now
            of_agent.setdefault(use.agent, []).append(use)
    against = sum(_fails_for(own) for own in of_agent.values())
    if 2 * against <= len(of_agent):
        return None
    latest = uses[:SHOWN_USES]
    failed = sum(not use.ok for use in latest)
    return Failing(capability, f"{failed} of the last {len(latest)} uses of {capability} failed", since)


def _telling(uses: Sequence[Use]) -> Sequence[Use]:
    """Without the failures of those who may never have used it for what it is for."""
    of_agent: dict[str, list[bool]] = {}
    for use in reversed(uses):
        of_agent.setdefault(use.agent, []).append(use.ok)
    enough, length = MOSTLY
    knowing = {
        agent
        for agent, ok in of_agent.items()
        if ok[0] or any(sum(ok[n : n + length]) >= enough for n in range(len(ok)))
    }
    return [use for use in uses if use.ok or not use.chosen or use.agent in knowing]


def _fails_for(own: Sequence[Use]) -> bool:
    """Whether it fails for one agent: mostly, and not any more once it worked twice in a row."""
    works_again = len(own) > 1 and all(use.ok for use in own[:2])
    return 2 * sum(not use.ok for use in own) > len(own) and not works_again


def _latest(transaction: Transaction, capability: str) -> tuple[Use, ...]:
    """The latest uses, the newest first."""
    rows = transaction.all(
        "SELECT agent, ok, at, chosen FROM learning_use WHERE workspace = :workspace"
        " AND capability = :capability ORDER BY at DESC, use LIMIT :most",
        capability=capability, most=MAX_USES_READ,
    )  # fmt: skip
    return tuple(Use(agent, bool(ok), at, bool(chosen)) for agent, ok, at, chosen in rows)


def _keep(transaction: Transaction, now: Failing, before: Failing | None) -> None:
    transaction.run(
        "INSERT INTO learning_failing (workspace, capability, why, since)"
        " VALUES (:workspace, :capability, :why, :since)"
        " ON CONFLICT (workspace, capability) DO UPDATE SET why = excluded.why",
        capability=now.capability, why=now.why, since=before.since if before else now.since,
    )  # fmt: skip


def reasons(transaction: Transaction) -> Mapping[str, str]:
    """By capability: why it counts as failing."""
    return {each.capability: each.why for each in failing(transaction)}
