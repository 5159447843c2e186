"""What a policy is expected to decide, written beside it: the answer to `prowess policy test`.

    tests:
      - {agent: anna, use: "mail:send", expect: ask}
      - {profile: clerk, use: "tool:bank/pay", arguments: {amount: 500}, expect: deny}

Above: the command. Below: one moment. Answers of people, limits and what is switched off have no part in it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from prowess.errors import PolicyError
from prowess.policy.conditions import Arguments
from prowess.policy.documents import convert
from prowess.policy.snapshot import STRICTNESS, PolicySnapshot
from prowess.types import Decision, JsonObject, Verdict


class ExpectationText(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An expectation as a file states it."""

    use: str
    expect: Verdict
    agent: str = ""
    profile: str = ""
    arguments: dict[str, object] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    place: str
    use: str
    expect: Verdict
    agent: str = ""
    profile: str = ""
    arguments: JsonObject | None = None
    """None: it is only offered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedExpectation:
    expectation: Expectation
    verdict: Verdict
    reason: str

    def __str__(self) -> str:
        of = self.expectation
        given = "" if of.arguments is None else f" with {msgspec.json.encode(of.arguments).decode()}"
        who = of.agent or f"profile {of.profile}"
        return f"{of.place}: {who}, {of.use}{given}: expected {of.expect}, is {self.verdict}: {self.reason}"


def parse_expectations(stated: Iterable[Mapping[str, object]], place: str) -> tuple[Expectation, ...]:
    return tuple(_parsed(one, f"{place}: test {number}") for number, one in enumerate(stated, start=1))


def _parsed(value: Mapping[str, object], place: str) -> Expectation:
    text = convert(value, ExpectationText, place)
    if bool(text.agent) == bool(text.profile):
        raise PolicyError(
            place, "names no agent and no profile, or both", "write agent: NAME or profile: NAME"
        )
    return Expectation(
        place=place, use=text.use, expect=text.expect, agent=text.agent, profile=text.profile,
        arguments=text.arguments,
    )  # fmt: skip


def missed(moment: PolicySnapshot, expected: Iterable[Expectation]) -> tuple[MissedExpectation, ...]:
    """Those that do not hold, with what is decided instead."""
    found = []
    for one in expected:
        said = _decided(moment, one)
        if said.verdict != one.expect:
            found.append(MissedExpectation(expectation=one, verdict=said.verdict, reason=said.reason))
    return tuple(found)


def _decided(moment: PolicySnapshot, one: Expectation) -> Decision:
    """What the rules say of it, whether or not anything provides it; of several meanings, the strictest."""
    given: Arguments = "any" if one.arguments is None else one.arguments
    if one.profile and one.profile not in moment.rules.profiles:
        known = ", ".join(sorted(moment.rules.profiles)) or "none"
        raise PolicyError(one.place, f"there is no profile {one.profile!r}", f"known: {known}")
    said = [
        moment.profile_decision(one.profile, id, given)
        if one.profile
        else moment.decision(one.agent, id, True, given)
        for id in moment.meanings(one.use)
    ]
    return max(said, key=lambda decision: STRICTNESS[decision.verdict])
