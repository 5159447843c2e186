"""What is wrong with agents: bound to a profile that cannot be used, or to two."""

from prowess.policy.files import SOURCE
from prowess.policy.snapshot import PolicySnapshot
from prowess.types import Problem


def agent_problems(moment: PolicySnapshot) -> tuple[Problem, ...]:
    found = []
    for agent in moment.standing.agents.values():
        why = moment.why_unusable(agent.profile)
        if why:
            what = f"its profile {agent.profile!r} cannot be used ({why})"
            what += "; until then it has only what comes with every profile"
            found.append(Problem(SOURCE, f"agent {agent.name!r}", what, "mend or rebind it"))
        stated = moment.rules.bound.get(agent.name, agent.profile)
        if stated != agent.profile:
            what = f"the store binds it to {agent.profile!r} and a policy file to {stated!r}; the store wins"
            remedy = f"run: prowess agent remove {agent.name}, or change the file"
            found.append(Problem(SOURCE, f"agent {agent.name!r}", what, remedy, "warning"))
    return tuple(found)
