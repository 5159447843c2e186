"""Why an agent may or may not use something, in steps a person can follow, and what would change it."""

from collections.abc import Sequence
from dataclasses import dataclass

from prowess.policy.advice import advice
from prowess.policy.patterns import shown
from prowess.policy.ruleset import NOBODY
from prowess.policy.snapshot import ABSENT, PolicySnapshot
from prowess.types import Decision, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    agent: str
    id: str
    verdict: Verdict
    reason: str
    steps: tuple[str, ...]
    """The last one is the conclusion."""
    revision: str

    def __str__(self) -> str:
        return "\n".join(self.steps)


def explained(moment: PolicySnapshot, agent: str, id: str, stated: Decision, told: Decision) -> Explanation:
    """`stated` is what the rules say; `told` what that comes to, with answers of people and limits."""
    steps = told.chain
    if stated.verdict == "deny" and told.reason == stated.reason and stated.reason != ABSENT:
        steps = (*steps, *way_out(moment, [moment.profile_of(one) for one in moment.line(agent)], id, agent))
    return Explanation(
        agent=agent,
        id=id,
        verdict=told.verdict,
        reason=told.reason,
        steps=(*steps, conclusion(told)),
        revision=told.revision,
    )


def conclusion(decision: Decision) -> str:
    """The one line that decides."""
    said = decision.conditions if decision.verdict != "deny" else ()
    return f"{decision.verdict}: {decision.reason}{''.join(f', {one}' for one in said)}"


def way_out(moment: PolicySnapshot, profiles: Sequence[str], id: str, agent: str = "") -> tuple[str, ...]:
    """What would have to change, each step as a command; nothing where no change of a profile helps."""
    if agent and profiles[0] == NOBODY:
        return _binding(moment, agent, id)
    is_own = bool(agent) and profiles[0] in moment.standing.profiles
    if is_own and moment.profile_decision(profiles[0], id).verdict == "deny":
        said = "its profile was written for it when it was spawned; spawn it again with another, after"
        return (f"{said}: prowess agent remove {agent}",)
    return tuple(map(str, advice(moment, profiles, id)))


def _binding(moment: PolicySnapshot, agent: str, id: str) -> tuple[str, ...]:
    """Who is bound to nothing needs a profile first."""
    if agent in moment.standing.agents or agent in moment.rules.bound:
        return ()
    usable = [name for name in sorted(moment.rules.profiles) if not moment.why_unusable(name)]
    allowing = [name for name in usable if moment.profile_decision(name, id).verdict != "deny"]
    if not allowing:
        return (f"no profile allows {shown(id)}",)
    return (f"profile {allowing[0]!r} would allow it: prowess agent add {agent} --profile {allowing[0]}",)
