"""What other rules would have said to the uses that the journal holds: each decision that would differ.

Above: the engine, which reads the journal. Below: one moment under the rules in question. Agents and what
exists are those of now; where a rule looks at arguments and none are kept, the answer is that nobody can say.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from prowess.policy.conditions import Arguments
from prowess.policy.snapshot import PolicySnapshot
from prowess.types import Decision, JsonObject, Verdict

VERDICTS = ("allow", "ask", "deny")
UNKNOWN = "depends on arguments that were not kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class PastDecision:
    """A decision of the journal: what the rules said then, before anybody answered and anything counted."""

    at: str
    agent: str
    capability: str
    verdict: str
    arguments: JsonObject | None = None
    """None where they are not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedDecision:
    """A use that would be decided otherwise; those that are alike are counted together."""

    agent: str
    capability: str
    was: str
    would_be: str
    """Empty where that depends on arguments that were not kept."""
    reason: str
    times: int
    last: str
    arguments: JsonObject | None = None
    """Those of the last time, where they are kept."""

    def __str__(self) -> str:
        would = f"would be {self.would_be}" if self.would_be else "may be otherwise"
        often = f", {self.times} times" if self.times > 1 else ""
        when = f"{often}, last {self.last[:19]}"
        return f"{self.agent}, {self.capability}: was {self.was}, {would}: {self.reason}{when}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyReplay:
    decisions: int
    """How many were looked at."""
    changed: tuple[ChangedDecision, ...]
    unclear: tuple[ChangedDecision, ...]
    """Where a rule looks at arguments that were not kept."""
    gone: int
    """Of agents that are bound to nothing now, or of what exists no more: nobody can say."""


def replay(moment: PolicySnapshot, past: Iterable[PastDecision]) -> PolicyReplay:
    """`moment` is the one under the rules in question."""
    found: dict[tuple[str, ...], ChangedDecision] = {}
    count = gone = 0
    known = {*moment.standing.agents, *moment.rules.bound}
    for one in past:
        if one.verdict not in VERDICTS:
            continue
        count += 1
        exists = one.capability in moment.capabilities or moment.is_stated(one.agent, one.capability)
        if one.agent not in known or not exists:
            gone += 1
        elif differs := _differs(moment, one):
            key = (differs.agent, differs.capability, differs.was, differs.would_be, differs.reason)
            times = found[key].times + 1 if key in found else 1
            found[key] = replace(differs, times=times)
    changed = sorted(found.values(), key=lambda one: (one.agent, one.capability, one.was, one.reason))
    return PolicyReplay(
        decisions=count,
        changed=tuple(one for one in changed if one.would_be),
        unclear=tuple(one for one in changed if not one.would_be),
        gone=gone,
    )


def _differs(moment: PolicySnapshot, past: PastDecision) -> ChangedDecision | None:
    given: Arguments = "any" if past.arguments is None else past.arguments
    said: Decision = moment.use(past.agent, past.capability, True, given)
    if past.arguments is None and said.conditions:
        return _changed(past, "", f"{UNKNOWN} ({'; '.join(said.conditions)})")
    if said.verdict == past.verdict:
        return None
    return _changed(past, said.verdict, said.reason)


def _changed(past: PastDecision, verdict: Verdict | str, reason: str) -> ChangedDecision:
    return ChangedDecision(
        agent=past.agent, capability=past.capability, was=past.verdict, would_be=verdict, reason=reason,
        times=1, last=past.at, arguments=past.arguments,
    )  # fmt: skip
